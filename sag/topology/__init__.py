"""Interconnects: where processors sit, how far apart they are, and over which links a message goes.

A topology is a rule, not an instance: `size` says how many nodes the instance at hand has. All methods are
vectorised over messages. Links are directed and numbered from 0; `undirected` maps the two directions of one
cable to one number, which is what half-duplex links need.

Figure: the hypercube with 2 dimensions; link ``node * 2 + bit`` leaves ``node`` along ``bit``::

    2 --4--> 3          0 -> 3 (e-cube, lowest bit first): links 0 (0->1), 3 (1->3)
    ^        ^
    1        3
    0 --0--> 1
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from numpy.typing import ArrayLike

from sag.topology.hypercube import Hypercube
from sag.topology.lattice import Lattice
from sag.topology.routing import Ints
from sag.topology.switched import Bus, Crossbar, FatTree

__all__ = ["EMBEDDINGS", "KINDS", "Bus", "Crossbar", "FatTree", "Hypercube", "Lattice", "Topology", "build_topology"]

EMBEDDINGS = ("gray", "natural", "auto")
"""Names of the maps from ranks to nodes (Def 14)."""

KINDS = ("hypercube", "mesh", "torus", "ring", "bus", "crossbar", "fat_tree")
"""Names of the topologies in machine files."""


class Topology(Protocol):
    """What the engine asks of an interconnect. A hop is one link traversed."""

    @property
    def kind(self) -> str:
        """Its name in machine files."""
        ...

    def nodes(self, procs: int) -> int:
        """Nodes of the smallest instance that hosts `procs` processors."""
        ...

    def size(self, grid: tuple[int, ...]) -> int:
        """Nodes of the instance that `place` fills for this grid; at least ``nodes(prod(grid))``."""
        ...

    def place(self, grid: tuple[int, ...]) -> Ints:
        """Node of each linear rank (column-major in `grid`), shape (P,), all different (Def 14)."""
        ...

    def hops(self, src: ArrayLike, dst: ArrayLike, size: int | None = None) -> Ints:
        """Links between nodes, broadcast over `src` and `dst`; 0 where they are equal.

        Raises:
            ValueError: the distance depends on `size` (mesh, torus, ring) and it was not given.
        """
        ...

    def routes(self, src: ArrayLike, dst: ArrayLike, size: int) -> Ints:
        """Directed links of each message in order of traversal, shape (M, H), padded with -1."""
        ...

    def link_count(self, size: int) -> int:
        """Directed links of an instance: ids are below this."""
        ...

    def box(self, size: int) -> tuple[int, ...]:
        """The extents of the dimensions that collectives go through one after the other (Def 8), node numbers being
        column-major in them; empty where nodes are in one row or all alike."""
        ...

    def undirected(self, links: ArrayLike, size: int) -> Ints:
        """The same number for both directions of one cable; -1 stays -1."""
        ...


def build_topology(kind: str, dimensions: int, arity: int, taper: int, embedding: str = "gray") -> Topology:
    """The topology that a machine file names; parameters that a kind does not have are ignored.

    Raises:
        KeyError: unknown kind; `KINDS` lists them.
    """
    makers: Mapping[str, Callable[[], Topology]] = {
        "hypercube": lambda: Hypercube(embedding=embedding),
        "mesh": lambda: Lattice(dimensions, closed=False, embedding=embedding),
        "torus": lambda: Lattice(dimensions, closed=True, embedding=embedding),
        "ring": lambda: Lattice(1, closed=True, embedding=embedding),
        "bus": Bus,
        "crossbar": Crossbar,
        "fat_tree": lambda: FatTree(arity, taper),
    }
    return makers[kind]()
