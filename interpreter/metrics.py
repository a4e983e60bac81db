"""Ledgers: what each AAU counted and cost on each processor, while the walk goes on.

Computation and overhead are kept as counts, from which the seconds of all scenarios follow (Def 21); communication and
waiting, about which clocks decide, as seconds. A `Ledger` is a sum. Loops keep one for each of their latest
iterations, so that iterations that repeat can be added in closed form (`add_linear`, D5). What classes of processors
count or spend alike is kept by class. The rest is kept for each AAU and processor while processors x AAUs is small;
beyond it seconds are, if they fit, or else totals for each processor and means for each AAU (D9).
"""

from enum import IntEnum
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from interpreter.counts import Basis, Counts
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
    """What is counted beside time and figures, for each AAU and scenario."""

    EXECUTIONS = 0
    MESSAGES = 1
    BYTES = 2
    ITERATIONS = 3
    """Iterations of synchronised loops."""


class Shape(Struct, frozen=True, kw_only=True):
    """Extents of a ledger and how much it keeps."""

    scenarios: int
    procs: int
    detail: bool
    """Counts of each AAU on each processor."""
    whole: bool
    """Seconds of each AAU on each processor; with `detail` always."""


AXES = (0, 0, 0, -2, -2, -1, -1)
"""Where the scenarios are in each of `Ledger.tables`; 0: nowhere."""


class Ledger:
    """Counts by AAU and processor, seconds by AAU, category, scenario and processor, and tallies by AAU and scenario.

    What is counted is the same in all scenarios in the end; while a loop runs on in some of them, scenario 0 counts.
    """

    __slots__ = ("alike", "counted", "means", "ordinary", "shape", "shared", "tallies", "wide")

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.alike: dict[tuple[int, Basis, Classes | None], Array] = {}
        """AAU, columns, classes -> (C, K), how often processors of a class pay each column, or (C, 1) all."""
        self.counted: dict[tuple[int, Basis], Array] = {}
        """With detail, all other counts: AAU, columns -> (C, P)."""
        self.ordinary: dict[tuple[int, Basis], Array] = {}
        """Without detail: AAU, columns -> (C, 1), the mean over processors of all other counts."""
        self.shared: dict[tuple[int, int, Classes | None], Array] = {}
        """(AAU, category, classes) -> (S, K), what processors of a class spend alike, or (S, 1) all."""
        self.wide: dict[tuple[int, int], Array] = {}
        """All else that is spent: (AAU, category) -> (S, P); where totals are not `whole`, -1 stands for all AAUs."""
        self.means: dict[int, Array] = {}
        """Where totals are not `whole`: AAU -> (4, S), mean over processors of what is in `wide`."""
        self.tallies: dict[int, Array] = {}
        """AAU -> (tallies, S)."""

    def pay(self, aau: int, counts: Counts, ranks: Index = None, *, factor: Array | None = None) -> None:
        """Count what an AAU pays on all processors, or on those that `ranks` selects.

        Args:
            aau: Which AAU.
            counts: What it pays.
            ranks: Where; None: on all processors.
            factor: (S, 1) by which it is multiplied, if at all.
        """
        basis, often = counts.basis, counts.often
        weight = 1.0 if factor is None else float(factor[0, 0])
        if isinstance(often, Shared) or (ranks is None and often.shape[1] == 1):
            classes, values = (often.classes, often.values) if isinstance(often, Shared) else (None, often)
            _add(self.alike, (aau, basis, classes), values if weight == 1.0 else values * weight)
            return
        if self.shape.detail:
            counted = self.counted.get((aau, basis))
            if counted is None:
                counted = self.counted[aau, basis] = np.zeros((len(often), self.shape.procs))
            add(counted, often if weight == 1.0 else often * weight, ranks)
            return
        _add(self.ordinary, (aau, basis), weight * _mean(often, ranks, self.shape.procs)[:, None])
        for category, prices in ((COMPUTATION, basis.computation), (OVERHEAD, basis.overhead)):
            seconds = counts.seconds(prices)
            if seconds is not None:
                self.charge(aau, category, seconds, ranks, factor=factor)

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
        Computation and overhead are paid, unless it is too much to be counted for each processor.

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
        if isinstance(seconds, Shared) or (ranks is None and seconds.shape[1] == 1):
            classes, values = (seconds.classes, seconds.values) if isinstance(seconds, Shared) else (None, seconds)
            values = np.broadcast_to(values, (self.shape.scenarios, values.shape[1]))
            _add(self.shared, (aau, category, classes), values)
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

    def count(self, aau: int, tally: int | slice, amount: float | Array) -> None:
        """Add `amount`, a number or (S,); (T, S or 1) for several tallies."""
        row = self.tallies.get(aau)
        if row is None:
            row = self.tallies[aau] = np.zeros((len(Tally), self.shape.scenarios))
        counted = row[tally]
        counted += amount

    def tables(self) -> tuple[dict[Any, Array], ...]:
        """All that adds up; the scenario axis is as in `AXES`."""
        return self.alike, self.counted, self.ordinary, self.shared, self.wide, self.means, self.tallies

    def add(self, other: "Ledger") -> None:
        """Add another ledger of the same shape, which must not be used afterwards."""
        self._check(other)
        for mine, theirs in zip(self.tables(), other.tables(), strict=True):
            for key, value in theirs.items():
                if key in mine:
                    mine[key] += value
                else:
                    mine[key] = value

    def enter(self, other: "Ledger") -> None:
        """Add another ledger of the same shape, which stays as it is."""
        self._check(other)
        for mine, theirs in zip(self.tables(), other.tables(), strict=True):
            for key, value in theirs.items():
                _add(mine, key, value)

    def add_linear(self, latest: "Ledger", before: "Ledger", times: Array, drifting: Bools, noise: Array) -> None:
        """Add `times` (S,) further periods after the period `latest`, which followed the period `before`.

        Where a scenario is `drifting` (S,), what a period costs grows by the same amount each time: the sum of n
        periods is n * last + n (n + 1) / 2 * (last - before). Differences up to `noise` (S,) are rounding.
        """
        growth = np.where(drifting, times * (times + 1) / 2, 0.0)
        grows = bool(growth.any())
        self._check(latest)
        own = self.tables()
        for table, where in enumerate(AXES):
            n, g, eps = (_column(each, where) for each in (times, growth, noise))
            earlier = before.tables()[table]
            for key, last in latest.tables()[table].items():
                more = last * n
                if grows and where:
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


def _add(table: dict[Any, Array], key: Any, values: Array) -> None:
    known = table.get(key)
    if known is None:
        table[key] = values.copy()
    else:
        known += values


def _column(values: Array, axis: int) -> Array:
    """Figures (S,) of scenarios, to be multiplied with a table; scenario 0 where the table has none."""
    return values[0] if not axis else values[:, None] if axis == -2 else values
