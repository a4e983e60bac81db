"""The binary hypercube."""

from math import prod

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike

from sag.topology.routing import Ints, bits, empty_routes, endpoints, ints


class Hypercube(Struct, frozen=True):
    """Binary hypercube with e-cube routing: the lowest differing dimension first."""

    kind: str = "hypercube"
    embedding: str = "gray"
    """``gray``: neighbours in the grid are neighbours in the cube; ``natural``: rank = node; ``auto``: the first, where
    it needs no larger cube than the second."""

    def nodes(self, procs: int) -> int:
        """The next power of two."""
        return 1 << bits(procs)

    def size(self, grid: tuple[int, ...]) -> int:
        """Two to the sum of the bits of the extents (Def 14: 3x5 takes 2 + 3 bits, 32 nodes)."""
        return 1 << (sum(bits(extent) for extent in grid) if self._gray(grid) else bits(prod(grid)))

    def place(self, grid: tuple[int, ...]) -> Ints:
        """Reflected Gray code of each coordinate, the first dimension in the lowest bits (Def 14)."""
        if not self._gray(grid):
            return np.arange(prod(grid), dtype=np.int64)
        node = np.zeros(1, dtype=np.int64)
        shift = 0
        for extent in grid:
            position = np.arange(extent, dtype=np.int64)
            code = (position ^ (position >> 1)) << shift
            node = (code[:, None] + node[None, :]).ravel()
            shift += bits(extent)
        return node

    def _gray(self, grid: tuple[int, ...]) -> bool:
        fits = sum(bits(extent) for extent in grid) == bits(prod(grid))
        return self.embedding == "gray" or (self.embedding == "auto" and fits)

    def hops(self, src: ArrayLike, dst: ArrayLike, size: int | None = None) -> Ints:  # noqa: ARG002 the protocol's
        """Differing bits."""
        return _popcount(ints(src) ^ ints(dst))

    def routes(self, src: ArrayLike, dst: ArrayLike, size: int) -> Ints:
        """Link ``node * dimensions + bit`` for each differing bit, low bit first."""
        node, goal = endpoints(src, dst, size)
        count = self.hops(node, goal)
        links = empty_routes(count)
        dimensions = bits(size)
        taken = np.zeros_like(count)
        for bit in range(dimensions):
            (moved,) = np.nonzero(((node ^ goal) >> bit) & 1)
            links[moved, taken[moved]] = node[moved] * dimensions + bit
            taken[moved] += 1
            node[moved] ^= 1 << bit
        return links

    def link_count(self, size: int) -> int:
        """One link for each node and dimension."""
        return size * bits(size)

    def box(self, size: int) -> tuple[int, ...]:
        """Two nodes in each dimension."""
        return (2,) * bits(size)

    def undirected(self, links: ArrayLike, size: int) -> Ints:
        """The link as seen from the node whose bit is 0."""
        link = ints(links)
        dimensions = max(1, bits(size))
        node, bit = link // dimensions, link % dimensions
        return ints(np.where(link < 0, -1, (node & ~(np.int64(1) << bit)) * dimensions + bit))


_COUNT = getattr(np, "bitwise_count", None)  # since NumPy 2.0


def _popcount(value: Ints) -> Ints:
    """Set bits of numbers below 2**32: sums of neighbouring fields that double in width."""
    if _COUNT is not None:
        return ints(_COUNT(value))
    count = value - ((value >> 1) & 0x55555555)
    count = (count & 0x33333333) + ((count >> 2) & 0x33333333)
    count = (count + (count >> 4)) & 0x0F0F0F0F
    return ints((count * 0x01010101 >> 24) & 0xFF)
