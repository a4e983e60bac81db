"""Calls of library procedures: what they change, whose data they get, and loops that processors share."""

import pytest

from aag.pipeline import Overrides, lower, read_program
from aag.spmd import nodes as n
from aag.spmd.effects import effects

HEAD = """program p
real(8) :: x(8, 6), y(8, 6), f(8), w(8), s(6), t
real(8), external :: ddot, drand
integer :: i, j
!HPF$ DISTRIBUTE x(*, BLOCK)
!HPF$ ALIGN y(i, j) WITH x(i, j)
!HPF$ ALIGN s(j) WITH x(*, j)
"""


def lowered(body):
    return lower(read_program(f"{HEAD}{body}\nend\n", "p.hpf"), Overrides(procs=2), 2)


def calls(program):
    return [each for each in n.walk(program.body) if isinstance(each, n.CallNode)]


def loop(program):
    return next(each for each in program.body if isinstance(each, n.DoNode))


SHARED = {
    "columns": "do j = 1, 6\ncall daxpy(8, 2d0, f, 1, x(:, j), 1)\nend do",
    "two own columns": "do j = 2, 5\ncall daxpy(8, 2d0, y(:, j), 1, x(:, j), 1)\nend do",
    "parts of columns": "do j = 1, 6\ncall dscal(8 - j, 2d0, x(j:8, j), 1)\nend do",
    "a function": "do j = 1, 6\ns(j) = ddot(8, x(:, j), 1, y(:, j), 1)\nend do",
    "a private vector": "!HPF$ INDEPENDENT, NEW(w)\ndo j = 1, 6\nw = x(:, j)\ncall dscal(8, 2d0, w, 1)\n"
    "x(:, j) = w\nend do",
    "a sum": "t = 0\ndo j = 1, 6\nt = t + ddot(8, x(:, j), 1, y(:, j), 1)\nend do\nprint *, t",
    "a value": "do j = 1, 6\ncall dscal(8, 1 / x(1, j), y(:, j), 1)\nend do",
}


@pytest.mark.parametrize("name", SHARED)
def test_processors_share_loops_over_their_own_lines(name):
    program = lowered(SHARED[name])
    assert loop(program).home is not None
    assert program.complete
    assert all(each.library is not None for each in calls(program))


ALONE = {
    "an element": ("do j = 1, 6\ncall dscal(8, 2d0, x(1, j), 1)\nend do", "x"),
    "a line of several": ("do i = 1, 8\ncall dscal(6, 2d0, x(i, :), 1)\nend do", "x"),
    "a neighbour": ("do j = 1, 5\ncall daxpy(8, 2d0, y(:, j + 1), 1, x(:, j), 1)\nend do", "x, y"),
    "the whole": ("do j = 1, 6\ncall dscal(48, 2d0, x, 1)\nend do", "x"),
    "a fixed column": ("do j = 1, 6\ncall daxpy(8, 2d0, x(:, 3), 1, y(:, j), 1)\nend do", "x, y"),
    "random numbers": ("do j = 1, 6\ncall dscal(8, drand(), x(:, j), 1)\nend do", "x"),
    "no loop": ("call dscal(8, 2d0, x(:, 3), 1)", "x"),
    "what is read later": ("do j = 1, 6\ncall daxpy(8, 2d0, x(:, j), 1, f, 1)\nend do\nprint *, f", "x"),
    "what lasts": ("do j = 1, 6\ncall daxpy(8, 2d0, f, 1, x(:, j), 1)\ncall dscal(8, 2d0, f, 1)\nend do", "x"),
}


@pytest.mark.parametrize("name", ALONE)
def test_other_distributed_arguments_are_refused_by_name(name):
    body, arrays = ALONE[name]
    program = lowered(body)
    assert not program.complete
    found = [each for each in program.notes if each.code == "W286"]
    verb = "are" if "," in arrays else "is"
    assert found[0].message.endswith(f"{arrays} {verb} distributed: only its call is charged")
    assert found[0].span.line > 7


def test_arrays_without_mapping_need_nothing():
    program = lowered("f = 1\ncall dscal(8, 2d0, f, 1)\nx(:, 1) = f")
    assert program.complete
    (call,) = calls(program)
    assert call.defines == {"f"}
    assert [(each.operation, each.times) for each in call.library.charges] == [("r8.mul", 1.0)]


@pytest.mark.parametrize(
    ("body", "charges"),
    [
        ("call zscal(8, z, z, 1)", [("r8.mul", 4.0), ("r8.add", 2.0)]),
        ("call caxpy(8, z, z, 1, z, 1)", [("r4.mul", 4.0), ("r4.add", 2.0), ("r4.add", 2.0)]),
        ("call sscal(8, 2.0, f, 1)", [("r4.mul", 1.0)]),
    ],
)
def test_complex_operations_are_real_ones(body, charges):
    """LAPACK Working Note 41: a complex product is six operations, a complex sum two."""
    program = lowered(f"complex(8) :: z(8)\n{body}")
    (call,) = calls(program)
    assert [(each.operation, each.times) for each in call.library.charges] == charges


def test_only_what_a_call_changes_is_forgotten():
    program = lowered("call daxpy(8, 2d0, w, 1, f, 1)")
    found = effects(program.body)
    assert found.arrays == (("f", None),)
    assert not found.everything


def test_messages_stay_after_calls_that_change_what_they_bring():
    text = "do i = 1, 3\nt = x(1, 1)\nf = t\ndo j = 1, 6\ncall dscal(8, 2d0, x(:, j), 1)\nend do\nend do\nprint *, f"
    program = lowered(text)
    outer = loop(program)
    assert any(isinstance(each, n.Communicate) for each in n.walk(outer.body))


@pytest.mark.parametrize("call", ["second(t)", "dtime(f, t)", "etime(f, t)", "cpu_time(t)"])
def test_clocks_are_marks(call):
    (mark,) = lowered(f"call {call}").body
    assert isinstance(mark, n.ClockMark)


@pytest.mark.parametrize("declared", ["", "real(8) :: dsqrt, maxval, etime", "real(8) dsqrt\nintrinsic dsqrt"])
def test_a_type_alone_leaves_a_function_intrinsic(declared):
    """Fortran 90, 5.1: a type declaration does not remove the intrinsic properties of a function."""
    head, _, rest = HEAD.partition("integer")
    text = f"{head}{declared}\ninteger{rest}t = dsqrt(maxval(x))\nprint *, t\nend\n"
    program = lower(read_program(text, "p.hpf"), Overrides(procs=2), 2)
    assert program.complete
    assert any(isinstance(each, n.Combine) for each in n.walk(program.body))


@pytest.mark.parametrize("declared", ["", "real :: etime, dtime"])
def test_functions_that_read_the_clock_take_arrays(declared):
    """Their array of two times is no operand: the result is a scalar."""
    text = f"program p\nreal :: both(2)\n{declared}\nt = etime(both)\nt = t + dtime(both)\nprint *, t\nend\n"
    program = lower(read_program(text, "p.hpf"), Overrides(procs=2), 2)
    assert program.complete
