"""The Omega test against isl: random systems of equations and inequalities, and the values that it finds."""

import islpy as isl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aag.spmd.omega import ONE, Undecided, feasible, sample

NAMES = "ijkl"


@st.composite
def rows(draw, least=0, most=6):
    row = {name: draw(st.integers(-7, 7)) for name in NAMES[: draw(st.integers(1, 4))]}
    return {**{name: value for name, value in row.items() if value}, ONE: draw(st.integers(-12, 12))}


def spelled(row):
    parts = [f"{value}{name}" if name else str(value) for name, value in row.items()]
    return " + ".join(parts).replace("+ -", "- ")


def as_set(equations, inequalities):
    conditions = [f"{spelled(row)} = 0" for row in equations] + [f"{spelled(row)} >= 0" for row in inequalities]
    return isl.Set(f"{{ [{','.join(NAMES)}] : {' and '.join(conditions) or 'true'} }}")


@settings(max_examples=200)
@given(st.lists(rows(), max_size=2), st.lists(rows(), max_size=6))
def test_feasible_as_isl_says(equations, inequalities):
    check_feasible(equations, inequalities)


@pytest.mark.truth
@settings(max_examples=1000)
@given(st.lists(rows(), max_size=2), st.lists(rows(), max_size=6))
def test_feasible_as_isl_often_says(equations, inequalities):
    check_feasible(equations, inequalities)


def check_feasible(equations, inequalities):
    assert feasible(equations, inequalities) == (not as_set(equations, inequalities).is_empty())


@settings(max_examples=60)
@given(st.lists(rows(), max_size=1), st.lists(rows(), max_size=3))
def test_a_sample_is_a_solution_with_the_least_first_value(equations, inequalities):
    box = [{name: sign, ONE: 20} for name in NAMES for sign in (1, -1)]
    found = sample(equations, [*inequalities, *box], NAMES)
    points = as_set(equations, [*inequalities, *box])
    if found is None:
        assert points.is_empty()
        return
    values = {**found, ONE: 1}
    assert all(sum(factor * values[name] for name, factor in row.items()) == 0 for row in equations)
    assert all(sum(factor * values[name] for name, factor in row.items()) >= 0 for row in inequalities)
    assert found["i"] == points.dim_min_val(0).to_python()


def test_splinters_find_what_the_dark_shadow_misses():
    """3 i = 2 j + 1 in a narrow strip: an inexact elimination alone would say that there is nothing, or too much."""
    strip = [{"i": 3, "j": -2, ONE: -1}, {"i": -3, "j": 2, ONE: 2}]
    strip += [{"j": 5, "i": -7, ONE: 4}, {"j": -5, "i": 7, ONE: -3}]
    assert feasible([], strip) == (not as_set([], strip).is_empty())


def test_a_system_that_is_too_large_is_not_decided():
    rows = [{f"x{a}": 3 + a % 5, f"x{b}": -2 - b % 7, ONE: a} for a in range(24) for b in range(24) if a != b]
    with pytest.raises(Undecided):
        feasible([], rows)
