"""Which loops of any contents are shared among the owners of what they write, and why others are not."""

import pytest

import esp
from aag.pipeline import read_program
from aag.spmd import nodes
from tests.aag.spmd.emit.native import lowered

PROGRAM = """\
program p
  integer, parameter :: n = 8, m = 12
  real :: x(n, m), y(n, m), b(m), v(n), g(n, m), t, s
  integer :: i, j, k, l(m)
!hpf$ distribute (*, block) :: x, y
!hpf$ align b(j) with x(*, j)
!hpf$ processors q(2, 2)
!hpf$ distribute g(block, block) onto q
  x = 1.0
  y = 2.0
  b = 3.0
  g = 4.0
  s = 0.0
  t = 0.0
  v = 0.0
  k = 1
  l = 1
{loop}
  print *, {after}
end program p
"""
BODY = "if (b(j) > 2) x(:, j) = b(j)"


def loops(body, after="x", head=""):
    """The DO loops that processors share, and the notes."""
    text = PROGRAM.format(loop=f"{head}\ndo j = 1, m\n{body}\nend do", after=after)
    program = lowered(read_program(text, "p.hpf"), 4)
    found = [each for each in nodes.walk(program.body) if isinstance(each, nodes.DoNode) and each.home is not None]
    return found, [each.message for each in program.notes if each.code == "W204"]


@pytest.mark.parametrize(
    "body",
    [
        "do while (x(1, j) < 3)\nx(1, j) = x(1, j) + 1\nend do",
        "k = 0\ndo\nk = k + 1\nif (x(k, j) > 0 .or. k == n) exit\nend do\nx(k, j) = 2",
        "if (x(1, j) > 2) cycle\nt = x(2, j)\nx(:, j) = cshift(x(:, j), 1) + t",
        "v = x(:, j)\ndo while (v(1) > 0)\nx(:, j) = v(n:1:-1)\nv(1) = v(1) - 1\nend do",
        "if (b(j) > 0) then\nt = 1\nelse\nt = 2\nend if\ndo while (x(1, j) < t)\nx(1, j) = x(1, j) + t\nend do",
        "select case (l(j))\ncase (1)\nx(:, j) = cshift(x(:, j), 1)\ncase default\nx(2, j) = 3\nend select",
        "where (x(:, j) > 0) y(:, j) = x(:, j)\nif (j > 1) x(1, j) = b(j - 1)",
        "x(l(j), j) = 1\ndo while (x(1, j) < 0)\ns = s + x(1, j)\nx(1, j) = x(1, j) + 1\nend do",
    ],
)
def test_loops_of_any_contents_are_shared(body):
    found, notes = loops(body, head="!hpf$ independent, new(v)" if "v = " in body else "")
    assert len(found) == 1
    assert not notes
    assert not any(isinstance(each, nodes.Communicate) for each in nodes.walk(found[0].body))


def test_a_later_loop_that_is_left_by_its_name_reads_no_more_than_it_says():
    """EXIT of a loop around other loops leads behind it, and reads nothing by itself."""
    body = "t = x(1, j)\ndo while (x(1, j) < t + 3)\nx(1, j) = x(1, j) + 1\nend do"
    later = "late: do k = 1, 2\ndo i = 1, n\nif (v(i) > 3) exit late\nv(i) = 1\nend do\nend do late"
    text = PROGRAM.format(loop=f"do j = 1, m\n{body}\nend do\n{later}", after="x")
    program = lowered(read_program(text, "p.hpf"), 4)
    assert [each.var for each in nodes.walk(program.body) if isinstance(each, nodes.DoNode) and each.home] == ["j"]
    read = text.replace("exit late", "exit late\nv(1) = t")
    program = lowered(read_program(read, "p.hpf"), 4)
    assert not [each for each in nodes.walk(program.body) if isinstance(each, nodes.DoNode) and each.home]


@pytest.mark.parametrize(
    ("body", "after", "why"),
    [
        (f"{BODY}\nx(1, j) = x(1, m + 1 - j)", "x", "an iteration uses elements of x that are not its own"),
        (f"{BODY}\nx(1, k) = 2", "x", "an iteration uses elements of x that are not its own"),
        (f"{BODY}\nif (x(1, j) > 5) exit", "x", "the loop may be left early"),
        (f"{BODY}\nprint *, j", "x", "the loop contains more than assignments, loops and conditions"),
        ("if (b(j) > 2) g(:, j) = 2", "g", "an iteration writes elements of several processors"),
        ("if (b(j) > 2) x(1, l(j)) = 1", "x", "an iteration writes elements of several processors"),
        ("if (b(j) > 2) v(1) = b(j)", "x", "the loop writes no distributed data"),
    ],
)
def test_why_others_are_not(body, after, why):
    found, notes = loops(f"{body}\ndo while (x(1, 1) < 0)\nend do", after, "!hpf$ independent")
    assert not found
    assert notes == [f"INDEPENDENT has no effect; every processor runs the whole loop: {why}"]


