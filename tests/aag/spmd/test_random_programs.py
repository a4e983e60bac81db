"""Random programs run three ways: serially, without optimisations (messages are exactly those that brute force finds)
and with them (every read finds a valid copy, nothing is sent twice)."""

import random

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from tests.aag.spmd.programs import program
from tests.aag.spmd.runs import run_text

ONE = ("forall",)
ARRAYS = ("forall", "assignment", "where", "reduction", "scalar")
LOOPS = ("do", "do", "scalar")
MORE = ("independent", "intrinsic", "forall")
ALONG = ("along", "along", "assignment")
GUARDED = ("guarded", "guarded", "assignment")
REMAPS = ("remap", "remap", "forall", "assignment", "do", "scalar", "independent", "dims")
ALL = (*ARRAYS, "do", "guarded", "independent", "intrinsic")

PARTS = {
    "forall": (ONE, 1),
    "arrays": (ARRAYS, 2),
    "loops": (LOOPS, 2),
    "more": (MORE, 2),
    "programs": (ALL, 6),
    "along": (ALONG, 3),
    "guarded": (GUARDED, 2),
    "remaps": (REMAPS, 6),
}


def run(seed, part):
    kinds, statements = PARTS[part]
    text, procs = program(random.Random(f"{part} {seed}"), statements=statements, kinds=kinds)
    try:
        assert run_text(text, procs, seed) == []
    except BaseException:
        print(text, f"\nprocessors {procs}, part {part}, seed {seed}")
        raise


@pytest.mark.sampled
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("batch", [0, *(pytest.param(each, marks=pytest.mark.truth) for each in (1, 2, 3))])
def test_seeds(part, batch):
    for seed in range(4 * batch, 4 * batch + 4):
        run(seed, part)


@pytest.mark.truth
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("batch", range(4))
def test_many_seeds(part, batch):
    for seed in range(1000 + 50 * batch, 1000 + 50 * batch + 50):
        run(seed, part)


@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(st.randoms(use_true_random=False), st.integers(0, 99))
def test_statements_that_hypothesis_thinks_of(chooser, seed):
    text, procs = program(chooser, names="abc", statements=1, kinds=ARRAYS)
    assert run_text(text, procs, seed) == []
