"""Random programs over random layouts, run as MPI programs and serially; every array is printed at the end."""

import random

import pytest

from aag.pipeline import read_program
from aag.spmd import nodes
from esp.api import Request, Source
from esp.validate.answer import difference
from esp.validate.counts import predicted_counts
from tests.emit.native import lowered
from tests.emit.random_text import is_standard, printing_program
from tests.spmd.test_random_programs import PARTS


def flow_is_known(body):
    """Whether no branch depends on data, which a prediction does not have."""
    return not any(
        isinstance(node, nodes.IfNode | nodes.WhileNode | nodes.Leave)
        or (isinstance(node, nodes.DoNode) and not flow_is_known(node.body))
        for node in body
    )


def run(part, seed, native, system):
    kinds, statements = PARTS[part]
    text, procs = printing_program(part, kinds, statements, seed)
    if not is_standard(text):
        return
    program = read_program(text, "random.hpf")
    node_program = lowered(program, procs)
    answer, counted = native.answer(node_program)
    assert difference(native.expected(text), answer) == "", f"{text}\n{answer}"
    if flow_is_known(node_program.body):
        assert counted == predicted_counts(Source(program=program), system, Request(procs=procs)), text


@pytest.mark.parametrize("part", PARTS)
def test_seeds(part, native, system):
    for seed in random.Random(part).sample(range(100), 2):
        run(part, seed, native, system)


@pytest.mark.truth
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("batch", range(8))
def test_many_seeds(part, batch, native, system):
    for seed in range(1000 + 10 * batch, 1010 + 10 * batch):
        run(part, seed, native, system)
