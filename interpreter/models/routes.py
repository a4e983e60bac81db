"""From where to where messages go, and over which links: what does not depend on their sizes."""

from collections.abc import Hashable
from functools import lru_cache

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from aag.distinct import distinct
from interpreter import shared
from interpreter.models.law import constant
from interpreter.reduce import all_of
from interpreter.state import Run
from sag.machine import NetworkCosts
from sag.topology import Topology

Ints = NDArray[np.int64]
Index = Ints | slice | None

DIRECT = ("hypercube", "mesh", "torus", "ring")
"""Topologies in which a link of one hop serves one source only."""

FEW = 64
"""Messages of a batch up to which their routes are kept for other programs."""


class Routes(Struct, frozen=True):
    """Links of each message of a batch, (M, H) padded with -1; `shared`: two of them use the same link.

    `looked`: the same with the last column of the link table in place of -1. `link`: those that are taken; `message`:
    by which message, and `cell`: where they stand in `links`."""

    links: Ints
    shared: bool
    looked: Ints
    message: Ints
    cell: Ints
    link: Ints


class Ends(Struct, frozen=True, eq=False):
    """From where to where the messages of a phase go: what does not depend on their sizes."""

    source: Ints
    destination: Ints
    hops: Ints
    """(M,)"""
    near: bool
    """Whether all are as far."""
    longest: int
    """Largest number of hops."""
    sender: Index
    receiver: Index
    known: list[Index] = field(default_factory=list)
    """The answer of `participants`, once it was asked for."""
    routes: dict[tuple["Ends", ...], Routes] = field(default_factory=dict)
    """Routes of these messages and of others that are under way with them."""

    @staticmethod
    def between(source: Ints, destination: Ints, hops: Ints) -> "Ends":
        """The ends of messages of so many hops (M,)."""
        return Ends(
            source, destination, hops, constant(hops), int(hops.max(initial=0)), evenly(source), evenly(destination)
        )

    def participants(self) -> Index:
        """Who sends or receives."""
        if not self.known:
            self.known.append(evenly(distinct(np.concatenate([self.source, self.destination]))))
        return self.known[0]


def ends_of(run: Run, network: NetworkCosts, source: Ints, destination: Ints) -> Ends:
    """What is known of the ends of messages; phases with the same ends share it, but on very many processors."""
    if run.procs >= shared.MANY:
        return Ends.between(source, destination, _hops(run, network, source, destination))
    key = ("ends", network.topology, network.duplex, source.tobytes(), destination.tobytes())
    known = run.application.answers.find(key)
    if isinstance(known, Ends):
        return known
    ends = Ends.between(source, destination, _hops(run, network, source, destination))
    run.application.answers.keep(key, ends, 6 * source.nbytes + 40 * int(ends.hops.sum()) + 500)
    return ends


def routes_of(run: Run, network: NetworkCosts, ends: tuple[Ends, ...]) -> Routes:
    """The routes of messages that are under way together."""
    found = ends[0].routes.get(ends[1:])
    if found is None:
        sender, receiver = (
            np.concatenate([each.source for each in ends]),
            np.concatenate([each.destination for each in ends]),
        )
        found = ends[0].routes[ends[1:]] = _found(run, network, sender, receiver)
    return found


def _found(run: Run, network: NetworkCosts, sender: Ints, receiver: Ints) -> Routes:
    source, destination = run.network.node[sender], run.network.node[receiver]
    topology = network.topology
    if source.size <= FEW and isinstance(topology, Hashable):
        return _known_routes(topology, network.duplex, run.network.size, source.tobytes(), destination.tobytes())
    return _routed(topology, network.duplex, run.network.size, source, destination)


@lru_cache(maxsize=512)
def _known_routes(topology: Topology, duplex: str, size: int, source: bytes, destination: bytes) -> Routes:
    """The routes of few messages, which are often the same in another program, too."""
    return _routed(topology, duplex, size, np.frombuffer(source, np.int64), np.frombuffer(destination, np.int64))


def _routed(topology: Topology, duplex: str, size: int, source: Ints, destination: Ints) -> Routes:
    links = topology.routes(source, destination, size)
    if duplex == "half":
        links = topology.undirected(links, size)
    cell = np.flatnonzero(links >= 0)
    link = links.take(cell)
    looked = np.where(links < 0, topology.link_count(size), links)  # the last column is a link that nobody takes
    return Routes(links, bool(distinct(link).size < link.size), looked, cell // max(1, links.shape[1]), cell, link)


def apart(network: NetworkCosts) -> bool:
    """Whether a link of one hop serves one source only."""
    return network.topology.kind in DIRECT and network.duplex == "full"


def _hops(run: Run, network: NetworkCosts, source: Ints, destination: Ints) -> Ints:
    """The hops of each message; one number that is broadcast, where all are as far."""
    many: Ints | None = None
    one, node = np.zeros(1, np.int64), run.network.node
    for part in shared.blocks(source.size, shared.BLOCK):
        some = network.topology.hops(node.take(source[part]), node.take(destination[part]), run.network.size)
        if many is None:
            one = one if part.start else some[:1]
            if all_of(some == one):
                continue
            many = np.full(source.size, one[0])
        many[part] = some
    return np.broadcast_to(one[0], source.shape) if many is None else many


def evenly(ranks: Ints) -> Index:
    """The same ranks as a slice, where they are evenly spaced and ascending: views are cheaper than copies."""
    if ranks.size == 1:
        return slice(int(ranks[0]), int(ranks[0]) + 1)
    if ranks.size and (step := int(ranks[1] - ranks[0])) > 0 and all_of(ranks[1:] - ranks[:-1] == step):
        return slice(int(ranks[0]), int(ranks[-1]) + 1, step)
    return ranks
