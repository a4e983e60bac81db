"""Messages on links as events in the order of time: who starts, who waits, and when each is received.

- A message is ready at a time that its sender decides. It takes all links of its route at once if all are free, holds
  them for its byte time, and has then arrived.
- When it starts, it is known when it arrives: its receiver goes on from there. With overlap that may be before it has
  left its links.
- It frees its links one after the other, in the order of its route. Each time the waiting messages that want this link
  are looked at, in the order in which they entered the network; the first whose links are all free starts. Nobody
  reserves a link while waiting for another one.
- Of messages that enter at the same instant the lower rank comes first; of those that arrive at the same instant the
  one that started first.

Source: ground truth (SimGrid with a concurrency limit of one), whose rule that is where no two events coincide.
"""

from bisect import insort
from collections import deque
from collections.abc import Sequence
from heapq import heappop, heappush
from math import inf

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from interpreter.receive import arrival_time, receive

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


BATCH = 1 << 62
"""The step at which a processor comes to a batch."""


class Script(Struct, frozen=True, eq=False):
    """What the processors of an operation do, whatever the clock says: for each its steps in order. Step m + 1 sends
    message m, step - m - 1 receives it, `BATCH` comes to the next batch."""

    steps: tuple[tuple[int, ...], ...]
    links: tuple[tuple[int, ...], ...]
    """Of each message, in the order of its route."""
    destination: Ints


class Window(Struct, eq=False):
    """The latest operations, as long as messages of theirs are under way; one walk for each scenario."""

    walks: list["EventWalk"]
    base: Array
    """(S, 1) origin of their clocks."""
    end: Array
    """(S, P) when each processor was done with the last operation, absolute."""
    aaus: list[int]
    """Of each message, and its receiver."""
    receivers: list[int]
    told: list[dict[int, tuple[float, float]]]
    """For each scenario and message what is in the ledger: waiting and transmission."""
    courses: list[Array]
    """(M, 4) of each scenario when messages enter, are ready, start and end, if nothing more is sent; from `base`."""

    def under_way(self, first: Array) -> tuple[Array, ...]:
        """The courses of the messages of each scenario that end after `first` (S,), absolute; from there, in order."""
        since = first - self.base[:, 0]
        left = [each[each[:, 3] > at] - at for each, at in zip(self.courses, since.tolist(), strict=True)]
        return tuple(each[np.lexsort(each.T)] for each in left)

    def moved(self, by: Array) -> "Window":
        """The same, later by (S, 1)."""
        return Window(self.walks, self.base + by, self.end + by, self.aaus, self.receivers, self.told, self.courses)


