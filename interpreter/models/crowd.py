"""Phases of messages in which most of very many processors take part: charged by processor instead of by message.

What `message` does to senders and receivers is done here to all processors, a block of them at a time. Messages that
are alike share their figures (`interpreter.shared`), and partners that are as far apart everywhere (shifts in a grid,
stages of a butterfly) are not looked up one by one.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from interpreter import shared
from interpreter.metrics import COMMUNICATION, WAITING, Tally
from interpreter.models.contention import not_followed
from interpreter.models.receive import receive
from interpreter.models.routes import apart
from interpreter.remembered import remembered
from interpreter.shared import BLOCK, Classes, Shared, blocks, classes_of, cut
from interpreter.state import Crowd, Partners, Run, Tape, Thronged
from sag.machine import NetworkCosts

if TYPE_CHECKING:
    from interpreter.models.pattern import Pattern

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

SPARSE = 4
"""A phase is charged by processor where at least one in so many takes part."""


class Flip(Struct, frozen=True):
    """All exchange with rank xor a power of two."""

    bit: int

    @property
    def reach(self) -> int:
        """Twice the power."""
        return 2 * self.bit

    def clocks(self, clock: Array, part: slice, out: Array) -> None:
        """The partners' clocks; blocks are aligned powers of two."""
        length = part.stop - part.start
        if self.reach <= length:
            shape = (len(out), -1, 2, self.bit)
            out.reshape(shape)[...] = clock[:, part].reshape(shape)[:, :, ::-1]
        else:
            first = part.start ^ self.bit
            out[...] = clock[:, first : first + length]

    def sources(self, ranks: Ints) -> Ints:
        """From whom some processors receive."""
        return ranks ^ self.bit

    def destinations(self, ranks: Ints) -> Ints:
        """The same."""
        return ranks ^ self.bit


class Shift(Struct, frozen=True):
    """Who receives does so from the processor whose rank is higher by `by`."""

    by: int
    receives: Classes
    """Class 0: from nobody."""
    sends: Classes
    """Class 0: to nobody."""
    absent: Ints
    """Ranks that receive from nobody, ascending."""

    @property
    def reach(self) -> int:
        """Unknown."""
        return 0

    def clocks(self, clock: Array, part: slice, out: Array) -> None:
        """The partners' clocks; where there is no partner it never sent."""
        first, last = max(0, part.start + self.by), min(clock.shape[1], part.stop + self.by)
        at = first - part.start - self.by
        out[:, at : at + max(0, last - first)] = clock[:, first : max(first, last)]
        low, high = np.searchsorted(self.absent, (part.start, part.stop))
        out[:, self.absent[low:high] - part.start] = -np.inf

    def sources(self, ranks: Ints) -> Ints:
        """From whom some processors receive."""
        return np.where(self.receives.number[ranks] > 0, ranks + self.by, ranks)

    def destinations(self, ranks: Ints) -> Ints:
        """To whom some processors send."""
        return np.where(self.sends.number[ranks] > 0, ranks - self.by, ranks)


class Listed(Struct, frozen=True, eq=False):
    """Any permutation of some processors."""

    source: Ints
    """(P,) from whom each receives; itself where it does not."""
    inverse: list[Ints] = field(default_factory=list)
    """To whom each sends, once it was asked for."""

    @property
    def reach(self) -> int:
        """Unknown."""
        return 0

    def clocks(self, clock: Array, part: slice, out: Array) -> None:
        """The partners' clocks, one by one."""
        for row, times in zip(out, clock, strict=True):
            times.take(self.source[part], out=row, mode="clip")  # they are all in range: other modes use a buffer

    def sources(self, ranks: Ints) -> Ints:
        """From whom some processors receive."""
        return self.source[ranks]

    def destinations(self, ranks: Ints) -> Ints:
        """To whom some processors send."""
        if not self.inverse:
            own = np.arange(self.source.size)
            receivers = np.flatnonzero(self.source != own)
            own[self.source[receivers]] = receivers
            self.inverse.append(own)
        return self.inverse[0][ranks]


class Table(Struct, frozen=True, kw_only=True):
    """What each kind of message costs, (S or 1, U)."""

    which: Ints | None
    """(M,) kind of each message; None: all are alike."""
    arrive: Array
    queue: Array | None
    busy: Array
    before: Array | None
    after: Array | None


