"""What is said of branches whose condition cannot be computed."""

import re
from functools import partial

import pytest

import esp
from interpreter.errors import InterpretationError

BRANCHES = """\
program p
  real :: x(64)
  integer :: m
!HPF$ DISTRIBUTE x(BLOCK)
  call random_number(x)
  m = count(x < 0.5)
  if (m > 40) then
    x = 1.0
  {more}
  end if
end program p
"""


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("", "it holds 50% of the time"),
        ("else\n    x = 0.0", "branch weights 50%, 50%"),
        ("else if (m > 20) then\n    x = 0.0", "branch weights 33%, 33%, none 33%"),
        ("else if (m > 20) then\n    x = 0.0\n  else\n    x = 2.0", "branch weights 33%, 33%, 33%"),
    ],
)
def test_the_weight_of_none_is_said_where_there_is_one(more, told):
    """Where there is an ELSE one of the branches is always taken."""
    (said,) = [
        each.text for each in esp.predict(BRANCHES.format(more=more), procs=4).assumptions if each.code == "branch"
    ]
    assert re.search("assuming (.*);", said).group(1) == told


GUARDED = """\
program p
  integer, parameter :: n = 23
  double precision :: a(n, n), s
  integer :: i, j, k
!HPF$ DISTRIBUTE a(BLOCK, *)
  forall (i = 1:n, j = 1:n) a(i, j) = i + 0.5d0*j
  s = 0
  k = 0
  do j = 1, n
    do i = {range}
{body}
    end do
  end do
  do i = 1, k
    s = s / 2
  end do
  print *, s
end program p
"""


@pytest.mark.sampled
@pytest.mark.parametrize("span", ["1, n", "n, 2, -1", "2, n, 3", "n, 1"])
@pytest.mark.parametrize(
    ("body", "at_once"),
    [
        ("if (i > j) s = s + a(i, j)", True),
        ("if (mod(i, 3) == 0) then\ns = s * 0.5d0\nelse if (i < j) then\ns = s - a(j, i)\nend if", True),
        ("if (i /= j) then\nif (i + j > n) s = s + 1\ns = s * 2\nelse\ns = s + sqrt(a(j, j))\nend if", True),
        ("if (i == j) k = k + 1\nif (i < j) s = s + k", True),  # k decides a loop afterwards
        ("if (i < j) exit\ns = s + 1", False),
        ("if (i < j) cycle\ns = s + 1", False),
        ("k = mod(i, 2)\nif (k == 0) s = s + 1", False),
    ],
)
def test_branches_that_indices_decide_cost_what_their_iterations_cost_one_by_one(body, at_once, span):
    text = GUARDED.format(body=body, range=span)
    alone = partial(esp.predict, text, procs=3, opt={"reductions": False})
    told, unrolled = alone(), alone(unroll=True)
    assert told.time_s == pytest.approx(unrolled.time_s, rel=1e-12)
    for line, other in zip(told.lines, unrolled.lines, strict=True):
        assert (line.line, line.time_s) == (other.line, pytest.approx(other.time_s, rel=1e-11))
    if at_once and span == "1, n":
        assert told.iterations_walked < unrolled.iterations_walked / 3


def test_a_condition_with_too_many_values_to_compute_at_once_is_looked_at_in_each_iteration():
    text = GUARDED.format(body="if (0.5d0*i > 3) s = s + 1", range="1, 9000000")
    with pytest.raises(InterpretationError, match="E506"):
        esp.predict(text, procs=3)


LINES = """\
program p
  integer, parameter :: n = 16
  real :: a(n), b(n)
  integer :: i
!HPF$ DISTRIBUTE (BLOCK) :: a, b
  read *, b
  do i = 1, n
    if (b(i) > 0.5) then

      a(i) = 1.0
      b(i) = 2.0
    else if (b(i) > 0.2) then

      a(i) = 3.0
    end if
  end do
  where (b > &
         1.0)
    a = 4.0
  end where
  do i = 1, n
    if (i > 2) then
      if (a(i) > 0.5) then

        a(i) = 1.0
      end if
      b(i) = 2.0
    end if
  end do
  forall (i = 1:n, &
          a(i) > 3.0)
    a(i) = 1.0
  end forall
end program p
"""


def test_conditions_are_announced_where_they_are():
    said = [each for each in esp.predict(LINES, procs=4).assumptions if each.code == "mask"]
    assert [each.span.line for each in said] == [8, 12, 17, 23, 31]


LAND = """\
program land
  integer, parameter :: n = 40
  real(8) :: t(n, n)
  integer :: land(n, n), i, j, it
!hpf$ distribute (block, *) :: t
!hpf$ align land(i, j) with t(i, j)
  t = 1d0
{mask}
  do it = 1, 5
    do j = 2, n - 1
      do i = 2, n - 1
        if (land(i, j) == 0) then
          t(i, j) = t(i, j) * 0.5d0
        end if
      end do
    end do
  end do
  print *, t(1, 1)
end program land
"""
MASKS = {
    "whole": "do j = 1, n\n do i = 1, n\n land(i, j) = 1\n if (i < 15) land(i, j) = 0\n end do\n end do",
    "else": "do j = 1, n\n do i = 1, n\n if (i < 15) then\n land(i, j) = 0\n else\n land(i, j) = 1\n end if\n"
    " end do\n end do",
    "apart": "do j = 1, n\n do i = 1, n\n land(i, j) = 1\n end do\n end do\n"
    "do i = 1, n\n do j = 1, n\n if (i < 15) land(i, j) = 0\n end do\n end do",
    "array": "land = 1\n do j = 1, n\n do i = 1, 14\n land(i, j) = 0\n end do\n end do",
    "forall": "forall (i = 1:n, j = 1:n) land(i, j) = merge(0, 1, i < 15)",
    "real": "do j = 1, n\n do i = 1, n\n land(i, j) = 1\n if (i < 14.5 + 0.1*sin(0.1*j)) land(i, j) = 0\n"
    " end do\n end do",
    "twice": "do j = 1, n\n do i = 1, n\n land(i, j) = 1\n if (i < 20) land(i, j) = 0\n if (i > 14) land(i, j) = 2\n"
    " end do\n end do",
}


@pytest.mark.parametrize("mask", MASKS)
def test_masks_that_loops_make_of_indices_count_on_each_processor(mask):
    found = esp.predict(LAND.format(mask=MASKS[mask]), procs=4)
    (products,) = (each for each in found.counts.of() if each.name.endswith("r8.mul"))
    inner = 38 * 5
    assert products.each.tolist() == [9 * inner, 4 * inner, 0, 0]
    assert found.assumptions == ()
