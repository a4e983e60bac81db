"""The messages of an execution of each AAU, as a walk shows them: who sends to whom, how much, over how many hops; and
what processors wait for."""

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from aag.graph.aau import AAU
from aag.mapping.grid import Grid
from interpreter.listeners import Array, Correctable, Traffic
from interpreter.metrics import WAITING, Index
from interpreter.result import AauMetrics
from sag.machine import NetworkCosts

Ints = NDArray[np.int64]

MOST_PHASES = 64
"""Phases of an execution that are kept; a pipelined loop has one for each block of each owner."""

_ROUNDING = 1e-9
"""Share of the waiting for senders up to which that for links is rounding."""

_PAIRS = 4
"""Partners that are named where they follow no rule."""


class Seen(Struct, frozen=True, eq=False):
    """Messages that are under way together; all (M,)."""

    name: str
    source: Ints
    destination: Ints
    size_bytes: Ints


class Execution(Struct):
    """The messages of one execution of an AAU; `more`: phases beyond those that are kept."""

    phases: list[Seen] = field(default_factory=list)
    more: int = 0
    volume: int = 0


class Waits(Struct):
    """Seconds that processors waited in an AAU, together, in the iterations that were walked."""

    links: float = 0.0
    senders: dict[int, float] = field(default_factory=dict)
    """Rank of a sender -> for it."""


class Wait(Struct, frozen=True, kw_only=True):
    """A part of the waiting of an AAU, mean over processors. `on`: sender (its call came later), links (they were
    busy), end (others ended later). `processor`: the sender that most of it is for, for `most_s`."""

    on: str
    time_s: float
    processor: int | None = None
    most_s: float = 0.0


def waits_of(watcher: "Watcher", aau: AauMetrics, time_s: float) -> tuple[Wait, ...]:
    """What the waiting of an AAU is for, in the shares that were seen."""
    waits = watcher.waits(aau.id)
    senders = sum(waits.senders.values())
    if senders + waits.links <= 0:
        return (Wait(on="end", time_s=time_s),) if aau.kind == "End" else ()
    scale = time_s / (senders + waits.links)
    found = []
    if senders:
        rank = max(waits.senders, key=lambda each: (waits.senders[each], -each))
        found.append(Wait(on="sender", time_s=senders * scale, processor=rank, most_s=waits.senders[rank] * scale))
    if waits.links > _ROUNDING * senders:
        found.append(Wait(on="links", time_s=waits.links * scale))
    return tuple(found)


class Watcher(Correctable):
    """A listener that keeps, for each AAU, the messages of that execution among those walked that moves most bytes; of
    equal ones the first."""

    def __init__(self) -> None:
        self._waits: dict[int, Waits] = {}
        self._began: tuple[Array, Array] | None = None
        self._now: dict[int, Execution] = {}
        self._most: dict[int, Execution] = {}

    def entered(self, aau: AAU, clock: Array) -> None:  # noqa: ARG002 (the protocol's)
        """From now on messages are those of another execution."""
        self._settle(aau.id)

    def left(self, aau: AAU, clock: Array) -> None:  # noqa: ARG002 (the protocol's)
        """The execution is over."""
        self._settle(aau.id)

    def _settle(self, aau: int) -> None:
        made = self._now.pop(aau, None)
        if made is not None and (aau not in self._most or made.volume > self._most[aau].volume):
            self._most[aau] = made

    def messages(
        self,
        aau: int,
        name: str,
        source: Ints,
        destination: Ints,
        size_bytes: Ints,
        sent: Array,
        received: Array,  # noqa: ARG002 (the protocol's)
    ) -> None:
        """Keep them. What a receiver waited beyond the call of the send, it waited for links."""
        if self._began is not None:
            began, waited = self._began
            late = np.minimum(waited, np.maximum(sent - began, 0.0))[0]
            waits = self._waits.setdefault(aau, Waits())
            waits.links += float((waited[0] - late).sum())
            for rank, each in zip(source[late > 0].tolist(), late[late > 0].tolist(), strict=True):
                waits.senders[rank] = waits.senders.get(rank, 0.0) + each
            self._began = None
        made = self._now.setdefault(aau, Execution())
        made.volume += int(np.broadcast_to(size_bytes, source.shape).sum())
        if len(made.phases) < MOST_PHASES:
            made.phases.append(Seen(name, source.copy(), destination.copy(), np.array(size_bytes)))
        else:
            made.more += 1

    def spent(
        self,
        aau: int,  # noqa: ARG002 (the protocol's)
        category: int,
        began: Array,
        seconds: Array,
        ranks: Index,  # noqa: ARG002 (the protocol's)
        traffic: Traffic | None,
        weight: float,
    ) -> None:
        """Keep how long receivers wait, until it is known when their messages were sent."""
        if category == WAITING and traffic is not None:
            self._began = began, np.broadcast_to(seconds * weight, began.shape)

    def waits(self, aau: int) -> "Waits":
        """What processors waited for in an AAU."""
        return self._waits.get(aau, Waits())

    def execution(self, aau: int) -> Execution:
        """What is kept of an AAU; nothing where it sent nothing."""
        self._settle(aau)
        return self._most.get(aau, Execution())


class MessagePhase(Struct, frozen=True, kw_only=True):
    """One phase of messages: their number, partners in words, and the least and most of their bytes and hops."""

    name: str
    messages: int
    partners: str
    pairs: tuple[tuple[int, int], ...]
    """The first of the partners: (source, destination)."""
    bytes: tuple[int, int]
    hops: tuple[int, int]


def phases_of(
    seen: list[Seen], grid: Grid, network: NetworkCosts | None, shape: tuple[int, ...]
) -> tuple[MessagePhase, ...]:
    """What was seen of one execution. `shape`: the grid that decides which node a rank runs on (Def 14)."""
    found = []
    for each in seen:
        if not each.source.size:
            continue
        hops = np.zeros(1, np.int64)
        if network is not None:
            node = network.topology.place(shape)
            hops = network.topology.hops(node[each.source], node[each.destination], network.topology.size(shape))
        pairs = zip(each.source[:_PAIRS].tolist(), each.destination[:_PAIRS].tolist(), strict=True)
        found.append(
            MessagePhase(
                name=each.name,
                messages=int(each.source.size),
                partners=_partners(each, grid),
                pairs=tuple(pairs),
                bytes=(int(each.size_bytes.min()), int(each.size_bytes.max())),
                hops=(int(hops.min()), int(hops.max())),
            )
        )
    return tuple(found)


def _partners(each: Seen, grid: Grid) -> str:
    """Partners by the rule they follow, else the first of them."""
    source, destination = each.source, each.destination
    if source.size > 1:
        if grid.size > int(max(source.max(), destination.max())) and grid.shape:
            by = grid.coords_of(destination) - grid.coords_of(source)
            if (by == by[:1]).all():
                return "to " + ",".join(f"{step:+d}" for step in by[0].tolist()) + " in the grid"
        flip = source ^ destination
        if (flip == flip[0]).all() and int(flip[0]).bit_count() == 1:
            return f"pairs of ranks {int(flip[0])} apart"
        if (source == source[0]).all():
            return f"from processor {int(source[0])}"
        if (destination == destination[0]).all():
            return f"to processor {int(destination[0])}"
    shown = ", ".join(f"{s}->{d}" for s, d in zip(source[:_PAIRS].tolist(), destination[:_PAIRS].tolist(), strict=True))
    return shown + (", ..." if source.size > _PAIRS else "")
