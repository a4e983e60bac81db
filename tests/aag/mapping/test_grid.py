from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aag.mapping.grid import Grid, squarest


@pytest.mark.parametrize(
    ("procs", "shape"),
    [(8, (4, 2)), (6, (3, 2)), (7, (7, 1)), (12, (3, 2, 2)), (12, (4, 3)), (1, (1, 1)), (16, (4, 4)), (5, (5,))],
)
def test_examples_of_definition_13(procs, shape):
    assert squarest(procs, len(shape)) == shape


@given(st.integers(1, 240), st.integers(1, 4))
def test_squarest_is_the_least_descending_factorisation(procs, rank):
    divisors = [each for each in range(1, procs + 1) if procs % each == 0]
    every = [
        factors
        for factors in product(divisors, repeat=rank - 1)
        if procs % prod(factors) == 0 and prod(factors) <= procs
    ]
    whole = [tuple(sorted((*factors, procs // prod(factors)), reverse=True)) for factors in every]
    assert squarest(procs, rank) == min(whole)


def test_a_million_processors_in_seven_dimensions():
    shape = squarest(2**20, 7)
    assert prod(shape) == 2**20
    assert max(shape) == 8


def test_a_scalar_grid_has_one_processor_and_no_factorisation_of_more():
    scalar = Grid("q", ())
    assert scalar.size == 1
    assert str(scalar) == "scalar"
    assert scalar.coords_of(np.zeros(3)).shape == (3, 0)


@given(st.lists(st.integers(1, 5), min_size=1, max_size=4))
def test_ranks_are_column_major(shape):
    grid = Grid("p", tuple(shape))
    # The first coordinate varies fastest: reversed tuples in lexicographic order.
    coords = [tuple(reversed(each)) for each in product(*(range(extent) for extent in reversed(shape)))]
    assert grid.coords_of(np.arange(grid.size)).tolist() == [list(each) for each in coords]
    for axis in range(len(shape)):
        values = np.arange(shape[axis]) * 10
        assert grid.spread(axis, values).tolist() == [10 * each[axis] for each in coords]
