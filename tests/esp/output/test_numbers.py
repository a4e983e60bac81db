import doctest
import math

import hypothesis.strategies as st
import pytest
from hypothesis import given

from aag import wording
from esp.explore import ties
from esp.output import assumptions, numbers

SIZES = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}


@pytest.mark.parametrize("module", [numbers, assumptions, ties, wording])
def test_the_examples_of_the_docstrings(module):
    found = doctest.testmod(module)
    assert (found.failed, found.attempted > 0) == (0, True)


@given(st.floats(min_value=1e-10, max_value=1e8))
def test_a_time_with_its_unit_is_the_time_to_three_digits(time_s):
    text, unit = numbers.seconds(time_s).split()
    assert float(text.replace(",", "")) * SIZES[unit] == pytest.approx(time_s, rel=5.1e-3)
    assert len(text.replace(",", "").replace(".", "").lstrip("0")) <= 4


@given(st.floats(min_value=1e-9, max_value=999.0))
def test_a_time_up_to_minutes_takes_seven_columns(time_s):
    assert len(numbers.seconds(time_s)) <= 7


@given(st.lists(st.floats(min_value=0.0, max_value=1e6), min_size=1, max_size=6))
def test_percentages_add_up_to_100_and_are_near(parts):
    shares = numbers.percentages(parts)
    total = math.fsum(parts)
    assert sum(shares) == (100 if total > 0 else 0)
    assert all(abs(share - 100 * part / total) < 1 for share, part in zip(shares, parts, strict=True) if total > 0)


@pytest.mark.parametrize(
    ("parts", "shares"),
    [
        ((1, 1, 1), (34, 33, 33)),
        ((0.005, 0.995), (1, 99)),
        ((2, 0, 0, 0), (100, 0, 0, 0)),
        ((0.0, 0.0), (0, 0)),
        ((float("nan"), 1.0), (0, 0)),
        ((), ()),
    ],
)
def test_percentages_by_hand(parts, shares):
    assert numbers.percentages(parts) == shares


@pytest.mark.parametrize("step", range(6))
def test_each_prefix_is_exactly_1000_times_the_one_before(step):
    units = ("B", "kB", "MB", "GB", "TB", "PB")
    assert numbers.data(1000**step) == ("1 B" if step == 0 else f"1.00 {units[step]}")


@given(st.integers(min_value=0, max_value=99_999))
def test_small_counts_are_exact(number):
    assert int(numbers.count(number).replace(",", "")) == number
