"""MPI's own collectives instead of messages: the same answers, and none of their messages is counted."""

import re
from pathlib import Path

import pytest

from aag.ir.intrinsics import REDUCTIONS, SENT
from aag.pipeline import read_program
from aag.spmd.emit import emit
from esp.validate.answer import difference
from tests.aag.spmd.emit.batch import run_batch, run_serially
from tests.aag.spmd.emit.native import Native, lowered, serial_text
from tests.aag.spmd.emit.test_benchmarks import NAMES, source, values
from tests.aag.spmd.emit.test_forms import FOLDER
from tests.aag.spmd.emit.test_random_programs import PARTS, on

COLLECTIVES = ("gauss", "laplace", "pbs4", "pi", "redblack")


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """Apart from programs whose library makes collectives from messages."""
    return Native(tmp_path_factory.mktemp("own"))


def messages_of(own, programs, procs, n=None):
    """Compare the answers of programs, benchmarks with a size; returns what each counts."""
    given = [{} if n is None else values(Path(each.file).stem, n) for each in programs]
    texts = [serial_text(*each) for each in zip(programs, given, strict=True)]
    run_serially(own, texts)
    programs = [lowered(program, procs, each) for program, each in zip(programs, given, strict=True)]
    found = run_batch(own, programs, procs, native=True)
    for text, ran in zip(texts, found, strict=True):
        assert difference(own.expected(text), ran.answer) == "", f"{text}\n{ran.answer}"
    return [ran.counts for ran in found]


def test_benchmarks(own):
    # Only what is no collective is counted: the overlap shifts of the sweeps; the others have nothing else.
    shifts = {"laplace": {36}, "redblack": {29, 31, 34, 36}}
    counts = messages_of(own, [source(name) for name in COLLECTIVES], 6, 11)
    lines = [{line for _, line in counted} for counted in counts]
    assert lines == [shifts.get(name, set()) for name in COLLECTIVES]


@pytest.mark.truth
@pytest.mark.parametrize("procs", [2, 3, 4, 8])
def test_every_benchmark(procs, own):
    messages_of(own, [source(name) for name in NAMES], procs, 16)


def test_programs(own):
    names = ["types", "turns", "copies", "names", "output", "functions"]
    messages_of(own, [read_program((FOLDER / f"{name}.hpf").read_text(), f"{name}.hpf") for name in names], 5)


@pytest.mark.truth
@pytest.mark.parametrize(
    ("procs", "parts"),
    [
        pytest.param(6, tuple(PARTS)[::2], id="6-every other"),
        *(pytest.param(each, tuple(PARTS), id=f"{each}-all", marks=pytest.mark.truth) for each in (4, 6)),
    ],
)
def test_random_programs(procs, parts, own):
    messages_of(own, [read_program(text, "random.hpf") for text in on(procs, range(2200, 3000), parts)], procs)


def test_only_on_request():
    whole = lowered(source("gauss"), 4, values("gauss", 12))
    messages, collectives = emit(whole).files, emit(whole, native=True).files
    assert not any("MPI_Bcast" in text or "native" in text for text in messages.values())
    assert "MPI_Bcast" in collectives["esp_native.f90"]
    assert "!native" not in "".join(collectives.values())


def test_every_reduction_has_an_operation_of_mpi():
    text = emit(lowered(source("gauss"), 2, values("gauss", 12)), native=True).files["esp_native.f90"]
    cases = set(re.findall(r"case \('(\w+)'\)", text))
    assert [op for op in SENT.values() if not REDUCTIONS[op].located and op not in cases] == []
