"""Dense phases on the clocks: what `message` does to senders and receivers, for a block of processors at a time."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from interpreter import shared
from interpreter.metrics import COMMUNICATION, WAITING, Tally
from interpreter.models.contention import not_followed
from interpreter.models.partners import Flip
from interpreter.models.pattern import Batch, Pattern
from interpreter.models.routes import apart
from interpreter.receive import receive
from interpreter.remembered import remembered
from interpreter.shared import BLOCK, blocks, cut
from interpreter.state import Run
from interpreter.tape import DensePhase, DensePhases, Tape
from sag.machine import NetworkCosts

Array = NDArray[np.float64]


def transfer_dense(run: Run, aau: int, network: NetworkCosts, batch: Batch) -> None:
    """Let the messages of a batch happen."""
    phases, together = batch.patterns, batch.concurrent
    tape, run.tape = run.tape, None
    seen = tape if run.books.active is None and run.books.weight == 1.0 else None
    dense = tuple(each.dense for each in phases if each.dense is not None)
    parts = blocks(run.procs, _length(run))
    gaps = []
    for each, phase in zip(phases, dense, strict=True):
        for part in parts if phase.before is not None or each.software is not None else ():
            _prepare(run, each, phase, part)
        gap = np.empty_like(run.clock) if together else _scratch(run)
        for part in parts:
            phase.partners.clocks(run.clock, part, gap[:, part])
        if together:
            shared.add(run.clock, phase.busy)
            gaps.append(gap)
            continue
        for part in parts:
            run.clock[:, part] += cut(phase.busy, part)
            _arrive(run, aau, each, phase, gap[:, part], part, seen)
    for each, phase, gap in zip(phases, dense, gaps, strict=True) if together else ():
        for part in parts:
            _arrive(run, aau, each, phase, gap[:, part], part, seen)
    for each in phases:
        _enter(run, aau, network, each)
    run.tape = tape
    if tape is not None:
        plain = all(each.combine is None and each.software is None for each in phases)
        flips = any(isinstance(phase.partners, Flip) for phase in dense)  # a wave would reach everybody at once
        known = seen is not None and plain and not flips
        tape.entries.append(DensePhases(aau=aau, phases=dense, together=together) if known else None)


def transfer_in_blocks(run: Run, aau: int, network: NetworkCosts, phases: Sequence[Pattern]) -> None:
    """Let phases happen in which all partners are in the same block: one block does them all before the next."""
    if run.tape is not None:
        run.tape.entries.append(None)
    tape, run.tape = run.tape, None
    gap = np.empty((run.scenarios, min(_length(run), run.procs)))  # both are powers of two here
    for part in blocks(run.procs, _length(run)):
        for each in phases:
            if each.dense is not None:
                _prepare(run, each, each.dense, part)
                each.dense.partners.clocks(run.clock, part, gap)
                run.clock[:, part] += cut(each.dense.busy, part)
                _arrive(run, aau, each, each.dense, gap, part, None)
    for each in phases:
        _enter(run, aau, network, each)
    run.tape = tape


def stays_in_blocks(run: Run, batch: Batch) -> bool:
    """Whether it is a single phase in which partners are in the same block of processors."""
    dense = batch.patterns[0].dense
    return not batch.concurrent and dense is not None and 0 < dense.partners.reach <= _length(run)


def _length(run: Run) -> int:
    """Processors in a block: a power of two."""
    return 1 << max(0, (BLOCK // run.scenarios).bit_length() - 1)


@remembered()
def _scratch(run: Run) -> Array:
    """A number for each processor and scenario, always the same: new memory costs as much as its use."""
    return np.empty_like(run.clock)


def _prepare(run: Run, messages: Pattern, phase: DensePhase, part: slice) -> None:
    """What a block of processors does before it sends."""
    clock = run.clock[:, part]
    if phase.before is not None:
        clock += cut(phase.before, part)
    if messages.software is not None:
        clock += messages.software


def _arrive(
    run: Run, aau: int, messages: Pattern, phase: DensePhase, gap: Array, part: slice, tape: Tape | None
) -> None:
    """Receive, and use what came, on a block of processors. `gap`: their partners' clocks when these began to send."""
    clock = run.clock[:, part]
    gap -= clock
    delayed = None if phase.delayed is None else cut(phase.delayed, part)
    waiting, transmission, kept = receive(gap, cut(phase.arrive, part), delayed)
    clock += kept
    if waiting.max() > 0.0:
        _note(run, aau, WAITING, waiting, part, tape)
    _note(run, aau, COMMUNICATION, transmission, part, tape)
    if phase.after is not None:
        clock += cut(phase.after, part)
    for cost in () if messages.combine is None else (messages.combine.computation, messages.combine.overhead):
        if cost is not None:
            clock += cut(cost, part)


def _note(run: Run, aau: int, category: int, seconds: Array, part: slice, tape: Tape | None) -> None:
    """Enter what a block waited or received for: on the tape, whose sums the ledger gets after the iteration."""
    if tape is None:
        run.books.note(aau, category, seconds, part)
        return
    spent = tape.spent.get((aau, category))
    if spent is None:
        spent = tape.spent[aau, category] = np.zeros_like(run.clock)
    spent[:, part] += seconds


def _enter(run: Run, aau: int, network: NetworkCosts, messages: Pattern) -> None:
    """Enter what a phase costs whatever the clocks are; count its messages, and say what was left out."""
    if (
        network.switching == "circuit"
        and run.setting.contention
        and (messages.longest > 1 or not apart(network) or network.send_model != "blocking")
    ):
        not_followed(run)
    phase = messages.dense
    assert phase is not None
    for seconds in (messages.software, phase.busy):
        if seconds is not None:
            run.books.note(aau, COMMUNICATION, seconds)
    for counts, ranks in messages.dues:
        run.books.pay(aau, counts, ranks)
    run.books.count(aau, Tally.MESSAGES, messages.messages)
    run.books.count(aau, Tally.BYTES, messages.volume)
