"""Random recurrences that reduce on the way (`random_sweeps`): answers and messages of what runs."""

import pytest

from aag.pipeline import read_program
from aag.spmd.nodes import OwnedLoop, walk
from esp.api import Request
from tests.aag.spmd.emit.batch import check_batch
from tests.aag.spmd.emit.native import lowered
from tests.aag.spmd.emit.random_sweeps import program

MORE = [pytest.param(*each, marks=pytest.mark.truth) for each in ((1, 12), (2, 24), (3, 24), (6, 24))]


def read(seeds, procs):
    return [read_program(program(seed, procs), f"{seed}.hpf") for seed in seeds]


@pytest.mark.parametrize(("procs", "count"), [(4, 12), *MORE])
def test_answers_and_messages(procs, count, native, system):
    programs = read(range(count), procs)
    left = tuple(each.file for each in programs if any(line.endswith(") exit") for line in each.lines))
    check_batch(native, system, [(each, Request(procs=procs)) for each in programs], answer_only=left)


def test_owners_reduce_in_their_turns():
    """The generator reaches loops of owners that reduce."""
    found = 0
    for source in read(range(12), 4):
        owned = [each for each in walk(lowered(source, 4).body) if isinstance(each, OwnedLoop)]
        found += any("$" in name for each in owned for name in each.defines)
    assert found >= 6
