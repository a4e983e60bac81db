"""MPI's own collectives instead of messages: the same answers, and none of their messages is counted."""

import random

import pytest

from aag.pipeline import read_program
from aag.spmd.emit import emit
from esp.validate.answer import difference
from esp.validate.serial import with_values
from tests.aag.spmd.emit.native import Native, lowered
from tests.aag.spmd.emit.random_text import is_standard, printing_program
from tests.aag.spmd.emit.test_benchmarks import NAMES, source, values
from tests.aag.spmd.emit.test_forms import FOLDER
from tests.aag.spmd.test_random_programs import PARTS

COLLECTIVES = ("gauss", "laplace", "pbs4", "pi", "redblack")


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """Apart from programs whose library makes collectives from messages."""
    return Native(tmp_path_factory.mktemp("own"))


def same_answer(own, text, node_program):
    answer, counted = own.answer(node_program, native=True)
    assert difference(own.expected(text), answer) == "", answer
    return counted


def benchmark(own, name, procs, n):
    given = values(name, n)
    text = with_values("\n".join(source(name).lines) + "\n", {key: str(value) for key, value in given.items()})
    return same_answer(own, text, lowered(source(name), procs, given))


@pytest.mark.parametrize("name", COLLECTIVES)
def test_benchmark(name, own):
    counted = benchmark(own, name, 6, 11)
    # Only what is no collective is counted: the overlap shifts of the sweeps; the others have nothing else.
    assert {line for _, line in counted} == {"laplace": {36}, "redblack": {29, 31, 34, 36}}.get(name, set())


@pytest.mark.truth
@pytest.mark.parametrize("procs", [2, 3, 4, 8])
@pytest.mark.parametrize("name", NAMES)
def test_every_benchmark(name, procs, own):
    benchmark(own, name, procs, 16)


@pytest.mark.parametrize("name", ["types", "turns", "copies", "names", "output", "functions"])
def test_program(name, own):
    program = read_program((FOLDER / f"{name}.hpf").read_text(), f"{name}.hpf")
    same_answer(own, "\n".join(program.lines) + "\n", lowered(program, 5))


@pytest.mark.parametrize("part", PARTS)
def test_random_program(part, own):
    kinds, statements = PARTS[part]
    for seed in random.Random(f"own {part}").sample(range(2000, 3000), 2):
        text, procs = printing_program(part, kinds, statements, seed)
        if is_standard(text):
            same_answer(own, text, lowered(read_program(text, "random.hpf"), procs))


def test_only_on_request():
    whole = lowered(source("gauss"), 4, values("gauss", 12))
    messages, collectives = emit(whole).files, emit(whole, native=True).files
    assert not any("MPI_Bcast" in text or "native" in text for text in messages.values())
    assert "MPI_Bcast" in collectives["esp_native.f90"]
    assert "!native" not in "".join(collectives.values())
