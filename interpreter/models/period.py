"""Loops with communication that repeat themselves: walk, recognise, jump, walk on (D5).

An iteration is a function of the state at its start: clocks, links, caches, scalars. If after c iterations the
clocks of all processors have moved by the same amount and all else is as it was, everything repeats for ever, as
that function commutes with moving all clocks. If they have moved by different amounts, twice in a row the same
ones, and every decision fell the same way, all moves on linearly until some decision falls differently: each gap
between two times that are compared is then linear in the number of the period, so the last period before any gap
changes sign is known. The jump goes there, for each scenario by itself. What a period costs is constant or grows
linearly (waiting does, where one processor runs away from another).
"""

from collections import deque
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from aag.diagnostics import Diagnostic
from aag.graph.aau import AAU, children, walk
from interpreter import shared
from interpreter.errors import InterpretationError
from interpreter.metrics import Ledger, Tally, merged
from interpreter.models.front import Front, playable, tell_apart
from interpreter.models.snapshot import (
    Snapshot,
    links_moved,
    links_moved_alike,
    links_steady,
    links_used,
    noise_of,
    nothing_sent,
    nothing_under_way,
    same_inside,
    same_under_way,
    take,
    times_of,
)
from interpreter.reduce import all_of, any_of, every, least
from interpreter.remembered import values_of
from interpreter.state import Recorder, Run
from interpreter.tape import Tape

Array = NDArray[np.float64]
Floats = NDArray[np.floating]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

QUIET = 3
"""Iterations at the start of a loop whose decisions are not recorded: most loops repeat before they are needed."""

PARTIAL = 50
"""Iterations of all loops after which a walk ends that has left something out, unless a partial result is wanted."""

FAR = np.iinfo(np.int64).max // 4
_CLOCKS = 4096
"""Clocks that move in about the time that an iteration takes anyway."""


def repeat(
    run: Run, aau: AAU, trips: int, step: Callable[[int], str], *, names: tuple[str, ...] = (), periodic: bool = True
) -> str:
    """Run `step(number)` for `trips` iterations; answers how the loop was left ("" at its end).

    Args:
        run: The interpretation.
        aau: The loop.
        trips: How often, on all processors.
        step: Walks one iteration.
        names: Scalars that the body changes and whose values decide what it does.
        periodic: Whether iterations may repeat at all (the body does not depend on the loop index).
    """
    run.rebase()
    left = ""
    if run.tape is not None:
        run.tape.entries.append(None)
    if not periodic or run.setting.force_unroll or trips < 3:
        afford(run, aau, trips, trips)
        watched = Watched(run, aau, trips)
        for number in range(trips):
            watched.at(number)
            run.books.walked += 1
            run.books.count(aau.id, Tally.ITERATIONS, 1.0)
            left = step(number)
            if left or is_refused(run):
                break
        watched.end()
        return left
    return _Walk(run, aau, trips, names).go(step)


class Watched:
    """Tells who watches a run how far a loop has come; loops inside it add how far they are in its iteration."""

    def __init__(self, run: Run, aau: AAU, trips: int) -> None:
        self.run, self.line, self.trips = run, aau.span.line, trips
        self.outer = run.watch
        self.number = 0

    def at(self, number: int) -> None:
        """The loop comes to an iteration."""
        if self.outer is not None:
            self.number = number
            self.outer(self.line, number / self.trips)
            self.run.watch = self._inside

    def end(self) -> None:
        """The loop is done."""
        self.run.watch = self.outer

    def _inside(self, _line: int, done: float) -> None:
        if self.outer is not None:
            self.outer(self.line, (self.number + done) / self.trips)


def afford(run: Run, aau: AAU, more: int, trips: int) -> None:
    """Refuses `more` iterations of a loop with `trips` where the walk would never end in a person's time."""
    clocks = 1 + run.procs * run.scenarios // _CLOCKS
    if (run.books.walked + more) * clocks <= run.setting.walked_iterations or run.setting.force_unroll:
        return
    allowed = run.setting.walked_iterations // clocks
    unknown = "; ".join(run.setting.uncomputed.values())
    reason = f"; {unknown}" if unknown else ""
    raise InterpretationError(
        (
            Diagnostic(
                code="E506",
                message=f"this loop has {trips:,} different iterations; "
                f"with the other loops they exceed the limit of {allowed:,} walked iterations",
                span=aau.span,
                hint=f"choose a smaller problem or fewer processors and scenarios; ‹unroll› removes the limit{reason}",
            ),
        )
    )


