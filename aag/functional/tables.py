"""What functional interpretation finds."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from aag.ir.evaluate import Unknown, Value
from aag.ir.values import ArrayValues

BY_INPUT = re.compile(r"line \d+: (\w+) is (?:read from (?:input|unit .+)|set by input or output)$")
"""Why a value cannot be computed, where the value of a scalar would do."""


class Table(ArrayValues, frozen=True, eq=False):
    """The contents of an array, and the lower bound of each dimension."""

    values: NDArray[Any]
    lower: tuple[int, ...]

    def at(self, places: Sequence[Any]) -> Any:
        """The element at some subscripts; for subscripts that are vectors, a vector of elements.

        Raises:
            Unknown: it is outside the array.
        """
        inside = tuple(np.asarray(place) - lower for place, lower in zip(places, self.lower, strict=True))
        if any((each < 0).any() or (each >= most).any() for each, most in zip(inside, self.values.shape, strict=True)):
            raise Unknown("an element", "its subscript is outside of the array")
        found = self.values[inside]
        return found if found.ndim else found.item()


class LoopTrips(Struct, frozen=True, kw_only=True):
    """How often a loop runs that data end: DO WHILE, or a counted loop with an EXIT.

    `counts`: complete iterations, one entry for each time that the program enters the loop; `exits`: lines of the EXIT,
    RETURN or STOP statements that end it within one more iteration, instead of its condition or its bounds.
    """

    counts: tuple[int, ...]
    exits: frozenset[int] = frozenset()
    lengths: tuple[int, ...] = ()
    """The iterations by its bounds, for each entry; -1 for a while loop."""
    ends: tuple[int, ...] = ()
    """The line of what ends each entry within one more iteration; 0: nothing."""

    @property
    def partial(self) -> bool:
        """Whether one more iteration begins."""
        return bool(self.exits)

    @property
    def mean(self) -> float:
        """Complete iterations, the mean over all entries."""
        return sum(self.counts) / len(self.counts)

    @property
    def varies(self) -> bool:
        """Whether entries run differently often."""
        return len({*self.counts}) > 1

    def of(self, length: int, entry: int) -> tuple[int, frozenset[int]]:
        """Complete iterations of an entry of a counted loop with so many by its bounds, and what ends one more. Where
        it is not known which entry it is (`entry` is another one), the mean share of the iterations."""
        if entry < len(self.counts) and self.lengths[entry] == length:
            return self.counts[entry], frozenset((self.ends[entry],)) if self.ends[entry] else frozenset()
        times = min(length, round(sum(self.counts) / max(1, sum(self.lengths)) * length))
        early = sum(map(bool, self.ends))
        return times, self.exits if times < length and 2 * early >= len(self.counts) else frozenset()


class WantedValues(Struct, frozen=True, kw_only=True):
    """What to find: scalars and arrays by name, loops and conditions (IF, WHERE, masks of FORALL) by line."""

    scalars: frozenset[str] = frozenset()
    arrays: frozenset[str] = frozenset()
    loops: frozenset[int] = frozenset()
    branches: frozenset[int] = frozenset()

    def groups(self) -> tuple["WantedValues", ...]:
        """Values and flow apart: values may not need what the flow does in between."""
        values = WantedValues(scalars=self.scalars, arrays=self.arrays)
        flow = WantedValues(loops=self.loops, branches=self.branches)
        return tuple(each for each in (values, flow) if each.parts())

    def parts(self) -> tuple["WantedValues", ...]:
        """One for each thing that is wanted."""
        return (
            *(WantedValues(scalars=frozenset((each,))) for each in sorted(self.scalars)),
            *(WantedValues(arrays=frozenset((each,))) for each in sorted(self.arrays)),
            *(WantedValues(loops=frozenset((each,))) for each in sorted(self.loops)),
            *(WantedValues(branches=frozenset((each,))) for each in sorted(self.branches)),
        )

    def names(self) -> tuple[str, ...]:
        """The names of all that is wanted: ``trips_LINE`` for a loop, ``if_LINE`` for an IF."""
        return (
            *sorted(self.scalars | self.arrays),
            *(f"trips_{each}" for each in sorted(self.loops)),
            *(f"if_{each}" for each in sorted(self.branches)),
        )


class Found(Struct, frozen=True, kw_only=True):
    """Values that a run found.

    `scalars`: those with one value at all places where bounds and subscripts use them; `unsteady`: those of them that
    have another one where conditions test them. `tables`: arrays at their first use in a bound or subscript;
    `changing`: those of them that have other contents at a later use. `frequencies`: the share of each branch of a
    condition, then of none. `missing`: name of what was not found (`WantedValues.names`) and the reason.
    """

    scalars: Mapping[str, Value]
    unsteady: frozenset[str]
    trips: Mapping[int, LoopTrips]
    tables: Mapping[str, Table]
    changing: frozenset[str]
    frequencies: Mapping[int, tuple[float, ...]]
    missing: Mapping[str, str]
    operations: int
    """Scalar statements, and elements times operations of array statements."""


class RunLimits(Struct, frozen=True, kw_only=True):
    """What a run may cost."""

    operations: int = 1_000_000_000
    """Elements times operations of array statements, and 100 for each scalar statement."""
    bytes: int = 512 * 2**20
    """Of arrays and of the temporaries of one statement."""


BUDGET_USED = "the budget of"
"""Beginning of the reason that a budget is used up."""


class NotComputable(Exception):
    """Why something cannot be computed."""

    def __init__(self, why: str, line: int = 0) -> None:
        self.why, self.line = why, line
        super().__init__(f"line {line}: {why}" if line else why)


class OverBudget(NotComputable):
    """The operations of a run are used up."""

    def __init__(self, operations: int, line: int = 0) -> None:
        super().__init__(f"{BUDGET_USED} {operations:,} operations is used up", line)
