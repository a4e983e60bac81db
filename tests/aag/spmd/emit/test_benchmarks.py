"""Every benchmark as a running MPI program: the serial answer, and the predicted messages processor by processor."""

import random
from functools import lru_cache
from itertools import product
from pathlib import Path

import pytest

from aag.pipeline import main_unit, read_program
from esp.api import Request, Source
from esp.validate.answer import difference
from esp.validate.counts import predicted
from tests.aag.spmd.emit.batch import run_batch
from tests.aag.spmd.emit.native import check, lowered, serial_text

FOLDER = Path(__file__).resolve().parents[4] / "benchmarks_hpf"
NAMES = sorted(path.stem for path in FOLDER.glob("*.hpf"))
FORMATS = ("block", "cyclic", "cyclic(3)", "*")
SIZES = (5, 11, 16)
PROCS = (1, 2, 3, 4, 6, 8)
PLAIN = frozenset(("hoist", "coalesce", "redundant"))
TARGETS = {
    "cholesky": ("a", 2),
    "floyd": ("d", 2),
    "gauss": ("a", 2),
    "gausspivot_array": ("a", 2),
    "gausspivot_do": ("a", 2),
    "laplace": ("temp", 2),
    "laplace_bb": ("temp", 2),
    "laplace_bx": ("temp", 1),
    "laplace_xb": ("temp", 1),
    "lfk01": ("line", 1),
    "lfk03": ("x", 1),
    "lfk09": ("px", 2),
    "lfk22": ("x", 1),
    "lu": ("a", 2),
    "oddeven": ("x", 1),
    "pbs1": ("f", 1),
    "pbs2": ("rows", 1),
    "pbs3": ("a", 2),
    "pbs4": ("x", 1),
    "pi": ("x", 1),
    "pipeline": ("y", 1),
    "redblack": ("u", 2),
    "sor": ("u", 2),
    "thomas": ("u", 2),
    "trisolve": ("a", 2),
}
"""What each program distributes, and its rank."""
WHOLE_COLUMNS = ("gausspivot_array", "gausspivot_do")
"""Data decide which row is read: where rows are distributed, messages cannot be predicted."""
SIZES = (5, 11, 16)
PROCS = (1, 2, 3, 4, 6, 8)
PLAIN = frozenset(("hoist", "coalesce", "redundant"))

EVERY = [(name, procs, n) for name, procs, n in product(NAMES, PROCS, SIZES)]


def grids(procs, rank):
    """Every grid of so many processors; none is said where nothing is distributed."""
    if rank == 0:
        return [None]
    if rank == 1:
        return [(procs,)]
    firsts = [each for each in range(1, procs + 1) if procs % each == 0]
    return [(first, *rest) for first in firsts for rest in grids(procs // first, rank - 1)]


def mappings(name, procs):
    """That of the program, then every format in every dimension on every grid."""
    target, rank = TARGETS[name]
    return [({}, None)] + [
        ({target: f"({','.join(formats)})"}, grid)
        for formats in product(FORMATS, repeat=rank)
        if name not in WHOLE_COLUMNS or formats[0] == "*"
        for grid in grids(procs, rank - formats.count("*"))
    ]


@lru_cache
def source(name):
    return read_program((FOLDER / f"{name}.hpf").read_text(), f"{name}.hpf")


def values(name, n):
    constants = {entity.name for entity in main_unit(source(name)).entities if "parameter" in entity.attributes}
    wanted = {"n": n, "m": n + 1, "k": 3, "reps": 2}
    return {each: value for each, value in wanted.items() if each in constants}


def seeded():
    """Each benchmark once, with a number of processors that changes from one to the next."""
    chooser = random.Random(3)
    return [(name, chooser.choice((2, 3, 4)), chooser.choice(SIZES)) for name in NAMES]


def sampled():
    """For each number of processors all programs in some mapping, and those of `seeded` in their own."""
    chooser = random.Random(5)
    own = seeded()
    return [
        (
            procs,
            [
                *[(name, *chooser.choice(mappings(name, procs)), chooser.choice(SIZES)) for name in NAMES],
                *[(name, {}, None, n) for name, on, n in own if on == procs],
            ],
        )
        for procs in PROCS
    ]


@pytest.mark.parametrize(("procs", "cases"), sampled())
def test_some_mappings(procs, cases, native, system):
    check_batch(native, system, procs, cases)


@pytest.mark.truth
@pytest.mark.parametrize(("name", "procs", "n"), list(product(NAMES, PROCS, SIZES)))
def test_every_mapping(name, procs, n, native, system):
    check_batch(native, system, procs, [(name, *mapping, n) for mapping in mappings(name, procs)])


def check_batch(native, system, procs, cases):
    """Answer and messages of programs in mappings, all in one run; says which of them are wrong."""
    requests = [
        Request(procs=procs, grid=grid, distribute=distribute, values=values(name, n))
        for name, distribute, grid, n in cases
    ]
    programs = [source(name) for name, *_ in cases]
    lowerings = [
        lowered(program, procs, each.values, each.distribute, grid=each.grid)
        for program, each in zip(programs, requests, strict=True)
    ]
    wrong = []
    for program, request, ran in zip(programs, requests, run_batch(native, lowerings, procs), strict=True):
        what = f"{program.file} {dict(request.distribute)} on {request.grid}"
        if differs := difference(native.expected(serial_text(program, request.values)), ran.answer):
            wrong.append(f"{what}: {differs}")
        if ran.counts != predicted(Source(program=program), system, request).counts:
            wrong.append(f"{what}: messages differ")
    assert wrong == []


@pytest.mark.parametrize("name", ["lfk01", "redblack"])
def test_without_optimisations(name, native, system):
    check(native, source(name), system, 4, values(name, 11), disabled=PLAIN)
