"""A sequential DO over distributed data: owners run their iterations in order (Def 16).

    processor 0  |== own iterations ==|--->                     message where an iteration reads what crossed
    processor 1  |.....waiting........|---|== own iterations ==|--->

Every processor tests the guard of every iteration: its own share of the loop is computation, the rest overhead. What
its own iterations miss in the cache, one after the other, and what they do under conditions is spread evenly over them.
"""

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from aag.graph.aau import IterSync, Work
from aag.ir.evaluate import Unknown
from aag.spmd.nodes import Nest, OwnedLoop
from aag.spmd.steps import Phase
from interpreter.books import CommEntry
from interpreter.counts import Counts
from interpreter.evaluate import Scalars
from interpreter.metrics import COMPUTATION, OVERHEAD, Tally
from interpreter.models.communication import Plan, enter, entry_of, execute, make_plan
from interpreter.models.compute import LOOP_SETUP, LOOP_STEP, charge_work
from interpreter.models.guarded import times_of_branches
from interpreter.models.misses import count_misses
from interpreter.models.period import repeat
from interpreter.remembered import by_values, of_aau, remembered
from interpreter.shared import cut
from interpreter.state import Run

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

FEW = 64
"""Segments up to which nobody looks for a period in the sequence of owners."""


class _Chain(Struct, frozen=True):
    """A priced owned loop. Times are (S or 1, 1) for one iteration."""

    owner: tuple[int, ...]
    count: tuple[int, ...]
    begin: tuple[int, ...]
    """First iteration of each segment, from 0."""
    messages: tuple[Plan | None, ...]
    entry: CommEntry | None
    """What one execution of the whole loop sends; None: nothing."""
    round: int
    """After so many segments owners, counts and messages repeat; 0: they do not."""
    iterations: int
    own: Array
    """Computation of an iteration at its owner, loop control included."""
    guard: Array
    """Overhead of an iteration at its owner."""
    other: Array
    """Overhead of an iteration of somebody else."""
    counts: Counts
    """Iterations of their own and of others that processors run."""
    nest: Nest
    """The loop as each processor's cache sees it: its own iterations, one after the other."""


def run_owned(run: Run, scalars: Scalars, aau: IterSync, loop: OwnedLoop) -> None:
    """Interpret an owned loop."""
    chain = _chain(run, aau, loop, scalars)
    run.books.count(aau.id, Tally.EXECUTIONS, 1.0)
    if chain.entry is not None:
        enter(run, aau.id, chain.entry)
    charge_work(run, aau.id, LOOP_SETUP)
    charge_work(run, aau.id, aau.setup)
    shares = np.asarray(chain.counts.often)[0]
    more = cut(count_misses(run, aau, chain.nest), slice(None)) + _under_conditions(run, aau, chain)
    _walk(run, aau, chain, more / np.maximum(shares, 1.0))
    run.books.pay(aau.id, chain.counts)
    scalars.forget(run.env, aau.defines & scalars.relevant)


def _under_conditions(run: Run, aau: IterSync, chain: _Chain) -> Array:
    """(S or 1, P or 1) computation of a processor under conditions of their own, as often as they hold in its turns."""
    if not aau.guarded:
        return np.zeros((1, 1))
    times = np.array([*times_of_branches(run, chain.nest, run.application.trips(chain.nest, run.env))], np.float64)
    works = [work for each in aau.guarded for work in (each.test, each.work)]
    paid = Counts(run.prices.basis(*map(run.prices.of, works)), times)
    run.books.pay(aau.id, paid)
    seconds = paid.seconds(paid.basis.computation)
    return np.zeros((1, 1)) if seconds is None else cut(seconds, slice(None))


