"""Interconnects whose nodes are not themselves switches: bus, crossbar, fat tree."""

from math import prod

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike

from sag.topology.routing import Ints, empty_routes, endpoints, ints


class Switched(Struct, frozen=True):
    """What they have in common: the instance has as many nodes as there are processors, and rank r is on node r."""

    def nodes(self, procs: int) -> int:
        """As many as there are processors; a tree need not be full."""
        return procs

    def size(self, grid: tuple[int, ...]) -> int:
        """As many as there are processors."""
        return prod(grid)

    def place(self, grid: tuple[int, ...]) -> Ints:
        """Rank r on node r; in a tree consecutive ranks share a switch."""
        return np.arange(prod(grid), dtype=np.int64)

    def box(self, size: int) -> tuple[int, ...]:  # noqa: ARG002 the protocol's
        """No node is nearer to one than to another, or only by its switch."""
        return ()


class Bus(Switched, frozen=True):
    """One shared medium: every message takes the same link, in either direction."""

    kind: str = "bus"

    def hops(self, src: ArrayLike, dst: ArrayLike, size: int | None = None) -> Ints:  # noqa: ARG002 the protocol's
        """1 between different nodes."""
        return ints(ints(src) != ints(dst))

    def routes(self, src: ArrayLike, dst: ArrayLike, size: int) -> Ints:
        """Link 0, the bus."""
        start, goal = endpoints(src, dst, size)
        return np.where(self.hops(start, goal) > 0, 0, -1)[:, None]

    def link_count(self, size: int) -> int:  # noqa: ARG002 the protocol's
        """One."""
        return 1

    def undirected(self, links: ArrayLike, size: int) -> Ints:  # noqa: ARG002 the protocol's
        """A bus has no direction."""
        return ints(links)


class Crossbar(Switched, frozen=True):
    """One switch: a message takes its source's cable up (link src), its destination's down (size + dst)."""

    kind: str = "crossbar"

    def hops(self, src: ArrayLike, dst: ArrayLike, size: int | None = None) -> Ints:  # noqa: ARG002 the protocol's
        """2 between different nodes."""
        return ints(2 * (ints(src) != ints(dst)))

    def routes(self, src: ArrayLike, dst: ArrayLike, size: int) -> Ints:
        """Up, then down."""
        start, goal = endpoints(src, dst, size)
        links = np.stack([start, size + goal], axis=1)
        return np.where((start != goal)[:, None], links, -1)

    def link_count(self, size: int) -> int:
        """Two for each node."""
        return 2 * size

    def undirected(self, links: ArrayLike, size: int) -> Ints:
        """The cable of the node."""
        link = ints(links)
        return np.where(link < 0, -1, link % size)


class FatTree(Switched, frozen=True):
    """Fat tree of switches with `arity` downward ports, routed by destination (D-mod-k).

    A subtree of level l holds ``arity ** l`` nodes; its upward cables are one for each node, divided by
    ``taper ** l`` where the tree is oversubscribed (taper 2: half as many cables at each level). A message
    climbs to the lowest common subtree; at each level destination modulo the number of cables picks the
    cable, so messages to different destinations spread and messages to one destination meet.
    """

    arity: int = 2
    taper: int = 1
    kind: str = "fat_tree"

    def hops(self, src: ArrayLike, dst: ArrayLike, size: int | None = None) -> Ints:  # noqa: ARG002 the protocol's
        """Twice the level of the lowest common subtree."""
        start, goal = np.broadcast_arrays(ints(src), ints(dst))
        level = np.zeros(start.shape, dtype=np.int64)
        while (apart := start != goal).any():
            level += apart
            start, goal = start // self.arity, goal // self.arity
        return 2 * level

    def routes(self, src: ArrayLike, dst: ArrayLike, size: int) -> Ints:
        """Up links from the source, then down links to the destination."""
        start, goal = endpoints(src, dst, size)
        top = self.hops(start, goal) // 2
        links = empty_routes(2 * top)
        first = 0
        for level in range(int(top.max(initial=0))):
            cables = self._cables(level)
            (climbing,) = np.nonzero(top > level)
            span = self.arity**level
            spread = goal[climbing] % cables
            up = first + 2 * ((start[climbing] // span) * cables + spread)
            down = first + 2 * ((goal[climbing] // span) * cables + spread) + 1
            links[climbing, level] = up
            links[climbing, 2 * top[climbing] - 1 - level] = down
            first += self._links_of_level(level, size)
        return links

    def link_count(self, size: int) -> int:
        """Both directions of every cable of every level."""
        level, count = 0, 0
        while self.arity**level < size:
            count += self._links_of_level(level, size)
            level += 1
        return count

    def undirected(self, links: ArrayLike, size: int) -> Ints:  # noqa: ARG002 the protocol's
        """The upward link of the cable."""
        link = ints(links)
        return np.where(link < 0, -1, link - link % 2)

    def _cables(self, level: int) -> int:
        return int(max(1, self.arity**level // self.taper**level))

    def _links_of_level(self, level: int, size: int) -> int:
        subtrees = -(-size // self.arity**level)
        return int(2 * subtrees * self._cables(level))
