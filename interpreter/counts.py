"""Counts and prices: how often an AAU pays each figure of the machine, and what that takes (Def 21).

    seconds = counts @ figures

A model counts *columns*: iterations of a loop, misses, messages, bytes. A column says which figures one of it pays: an
iteration of a nest pays three multiplications, four loads and a loop iteration. So a few numbers for each processor
hold the counts of all figures. Counts have no scenarios; figures have.
"""

from collections.abc import Callable, Iterable, Mapping
from enum import IntEnum

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from aag.graph.aau import Counts as Operations
from aag.graph.aau import Work
from interpreter.shared import Figures, Shared
from sag.figures import MachineFigure, figures_of
from sag.machine import Machine

Array = NDArray[np.float64]


class Paid(IntEnum):
    """What a figure is paid for. The first three are categories of time (Def 2); receiving is communication, too."""

    COMPUTATION = 0
    SENDING = 1
    """Messages that are sent, run-time software and the host link."""
    OVERHEAD = 2
    RECEIVING = 3
    """Messages that are received: from the call of the send until the message is there."""


COMPUTATION, SENDING, OVERHEAD, RECEIVING = Paid

Fee = tuple[int, str, float]
"""For what, which figure, and how many of it."""


class CountColumn(Struct, frozen=True):
    """What one of something pays. `moved`: bytes that it moves between cache and memory."""

    fees: tuple[Fee, ...]
    moved: float = 0.0


class Basis(Struct, frozen=True, eq=False):
    """Columns, and what one of each takes on the machine: the number of the column and (S or 1, 1) seconds, where
    these are not 0."""

    columns: tuple[CountColumn, ...]
    computation: tuple[tuple[int, Array], ...]
    overhead: tuple[tuple[int, Array], ...]


class Counts(Struct, frozen=True, eq=False):
    """How often each of C columns is paid: (C, P or 1), or (C, M or 1) on some processors; by class of processors
    (C, K) where they are shared."""

    basis: Basis
    often: Figures

    def seconds(self, prices: tuple[tuple[int, Array], ...]) -> Figures | None:
        """The seconds that `prices` of the columns make, (S or 1, P or 1); None: none."""
        if not prices:
            return None
        often = self.often.values if isinstance(self.often, Shared) else self.often
        (number, each), *rest = prices
        total = each * often[number]
        for number, each in rest:
            total = total + each * often[number]
        if not np.count_nonzero(total):
            return None
        return Shared(total, self.often.classes) if isinstance(self.often, Shared) else total


class Prices(Struct, eq=False):
    """The figures of a machine, and the columns that were priced with them. Only what was not priced before is added;
    `unpriced` is told the operations that the machine has no time for."""

    machine: Machine
    unpriced: Callable[[str], None]
    figures: Mapping[str, MachineFigure] = field(default_factory=dict)
    bases: dict[tuple[CountColumn, ...], Basis] = field(default_factory=dict)
    works: dict[tuple[Work, ...], CountColumn] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.figures = figures_of(self.machine)

    def basis(self, *columns: CountColumn) -> Basis:
        """Some columns with their prices, always the same object."""
        known = self.bases.get(columns)
        if known is None:
            priced = [
                tuple((number, each[:, None]) for number, each in enumerate(found) if np.count_nonzero(each))
                for found in ([self.price(column, kind) for column in columns] for kind in (COMPUTATION, OVERHEAD))
            ]
            known = self.bases[columns] = Basis(columns, *priced)
        return known

    def price(self, column: CountColumn, *kinds: int) -> Array:
        """Seconds (S or 1,) of one of a column, of some kinds."""
        total = np.zeros(1)
        for paid, name, amount in column.fees:
            if paid in kinds:
                total = total + self.figures[name].seconds * amount
        return total

    def of(self, *works: Work) -> CountColumn:
        """What the execution of some work pays."""
        if works not in self.works:
            self.works[works] = CountColumn(
                (
                    *self._operations((each.computation for each in works), COMPUTATION),
                    *self._operations((each.overhead for each in works), OVERHEAD),
                )
            )
        return self.works[works]

    def operation(self, name: str) -> CountColumn:
        """What one operation of a class pays, where the machine has a time for it."""
        return self.of(Work(computation=((name, 1.0),)))

    def _operations(self, lists: Iterable[Operations], paid: int) -> list[Fee]:
        """What operations pay together."""
        total: dict[str, float] = {}
        for operations in lists:
            for name, often in operations:
                if often and name not in self.machine.processor.time_s:
                    self.unpriced(name)
                elif often:
                    total[name] = total.get(name, 0.0) + often
        return [(paid, f"processor.{name}", often) for name, often in total.items()]
