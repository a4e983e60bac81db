"""Ledgers: what each AAU cost each processor, in four categories (Def 2), while the walk goes on.

A `Ledger` is a sum. Loops keep one for each of their latest iterations, so that iterations that repeat can be
added in closed form (`add_linear`, D5). While processors x AAUs is small, everything is kept for each AAU and
processor; otherwise totals for each processor, means for each AAU and, if they fit, its totals (D9).
"""

from enum import IntEnum

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from interpreter.reduce import mean

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
Index = NDArray[np.int64] | slice | None


class Category(IntEnum):
    """The four categories of time (Def 2)."""

    COMPUTATION = 0
    COMMUNICATION = 1
    OVERHEAD = 2
    WAITING = 3


COMPUTATION, COMMUNICATION, OVERHEAD, WAITING = Category


class Tally(IntEnum):
    """What is counted beside time, for each AAU and scenario."""

    EXECUTIONS = 0
    MESSAGES = 1
    BYTES = 2
    MISSES = 3
    ESTIMATED_S = 4
    """Computation and overhead that rest on estimated figures, mean over processors."""
    IO_S = 5
    """Formatting and host link, mean over processors."""
    ITERATIONS = 6
    """Iterations of synchronised loops."""
    WRITE_MISSES = 7
    """Those of `MISSES` that were writes."""


class Shape(Struct, frozen=True, kw_only=True):
    """Extents of a ledger and how much it keeps."""

    scenarios: int
    procs: int
    detail: bool
    """Each AAU, category and processor."""
    whole: bool
    """Without `detail`: the total of each AAU on each processor."""


class Ledger:
    """Seconds by AAU, category, scenario and processor, and tallies by AAU and scenario."""

    __slots__ = ("means", "parts", "shape", "tallies", "totals", "whole")

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.parts: dict[int, Array] = {}
        """With detail: AAU -> (4, S, P)."""
        self.totals: Array | None = None
        """Without detail: (4, S, P), all AAUs."""
        self.means: dict[int, Array] = {}
        """Without detail: AAU -> (4, S), mean over processors."""
        self.whole: dict[int, Array] = {}
        """Without detail, if wanted: AAU -> (S, P), all categories."""
        self.tallies: dict[int, Array] = {}
        """AAU -> (tallies, S)."""

    def charge(self, aau: int, category: int, seconds: Array, ranks: Index = None) -> None:
        """Add `seconds`, (S or 1, P or 1), or (S or 1, M or 1) on the processors that `ranks` selects."""
        if self.shape.detail:
            part = self.parts.get(aau)
            if part is None:
                part = self.parts[aau] = np.zeros((4, self.shape.scenarios, self.shape.procs))
            _add(part[category], seconds, ranks)
            return
        if self.totals is None:
            self.totals = np.zeros((4, self.shape.scenarios, self.shape.procs))
        _add(self.totals[category], seconds, ranks)
        means = self.means.get(aau)
        if means is None:
            means = self.means[aau] = np.zeros((4, self.shape.scenarios))
        means[category] += _mean(seconds, ranks, self.shape.procs)
        if self.shape.whole:
            whole = self.whole.get(aau)
            if whole is None:
                whole = self.whole[aau] = np.zeros((self.shape.scenarios, self.shape.procs))
            _add(whole, seconds, ranks)

    def count(self, aau: int, tally: int, amount: float | Array) -> None:
        """Add `amount`, a number or (S,)."""
        row = self.tallies.get(aau)
        if row is None:
            row = self.tallies[aau] = np.zeros((len(Tally), self.shape.scenarios))
        row[tally] += amount

    def tables(self) -> tuple[dict[int, Array], ...]:
        """All that adds up, for `add` and `add_linear`; the scenario axis is at -2 (with processors) or -1."""
        totals = {} if self.totals is None else {0: self.totals}
        return self.parts, totals, self.whole, self.means, self.tallies

    def add(self, other: "Ledger") -> None:
        """Add another ledger of the same shape, which must not be used afterwards."""
        for mine, theirs in zip(self._own(other), other.tables(), strict=True):
            for key, value in theirs.items():
                if key in mine:
                    mine[key] += value
                else:
                    mine[key] = value
        self._keep_totals(other)

    def add_linear(self, latest: "Ledger", before: "Ledger", times: Array, drifting: Bools, noise: Array) -> None:
        """Add `times` (S,) further periods after the period `latest`, which followed the period `before`.

        Where a scenario is `drifting` (S,), what a period costs grows by the same amount each time: the sum of n
        periods is n * last + n (n + 1) / 2 * (last - before). Differences up to `noise` (S,) are rounding.
        """
        growth = np.where(drifting, times * (times + 1) / 2, 0.0)
        grows = bool(growth.any())
        axis = (-2, -2, -2, -1, -1)
        own = self._own(latest)
        for table, where in enumerate(axis):
            n, g, eps = (_column(each, where) for each in (times, growth, noise))
            earlier = before.tables()[table]
            for key, last in latest.tables()[table].items():
                more = last * n
                if grows:
                    first = earlier.get(key)
                    change = last if first is None else last - first
                    more += np.where(np.abs(change) > eps, change, 0.0) * g
                if key in own[table]:
                    own[table][key] += more
                else:
                    own[table][key] = more
        self._keep_totals(latest)

    def _own(self, other: "Ledger") -> tuple[dict[int, Array], ...]:
        if other.totals is not None and self.totals is None:
            self.totals = np.zeros_like(other.totals)
        return self.tables()

    def _keep_totals(self, other: "Ledger") -> None:
        if other.shape != self.shape:
            raise ValueError("ledgers of different shapes do not add up")

    def nbytes(self) -> int:
        """Memory it holds."""
        return sum(array.nbytes for table in self.tables() for array in table.values())


def merged(ledgers: list[Ledger]) -> Ledger:
    """The sum of some ledgers, which stay as they are."""
    if len(ledgers) == 1:
        return ledgers[0]
    total = Ledger(ledgers[0].shape)
    if any(each.totals is not None for each in ledgers):
        total.totals = np.zeros((4, total.shape.scenarios, total.shape.procs))
    for each in ledgers:
        for mine, theirs in zip(total.tables(), each.tables(), strict=True):
            for key, value in theirs.items():
                if key in mine:
                    mine[key] += value
                else:
                    mine[key] = value.copy()
    return total


def difference(late: Ledger, early: Ledger) -> Ledger:
    """What was entered between two states of a ledger."""
    result = merged([late, Ledger(late.shape)])
    for mine, theirs in zip(result.tables(), early.tables(), strict=True):
        for key, value in theirs.items():
            mine[key] -= value
    return result


def _add(target: Array, seconds: Array, ranks: Index) -> None:
    if ranks is None:
        target += seconds
    elif target.shape[0] == 1:
        target[0, ranks] += seconds[0]
    else:
        target[:, ranks] += seconds


def _mean(seconds: Array, ranks: Index, procs: int) -> Array:
    if ranks is None:
        return mean(seconds)
    if isinstance(ranks, slice):
        count = len(range(*ranks.indices(procs)))
    else:
        count = ranks.size
    total: Array = mean(seconds) * (count / procs)
    return total


def _column(values: Array, axis: int) -> Array:
    return values[:, None] if axis == -2 else values
