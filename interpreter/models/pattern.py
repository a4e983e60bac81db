"""Patterns: the messages of a phase, with all that does not depend on the clock and what is paid for them.

Formula: t(m, h) = call overhead + startup + per_byte * m + per_hop * h, by range of size.
Source: Parashar and Hariri, section 2.3; Def 6, Def 11, Def 21.
"""

from collections import Counter
from collections.abc import Iterable
from typing import TypeVar

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from aag.graph.aau import Work
from interpreter import shared
from interpreter.counts import SENDING, CountColumn, Counts
from interpreter.models.compute import ONCE, Cost, Packing
from interpreter.models.law import RECEIVED, SENT, Kinds, Law, Wire, constant, courses_of, kinds_of, law, wire_of
from interpreter.models.partners import dense_phase, is_dense
from interpreter.models.routes import Ends, Index, ends_of
from interpreter.shared import Classes, Shared
from interpreter.state import Run
from interpreter.tape import DensePhase
from sag.machine import NetworkCosts

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Number = TypeVar("Number", np.int64, np.float64)


class Pattern(Struct, frozen=True, kw_only=True, eq=False):
    """Messages of one phase with all that does not depend on the clock. Times are (S or 1, M or 1).

    Each rank is at most once a source and at most once a destination. `sender` and `receiver` select the same
    ranks as `source` and `destination`, as a slice where they are evenly spaced.
    """

    name: str
    ends: Ends
    source: Ints
    destination: Ints
    size_bytes: Ints | int
    sizes: tuple[tuple[int, int], ...]
    """The commonest sizes in bytes, and how many messages have each."""
    longest: int
    """Largest number of hops."""
    whole_s: float
    """Sum of the times of all messages in scenario 0."""
    dense: DensePhase | None
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
    dues: tuple[tuple[Counts, Index], ...]
    """What is paid for the messages, and by whom."""
    messages: int
    volume: int
    counted: Array
    """Both, (2, 1)."""
    estimated: float

    def bytes_of_each(self) -> Ints:
        """(M,)."""
        return each_of(self.size_bytes, self.source.size)


class Batch(Struct, frozen=True, eq=False):
    """Patterns whose sends all come before their receives, and do not block, if `concurrent`; else a single one."""

    patterns: tuple[Pattern, ...]
    concurrent: bool


