"""What index arrays hold: computed where that is possible, spread evenly elsewhere."""

import numpy as np
import pytest

from aag.functional.contents import evenly, index_arrays
from aag.ir.evaluate import Unknown
from aag.mapping.layout import Layouts
from aag.pipeline import Overrides, lower, main_unit, map_arrays
from aag.source.read import read_program

HEAD = "program p\ninteger k(6), m(3)\nreal a(6), b(6, 6)\n!hpf$ distribute (block) :: a\n"


def lowered(*lines):
    program = read_program(HEAD + "\n".join([*lines, "end"]) + "\n", "p.f90")
    return lower(program, Overrides(procs=2), 2)


def notes(node_program):
    return [each.message for each in node_program.layouts.notes if each.code == "W214"]


@pytest.mark.parametrize(
    ("line", "arrays"),
    [
        ("a(k(1)) = 0", {"k": (1, 6)}),
        ("a(k) = 0", {"k": (1, 6)}),
        ("forall (i=1:3) a(k(m(i))) = 0", {"k": (1, 6), "m": (1, 6)}),
        ("a = a(k)", {}),
        ("b(k(1), 1) = 0", {}),
        ("do i = 1, size(k)\na(i) = 0\nend do", {}),
        ("do i = m(1), m(2)\na(i) = 0\nend do", {"m": None}),
        ("forall (i=1:m(2)) a(i) = k(i)", {"m": None}),
    ],
)
def test_the_arrays_that_decide_what_is_assigned_and_how_often(line, arrays):
    program = read_program(HEAD + line + "\nend\n", "p.f90")
    layouts = map_arrays(program, Overrides(procs=2), 2)
    assert isinstance(layouts, Layouts)
    assert index_arrays(main_unit(program), layouts) == arrays


def test_contents_are_computed():
    made = lowered("do i = 1, 6", "k(i) = 7 - i", "end do", "a(k) = 1")
    assert made.layouts.contents["k"].values.tolist() == [6, 5, 4, 3, 2, 1]
    assert notes(made) == []


def test_what_is_read_is_spread_evenly():
    made = lowered("read *, k", "a(k) = 1")
    assert sorted(made.layouts.contents["k"].values) == [1, 2, 3, 4, 5, 6]
    (note,) = notes(made)
    assert note.startswith("what k holds is not known")


def test_contents_that_change_are_those_of_the_first_use():
    made = lowered("k = 1", "do i = 1, 3", "a(k(2)) = i", "k = i + 1", "end do")
    assert made.layouts.contents["k"].values.tolist() == [1] * 6
    assert notes(made) == ["k changes: taking what it holds when it is first used"]


@pytest.mark.parametrize(("low", "high"), [(1, 6), (-2, 0), (5, 5), (1, 1000)])
def test_even_values_repeat_only_where_they_must(low, high):
    made = lowered("k = 1", "a(k) = 1")
    chosen = evenly(made.layouts.arrays["k"], (low, high)).values
    assert chosen.min() >= low
    assert chosen.max() <= high
    assert np.unique(chosen).size == min(6, high - low + 1)


def test_elements_outside_are_not_known():
    table = lowered("k = 1", "a(k) = 1").layouts.contents["k"]
    assert table.at([6]) == 1
    with pytest.raises(Unknown):
        table.at([7])
