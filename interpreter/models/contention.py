"""Messages that meet on links: circuit switching, first come first served.

A message is ready to enter the network `hold` before it would arrive uncontended: after call overhead, startup and
the latency of its route. It then takes its route when all links of it are free, holds every link for its byte
time, and arrives when it lets go. Of messages that wait, the one that can start first goes first; ties go to the
one that entered the network first (before the latency of its route), then to the lower rank. That is what an event
simulation does; here all messages of a batch are scheduled in rounds, each round committing every message that is
first on all its links.

Across batches a link remembers its latest message: when that was ready, when it starts and ends, and since when the
link had been idle. A message that was ready before that one was (its processor ran ahead) is not held up by it. Nor
is one that finds the link idle while the latest waits for another link of its route: nobody reserves a link. Where the
latest two follow each other without a gap, and both are still to leave, there is a queue, and a message takes its end
whenever it was ready: a link has no more time than there is, whoever gets it first.

Source: ground truth with one circuit for each link and direction (SimGrid with a concurrency limit of one).
"""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from interpreter.models.pattern import Pattern
from interpreter.models.routes import Routes, apart, routes_of
from interpreter.reduce import all_of, any_of
from interpreter.state import Run
from sag.machine import NetworkCosts

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

ALWAYS = 4096
"""Processors x scenarios up to which links are followed from the start."""

LARGEST_LINK_TABLE = 256_000_000
"""Bytes that the times of links may take."""

SAME = 1e-6
"""Times that differ by less than this fraction of the shortest byte time are a tie: rounding must not decide."""


class Flight(Struct, frozen=True):
    """Messages under way: when each send was called, (S, M)."""

    pattern: Pattern
    sent: Array


def delays(run: Run, network: NetworkCosts, flights: Sequence[Flight], *, blocking: bool) -> tuple[Array | None, ...]:
    """How much later than uncontended the messages of each flight arrive; None: not at all."""
    waits = tuple([flight.pattern.link_wait for flight in flights])
    if not _follow(run, network, flights, blocking=blocking):
        return waits
    routes = routes_of(run, network, tuple([flight.pattern.ends for flight in flights]))
    late = _schedule(run, routes, flights)
    if late is None:
        return waits
    if len(flights) == 1:
        return (late if waits[0] is None else late + waits[0],)
    ends = np.cumsum([flight.sent.shape[1] for flight in flights])[:-1]
    parts = np.split(late, ends, axis=1)
    return tuple(part if wait is None else part + wait for part, wait in zip(parts, waits, strict=True))


def _ready(flight: Flight) -> Array:
    """When each message is ready to take its links, (S, M)."""
    ready, wait = flight.sent + flight.pattern.lead, flight.pattern.link_wait
    return ready if wait is None else ready + wait


def _holds(flights: Sequence[Flight]) -> Array:
    """How long each message holds its links, (S or 1, M or 1)."""
    if len(flights) == 1:
        return flights[0].pattern.hold
    return _joined([np.broadcast_to(flight.pattern.hold, flight.sent.shape) for flight in flights])


def _joined(parts: list[Array]) -> Array:
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)


def _follow(run: Run, network: NetworkCosts, flights: Sequence[Flight], *, blocking: bool) -> bool:
    """Whether messages can meet. On many processors links are followed from the first message on that travels more
    than its own link: until then none can meet another."""
    if network.switching != "circuit" or not run.setting.contention:
        return False
    if run.network.links is None:
        many = run.procs * run.scenarios > ALWAYS
        alone = many and apart(network) and blocking and all(flight.pattern.longest <= 1 for flight in flights)
        if alone:
            return False
    return follow(run, network, sum([flight.pattern.messages for flight in flights]))


def follow(run: Run, network: NetworkCosts, count: int) -> bool:
    """Whether links are followed where so many messages are under way at once; from now on they are, if they can be."""
    columns = network.topology.link_count(run.network.size) + 1 if run.network.links is None else 0
    if count > run.setting.contention_messages or 32 * run.scenarios * (columns - 1) > LARGEST_LINK_TABLE:
        not_followed(run)
        return False
    if run.network.links is None:
        run.network.links = np.full((run.scenarios, 4, columns), -np.inf)
    return True


def not_followed(run: Run) -> None:
    """Say that links are not followed."""
    run.books.assume(
        "contention",
        f"link contention is ignored where more than {run.setting.contention_messages} messages are in flight",
    )


