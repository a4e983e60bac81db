"""Point-to-point messages: processors send, links delay, processors receive.

Formula: t(m, h) = call overhead + startup + per_byte * m + per_hop * h, by range of size.
Source: Parashar and Hariri, section 2.3; Def 6, Def 11. When a processor receives is in `receive`.
"""

from collections.abc import Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from interpreter.listeners import Traffic
from interpreter.metrics import COMMUNICATION, WAITING, Tally
from interpreter.models.circuits import MOST, done, together, too_many
from interpreter.models.compute import charge
from interpreter.models.contention import ALWAYS, Flight, delays
from interpreter.models.dense import stays_in_blocks, transfer_dense, transfer_in_blocks
from interpreter.models.pattern import Batch, Pattern
from interpreter.receive import arrival_time, busy_time, receive
from interpreter.reduce import any_of
from interpreter.state import Run
from sag.machine import NetworkCosts

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

MESSAGES_AND_BYTES = slice(Tally.MESSAGES, Tally.BYTES + 1)

MEASURABLE = 1e-12
"""Seconds above which a message is said to have waited for a link."""


def transfer(run: Run, aau: int, batches: Sequence[Batch]) -> None:
    """Let the messages of an operation happen."""
    network = run.machine.network
    if network is None:
        return
    late = together(run, aau, network, batches)
    if late is not None:
        for batch, delay in zip(batches, late, strict=True):
            _messages(run, aau, network, batch, late=delay)
        done(run)
        _refuse_overtaking(run)
        return
    for close, group in groupby(batches, lambda each: stays_in_blocks(run, each)):
        if close:
            transfer_in_blocks(run, aau, network, [batch.patterns[0] for batch in group])
            continue
        for batch in group:
            if all(each.dense is not None for each in batch.patterns):
                transfer_dense(run, aau, network, batch)
            else:
                _messages(run, aau, network, batch)
    _refuse_overtaking(run)
    entry = run.books.table.get(aau)
    if entry is not None and entry.contended and too_many(run, [each for batch in batches for each in batch.patterns]):
        run.books.assume(
            "stages", f"an operation with more than {MOST:,} messages: link contention is resolved stage by stage"
        )


class Overtaken(Exception):
    """A message took a link that one of an earlier operation would then have waited for. Nothing can correct that
    afterwards, unless all operations are followed from the beginning (`Setting.events`)."""


def _refuse_overtaking(run: Run) -> None:
    """Begin anew where following all operations would find other times.

    Raises:
        Overtaken: the interpretation has to begin anew.
    """
    if run.network.overtaken and not run.setting.events and run.procs * run.scenarios <= ALWAYS:
        raise Overtaken


def _messages(
    run: Run, aau: int, network: NetworkCosts, batch: Batch, *, late: Sequence[Array | None] | None = None
) -> None:
    """Let one phase happen after the other as single messages. `late`: how much later each arrives than uncontended,
    where that is known."""
    blocking = network.send_model == "blocking" and not batch.concurrent
    patterns = batch.patterns
    if run.tape is not None:
        run.tape.entries.append(None)
    f = run.network.overlap
    for each in patterns:
        if each.software is not None:
            run.spend(aau, COMMUNICATION, each.software, each.participants)
    before = None if f is None else run.clock.copy()
    flights = [_send(run, aau, each, blocking=blocking) for each in patterns]
    if late is None:
        late = delays(run, network, flights, blocking=blocking)
    for flight, delay in zip(flights, late, strict=True):
        entry = run.books.table.get(aau)
        alone = flight.pattern.link_wait  # what others on the network cost it, whom no message of this program is
        if entry is not None and not entry.contended and delay is not None and delay is not alone:
            entry.contended = any_of((delay if alone is None else delay - alone) > MEASURABLE)
        _receive(run, aau, flight, delay, before)
        run.books.count(aau, MESSAGES_AND_BYTES, flight.pattern.counted)
        for counts, ranks in flight.pattern.dues:
            run.books.pay(aau, counts, ranks)


def _send(run: Run, aau: int, messages: Pattern, *, blocking: bool) -> Flight:
    if messages.pack is not None:
        charge(run, aau, messages.pack, messages.sender)
    sent = run.take(messages.sender)
    busy = busy_time(messages.call, messages.time, run.network.overlap) if blocking else messages.call
    traffic = Traffic("send", messages.destination, messages.bytes_of_each()) if run.timekeeper is not None else None
    run.spend(aau, COMMUNICATION, busy, messages.sender, traffic)
    return Flight(messages, sent)


def _receive(run: Run, aau: int, flight: Flight, delay: Array | None, before: Array | None) -> None:
    messages, sent = flight.pattern, flight.sent
    ready = run.take(messages.receiver)
    gap = sent - ready
    reach, delayed = messages.time, None if delay is None else messages.time + delay
    if run.network.overlap is not None and before is not None:
        came = before if messages.receiver is None else before[:, messages.receiver]
        early = came - sent - messages.call
        run.decide(early)
        reach = arrival_time(messages.call, messages.time, run.network.overlap, early)
        if delay is not None:  # the whole course of the message is later, also for a receiver that comes meanwhile
            early = early - delay
            run.decide(early)
            delayed = arrival_time(messages.call + delay, messages.time + delay, run.network.overlap, early)
    if run.recorder is not None:
        run.decide(gap, 0.0, -reach)
        if delayed is not None:
            run.decide(gap + delayed)
    waiting, transmission, kept = receive(gap, reach, delayed)
    if run.timekeeper is not None:
        traffic = Traffic("receive", messages.source, messages.bytes_of_each())
        run.tell(aau, WAITING, ready, waiting, messages.receiver, traffic)
        taken = transmission if messages.receive is None else transmission + messages.receive
        run.tell(aau, COMMUNICATION, ready + waiting, taken, messages.receiver, traffic)
    ready += kept
    if messages.receive is not None:
        ready += messages.receive
        transmission += messages.receive
    run.put(messages.receiver, ready)
    run.books.note(aau, WAITING, waiting, messages.receiver)
    run.books.note(aau, COMMUNICATION, transmission, messages.receiver)
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
