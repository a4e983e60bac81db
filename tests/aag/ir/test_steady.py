"""Scalars that never change."""

import pytest

from aag.ir.steady import all_passed, steady
from aag.pipeline import read_program

HEAD = "program p\ninteger :: n, m, k, v(9), i\ninteger :: q = 7\nreal :: x\ninteger, parameter :: c = 5\n"


def found(text):
    unit = read_program(f"{HEAD}{text}", "p.f90").main
    return {name: value for name, value in steady(unit, {"c": 5}, all_passed).items() if name != "q"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n = 4\nend\n", {"n": 4}),
        ("n = 2*c\nm = n + 1\nend\n", {"n": 10, "m": 11}),
        ("m = n + 1\nn = 2\nend\n", {"n": 2, "m": 3}),
        ("n = 4\nn = 5\nend\n", {}),
        ("n = 4\nn = n + 1\nend\n", {}),
        ("n = 4\nread *, n\nend\n", {}),
        ("n = 4\nread *, v(n)\nend\n", {"n": 4}),
        ("n = 4\nread *, (v(m), m = 1, n)\nend\n", {"n": 4}),
        ("n = 4\nread *, (v(n), n = 1, 3)\nend\n", {}),
        ("n = 4\nopen (3, file='n', iostat=m)\nm = 3\nend\n", {"n": 4}),
        ("n = 4\ndo n = 1, 3\nend do\nend\n", {}),
        ("n = 4\nprint *, (v(n), n = 1, 3)\nend\n", {}),
        ("n = 4\ncall other(n)\nend\n", {}),
        ("n = 4\nx = other(n)\nend\n", {}),
        ("n = 4\nx = abs(n)\nend\n", {"n": 4}),
        ("n = 4\nm = v(1)\nend\n", {"n": 4}),
        ("if (x > 1) n = 4\nend\n", {"n": 4}),
        ("n = 4\ncall inside\ncontains\nsubroutine inside\nn = 5\nend subroutine\nend program\n", {}),
    ],
)
def test_what_is_steady(text, expected):
    assert found(text) == expected


def test_values_that_are_given_win():
    unit = read_program(f"{HEAD}n = 4\nm = 2*n\nend\n", "p.f90").main
    assert steady(unit, {"n": 10}, all_passed)["m"] == 20


def test_declared_values_and_storage():
    unit = read_program(f"{HEAD}n = 4\nend\n", "p.f90").main
    assert steady(unit, {}, all_passed)["q"] == 7
    shared = read_program("program p\ninteger n, m\nequivalence (n, m)\nn = 4\nend\n", "p.f90").main
    assert steady(shared, {}, all_passed) == {}
    common = "program p\ncommon /c/ n\nn = 4\n{}end\n"
    assert steady(read_program(common.format(""), "p.f90").main, {}, all_passed) == {"n": 4}
    assert steady(read_program(common.format("call s\n"), "p.f90").main, {}, all_passed) == {}