def _schedule(run: Run, routes: Routes, flights: Sequence[Flight]) -> Array | None:
    """Start of each message less its readiness, (S, M); None where nobody waits and no decision is recorded."""
    table = run.network.links
    assert table is not None
    if not routes.links.shape[1]:
        return None
    grain = SAME * min([flight.pattern.shortest for flight in flights if flight.pattern.shortest], default=1e-15 / SAME)
    ready, hold = _joined([_ready(flight) for flight in flights]), _holds(flights)
    found = table.take(routes.looked, axis=2)
    if run.recorder is not None:
        run.decide(np.where(np.isfinite(found), found - ready[:, None, :, None], -1.0))
    blocked = _latest(found[:, 0])
    if run.recorder is not None or any_of(blocked > ready):
        blocked = _latest(_held_up(run, found, ready, hold, grain))
    elif not routes.shared:
        _occupy(table, routes, _taken(found, routes), ready, ready, ready + hold)
        return None
    if routes.shared:
        entered = _joined([flight.sent + flight.pattern.entry for flight in flights])
        hold = np.broadcast_to(hold, ready.shape)
        start = _rounds(run, routes.links, entered, ready, blocked, hold, grain)
        _occupy_shared(table, routes, (ready, start, start + hold))
    else:
        start = np.maximum(ready, blocked)
        _occupy(table, routes, _taken(found, routes), ready, start, start + hold)
    late = start - ready
    return late if run.recorder is not None or any_of(late > 0.0) else None


def _latest(times: Array) -> Array:
    """The latest over the links of each route, (S, M, H) -> (S, M)."""
    latest: Array = times[:, :, 0] if times.shape[2] == 1 else times.max(axis=2)
    return latest


def _held_up(run: Run, found: Array, ready: Array, hold: Array, grain: float) -> Array:
    """Until when each message finds each link of its route held (S, M, H); not at all by one that was ready later, or
    waits for another link."""
    held, idle, begun = found[:, 0], found[:, 1], found[:, 3]
    limit = (ready + grain)[:, :, None]
    ahead = found[:, 2:] > limit[:, None]
    if not any_of(ahead):
        return held
    overtakes = ahead[:, 0] & (((ready + hold - grain)[:, :, None] > begun) | (idle > limit))
    if not run.network.overtaken and any_of(overtakes):
        run.network.overtaken = True
    vacant = idle <= limit
    passes = ahead[:, 0] | (ahead[:, 1] & vacant)
    if not any_of(passes):
        return held
    gap = np.where(np.isfinite(idle), begun, 0.0) - np.where(np.isfinite(idle), idle, 0.0) - grain
    run.decide(gap)
    passes &= vacant | (gap > 0.0)
    return np.where(passes, -np.inf, held)


def occupy(run: Run, routes: Routes, times: tuple[Array, Array, Array]) -> None:
    """Links remember the messages of an operation: when they were ready, started and ended."""
    assert run.network.links is not None
    _occupy_shared(run.network.links, routes, times)


def _taken(found: Array, routes: Routes) -> Array:
    """(S, 4, N) what was found of the links that are taken, as a copy."""
    return found.reshape(*found.shape[:2], -1).take(routes.cell, axis=2)


def _occupy(table: Array, routes: Routes, known: Array, *times: Array) -> None:
    """Links remember the message that leaves them last, and when the one before it leaves.

    Rows of the table: end, idle since, readiness, start; `known` (S, 4, N) is what they are of the links that are
    taken, and is changed. `times` of the messages: ready, start, end.
    """
    ready, start, newest = [each.take(routes.message, axis=1) for each in times]
    former, idle, since, begun = known[:, 0], known[:, 1], known[:, 2], known[:, 3]
    later = newest >= former
    if all_of(later):
        idle[...], former[...], since[...], begun[...] = former, newest, ready, start
    else:
        idle[...] = np.where(later, former, np.maximum(idle, newest))
        former[...] = np.maximum(former, newest)
        since[...], begun[...] = np.where(later, ready, since), np.where(later, start, begun)
    table[:, :, routes.link] = known


def _occupy_shared(table: Array, routes: Routes, times: tuple[Array, Array, Array]) -> None:
    """The same where several of the messages take a link: the last of them, and the one before it, count."""
    scenarios, _, columns = table.shape
    cell = routes.link if scenarios == 1 else (np.arange(scenarios)[:, None] * 4 * columns + routes.link).ravel()
    ready, start, end = (each.take(routes.message, axis=1).ravel() for each in times)
    rows = table.reshape(-1)
    order = np.lexsort((end, cell))
    cells = cell[order]
    last = np.flatnonzero(np.append(cells[1:] != cells[:-1], True))
    cell, latest = cells[last], order[last]
    before = np.where((last > 0) & (cells[last - 1] == cell), end[order[last - 1]], -np.inf)
    ready, start, newest = ready[latest], start[latest], end[latest]
    former, idle = rows[cell], rows[cell + columns]
    later = newest >= former
    rows[cell + columns] = np.where(later, np.maximum(former, before), np.maximum(idle, newest))
    rows[cell] = np.maximum(former, newest)
    rows[cell[later] + 2 * columns] = ready[later]
    rows[cell[later] + 3 * columns] = start[later]


