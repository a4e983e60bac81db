"""One dimension of a template dealt over one axis of a processor grid."""

from typing import Literal

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from aag.mapping.counting import count_in_window
from aag.mapping.grid import IntArray

_SHOWN = 8
"""Sizes of GEN_BLOCK that are written out."""


class Distribution(Struct, frozen=True, kw_only=True):
    """Blocks of `block` cells dealt in turn to `procs` coordinates; cells are lower .. lower + extent - 1.

    BLOCK(b) is CYCLIC(b) with b * procs >= extent, so that one formula serves both: with the zero-based cell
    i, owner floor(i/b) mod p, local position b * floor(i/(b*p)) + i mod b. The last owners may hold less or
    nothing. GEN_BLOCK is the kind ``block`` with `sizes`, the cells of each coordinate; `block` is the largest.
    """

    kind: Literal["block", "cyclic"]
    block: int
    procs: int
    lower: int
    extent: int
    sizes: tuple[int, ...] = ()

    @property
    def period(self) -> int:
        """Number of cells after which the owners repeat."""
        return self.block * self.procs

    def owner(self, cells: npt.ArrayLike) -> IntArray:
        """The coordinate that owns each template index."""
        zero_based = np.asarray(cells, dtype=np.int64) - self.lower
        if self.sizes:
            return np.asarray(np.searchsorted(self._ends()[:-1], zero_based, side="right"), dtype=np.int64)
        return zero_based // self.block % self.procs

    def local(self, cells: npt.ArrayLike) -> IntArray:
        """The zero-based position of each template index among the cells of its owner."""
        zero_based = np.asarray(cells, dtype=np.int64) - self.lower
        if self.sizes:
            return zero_based - self.block_of(self.owner(cells))[0] + self.lower
        return zero_based // self.period * self.block + zero_based % self.block

    def block_of(self, coord: npt.ArrayLike) -> tuple[IntArray, IntArray]:
        """The first and the last cell of the first block of each coordinate; last = first - 1 where it has none."""
        at = np.asarray(coord, dtype=np.int64)
        if self.sizes:
            ends = self._ends()
            return self.lower + np.concatenate([[0], ends[:-1]])[at], self.lower + ends[at] - 1
        first = self.lower + at * self.block
        return first, first + self.block - 1

    def _ends(self) -> IntArray:
        """The zero-based cell behind each block of GEN_BLOCK."""
        return np.minimum(np.cumsum(self.sizes, dtype=np.int64), self.extent)

    def held_images(self, coord: npt.ArrayLike, *, first: int, stride: int, count: npt.ArrayLike) -> IntArray:
        """How many of the `count` cells first, first + stride, ... each coordinate holds (stride not 0)."""
        if self.sizes:
            low, high = self.block_of(coord)
            if stride < 0:
                low, high = high, low
            from_, to = -((first - low) // stride), (high - first) // stride + 1
            return np.asarray(np.maximum(np.minimum(to, count) - np.maximum(from_, 0), 0), dtype=np.int64)
        start = first - self.lower - np.asarray(coord, dtype=np.int64) * self.block
        if stride < 0:  # the same cells from the other end
            start = start + stride * (np.asarray(count, dtype=np.int64) - 1)
        return count_in_window(count, abs(stride), start, self.period, self.block)

    def __str__(self) -> str:
        if self.sizes:
            shown = [*map(str, self.sizes[:_SHOWN]), *["..."][: len(self.sizes) > _SHOWN]]
            return f"GEN_BLOCK({','.join(shown)})"
        return "CYCLIC" if (self.kind, self.block) == ("cyclic", 1) else f"{self.kind.upper()}({self.block})"
