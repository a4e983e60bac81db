"""Random programs over random layouts, run as MPI programs and serially; every array is printed at the end."""

import random
from itertools import islice

import pytest

from aag.pipeline import read_program
from aag.spmd import nodes
from esp.api import Request, Source
from esp.validate.answer import difference
from esp.validate.counts import predicted
from tests.aag.spmd.emit.native import lowered
from tests.aag.spmd.emit.random_text import is_standard, printing_program
from tests.aag.spmd.test_random_programs import PARTS as INTERPRETED

PARTS = {**INTERPRETED, "functions": (("function", "function", "assignment"), 6)}


def flow_is_known(body):
    """Whether no branch depends on data, which a prediction does not have."""
    return not any(
        isinstance(node, nodes.IfNode | nodes.WhileNode | nodes.Leave)
        or (isinstance(node, nodes.DoNode) and not flow_is_known(node.body))
        for node in body
    )


def run(part, seed, native, system):
    """Whether the program of a seed could be run: a few are no standard Fortran."""
    kinds, statements = PARTS[part]
    text, procs = printing_program(part, kinds, statements, seed)
    if not is_standard(text):
        return False
    program = read_program(text, "random.hpf")
    node_program = lowered(program, procs)
    answer, counted = native.answer(node_program)
    assert difference(native.expected(text), answer) == "", f"{text}\n{answer}"
    if flow_is_known(node_program.body):
        assert counted == predicted(Source(program=program), system, Request(procs=procs)).counts, text
    return True


@pytest.mark.parametrize("part", PARTS)
def test_seeds(part, native, system):
    ran = [run(part, seed, native, system) for seed in random.Random(part).sample(range(100), 2)]
    assert any(ran)


BATCHES, EACH = 8, 8


@pytest.mark.truth
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("batch", range(BATCHES))
def test_many_seeds(part, batch, native, system):
    seeds = range(1000 + 50 * batch, 1000 + 50 * batch + 2 * EACH)
    ran = islice((seed for seed in seeds if run(part, seed, native, system)), EACH)
    assert len(list(ran)) == EACH


def test_there_are_many():
    assert BATCHES * EACH * len(PARTS) >= 300