class EventWalk:
    """The events of one scenario, up to some moment. Messages have numbers that go on from operation to operation."""

    def __init__(
        self, clock: list[float], grain: float, overlap: float, held: dict[int, tuple[float, float, float, float]]
    ) -> None:
        self.grain = grain
        self.overlap = overlap
        self.held = held
        """Links that earlier operations still hold."""
        self.clock = clock
        self.begins = clock[:]
        """When each processor came to the latest operation, and to the latest batch."""
        self.came = clock[:]
        self.steps: list[deque[int]] = [deque() for _ in clock]
        self.gaps: list[deque[float]] = [deque() for _ in clock]
        self.facts: dict[int, Facts] = {}
        self.sent: dict[int, tuple[float, float, float, int]] = {}
        """When each was sent, enters and is ready, and by whom it is sent."""
        self.freed: dict[int, float] = {}
        """When each link was left."""
        self.times: dict[int, tuple[float, float, float, float]] = {}
        """When each that has started enters, is ready, starts and ends."""
        self.received: list[tuple[int, float, float]] = []
        """What receivers spent: message, waiting, transmission."""
        self.heap: list[tuple[int, int, tuple[int, ...], int, float, tuple[int, ...]]] = []
        self.taken: set[int] = set()
        self.waiting: dict[int, list[tuple[tuple[int, int, int], int]]] = {}
        self.starts = 0
        self.overtaken = False
        """Whether a message took a link that one of an earlier operation, which cannot be corrected, needed later."""
        self.now = self.latest = -inf
        self.final = True

    def copy(self) -> "EventWalk":
        """What may happen from here, if nothing is added."""
        other = EventWalk(self.clock[:], self.grain, self.overlap, self.held)
        other.begins, other.came, other.facts, other.final = self.begins[:], self.came[:], self.facts, False
        other.steps, other.gaps = [each.copy() for each in self.steps], [each.copy() for each in self.gaps]
        other.sent, other.freed, other.times = self.sent.copy(), self.freed.copy(), self.times.copy()
        other.heap, other.taken, other.starts, other.now = self.heap[:], self.taken.copy(), self.starts, self.now
        other.waiting = {link: each[:] for link, each in self.waiting.items() if each}
        return other

    def extend(self, first: int, script: Script, spent: Sequence[tuple[float, ...]], gap: Sequence[float]) -> None:
        """Another operation, whose messages are numbered from `first`; each processor comes to it after a gap."""
        for number, (links, to, costs) in enumerate(
            zip(script.links, script.destination.tolist(), spent, strict=True), first
        ):
            self.facts[number] = (links, to, *costs)
        for steps, gaps, own, rest in zip(self.steps, self.gaps, script.steps, gap, strict=True):
            steps.append(0)
            gaps.append(rest)
            steps.extend(each if each == BATCH else each + first if each > 0 else each - first for each in own)

    def until(self, moment: float) -> None:
        """Let everything happen before a moment."""
        for rank in range(len(self.clock)):
            self._advance(rank)
        while self.heap and self.heap[0][4] < moment:
            _, ends, _, message, now, links = heappop(self.heap)
            self.now = max(self.now, now)
            if not ends:
                if not self._begin(message, now):
                    for link in links:
                        insort(self.waiting.setdefault(link, []), (self._key(message), message))
                continue
            for link in links:
                self.taken.discard(link)
                self.freed[link] = now
                for other in tuple(self.waiting.get(link, ())):
                    free = self.facts[other[1]][0]
                    if self._begin(other[1], now):
                        for each in free:
                            self.waiting[each].remove(other)

    def _key(self, message: int) -> tuple[int, int, int]:
        _, entered, _, rank = self.sent[message]
        return round(entered / self.grain), rank, message

    def _advance(self, rank: int) -> None:
        """Let a processor do all that it can."""
        steps, clock = self.steps[rank], self.clock
        while steps:
            step = steps[0]
            if step == 0:
                clock[rank] += self.gaps[rank].popleft()
                self.begins[rank] = clock[rank]
            elif step == BATCH:
                self.came[rank] = clock[rank]
            elif step > 0:
                self._send(step - 1, rank)
            else:
                message = -step - 1
                if message not in self.times:
                    return
                call, time, before, after = self.facts[message][7:11]
                self.came[rank] += before
                called = clock[rank] + before
                sent, _, ready, _ = self.sent.pop(message)
                late = self.times[message][2] - ready
                early = self.came[rank] - sent - call
                reach = self._arrival(call, time, early)
                delayed = self._arrival(call + late, time + late, early - late)
                waiting, transmission, kept = receive(sent - called, reach, delayed, max)
                self.received.append((message, waiting, transmission))
                clock[rank] = called + kept + after
                if self.final:
                    del self.facts[message]
            steps.popleft()

    def _arrival(self, call: float, time: float, early: float) -> float:
        return arrival_time(call, time, self.overlap, early, max) if self.overlap else time

    def _send(self, message: int, rank: int) -> None:
        links, _, software, pack, busy, entry, lead = self.facts[message][:7]
        self.came[rank] += software
        sent = self.clock[rank] + software + pack
        ready = sent + lead
        self.sent[message] = (sent, sent + entry, ready, rank)
        at = max(ready, _until(self.held, links, ready, self.grain))
        if self.held and _overtakes(self.held, links, ready, self.facts[message][11], self.grain):
            self.overtaken = True
        heappush(self.heap, (round(at / self.grain), 0, self._key(message), message, at, links))
        self.clock[rank] = sent + busy

    def _begin(self, message: int, now: float) -> bool:
        """Start a message if all its links are free."""
        links = self.facts[message][0]
        if not self.taken.isdisjoint(links):
            return False
        self.taken.update(links)
        self.starts += 1
        start = max([now, *[self.freed.get(link, now) for link in links]])
        end = start + self.facts[message][11]
        _, entered, ready, _ = self.sent[message]
        self.times[message] = (entered, ready, start, end)
        heappush(self.heap, (round(end / self.grain), 1, (self.starts,), message, end, links))
        self._advance(self.facts[message][1])
        return True


Facts = tuple[tuple[int, ...], int, float, float, float, float, float, float, float, float, float, float]
"""Of a message: its links, receiver, and the seconds of `_spent`."""


def held_links(rows: Array, first: float) -> dict[int, tuple[float, float, float, float]]:
    """Links that messages of earlier operations still hold at the time `first`: their entries in the table."""
    still = np.flatnonzero(rows[0] > first)
    return {
        link: (end, idle, since, begun)
        for link, end, idle, since, begun in zip(still.tolist(), *rows[:, still].tolist(), strict=True)
    }


def _overtakes(
    held: dict[int, tuple[float, float, float, float]], links: tuple[int, ...], ready: float, hold: float, grain: float
) -> bool:
    """Whether a message holds a link when one of an earlier operation takes it that was ready later."""
    known = [held[link] for link in links if link in held]
    return any(
        since > ready + grain and (ready + hold > begun + grain or idle > ready + grain)
        for _, idle, since, begun in known
    )


def _until(
    held: dict[int, tuple[float, float, float, float]], links: tuple[int, ...], ready: float, grain: float
) -> float:
    """Until when a message finds its route held by earlier operations, by the rules of `contention`."""
    latest = ready
    for link in links if held else ():
        end, idle, since, begun = held.get(link, (ready, ready, ready, ready))
        if end <= latest:
            continue
        limit = ready + grain
        vacant = idle <= limit
        passes = since > limit or (begun > limit and vacant)
        if not (passes and (vacant or begun - idle > grain)):
            latest = end
    return latest
