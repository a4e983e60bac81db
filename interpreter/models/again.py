"""Loops that begin as they began before: what they did then is entered again, and nothing is walked.

    do step = 1, 1000          each step differs, as `mod(step, 10)` decides something in it
      do it = 1, 40            from the second step on this loop begins in a state in which it began before
        ...

A loop is a function of the state at its start, as an iteration is (D5, `interpreter.models.period`). The latest few
beginnings of each loop are kept, each with what followed it.
"""

from collections.abc import Callable

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from aag.graph.aau import AAU, IterND, IterSync, walk
from aag.ir.evaluate import Value
from aag.ir.values import ArrayValues
from aag.ir.visitors import names_in
from interpreter import shared
from interpreter.evaluate import decides, defined, touching
from interpreter.induction import assigns
from interpreter.metrics import Ledger
from interpreter.models.circuits import may_meet
from interpreter.models.misses import place_of
from interpreter.models.shares import has_shares
from interpreter.models.snapshot import Snapshot, links_moved_alike, links_used, noise_of, same_inside, take
from interpreter.models.sweeping import followed_of
from interpreter.reduce import all_of, every
from interpreter.remembered import of_aau, remembered, values_of
from interpreter.state import Recorder, Run

KEPT = 4
"""Beginnings of a loop that are kept."""

WORTH = 8
"""Iterations, those of loops inside included, from which on a loop is worth to be looked at."""

Array = NDArray[np.float64]
Loop = IterSync | IterND


class Repetition(Struct, eq=False):
    """How a loop began once, and what it did. Times are from the earliest clock at its beginning."""

    before: Snapshot
    after: Snapshot
    ledger: Ledger
    decisions: Recorder | None
    set: dict[str, Value | ArrayValues]
    """Scalars that it gave a value, and `lost`: those whose value is not known any more."""
    lost: frozenset[str]
    ended: dict[int, Array]
    """AAU -> largest clock when it last ended."""
    left: str


class Beginnings(Struct, eq=False):
    """What is known of a loop."""

    known: list[Repetition]
    short: int = 0
    """How often it was over before it was worth to be looked at."""


def again(run: Run, aau: Loop, go: Callable[[], str]) -> str:
    """Walk a loop by `go`, or enter what it did when it began in the same state; answers how it was left."""
    seen = _seen(run, aau)
    if seen.short > KEPT or not _may(run, aau):
        return go()
    run.rebase()
    now = take(run, run.origin, _given(run, aau))
    for found in seen.known:
        if _alike(run, now, found):
            _enter(run, found)
            return found.left
    return _walked(run, aau, go, now, seen)


def _may(run: Run, aau: Loop) -> bool:
    """Whether a loop does the same whenever it begins in the same state, and nobody wants to see it walked."""
    books, setting = run.books, run.setting
    plain = books.weight == books.times == 1.0 and books.share is None and books.active is None
    watched = run.listener is not None or run.tape is not None or place_of(run) is not None
    steady = _is_idle(run) and not has_shares(run)
    counted = {line for line, each in setting.trips.items() if each.varies}
    return (
        plain
        and steady
        and not watched
        and not setting.force_unroll
        and (books.complete or setting.partial)
        and run.procs < shared.MANY
        and not counted & _lines(run, aau)
    )


def _walked(run: Run, aau: Loop, go: Callable[[], str], before: Snapshot, seen: Beginnings) -> str:
    """Walk a loop, and keep what it did."""
    books, base = run.books, run.origin.copy()
    env, marks, walked = dict(run.env), len(books.marks), books.walked
    parent, outer = books.ledger, run.recorder
    books.ledger = Ledger(parent.shape)
    run.recorder = None if outer is None else Recorder()
    left = go()
    ledger, decisions = books.ledger, run.recorder
    books.ledger, run.recorder = parent, outer
    parent.enter(ledger)
    if outer is not None and decisions is not None:
        outer.gaps += decisions.gaps
        outer.choices += decisions.choices
    after = take(run, base, (), ledger, decisions)
    if books.walked < walked + WORTH:
        seen.short += 1
        return left
    if not _is_kept(run, before, after) or len(books.marks) > marks:
        return left
    found = Repetition(
        before=before,
        after=after,
        ledger=ledger,
        decisions=decisions,
        set={name: value for name, value in run.env.items() if name not in env or env[name] is not value},
        lost=frozenset(env.keys() - run.env.keys()),
        ended={each: books.ended[each] - base[:, 0] for each in _inside(run, aau) if each in books.ended},
        left=left,
    )
    seen.known[KEPT - 1 :] = []
    seen.known.insert(0, found)
    return left


def _is_idle(run: Run) -> bool:
    """Whether nothing is under way that may meet what is sent from now on."""
    window = run.network.window
    return window is None or not may_meet(run, window)


def _is_kept(run: Run, before: Snapshot, after: Snapshot) -> bool:
    """Whether what a loop did can be entered again, and is small."""
    small = before.nbytes() + after.nbytes() <= run.setting.loop_bytes // (8 * KEPT)
    alike = (before.links is None) == (after.links is None)
    return small and alike and _is_idle(run) and (run.books.complete or run.setting.partial)


def _alike(run: Run, now: Snapshot, found: Repetition) -> bool:
    """Whether the state is the one in which a loop began once."""
    then = found.before
    if (run.recorder is not None and found.decisions is None) or (now.links is None) != (then.links is None):
        return False
    if not same_inside(now, then):
        return False
    moved = now.clock - then.clock
    noise = np.maximum(noise_of(now.clock), noise_of(found.after.clock))
    return all_of(every(np.abs(moved) <= noise[:, None])) and all_of(links_moved_alike(now, then, moved, noise))


def _enter(run: Run, found: Repetition) -> None:
    """Let a loop do again what it did."""
    then, after = found.before, found.after
    run.books.ledger.enter(found.ledger)
    if run.recorder is not None and found.decisions is not None:
        run.recorder.gaps += found.decisions.gaps
        run.recorder.choices += found.decisions.choices
    if run.network.links is not None and then.links is not None and after.links is not None:
        own = run.network.links.reshape(after.links.shape)
        own[...] = np.where(links_used(after.links, then.links), after.links, own)
    run.network.window = None
    run.clock += after.clock - then.clock
    run.cache = after.cache
    for name in found.lost:
        run.env.pop(name, None)
    run.env.update(found.set)
    for each, clock in found.ended.items():
        run.books.ended[each] = clock + run.origin[:, 0]


@remembered(of_aau)
def _seen(_: Run, _aau: AAU) -> Beginnings:
    return Beginnings(known=[])


@remembered(of_aau)
def _inside(_: Run, aau: AAU) -> tuple[int, ...]:
    return tuple(each.id for each in walk((aau,)))


@remembered(of_aau)
def _lines(_: Run, aau: AAU) -> frozenset[int]:
    """The lines of the loops in a loop, and its own."""
    return frozenset(each.span.line for each in walk((aau,)))


def _given(run: Run, aau: Loop) -> tuple[object, ...]:
    """All besides times and caches that decides what a loop does."""
    return (values_of(_names(run, aau), run.env), followed_of(run), tuple(run.exits.items()))


@remembered(of_aau)
def _names(_: Run, aau: AAU) -> tuple[str, ...]:
    """The scalars that a loop reads or changes."""
    body = (aau,)
    found = touching(body) | defined(body) | names_in(*(each.value for each in assigns(body)))
    return tuple(sorted(found.union(*(each.uses | each.defines | decides(each) for each in walk(body)))))
