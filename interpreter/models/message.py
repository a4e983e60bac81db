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
from typing import TypeVar

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace
from numpy.typing import NDArray

from aag.distinct import distinct
from interpreter import shared
from interpreter.listeners import Traffic
from interpreter.metrics import COMMUNICATION, WAITING, Tally
from interpreter.models.circuits import Group, done, together
from interpreter.models.compute import Cost, Packing, charge
from interpreter.models.contention import Flight, delays
from interpreter.models.crowd import Table, crowd_of, crowded, inside, throng, throng_inside
from interpreter.models.law import Kinds, Law, constant, kinds_of, law, wire_of
from interpreter.models.overlap import arrival_time, busy_time
from interpreter.reduce import all_of, any_of
from interpreter.state import Crowd, Run
from sag.machine import NetworkCosts

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Index = Ints | slice | None
Number = TypeVar("Number", np.int64, np.float64)

MESSAGES_AND_BYTES = slice(Tally.MESSAGES, Tally.BYTES + 1)

MEASURABLE = 1e-12
"""Seconds above which a message is said to have waited for a link."""


class Pattern(Struct, frozen=True, kw_only=True, eq=False):
    """Messages of one phase with all that does not depend on the clock. Times are (S or 1, M or 1).

    Each rank is at most once a source and at most once a destination. `sender` and `receiver` select the same
    ranks as `source` and `destination`, as a slice where they are evenly spaced.
    """

    name: str
    ends: "Ends"
    source: Ints
    destination: Ints
    size_bytes: Ints | int
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
    lead: Array
    """From the call of the send until the message is ready to take its links."""
    shortest: float
    """The smallest byte time that is not 0, or 0."""
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
    counted: Array
    """Both, (2, 1)."""
    estimated: float

    def bytes_of_each(self) -> Ints:
        """(M,)."""
        return each_of(self.size_bytes, self.source.size)


def each_of(sizes: Ints | int, messages: int) -> Ints:
    """(M,) of each message."""
    return np.full(messages, sizes) if isinstance(sizes, int) else sizes


