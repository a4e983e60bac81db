"""Messages of one operation that meet on links, stage after stage.

`contention` decides about the messages of one stage before those of the next. Where messages of different stages want
the same links, a processor that runs ahead may send one of a later stage before others send theirs of an earlier one.
Here the processors of an operation go through their sends and receives, and whatever comes first is done first
(`interpreter.events`).

A processor may also run ahead into the next operation while messages of earlier ones are under way. What happens before
the moment at which the first processor comes to the new one is final. From there on everything is followed once more:
what messages of earlier operations waited for is corrected in the ledger, and so are the clocks.

An operation whose own messages never meet needs no events, and none are kept of it. If a message of a later one takes a
link that one of such an operation then would have had to wait for, the whole walk begins anew, and keeps the events of
all operations (`Overtaken`).
"""

from collections.abc import Sequence
from math import inf

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from aag.distinct import distinct_with_inverse
from interpreter.events import BATCH, EventWalk, Script, Window, held_links
from interpreter.listeners import Correctable
from interpreter.metrics import COMMUNICATION, WAITING
from interpreter.models.compute import Cost
from interpreter.models.contention import ALWAYS, SAME, follow, occupy, record_links
from interpreter.models.pattern import Batch, Pattern
from interpreter.models.routes import Ends, Routes, routes_of
from interpreter.receive import busy_time
from interpreter.remembered import remembered
from interpreter.state import Run
from sag.machine import NetworkCosts

Array = NDArray[np.float64]

MOST = 20_000
"""Messages of an operation, times scenarios, up to which events are followed one by one."""


def together(run: Run, aau: int, network: NetworkCosts, groups: Sequence[Batch]) -> list[tuple[Array, ...]] | None:
    """How much later than uncontended each message of an operation arrives, (S, M) for each stage; None where stages
    can be taken one after the other: where links serve both directions, or all processors, they never are."""
    patterns = [each for group in groups for each in group.patterns]
    count = sum(each.messages for each in patterns)
    if not count:  # nothing happens: what is under way stays so
        return None
    window, run.network.window = run.network.window, None
    if network.switching != "circuit" or not run.setting.contention:
        return None
    if too_many(run, patterns):
        return None
    window = window if window is not None and may_meet(run, window) else None
    ends_of = tuple(each.ends for each in patterns)
    alone = window is None and network.duplex == "full" and network.topology.kind != "bus"
    if (alone and not run.setting.events and not _meet(run, network, ends_of)) or not follow(run, network, count):
        return None
    script = _script(run, network, groups, ends_of)
    shortest = [each.shortest for each in patterns if each.shortest]
    grain = SAME * min(shortest) if shortest else 1e-15
    now = run.clock + run.origin
    if window is None:
        window = _opened(run, grain)
    operation = _Operation(aau, script, routes_of(run, network, ends_of), _spent(run, network, groups), now)
    late = _follow(run, window, operation, grain)
    run.network.window, run.network.followed = window, max(run.network.followed, count)
    ends = np.cumsum([each.messages for each in patterns])[:-1]
    parts = iter(np.split(late, ends, axis=1))
    result = []
    for group in groups:
        waits = [each.link_wait for each in group.patterns]
        result.append(tuple(next(parts) + (0.0 if wait is None else wait) for wait in waits))
    return result


def too_many(run: Run, patterns: Sequence[Pattern]) -> bool:
    """Whether an operation has more messages than are followed one by one: stages come one after the other then."""
    count = sum(each.messages for each in patterns)
    large = count * run.scenarios > MOST or run.procs * run.scenarios > ALWAYS
    return large or any(each.dense is not None for each in patterns)


def done(run: Run) -> None:
    """The operation that was last followed is complete."""
    if run.network.window is not None:
        run.network.window.end = run.clock + run.origin


def may_meet(run: Run, window: Window) -> bool:
    """Whether what is sent from now on may meet messages that are under way, and may correct what was told of them."""
    if run.books.weight != 1.0 or run.books.active is not None:
        return False
    if run.timekeeper is not None and not isinstance(run.timekeeper, Correctable):
        return False
    first = run.clock.min(axis=1) + run.origin[:, 0] - window.base[:, 0]
    return any(walk.latest > earliest for walk, earliest in zip(window.walks, first.tolist(), strict=True))


