"""Counts in the size and in the number of processors, solved exactly from counts of the engine.

Let the processors form a grid of d equal extents q (p = q^d, a power of two), and let q divide the size n. Each
processor then has n/q cells of a BLOCK or CYCLIC dimension. What the slowest of them pays is a polynomial in n, of a
degree that is at most the number of loops (`sampled`). Its coefficients vary with q alone: as powers of q, which are
shares of the cells and partners, and as these times log2 p, which are the stages of collectives.

Both are solved with rational numbers: the polynomial from sizes at each q, then each of its coefficients from all q,
the sum of fewest powers first. More counts are used than there are unknowns, and all must agree. Otherwise there is no
result.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import log2, prod

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from interpreter.symbolic.polynomial import ZERO, Poly, name, poly
from interpreter.symbolic.sampled import Key, exact

Array = NDArray[np.float64]

CHECKS = 2
"""Sizes, and numbers of processors, that a solution does not use, at least."""

MOST_POWERS = 3
"""Most powers of q in one coefficient."""

HIGHEST = 2
"""The highest power of q."""

STAGES = 2
"""The highest power of log2 p."""


class ScaleNames(Struct, frozen=True):
    """What expressions are made of.

    Attributes:
        size: The size n.
        procs: The number of processors p.
        extent: The extent q of the grid; p where the grid has one dimension.
        cells: b = n/q, the cells of a processor in a dimension.
        stages: s = log2 p.
        share: u = 1/q.
        rank: The dimensions d of the grid, p = q^d.
    """

    size: str
    procs: str
    extent: str
    cells: str
    stages: str
    share: str
    rank: int

    def values(self, sizes: Array, procs: Array) -> dict[str, Array]:
        """The value of each for sizes and numbers of processors (N,). Between multiples of q, b is rounded up: the
        processors that have most pay so."""
        extents = np.round(procs ** (1.0 / self.rank), 9)
        return {
            self.size: sizes,
            self.procs: procs,
            self.extent: extents,
            self.cells: np.ceil(sizes / extents - 1e-9),
            self.stages: np.log2(procs),
            self.share: 1.0 / extents,
        }


def names_for(size: str, rank: int) -> ScaleNames:
    """ScaleNames that differ from that of the size."""

    def other(text: str) -> str:
        return f"{text}_" if text == size else text

    return ScaleNames(size, other("p"), other("p" if rank == 1 else "q"), other("b"), other("s"), other("u"), rank)


class ScaleSample(Struct, frozen=True):
    """Counts of the slowest processor at one size on one grid."""

    size: int
    extent: int
    procs: int
    counts: Mapping[Key, float]


class _Place(Struct, frozen=True):
    """A grid: its extent q and log2 p."""

    extent: int
    stages: int


def across(keys: Sequence[Key], samples: Sequence[ScaleSample], names: ScaleNames) -> dict[Key, Poly | None]:
    """The closed form of each count; None: there is none."""
    grids: dict[_Place, list[ScaleSample]] = {}
    for each in samples:
        grids.setdefault(_Place(each.extent, round(log2(each.procs))), []).append(each)
    known: dict[object, Poly | None] = {}
    found: dict[Key, Poly | None] = {}
    for key in keys:
        table = {place: _exact([each.counts.get(key, 0.0) for each in some]) for place, some in grids.items()}
        question = tuple(table.values())
        if question not in known:
            sizes = {place: [each.size for each in some] for place, some in grids.items()}
            known[question] = _closed(sizes, table, names)
        found[key] = known[question]
    return found


def _exact(values: Sequence[float]) -> tuple[Fraction, ...] | None:
    """Counts as fractions."""
    return exact(np.array(values))


def _closed(
    sizes: Mapping[_Place, Sequence[int]], table: Mapping[_Place, tuple[Fraction, ...] | None], names: ScaleNames
) -> Poly | None:
    """An expression that has some values at some sizes on some grids."""
    lines: dict[_Place, list[Fraction]] = {}
    for place, values in table.items():
        line = None if values is None else polynomial_through(sizes[place], values)
        if line is None:
            return None
        lines[place] = line
    result = ZERO
    for degree in range(max(map(len, lines.values()))):
        part = _in_extent(
            degree, {place: line[degree] if degree < len(line) else Fraction(0) for place, line in lines.items()}, names
        )
        if part is None:
            return None
        result = result + part
    return result


def polynomial_through(sizes: Sequence[int], values: Sequence[Fraction]) -> list[Fraction] | None:
    """The coefficients of the polynomial of the least degree with some values; None: too few are left to check it."""
    for degree in range(len(sizes) - CHECKS):
        line = _solved(
            [[Fraction(size) ** at for at in range(degree + 1)] for size in sizes[: degree + 1]], values[: degree + 1]
        )
        assert line is not None
        if all(
            sum(each * size**at for at, each in enumerate(line)) == value
            for size, value in zip(sizes, values, strict=True)
        ):
            return line
    return None


def _in_extent(degree: int, values: Mapping[_Place, Fraction], names: ScaleNames) -> Poly | None:
    """n^degree times the sum of fewest powers of q and log2 p that has some values."""
    if not any(values.values()):
        return ZERO
    places, wanted = list(values), list(values.values())
    for some in _choices(degree, len(places) - CHECKS):
        rows = [[Fraction(place.extent) ** power * place.stages**stages for power, stages in some] for place in places]
        factors = _solved(rows[: len(some)], wanted[: len(some)])
        if factors is None or not all(factors):
            continue
        if all(
            sum(a * b for a, b in zip(row, factors, strict=True)) == value
            for row, value in zip(rows, wanted, strict=True)
        ):
            return sum(
                (
                    _product(degree, power, stages, names) * each
                    for (power, stages), each in zip(some, factors, strict=True)
                ),
                ZERO,
            )
    return None


def _choices(degree: int, most: int) -> Iterator[tuple[tuple[int, int], ...]]:
    """Powers of q and log2 p that are tried together, few and small ones first."""
    every = [(power, stages) for power in range(-degree - 1, HIGHEST + 1) for stages in range(STAGES + 1)]
    every.sort(key=lambda each: (each[1] + abs(each[0]), each[1]))
    for count in range(1, min(MOST_POWERS, most) + 1):
        yield from combinations(every, count)


def _product(degree: int, power: int, stages: int, names: ScaleNames) -> Poly:
    """n^degree q^power s^stages; a share of the cells is a power of b."""
    cells = min(degree, max(-power, 0))
    factors = {
        names.size: degree - cells,
        names.cells: cells,
        names.share: max(-power - degree, 0),
        names.extent: max(power, 0),
        names.stages: stages,
    }
    return prod((name(text) ** exponent for text, exponent in factors.items() if exponent), start=poly(1))


def _solved(rows: Sequence[Sequence[Fraction]], values: Sequence[Fraction]) -> list[Fraction] | None:
    """The solution of linear equations, as many as unknowns; None: there is not exactly one."""
    work = [[*row, value] for row, value in zip(rows, values, strict=True)]
    for at in range(len(work)):
        pivot = next((row for row in range(at, len(work)) if work[row][at]), None)
        if pivot is None:
            return None
        work[at], work[pivot] = work[pivot], work[at]
        factor = work[at][at]
        work[at] = [each / factor for each in work[at]]
        for row in range(len(work)):
            times = work[row][at]
            if row != at and times:
                work[row] = [mine - times * theirs for mine, theirs in zip(work[row], work[at], strict=True)]
    return [row[-1] for row in work]
