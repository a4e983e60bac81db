"""Combinations of indices as ranges of elements, against all combinations."""

import random

import numpy as np
import pytest

from aag.ir.expressions import Binary, IntLit, Unary, Var
from aag.spmd.nodes import Index
from aag.spmd.ranges import enumerate_ranges, most_rows, united
from aag.spmd.vector import NUMBER, Along, TooLarge, enumerate_indices, evaluate_vector


def _bound(rng, names):
    """A number, or an index around it with an offset."""
    constant = IntLit(rng.randint(1, 7))
    if not names or rng.random() < 0.4:
        return constant
    return Binary("+-"[rng.randrange(2)], Var(rng.choice(names)), IntLit(rng.randint(0, 3)))


def _nest(rng):
    """Indices of a nest, the subscripts of the elements, and the subscripts that decide where they are needed."""
    names = ["i", "j", "l"][: rng.randint(1, 3)]
    indices = []
    for at, name in enumerate(names):
        step = rng.choice([None, None, IntLit(2), Unary("-", IntLit(1))])
        indices.append(
            Index(name=name, lower=_bound(rng, ["k", *names[:at]]), upper=_bound(rng, names[:at]), step=step)
        )
    subscripts = []
    for _ in range(rng.randint(1, 2)):
        term = Var(rng.choice([*names, "k"]))
        if rng.random() < 0.3:
            term = Binary("*", IntLit(rng.choice([-1, 2])), term)
        subscripts.append(Binary("+", term, IntLit(rng.randint(-2, 2))))
    homes = [Var(rng.choice(names))] if rng.random() < 0.8 else []
    return indices, subscripts, homes


def _rows(vectors, length, exprs, env):
    columns = [np.broadcast_to(evaluate_vector(each, env, vectors), (length,)) for each in exprs]
    columns.append(np.broadcast_to(vectors.get(NUMBER, 0), (length,)))
    return np.stack(columns, axis=1).astype(np.int64)


@pytest.mark.parametrize("seed", range(400))
def test_rows_are_those_of_all_combinations(seed):
    rng = random.Random(seed)
    indices, subscripts, homes = _nest(rng)
    along = Along("k", np.array([1, 2, 5])) if rng.random() < 0.5 else None
    env = {} if along else {"k": 3}
    every = enumerate_indices(indices, env, along)
    count = len(next(iter(every.values()))) if every else 1
    expected = {tuple(row) for row in _rows(every, count, [*homes, *subscripts], env).tolist()}
    deciding = frozenset(each.name for each in homes)
    ranges = enumerate_ranges(indices, subscripts, deciding, env, along)
    if not ranges.length:
        assert not expected
        return
    coords = _rows(ranges.vectors, ranges.length, homes, env)[:, : len(homes)]
    elements = _rows(ranges.vectors, ranges.length, subscripts, env)
    if ranges.at is not None:
        last = np.broadcast_to(evaluate_vector(subscripts[ranges.at], env, ranges.ends), (ranges.length,))
        coords, elements = united(coords, elements, ranges.at, last, most_rows(along))
        assert len({*map(tuple, np.hstack([coords, elements]).tolist())}) == len(elements)
    assert {tuple(row) for row in np.hstack([coords, elements]).tolist()} == expected


def test_many_pairs_are_few_ranges():
    indices = [
        Index(name="j", lower=IntLit(1), upper=IntLit(1000), step=None),
        Index(name="i", lower=Var("j"), upper=IntLit(1000), step=None),
    ]
    assert enumerate_ranges(indices, [Var("i")], frozenset("j"), {}).length == 1000
    assert enumerate_ranges(indices, [Var("j")], frozenset("j"), {}).length == 1000


def test_too_many_rows():
    elements = np.array([[7, 0], [7, 10]])
    with pytest.raises(TooLarge):
        united(np.zeros((2, 0), np.int64), elements, 1, np.array([5, 15]), 11)
    assert len(united(np.zeros((2, 0), np.int64), elements, 1, np.array([5, 15]), 12)[1]) == 12
