"""Exact interpolation of counts that are not derived: messages, masks, branches that data decide.

For a fixed number of processors, what an affine program with BLOCK or CYCLIC parts does is a count of integer points in
polytopes that depend on the parameter n. It is a polynomial in n and in roundings such as floor((n + 3) / 4) for all n
from some size on, of a degree that is at most the number of loops. So the counts at as many sizes as there are unknown
coefficients give the polynomial, with rational arithmetic. Counts at further sizes, which the solution does not use,
must agree; otherwise there is no result.
Source: P. Clauss, "Counting solutions to linear and nonlinear constraints through Ehrhart polynomials" (1996), which
determines the coefficients in this way.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement, pairwise
from math import lcm, prod

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from interpreter.setting import SHARE_PARTS
from interpreter.symbolic.facts import Facts
from interpreter.symbolic.places import Places
from interpreter.symbolic.polynomial import ONE, ZERO, Floor, Poly, atoms, floor, name

CHECKS = 3
"""Sizes that the solution does not use, at least."""

MOST = 96
"""Sizes at which counts are taken at most."""

PERIOD = 32
"""The longest period of CYCLIC(k) that is tried: k times the processors."""

_PRIME = (1 << 61) - 1
_CLOSE = 1e-9
_DENOMINATOR = 720

Key = tuple[int, str, int]
"""AAU, figure of the machine, what it is paid for."""


class CountSample(Struct, frozen=True):
    """The counts of each processor at one size, (P,) each. Where there is none it is 0."""

    size: int
    counts: Mapping[Key, NDArray[np.float64]]
    executions: Mapping[int, int]
    """AAU -> how often it runs."""
    messages: Mapping[int, int]
    """AAU -> bytes of its largest message in a typical execution."""
    shortest: Mapping[int, int] = {}
    """AAU -> bytes of its shortest message."""


class Ansatz(Struct, frozen=True):
    """Products whose multiples are tried, simple ones first."""

    products: tuple[Poly, ...]


def ansatzes(
    places: Places, facts: Facts, degree: int, roundings: Sequence[Poly] = (), step: int = 1
) -> tuple[Ansatz, ...]:
    """What is tried, lower degrees first.

    These are polynomials in the parameter, with block sizes, with `roundings` in the bounds of loops, with the number
    of cells at one place of a period of CYCLIC, and with the numbers at all places, of which only the differences vary
    in another way than the parameter. `step`: the common multiple of the steps of loops, which cut blocks as CYCLIC(k)
    does. The last one has all products.
    """
    free = name(facts.free)
    blocks: dict[Poly, None] = {}
    shares: dict[Poly, None] = {}
    for array in places.arrays.values():
        for place in array:
            dealt = place.dealt
            if dealt is None or dealt.procs == 1:
                continue
            period = step * dealt.procs
            if dealt.kind == "block" and dealt.block.names:
                blocks[_atom(dealt.block)] = None
                period = period if step > 1 else 0
            elif dealt.kind == "cyclic" and dealt.extent.names:
                period *= int(dealt.block.constant or 1)
            else:
                continue
            for cell in range(period if period <= PERIOD else 0):
                shares[_atom(floor(dealt.extent + (period - 1 - cell), period))] = None
    more = [each for each in roundings if each not in blocks]
    differences = [mine - other for mine, other in pairwise(shares)]
    found: list[list[Poly]] = []
    for most in range(degree + 1):
        found.append(_products((free,), most))
        if blocks:
            found.append(_products((free, *blocks), most))
        if more:
            found.append(_products((free, *blocks, *more), most))
        found += [_products((free, *blocks, each), most) for each in shares]
        if shares:
            lower = [free**power * each for each in differences for power in range(most)]
            found.append([*_products((free, *blocks), most), *lower])
    found.append([each for several in found for each in several])
    return tuple(dict.fromkeys(Ansatz(tuple(dict.fromkeys(each))) for each in found))


def _atom(of: Poly) -> Poly:
    """A rounding without the number that is added to it."""
    return of - Poly(tuple(term for term in of.terms if not term[0]))


def _products(factors: Sequence[Poly], degree: int) -> list[Poly]:
    return [
        prod(each, start=ONE) for number in range(degree + 1) for each in combinations_with_replacement(factors, number)
    ]


def sizes_for(ansatz: Ansatz, facts: Facts, least: int) -> tuple[int, ...] | None:
    """Sizes that determine a polynomial, and others to check it; None: there would be too many."""
    pivots: list[tuple[int, list[int]]] = []
    chosen: list[int] = []
    spare: list[int] = []
    period = lcm(*(atom.divisor for each in ansatz.products for atom in atoms(each) if isinstance(atom, Floor)))
    room = 4 * (period + 1) * len(ansatz.products) + 64
    quiet = 0
    for size in _admitted(facts, least, least + room):
        row = _reduced([int(each.value({facts.free: size})) % _PRIME for each in ansatz.products], pivots)
        lead = next((at for at, each in enumerate(row) if each), None)
        if lead is None:
            spare.append(size)
            quiet += 1
            if quiet > 4 * period + 8:
                break
            continue
        quiet = 0
        inverse = pow(row[lead], -1, _PRIME)
        pivots.append((lead, [each * inverse % _PRIME for each in row]))
        chosen.append(size)
        if len(chosen) > MOST:
            return None
    step = max(1, len(spare) // CHECKS)
    return tuple(sorted({*chosen, *spare[::step][: CHECKS + 1]}))


def _admitted(facts: Facts, least: int, most: int) -> Iterator[int]:
    return (size for size in range(least, most) if facts.hold(size))


def _reduced(row: list[int], pivots: list[tuple[int, list[int]]]) -> list[int]:
    for lead, pivot in pivots:
        factor = row[lead]
        if factor:
            row = [(mine - factor * theirs) % _PRIME for mine, theirs in zip(row, pivot, strict=True)]
    return row


class Solver(Struct, frozen=True, dict=True):
    """Solves for polynomials that have given values at some sizes."""

    facts: Facts
    ansatz: Ansatz
    sizes: tuple[int, ...]

    def solve(self, values: Sequence[Fraction]) -> Poly | None:
        """The polynomial; None: none of the ansatz has these values, or too few values are left to check it."""
        rows, columns, inverse = self._system
        if len(self.sizes) - len(rows) < CHECKS:
            return None
        used = [values[at] for at in rows]
        factors = [sum((a * b for a, b in zip(line, used, strict=True)), Fraction(0)) for line in inverse]
        found = ZERO
        for column, factor in zip(columns, factors, strict=True):
            found = found + self.ansatz.products[column] * factor
        for at, each in enumerate(self._matrix):
            if (
                sum((each[column] * factor for column, factor in zip(columns, factors, strict=True)), Fraction(0))
                != (values[at])
            ):
                return None
        return found

    @cached_property
    def _matrix(self) -> list[list[int]]:
        free = self.facts.free
        return [[int(each.value({free: size})) for each in self.ansatz.products] for size in self.sizes]

    @cached_property
    def _system(self) -> tuple[list[int], list[int], list[list[Fraction]]]:
        """Rows and columns of a regular part of the matrix, and its inverse. Earlier columns win."""
        matrix = self._matrix
        columns: list[int] = []
        pivots: list[tuple[int, list[int]]] = []
        for column in range(len(self.ansatz.products)):
            reduced = _reduced([row[column] % _PRIME for row in matrix], pivots)
            lead = next((at for at, each in enumerate(reduced) if each), None)
            if lead is not None:
                factor = pow(reduced[lead], -1, _PRIME)
                pivots.append((lead, [each * factor % _PRIME for each in reduced]))
                columns.append(column)
        rows = [lead for lead, _ in pivots]
        return rows, columns, _inverse([[matrix[row][column] for column in columns] for row in rows])


def _inverse(matrix: list[list[int]]) -> list[list[Fraction]]:
    size = len(matrix)
    work = [
        [Fraction(each) for each in row] + [Fraction(int(at == i)) for at in range(size)]
        for i, row in enumerate(matrix)
    ]
    for at in range(size):
        pivot = next(row for row in range(at, size) if work[row][at])
        work[at], work[pivot] = work[pivot], work[at]
        factor = work[at][at]
        work[at] = [each / factor for each in work[at]]
        for row in range(size):
            if row != at and work[row][at]:
                times = work[row][at]
                work[row] = [mine - times * theirs for mine, theirs in zip(work[row], work[at], strict=True)]
    return [row[size:] for row in work]


def interpolated(
    keys: Sequence[Key], samples: Sequence[CountSample], procs: int, solvers: Sequence[Solver]
) -> dict[Key, tuple[Poly, ...] | None]:
    """The polynomial of each key on each processor; None: there is none for some processor."""
    known: dict[tuple[Fraction, ...], Poly | None] = {}
    none = np.zeros(procs)
    found: dict[Key, tuple[Poly, ...] | None] = {}
    for key in keys:
        table = np.array([each.counts.get(key, none) for each in samples])
        polys: list[Poly] = []
        for rank in range(procs):
            values = exact(table[:, rank])
            if values is None:
                break
            if values not in known:
                known[values] = next((made for each in solvers if (made := each.solve(values)) is not None), None)
            result = known[values]
            if result is None:
                break
            polys.append(result)
        found[key] = tuple(polys) if len(polys) == procs else None
    return found


def exact(values: NDArray[np.float64]) -> tuple[Fraction, ...] | None:
    """Counts as fractions with small denominators, as weights of branches and shares of masks make them; None: they are
    not."""
    whole = [Fraction(float(each)) for each in values]
    if all(each.denominator <= SHARE_PARTS for each in whole):
        return tuple(whole)
    found = [each.limit_denominator(_DENOMINATOR) for each in whole]
    close = all(
        abs(float(mine) - theirs) <= _CLOSE * max(1.0, abs(theirs)) for mine, theirs in zip(found, values, strict=True)
    )
    return tuple(found) if close else None
