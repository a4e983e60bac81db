"""Figures that many processors share: a table of the few that there are, and a small number for each processor.

On a million processors an array of one float for each costs more to fill than anything that is computed from it; that
a nest runs equally often on nearly all of them is known before.
"""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Numbers = NDArray[np.unsignedinteger]
Ranks = Ints | slice | None

MANY = 65_536
"""Processors x scenarios from which on figures that are shared are kept so."""

BLOCK = 32_768
"""Processors x scenarios that are looked at together: what is done to them stays in the processor's cache."""


class Classes(Struct, frozen=True, eq=False):
    """Which processors are alike; equal only to itself."""

    number: Numbers
    """(P,) class of each processor."""
    count: int
    """Classes, K; some may have no processors."""
    known: list[Array] = field(default_factory=list)
    """The answer of `sizes`, once it was asked for."""

    def sizes(self) -> Array:
        """(K,) processors in each class."""
        if not self.known:
            total = np.zeros(self.count)
            for part in blocks(self.number.size, BLOCK):
                total += np.bincount(self.number[part], minlength=self.count)
            self.known.append(total)
        return self.known[0]


class Shared(Struct, frozen=True, eq=False):
    """A figure for each processor and scenario, by class of processors."""

    values: Array
    """(S or 1, K)."""
    classes: Classes

    @property
    def shape(self) -> tuple[int, int]:
        """(S or 1, P), as the array would have it."""
        return self.values.shape[0], self.classes.number.size

    def cut(self, part: slice) -> Array:
        """The figures of a block of processors, (S or 1, M)."""
        figures: Array = np.take(self.values, self.classes.number[part], axis=1)
        return figures

    def of(self, ranks: Ints) -> Array:
        """The figures of some processors in scenario 0, (M,)."""
        figures: Array = self.values[0].take(self.classes.number[ranks])
        return figures


Figures = Array | Shared
"""(S or 1, P or 1)."""


def classes_of(procs: int, count: int) -> Classes:
    """All processors in class 0 of so many, in as few bytes as the numbers of the classes need."""
    return Classes(np.zeros(procs, np.min_scalar_type(max(0, count - 1))), count)


def cut(figures: Figures, part: slice) -> Array:
    """The figures of a block of processors, (S or 1, M or 1)."""
    if isinstance(figures, Shared):
        return figures.cut(part)
    return figures if figures.shape[1] == 1 else figures[:, part]


def of(figures: Figures, ranks: Ints) -> Array:
    """The figures of some processors in scenario 0: all of them, or the one that they share."""
    if isinstance(figures, Shared):
        return figures.of(ranks)
    chosen: Array = figures[0, ranks] if figures.shape[1] > 1 else figures[0]
    return chosen


def spread(figures: Figures, share: Array, ranks: Ranks = None) -> Array:
    """The share (P,) that each processor has of some figures, (S or 1, P), or of those on the processors that `ranks`
    selects."""
    if isinstance(figures, Shared):
        figures = figures.cut(slice(None))
    return figures * (share if ranks is None else share[ranks])


def add(target: Array, figures: Figures, ranks: Ranks = None) -> None:
    """Add figures to an array (S, P) in place, or some (S or 1, M or 1) on the processors that `ranks` selects."""
    if isinstance(figures, Shared):
        for part in blocks(target.shape[1], BLOCK):
            target[:, part] += figures.cut(part)
    elif ranks is None:
        target += figures
    elif isinstance(ranks, slice):
        some = target[:, ranks]
        some += figures
    elif target.shape[0] == 1:
        row = target[0]
        row[ranks] += figures[0]
    else:
        target[:, ranks] += figures


def blocks(procs: int, length: int) -> Sequence[slice]:
    """All processors, so many at a time."""
    return [slice(first, min(first + length, procs)) for first in range(0, procs, length)]
