"""Distinct values, against Python's own sets."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from aag.distinct import distinct, distinct_rows, distinct_with_inverse, is_among

NUMBERS = st.one_of(st.integers(-5, 5), st.integers(-(1 << 60), 1 << 60))
LISTS = st.lists(NUMBERS, max_size=30)


@given(LISTS)
def test_values_are_those_of_the_set(values):
    assert distinct(np.array(values, np.int64)).tolist() == sorted(set(values))


@given(st.one_of(LISTS, st.lists(st.integers(0, 40), max_size=30)))
def test_first_places_and_numbers_lead_back(values):
    ordered = sorted(set(values))
    found, first, inverse = distinct_with_inverse(np.array(values, np.int64))
    assert found.tolist() == ordered
    assert first.tolist() == [values.index(each) for each in ordered]
    assert inverse.tolist() == [ordered.index(each) for each in values]


@given(st.integers(1, 4).flatmap(lambda width: st.lists(st.tuples(*[NUMBERS] * width), min_size=1, max_size=30)))
def test_rows_are_ordered_as_tuples(rows):
    ordered = sorted(set(rows))
    first, inverse = distinct_rows([np.array(column, np.int64) for column in zip(*rows, strict=True)])
    assert [rows[at] for at in first] == ordered
    assert inverse.tolist() == [ordered.index(row) for row in rows]


@given(LISTS, LISTS)
def test_membership_is_that_of_the_list(values, wanted):
    found = is_among(np.array(values, np.int64), np.array(wanted, np.int64))
    assert found.tolist() == [each in wanted for each in values]