def crowded(run: Run, network: NetworkCosts, messages: int, longest: int, *, together: int | None = None) -> bool:
    """Whether a phase is charged by processor: very many messages that do not meet on links (or are not followed).

    `together`: all messages that are under way at once, where phases are concurrent. Their sends do not block, so
    that one processor has several messages under way, which can meet even on their own links.
    """
    at_once = messages if together is None else together
    if run.procs * run.scenarios < shared.MANY or SPARSE * at_once < run.procs:
        return False
    if run.overlap is not None or run.listener:
        return False
    if network.switching != "circuit" or not run.setting.contention or at_once > run.setting.contention_messages:
        return True
    return together is None and longest <= 1 and apart(network) and network.send_model == "blocking"


def crowd_of(run: Run, source: Ints, destination: Ints, table: Table) -> tuple[Crowd, Classes | None, Classes | None]:
    """The messages of a phase by processor, and the classes of those who send and who receive: from 1 on those of each
    kind of message; None: all are alike."""
    everybody = source.size == run.procs
    flip = _flip(source, destination) if everybody and run.procs & (run.procs - 1) == 0 else 0
    if table.which is None and everybody:
        partners: Partners = Flip(flip) if flip else _listed(run, source, destination)
        crowd = Crowd(
            partners=partners,
            arrive=table.arrive,
            queue=table.queue,
            busy=table.busy,
            before=table.before,
            after=table.after,
        )
        return crowd, None, None
    kinds = table.arrive.shape[1]
    receives = _classes(run, destination, table.which, kinds)
    sends = _classes(run, source, table.which, kinds)
    crowd = Crowd(
        partners=Flip(flip) if flip else _partners(run, source, destination, receives, sends),
        arrive=_spread(table.arrive, receives, -np.inf),
        queue=None if table.queue is None else _spread(table.queue, receives, 0.0),
        busy=_spread(table.busy, sends, 0.0),
        before=None if table.before is None else _spread(table.before, sends, 0.0),
        after=None if table.after is None else _spread(table.after, receives, 0.0),
    )
    return crowd, sends, receives


def _classes(run: Run, ranks: Ints, which: Ints | None, kinds: int) -> Classes:
    """Class 0: who has no message; then those with a message of each kind."""
    classes = classes_of(run.procs, kinds + 1)
    classes.number[ranks] = 1 if which is None else which + 1
    return classes


def _spread(column: Array, classes: Classes, otherwise: float) -> Shared:
    values = np.full((column.shape[0], classes.count), otherwise)
    values[:, 1:] = column
    return Shared(values, classes)


def _partners(run: Run, source: Ints, destination: Ints, receives: Classes, sends: Classes) -> Partners:
    by = int(source[0] - destination[0])
    if all((source[part] - destination[part] == by).all() for part in blocks(source.size, BLOCK)):
        absent = np.flatnonzero(receives.number == 0)
        if SPARSE * absent.size < run.procs:
            return Shift(by, receives, sends, absent)
    return _listed(run, source, destination)


def _listed(run: Run, source: Ints, destination: Ints) -> Listed:
    partner = np.arange(run.procs)
    partner[destination] = source
    return Listed(partner)


def _flip(source: Ints, destination: Ints) -> int:
    """The power of two by whose xor all exchange; 0 if they do not."""
    flip = int(source[0] ^ destination[0])
    if not flip or flip & (flip - 1):
        return 0
    return flip if all((source[part] ^ destination[part] == flip).all() for part in blocks(source.size, BLOCK)) else 0


def throng(run: Run, aau: int, network: NetworkCosts, phases: Sequence["Pattern"], *, together: bool) -> None:
    """As `message` does phases one after the other or, if `together`, all sends before all receives."""
    tape, run.tape = run.tape, None
    seen = tape if run.active is None and run.weight == 1.0 else None
    crowds = tuple(each.crowd for each in phases if each.crowd is not None)
    parts = blocks(run.procs, _length(run))
    gaps = []
    for each, crowd in zip(phases, crowds, strict=True):
        for part in parts if crowd.before is not None or each.software is not None else ():
            _prepare(run, each, crowd, part)
        gap = np.empty_like(run.clock) if together else _scratch(run)
        for part in parts:
            crowd.partners.clocks(run.clock, part, gap[:, part])
        if together:
            shared.add(run.clock, crowd.busy)
            gaps.append(gap)
            continue
        for part in parts:
            run.clock[:, part] += cut(crowd.busy, part)
            _arrive(run, aau, each, crowd, gap[:, part], part, seen)
    for each, crowd, gap in zip(phases, crowds, gaps, strict=True) if together else ():
        for part in parts:
            _arrive(run, aau, each, crowd, gap[:, part], part, seen)
    for each in phases:
        _enter(run, aau, network, each)
    run.tape = tape
    if tape is not None:
        plain = all(each.combine is None and each.software is None for each in phases)
        flips = any(isinstance(crowd.partners, Flip) for crowd in crowds)  # a wave would reach everybody at once
        known = seen is not None and plain and not flips
        tape.entries.append(Thronged(aau=aau, crowds=crowds, together=together) if known else None)