def _rounds(run: Run, route: Ints, entered: Array, ready: Array, blocked: Array, hold: Array, grain: float) -> Array:
    """Start of each message when messages of the batch share links, (S, M)."""
    scenarios, messages = ready.shape
    columns = int(route.max()) + 2
    busy = np.full((scenarios, columns), -np.inf)
    start = np.maximum(ready, blocked)
    order = np.zeros((scenarios, messages), np.int64)
    left = np.arange(scenarios * messages)
    round_number = 0
    while left.size:
        scenario, message = left // messages, left % messages
        cells = scenario[:, None] * columns + np.where(route[message] < 0, columns - 1, route[message])
        queue = busy.reshape(-1)[cells].max(axis=1)
        own = np.maximum(ready, blocked).reshape(-1)[left]
        possible = np.maximum(own, queue)
        first = _first(cells, columns, possible, entered.reshape(-1)[left], message, grain)
        if run.recorder is not None:
            _record(run, (scenarios, messages), left, own - queue)
        done = left[first]
        start.reshape(-1)[done] = possible[first]
        order.reshape(-1)[done] = round_number
        leaves = (possible + hold.reshape(-1)[left])[first]
        taken = cells[first]
        busy.reshape(-1)[taken] = np.maximum(busy.reshape(-1)[taken], leaves[:, None])
        busy[:, columns - 1] = -np.inf
        left = left[~first]
        round_number += 1
    if run.recorder is not None:
        run.recorder.choices.append(order)
        _record_order(run, route, start, entered, ready, grain)
    return start


def _first(cells: Ints, columns: int, possible: Array, entered: Array, rank: Ints, grain: float) -> NDArray[np.bool_]:
    """Which messages come before all others on each of their links."""
    place = np.lexsort((rank, np.rint(entered / grain), np.rint(possible / grain)))
    position = np.empty(place.size, np.int64)
    position[place] = np.arange(place.size)
    best = np.full(int(cells.max()) + 1, place.size, np.int64)
    np.minimum.at(best, cells.ravel(), np.repeat(position, cells.shape[1]))
    empty = cells % columns == columns - 1
    wins: NDArray[np.bool_] = ((best[cells] == position[:, None]) | empty).all(axis=1)
    return wins


def _record(run: Run, shape: tuple[int, int], left: Ints, gap: Array) -> None:
    whole = np.full(shape, np.inf)
    whole.reshape(-1)[left] = np.where(np.isfinite(gap), gap, np.inf)
    run.decide(np.where(np.isfinite(whole), whole, 1.0))


def _record_order(
    run: Run, route: Ints, start: Array, entered: Array, ready: Array, grain: float, end: Array | None = None
) -> None:
    """What keeps the order on each link: a message was ready after its predecessor started, or at least entered after
    it. Where neither holds, another link held it up; such an iteration is never taken for a repetition. `end`: when
    each leaves, where it is not known yet who waits for whom."""
    assert run.recorder is not None
    message, position = np.nonzero(route >= 0)
    link = route[message, position]
    pairs = []
    for scenario in range(start.shape[0]):
        key = np.lexsort((message, start[scenario, message], link))
        same = link[key[1:]] == link[key[:-1]]
        pairs.append((message[key[1:]][same], message[key[:-1]][same]))
    shape = (start.shape[0], pairs[0][0].size)
    started, queued, gap = np.empty(shape), np.empty(shape), np.empty(shape)
    identity = np.empty(shape, np.int64)
    for scenario, (after, before) in enumerate(pairs):
        started[scenario] = ready[scenario, after] - start[scenario, before]
        queued[scenario] = entered[scenario, after] - entered[scenario, before]
        identity[scenario] = after * start.shape[1] + before
        if end is not None:
            gap[scenario] = ready[scenario, after] - end[scenario, before]
    queued[np.abs(queued) < grain] = 0.0
    if ((started < 0.0) & (queued < 0.0)).any():
        identity[:, :1] = -1 - run.books.walked
    run.recorder.choices.append(identity)
    run.decide(started)
    run.decide(queued)
    if end is not None:
        run.decide(gap)


def record_links(run: Run, routes: Routes, times: tuple[Array, Array, Array, Array], grain: float) -> None:
    """The decisions about the messages of an operation, when they entered, were ready, started and ended: their order
    on each link, and who waits."""
    entered, ready, start, end = times
    if run.recorder is None or run.network.links is None:
        return
    run.recorder.choices.append(np.argsort(start, axis=1, kind="stable"))
    _record_order(run, routes.links, start, entered, ready, grain, end)
    found = run.network.links.take(routes.looked, axis=2)
    run.decide(np.where(np.isfinite(found), found - ready[:, None, :, None], -1.0))
