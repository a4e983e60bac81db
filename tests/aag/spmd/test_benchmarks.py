"""Every benchmark, run on small grids: messages against brute force, reads against valid copies, results against
the serial meaning."""

from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from aag.pipeline import Options, Overrides, lower, main_unit, map_arrays, read_program
from tests.aag.spmd.machine import Machine
from tests.aag.spmd.serial import Serial

FOLDER = Path(__file__).resolve().parents[3] / "benchmarks_hpf"
BEYOND = ("lfk14", "cg_sparse", "fft3d", "fft_transpose", "heat_sub", "gausspivot_do")
"""Programs with index arrays in the bounds of loops or on both sides, with calls, or with searches, which are
reductions of pairs: more than the machine of these tests understands. They run natively
(`emit/test_benchmarks.py`)."""
AGAIN = ("multigrid",)
"""Another level of the same array is written between two messages, after which copies of a level do not count as valid,
so that some elements are sent again."""
NAMES = sorted(path.stem for path in FOLDER.glob("*.hpf") if path.stem not in BEYOND)
PROCS = (1, 2, 3, 4, 5, 7, 8, 16)
QUICK = (1, 3, 4, 8)
SIZES = (5, 11)
PLAIN = Options(disabled=frozenset(("hoist", "coalesce", "redundant")))
FULL = Options()


@lru_cache
def source(name):
    return read_program((FOLDER / f"{name}.hpf").read_text(), f"{name}.hpf")


def values(name, n):
    constants = {entity.name for entity in main_unit(source(name)).entities if "parameter" in entity.attributes}
    wanted = {"n": n, "m": n + 1, "k": 3, "reps": 2, "w": 4}
    return {each: value for each, value in wanted.items() if each in constants}


@lru_cache
def serial(name, n):
    program = source(name)
    layouts = map_arrays(program, Overrides(procs=1, values=values(name, n)), 1)
    return Serial(main_unit(program), layouts).run(main_unit(program).body)


def check(name, n, procs, options, distribute=None):
    overrides = Overrides(procs=procs, values=values(name, n), distribute=distribute or {})
    node_program = lower(source(name), overrides, procs, options)
    machine = Machine(node_program, exact=options is PLAIN, frugal=options is FULL and name not in AGAIN).run()
    truth = serial(name, n)
    for array, expected in truth.arrays.items():
        if f"{array}$2" in machine.copies:  # its last version, whichever that is, enters the checksum
            continue
        copies = machine.copies[array]
        everywhere = np.broadcast_to(expected.ravel(order="F"), copies.value.shape)
        np.testing.assert_allclose(copies.value[copies.owned], everywhere[copies.owned], rtol=1e-12, atol=1e-12)
    for scalar in ("check", "err", "it", "pi", "q", "integral", "e", "s", "r"):
        if scalar in truth.types and scalar in truth.scalars and scalar not in truth.arrays:
            np.testing.assert_allclose(machine.scalars[scalar], truth.scalars[scalar], rtol=1e-10)
    return machine


def cases():
    """Of each program one case without and two with optimisations, on other processors than for the program before;
    `make truth` takes all."""
    for at, name in enumerate(NAMES):
        for on, procs in enumerate(QUICK):
            ahead = (on - at) % len(QUICK)
            for what, options, soon in (("plain", PLAIN, ahead == 0), ("optimised", FULL, ahead in (2, 3))):
                marks = () if soon else pytest.mark.truth
                yield pytest.param(name, procs, options, id=f"{name}-{procs}-{what}", marks=marks)


@pytest.mark.sampled
@pytest.mark.parametrize(("name", "procs", "options"), list(cases()))
def test_benchmark(name, procs, options):
    """The two sizes in turn, so that each program meets both, with and without optimisations."""
    check(name, SIZES[(QUICK.index(procs) + (options is FULL)) % 2], procs, options)


FORMATS = ("block", "cyclic", "cyclic(3)", "*")


ARRAYS = {"laplace": "temp", "redblack": "u", "gauss": "a"}
DISTRIBUTED = [
    pytest.param(name, first, second, marks=() if (one + 2 * two) % 3 == at else pytest.mark.truth)
    for at, name in enumerate(ARRAYS)
    for one, first in enumerate(FORMATS)
    for two, second in enumerate(FORMATS)
]
"""Each pair of formats with one program, so that each program meets each format in each dimension; `make truth` takes
all."""


@pytest.mark.parametrize(("name", "first", "second"), DISTRIBUTED)
def test_other_distributions(name, first, second):
    """With and without optimisations in turn."""
    options = (PLAIN, FULL)[(FORMATS.index(first) + FORMATS.index(second)) % 2]
    check(name, 10, 4, options, {ARRAYS[name]: f"({first},{second})"})


MORE_SIZES = (4, *SIZES, 8, 13, 20)


@pytest.mark.truth
@pytest.mark.parametrize("n", MORE_SIZES)
@pytest.mark.parametrize("name", NAMES)
def test_more_sizes(name, n):
    """Each size on every other number of processors, so that each program meets each number with three sizes."""
    for procs in PROCS[MORE_SIZES.index(n) % 2 :: 2]:
        for options in (PLAIN, FULL):
            check(name, n, procs, options)


@pytest.mark.truth
@pytest.mark.parametrize("procs", PROCS)
@pytest.mark.parametrize("name", ["laplace", "laplace_bb", "redblack", "gauss"])
def test_all_distributions(name, procs):
    what = {"redblack": "u", "gauss": "a"}.get(name, "temp")
    for first in FORMATS:
        for second in FORMATS:
            for options in (PLAIN, FULL):
                check(name, 7, procs, options, {what: f"({first},{second})"})