@remembered(of_aau, by_values)
def _chain(run: Run, aau: IterSync, loop: OwnedLoop, scalars: Scalars) -> _Chain:
    try:
        segments = run.application.segments(loop, run.env)
    except Unknown as unknown:
        raise scalars.unresolved(unknown, aau.span, run.env) from unknown
    own = run.prices.of(aau.work, LOOP_STEP)
    other = run.prices.of(Work(overhead=(*aau.work.overhead, *LOOP_STEP.computation)))
    plans: dict[tuple[object, ...], Plan] = {}
    messages = tuple(None if each is None else _plan(run, each, plans) for each in segments.messages)
    count = segments.count.astype(np.int64)
    ends = np.cumsum(count)
    shares = np.bincount(segments.owner, weights=count, minlength=run.procs)
    return _Chain(
        owner=tuple(int(each) for each in segments.owner),
        count=tuple(int(each) for each in count),
        begin=tuple(int(each) for each in ends - count),
        messages=messages,
        entry=entry_of([each.entry for each in messages if each is not None]),
        round=_round(segments.owner, count, messages),
        iterations=segments.iterations,
        own=run.prices.price(own, COMPUTATION)[:, None],
        guard=run.prices.price(own, OVERHEAD)[:, None],
        other=run.prices.price(other, OVERHEAD)[:, None],
        counts=Counts(run.prices.basis(own, other), np.array([shares, segments.iterations - shares], np.float64)),
        nest=loop.own_part,
    )


def _plan(run: Run, phase: Phase, plans: dict[tuple[object, ...], Plan]) -> Plan:
    key = (
        phase.source.tobytes(),
        phase.destination.tobytes(),
        phase.elements.tobytes(),
        phase.element_bytes,
        *(() if phase.strided is None else (each.tobytes() for each in phase.strided)),
        phase.name,
    )
    if key not in plans:
        plans[key] = make_plan(run, (phase,), array="", pattern_name=phase.name)
    return plans[key]


def _round(owner: Ints, count: Ints, messages: tuple[Plan | None, ...]) -> int:
    """The period of the segments but for the first round and the last segment; 0: none."""
    total = len(owner)
    if total <= FEW:
        return 0
    again = np.flatnonzero(owner[1:] == owner[0])
    if not again.size or 4 * (length := int(again[0]) + 1) > total:
        return 0
    if not (owner[length:] == owner[:-length]).all() or not (count[length:-1] == count[: -length - 1]).all():
        return 0
    same = all(messages[at] is messages[at - length] for at in range(2 * length, total))
    return length if same else 0


def _walk(run: Run, aau: IterSync, chain: _Chain, missing: Array) -> None:
    """Walk the segments; `missing` (S or 1, P): seconds for misses, and under conditions, in an iteration of each
    processor."""
    tested = np.zeros(run.procs, np.int64)
    total = len(chain.owner)
    length = chain.round
    if not length:
        _segments(run, aau, chain, range(total), missing, tested)
    else:
        rounds = (total - 1) // length
        _segments(run, aau, chain, range(length), missing, tested)

        def one(number: int) -> str:
            _segments(run, aau, chain, range((number + 1) * length, (number + 2) * length), missing, tested)
            return ""

        repeat(run, aau, rounds - 1, one)
        for at in range((rounds - 1) * length, rounds * length):
            tested[chain.owner[at]] = chain.begin[at] + chain.count[at]
        _segments(run, aau, chain, range(rounds * length, total), missing, tested)
    rest = (chain.iterations - tested)[None, :]
    if rest.any() and chain.other.any():
        run.busy(aau.id, OVERHEAD, chain.other * rest)


def _segments(run: Run, aau: IterSync, chain: _Chain, which: range, missing: Array, tested: Ints) -> None:
    for at in which:
        rank = chain.owner[at]
        who = slice(rank, rank + 1)
        ahead = chain.begin[at] - int(tested[rank])
        if ahead and chain.other.any():
            run.busy(aau.id, OVERHEAD, chain.other * ahead, who)
        messages = chain.messages[at]
        if messages is not None:
            execute(run, aau.id, messages)
            run.books.count(aau.id, Tally.EXECUTIONS, -1.0)
        run.busy(aau.id, COMPUTATION, (chain.own + missing[:, who]) * chain.count[at], who)
        if chain.guard.any():
            run.busy(aau.id, OVERHEAD, chain.guard * chain.count[at], who)
        tested[rank] = chain.begin[at] + chain.count[at]
