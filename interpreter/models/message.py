"""Point-to-point messages: call overhead, transmission and waiting, on both sides (Def 6).

    sender    |--call--|======= transmission =======|            blocking: busy until the bytes have left
              s                                     a
    receiver        r |..waiting..|==transmission==|             arrives at a = s + t(m, h) if no link is busy

Formula: t(m, h) = call overhead + startup + per_byte * m + per_hop * h, by range of size.
Formula: receiver: waiting = max(0, s - r) + time spent for links, transmission = rest of max(0, a - r).
Source: Parashar and Hariri, section 2.3; Def 6, Def 11.

The overlap factor f hides a fraction of each transmission behind computation: a transmission that would take x
takes (1 - f) x of its processor's time, once, also where a processor sends and receives at the same time.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from aag.mapping.distinct import distinct, distinct_with_inverse
from interpreter.listeners import Traffic
from interpreter.metrics import COMMUNICATION, OVERHEAD, WAITING, Tally
from interpreter.models.compute import Cost
from interpreter.models.contention import Flight, apart, delays, not_followed
from interpreter.models.overlap import arrival_time, busy_time
from interpreter.state import Crowd, Run, Thronged
from sag.machine import NetworkCosts

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Index = Ints | slice | None

CROWD = 65_536
"""Processors x scenarios from which on phases in which most take part are charged by processor."""

BLOCK = 32_768
"""Processors x scenarios of a crowd that are charged at a time."""

FEW = 64
"""Messages of a phase up to which each is priced by itself."""

MEASURABLE = 1e-12
"""Seconds above which a message is said to have waited for a link."""


class Pattern(Struct, frozen=True, kw_only=True, eq=False):
    """Messages of one phase with all that does not depend on the clock. Times are (S or 1, M or 1).

    Each rank is at most once a source and at most once a destination. `sender` and `receiver` select the same
    ranks as `source` and `destination`, as a slice where they are evenly spaced.
    """

    name: str
    source: Ints
    destination: Ints
    size_bytes: Ints
    sizes: tuple[tuple[int, int], ...]
    """The commonest sizes in bytes, and how many messages have each."""
    longest: int
    """Largest number of hops."""
    whole_s: float
    """Sum of the times of all messages in scenario 0."""
    crowd: Crowd | None
    """The same messages by processor, where there are very many; `source` and so on are empty then."""
    sender: Index
    receiver: Index
    time: Array
    """t(m, h), the exchange factor included."""
    call: Array
    """Call overhead, the part that keeps the sender busy in every send model."""
    entry: Array
    """From the call of the send until the message enters the network: call overhead and startup."""
    hold: Array
    """Byte time: how long a link is held."""
    link_wait: Array | None
    """Waiting for links under the load of other programs (Def 11)."""
    receive: Array | None
    """Overhead at the receiver."""
    pack: Cost | None
    unpack: Cost | None
    combine: Cost | None
    """What the receiver does with the data."""
    software: Array | None
    """Run-time software that each participant runs first."""
    participants: Index
    messages: int
    volume: int
    estimated: float


class Kinds(Struct, frozen=True, kw_only=True, eq=False):
    """The distinct messages of a phase: size and hops (U,), how many there are of each, and which each one is; None
    where all are alike."""

    sizes: Ints
    hops: Ints
    counts: Ints
    which: Ints | None

    def each(self, column: Array) -> Array:
        """(S or 1, U) figures of the kinds -> one for each message, or a single column where all are equal."""
        if column.shape[1] == 1 or bool((column == column[:, :1]).all()):
            return column[:, :1]
        return column if self.which is None else np.take(column, self.which, axis=1)


def constant(values: NDArray[np.generic]) -> bool:
    """Whether all of a vector are equal; known at once of one number that is broadcast."""
    return values.strides == (0,) or bool((values == values[:1]).all())


def kinds_of(sizes: Ints, hops: Ints) -> Kinds:
    """Sort messages by size and hops."""
    near = constant(hops)
    if near and constant(sizes):
        return Kinds(sizes=sizes[:1], hops=hops[:1], counts=np.array([sizes.size]), which=None)
    if sizes.size <= FEW:
        return Kinds(sizes=sizes, hops=hops, counts=np.ones_like(sizes), which=None)
    _, first, which = distinct_with_inverse(sizes if near else hops * (int(sizes.max()) + 1) + sizes)
    return Kinds(sizes=sizes[first], hops=hops[first], counts=np.bincount(which), which=which)


def law(network: NetworkCosts, sizes: Ints, hops: Ints, counts: Ints
        ) -> tuple[Array, Array, Array, Array, Array, float]:
    """t(m, h), call overhead, that and startup, byte time and receive overhead of each kind of message, each (S or 1,
    U), and the estimated share of t over `counts` messages of each kind.
    """
    bounds = np.array([each.upto_bytes for each in network.ranges[:-1]])
    where = np.searchsorted(bounds, sizes, side="left") if bounds.size else np.zeros(sizes.size, np.int64)
    used = distinct(where)
    scenarios = max(max(each.per_byte_s.size, each.startup_s.size, each.call_overhead_s.size, each.per_hop_s.size,
                        each.receive_overhead_s.size) for each in network.ranges)
    columns = [np.empty((scenarios, sizes.size)) for _ in range(5)]
    guessed = 0.0
    for number in used:
        costs = network.ranges[number]
        chosen = slice(None) if used.size == 1 else np.flatnonzero(where == number)
        call, per_byte = costs.call_overhead_s[:, None], costs.per_byte_s[:, None]
        hold = per_byte * sizes[chosen]
        entry = call + costs.startup_s[:, None]
        whole = entry + hold + costs.per_hop_s[:, None] * hops[chosen]
        figures = (whole, call, entry, hold, costs.receive_overhead_s[:, None])
        for column, value in zip(columns, figures, strict=True):
            column[:, chosen] = value
        guessed += float((whole[0] * counts[chosen]).sum()) if costs.estimated else 0.0
    total = float((columns[0][0] * counts).sum())
    time, call, entry, hold, receive = columns
    return time, call, entry, hold, receive, guessed / total if total else 0.0


def pattern(run: Run, network: NetworkCosts, *, name: str, source: Ints, destination: Ints, size_bytes: Ints,
            pack: Cost | None = None, unpack: Cost | None = None, combine: Cost | None = None,
            software: Array | None = None) -> Pattern:
    """Price the messages of one phase on the machine of the run."""
    hops = _hops(run, network, source, destination)
    kinds = kinds_of(size_bytes, hops)
    table = law(network, kinds.sizes, kinds.hops, kinds.counts)
    time, call, entry, hold, receive = (kinds.each(column) for column in table[:5])
    estimated = table[5]
    whole = float((table[0][0] * kinds.counts).sum())
    factor = network.exchange_factor
    if (factor != 1.0).any():
        partner = np.full(run.procs, -1, np.int64)
        partner[source] = destination
        both = partner[destination] == source
        time = np.where(both[None, :], time * factor[:, None], time)
    link_wait = None
    if (network.load > 0.0).any():
        link_wait = (network.load / (2.0 * (1.0 - network.load)))[:, None] * hold
    software = None if software is None or not software.any() else software[:, None]
    crowd = None
    common = _common(kinds)
    longest, messages, volume = int(kinds.hops.max(initial=0)), int(source.size), int(kinds.sizes @ kinds.counts)
    everybody = messages == run.procs
    simple = (combine is None and software is None) or (everybody and _alike(combine))
    if simple and not receive.any() and _crowded(run, network, messages, longest):
        busy = time if network.send_model == "blocking" else call
        crowd = _crowd(run, source, destination, time, link_wait, busy, pack, unpack)
        source = destination = size_bytes = np.zeros(0, np.int64)
        pack = unpack = None
        hold, entry = hold[:, :1], entry[:, :1]
    participants = None
    if software is not None and crowd is None:
        participants = evenly(distinct(np.concatenate([source, destination])))
    return Pattern(
        name=name, source=source, destination=destination, size_bytes=size_bytes, sizes=common, longest=longest,
        whole_s=whole, crowd=crowd, sender=evenly(source), receiver=evenly(destination),
        time=time if crowd is None else time[:, :1], call=call, entry=entry, hold=hold,
        link_wait=link_wait, receive=receive if receive.any() else None, pack=pack, unpack=unpack,
        combine=combine, software=software, participants=participants, messages=messages,
        volume=volume, estimated=estimated,
    )


def _hops(run: Run, network: NetworkCosts, source: Ints, destination: Ints) -> Ints:
    """The hops of each message; one number that is broadcast, where all are as far."""
    many: Ints | None = None
    one = np.zeros(1, np.int64)
    for first in range(0, source.size, BLOCK):
        part = slice(first, first + BLOCK)
        some = network.topology.hops(run.node.take(source[part]), run.node.take(destination[part]), run.size)
        if many is None:
            one = one if first else some[:1]
            if (some == one).all():
                continue
            many = np.full(source.size, one[0])
        many[part] = some
    return np.broadcast_to(one[0], source.shape) if many is None else many


def _common(kinds: Kinds) -> tuple[tuple[int, int], ...]:
    """The commonest sizes, largest first, and how many messages have them."""
    often: Counter[int] = Counter()
    for size, count in zip(kinds.sizes.tolist(), kinds.counts.tolist(), strict=True):
        often[size] += count
    return tuple(sorted(often.most_common(4), reverse=True))


def _crowded(run: Run, network: NetworkCosts, messages: int, longest: int) -> bool:
    """Whether a phase is charged by processor: very many messages that do not meet on links (or are not followed)."""
    if run.procs * run.scenarios < CROWD or 4 * messages < run.procs or run.overlap is not None or run.listener:
        return False
    if network.switching != "circuit" or not run.setting.contention or messages > run.setting.contention_messages:
        return True
    return longest <= 1 and apart(network) and network.send_model == "blocking"


def _crowd(run: Run, source: Ints, destination: Ints, time: Array, queue: Array | None, busy: Array,
           pack: Cost | None, unpack: Cost | None) -> Crowd:
    everybody = source.size == run.procs
    flip = int(source[0] ^ destination[0]) if everybody and run.procs & (run.procs - 1) == 0 else 0
    partner = None
    if not flip or flip & (flip - 1) or not ((source ^ destination) == flip).all():
        partner = np.arange(run.procs)
        partner[destination] = source
    return Crowd(
        source=partner, flip=flip,
        arrive=time if everybody and time.shape[1] == 1 else _spread(run, destination, time, -np.inf),
        queue=queue if queue is None or queue.shape[1] == 1 else _spread(run, destination, queue, 0.0),
        busy=busy if everybody and busy.shape[1] == 1 else _spread(run, source, busy, 0.0),
        before=None if pack is None or pack.overhead is None else _spread(run, source, pack.overhead, 0.0),
        after=None if unpack is None or unpack.overhead is None else _spread(run, destination, unpack.overhead, 0.0),
    )


def _alike(cost: Cost | None) -> bool:
    """Whether it costs all processors the same."""
    parts = () if cost is None else (cost.computation, cost.overhead)
    return all(part is None or part.shape[1] == 1 for part in parts)


def _spread(run: Run, ranks: Ints, column: Array, otherwise: float) -> Array:
    """One entry for each processor."""
    full = np.full((column.shape[0], run.procs), otherwise)
    for row, values in zip(full, column, strict=True):
        row[ranks] = values
    return full


def evenly(ranks: Ints) -> Index:
    """The same ranks as a slice, where they are evenly spaced and ascending: views are cheaper than copies."""
    if ranks.size == 1:
        return slice(int(ranks[0]), int(ranks[0]) + 1)
    if ranks.size and (step := int(ranks[1] - ranks[0])) > 0 and bool((np.diff(ranks) == step).all()):
        return slice(int(ranks[0]), int(ranks[-1]) + 1, step)
    return ranks


def transfer(run: Run, aau: int, patterns: Sequence[Pattern], *, concurrent: bool = False) -> None:
    """Messages of several phases: one phase after the other, or all sends before all receives."""
    network = run.machine.network
    if network is None:
        return
    if concurrent:
        _batch(run, aau, network, patterns, blocking=False)
        return
    blocking = network.send_model == "blocking"
    for inside, group in groupby(patterns, lambda each: _inside(run, each)):
        if inside:
            _throng_inside(run, aau, network, tuple(group))
            continue
        for each in group:
            _batch(run, aau, network, (each,), blocking=blocking)


def _batch(run: Run, aau: int, network: NetworkCosts, patterns: Sequence[Pattern], *, blocking: bool) -> None:
    if len(patterns) == 1 and patterns[0].crowd is not None:
        _throng(run, aau, network, patterns[0], patterns[0].crowd)
        return
    if run.tape is not None:
        run.tape.append(None)
    f = run.overlap
    for each in patterns:
        if each.software is not None:
            run.spend(aau, COMMUNICATION, each.software, each.participants)
    before = None if f is None else run.clock.copy()
    flights = [_send(run, aau, each, blocking=blocking) for each in patterns]
    late = delays(run, network, flights, blocking=blocking)
    for flight, delay in zip(flights, late, strict=True):
        entry = run.table.get(aau)
        if entry is not None and not entry.contended and delay is not None and delay is not flight.pattern.link_wait:
            entry.contended = bool((delay > MEASURABLE).any())
        _receive(run, aau, flight, delay, before)
        run.count(aau, Tally.MESSAGES, flight.pattern.messages)
        run.count(aau, Tally.BYTES, flight.pattern.volume)


def _throng(run: Run, aau: int, network: NetworkCosts, messages: Pattern, crowd: Crowd) -> None:
    """As `_batch` for very many processors: every array has one entry for each of them."""
    tape, run.tape = run.tape, None
    parts = _blocks(run)
    for part in parts if crowd.before is not None or messages.software is not None else ():
        _prepare(run, aau, messages, crowd, part)
    gap = np.empty_like(run.clock) if tape is not None else _scratch(run)
    _partners_clocks(crowd, run.clock, gap)
    waiting = np.empty_like(run.clock) if tape is not None else None
    for part in parts:
        waited = _arrive(run, aau, messages, crowd, gap[:, part], part)
        if waiting is not None:
            waiting[:, part] = waited
    _thronged(run, aau, network, messages)
    run.tape = tape
    if tape is not None and waiting is not None:
        tape.append(Thronged(aau=aau, messages=crowd, waiting=waiting, transmission=gap))


def _throng_inside(run: Run, aau: int, network: NetworkCosts, phases: Sequence[Pattern]) -> None:
    """As `_throng` for phases in which all partners are in the same block: one block does them all before the next."""
    gap = np.empty((run.scenarios, min(_length(run), run.procs)))  # both are powers of two here
    for part in _blocks(run):
        for each in phases:
            if each.crowd is not None:
                _prepare(run, aau, each, each.crowd, part)
                _partners_clocks(each.crowd, run.clock[:, part], gap)
                _arrive(run, aau, each, each.crowd, gap, part)
    for each in phases:
        _thronged(run, aau, network, each)


def _inside(run: Run, messages: Pattern) -> bool:
    """Whether partners are in the same block of processors, and nobody wants to know the times of each phase."""
    crowd = messages.crowd
    return crowd is not None and crowd.source is None and run.tape is None and 2 * crowd.flip <= _length(run)


def _length(run: Run) -> int:
    """Processors in a block: a power of two, and so few that what is done to them stays in the processor's cache."""
    return 1 << max(0, (BLOCK // run.scenarios).bit_length() - 1)


def _blocks(run: Run) -> list[slice]:
    length = _length(run)
    return [slice(first, min(first + length, run.procs)) for first in range(0, run.procs, length)]


def _cut(figures: Array, part: slice) -> Array:
    """The figures (S or 1, P or 1) of a block."""
    return figures if figures.shape[1] == 1 else figures[:, part]


def _scratch(run: Run) -> Array:
    """Room for one number for each processor and scenario, always the same: new memory costs as much as its use."""
    known = run.memo.get(("scratch",))
    if not isinstance(known, np.ndarray):
        known = run.memo["scratch",] = np.empty_like(run.clock)
    return known


def _partners_clocks(crowd: Crowd, clock: Array, out: Array) -> None:
    """The clock of whom each receives from, (S, P)."""
    if crowd.source is None:
        shape = (len(out), -1, 2, crowd.flip)
        out.reshape(shape)[...] = clock.reshape(shape)[:, :, ::-1]
        return
    for row, times in zip(out, clock, strict=True):
        times.take(crowd.source, out=row, mode="clip")  # they are all in range: other modes use a buffer


def _prepare(run: Run, aau: int, messages: Pattern, crowd: Crowd, part: slice) -> None:
    """What a block of processors does before it sends."""
    if crowd.before is not None:
        run.spend(aau, OVERHEAD, _cut(crowd.before, part), part)
    if messages.software is not None:
        run.spend(aau, COMMUNICATION, messages.software, part)


def _arrive(run: Run, aau: int, messages: Pattern, crowd: Crowd, gap: Array, part: slice) -> Array:
    """Send, receive and use what came, on a block of processors. `gap`: their partners' clocks at the start, and what
    they received for at the end; answers what they waited."""
    clock, busy = run.clock[:, part], _cut(crowd.busy, part)
    clock += busy
    gap -= clock
    waiting = np.maximum(gap, 0.0)
    gap += _cut(crowd.arrive, part)
    late = None if crowd.queue is None else np.maximum(gap + _cut(crowd.queue, part), 0.0)
    np.maximum(gap, 0.0, out=gap)
    clock += gap if late is None else late
    if late is not None:
        late -= gap
    gap -= waiting
    if late is not None:
        waiting += late
    if waiting.max() > 0.0:
        run.note(aau, WAITING, waiting, part)
    run.note(aau, COMMUNICATION, gap + busy, part)
    if crowd.after is not None:
        run.spend(aau, OVERHEAD, _cut(crowd.after, part), part)
    _spend(run, aau, messages.combine, part)
    return waiting


def _thronged(run: Run, aau: int, network: NetworkCosts, messages: Pattern) -> None:
    """Count the messages of a crowd, and say what was left out."""
    if network.switching == "circuit" and run.setting.contention and (
            messages.longest > 1 or not apart(network) or network.send_model != "blocking"):
        not_followed(run)
    _guess(run, aau, messages.combine)
    run.count(aau, Tally.MESSAGES, messages.messages)
    run.count(aau, Tally.BYTES, messages.volume)


def _work(run: Run, aau: int, cost: Cost | None, ranks: Index) -> None:
    """Computation and overhead of some processors."""
    _spend(run, aau, cost, ranks)
    _guess(run, aau, cost)


def _spend(run: Run, aau: int, cost: Cost | None, ranks: Index) -> None:
    if cost is not None and cost.computation is not None:
        run.spend(aau, 0, cost.computation, ranks)
    if cost is not None and cost.overhead is not None:
        run.spend(aau, OVERHEAD, cost.overhead, ranks)


def _guess(run: Run, aau: int, cost: Cost | None) -> None:
    if cost is not None and cost.estimated.any():
        run.count(aau, Tally.ESTIMATED_S, cost.estimated)


def _send(run: Run, aau: int, messages: Pattern, *, blocking: bool) -> Flight:
    _work(run, aau, messages.pack, messages.sender)
    sent = run.take(messages.sender)
    busy = busy_time(messages.call, messages.time, run.overlap) if blocking else messages.call
    traffic = Traffic("send", messages.destination, messages.size_bytes) if run.timekeeper is not None else None
    run.spend(aau, COMMUNICATION, busy, messages.sender, traffic)
    return Flight(messages, sent)


def _receive(run: Run, aau: int, flight: Flight, delay: Array | None, before: Array | None) -> None:
    messages, sent = flight.pattern, flight.sent
    ready = run.take(messages.receiver)
    gap = sent - ready
    needs = messages.time
    if run.overlap is not None and before is not None:
        needs = _overlapped(run, messages, sent, before, run.overlap)
    run.decide(gap, 0.0, -needs)
    waiting = np.maximum(gap, 0.0)
    exposed = gap + needs
    np.maximum(exposed, 0.0, out=exposed)
    transmission = exposed - waiting
    if delay is not None:
        late = gap + (needs + delay)
        run.decide(late)
        late = np.maximum(late, 0.0)
        waiting += late - exposed
        exposed = late
    if run.timekeeper is not None:
        traffic = Traffic("receive", messages.source, messages.size_bytes)
        run.tell(aau, WAITING, ready, waiting, messages.receiver, traffic)
        taken = transmission if messages.receive is None else transmission + messages.receive
        run.tell(aau, COMMUNICATION, ready + waiting, taken, messages.receiver, traffic)
    ready += exposed
    if messages.receive is not None:
        ready += messages.receive
        transmission += messages.receive
    run.put(messages.receiver, ready)
    run.note(aau, WAITING, waiting, messages.receiver)
    run.note(aau, COMMUNICATION, transmission, messages.receiver)
    if run.listener is not None:
        run.listener.messages(aau, messages.name, messages.source, messages.destination, messages.size_bytes,
                              sent + run.origin, ready + run.origin)
    _work(run, aau, messages.unpack, messages.receiver)
    _work(run, aau, messages.combine, messages.receiver)


def _overlapped(run: Run, messages: Pattern, sent: Array, before: Array, f: Array) -> Array:
    came = before if messages.receiver is None else before[:, messages.receiver]
    early = came - sent - messages.call
    run.decide(early)
    return arrival_time(messages.call, messages.time, f, early)