def throng_inside(run: Run, aau: int, network: NetworkCosts, phases: Sequence["Pattern"]) -> None:
    """As `throng` for phases in which all partners are in the same block: one block does them all before the next."""
    if run.tape is not None:
        run.tape.entries.append(None)
    tape, run.tape = run.tape, None
    gap = np.empty((run.scenarios, min(_length(run), run.procs)))  # both are powers of two here
    for part in blocks(run.procs, _length(run)):
        for each in phases:
            if each.crowd is not None:
                _prepare(run, each, each.crowd, part)
                each.crowd.partners.clocks(run.clock, part, gap)
                run.clock[:, part] += cut(each.crowd.busy, part)
                _arrive(run, aau, each, each.crowd, gap, part, None)
    for each in phases:
        _enter(run, aau, network, each)
    run.tape = tape


def inside(run: Run, messages: "Pattern") -> bool:
    """Whether partners are in the same block of processors."""
    return messages.crowd is not None and 0 < messages.crowd.partners.reach <= _length(run)


def _length(run: Run) -> int:
    """Processors in a block: a power of two."""
    return 1 << max(0, (BLOCK // run.scenarios).bit_length() - 1)


@remembered()
def _scratch(run: Run) -> Array:
    """Room for one number for each processor and scenario, always the same: new memory costs as much as its use."""
    return np.empty_like(run.clock)


def _prepare(run: Run, messages: "Pattern", crowd: Crowd, part: slice) -> None:
    """What a block of processors does before it sends."""
    clock = run.clock[:, part]
    if crowd.before is not None:
        clock += cut(crowd.before, part)
    if messages.software is not None:
        clock += messages.software


def _arrive(run: Run, aau: int, messages: "Pattern", crowd: Crowd, gap: Array, part: slice, tape: Tape | None) -> None:
    """Receive, and use what came, on a block of processors. `gap`: their partners' clocks when these began to send."""
    clock = run.clock[:, part]
    gap -= clock
    reach = cut(crowd.arrive, part)
    delayed = None if crowd.queue is None else reach + cut(crowd.queue, part)
    waiting, transmission, kept = receive(gap, reach, delayed)
    clock += kept
    if waiting.max() > 0.0:
        _note(run, aau, WAITING, waiting, part, tape)
    _note(run, aau, COMMUNICATION, transmission, part, tape)
    if crowd.after is not None:
        clock += cut(crowd.after, part)
    for cost in () if messages.combine is None else (messages.combine.computation, messages.combine.overhead):
        if cost is not None:
            clock += cut(cost, part)


def _note(run: Run, aau: int, category: int, seconds: Array, part: slice, tape: Tape | None) -> None:
    """Enter what a block waited or received for: on the tape, whose sums the ledger gets after the iteration."""
    if tape is None:
        run.note(aau, category, seconds, part)
        return
    spent = tape.spent.get((aau, category))
    if spent is None:
        spent = tape.spent[aau, category] = np.zeros_like(run.clock)
    spent[:, part] += seconds


def _enter(run: Run, aau: int, network: NetworkCosts, messages: "Pattern") -> None:
    """Enter what a phase costs whatever the clocks are; count its messages, and say what was left out."""
    if (
        network.switching == "circuit"
        and run.setting.contention
        and (messages.longest > 1 or not apart(network) or network.send_model != "blocking")
    ):
        not_followed(run)
    crowd = messages.crowd
    assert crowd is not None
    for seconds in (messages.software, crowd.busy):
        if seconds is not None:
            run.note(aau, COMMUNICATION, seconds)
    for counts, ranks in messages.dues:
        run.pay(aau, counts, ranks)
    run.count(aau, Tally.MESSAGES, messages.messages)
    run.count(aau, Tally.BYTES, messages.volume)
