"""Messages of one operation that meet on links, stage after stage: events in the order of time.

`contention` decides about the messages of one stage before those of the next. Where messages of different stages want
the same links, a processor that runs ahead may send one of a later stage before others send theirs of an earlier one.
Here the processors of an operation go through their sends and receives, and whatever comes first is done first:

- A message is ready at a time that its sender decides. It takes all links of its route at once if all are free, holds
  them for its byte time, and has then arrived.
- It frees its links one after the other, in the order of its route. Each time the waiting messages that want this link
  are looked at, in the order in which they entered the network; the first whose links are all free starts. Nobody
  reserves a link while waiting for another one.
- Of messages that enter at the same instant the lower rank comes first; of those that arrive at the same instant the
  one that started first.

A processor may also run ahead into the next operation while messages of earlier ones are under way. What happens before
the moment at which the first processor comes to the new one is final. From there on everything is followed once more:
what messages of earlier operations waited for is corrected in the ledger, and so are the clocks.

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

from aag.distinct import distinct_with_inverse
from interpreter.listeners import Correctable
from interpreter.metrics import COMMUNICATION, WAITING
from interpreter.models.compute import Cost
from interpreter.models.contention import ALWAYS, SAME, follow, occupy, record_links
from interpreter.models.pattern import Batch
from interpreter.models.receive import receive
from interpreter.models.routes import Ends, Routes, routes_of
from interpreter.remembered import remembered
from interpreter.state import Run
from sag.machine import NetworkCosts

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST = 20_000
"""Messages of an operation, times scenarios, up to which events are followed one by one."""


class Script(Struct, frozen=True, eq=False):
    """What the processors of an operation do, whatever the clock says: for each its steps in order. Step m + 1 sends
    message m, step - m - 1 receives it."""

    steps: tuple[tuple[int, ...], ...]
    routes: Routes
    links: tuple[tuple[int, ...], ...]
    """Of each message, in the order of its route."""
    destination: Ints


class Window(Struct, eq=False):
    """The latest operations, as long as messages of theirs are under way; one walk for each scenario."""

    walks: list["Walk"]
    base: Array
    """(S, 1) origin of their clocks."""
    end: Array
    """(S, P) when each processor was done with the last operation, absolute."""
    aaus: list[int]
    """Of each message, and its receiver."""
    receivers: list[int]
    told: list[dict[int, tuple[float, float]]]
    """For each scenario and message what is in the ledger: waiting and transmission."""


def together(run: Run, aau: int, network: NetworkCosts, groups: Sequence[Batch]) -> list[tuple[Array, ...]] | None:
    """How much later than uncontended each message of an operation arrives, (S, M) for each stage; None where stages
    can be taken one after the other: where links serve both directions, or all processors, they never are."""
    patterns = [each for group in groups for each in group.patterns]
    count = sum(each.messages for each in patterns)
    if not count:  # nothing happens: what is under way stays so
        return None
    known, run.window = run.window, None
    if network.switching != "circuit" or not run.setting.contention or run.overlap is not None:
        return None
    if (
        count * run.scenarios > MOST
        or run.procs * run.scenarios > ALWAYS
        or any(each.dense is not None for each in patterns)
    ):
        return None
    window = known if isinstance(known, Window) and _may_meet(run, known) else None
    ends_of = tuple(each.ends for each in patterns)
    alone = window is None and network.duplex == "full" and network.topology.kind != "bus"
    if (alone and not _meet(run, network, ends_of)) or not follow(run, network, count):
        return None
    script = _script(run, network, groups, ends_of)
    shortest = [each.shortest for each in patterns if each.shortest]
    grain = SAME * min(shortest) if shortest else 1e-15
    now = run.clock + run.origin
    if window is None:
        window = _opened(run, grain)
    late = _follow(run, window, _Operation(aau, script, _spent(run, network, groups), now), grain)
    run.window = window
    ends = np.cumsum([each.messages for each in patterns])[:-1]
    parts = iter(np.split(late, ends, axis=1))
    result = []
    for group in groups:
        waits = [each.link_wait for each in group.patterns]
        result.append(tuple(next(parts) + (0.0 if wait is None else wait) for wait in waits))
    return result


def done(run: Run) -> None:
    """The operation that was last followed is complete."""
    window = run.window
    if isinstance(window, Window):
        window.end = run.clock + run.origin


def _may_meet(run: Run, window: Window) -> bool:
    """Whether what is sent from now on may meet messages that are under way, and may correct what was told of them."""
    if run.weight != 1.0 or run.active is not None:
        return False
    if run.timekeeper is not None and not isinstance(run.timekeeper, Correctable):
        return False
    first = run.clock.min(axis=1) + run.origin[:, 0] - window.base[:, 0]
    return any(walk.latest > earliest for walk, earliest in zip(window.walks, first.tolist(), strict=True))


def _opened(run: Run, grain: float) -> Window:
    table = run.links.table
    assert table is not None
    walks = [
        Walk(run.clock[scenario].tolist(), grain, _held(table[scenario], float(run.clock[scenario].min())))
        for scenario in range(run.scenarios)
    ]
    return Window(walks, run.origin.copy(), run.clock + run.origin, [], [], [{} for _ in walks])


class _Operation(Struct, frozen=True, eq=False):
    aau: int
    script: Script
    spent: list[Array]
    now: Array


def _follow(run: Run, window: Window, operation: _Operation, grain: float) -> Array:
    """Let the messages of an operation happen, correct what was told of earlier ones, and answer by how much its own
    are late."""
    script, first = operation.script, len(window.aaus)
    count = len(script.links)
    window.aaus += [operation.aau] * count
    window.receivers += script.destination.tolist()
    gaps = (operation.now - window.end).tolist()
    earliest = (operation.now - window.base).min(axis=1).tolist()
    times = np.empty((4, run.scenarios, count))
    begins = np.empty_like(run.clock)
    changes: dict[tuple[int, int], Array] = {}
    for scenario, walk in enumerate(window.walks):
        spent = list(zip(*(each[scenario].tolist() for each in operation.spent), strict=True))
        walk.extend(first, script, spent, gaps[scenario])
        walk.until(earliest[scenario])
        told = window.told[scenario]
        for message, *seconds in walk.received:
            _correct(run, window, scenario, message, (seconds[0], seconds[1]), told, changes)
            told.pop(message, None)
        walk.received.clear()
        ahead = walk.copy()
        ahead.until(inf)
        for message, *seconds in ahead.received:
            _correct(run, window, scenario, message, (seconds[0], seconds[1]), told, changes)
        walk.latest = ahead.now
        begins[scenario] = ahead.begins
        for message in range(count):
            times[:, scenario, message] = ahead.times[first + message]
        walk.times = {message: each for message, each in walk.times.items() if message in walk.facts}
    shift = window.base - run.origin
    if first:
        run.clock[...] = begins + shift
    if changes:
        if run.recorder is not None:  # what an iteration costs is known in a later one only
            run.recorder.choices.append(np.full((run.scenarios, 1), -1 - run.walked))
        if isinstance(run.timekeeper, Correctable):
            run.timekeeper.corrected()
        for (aau, category), change in changes.items():
            run.note(aau, category, change)
    entered, ready, start, end = (each + shift for each in times)
    record_links(run, script.routes, (entered, ready, start, end), grain)
    occupy(run, script.routes, (ready, start, end))
    return start - ready


def _correct(
    run: Run,
    window: Window,
    scenario: int,
    message: int,
    seconds: tuple[float, float],
    told: dict[int, tuple[float, float]],
    changes: dict[tuple[int, int], Array],
) -> None:
    """Remember what was spent for a message; what is different from what was told is a change for the ledger."""
    before = told.get(message)
    told[message] = seconds
    if before is None or before == seconds:
        return
    for category, new, old in zip((WAITING, COMMUNICATION), seconds, before, strict=True):
        key = (window.aaus[message], category)
        if key not in changes:
            changes[key] = np.zeros((run.scenarios, run.procs))
        changes[key][scenario, window.receivers[message]] += new - old


@remembered(lambda _run, _network, ends: ends)
def _meet(run: Run, network: NetworkCosts, ends: tuple[Ends, ...]) -> bool:
    """Whether messages of different processors want the same link."""
    routes = routes_of(run, network, ends)
    if not routes.shared:
        return False
    _, first, which = distinct_with_inverse(routes.link)
    sender = np.concatenate([each.source for each in ends])[routes.message]
    return bool((sender != sender[first][which]).any())


@remembered(lambda _run, _network, groups, ends: (tuple([len(group.patterns) for group in groups]), ends))
def _script(run: Run, network: NetworkCosts, groups: Sequence[Batch], ends_of: tuple[Ends, ...]) -> Script:
    destination = np.concatenate([each.destination for each in ends_of])
    routes = routes_of(run, network, ends_of)
    steps: list[list[int]] = [[] for _ in range(run.procs)]
    first = 0
    for group in groups:
        ends = [first := first + each.messages for each in group.patterns]
        spans = list(zip(group.patterns, ends, strict=True))
        for receiving in (False, True):
            for each, end in spans:
                ranks = each.destination if receiving else each.source
                for message, rank in enumerate(ranks.tolist(), end - each.messages):
                    steps[rank].append(-message - 1 if receiving else message + 1)
    links = tuple(tuple(link for link in row if link >= 0) for row in routes.links.tolist())
    return Script(tuple(map(tuple, steps)), routes, links, destination)


def _columns(run: Run, parts: Sequence[tuple[Array, int]]) -> Array:
    """Figures of messages, (S or 1, M or 1) each, side by side: (S, M)."""
    return np.concatenate([np.broadcast_to(each, (run.scenarios, count)) for each, count in parts], axis=1)


def _spent(run: Run, network: NetworkCosts, groups: Sequence[Batch]) -> list[Array]:
    """Seconds (S, M): before a send, of a send, until the message enters, until it is ready, from its call until it
    has arrived, before a receive, after a receive, for which it holds its links."""
    none = np.zeros((1, 1))
    columns: list[list[tuple[Array, int]]] = [[] for _ in range(8)]
    for group in groups:
        for each in group.patterns:
            wait = none if each.link_wait is None else each.link_wait
            busy = each.time if network.send_model == "blocking" and not group.concurrent else each.call
            sends = _cost(each.pack)
            after = _cost(each.unpack) + _cost(each.combine) + (none if each.receive is None else each.receive)
            before = none
            if each.software is not None:
                sending = np.zeros(run.procs, np.bool_)
                sending[each.source] = True
                before = each.software * ~sending[each.destination]
                sends = sends + each.software
            figures = (sends, busy, each.entry, each.lead + wait, each.time + wait, before, after, each.hold)
            for column, figure in zip(columns, figures, strict=True):
                column.append((figure, each.messages))
    return [_columns(run, column) for column in columns]


def _cost(cost: Cost | None) -> Array:
    """Seconds of each message."""
    total = np.zeros((1, 1))
    for part in () if cost is None else (cost.computation, cost.overhead):
        if part is not None:
            total = total + np.asarray(part)
    return total


class Walk:
    """The events of one scenario, up to some moment. Messages have numbers that go on from operation to operation."""

    def __init__(self, clock: list[float], grain: float, held: dict[int, tuple[float, float, float, float]]) -> None:
        self.grain = grain
        self.held = held
        """Links that earlier operations still hold."""
        self.clock = clock
        self.begins = clock[:]
        """When each processor came to the latest operation."""
        self.steps: list[deque[int]] = [deque() for _ in clock]
        self.gaps: list[deque[float]] = [deque() for _ in clock]
        self.facts: dict[int, Facts] = {}
        self.sent: dict[int, tuple[float, float, float, int]] = {}
        """When each was sent, enters and is ready, and by whom it is sent."""
        self.start: dict[int, float] = {}
        self.arrived: dict[int, float] = {}
        self.times: dict[int, tuple[float, float, float, float]] = {}
        """When each enters, is ready, starts and ends."""
        self.received: list[tuple[int, float, float]] = []
        """What receivers spent: message, waiting, transmission."""
        self.heap: list[tuple[int, int, tuple[int, ...], int, float]] = []
        self.taken: set[int] = set()
        self.waiting: dict[int, list[tuple[tuple[int, int, int], int]]] = {}
        self.starts = 0
        self.now = self.latest = -inf
        self.final = True

    def copy(self) -> "Walk":
        """What may happen from here, if nothing is added."""
        other = Walk(self.clock[:], self.grain, self.held)
        other.begins, other.facts, other.final = self.begins[:], self.facts, False
        other.steps, other.gaps = [each.copy() for each in self.steps], [each.copy() for each in self.gaps]
        other.sent, other.start, other.arrived, other.times = (
            self.sent.copy(),
            self.start.copy(),
            self.arrived.copy(),
            self.times.copy(),
        )
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
            steps.extend(each + first if each > 0 else each - first for each in own)

    def until(self, moment: float) -> None:
        """Let everything happen before a moment."""
        for rank in range(len(self.clock)):
            self._advance(rank)
        while self.heap and self.heap[0][4] < moment:
            _, arrives, _, message, now = heappop(self.heap)
            self.now = now
            links = self.facts[message][0]
            if not arrives:
                if not self._begin(message, now):
                    for link in links:
                        insort(self.waiting.setdefault(link, []), (self._key(message), message))
                continue
            for link in links:
                self.taken.discard(link)
                for other in tuple(self.waiting.get(link, ())):
                    if self._begin(other[1], now):
                        for each in self.facts[other[1]][0]:
                            self.waiting[each].remove(other)
            sent, entered, ready, _ = self.sent[message]
            start = self.start.pop(message)
            self.times[message] = (entered, ready, start, now)
            self.arrived[message] = sent + self.facts[message][6] + (start - ready)
            self._advance(self.facts[message][1])

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
            elif step > 0:
                self._send(step - 1, rank)
            else:
                message = -step - 1
                came = self.arrived.pop(message, None)
                if came is None:
                    return
                reach, before, after = self.facts[message][6:9]
                called = clock[rank] + before
                sent, _, ready, _ = self.sent.pop(message)
                start = self.times[message][2]
                waiting, transmission, kept = receive(sent - called, reach, reach + (start - ready), max)
                self.received.append((message, waiting, transmission))
                clock[rank] = called + kept + after
                if self.final:
                    del self.facts[message]
            steps.popleft()

    def _send(self, message: int, rank: int) -> None:
        links, _, before, busy, entry, lead = self.facts[message][:6]
        sent = self.clock[rank] + before
        ready = sent + lead
        self.sent[message] = (sent, sent + entry, ready, rank)
        at = max(ready, _until(self.held, links, ready, self.grain))
        heappush(self.heap, (round(at / self.grain), 0, self._key(message), message, at))
        self.clock[rank] = sent + busy

    def _begin(self, message: int, now: float) -> bool:
        """Start a message if all its links are free."""
        links = self.facts[message][0]
        if not self.taken.isdisjoint(links):
            return False
        self.taken.update(links)
        self.start[message] = now
        self.starts += 1
        end = now + self.facts[message][9]
        heappush(self.heap, (round(end / self.grain), 1, (self.starts,), message, end))
        return True


Facts = tuple[tuple[int, ...], int, float, float, float, float, float, float, float, float]
"""Of a message: its links, receiver, and the seconds of `_spent`."""


def _held(rows: Array, first: float) -> dict[int, tuple[float, float, float, float]]:
    """Links that messages of earlier operations still hold at the time `first`: their entries in the table."""
    still = np.flatnonzero(rows[0] > first)
    return {
        link: (end, idle, since, begun)
        for link, end, idle, since, begun in zip(still.tolist(), *rows[:, still].tolist(), strict=True)
    }


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
