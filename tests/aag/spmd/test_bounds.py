"""Indices that are coupled in too many combinations are charged an upper bound, and say so (D2)."""

import random
from collections import Counter

import numpy as np
import pytest

from aag.pipeline import Overrides, lower, read_program
from aag.spmd import communication, nodes, partition, relation, vector
from aag.spmd.steps import Phase
from tests.aag.spmd.programs import program

TRIANGLE = """program big
  integer, parameter :: n = 8192
  real :: a(n, n), b(2*n)
!hpf$ distribute a(block, block)
!hpf$ distribute b(block)
  integer :: i, j
  forall (i = 1:n, j = 1:n, j >= i) a(i, j) = 0.0
  forall (i = 1:n-1) a(i, i+1:n) = 1.0
  forall (i = 1:n, j = 1:n) a(i, j) = b(i + j)
end program big
"""


def test_the_full_size_is_bounded_and_says_so():
    lowered = lower(read_program(TRIANGLE, "big.hpf"), Overrides(procs=4), 4)
    env = lowered.layouts.environment
    _, triangle, _ = nests = [node for node in lowered.body if isinstance(node, nodes.Nest)]
    counted = [partition.trips(nest, lowered.layouts, env)[0] for nest in nests]
    assert [each.bounded for each in counted] == [False, True, False]
    n = 8192
    assert triangle is nests[1]
    assert n * (n - 1) // 2 <= counted[1].count.sum() <= n * n
    (moved,) = [node.operation for node in lowered.body if isinstance(node, nodes.Communicate)]
    (steps,) = communication.steps(moved, lowered.layouts, env)
    assert all(each.bounded for each in steps)
    brought = Counter()
    for phase in steps:
        for rank, amount in zip(phase.destination, phase.elements, strict=True):
            brought[int(rank)] += int(amount)
    for rank in range(4):  # rank = row block + 2 * column block; b(i + j) spans 2 * 4096 - 1 elements of 16384
        assert 4096 <= brought[rank] <= 3 * 4096


@pytest.mark.parametrize("seed", [*range(20), *(pytest.param(each, marks=pytest.mark.truth) for each in range(20, 40))])
def test_a_bound_is_never_below_the_exact_count(seed, monkeypatch):
    text, procs = program(random.Random(f"bounds {seed}"), statements=2, kinds=("forall",))
    lowered = lower(read_program(text, "random.hpf"), Overrides(procs=procs), procs)
    env = lowered.layouts.environment
    exact = figures(lowered, env)
    for module in (vector, relation):
        monkeypatch.setattr(module, "LIMIT", 12)
    bounded = figures(lowered, env)
    for before, after in zip(exact, bounded, strict=True):
        if after is not None:
            assert (after >= before).all()


def figures(lowered, env):
    """Iterations of each processor, and elements that arrive there, node by node; None where even a bound fails."""
    found = []
    for node in walk(lowered.body):
        try:
            if isinstance(node, nodes.Nest):
                found.append(partition.trips(node, lowered.layouts, env)[0].count)
            elif isinstance(node, nodes.Communicate) and isinstance(node.operation, nodes.Exchange):
                arrived = np.zeros(lowered.layouts.procs, dtype=np.int64)
                for phase in communication.steps(node.operation, lowered.layouts, env)[0]:
                    assert isinstance(phase, Phase)
                    np.add.at(arrived, phase.destination, phase.elements)
                found.append(arrived)
        except vector.TooLarge:
            found.append(None)
    return found


def walk(body):
    for node in body:
        yield node
        yield from walk(getattr(node, "body", ()))