def pattern(
    run: Run,
    network: NetworkCosts,
    *,
    name: str,
    source: Ints,
    destination: Ints,
    size_bytes: Ints | int,
    element_bytes: int = 1,
    packing: Packing | None = None,
    combine: Cost | None = None,
    software: Array | None = None,
    together: int | None = None,
) -> Pattern:
    """Price the messages of one phase on the machine of the run.

    Args:
        run: The interpretation.
        network: What messages cost.
        name: For the listener.
        source: (M,) ranks, each once.
        destination: (M,) ranks, each once.
        size_bytes: (M,) of each message, or of all of them.
        element_bytes: Of the elements that are packed.
        packing: What sender and receiver do with each element.
        combine: What the receiver does with the data.
        software: (S or 1, 1) run-time software that each participant runs first.
        together: How many messages are under way at once, where phases are concurrent; None: they are not.
    """
    wire, ends = wire_of(run, network), ends_of(run, network, source, destination)
    kinds = kinds_of(size_bytes, ends.hops, near=ends.near)
    table = law(wire, kinds)
    messages, longest = source.size, ends.longest
    volume = int(kinds.sizes @ kinds.counts) if kinds.size is None else kinds.size * messages
    mutual = None if wire.mutual is None else _mutual(run, source, destination)
    simple = (combine is None and software is None) or (messages == run.procs and _alike(combine))
    by_processor = crowded(run, network, messages, longest, together=together) and simple and table.receive is None
    common = _common(kinds, messages)
    if by_processor:
        kinds, table, mutual = _by_mutual(kinds, table, mutual)
    time, call, entry, hold, receive = table.time, table.call, table.entry, table.hold, table.receive
    if not by_processor:
        time, call, entry, hold = kinds.each(time), kinds.each(call), kinds.each(entry), kinds.each(hold)
        receive = None if receive is None else kinds.each(receive)
    if mutual is not None and wire.mutual is not None:
        time = np.where(mutual[None, :], time * wire.mutual, time)
    link_wait = None if wire.queue is None else wire.queue * hold
    pack = None
    if packing is not None and volume:
        elements = kinds.sizes if by_processor else each_of(size_bytes, messages)
        pack = packing.cost((elements // element_bytes).astype(np.float64), volume / element_bytes, run.procs)
    crowd = None
    if by_processor:
        gathered = None if pack is None or pack.overhead is None else shared.cut(pack.overhead, slice(None))
        blocking = network.send_model == "blocking" and together is None
        crowd = crowd_of(
            run,
            source,
            destination,
            Table(
                which=kinds.which if kinds.which is not None or kinds.hops.size == 1 else np.arange(messages),
                arrive=time,
                queue=link_wait,
                busy=time if blocking else call,
                before=gathered,
                after=gathered,
            ),
        )
        source = destination = size_bytes = np.zeros(0, np.int64)
        ends = Ends.between(source, source, source)
        pack = None if pack is None else Cost(None, None, pack.estimated)
    participants = ends.participants() if software is not None and crowd is None else None
    return Pattern(
        name=name,
        ends=ends,
        source=source,
        destination=destination,
        size_bytes=size_bytes,
        sizes=common,
        longest=longest,
        whole_s=table.whole_s,
        crowd=crowd,
        sender=ends.sender,
        receiver=ends.receiver,
        time=time,
        call=call,
        entry=entry,
        hold=hold,
        lead=time - hold,
        shortest=_shortest(hold),
        link_wait=link_wait,
        receive=receive,
        pack=pack,
        unpack=pack,
        combine=combine,
        software=software,
        participants=participants,
        messages=messages,
        volume=volume,
        counted=np.array([[messages], [volume]], np.float64),
        estimated=table.estimated,
    )


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
    many = run.procs >= shared.MANY
    key = () if many else ("ends", network.topology, source.tobytes(), destination.tobytes())
    known = run.recall(key)
    if isinstance(known, Ends):
        return known
    ends = Ends.between(source, destination, _hops(run, network, source, destination))
    if key:
        run.retain(key, ends, 6 * source.nbytes + 500)
    return ends


def _mutual(run: Run, source: Ints, destination: Ints) -> Bools:
    """(M,) whether the receiver sends to the sender in the same phase."""
    partner = np.full(run.procs, -1, np.int64)
    partner[source] = destination
    both: Bools = partner[destination] == source
    return both


def _by_mutual(kinds: Kinds, table: Law, mutual: Bools | None) -> tuple[Kinds, Law, Bools | None]:
    """The same with kinds that are mutual or not: each kind twice, where some messages are mutual and some are not."""
    if mutual is None or mutual.all() or not mutual.any():
        return kinds, table, None if mutual is None else mutual[:1]
    count = kinds.hops.size
    which = np.arange(count) if kinds.which is None and count > 1 else 0 if kinds.which is None else kinds.which
    which = which + count * mutual
    doubled = Kinds(
        sizes=_twice(kinds.sizes),
        hops=np.tile(kinds.hops, 2),
        counts=np.bincount(which, minlength=2 * count),
        which=which,
        size=kinds.size,
    )
    table = replace(
        table, time=np.tile(table.time, 2), call=_twice(table.call), entry=_twice(table.entry), hold=_twice(table.hold)
    )
    return doubled, table, np.arange(2 * count) >= count


def _twice(column: NDArray[Number]) -> NDArray[Number]:
    """A column for each kind two times over; one for all kinds stays as it is."""
    return column if column.shape[-1] == 1 else np.tile(column, 2)


def _shortest(hold: Array) -> float:
    """The smallest figure above 0; 0 where there is none."""
    least = hold.item() if hold.size == 1 else float(hold.min(initial=np.inf))
    if least <= 0.0:
        least = float(hold.min(initial=np.inf, where=hold > 0.0))
    return least if np.isfinite(least) else 0.0


def _hops(run: Run, network: NetworkCosts, source: Ints, destination: Ints) -> Ints:
    """The hops of each message; one number that is broadcast, where all are as far."""
    many: Ints | None = None
    one = np.zeros(1, np.int64)
    for part in shared.blocks(source.size, shared.BLOCK):
        some = network.topology.hops(run.node.take(source[part]), run.node.take(destination[part]), run.size)
        if many is None:
            one = one if part.start else some[:1]
            if all_of(some == one):
                continue
            many = np.full(source.size, one[0])
        many[part] = some
    return np.broadcast_to(one[0], source.shape) if many is None else many


def _common(kinds: Kinds, messages: int) -> tuple[tuple[int, int], ...]:
    """The commonest sizes, largest first, and how many of the messages have them."""
    if kinds.size is not None:
        return ((kinds.size, messages),) if messages else ()
    often: Counter[int] = Counter()
    for size, count in zip(kinds.sizes.tolist(), kinds.counts.tolist(), strict=True):
        often[size] += count
    return tuple(sorted(often.most_common(4), reverse=True))


def _alike(cost: Cost | None) -> bool:
    """Whether it costs all processors the same."""
    parts = () if cost is None else (cost.computation, cost.overhead)
    return all(part is None or part.shape[1] == 1 for part in parts)


def evenly(ranks: Ints) -> Index:
    """The same ranks as a slice, where they are evenly spaced and ascending: views are cheaper than copies."""
    if ranks.size == 1:
        return slice(int(ranks[0]), int(ranks[0]) + 1)
    if ranks.size and (step := int(ranks[1] - ranks[0])) > 0 and all_of(ranks[1:] - ranks[:-1] == step):
        return slice(int(ranks[0]), int(ranks[-1]) + 1, step)
    return ranks


def transfer(run: Run, aau: int, batches: Sequence[tuple[tuple[Pattern, ...], bool]]) -> None:
    """Messages of an operation: batches of phases that are `concurrent` or not."""
    network = run.machine.network
    if network is None:
        return
    groups = [
        group
        for patterns, concurrent in batches
        for group in ((Group(patterns, True),) if concurrent else [Group((each,), False) for each in patterns])
    ]
    late = together(run, aau, network, groups)
    if late is None:
        for patterns, concurrent in batches:
            _transfer(run, aau, network, patterns, concurrent=concurrent)
        return
    blocking = network.send_model == "blocking"
    for group, delay in zip(groups, late, strict=True):
        _batch(run, aau, network, group.patterns, blocking=blocking and not group.concurrent, late=delay)
    done(run)


def _transfer(run: Run, aau: int, network: NetworkCosts, patterns: Sequence[Pattern], *, concurrent: bool) -> None:
    """The same, where one phase can be decided about after the other."""
    if concurrent:
        if all(each.crowd is not None for each in patterns):
            throng(run, aau, network, patterns, together=True)
        else:
            _batch(run, aau, network, patterns, blocking=False)
        return
    blocking = network.send_model == "blocking"
    for close, group in groupby(patterns, lambda each: inside(run, each)):
        if close:
            throng_inside(run, aau, network, tuple(group))
            continue
        for each in group:
            if each.crowd is None:
                _batch(run, aau, network, (each,), blocking=blocking)
            else:
                throng(run, aau, network, (each,), together=False)


def _batch(
    run: Run,
    aau: int,
    network: NetworkCosts,
    patterns: Sequence[Pattern],
    *,
    blocking: bool,
    late: Sequence[Array | None] | None = None,
) -> None:
    """`late`: how much later each message arrives than uncontended, where that is known."""
    if run.tape is not None:
        run.tape.entries.append(None)
    f = run.overlap
    for each in patterns:
        if each.software is not None:
            run.spend(aau, COMMUNICATION, each.software, each.participants)
    before = None if f is None else run.clock.copy()
    flights = [_send(run, aau, each, blocking=blocking) for each in patterns]
    if late is None:
        late = delays(run, network, flights, blocking=blocking)
    for flight, delay in zip(flights, late, strict=True):
        entry = run.table.get(aau)
        if entry is not None and not entry.contended and delay is not None and delay is not flight.pattern.link_wait:
            entry.contended = any_of(delay > MEASURABLE)
        _receive(run, aau, flight, delay, before)
        run.count(aau, MESSAGES_AND_BYTES, flight.pattern.counted)


def _send(run: Run, aau: int, messages: Pattern, *, blocking: bool) -> Flight:
    if messages.pack is not None:
        charge(run, aau, messages.pack, messages.sender)
    sent = run.take(messages.sender)
    busy = busy_time(messages.call, messages.time, run.overlap) if blocking else messages.call
    traffic = Traffic("send", messages.destination, messages.bytes_of_each()) if run.timekeeper is not None else None
    run.spend(aau, COMMUNICATION, busy, messages.sender, traffic)
    return Flight(messages, sent)


def _receive(run: Run, aau: int, flight: Flight, delay: Array | None, before: Array | None) -> None:
    messages, sent = flight.pattern, flight.sent
    ready = run.take(messages.receiver)
    gap = sent - ready
    needs = messages.time
    early = None
    if run.overlap is not None and before is not None:
        came = before if messages.receiver is None else before[:, messages.receiver]
        early = came - sent - messages.call
        run.decide(early)
        needs = arrival_time(messages.call, messages.time, run.overlap, early)
    if run.recorder is not None:
        run.decide(gap, 0.0, -needs)
    waiting = np.maximum(gap, 0.0)
    exposed = gap + needs
    np.maximum(exposed, 0.0, out=exposed)
    transmission = exposed - waiting
    if delay is not None:
        if early is None or run.overlap is None:
            late = gap + (needs + delay)
        else:  # the whole course of the message is later, also for a receiver that comes when it is under way
            early -= delay
            run.decide(early)
            late = gap + arrival_time(messages.call + delay, messages.time + delay, run.overlap, early)
        run.decide(late)
        late = np.maximum(late, 0.0)
        waiting += late - exposed
        exposed = late
    if run.timekeeper is not None:
        traffic = Traffic("receive", messages.source, messages.bytes_of_each())
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
        run.listener.messages(
            aau,
            messages.name,
            messages.source,
            messages.destination,
            messages.bytes_of_each(),
            sent + run.origin,
            ready + run.origin,
        )
    for cost in (messages.unpack, messages.combine):
        if cost is not None:
            charge(run, aau, cost, messages.receiver)
