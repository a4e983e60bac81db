"""Shares that the user gives for conditions. Each branch has its own operation, whose count shows how often it runs."""

import re

import pytest

import esp

N = 64
PROGRAM = """\
program p
  integer, parameter :: n = {n}
  real(8) :: a(n), b(n)
  integer :: i, k(n), m
!hpf$ distribute (block) :: a, b, k
  read *, b, k, m
{body}
  print *, a(1)
end program p
"""
IF = """\
  do i = 1, n
    if (b(i) > 0.5d0) then
      a(i) = b(i) * 3d0
    else if (b(i) > 0.25d0) then
      a(i) = b(i) / 3d0
    else
      a(i) = sqrt(b(i))
    end if
  end do"""
CHANGED = """\
  do i = 1, n
    if (b(i) > 0.5d0) then
      b(i) = b(i) * 3d0
      a(i) = b(i)
    else if (b(i) > 0.25d0) then
      a(i) = b(i) / 3d0
    else
      a(i) = sqrt(b(i))
    end if
  end do"""
NESTED = """\
  do i = 1, n
    if (b(i) > 0.5d0) then
      a(i) = b(i) * 3d0
      if (a(i) > 2d0) then
        b(i) = a(i) / 3d0
      end if
    end if
    k(i) = 1
  end do"""
CASES = """\
  do i = 1, n
    select case (k(i))
    case (3)
      a(i) = b(i) * 3d0
    case (5:9)
      a(i) = b(i) / 3d0
    case default
      a(i) = sqrt(b(i))
    end select
  end do"""
WHERE = """\
  where (b > 0.5d0)
    a = b * 3d0
  elsewhere (b > 0.25d0)
    a = b / 3d0
  elsewhere
    a = sqrt(b)
  end where"""
INNER = """\
  where (b > 0.5d0)
    a = b * 3d0
    where (a > 2d0)
      b = a / 3d0
    end where
  elsewhere (b > 0.25d0)
    a = sqrt(b)
  end where"""
FORALL = """\
  forall (i = 1:n, b(i) > 0.5d0)
    a(i) = b(i) * 3d0
  end forall"""
SCALAR = """\
  do i = 1, 32
    if (m > i * k(1)) then
      a = b * 3d0
    else
      a = b / 3d0
    end if
    b = 0d0
  end do"""


def _predicted(body, **values):
    return esp.predict(PROGRAM.format(n=N, body=body), procs=4, **values)


def _counts(prediction):
    """How often each operation of `PROGRAM` is paid by all processors."""
    return [prediction.counts.total(f"processor.r8.{each}") for each in ("mul", "div", "sqrt")]


@pytest.mark.parametrize(
    ("body", "given", "expected"),
    [
        (IF, {"holds_8": 0.5, "holds_10": 0.25}, (32, 16, 16)),
        (IF, {"holds_8": 0, "holds_10": 1}, (0, 64, 0)),
        (IF, {"holds_8": 0.5}, (32, 16, 16)),
        (IF, {"holds_10": 0.5}, (16, 32, 16)),
        (CHANGED, {"holds_8": 0.5, "holds_11": 0.25}, (32, 16, 16)),
        (NESTED, {"holds_8": 0.5, "holds_10": 0.25}, (32, 8, 0)),
        (CASES, {"holds_9": 0.25, "holds_11": 0.5}, (16, 32, 16)),
        (WHERE, {"holds_7": 0.125, "holds_9": 0.5}, (8, 32, 24)),
        (WHERE, {"holds_7": 1}, (64, 0, 0)),
        (WHERE, {"holds_9": 0.5}, (16, 32, 16)),
        (INNER, {"holds_7": 0.25}, (16, 8, 24)),
        (FORALL, {"holds_7": 0.75}, (48, 0, 0)),
        (SCALAR, {"holds_8": 0.75}, (1536, 512, 0)),
    ],
)
@pytest.mark.parametrize("budget", [0, 10**9])
def test_a_branch_is_taken_as_often_as_is_said(body, given, expected, budget):
    found = _predicted(body, budget=budget, **given)
    assert _counts(found) == pytest.approx(expected, abs=1e-3)
    told = [each.text for each in found.assumptions]
    assert not any("no effect" in each for each in told)
    assert sum("as given" in each for each in told) >= 1
    lines = {int(re.match(r"line (\d+)", each)[1]) for each in told if each.endswith("as given")}
    assert lines >= {int(each.removeprefix("holds_")) for each in given} or body is INNER  # whose masks are kept


COUNTED = """\
  do i = 1, n
    if (mod(i, 4) == 0) then
      a(i) = b(i) * 3d0
    end if
  end do"""


TOGETHER = """\
  do i = 1, n
    if (b(i) > 0.5d0) a(i) = b(i) * 3d0; if (b(i) > 0.2d0) k(i) = 3
  end do"""
DEFAULT = """\
  do i = 1, n
    select case (k(i))
    case default
      if (b(i) > 2d0) a(i) = b(i) * 3d0
    end select
  end do"""


def test_what_cannot_be_given_is_not_offered():
    found = _predicted(TOGETHER, holds_8=0.25)
    told = [each.text for each in found.assumptions if each.span is not None and each.span.line == 8]
    assert any("HOLDS_8 has no effect: the line has several conditions" in each for each in told)
    assert not any("HOLDS_LINE" in each for each in told)


def test_a_select_case_may_have_a_default_only():
    assert _counts(_predicted(DEFAULT, holds_10=0.25)) == pytest.approx([16, 0, 0])
    assert _counts(_predicted(DEFAULT)) == pytest.approx([32, 0, 0])


def test_a_share_without_effect_is_announced():
    found = _predicted(COUNTED, holds_8=0.5)
    assert _counts(found) == [16, 0, 0]
    assert [each.span.line for each in found.assumptions if "HOLDS_8 has no effect" in each.text] == [8]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"holds_9": 0.5}, "line 9 has no condition"),
        ({"holds_8": 50}, "holds_8=50›: this is not a share"),
        ({"holds_8": -0.5}, "this is not a share"),
        ({"holds_8": True}, "this is not a share"),
        ({"holds_8": 0.7, "holds_10": 0.4}, "HOLDS_8 + HOLDS_10 is 1.1, more than 1"),
    ],
)
def test_shares_that_cannot_be_are_refused(given, told):
    with pytest.raises((*esp.ERRORS, TypeError)) as raised:
        _predicted(IF, **given)
    assert told.replace("›", "") in str(raised.value).replace("›", "")


CHANGING = """\
  b = 1d0
  do i = 1, n
    k(i) = i
  end do
  do m = 1, 4
    do i = 1, n
      k(i) = mod(k(i) * 5 + m, 7)
    end do
    do i = 1, n
      if (k(i) > 3) then
        a(i) = b(i) * 3d0
      end if
    end do
  end do"""


def test_a_given_share_takes_the_place_of_the_computed_one():
    source = PROGRAM.format(n=N, body=CHANGING).replace("  read *, b, k, m\n", "")
    held, values = 0, list(range(1, N + 1))
    for step in range(1, 5):
        values = [(each * 5 + step) % 7 for each in values]
        held += sum(each > 3 for each in values)
    computed, given = esp.predict(source, procs=4), esp.predict(source, procs=4, holds_15=0.125)
    assert _counts(computed)[0] == pytest.approx(held, abs=1e-3)
    assert not any(each.text.endswith("as given") for each in computed.assumptions)
    assert _counts(given)[0] == pytest.approx(4 * 8)
