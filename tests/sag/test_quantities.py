"""Units: a table against the definition of each prefix, and what a mistake is answered with."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sag.quantities import EXAMPLES, UNITS, Change, QuantityError, make_change, parse_change, parse_quantity

LADDERS = {
    "time": (("ps", "ns", "us", "ms", "s"), 1000),
    "per_byte": (("ps/B", "ns/B", "us/B", "ms/B", "s/B"), 1000),
    "size": (("B", "KB", "MB", "GB", "TB"), 1024),
    "bandwidth": (("B/s", "KB/s", "MB/s", "GB/s", "TB/s"), 1000),
    "frequency": (("Hz", "KHz", "MHz", "GHz", "THz"), 1000),
    "rate": (("flop/s", "Kflop/s", "Mflop/s", "Gflop/s", "Tflop/s"), 1000),
}


@pytest.mark.parametrize("dimension", LADDERS)
def test_each_prefix_is_exactly_one_step_above_the_one_before(dimension):
    units, step = LADDERS[dimension]
    for lower, upper in pairwise(units):
        assert parse_quantity(f"{step} {lower}", dimension) == parse_quantity(f"1 {upper}", dimension)
    base = next(unit for unit in units if unit in {"s", "s/B", "B", "B/s", "Hz", "flop/s"})
    assert parse_quantity(f"1 {base}", dimension) == 1.0


def test_every_unit_is_in_the_ladders_or_named_here():
    known = {unit for units, _ in LADDERS.values() for unit in units}
    bits = {"bit/s", "Kbit/s", "Mbit/s", "Gbit/s", "Tbit/s", "", "%"}
    assert {unit for units in UNITS.values() for unit in units} == known | bits


@pytest.mark.parametrize(
    ("text", "dimension", "expected"),
    [
        ("65 us", "time", 65e-6),
        ("65us", "time", 65e-6),
        (" 4  ms ", "time", 4e-3),
        ("65 µs", "time", 65e-6),
        ("1e-3 s", "time", 1e-3),
        (".5 s", "time", 0.5),
        ("0.39 us/B", "per_byte", 0.39e-6),
        ("2.5 MB/s", "per_byte", 0.4e-6),
        ("100 Gbit/s", "bandwidth", 12.5e9),
        ("8 KB", "size", 8192),
        ("8 kB", "size", 8192),
        ("6200000 B", "size", 6.2e6),
        ("40 MHz", "frequency", 40e6),
        ("30%", "fraction", 0.3),
        ("0.3", "fraction", 0.3),
        ("12", "count", 12),
    ],
)
def test_values(text, dimension, expected):
    assert parse_quantity(text, dimension) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("dimension", EXAMPLES)
def test_the_examples_of_the_hints_are_values(dimension):
    for example in EXAMPLES[dimension].split(" or "):
        assert np.isfinite(parse_quantity(example, dimension))


@pytest.mark.parametrize(
    ("text", "dimension", "message", "hint"),
    [
        ("65", "time", "'65' lacks its unit: expected a time", "write for example 65 us"),
        ("65 MB", "time", "'65 MB' is a size, expected a time", "write for example 65 us"),
        ("65 uss", "time", "unknown unit 'uss' in '65 uss': expected a time", "did you mean 'us'?"),
        ("3 mb/s", "bandwidth", "unknown unit 'mb/s' in '3 mb/s': expected a bandwidth", "did you mean 'MB/s'?"),
        ("fast", "time", "'fast' is not a time", "write for example 65 us"),
        ("", "size", "'' is not a size", "write for example 8 KB"),
        ("1.5", "count", "'1.5' is not a whole number", ""),
        ("nan s", "time", "'nan s' is not a time", "write for example 65 us"),
        ("1e999 s", "time", "'1e999 s' is too large to represent", ""),
        ("0 MB/s", "per_byte", "'0 MB/s' is not a bandwidth", "it must be above 0"),
    ],
)
def test_mistakes(text, dimension, message, hint):
    with pytest.raises(QuantityError) as caught:
        parse_quantity(text, dimension)
    assert (caught.value.message, caught.value.hint) == (message, hint)


@pytest.mark.parametrize(
    ("text", "dimension", "nominal", "expected"),
    [
        ("x2", "time", 3.0, 6.0),
        ("X0.5", "time", 3.0, 1.5),
        ("x1e9", "frequency", 1.0, 1e9),
        ("30%", "bandwidth", 10.0, 3.0),
        ("30%", "fraction", 0.1, 0.3),
        ("120us", "time", 65e-6, 120e-6),
        ("x2", "fraction", 0.2, 0.4),
    ],
)
def test_changes(text, dimension, nominal, expected):
    assert parse_change(text, dimension).apply(nominal) == pytest.approx([expected], rel=1e-15)


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("x0", "'x0' is not a factor", "it must be above 0"),
        ("x-2", "'x-2' is not a factor", "it must be above 0"),
        ("xfast", "'xfast' is not a factor", "write for example x2 or 30%"),
        ("+10%", "'+10%' is not a change", "write x1.1 for that increase"),
        ("+3 MB/s", "'+3 MB/s' is not a change", "write it without the +"),
        ("+fast%", "'+fast%' is not a change", "write it without the +"),
        ("2", "'2' lacks its unit: expected a bandwidth", "a change is 'x2', '30%' or a value such as 2.8 MB/s"),
    ],
)
def test_changes_that_are_none(text, message, hint):
    with pytest.raises(QuantityError) as caught:
        parse_change(text, "bandwidth")
    assert (caught.value.message, caught.value.hint) == (message, hint)


def test_series_of_changes():
    assert make_change(["x1", "x2"], "time", plain_is_factor=True).apply(3.0).tolist() == [3.0, 6.0]
    assert make_change([1.0, 2.0], "time", plain_is_factor=False).apply(3.0).tolist() == [1.0, 2.0]
    assert make_change(np.array([1.0, 2.0]), "time", plain_is_factor=True).scenarios == 2
    change = Change(is_factor=True, amount=np.array([2.0]), text="x2")
    assert make_change(change, "time", plain_is_factor=True) is change


@pytest.mark.parametrize("given_change", [["x1", "2 us"], [], [[1.0]], [float("nan")], object(), [0.0]])
def test_series_that_are_no_changes(given_change):
    with pytest.raises(QuantityError):
        make_change(given_change, "time", plain_is_factor=True)


@given(st.floats(min_value=1e-6, max_value=1e6), st.sampled_from(sorted(LADDERS)), st.data())
def test_what_is_written_in_any_unit_is_read_back(value, dimension, data):
    units, step = LADDERS[dimension]
    unit = data.draw(st.sampled_from(units))
    power = units.index(unit) - (units.index({"time": "s", "per_byte": "s/B"}.get(dimension, units[0])))
    assert parse_quantity(f"{value!r} {unit}", dimension) == pytest.approx(value * float(step) ** power, rel=1e-12)
