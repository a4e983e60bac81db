"""One dimension of a template dealt over one axis of a processor grid."""

from typing import Literal

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from aag.mapping.counting import count_in_window
from aag.mapping.grid import IntArray


class Distribution(Struct, frozen=True, kw_only=True):
    """Blocks of `block` cells dealt in turn to `procs` coordinates; cells are lower .. lower + extent - 1.

    BLOCK(b) is CYCLIC(b) with b * procs >= extent, so that one formula serves both: with the zero-based cell
    i, owner floor(i/b) mod p, local position b * floor(i/(b*p)) + i mod b. The last owners may hold less or
    nothing.
    """

    kind: Literal["block", "cyclic"]
    block: int
    procs: int
    lower: int
    extent: int

    @property
    def period(self) -> int:
        """Number of cells after which the owners repeat."""
        return self.block * self.procs

    def owner(self, cells: npt.ArrayLike) -> IntArray:
        """The coordinate that owns each template index."""
        return (np.asarray(cells, dtype=np.int64) - self.lower) // self.block % self.procs

    def local(self, cells: npt.ArrayLike) -> IntArray:
        """The zero-based position of each template index among the cells of its owner."""
        zero_based = np.asarray(cells, dtype=np.int64) - self.lower
        return zero_based // self.period * self.block + zero_based % self.block

    def held_images(self, coord: npt.ArrayLike, *, first: int, stride: int, count: npt.ArrayLike) -> IntArray:
        """How many of the `count` cells first, first + stride, ... each coordinate holds (stride not 0)."""
        start = first - self.lower - np.asarray(coord, dtype=np.int64) * self.block
        if stride < 0:  # the same cells from the other end
            start = start + stride * (np.asarray(count, dtype=np.int64) - 1)
        return count_in_window(count, abs(stride), start, self.period, self.block)

    def __str__(self) -> str:
        return "CYCLIC" if (self.kind, self.block) == ("cyclic", 1) else f"{self.kind.upper()}({self.block})"
