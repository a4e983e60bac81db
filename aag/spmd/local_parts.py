"""The local parts of arrays on some processors, stored column-major."""

import numpy as np
from numpy.typing import NDArray

from aag.mapping.grid import Grid
from aag.mapping.layout import Layout

Ints = NDArray[np.int64]


class AccessParts:
    """The local parts of arrays on some processors, `ranks` (C,). They are the same for all nests of a program."""

    def __init__(self, ranks: Ints) -> None:
        self.ranks = ranks
        self._coordinates: dict[tuple[Grid, int], Ints] = {}
        self._firsts: dict[tuple[str, int], Ints] = {}
        self._pitches: dict[tuple[str, bool], Ints] = {}

    def coordinate(self, grid: Grid, axis: int) -> Ints:
        """Where the processors are on one axis of a grid, (C,)."""
        known = self._coordinates.get((grid, axis))
        if known is None:
            known = self._coordinates[grid, axis] = grid.coordinate_of(self.ranks, axis)
        return known

    def first(self, layout: Layout, axis: int) -> Ints:
        """The first index in the local part of the dimension that is spread in blocks over an axis, (C,)."""
        known = self._firsts.get((layout.array, axis))
        if known is None:
            known = layout.held_interval(axis)[0][self.coordinate(layout.grid, axis)]
            self._firsts[layout.array, axis] = known
        return known

    def pitch(self, layout: Layout, *, whole: bool) -> Ints:
        """Bytes from one index of each dimension to the next in the local part, or in a copy of the whole array,
        (C, rank + 1); last its size."""
        known = self._pitches.get((layout.array, whole))
        if known is None:
            known = self._pitches[layout.array, whole] = pitch_of(layout, self.ranks, whole=whole)
        return known


def pitch_of(layout: Layout, ranks: Ints, *, whole: bool) -> Ints:
    """Bytes from one index of each dimension to the next in the local part of some processors, or in a copy of the
    whole array, (C, rank + 1); last its size."""
    held = np.tile(layout.extents, (ranks.size, 1)) if whole else layout.local_extents(ranks)
    return pitches(held, layout.element_bytes)


def pitches(held: Ints, element_bytes: int) -> Ints:
    """Bytes from one index of each dimension to the next where so many are `held` (C, rank); last the size."""
    pitch = np.empty((held.shape[0], held.shape[1] + 1), dtype=np.int64)
    pitch[:, 0] = element_bytes
    np.cumprod(held, axis=1, out=pitch[:, 1:])
    pitch[:, 1:] *= element_bytes
    return pitch