@pytest.mark.parametrize(
    ("body", "after"),
    [
        ("t = x(1, j)", "t"),
        ("if (t > 1) x(1, j) = 2\nt = x(2, j)", "x"),
        ("s = s + 1\nif (s > 4) x(1, j) = 1", "x"),
        ("do i = 1, k\nv(i) = x(i, j)\nend do\nx(1, j) = v(2)", "x"),
        ("t = t + 1\nt = t * 2", "t"),
        ("if (b(j) > 2) t = 1\nx(1, j) = t", "x"),
        ("do i = 1, k\nt = 1\nend do\nx(1, j) = t", "x"),
        ("do i = 1, n\nif (x(i, j) > 0) exit\nt = 1\nend do\nx(1, j) = t", "x"),
        ("k = i\nx(1, j) = k\ndo i = 1, 2\nend do", "x"),
    ],
)
def test_values_that_iterations_leave_to_others(body, after):
    """A while loop makes each of them more than a nest."""
    text = f"{body}\ndo while (x(1, j) < 0)\nx(1, j) = x(1, j) + 1\nend do"
    assert loops(text, after) == ([], [])


def test_the_index_has_its_value_behind_the_loop():
    """Each processor runs its own iterations: the value is computed."""
    found, notes = loops("x(2, j) = 1\ndo while (x(1, j) < 0)\nx(1, j) = x(1, j) + 1\nend do", "x, j")
    assert len(found) == 1
    assert notes == []


@pytest.mark.parametrize(
    ("body", "shared"),
    [
        ("r(1) = x(1, j)\nr(2) = r(1) + 1\nx(2, j) = r(2)", True),
        ("if (b(j) > 2) then\nr(1) = 1\nelse\nr(1) = 2\nend if\nx(1, j) = r(1)", True),
        ("if (b(j) > 2) r(1) = 1\nx(1, j) = r(1)", False),
        ("x(1, j) = r(1)\nr(1) = j", False),
        ("r(1) = j\nx(1, j) = r(2)\nr(2) = j", False),
        ("r(1) = j\nx(1, j) = r(i)", False),
        ("r(1) = j\nx(1, j) = sum(r)", False),
    ],
)
def test_elements_of_scratch_arrays_are_private(body, shared):
    text = body.replace("r(", "v(").replace("(r)", "(v)") + "\ndo while (x(1, j) < 0)\nx(1, j) = x(1, j) + 1\nend do"
    found, _ = loops(text)
    assert bool(found) == shared


def test_reductions_are_combined_after_the_loop():
    found, _ = loops(f"{BODY}\nif (x(1, j) > 0) s = s + x(1, j)\nk = max(k, l(j))", "s, k")
    assert len(found) == 1
    text = PROGRAM.format(loop=f"do j = 1, m\n{BODY}\ns = s + x(1, j)\nend do", after="s")
    off = esp.predict(text, procs=4, opt={"reductions": False})
    assert esp.predict(text, procs=4).time_s < off.time_s


TRIANGLE = """\
program p
  integer, parameter :: n = 16, m = 24
  real :: x(n, m)
  integer :: i, j, k
!hpf$ distribute x(*, {form})
  x = 1.0
  do j = 1, m
    do i = 2, {last}
      x(i, j) = x(i - 1, j) * 0.5
    end do
    do k = 1, 3
      x(:, j) = cshift(x(:, j), 1)
    end do
  end do
end program p
"""


PAID = [
    pytest.param(form, last, marks=() if one % 2 == two else pytest.mark.truth)
    for one, form in enumerate(["block", "cyclic", "cyclic(5)"])
    for two, last in enumerate(["n", "mod(j, n) + 1"])
]
"""Each format with one bound, in turn; with both in `make truth`."""


@pytest.mark.sampled
@pytest.mark.parametrize(("form", "last"), PAID)
def test_each_processor_pays_for_its_own_iterations(form, last):
    text = TRIANGLE.format(form=form, last=last)
    one = esp.predict(text, procs=1)
    for procs in (2, 3, 5):
        told = esp.predict(text, procs=procs)
        unrolled = esp.predict(text, procs=procs, unroll=True)
        assert told.time_s == pytest.approx(unrolled.time_s, rel=1e-12)
        assert told.messages == 0
        paid, alone = (each.per_processor.computation_s for each in (told, one))
        assert paid.sum() == pytest.approx(alone.sum(), rel=0.06)
        assert paid.max() < 1.4 * alone.sum() / procs
