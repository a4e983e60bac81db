"""Random programs with input, output and data of all types, run as MPI programs and serially."""

import pytest

from aag.pipeline import read_program
from esp.api import Request, Source
from esp.computed import as_given
from esp.validate.answer import difference
from esp.validate.counts import predicted
from esp.validate.given import GivenInput
from tests.aag.spmd.emit.native import lowered
from tests.aag.spmd.emit.random_io import program

MANY = 100


def run(seed, native, system):
    """Compare the answer and, where input does not decide how much is read, the messages."""
    text, procs, standard_input, values = program(seed)
    given = GivenInput(standard_input)
    source = read_program(text, "random.hpf")
    request = Request(procs=procs, values=values)
    node_program = lowered(as_given(source, request), procs)
    assert node_program.complete, text
    answer, counted = native.answer(node_program, given=given)
    assert difference(native.expected(text, given), answer) == "", f"{seed}\n{text}\n{answer}"
    if "many, k" not in text:
        assert counted == predicted(Source(program=source), system, request).counts, f"{seed}\n{text}"


@pytest.mark.parametrize("seed", [1, 109])
def test_seeds(seed, native, system):
    run(seed, native, system)


@pytest.mark.truth
@pytest.mark.parametrize("seed", range(100, 100 + MANY))
def test_many_seeds(seed, native, system):
    run(seed, native, system)


def test_every_construct_is_drawn():
    texts = "".join(program(seed)[0] for seed in range(100, 100 + MANY))
    for part in (
        "cshift",
        "eoshift",
        "complex",
        "character",
        "logical",
        "read *",
        "read (5",
        "read (11",
        "iostat=",
        "more\n  more =",
        "sizes(2)\n  do i = 1, sizes",
        "inquire",
        "write (word",
        "read (word",
        "0 open",
        "0 print",
        "align",
        "if (k",
        "maxval",
        "(matmul(",
        "; print *, ",
        "(2:1",
        "sum",
        "count(",
        ")(2:",
        "mod(ichar(",
    ):
        assert part in texts, part
