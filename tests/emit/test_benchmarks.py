"""Every benchmark as a running MPI program: the serial answer, and the predicted messages processor by processor."""

import random
from functools import lru_cache
from itertools import product
from pathlib import Path

import pytest

from aag.pipeline import main_unit, read_program
from tests.emit.native import check

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks_hpf"
NAMES = sorted(path.stem for path in FOLDER.glob("*.hpf"))
FORMATS = ("block", "cyclic", "cyclic(3)", "*")
MAPPED = (("laplace", "temp"), ("redblack", "u"))
SIZES = (5, 11, 16)
PROCS = (1, 2, 3, 4, 6, 8)
PLAIN = frozenset(("hoist", "coalesce", "redundant"))

EVERY = [(name, procs, n) for name, procs, n in product(NAMES, PROCS, SIZES)]
MAPPINGS = list(product(MAPPED, FORMATS, FORMATS, (2, 3, 4, 6)))


@lru_cache
def source(name):
    return read_program((FOLDER / f"{name}.hpf").read_text(), f"{name}.hpf")


def values(name, n):
    constants = {entity.name for entity in main_unit(source(name)).entities if "parameter" in entity.attributes}
    wanted = {"n": n, "m": n + 1, "k": 3, "reps": 2}
    return {each: value for each, value in wanted.items() if each in constants}


def sample(population, count, seed):
    return random.Random(seed).sample(population, count)


def seeded():
    """Each benchmark once, with a number of processors that changes from one to the next."""
    chooser = random.Random(3)
    return [(name, chooser.choice((2, 3, 4)), chooser.choice(SIZES)) for name in NAMES]


@pytest.mark.parametrize(("name", "procs", "n"), seeded())
def test_benchmark(name, procs, n, native, system):
    check(native, source(name), system, procs, values(name, n))


@pytest.mark.truth
@pytest.mark.parametrize(("name", "procs", "n"), EVERY)
def test_every_benchmark(name, procs, n, native, system):
    check(native, source(name), system, procs, values(name, n))


@pytest.mark.parametrize(("what", "first", "second", "procs"), sample(MAPPINGS, 6, 5))
def test_mapping(what, first, second, procs, native, system):
    mapped(what, first, second, procs, native, system)


@pytest.mark.truth
@pytest.mark.parametrize(("what", "first", "second", "procs"), MAPPINGS)
def test_every_mapping(what, first, second, procs, native, system):
    mapped(what, first, second, procs, native, system)


def mapped(what, first, second, procs, native, system):
    name, array = what
    check(native, source(name), system, procs, values(name, 10), {array: f"({first},{second})"})


@pytest.mark.parametrize("name", ["lfk01", "redblack"])
def test_without_optimisations(name, native, system):
    check(native, source(name), system, 4, values(name, 11), disabled=PLAIN)
