"""Has a system of linear constraints a solution in whole numbers?

Exact, by the Omega test (Pugh, "The Omega test: a fast and practical integer programming algorithm for dependence
analysis", Communications of the ACM 35(8), 1992): equations are removed by substitution, inequalities by
Fourier-Motzkin elimination; where that loses integrality the dark shadow proves a solution and splinters decide
the rest.

A row is a mapping from variables to coefficients, the constant under `ONE`: ``{"i": 1, "j": -2, ONE: 3}`` is
i - 2 j + 3. An equation says that a row is 0, an inequality that it is at least 0.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from math import gcd

Row = Mapping[str, int]

ONE = ""
"""The key of a row's constant."""

_MOST = 20_000
"""Rows made for one question; a system that needs more stays undecided."""


class Undecided(Exception):
    """The system is too large to decide."""


def combined(left: Row, factor: int, right: Row, other: int = 1) -> dict[str, int]:
    """factor * left + other * right."""
    row = {name: factor * value for name, value in left.items()}
    for name, value in right.items():
        row[name] = row.get(name, 0) + other * value
    return {name: value for name, value in row.items() if value}


def feasible(equations: Iterable[Row], inequalities: Iterable[Row]) -> bool:
    """Whether some whole numbers satisfy all constraints.

    Raises:
        Undecided: the elimination makes too many rows.
    """
    return _System(_MOST).solvable([dict(row) for row in equations], [dict(row) for row in inequalities])


def sample(equations: Sequence[Row], inequalities: Sequence[Row], names: Sequence[str]) -> dict[str, int] | None:
    """A solution's values of some variables, each in turn as small as it can be; None without a solution.

    Raises:
        Undecided: the elimination makes too many rows, or a variable has no least value within 2**40.
    """
    if not feasible(equations, inequalities):
        return None
    fixed = list(equations)
    found = {}
    for name in names:
        low, high = -(1 << 40), 1 << 40
        if not feasible(fixed, [*inequalities, {name: -1, ONE: high}]) or feasible(
            fixed, [*inequalities, {name: -1, ONE: low}]
        ):
            raise Undecided
        while low + 1 < high:
            middle = (low + high) // 2
            if feasible(fixed, [*inequalities, {name: -1, ONE: middle}]):
                high = middle
            else:
                low = middle
        found[name] = high
        fixed.append({name: 1, ONE: -high})
    return found


class _System:
    """One question: counts the rows that it makes, and names the variables that it adds."""

    def __init__(self, most: int) -> None:
        self._left = most
        self._fresh = count()

    def solvable(self, equations: list[dict[str, int]], inequalities: list[dict[str, int]]) -> bool:
        """Remove the equations, then decide the inequalities."""
        while equations:
            row = equations.pop()
            divisor = gcd(*(value for name, value in row.items() if name != ONE))
            constant = row.get(ONE, 0)
            if divisor == 0:
                if constant:
                    return False
                continue
            if constant % divisor:
                return False
            if divisor > 1:
                row = {name: value // divisor for name, value in row.items()}
            name = min((each for each in row if each != ONE), key=lambda each: abs(row[each]))
            if abs(row[name]) != 1:
                # Pugh's symmetric modulus makes an equation in which this variable has coefficient 1 (section 2.1).
                equations.append(row)
                modulus = abs(row[name]) + 1
                sign = 1 if row[name] > 0 else -1
                row = {each: _symmetric(value, modulus) for each, value in row.items()}
                row = {each: value for each, value in row.items() if value}
                row[f"omega {next(self._fresh)}"] = -sign * modulus * sign
            rest = {each: -value * row[name] for each, value in row.items() if each != name}
            self._spend(len(equations) + len(inequalities))
            equations = [_substituted(each, name, rest) for each in equations]
            inequalities = [_substituted(each, name, rest) for each in inequalities]
        return self._inequalities(inequalities)

    def _inequalities(self, rows: list[dict[str, int]]) -> bool:
        tight: dict[frozenset[tuple[str, int]], int] = {}
        for row in rows:
            divisor = gcd(*(value for name, value in row.items() if name != ONE))
            constant = row.get(ONE, 0)
            if divisor == 0:
                if constant < 0:
                    return False
                continue
            key = frozenset((name, value // divisor) for name, value in row.items() if name != ONE)
            tight[key] = min(tight.get(key, constant // divisor), constant // divisor)
        equal = None
        for key, constant in tight.items():
            opposite = tight.get(frozenset((name, -value) for name, value in key))
            if opposite is not None and constant + opposite < 0:
                return False
            if opposite is not None and constant + opposite == 0:
                equal = {**dict(key), ONE: constant}
        rows = [{**dict(key), ONE: constant} for key, constant in tight.items()]
        if equal is not None:
            return self.solvable([equal], rows)
        return self._eliminate(rows)

    def _eliminate(self, rows: list[dict[str, int]]) -> bool:
        """Fourier-Motzkin elimination of the variable that costs least, an exact one if there is any."""
        below: dict[str, list[dict[str, int]]] = {}
        above: dict[str, list[dict[str, int]]] = {}
        for row in rows:
            for name, value in row.items():
                if name != ONE:
                    (below if value > 0 else above).setdefault(name, []).append(row)
        names = below.keys() | above.keys()
        if not names:
            return True
        free = names - (below.keys() & above.keys())
        if free:  # bounded on one side only: its rows can always be met
            return self._eliminate([row for row in rows if not free & row.keys()])

        def cost(name: str) -> tuple[bool, int, str]:
            exact = all(row[name] == 1 for row in below[name]) or all(row[name] == -1 for row in above[name])
            return not exact, len(below[name]) * len(above[name]), name

        inexact, pairs, name = min(map(cost, names))
        self._spend(pairs)
        others = [row for row in rows if name not in row]
        real, dark = list(others), list(others)
        for low in below[name]:
            for high in above[name]:
                a, b = low[name], -high[name]
                shadow = combined(high, a, low, b)
                real.append(shadow)
                if inexact:
                    dark.append(combined(shadow, 1, {ONE: -(a - 1) * (b - 1)}))
        if not inexact:
            return self._inequalities(real)
        if not self._inequalities(real):
            return False
        return self._inequalities(dark) or self._splinters(rows, below[name], above[name], name)

    def _splinters(
        self, rows: list[dict[str, int]], below: list[dict[str, int]], above: list[dict[str, int]], name: str
    ) -> bool:
        """Solutions outside the dark shadow lie close to a lower bound (Pugh, section 2.3.3)."""
        most = max(-row[name] for row in above)
        for row in below:
            for distance in range((row[name] * most - row[name] - most) // most + 1):
                if self.solvable([combined(row, 1, {ONE: -distance})], [dict(each) for each in rows]):
                    return True
        return False

    def _spend(self, rows: int) -> None:
        self._left -= rows
        if self._left < 0:
            raise Undecided


def _symmetric(value: int, modulus: int) -> int:
    """The remainder of least magnitude: value - modulus * floor(value / modulus + 1/2)."""
    return value - modulus * ((2 * value + modulus) // (2 * modulus))


def _substituted(row: dict[str, int], name: str, value: Row) -> dict[str, int]:
    factor = row.get(name, 0)
    if not factor:
        return row
    return combined(value, factor, {each: number for each, number in row.items() if each != name})
