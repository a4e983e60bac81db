"""The message law on the machine of a run: what messages of a size and distance take (Def 6).

Formula: t(m, h) = call overhead + startup + per_byte * m + per_hop * h, by range of size.
Source: Parashar and Hariri, section 2.3; Def 6, Def 11.
"""

from bisect import bisect_left

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from aag.distinct import distinct, distinct_with_inverse
from interpreter.counts import RECEIVING, SENDING, CountColumn
from interpreter.reduce import all_of
from interpreter.remembered import remembered
from interpreter.state import Run
from sag.figures import EXCHANGED, range_name
from sag.machine import MessageRange, NetworkCosts

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

FEW = 64
"""Messages of a phase up to which each is priced by itself."""


class Rates(Struct, frozen=True, kw_only=True, eq=False):
    """The law in a range of sizes, (S or 1, 1) each."""

    call: Array
    entry: Array
    """Call overhead and startup."""
    per_byte: Array
    per_hop: Array
    receive: Array
    receives: bool
    """Whether that costs anything."""
    guessed: tuple[float, float, float]
    """What of a message, of a byte and of a hop is only estimated, in scenario 0."""


class MessageFees(Struct, frozen=True, kw_only=True):
    """What a message pays in a range of sizes: a start-up, its bytes and its hops, three columns each."""

    sent: tuple[CountColumn, ...]
    """By a sender that is busy until the message has left."""
    called: CountColumn
    """By a sender that is not."""
    received: tuple[CountColumn, ...]


class Wire(Struct, frozen=True, kw_only=True, eq=False):
    """What a network says of all messages, in the shapes that are computed with."""

    courses: tuple[tuple[MessageFees, MessageFees], ...]
    """Of each range, for a message that goes one way and for one of an exchange."""
    bounds: tuple[float, ...]
    """Largest size of each range but the last."""
    network: NetworkCosts
    rates: tuple[Rates, ...]
    mutual: Array | None
    """(S or 1, 1) by which two-way exchanges take longer; None: they do not."""
    queue: Array | None
    """(S or 1, 1) waiting for links under the load of others, in byte times (Def 11); None: there is none."""


SENT, RECEIVED = 1, 2
"""Where elements of a message are strided: where they come from, where they arrive, or both together."""


class Kinds(Struct, frozen=True, kw_only=True, eq=False):
    """The distinct messages of a phase: size and hops (U,), where they are packed (U or 1,; see `SENT`), how many there
    are of each, and which each one is; None where all are alike or each is a kind of its own."""

    sizes: Ints
    hops: Ints
    packed: Ints
    counts: Ints
    which: Ints | None
    size: int | None
    """Of all, where they are equally long."""

    def apart(self) -> "Kinds":
        """The same with each message a kind of its own."""
        if self.which is None:
            return self
        sizes, hops, packed = (
            each.take(self.which) if each.size > 1 else each for each in (self.sizes, self.hops, self.packed)
        )
        counts = np.ones_like(self.which)
        return Kinds(sizes=sizes, hops=hops, packed=packed, counts=counts, which=None, size=self.size)

    def each(self, column: Array) -> Array:
        """(S or 1, U or 1) figures of the kinds -> one for each message, or a single column where all are equal."""
        if column.shape[1] == 1 or all_of(column == column[:, :1]):
            return column[:, :1]
        return column if self.which is None else np.take(column, self.which, axis=1)


class Law(Struct, frozen=True, kw_only=True, eq=False):
    """What each kind of message takes, (S or 1, U or 1) each."""

    time: Array
    """t(m, h)."""
    call: Array
    entry: Array
    hold: Array
    """Byte time."""
    receive: Array | None
    """Overhead at the receiver."""
    whole_s: float
    """Sum of the times of all messages in scenario 0."""
    estimated: float
    """Share of that which is only estimated."""


def constant(values: NDArray[np.generic]) -> bool:
    """Whether all of a vector are equal; known at once of one number that is broadcast."""
    return values.strides == (0,) or all_of(values == values[:1])


@remembered()
def wire_of(_: Run, network: NetworkCosts) -> Wire:
    """The network of the run as a wire."""
    busy, slower = network.load > 0.0, network.exchange_factor != 1.0
    return Wire(
        courses=tuple((_course(*each, ""), _course(*each, EXCHANGED)) for each in enumerate(network.ranges)),
        bounds=tuple(each.upto_bytes for each in network.ranges[:-1]),
        network=network,
        rates=tuple(map(_rates, network.ranges)),
        mutual=network.exchange_factor[:, None] if slower.any() else None,
        queue=(network.load / (2.0 * (1.0 - network.load)))[:, None] if busy.any() else None,
    )


def _course(number: int, costs: MessageRange, exchanged: str) -> MessageFees:
    name = range_name(costs, number)
    keys = [f"{name}.{key}{exchanged}" for key in ("startup", "per_byte", "per_hop")]
    sent, received = [[CountColumn(((side, key, 1.0),)) for key in keys] for side in (SENDING, RECEIVING)]
    if costs.receive_overhead_s.any():
        received[0] = CountColumn((*received[0].fees, (RECEIVING, f"{name}.receive_overhead", 1.0)))
    called = f"{name}.call_overhead" if costs.call_apart else f"{name}.startup"
    return MessageFees(sent=tuple(sent), called=CountColumn(((SENDING, called, 1.0),)), received=tuple(received))


