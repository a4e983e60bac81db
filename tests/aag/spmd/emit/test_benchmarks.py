"""Every benchmark as a running MPI program: the serial answer, and the predicted messages processor by processor."""

import random
from functools import lru_cache
from itertools import product
from pathlib import Path

import pytest

from aag.pipeline import main_unit, read_program
from esp.api import Request
from tests.aag.spmd.emit.batch import check_batch
from tests.aag.spmd.emit.native import check

FOLDER = Path(__file__).resolve().parents[4] / "benchmarks_hpf"
NAMES = sorted(path.stem for path in FOLDER.glob("*.hpf"))
FORMATS = ("block", "cyclic", "cyclic(3)", "*")
SIZES = (5, 11, 16)
PROCS = (1, 2, 3, 4, 6, 8)
PLAIN = frozenset(("hoist", "coalesce", "redundant"))
TARGETS = {
    "cholesky": ("a", 2),
    "finance": ("s", 1),
    "floyd": ("d", 2),
    "gauss": ("a", 2),
    "gausspivot_array": ("a", 2),
    "gausspivot_do": ("a", 2),
    "laplace": ("temp", 2),
    "laplace_bb": ("temp", 2),
    "laplace_bx": ("temp", 1),
    "laplace_xb": ("temp", 1),
    "lfk01": ("line", 1),
    "lfk02": ("x", 1),
    "lfk03": ("x", 1),
    "lfk09": ("px", 2),
    "lfk14": ("vx", 1),
    "lfk22": ("x", 1),
    "lu": ("a", 2),
    "nbody": ("x", 1),
    "oddeven": ("x", 1),
    "pbs1": ("f", 1),
    "pbs2": ("rows", 1),
    "pbs3": ("a", 2),
    "pbs4": ("x", 1),
    "pi": ("x", 1),
    "pipeline": ("y", 1),
    "redblack": ("u", 2),
    "sor": ("u", 2),
    "adi": ("u", 2),
    "thomas": ("u", 2),
    "trisolve": ("a", 2),
    "cg": ("a", 2),
    "cg_sparse": ("x", 1),
    "fft3d": ("x", 3),
    "fft_transpose": ("x", 2),
    "givens": ("a", 2),
    "heat_sub": ("u", 2),
    "householder": ("a", 2),
    "implicit": ("u", 2),
    "life": ("temp", 2),
    "matmul": ("temp", 2),
    "multigrid": ("temp", 2),
    "particle": ("x", 1),
    "pdd": ("d", 3),
    "pt": ("d", 2),
    "qr": ("a", 2),
    "shallow": ("temp", 2),
    "shallow_do": ("temp", 2),
}
"""What each program distributes, and its rank."""
WHOLE_COLUMNS = ("gausspivot_array", "gausspivot_do")
"""Data decide which row is read: where rows are distributed, messages cannot be predicted."""


def grids(procs, rank):
    """Every grid of so many processors; none is said where nothing is distributed."""
    if rank == 0:
        return [None]
    if rank == 1:
        return [(procs,)]
    firsts = [each for each in range(1, procs + 1) if procs % each == 0]
    return [(first, *rest) for first in firsts for rest in grids(procs // first, rank - 1)]


def mappings(name, procs):
    """The mapping of the program, then each format in each dimension on each grid; of three dimensions two formats."""
    target, rank = TARGETS[name]
    choices = FORMATS if rank < 3 else ("block", "cyclic", "*")
    return [({}, None)] + [
        ({target: f"({','.join(formats)})"}, grid)
        for formats in product(choices, repeat=rank)
        if name not in WHOLE_COLUMNS or formats[0] == "*"
        for grid in grids(procs, rank - formats.count("*"))
    ]


@lru_cache
def source(name):
    return read_program((FOLDER / f"{name}.hpf").read_text(), f"{name}.hpf")


def values(name, n):
    constants = {entity.name for entity in main_unit(source(name)).entities if "parameter" in entity.attributes}
    wanted = {"n": n, "m": n + 1, "k": 3, "reps": 2, "w": 4}
    return {each: value for each, value in wanted.items() if each in constants}


def seeded():
    """Each benchmark once, with a number of processors that changes from one to the next."""
    chooser = random.Random(3)
    return [(name, chooser.choice((2, 3, 4)), chooser.choice(SIZES)) for name in NAMES]


def sampled():
    """On 2, 3 and 4 processors every third program in some mapping, and every second of those of `seeded` in its own.

    So each program has one or two cases.
    """
    chooser = random.Random(5)
    own = seeded()
    return [
        (
            procs,
            [
                *[(name, *chooser.choice(mappings(name, procs)), chooser.choice(SIZES)) for name in NAMES[at::3]],
                *[(name, {}, None, n) for name, on, n in own[::2] if on == procs],
            ],
        )
        for at, procs in enumerate((2, 3, 4))
    ]


@pytest.mark.sampled
@pytest.mark.slow
@pytest.mark.parametrize(
    ("procs", "cases"), [pytest.param(*each, marks=pytest.mark.truth if each[0] == 4 else ()) for each in sampled()]
)
def test_some_mappings(procs, cases, native, system):
    check_mappings(native, system, procs, cases)


IN_TURN = [
    (name, procs, SIZES[(at + place) % len(SIZES)], place)
    for at, name in enumerate(NAMES)
    for place, procs in enumerate(PROCS)
]
"""Each program on each number of processors, the sizes in turn: all sizes occur with each program and each number.

The last number says at which of its mappings to begin, of which every sixth is tested: each on some number.
"""


@pytest.mark.truth
@pytest.mark.parametrize(("name", "procs", "n", "first"), IN_TURN)
def test_mappings_in_turn(name, procs, n, first, native, system):
    all_of_it = mappings(name, procs)
    chosen = all_of_it[first % len(all_of_it) :: len(PROCS)]
    check_mappings(native, system, procs, [(name, *mapping, n) for mapping in chosen])


def check_mappings(native, system, procs, cases):
    """Programs in mappings, all in one run."""
    asked = [
        (source(name), Request(procs=procs, grid=grid, distribute=distribute, values=values(name, n)))
        for name, distribute, grid, n in cases
    ]
    check_batch(native, system, asked)


@pytest.mark.parametrize("name", ["lfk01", "redblack"])
def test_without_optimisations(name, native, system):
    check(native, source(name), system, 4, values(name, 11), disabled=PLAIN)