def batches_of(patterns: Iterable[Pattern], *, concurrent: bool) -> list[Batch]:
    """Patterns that are under way together if `concurrent`, else one after the other."""
    return [Batch(tuple(patterns), True)] if concurrent else [Batch((each,), False) for each in patterns]


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
    packed: Ints | int = 0,
    combining: Work | None = None,
    software: str = "",
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
        element_bytes: Of the elements that are packed or combined.
        packing: What the sender and the receiver do with each byte or element.
        packed: Where the elements of messages (M,) are strided, or of all of them (see `law.SENT`).
        combining: What the receiver does with each element.
        software: The collective whose run-time software each participant runs first, if it has any.
        together: How many messages are under way at once, where phases are concurrent; None: they are not.
    """
    wire, ends = wire_of(run, network), ends_of(run, network, source, destination)
    kinds = kinds_of(size_bytes, ends.hops, near=ends.near, packed=packed)
    table = law(wire, kinds)
    messages, longest = source.size, ends.longest
    volume = int(kinds.sizes @ kinds.counts) if kinds.size is None else kinds.size * messages
    mutual = None if wire.mutual is None else _mutual(run, source, destination)
    stage = network.collectives[software].stage_software_s if software else None
    alone = combining is None and stage is None
    simple = alone or (messages == run.procs and (combining is None or kinds.size is not None))
    by_processor = is_dense(run, network, messages, longest, together=together) and simple and table.receive is None
    common = _common(kinds, messages)
    if by_processor:
        kinds, table, mutual = _by_mutual(kinds, table, mutual)
    time, call, entry, hold, receive = table.time, table.call, table.entry, table.hold, table.receive
    if not by_processor:
        time, call, entry, hold = kinds.each(time), kinds.each(call), kinds.each(entry), kinds.each(hold)
        receive = None if receive is None else kinds.each(receive)
    exchanged = mutual
    if mutual is not None and (by_processor or constant(mutual)):
        exchanged = mutual if by_processor else mutual[:1]
    elif mutual is not None:
        kinds = kinds.apart()
    pack, unpack = (
        None if packing is None or not volume else packing.of(run, kinds.sizes, kinds.packed & end != 0)
        for end in (SENT, RECEIVED)
    )
    combine = None
    if combining is not None:
        combine = Counts(run.prices.basis(run.prices.of(combining)), kinds.sizes[None, :] / element_bytes)
    if mutual is not None and wire.mutual is not None:
        time = np.where(mutual[None, :], time * wire.mutual, time)
    link_wait = None if wire.queue is None else wire.queue * hold
    blocking = network.send_model == "blocking" and together is None
    sent, received = _dues(run, wire, kinds, exchanged, blocking=blocking)
    sent += [pack] if pack is not None else []
    received += [each for each in (unpack, combine) if each is not None]
    dense = None
    participants = ends.participants() if stage is not None and not by_processor else None
    if by_processor:
        before, after = (None if each is None else each.seconds(each.basis.overhead) for each in (pack, unpack))
        dense, sends, receives = dense_phase(
            run,
            source,
            destination,
            kinds.which if kinds.which is not None or kinds.hops.size == 1 else np.arange(messages),
            arrive=time,
            delayed=None if link_wait is None else time + link_wait,
            busy=time if blocking else call,
            packing=None if before is None else shared.cut(before, slice(None)),
            unpacking=None if after is None else shared.cut(after, slice(None)),
        )
        dues: list[tuple[Counts, Index]] = [(_joined(run, sent, sends), None), (_joined(run, received, receives), None)]
        source = destination = size_bytes = np.zeros(0, np.int64)
        ends = Ends.between(source, source, source)
    else:
        dues = []
        for some, ranks in ((sent, ends.sender), (received, ends.receiver)):
            paid = _joined(run, some, None)
            often = np.asarray(paid.often)
            if often.shape[1] > 1 and kinds.which is not None:
                paid = Counts(paid.basis, often.take(kinds.which, axis=1))
            dues.append((paid, None if messages == run.procs and often.shape[1] == 1 else ranks))
    if stage is not None:
        column = CountColumn(((SENDING, f"network.collectives.{software}.stage_software", 1.0),))
        dues.append((Counts(run.prices.basis(column), ONCE), participants))
    return Pattern(
        name=name,
        ends=ends,
        source=source,
        destination=destination,
        size_bytes=size_bytes,
        sizes=common,
        longest=longest,
        whole_s=table.whole_s,
        dense=dense,
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
        pack=_cost(kinds, pack, dense),
        unpack=_cost(kinds, unpack, dense),
        combine=_cost(kinds, combine, None),
        software=None if stage is None else stage[:, None],
        participants=participants,
        dues=tuple(dues) if messages else (),
        messages=messages,
        volume=volume,
        counted=np.array([[messages], [volume]], np.float64),
        estimated=table.estimated,
    )


def _dues(
    run: Run, wire: Wire, kinds: Kinds, mutual: Bools | None, *, blocking: bool
) -> tuple[list[Counts], list[Counts]]:
    """What senders and receivers pay for kinds of messages, or each message where some are mutual and some are not."""
    courses, often = courses_of(wire, kinds, mutual)
    received = Counts(run.prices.basis(*(column for each in courses for column in each.received)), often)
    if blocking:
        return [Counts(run.prices.basis(*(column for each in courses for column in each.sent)), often)], [received]
    return [Counts(run.prices.basis(*(each.called for each in courses)), often[::3])], [received]


def _joined(run: Run, parts: list[Counts], classes: Classes | None) -> Counts:
    """All columns together; with classes, what those from 1 on pay."""
    often = [np.asarray(each.often) for each in parts]
    width = max(each.shape[1] for each in often)
    table = np.concatenate([np.broadcast_to(each, (len(each), width)) for each in often])
    basis = run.prices.basis(*(column for each in parts for column in each.basis.columns))
    if classes is None:
        return Counts(basis, table)
    values = np.zeros((len(table), classes.count))
    values[:, 1:] = table
    return Counts(basis, Shared(values, classes))


def _cost(kinds: Kinds, counts: Counts | None, dense: DensePhase | None) -> Cost | None:
    """What counts of kinds cost each message; of a dense phase that is known by processor."""
    if counts is None or dense is not None:
        return None
    computation, overhead = (counts.seconds(each) for each in (counts.basis.computation, counts.basis.overhead))
    return Cost(
        None if computation is None else kinds.each(np.asarray(computation)),
        None if overhead is None else kinds.each(np.asarray(overhead)),
    )


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
        packed=_twice(kinds.packed),
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


def _common(kinds: Kinds, messages: int) -> tuple[tuple[int, int], ...]:
    """The commonest sizes, largest first, and how many of the messages have them."""
    if kinds.size is not None:
        return ((kinds.size, messages),) if messages else ()
    often: Counter[int] = Counter()
    for size, count in zip(kinds.sizes.tolist(), kinds.counts.tolist(), strict=True):
        often[size] += count
    return tuple(sorted(often.most_common(4), reverse=True))
