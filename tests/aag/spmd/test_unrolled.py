"""Loops over dimensions."""

import pytest

from aag.ir.printer import print_statement
from aag.pipeline import main_unit, read_program
from aag.spmd.unrolled import unrolled

HEAD = "program dims\ninteger, parameter :: n = 3\nreal :: a(4,4,4), b(4,4,4), s\ninteger :: d, e\n"


def lines(text):
    unit = main_unit(read_program(f"{HEAD}{text}end program dims\n", "dims.hpf"))
    made = unrolled(unit.body, {"n": 3})
    return [line.strip().replace(" ", "") for each in made for line in print_statement(each).splitlines()]


@pytest.mark.parametrize("reference", ["cshift(b, 1, {})", "cshift(b, 1, dim={})", "eoshift(b, 1, 0.0, {})"])
def test_each_iteration_has_the_number_of_its_dimension(reference):
    found = lines(f"do d = 1, n\na = {reference.format('d')} * d\nend do\n")
    expected = [
        line
        for number in (1, 2, 3)
        for line in (f"dod={number},{number}", f"a={reference.format(number)}*d".replace(" ", ""), "enddo")
    ]
    assert found == expected


def test_steps_and_loops_inside_others():
    found = lines("do d = 3, 1, -2\ndo e = 1, 2\ns = size(a, d) + size(b, dim=e)\nend do\nend do\n")
    assert [each for each in found if each.startswith("s=")] == [
        f"s=size(a,{d})+size(b,dim={e})" for d in (3, 1) for e in (1, 2)
    ]


def test_dimensions_that_are_computed_and_bounds_that_depend_on_others():
    found = lines("do d = 1, 2\ndo e = d+1, n\na = cshift(b, 1, 1+d) + cshift(b, 1, e-1)\nend do\nend do\n")
    assert [each for each in found if each.startswith("a=")] == [
        f"a=cshift(b,1,{1 + d})+cshift(b,1,{e - 1})" for d, e in ((1, 2), (1, 3), (2, 3))
    ]


@pytest.mark.parametrize(
    "loop",
    [
        "do d = 1, n\na = cshift(b, d, 1)\nend do\n",  # no dimension
        "do d = 1, n\na = cshift(b, 1, d)\nif (s > 1) exit\nend do\n",  # may end early
        "do d = 1, e\na = cshift(b, 1, d)\nend do\n",  # nobody knows how often
        "do d = 1, 40\ns = size(b, d)\nend do\n",  # of no array
    ],
)
def test_other_loops_stay(loop):
    assert len([each for each in lines(loop) if each.startswith("dod")]) == 1


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [("1, 2", ["dod=1,1", "dod=2,2"]), ("3, 1, -2", ["dod=3,3,-2", "dod=1,1,-2"]), ("3, 1", ["d=3"])],
)
def test_the_variable_of_the_loop_ends_with_the_same_value(bounds, expected):
    found = lines(f"do d = {bounds}\na = cshift(b, 1, d)\nend do\n")
    assert [each for each in found if each.startswith("d")] == expected