def is_refused(run: Run) -> bool:
    """Whether nobody will see the times: something is left out, and a partial result is not wanted. What else is left
    out is found in one iteration of each loop."""
    return not (run.books.complete or run.setting.partial) and run.books.walked > PARTIAL


class _Walk:
    """The walk of one loop that may repeat itself."""

    def __init__(self, run: Run, aau: AAU, trips: int, names: tuple[str, ...]) -> None:
        outer = run.books.active
        self.run, self.aau, self.names = run, aau, names
        self.trips = trips
        self.watched = Watched(run, aau, trips)
        self.left = np.full(run.scenarios, trips, np.int64)
        if outer is not None:
            self.left[~outer] = 0
        self.outer = outer
        self.parent = run.books.ledger
        self.outer_recorder = run.recorder
        self.since = np.zeros(run.scenarios, np.int64)
        self.longest = run.setting.longest_period
        self.base = run.origin
        self.history: deque[Snapshot] = deque([self._snapshot(None, None)])
        self.number = 0
        self.taped = (
            run.scenarios == 1
            and run.procs >= shared.MANY
            and outer is None
            and run.recorder is None
            and run.books.weight == 1.0
            and run.listener is None
            and run.tape is None
        )
        self.tape: Tape | None = None

    def go(self, step: Callable[[int], str]) -> str:
        """Walk and jump until no scenario has iterations left."""
        how = ""
        while not how and any_of(live := self.left > 0):
            if self.number and is_refused(self.run):
                break
            self.watched.at(self.trips - int(self.left.max()))
            how = self._iteration(step, live)
            if not how:
                self._jump(live)
                self._walk_front()
        self.watched.end()
        self._finish()
        return how

    def _iteration(self, step: Callable[[int], str], live: Bools) -> str:
        run = self.run
        frozen = None
        if not all_of(live):
            run.books.active = live
            frozen = self._keep(~live)
        run.books.ledger = Ledger(self.parent.shape)
        record = self.outer_recorder is not None or (self.number >= QUIET and not self.taped)
        run.tape, self.tape = (Tape() if self.taped else None), None
        run.recorder = Recorder() if record else None
        afford(run, self.aau, 1, self.number + int(self.left.max()))
        run.books.walked += 1
        run.books.count(self.aau.id, Tally.ITERATIONS, 1.0)
        how = step(self.number)
        if frozen is not None:
            self._restore(~live, frozen)
        if run.tape is not None:
            for (charged, category), seconds in run.tape.spent.items():
                run.books.note(charged, category, seconds, give=True)
        self.history.append(self._snapshot(run.books.ledger, run.recorder))
        if self.outer_recorder is not None and run.recorder is not None:
            self.outer_recorder.gaps += run.recorder.gaps
            self.outer_recorder.choices += run.recorder.choices
        run.books.ledger, run.recorder, run.books.active = self.parent, self.outer_recorder, self.outer
        if self.taped:
            self.tape, run.tape = run.tape, None
        self.number += 1
        self.left[live] -= 1
        self.since[live] += 1
        self._forget()
        return how

    def _keep(self, which: Bools) -> tuple[Array, Array | None]:
        clock, links = times_of(self.run, self.base)
        return clock[which], None if links is None else links[which]

    def _restore(self, which: Bools, kept: tuple[Array, Array | None]) -> None:
        clock, links = kept
        own, since = self.run.network.links, (self.run.origin - self.base)[which]
        self.run.clock[which] = clock - since
        if own is not None:
            own[which] = -np.inf if links is None else (links - since[:, :, None]).reshape(-1, *own.shape[1:])

    def _snapshot(self, ledger: Ledger | None, decisions: Recorder | None) -> Snapshot:
        return take(self.run, self.base, values_of(self.names, self.run.env), ledger, decisions)

    def _forget(self) -> None:
        """Drop what is too old to matter, or too large to keep."""
        latest = self.history[-1].nbytes()
        self.longest = max(1, min(self.longest, self.run.setting.loop_bytes // max(1, 2 * latest)))
        while len(self.history) > 2 * self.longest + 1:
            self._fold(self.history.popleft())

    def _fold(self, old: Snapshot) -> None:
        if old.ledger is not None:
            self.parent.add(old.ledger)

    def _finish(self) -> None:
        for each in self.history:
            self._fold(each)
        self.history.clear()
        self.run.rebase()

    def _jump(self, live: Bools) -> None:
        """Add as many periods as are sure to repeat the latest, for each scenario by itself; where messages of several
        operations are followed, which is done for all scenarios at once, as many for all."""
        longest = np.where(live, np.minimum(self.left, self.since), 0)
        noise = self._noise()
        for period in range(1, min(self.longest, len(self.history) - 1, int(longest.max())) + 1):
            if self.number > 8 and period > 2 and self.number % 4:
                return
            if not same_inside(self.history[-1], self.history[-1 - period]):
                continue
            periods, drifting = self._periods(period, longest >= period, noise)
            if self.run.network.followed:
                periods = np.where(live, periods[live].min(), 0)
            if any_of(periods):
                self._apply(period, periods, drifting)
                return

    def _walk_front(self) -> None:
        """On very many processors, walk the rest of the loop only where it is not settled yet."""
        tape, left = self.tape, int(self.left[0])
        if tape is None or not playable(tape) or left < 2 or not same_inside(self.history[-1], self.history[-2]):
            return
        now, then, run = self.history[-1], self.history[-2], self.run
        noise = float(self._noise()[0])
        wave = tell_apart(now.clock[0], then.clock[0], noise)
        if wave is None:
            return
        ledger = self._ledger(1, 1)
        self.parent.add_linear(ledger, ledger, np.array([float(left)]), np.zeros(1, np.bool_), np.zeros(1))
        run.books.walked += Front(tape, self.parent, lambda number: self.watched.at(self.trips - left + number)).walk(
            wave, left, noise
        )
        run.clock[0] = wave.clock + left * wave.pace - (run.origin - self.base)[0]
        self.left[:] = 0

    def _periods(self, period: int, able: Bools, noise: Array) -> tuple[Ints, Bools]:
        """How many periods may be added to each scenario (S,), and for which the moves differ among processors."""
        now, then = self.history[-1], self.history[-1 - period]
        moved = now.clock - then.clock
        uniform = every(np.abs(moved - moved[:, :1]) <= noise[:, None])
        if any_of(uniform):
            uniform &= links_moved_alike(now, then, moved, noise) & same_under_way(now, then, noise)
        most = np.where(able, self.left // period, 0)
        drifting = able & ~uniform
        if any_of(drifting):
            most = np.where(drifting, np.minimum(most, self._until_decided(period, drifting, moved, noise)), most)
        return most, drifting

    def _noise(self) -> Array:
        """(S,) differences of times up to which they are equal."""
        clock = self.history[-1].clock
        return noise_of(clock)

    def _until_decided(self, period: int, drifting: Bools, moved: Array, noise: Array) -> Ints:
        """Periods that can be added before a decision falls differently, (S,)."""
        none = np.zeros(self.run.scenarios, np.int64)
        if len(self.history) <= 2 * period:
            return none
        now, then, before = (self.history[-1 - each * period] for each in range(3))
        same = every(np.abs(moved - (then.clock - before.clock)) <= noise[:, None]) & drifting
        moments = (now, then, before)
        same &= (self.since >= 2 * period) & (nothing_sent(moments) or nothing_under_way(moments))
        if any_of(same):
            same &= links_steady(now.links, then.links, before.links, noise)
        if not any_of(same):
            return none
        most = np.where(same, FAR, 0)
        for back in range(1, period + 1):
            latest, earlier = self.history[-back].decisions, self.history[-back - period].decisions
            if latest is None or earlier is None:
                return none
            most = np.minimum(most, _until(latest, earlier, noise))
            if not any_of(most):
                return none
        return most

    def _apply(self, period: int, periods: Ints, drifting: Bools) -> None:
        run = self.run
        now, then = self.history[-1], self.history[-1 - period]
        times = periods.astype(np.float64)
        noise = self._noise()
        ledger = self._ledger(1, period)
        drifting = drifting & (periods > 0)
        previous = self._ledger(period + 1, 2 * period) if drifting.any() else ledger
        self.parent.add_linear(ledger, previous, times, drifting, noise)
        shift = times[:, None]
        run.clock += shift * (now.clock - then.clock)
        self._ended_later(times * (now.clock - then.clock).max(axis=1))
        links = run.network.links
        if links is not None and then.links is not None and now.links is not None:
            moved = shift[:, :, None] * links_moved(now.links, then.links, now.clock - then.clock, drifting)
            links += np.where(links_used(now.links, then.links), moved, 0.0).reshape(links.shape)
        if run.network.window is not None and not nothing_sent((now, then)):
            # Clocks move by the same where something is under way.
            run.network.window = run.network.window.moved(shift * (now.clock - then.clock)[:, :1])
        self._tell_outer(period, times)
        self.left -= periods * period
        self.since[periods > 0] = 0
        if run.listener is not None:
            run.listener.skipped(self.aau, periods * period)
        if (self.left > 0).any():
            earliest = run.origin + least(run.clock)[:, None]
            self.base = np.where(shift > 0, earliest, self.base)
            run.rebase(np.where(shift > 0, earliest, run.origin))
            now.clock, now.links = times_of(self.run, self.base)

    def _ledger(self, first: int, last: int) -> Ledger:
        """What the iterations from `first` back to `last` back cost together."""
        ledgers = (self.history[-back].ledger for back in range(first, last + 1))
        return merged([each for each in ledgers if each is not None])

    def _ended_later(self, by: Array) -> None:
        """AAUs of the body last ended in the last of the added periods."""
        for each in walk(children(self.aau)):
            if each.id in self.run.books.ended:
                self.run.books.ended[each.id] = self.run.books.ended[each.id] + by

    def _tell_outer(self, period: int, times: Array) -> None:
        """An outer loop must know the decisions at the end of the jump: in between they are linear."""
        outer = self.outer_recorder
        if outer is None:
            return
        outer.choices.append(times.astype(np.int64)[:, None])
        for back in range(period, 0, -1):
            latest = self.history[-back].decisions
            earlier = self.history[-back - period].decisions if back + period <= len(self.history) else None
            if latest is None:
                continue
            for at, (gap, offsets) in enumerate(latest.gaps):
                first = gap
                if earlier is not None and at < len(earlier.gaps) and earlier.gaps[at][0].shape == gap.shape:
                    first = earlier.gaps[at][0]
                factor = times.reshape((-1,) + (1,) * (gap.ndim - 1))
                outer.gaps.append((gap + factor * (gap - first), offsets))


def _until(latest: Recorder, earlier: Recorder, noise: Array) -> Ints:
    """Periods until a gap changes sign, (S,); 0 where the two iterations decided differently."""
    scenarios = noise.size
    none = np.zeros(scenarios, np.int64)
    if len(latest.gaps) != len(earlier.gaps) or len(latest.choices) != len(earlier.choices):
        return none
    most = np.full(scenarios, FAR, np.int64)
    for now, then in zip(latest.choices, earlier.choices, strict=True):
        if now.shape != then.shape:
            return none
        equal = every((now == then).reshape(now.shape[0], -1))
        most = np.where(equal, most, 0)
    for (gap, offsets), (old_gap, former) in zip(latest.gaps, earlier.gaps, strict=True):
        if gap.shape != old_gap.shape or len(offsets) != len(former):
            return none
        eps = noise.reshape((-1,) + (1,) * (gap.ndim - 1))
        slope = gap - old_gap
        still = np.abs(slope) <= eps
        if all_of(still):
            continue
        for offset, old in zip(offsets, former, strict=True):
            most = np.minimum(most, _crossing(gap - offset, old_gap - old, still, eps))
    return most


def _crossing(now: Floats, then: Floats, still: Bools, eps: Floats) -> Ints:
    """Periods before a gap that moves linearly changes sign, the smallest of each scenario, (S,)."""
    slope = now - then
    approaches = (~still) & (now * slope < 0.0) & (np.abs(now) > eps)
    arrived = (~still) & (
        ((np.abs(now) <= eps) & (np.abs(then) > eps))
        | ((now * then < 0.0) & (np.abs(then) > eps) & (np.abs(now) > eps))
    )
    ratio = np.divide(np.abs(now), np.abs(slope), out=np.full(now.shape, float(FAR)), where=approaches)
    periods = np.where(arrived, 0.0, np.maximum(np.ceil(ratio * (1.0 - 1e-12)) - 1.0, 0.0))
    axes = tuple(range(1, now.ndim))
    soonest: Ints = np.minimum(periods.min(axis=axes, initial=float(FAR)), float(FAR)).astype(np.int64)
    return soonest
