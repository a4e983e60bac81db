"""Meshes, tori and rings."""

from math import prod

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike

from sag.topology.routing import Ints, empty_routes, endpoints, ints


class Lattice(Struct, frozen=True):
    """Mesh (open) or torus (closed) of any number of dimensions, routed dimension by dimension, first first.

    A node's number is column-major in the extents. The extents follow from the size: as equal as possible,
    larger first. Link ``node * 2 * dimensions + 2 * d`` goes up in dimension d, the next one down. On a torus
    the shorter way is taken, upwards where both are equal; an extent of 2 has one cable, not two.
    """

    dimensions: int = 2
    closed: bool = False
    embedding: str = "gray"
    """``natural``: rank = node; the others: neighbours in the grid are neighbours in the network, where that is
    possible."""

    @property
    def kind(self) -> str:
        """Mesh, torus or ring."""
        if not self.closed:
            return "mesh"
        return "ring" if self.dimensions == 1 else "torus"

    def nodes(self, procs: int) -> int:
        """Nodes of the smallest nearly cubic box."""
        size = procs
        while (boxed := prod(_box(size, self.dimensions))) != size:
            size = boxed
        return size

    def extents(self, size: int) -> tuple[int, ...]:
        """Extents of the instance with `size` nodes (a value that `nodes` returns).

        Raises:
            ValueError: no instance has this many nodes.
        """
        box = _box(size, self.dimensions)
        if prod(box) != size:
            raise ValueError(f"a {self.kind} of {self.dimensions} dimensions cannot have {size} nodes")
        return box

    def size(self, grid: tuple[int, ...]) -> int:
        """As `nodes` of the number of processors."""
        return self.nodes(prod(grid))

    def place(self, grid: tuple[int, ...]) -> Ints:
        """Coordinate on coordinate where the grid fits into the box, else ranks along a snake through it."""
        box = self.extents(self.size(grid))
        rank = np.arange(prod(grid), dtype=np.int64)
        if self.embedding == "natural":
            return rank
        fits = len(grid) <= len(box) and all(g <= b for g, b in zip(grid, box, strict=False))
        if fits and len(grid) > 1:
            return _number(_coordinates(rank, grid), box)
        return _number(_snake(rank, box), box)

    def hops(self, src: ArrayLike, dst: ArrayLike, size: int | None = None) -> Ints:
        """Sum of the distances in each dimension."""
        if size is None:
            raise ValueError(f"the hops of a {self.kind} depend on its size: pass size=")
        box = self.extents(size)
        start, goal = ints(src), ints(dst)
        ways = zip(_coordinates(start, box), _coordinates(goal, box), box, strict=True)
        return ints(sum(np.abs(self._way(a, b, extent)) for a, b, extent in ways))

    def routes(self, src: ArrayLike, dst: ArrayLike, size: int) -> Ints:
        """Links in dimension order."""
        start, goal = endpoints(src, dst, size)
        box = self.extents(size)
        here: list[Ints] = list(_coordinates(start, box))
        there = _coordinates(goal, box)
        links = empty_routes(self.hops(start, goal, size))
        taken = np.zeros(start.size, dtype=np.int64)
        for dimension, extent in enumerate(box):
            way = self._way(here[dimension], there[dimension], extent)
            step = np.arange(int(np.abs(way).max(initial=0)), dtype=np.int64)
            message, nth = np.nonzero(step[None, :] < np.abs(way)[:, None])
            position = [coordinate[message] for coordinate in here]
            position[dimension] = ints((position[dimension] + np.sign(way)[message] * step[nth]) % extent)
            tail = _number(tuple(position), box)
            down = (way[message] < 0).astype(np.int64)
            links[message, taken[message] + nth] = (tail * self.dimensions + dimension) * 2 + down
            taken += np.abs(way)
            here[dimension] = there[dimension]
        return links

    def link_count(self, size: int) -> int:
        """Two for each node and dimension; those that leave an open box are never used."""
        return size * 2 * self.dimensions

    def box(self, size: int) -> tuple[int, ...]:
        """The extents; a ring is one row."""
        return () if self.kind == "ring" else self.extents(size)

    def undirected(self, links: ArrayLike, size: int) -> Ints:
        """The upward link of the cable."""
        link = ints(links)
        box = self.extents(size)
        tail, dimension, down = link // 2 // self.dimensions, link // 2 % self.dimensions, link % 2
        position = list(_coordinates(tail, box))
        for d, extent in enumerate(box):
            position[d] = (position[d] - ((dimension == d) & (down == 1))) % extent
        return np.where(link < 0, -1, (_number(tuple(position), box) * self.dimensions + dimension) * 2)

    def _way(self, start: Ints, goal: Ints, extent: int) -> Ints:
        """Signed number of steps in one dimension."""
        straight = goal - start
        if not self.closed or extent <= 2:
            return straight
        up = straight % extent
        return np.where(2 * up <= extent, up, up - extent)


def _coordinates(node: Ints, box: tuple[int, ...]) -> tuple[Ints, ...]:
    """Column-major coordinates."""
    found = []
    for extent in box:
        found.append(node % extent)
        node = node // extent
    return tuple(found)


def _number(position: tuple[Ints, ...], box: tuple[int, ...]) -> Ints:
    """Column-major number; missing last coordinates are 0."""
    node = np.zeros_like(position[0])
    stride = 1
    for coordinate, extent in zip(position, box, strict=False):
        node = node + coordinate * stride
        stride *= extent
    return node


def _snake(rank: Ints, box: tuple[int, ...]) -> tuple[Ints, ...]:
    """Coordinates along a path through the box on which consecutive ranks are neighbours."""
    found = []
    for extent in box:
        row, position = rank // extent, rank % extent
        found.append(np.where(row % 2 == 0, position, extent - 1 - position))
        rank = row
    return tuple(found)


def _box(procs: int, dimensions: int) -> tuple[int, ...]:
    """Extents of a nearly cubic box for at least `procs` nodes, larger first."""
    extents = []
    left = procs
    for remaining in range(dimensions, 0, -1):
        extents.append(_root(left, remaining))
        left = -(-left // extents[-1])
    return tuple(extents)


def _root(value: int, degree: int) -> int:
    """The smallest integer whose power reaches `value`."""
    root: int = max(1, round(value ** (1.0 / degree)))
    while root**degree < value:
        root += 1
    while root > 1 and (root - 1) ** degree >= value:
        root -= 1
    return root
