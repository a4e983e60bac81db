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

Source: ground truth (SimGrid with a concurrency limit of one), whose rule that is where no two events coincide.
"""

from bisect import insort
from collections.abc import Sequence
from heapq import heappop, heappush
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from aag.mapping.distinct import distinct, distinct_with_inverse
from interpreter.models.compute import Cost
from interpreter.models.contention import ALWAYS, SAME, Routes, follow, occupy, record_links, routes_of
from interpreter.state import Run
from sag.machine import NetworkCosts

if TYPE_CHECKING:
    from interpreter.models.message import Pattern

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST = 20_000
"""Messages of an operation, times scenarios, up to which events are followed one by one."""


class Group(Struct, frozen=True, eq=False):
    """Stages whose sends all come before their receives, and do not block, or a single stage."""

    patterns: tuple["Pattern", ...]
    concurrent: bool


class Script(Struct, frozen=True, eq=False):
    """What the processors of an operation do, whatever the clock says: for each its steps in order. A step is a number
    of a message: m + 1 sends it, - m - 1 receives it; what is before each is in `before`."""

    steps: tuple[tuple[int, ...], ...]
    routes: Routes
    links: tuple[tuple[int, ...], ...]
    """Of each message, in the order of its route."""
    destination: Ints


def together(run: Run, network: NetworkCosts, groups: Sequence[Group]) -> list[tuple[Array, ...]] | None:
    """How much later than uncontended each message of an operation arrives, (S, M) for each stage; None where stages
    can be taken one after the other."""
    patterns = [each for group in groups for each in group.patterns]
    count = sum(each.messages for each in patterns)
    if network.switching != "circuit" or not run.setting.contention or run.overlap is not None or not count:
        return None
    if count * run.scenarios > MOST or run.procs * run.scenarios > ALWAYS or any(
            each.crowd is not None for each in patterns):
        return None
    script = _script(run, network, groups)
    if script is None or not follow(run, network, count):
        return None
    spent = _spent(run, network, groups)
    start, ready, entered = (np.empty((run.scenarios, count)) for _ in range(3))
    hold = _columns(run, [(each.hold, each.messages) for each in patterns])
    shortest = [each.shortest for each in patterns if each.shortest]
    grain = SAME * min(shortest) if shortest else 1e-15
    for scenario in range(run.scenarios):
        _events(run, script, scenario, [each[scenario].tolist() for each in (*spent, hold)], grain,
                (start[scenario], ready[scenario], entered[scenario]))
    record_links(run, script.routes, (entered, ready, start, start + hold), grain)
    occupy(run, script.routes, (ready, start, start + hold))
    late = start - ready
    ends = np.cumsum([each.messages for each in patterns])[:-1]
    parts = iter(np.split(late, ends, axis=1))
    result = []
    for group in groups:
        waits = [each.link_wait for each in group.patterns]
        result.append(tuple(next(parts) + (0.0 if wait is None else wait) for wait in waits))
    return result


def _script(run: Run, network: NetworkCosts, groups: Sequence[Group]) -> Script | None:
    """None where no two messages of different processors or groups want the same link."""
    shape = tuple(len(group.patterns) for group in groups)
    key = ("script", shape, *(each.ends for group in groups for each in group.patterns))
    if key in run.memo:
        known = run.memo[key]
        return known if isinstance(known, Script) else None
    patterns = [each for group in groups for each in group.patterns]
    source, destination = (np.concatenate([getattr(each, end) for each in patterns]) for end in (
        "source", "destination"))
    routes = routes_of(run, network, source, destination)
    script = None
    if _meet(routes, source):
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
        script = Script(tuple(map(tuple, steps)), routes, links, destination)
    run.memo[key] = script
    return script


def _meet(routes: Routes, source: Ints) -> bool:
    """Whether a link is wanted by messages of different processors."""
    if not routes.shared:
        return False
    _, first, which = distinct_with_inverse(routes.link)
    sender = source[routes.message]
    return bool((sender != sender[first][which]).any())


def _columns(run: Run, parts: Sequence[tuple[Array, int]]) -> Array:
    """Figures of messages, (S or 1, M or 1) each, side by side: (S, M)."""
    return np.concatenate([np.broadcast_to(each, (run.scenarios, count)) for each, count in parts], axis=1)


def _spent(run: Run, network: NetworkCosts, groups: Sequence[Group]) -> list[Array]:
    """Seconds (S, M): before a send, of a send, until the message enters, until it is ready, from its call until it
    has arrived, before a receive, after a receive."""
    none = np.zeros((1, 1))
    columns: list[list[tuple[Array, int]]] = [[] for _ in range(7)]
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
            figures = (sends, busy, each.entry, each.lead + wait, each.time + wait, before, after)
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


def _events(run: Run, script: Script, scenario: int, columns: list[list[float]], grain: float,
            result: tuple[Array, Array, Array]) -> None:
    """Let the messages of one scenario happen: when each starts, is ready, and enters the network."""
    before_send, busy, entry, lead, reach, before_receive, after, hold = columns
    held = _held(run, script, scenario)
    links, destination = script.links, script.destination.tolist()
    count = len(links)
    clock = run.clock[scenario].tolist()
    place = [0] * len(clock)
    ready, entered, start = [0.0] * count, [0.0] * count, [0.0] * count
    arrived: list[float | None] = [None] * count
    key: list[tuple[int, int, int]] = [(0, 0, 0)] * count
    heap: list[tuple[int, int, tuple[int, ...], int, float]] = []
    taken: set[int] = set()
    waiting: dict[int, list[tuple[tuple[int, int, int], int]]] = {}
    starts = 0

    def advance(rank: int) -> None:
        """Let a processor do all that it can."""
        steps = script.steps[rank]
        while place[rank] < len(steps):
            step = steps[place[rank]]
            if step > 0:
                message = step - 1
                sent = clock[rank] + before_send[message]
                entered[message], ready[message] = sent + entry[message], sent + lead[message]
                key[message] = (round(entered[message] / grain), rank, message)
                at = max(ready[message], _until(held, links[message], ready[message], grain))
                heappush(heap, (round(at / grain), 0, key[message], message, at))
                arrived[message] = None
                clock[rank] = sent + busy[message]
                reaches[message] = sent + reach[message]
            else:
                message = -step - 1
                came = arrived[message]
                if came is None:
                    return
                clock[rank] = max(clock[rank] + before_receive[message], came) + after[message]
            place[rank] += 1

    def begin(message: int, now: float) -> bool:
        """Start a message if all its links are free."""
        nonlocal starts
        if not taken.isdisjoint(links[message]):
            return False
        taken.update(links[message])
        start[message] = now
        starts += 1
        end = now + hold[message]
        heappush(heap, (round(end / grain), 1, (starts,), message, end))
        return True

    reaches = [0.0] * count
    for rank in range(len(clock)):
        advance(rank)
    while heap:
        _, arrives, _, message, now = heappop(heap)
        if not arrives:
            if not begin(message, now):
                for link in links[message]:
                    insort(waiting.setdefault(link, []), (key[message], message))
            continue
        for link in links[message]:
            taken.discard(link)
            for entry_of in tuple(waiting.get(link, ())):
                if begin(entry_of[1], now):
                    for each in links[entry_of[1]]:
                        waiting[each].remove(entry_of)
        arrived[message] = reaches[message] + start[message] - ready[message]
        advance(destination[message])
    result[0][:], result[1][:], result[2][:] = start, ready, entered


def _held(run: Run, script: Script, scenario: int) -> dict[int, tuple[float, float, float, float]]:
    """Links that messages of earlier operations still hold: their entries in the table."""
    table = run.links.table
    assert table is not None
    used = distinct(script.routes.link)
    rows = table[scenario][:, used]
    still = np.flatnonzero(rows[0] > run.clock[scenario].min())
    found = rows[:, still]
    return {link: (end, idle, since, begun) for link, end, idle, since, begun in zip(
        used[still].tolist(), *found.tolist(), strict=True)}


def _until(held: dict[int, tuple[float, float, float, float]], links: tuple[int, ...], ready: float, grain: float
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
