"""Searches for an element and its place in DO loops, emitted, run with MPI and held against gfortran."""

import pytest

from aag.pipeline import Overrides, lower, read_program
from aag.spmd.nodes import Nest, walk
from esp.validate.counted import PACKED
from tests.aag.spmd.emit.counted import counted
from tests.aag.spmd.emit.many import Case, judge
from tests.aag.spmd.emit.random_searches import Searching, program

PROCS = (2, 3, 4, 6)


MORE_SEEDS = [pytest.param(20 + at, at % 4 + 1, marks=pytest.mark.truth) for at in range(8)]
FEW = 25
"""Operations with which a search begins and ends on up to four processors."""


def check(native, procs, seeds):
    """Answers and messages are right."""
    cases = [Case(program(seed), procs, note=seed) for seed in seeds]
    faults = [each for each in judge(native, cases) if each.fault]
    shown = [f"seed {each.case.note}: {each.fault}\n{each.case.text}\n{each.expected}\n{each.found}" for each in faults]
    assert not faults, f"{len(faults)} of {len(cases)}\n" + "\n".join(shown[:2])


def _searches(seed):
    body = walk(lower(read_program(program(seed), "s.hpf"), Overrides(procs=4), 4).body)
    return sum(isinstance(each, Nest) and each.reduce in ("maxloc", "minloc") for each in body)


def test_most_searches_are_shared():
    assert sum(_searches(seed) > 0 for seed in range(40)) > 20


@pytest.mark.parametrize("procs", [3, pytest.param(4, marks=pytest.mark.truth)])
def test_searches(procs, native):
    check(native, procs, range(8))


@pytest.mark.truth
@pytest.mark.parametrize("batch", range(8))
def test_many_searches(batch, native):
    check(native, PROCS[batch % len(PROCS)], range(100 + 40 * batch, 140 + 40 * batch))


@pytest.mark.parametrize(("seed", "procs"), [(1, 1), (3, 3), *MORE_SEEDS])
def test_operations(seed, procs, tmp_path):
    """What a search does is charged as often as it is done, but for what is done in the end if there is a better
    element, which data decide; loads and indices apart."""
    written = Searching(seed, n=40)
    _, found, exact = counted(written.text(), procs, tmp_path)
    others = [each for each in found.operations if not each.operation.startswith(("load", "index"))]
    wrong = [
        each
        for each in others
        if abs(each.predicted - each.counted) > FEW * (1 + written.executed) + 0.02 * each.counted
    ]
    assert not exact or [each for each in wrong if each.operation != PACKED] == []
