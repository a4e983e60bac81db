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

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from interpreter.metrics import COMMUNICATION, WAITING, Ledger
from interpreter.state import Busy, Crowd, Tape, Thronged

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
    """Whether an iteration can be done again on some processors, whose partners are not simply all others."""
    return bool(tape) and all(
        entry is not None and not (isinstance(entry, Thronged) and entry.messages.source is None) for entry in tape)


class Front:
    """Walks the remaining iterations of a loop by its fronts."""

    def __init__(self, tape: Tape, total: Ledger) -> None:
        self.tape = tape
        self.total = total
        thronged = [entry for entry in tape if isinstance(entry, Thronged)]
        self.crowds = [entry.messages for entry in thronged]
        self.sources = [crowd.source for crowd in self.crowds if crowd.source is not None]
        self.to = [_inverse(source) for source in self.sources]
        self.place = np.full(total.shape.procs, -1, np.int64)
        self.marked = np.zeros(total.shape.procs, np.bool_)
        self.spent: dict[tuple[int, int], Array] = {}
        """(AAU, category) -> (P,) what is spent in an iteration and may differ from one to the next."""
        for entry in thronged:
            for category, seconds in ((WAITING, entry.waiting), (COMMUNICATION, entry.transmission)):
                known = self.spent.get((entry.aau, category))
                self.spent[entry.aau, category] = seconds[0].copy() if known is None else np.add(
                    known, seconds[0], out=known)

    def walk(self, wave: Wave, iterations: int, noise: float) -> int:
        """Do `iterations`, and enter in the ledger what they cost beyond the last full one. Answers how many were
        walked before all had settled."""
        for number in range(iterations):
            if not wave.moving.size:
                return number
            affected = self._closure(wave.moving, self.to)
            needed = self._closure(affected, self.sources[::-1])
            clock, spent = self._iteration(needed, wave.clock[needed])
            self._enter(affected, spent, iterations - number)
            clock = clock[: affected.size] - wave.pace
            wave.moving = affected[np.abs(clock - wave.clock[affected]) > noise]
            wave.clock[affected] = clock
        return iterations

    def _closure(self, ranks: Ints, steps: list[Ints]) -> Ints:
        """The ranks, and then all whom one phase after the other adds as partners."""
        found = ranks
        self.marked[found] = True
        for partner in steps:
            more = partner[found]
            more = more[~self.marked[more]]
            self.marked[more] = True
            found = np.concatenate([found, more])
        self.marked[found] = False
        return found

    def _iteration(self, ranks: Ints, clock: Array) -> tuple[Array, dict[tuple[int, int], Array]]:
        """One iteration of some processors: their clocks after it, and what they spent waiting and receiving."""
        self.place[ranks] = np.arange(ranks.size)
        spent: dict[tuple[int, int], Array] = {}
        for entry in self.tape:
            if isinstance(entry, Thronged):
                clock, waiting, transmission = self._phase(entry.messages, ranks, clock)
                for category, seconds in ((WAITING, waiting), (COMMUNICATION, transmission)):
                    known = spent.get((entry.aau, category))
                    spent[entry.aau, category] = seconds if known is None else known + seconds
            elif isinstance(entry, Busy):
                clock = clock + _of(entry.seconds, ranks)
        self.place[ranks] = -1
        return clock, spent

    def _phase(self, crowd: Crowd, ranks: Ints, clock: Array) -> tuple[Array, Array, Array]:
        partner = self.place[ranks if crowd.source is None else crowd.source[ranks]]
        partner = np.where(partner < 0, np.arange(ranks.size), partner)
        if crowd.before is not None:
            clock = clock + _of(crowd.before, ranks)
        gap = clock[partner]
        clock = clock + _of(crowd.busy, ranks)
        gap -= clock
        waiting = np.maximum(gap, 0.0)
        gap += _of(crowd.arrive, ranks)
        exposed = np.maximum(gap, 0.0)
        late = exposed if crowd.queue is None else np.maximum(gap + _of(crowd.queue, ranks), 0.0)
        clock = clock + late
        if crowd.after is not None:
            clock = clock + _of(crowd.after, ranks)
        return clock, waiting + (late - exposed), exposed - waiting

    def _enter(self, ranks: Ints, spent: dict[tuple[int, int], Array], left: int) -> None:
        """Spend from now on, in each of `left` iterations, what was spent in this one."""
        total = self.total
        for (aau, category), seconds in spent.items():
            own = self.spent[aau, category]
            part = seconds[: ranks.size]
            change = (part - own[ranks]) * left
            own[ranks] = part
            if total.shape.detail:
                total.parts[aau][category, 0, ranks] += change
                continue
            if total.totals is not None:
                total.totals[category, 0, ranks] += change
            total.means[aau][category, 0] += change.sum() / total.shape.procs
            if total.shape.whole:
                total.whole[aau][0, ranks] += change


def _of(seconds: Array, ranks: Ints) -> Array:
    """Figures of scenario 0 for some processors: all of them, or the one that they share."""
    chosen: Array = seconds[0, ranks] if seconds.shape[1] > 1 else seconds[0]
    return chosen


def _inverse(source: Ints) -> Ints:
    """To whom each sends; itself where it does not."""
    to = np.arange(source.size)
    receivers = np.flatnonzero(source != to)
    to[source[receivers]] = receivers
    return to
