"""Statements for many values that call functions of several statements: which become loops, and which stay."""

import pytest

from aag.ir import statements as s
from aag.ir.visitors import walk_statements
from aag.pipeline import main_unit, read_program

TEXT = """program p
real :: x(9), y(9), z(0:8)
integer :: ind(9)
x = 1
{}
contains
elemental real function f(v)
real, intent(in) :: v
f = v
if (v > 1) f = {}
end function f
elemental integer function g(v)
integer, intent(in) :: v
g = v
if (v > 1) g = 1
end function g
end program p
"""


def loops(statement, inside="1"):
    unit = main_unit(read_program(TEXT.format(statement, inside), "p.hpf"))
    return [each for each in walk_statements(unit.body) if isinstance(each, s.Do)]


@pytest.mark.parametrize(
    "statement",
    [
        "forall (i = 1:9) y(i) = f(x(i))",
        "forall (i = 2:9:2, x(i) > 0) y(i) = f(x(i)) + f(z(i-1))",
        "y = f(x) + 2*f(z)",
        "y(2:4) = f(z(3:5))",
        "y = f(y)",
        "where (x > 0) y = f(x)",
    ],
)
def test_a_loop_calls_the_function(statement):
    assert loops(statement)


@pytest.mark.parametrize(
    ("statement", "inside"),
    [
        ("forall (i = 2:9) y(i) = f(y(i-1))", "1"),  # reads what other iterations assign
        ("forall (i = 1:9) ind(ind(i)) = g(i)", "1"),
        ("y(2:9) = f(y(1:8))", "1"),
        ("forall (i = 1:9) y(i) = f(x(i))", "y(1)"),  # so does the function
        ("y = f(cshift(x, 1))", "1"),  # no value for each element
        ("y(1:9:2) = f(x(1:5))", "1"),
    ],
)
def test_others_stay(statement, inside):
    assert not loops(statement, inside)
