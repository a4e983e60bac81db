"""Random loops with IF blocks (`random_branches`): answers, messages and operations of what runs."""

import pytest

from aag.pipeline import read_program
from aag.spmd.nodes import Nest, walk
from esp.api import Request
from esp.validate.counted import PACKED
from tests.aag.spmd.emit.batch import check_batch
from tests.aag.spmd.emit.counted import counted
from tests.aag.spmd.emit.native import lowered
from tests.aag.spmd.emit.random_branches import program

MORE = [pytest.param(*each, marks=pytest.mark.truth) for each in ((1, 12), (2, 12), (4, 24), (6, 12))]


@pytest.mark.parametrize(("procs", "count"), [(3, 6), *MORE])
def test_answers_and_messages(procs, count, native, system):
    read = [read_program(program(seed, procs), f"{seed}.hpf") for seed in range(count)]
    left = tuple(each.file for each in read if any(line.endswith(" l) cycle") for line in each.lines))
    check_batch(native, system, [(each, Request(procs=procs)) for each in read], answer_only=left)


@pytest.mark.parametrize(
    ("seed", "procs"), [(1, 1), *(pytest.param(seed, 1 + seed % 3, marks=pytest.mark.truth) for seed in range(2, 32))]
)
def test_operations(seed, procs, tmp_path):
    """Each branch is charged as often as it is taken: where indices decide, and on one processor where shares are
    known of the conditions that data decide. Sums and maxima begin and end in other ways (docs/emit.md)."""
    text = program(seed, procs)
    _, found, exact = counted(text, procs, tmp_path)
    if exact and not any(each in text for each in ("do l =", ") z = ")):
        others = [each for each in found.operations if abs(each.predicted - each.counted) > 1e-5 * each.counted]
        assert [each for each in others if each.operation != PACKED] == []


def test_blocks_stay_together():
    """The generator reaches loops with conditions of their own, of owners and of all."""
    found = {True: 0, False: 0}
    for seed in range(12):
        nodes = walk(lowered(read_program(program(seed, 4), "branches.hpf"), 4).body)
        nests = [each for each in nodes if isinstance(each, Nest)]
        found[True] += any(each.guarded and each.home is not None for each in nests)
        found[False] += any((each.guarded or each.mask is not None) and each.home is None for each in nests)
    assert found[True] >= 8
    assert found[False] >= 2
