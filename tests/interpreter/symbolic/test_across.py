"""Counts in the size and in the number of processors: laws that were chosen are found again, others are not."""

import random
from fractions import Fraction
from math import log2

import pytest

from interpreter.symbolic.across import ScaleSample, across, names_for

KEY = (1, "processor.r8.add", 0)
CELLS = (3, 4, 5, 6, 7, 9)


def samples(law, rank=1, extents=(4, 8, 16, 32, 64)):
    """A law of n, q and p at the sizes at which esp counts."""
    return [
        ScaleSample(cells * q, q, q**rank, {KEY: float(law(Fraction(cells * q), Fraction(q), q**rank))})
        for q in extents
        for cells in CELLS
    ]


def found(law, rank=1):
    return across([KEY], samples(law, rank), names_for("n", rank))[KEY]


def value(poly, rank, n, q):
    values = {"n": n, "b": Fraction(n, q), "s": rank * round(log2(q)), "u": Fraction(1, q)}
    return poly.value({**values, "p": q if rank == 1 else q**2, "q": q})


@pytest.mark.parametrize("seed", range(60))
def test_laws_are_found_again(seed):
    """Up to three powers of q in each coefficient, at numbers of processors that were not used."""
    draw = random.Random(seed)
    rank = draw.choice((1, 2))
    terms = [
        (draw.randint(-9, 9), degree, power, stages)
        for degree in range(draw.randint(1, 4))
        for power, stages in draw.sample(
            [(power, stages) for power in range(-degree - 1, 3) for stages in (0, 1)], draw.randint(1, 2)
        )
    ]

    def law(n, q, p):
        return sum(times * n**degree * q**power * round(log2(p)) ** stages for times, degree, power, stages in terms)

    poly = found(law, rank)
    assert poly is not None
    for cells, q in ((11, 128), (40, 256), (5, 1024)):
        n = cells * q
        assert value(poly, rank, n, q) == law(Fraction(n), Fraction(q), q**rank)


@pytest.mark.parametrize(
    "law",
    [
        lambda n, q, p: n // 7,
        lambda n, q, p: max(n - 100, 0),
        lambda n, q, p: n * (5 if q < 16 else 6),
        lambda n, q, p: n**4,
        lambda n, q, p: n + q**3,
        lambda n, q, p: Fraction(n, 7001),
    ],
    ids=["rounded", "bent", "two roles", "a degree too many", "a power too many", "no fraction"],
)
def test_what_is_no_such_law_is_not_taken_for_one(law):
    assert found(law) is None


def test_names_differ_from_the_size():
    names = names_for("b", 2)
    assert len({names.size, names.procs, names.extent, names.cells, names.stages, names.share}) == 6
