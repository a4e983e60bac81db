"""Loops on very many processors in which only few still differ from the rest: their fronts are walked alone (D5).

A processor whose clock, and whose partners' clocks, moved by the common amount d in the last iteration, does the same
again in the next one: an iteration commutes with moving all clocks that it looks at. Only where a disturbance passes
(the idle wave that a slow row of processors sends through the grid, one neighbour further in each iteration) is there
anything to compute. So: let U be the processors that moved by something else than d. In the next iteration only those
can do something new that receive, along the phases, something that came from U (A); and what these do depends on
those that they receive from (R). The iteration is done again on R, from a tape of what it does, and A is kept.

    . . . . . . . .        . settled: moves by d
    . R A U A R . .        U moved otherwise, A may move otherwise next, R is needed to tell
    . . . . . . . .

What settled processors spend is what they spent when they last moved otherwise, or in the last full iteration. Only
waiting and exposed transmission can differ from iteration to iteration; the rest is the same for ever.
"""

from collections.abc import Callable

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from interpreter.metrics import COMMUNICATION, WAITING, Ledger
from interpreter.receive import receive
from interpreter.shared import of
from interpreter.tape import Busy, DensePhase, DensePhases, Tape

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

FEW = 8
"""Fronts are walked alone where at most one in so many processors has not settled."""


class Wave(Struct, kw_only=True, eq=False):
    """What is known of a loop that is about to be walked by its fronts; arrays have one entry for each processor."""

    clock: Array
    """(P,) in a frame that moves on by `pace` in each iteration: constant where a processor has settled."""
    pace: float
    moving: Ints
    """Ranks that have not settled (U)."""


def tell_apart(now: Array, then: Array, noise: float) -> Wave | None:
    """The wave of two successive clocks (P,); None where too many processors have not settled."""
    moved = now - then
    pace = float(np.median(moved[:: max(1, moved.size // 1001)]))
    moving = np.flatnonzero(np.abs(moved - pace) > noise)
    if moving.size * FEW > moved.size:
        return None
    return Wave(clock=now.copy(), pace=pace, moving=moving)


def playable(tape: Tape) -> bool:
    """Whether an iteration can be done again on some processors."""
    return bool(tape.entries) and all(entry is not None for entry in tape.entries)


class Front:
    """Walks the remaining iterations of a loop by its fronts."""

    def __init__(self, tape: Tape, total: Ledger, tell: Callable[[int], None]) -> None:
        self.tape = tape
        self.tell = tell
        """Told the number of each iteration, from 0."""
        self.total = total
        self.partners = [
            phase.partners for entry in tape.entries if isinstance(entry, DensePhases) for phase in entry.phases
        ]
        self.place = np.full(total.shape.procs, -1, np.int32)
        self.marked = np.zeros(total.shape.procs, np.bool_)
        self.spent = {key: seconds[0].copy() for key, seconds in tape.spent.items()}
        """(AAU, category) -> (P,) what is spent in an iteration and may differ from one to the next."""

    def walk(self, wave: Wave, iterations: int, noise: float) -> int:
        """Do `iterations`, and enter in the ledger what they cost beyond the last full one. Answers how many were
        walked before all had settled."""
        for number in range(iterations):
            if not wave.moving.size:
                return number
            self.tell(number)
            affected = self._closure(wave.moving, [each.destinations for each in self.partners])
            needed = self._closure(affected, [each.sources for each in self.partners[::-1]])
            clock, spent = self._iteration(needed, wave.clock[needed])
            self._enter(affected, spent, iterations - number)
            clock = clock[: affected.size] - wave.pace
            wave.moving = affected[np.abs(clock - wave.clock[affected]) > noise]
            wave.clock[affected] = clock
        return iterations

    def _closure(self, ranks: Ints, steps: list[Callable[[Ints], Ints]]) -> Ints:
        """The ranks, and then all whom one phase after the other adds as partners."""
        found = ranks
        self.marked[found] = True
        for partner in steps:
            more = partner(found)
            more = more[~self.marked[more]]
            self.marked[more] = True
            found = np.concatenate([found, more])
        self.marked[found] = False
        return found

    def _iteration(self, ranks: Ints, clock: Array) -> tuple[Array, dict[tuple[int, int], Array]]:
        """One iteration of some processors: their clocks after it, and what they spent waiting and receiving."""
        self.place[ranks] = np.arange(ranks.size)
        spent: dict[tuple[int, int], Array] = {}
        for entry in self.tape.entries:
            if isinstance(entry, DensePhases):
                clock, parts = self._phases(entry, ranks, clock)
                for category, seconds in parts:
                    known = spent.get((entry.aau, category))
                    spent[entry.aau, category] = seconds if known is None else known + seconds
            elif isinstance(entry, Busy):
                clock = clock + of(entry.seconds, ranks)
        self.place[ranks] = -1
        return clock, spent

    def _phases(self, entry: DensePhases, ranks: Ints, clock: Array) -> tuple[Array, list[tuple[int, Array]]]:
        spent: list[tuple[int, Array]] = []
        sent = []
        for phase in entry.phases:
            partner = self.place[phase.partners.sources(ranks)]
            partner = np.where(partner < 0, np.arange(ranks.size), partner)
            if phase.before is not None:
                clock = clock + of(phase.before, ranks)
            sent.append(clock[partner])
            clock = clock + of(phase.busy, ranks)
            if not entry.together:
                clock = _received(phase, ranks, clock, sent.pop(), spent)
        for phase, times in zip(entry.phases, sent, strict=True) if entry.together else ():
            clock = _received(phase, ranks, clock, times, spent)
        return clock, spent

    def _enter(self, ranks: Ints, spent: dict[tuple[int, int], Array], left: int) -> None:
        """Spend from now on, in each of `left` iterations, what was spent in this one."""
        for (aau, category), seconds in spent.items():
            own = self.spent.get((aau, category))
            if own is None:
                own = self.spent[aau, category] = np.zeros(self.place.size)
            part = seconds[: ranks.size]
            change = (part - own[ranks]) * left
            own[ranks] = part
            self.total.charge(aau, category, change[None, :], ranks)


def _received(phase: DensePhase, ranks: Ints, clock: Array, sent: Array, spent: list[tuple[int, Array]]) -> Array:
    """The clocks of some processors after they received what was sent at the times `sent`."""
    delayed = None if phase.delayed is None else of(phase.delayed, ranks)
    waiting, transmission, kept = receive(sent - clock, of(phase.arrive, ranks), delayed)
    clock = clock + kept
    if phase.after is not None:
        clock = clock + of(phase.after, ranks)
    spent += [(WAITING, waiting), (COMMUNICATION, transmission)]
    return clock