def courses_of(wire: Wire, kinds: Kinds, mutual: NDArray[np.bool_] | None) -> tuple[list[MessageFees], Array]:
    """What kinds of messages pay, those that are `mutual` as exchanges (U or 1): the courses that they take, and
    (3 C, U or 1) start-ups, bytes and hops of each, one course below the other."""
    sizes, hops = kinds.sizes, kinds.hops
    number = np.atleast_1d(np.asarray(_ranges_of(wire, kinds), np.int64))
    which_of = 2 * number + (0 if mutual is None else mutual)
    found = distinct(which_of).tolist()
    shape = np.broadcast_shapes(sizes.shape, hops.shape, which_of.shape)
    often = np.empty((3, *shape))
    often[0], often[1], often[2] = 1.0, sizes, hops
    if len(found) > 1:
        often = np.concatenate([often * (which_of == each) for each in found])
    return [wire.courses[each // 2][each % 2] for each in found], often


def _rates(costs: MessageRange) -> Rates:
    call = costs.call_overhead_s[:, None]
    return Rates(
        call=call,
        entry=call + costs.startup_s[:, None],
        per_byte=costs.per_byte_s[:, None],
        per_hop=costs.per_hop_s[:, None],
        receive=costs.receive_overhead_s[:, None],
        receives=bool(costs.receive_overhead_s.any()),
        guessed=_guessed(costs),
    )


def _guessed(costs: MessageRange) -> tuple[float, float, float]:
    entry = costs.call_overhead_s + costs.startup_s  # the call is a part of the start-up, which is what was measured
    figures = {"startup": entry, "per_byte": costs.per_byte_s, "per_hop": costs.per_hop_s}
    message, byte, hop = (float(each[0]) if key in costs.estimated else 0.0 for key, each in figures.items())
    return message, byte, hop


def _share(rates: Rates, sizes: Ints | int, hops: Ints, counts: Ints) -> float:
    """The estimated seconds of messages, in scenario 0."""
    entry, byte, hop = rates.guessed
    if not (entry or byte or hop):
        return 0.0
    return float(((entry + byte * sizes + hop * hops) * counts).sum())


def kinds_of(sizes: Ints | int, hops: Ints, *, near: bool, packed: Ints | int = 0) -> Kinds:
    """Sort messages by size, hops, and where they are packed; one number where that is the same of all. `near`: all
    are as far."""
    lengths, packs = _column(sizes), _column(packed)
    size = int(lengths[0]) if lengths.size == 1 else None
    count = hops.size
    if near and lengths.size == packs.size == 1:
        return Kinds(sizes=lengths, hops=hops[:1], packed=packs, counts=np.array([count]), which=None, size=size)
    if count <= FEW:
        each = np.ones(count, np.int64)
        return Kinds(sizes=lengths, hops=hops, packed=packs, counts=each, which=None, size=size)
    key = np.zeros(1, np.int64) if near else hops
    for column, largest in ((lengths, int(lengths.max())), (packs, SENT | RECEIVED)):
        if column.size > 1:
            key = key * (largest + 1) + column
    _, first, which = distinct_with_inverse(key)
    return Kinds(
        sizes=lengths if lengths.size == 1 else lengths[first],
        hops=hops[first],
        packed=packs if packs.size == 1 else packs[first],
        counts=np.bincount(which),
        which=which,
        size=size,
    )


def _column(values: Ints | int) -> Ints:
    """What belongs to each message; one number where it is the same of all."""
    if isinstance(values, int):
        return np.array([values])
    return np.array([values[0] if values.size else 0]) if constant(values) else values


def _ranges_of(wire: Wire, kinds: Kinds) -> Ints | int:
    """The number of the range of each kind; one number where it is the same of all."""
    if wire.network.by_distance:
        return wire.network.range_of(kinds.sizes, kinds.hops)
    if kinds.size is not None:
        return bisect_left(wire.bounds, kinds.size)
    return np.searchsorted(np.array(wire.bounds), kinds.sizes, side="left")


def law(wire: Wire, kinds: Kinds) -> Law:
    """The times of each kind of message, and the estimated share over all messages."""
    where = _ranges_of(wire, kinds)
    if not isinstance(where, int):
        used = distinct(where).tolist()
        if len(used) > 1:
            return _mixed(wire, kinds, where, used)
        where = used[0]
    rates = wire.rates[where]
    hold = rates.per_byte * (kinds.sizes if kinds.size is None else kinds.size)
    time = rates.entry + hold + rates.per_hop * kinds.hops
    whole = float((time[0] * kinds.counts).sum())
    return Law(
        time=time,
        call=rates.call,
        entry=rates.entry,
        hold=hold,
        receive=rates.receive if rates.receives else None,
        whole_s=whole,
        estimated=_share(rates, kinds.sizes if kinds.size is None else kinds.size, kinds.hops, kinds.counts) / whole
        if whole
        else 0.0,
    )


def _mixed(wire: Wire, kinds: Kinds, where: Ints, used: list[int]) -> Law:
    """The same for messages of several ranges."""
    sizes, hops = np.broadcast_to(kinds.sizes, where.shape), np.broadcast_to(kinds.hops, where.shape)
    scenarios = max(
        len(figure) for each in wire.rates for figure in (each.per_byte, each.entry, each.per_hop, each.receive)
    )
    time, call, entry, hold, receive = columns = [np.empty((scenarios, where.size)) for _ in range(5)]
    guessed = 0.0
    for number in used:
        rates, chosen = wire.rates[number], np.flatnonzero(where == number)
        own = rates.per_byte * sizes[chosen]
        whole = rates.entry + own + rates.per_hop * hops[chosen]
        for column, value in zip(columns, (whole, rates.call, rates.entry, own, rates.receive), strict=True):
            column[:, chosen] = value
        guessed += _share(rates, sizes[chosen], hops[chosen], kinds.counts[chosen])
    total = float((time[0] * kinds.counts).sum())
    return Law(
        time=time,
        call=call,
        entry=entry,
        hold=hold,
        receive=receive if receive.any() else None,
        whole_s=total,
        estimated=guessed / total if total else 0.0,
    )
