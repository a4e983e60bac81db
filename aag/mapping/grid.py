"""Processor grids, and how a number of processors becomes one (Def 12, Def 13)."""

from functools import cached_property, lru_cache
from math import prod

import numpy as np
import numpy.typing as npt
from msgspec import Struct

IntArray = npt.NDArray[np.int64]

LARGEST = 2**20
"""The largest number of processors that is accepted (Def 14)."""


class Grid(Struct, frozen=True, dict=True):
    """A grid of abstract processors. `name`: of the PROCESSORS directive, empty where the grid is ours.

    Coordinates count from 0; linear ranks are column-major: the first coordinate varies fastest (Def 12).
    """

    name: str
    shape: tuple[int, ...]

    @cached_property
    def size(self) -> int:
        """Number of processors; 1 for a scalar grid."""
        return prod(self.shape)

    @cached_property
    def strides(self) -> tuple[int, ...]:
        """Distance in linear rank between neighbours along each axis."""
        return tuple(prod(self.shape[:axis]) for axis in range(len(self.shape)))

    def coords_of(self, ranks: npt.ArrayLike) -> IntArray:
        """Coordinates, shape (M, G), of linear ranks of shape (M,)."""
        given = np.asarray(ranks, dtype=np.int64)
        columns = [given // stride % extent for stride, extent in zip(self.strides, self.shape, strict=True)]
        return np.stack(columns, axis=-1) if columns else np.zeros((given.size, 0), dtype=np.int64)

    def coordinate_of(self, ranks: IntArray, axis: int) -> IntArray:
        """The coordinate on one axis of each linear rank."""
        return ranks // self.strides[axis] % self.shape[axis]

    def spread(self, axis: int, values: IntArray) -> IntArray:
        """One value for each coordinate of `axis` -> one value for each linear rank, shape (P,)."""
        block = np.repeat(values, self.strides[axis])
        return np.tile(block, self.size // block.size)

    def __str__(self) -> str:
        return "x".join(map(str, self.shape)) if self.shape else "scalar"


@lru_cache(maxsize=1024)
def squarest(procs: int, rank: int) -> tuple[int, ...]:
    """`procs` as a product of `rank` extents, as equal as possible, larger first (Def 13).

    The largest extent is as small as can be, then the second largest, and so on: 8 in two dimensions is 4x2,
    6 is 3x2, 7 is 7x1; 12 in three is 3x2x2.
    """
    if rank == 0:
        return ()
    shape = _factors(procs, rank, procs)
    if shape is None:
        raise ValueError(f"{procs} processors cannot form a grid of {rank} dimensions")
    return shape


def _factors(number: int, rank: int, largest: int) -> tuple[int, ...] | None:
    if rank == 1:
        return (number,) if number <= largest else None
    for extent in _divisors(number):
        if extent <= largest and extent**rank >= number:
            rest = _factors(number // extent, rank - 1, extent)
            if rest is not None:
                return (extent, *rest)
    return None


@lru_cache(maxsize=4096)
def _divisors(number: int) -> tuple[int, ...]:
    small = [each for each in range(1, int(number**0.5) + 2) if each * each <= number and number % each == 0]
    return tuple(sorted({*small, *(number // each for each in small)}))
