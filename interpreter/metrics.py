"""Ledgers: what each AAU cost each processor, in four categories (Def 2), while the walk goes on.

A `Ledger` is a sum. Loops keep one for each of their latest iterations, so that iterations that repeat can be
added in closed form (`add_linear`, D5). While processors x AAUs is small, everything is kept for each AAU and
processor. Otherwise what classes of processors spend alike is kept by class; the rest for each AAU and processor
if it fits, or else as totals for each processor and means for each AAU (D9).
"""

from enum import IntEnum
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from interpreter.reduce import mean
from interpreter.shared import Classes, Figures, Ranks, Shared, add

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
Index = Ranks


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

    __slots__ = ("means", "parts", "shape", "shared", "tallies", "wide")

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.parts: dict[int, Array] = {}
        """With detail: AAU -> (4, S, P)."""
        self.shared: dict[tuple[int, int, Classes | None], Array] = {}
        """Without detail: (AAU, category, classes) -> (S, K), what processors of a class spend alike, or (S, 1) all."""
        self.wide: dict[tuple[int, int], Array] = {}
        """Without detail, all else: (AAU, category) -> (S, P); where totals are not `whole`, -1 stands for all AAUs."""
        self.means: dict[int, Array] = {}
        """Without detail, and not `whole`: AAU -> (4, S), mean over processors of what is in `wide`."""
        self.tallies: dict[int, Array] = {}
        """AAU -> (tallies, S)."""

    def charge(
        self,
        aau: int,
        category: int,
        seconds: Figures,
        ranks: Index = None,
        *,
        factor: Array | None = None,
        give: bool = False,
    ) -> None:
        """Add `seconds`, (S or 1, P or 1), or an array (S or 1, M or 1) on the processors that `ranks` selects.

        Args:
            aau: Which AAU.
            category: A `Category`.
            seconds: What is spent.
            ranks: Where; None: on all processors.
            factor: (S, 1) by which it is multiplied, if at all.
            give: The array may be kept; it must not be changed by anybody else afterwards.
        """
        if factor is not None:
            seconds = (
                Shared(seconds.values * factor, seconds.classes) if isinstance(seconds, Shared) else seconds * factor
            )
        if self.shape.detail:
            part = self.parts.get(aau)
            if part is None:
                part = self.parts[aau] = np.zeros((4, self.shape.scenarios, self.shape.procs))
            add(part[category], seconds, ranks)
            return
        if isinstance(seconds, Shared):
            self._share(aau, category, seconds.classes, seconds.values)
            return
        if ranks is None and seconds.shape[1] == 1:
            self._share(aau, category, None, seconds)
            return
        key = (aau if self.shape.whole else -1, category)
        wide = self.wide.get(key)
        if wide is None and give and seconds.shape == (self.shape.scenarios, self.shape.procs):
            self.wide[key] = seconds
        else:
            if wide is None:
                wide = self.wide[key] = np.zeros((self.shape.scenarios, self.shape.procs))
            add(wide, seconds, ranks)
        if not self.shape.whole:
            means = self.means.get(aau)
            if means is None:
                means = self.means[aau] = np.zeros((4, self.shape.scenarios))
            means[category] += _mean(seconds, ranks, self.shape.procs)

    def _share(self, aau: int, category: int, classes: Classes | None, values: Array) -> None:
        key = (aau, category, classes)
        known = self.shared.get(key)
        if known is None:
            known = self.shared[key] = np.zeros((self.shape.scenarios, values.shape[1]))
        known += values

    def count(self, aau: int, tally: int | slice, amount: float | Array) -> None:
        """Add `amount`, a number or (S,); (T, S or 1) for several tallies."""
        row = self.tallies.get(aau)
        if row is None:
            row = self.tallies[aau] = np.zeros((len(Tally), self.shape.scenarios))
        counted = row[tally]
        counted += amount

    def tables(self) -> tuple[dict[Any, Array], ...]:
        """All that adds up, for `add` and `add_linear`; the scenario axis is at -2 (with processors) or -1."""
        return self.parts, self.shared, self.wide, self.means, self.tallies

    def add(self, other: "Ledger") -> None:
        """Add another ledger of the same shape, which must not be used afterwards."""
        self._check(other)
        for mine, theirs in zip(self.tables(), other.tables(), strict=True):
            for key, value in theirs.items():
                if key in mine:
                    mine[key] += value
                else:
                    mine[key] = value

    def add_linear(self, latest: "Ledger", before: "Ledger", times: Array, drifting: Bools, noise: Array) -> None:
        """Add `times` (S,) further periods after the period `latest`, which followed the period `before`.

        Where a scenario is `drifting` (S,), what a period costs grows by the same amount each time: the sum of n
        periods is n * last + n (n + 1) / 2 * (last - before). Differences up to `noise` (S,) are rounding.
        """
        growth = np.where(drifting, times * (times + 1) / 2, 0.0)
        grows = bool(growth.any())
        axis = (-2, -2, -2, -1, -1)
        self._check(latest)
        own = self.tables()
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

    def _check(self, other: "Ledger") -> None:
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