def _opened(run: Run, grain: float) -> Window:
    table = run.network.links
    assert table is not None
    overlap = np.zeros(run.scenarios) if run.network.overlap is None else run.network.overlap[:, 0]
    walks = [
        EventWalk(clock.tolist(), grain, f, held_links(links, float(clock.min())))
        for clock, f, links in zip(run.clock, np.broadcast_to(overlap, run.scenarios).tolist(), table, strict=True)
    ]
    none = [np.empty((0, 4))] * len(walks)
    return Window(walks, run.origin.copy(), run.clock + run.origin, [], [], [{} for _ in walks], none)


class _Operation(Struct, frozen=True, eq=False):
    aau: int
    script: Script
    routes: Routes
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
        run.network.overtaken |= ahead.overtaken or walk.overtaken
        window.courses[scenario] = np.array(list(ahead.times.values())).reshape(-1, 4)
        begins[scenario] = ahead.begins
        for message in range(count):
            times[:, scenario, message] = ahead.times[first + message]
        walk.times = {message: each for message, each in walk.times.items() if message in walk.facts}
    shift = window.base - run.origin
    if first:
        run.clock[...] = begins + shift
    if changes:
        if run.recorder is not None:  # what an iteration costs is known in a later one only
            run.recorder.choices.append(np.full((run.scenarios, 1), -1 - run.books.walked))
        if isinstance(run.timekeeper, Correctable):
            run.timekeeper.corrected()
        for (aau, category), change in changes.items():
            run.books.note(aau, category, change)
    entered, ready, start, end = (each + shift for each in times)
    record_links(run, operation.routes, (entered, ready, start, end), grain)
    occupy(run, operation.routes, (ready, start, end))
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
    steps: list[list[int]] = [[] for _ in range(run.procs)]
    first = 0
    for group in groups:
        ends = [first := first + each.messages for each in group.patterns]
        spans = list(zip(group.patterns, ends, strict=True))
        for rank in {rank for each in group.patterns for rank in each.destination.tolist()}:
            steps[rank].append(BATCH)
        for receiving in (False, True):
            for each, end in spans:
                ranks = each.destination if receiving else each.source
                for message, rank in enumerate(ranks.tolist(), end - each.messages):
                    steps[rank].append(-message - 1 if receiving else message + 1)
    links = tuple(tuple(link for link in row if link >= 0) for row in routes_of(run, network, ends_of).links.tolist())
    return Script(tuple(map(tuple, steps)), links, destination)


def _columns(run: Run, parts: Sequence[tuple[Array, int]]) -> Array:
    """Figures of messages, (S or 1, M or 1) each, side by side: (S, M)."""
    return np.concatenate([np.broadcast_to(each, (run.scenarios, count)) for each, count in parts], axis=1)


def _spent(run: Run, network: NetworkCosts, groups: Sequence[Batch]) -> list[Array]:
    """Seconds (S, M): of software and of packing before a send, of a send, until the message enters, until it is
    ready, until its call is over, until it has arrived, before a receive, after a receive, for which it holds its
    links."""
    none = np.zeros((1, 1))
    f = run.network.overlap
    columns: list[list[tuple[Array, int]]] = [[] for _ in range(10)]
    for group in groups:
        for each in group.patterns:
            wait = none if each.link_wait is None else each.link_wait
            blocking = network.send_model == "blocking" and not group.concurrent
            busy = busy_time(each.call, each.time, f) if blocking else each.call
            after = _cost(each.unpack) + _cost(each.combine) + (none if each.receive is None else each.receive)
            software = before = none
            if each.software is not None:
                sending = np.zeros(run.procs, np.bool_)
                sending[each.source] = True
                before = each.software * ~sending[each.destination]
                software = each.software
            times = (each.entry, each.lead + wait, each.call + wait, each.time + wait)
            figures = (software, _cost(each.pack), busy, *times, before, after, each.hold)
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
