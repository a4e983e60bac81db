"""Random recurrences that reduce on the way (`random_sweeps`): answers and messages of what runs."""

import pytest

from aag.ir.visitors import elements_in
from aag.pipeline import read_program
from aag.spmd.nodes import Communicate, IfNode, Nest, OwnedLoop, walk
from esp.api import Request
from esp.validate.counted import PACKED
from tests.aag.spmd.emit.batch import check_batch
from tests.aag.spmd.emit.counted import counted
from tests.aag.spmd.emit.native import lowered
from tests.aag.spmd.emit.random_sweeps import program

MORE = [pytest.param(*each, marks=pytest.mark.truth) for each in ((1, 12), (2, 24), (3, 24), (6, 24))]


def read(seeds, procs):
    return [read_program(program(seed, procs), f"{seed}.hpf") for seed in seeds]


@pytest.mark.parametrize(("procs", "count"), [(4, 12), *MORE])
def test_answers_and_messages(procs, count, native, system):
    programs = read(range(count), procs)
    left = tuple(each.file for each in programs if has_chosen_messages(each, procs))
    assert len(left) <= len(programs) / 2
    check_batch(native, system, [(each, Request(procs=procs)) for each in programs], answer_only=left)


def has_chosen_messages(source, procs):
    """Whether data decide how often a message is sent: a loop is left, or every processor runs a condition on data with
    messages under it, as where a scalar goes from one iteration to the next."""
    if any(line.endswith(") exit") for line in source.lines):
        return True
    conditions = [each for each in walk(lowered(source, procs).body) if isinstance(each, IfNode)]
    return any(
        any(elements_in(branch.condition) for branch in each.branches)
        and any(isinstance(inner, Communicate) for inner in walk([each]))
        for each in conditions
    )


MORE_SEEDS = [
    pytest.param(seed, 1 + seed % 3, marks=pytest.mark.truth) for seed in range(1, 40) if seed not in (12, 14)
]
FEW = 9
"""Operations with which sums and maxima of up to three loops begin and end on up to three processors."""


@pytest.mark.parametrize(("seed", "procs"), [(12, 1), (14, 3), *MORE_SEEDS])
def test_operations(seed, procs, tmp_path):
    """What owners do in their turns is charged as often as it is done, as of `test_random_branches`; loads and indices
    apart, which the program counts anew in each statement of a turn."""
    node_program, found, exact = counted(program(seed, procs), procs, tmp_path)
    nests = [each for each in walk(node_program.body) if isinstance(each, Nest)]
    if exact and not any(each.continues for each in nests):  # that begins and ends in other ways (docs/emit.md)
        others = [each for each in found.operations if not each.operation.startswith(("load", "index"))]
        wrong = [each for each in others if abs(each.predicted - each.counted) > FEW + 1e-5 * each.counted]
        assert [each for each in wrong if each.operation != PACKED] == []


def test_owners_reduce_in_their_turns():
    """The generator reaches loops of owners that reduce, and such under conditions."""
    reduced, guarded = 0, 0
    for source in read(range(12), 4):
        owned = [each for each in walk(lowered(source, 4).body) if isinstance(each, OwnedLoop)]
        reduced += any("$" in name for each in owned for name in each.defines)
        guarded += any(each.guarded for each in owned)
    assert reduced >= 6
    assert guarded >= 4
