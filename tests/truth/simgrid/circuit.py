"""Messages that meet, walked by hand: the rule by which `link="circuit"` of the simulator hands out links.

A message called at s enters the network at ``s + startup``, and is ready ``hop * h`` later. It takes all
links of its route at once, lowest differing bit first, as soon as all are free, and holds them for ``byte * m``;
then it has arrived. One of less than 16 bytes holds them for the time of 16 and enters sooner by the difference.
It frees its links one after the other in the order of its route, and each time the waiting messages that want the
link are looked at in the order in which they entered; the first whose links are all free starts. Nobody reserves
a link while waiting for another one, so a long route may be overtaken.

The simulator follows this rule to the last digit where no two messages want a link at the same instant.
Where they do, its order is an accident of its data structures; here the first listed enters first, and of
messages that arrive at the same instant the first that started frees its links first.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count

from .platform import ENVELOPE_BYTES, Duplex, Law, hops

Link = tuple[int, int]

_DIGITS = 13
"""Arrivals closer than this many digits after the point (of a second) are simultaneous."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flight:
    """A message: when its send was called, from node to node, payload."""

    sent_s: float
    source: int
    target: int
    size_bytes: int


@dataclass(slots=True, kw_only=True)
class _Network:
    routes: Sequence[Sequence[Link]]
    entered: Sequence[int]
    busy: set[Link] = field(default_factory=set)
    waiting: set[int] = field(default_factory=set)

    def try_to_start(self, message: int) -> bool:
        if not self.busy.isdisjoint(self.routes[message]):
            self.waiting.add(message)
            return False
        self.waiting.discard(message)
        self.busy.update(self.routes[message])
        return True

    def release(self, message: int) -> list[int]:
        """Messages that start because this one has arrived."""
        started = []
        for link in self.routes[message]:
            self.busy.remove(link)
            for other in sorted(self.waiting, key=self.entered.__getitem__):
                if link in self.routes[other] and self.try_to_start(other):
                    started.append(other)
        return started


def route(source: int, target: int, *, duplex: Duplex = "full") -> tuple[Link, ...]:
    """Links from node to node, lowest differing bit first; of half duplex links both directions are one."""
    links = []
    differing, here = source ^ target, source
    while differing:
        bit = differing & -differing
        there = here ^ bit
        links.append((min(here, there), max(here, there)) if duplex == "half" else (here, there))
        here, differing = there, differing ^ bit
    return tuple(links)


def arrivals(flights: Sequence[Flight], law: Law, *, duplex: Duplex = "full") -> list[float]:
    """Arrival time of each message."""
    entry_s, ready_s, held_s = [], [], []
    for f in flights:
        p = law.protocol(f.size_bytes)
        held_s.append(p.byte_s * max(f.size_bytes, ENVELOPE_BYTES))
        entry_s.append(f.sent_s + p.startup_s + p.byte_s * f.size_bytes - held_s[-1])
        ready_s.append(entry_s[-1] + p.hop_s * hops(f.source, f.target))
    order = sorted(range(len(flights)), key=entry_s.__getitem__)
    entered = [0] * len(flights)
    for place, message in enumerate(order):
        entered[message] = place
    network = _Network(routes=[route(f.source, f.target, duplex=duplex) for f in flights], entered=entered)
    result = [0.0] * len(flights)
    started = count(len(flights))
    events = [(ready_s[i], entered[i], i, False) for i in range(len(flights))]
    heapq.heapify(events)
    while events:
        now_s, _, message, arrived = heapq.heappop(events)
        if arrived:
            result[message] = now_s
            starters = network.release(message)
        else:
            starters = [message] if network.try_to_start(message) else []
        for other in starters:
            heapq.heappush(events, (round(now_s + held_s[other], _DIGITS), next(started), other, True))
    return result
