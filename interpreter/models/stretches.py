"""Sequential loops around a nest, where one owner after the other works: iterations that are alike are walked once.

    processor 0  |== i = 1 ... 63 ==|--->                        message at the iteration that crosses
    processor 1  |..... waiting ....|---|== i = 65 ... 127 ==|--->

A stretch are neighbouring iterations in which nothing moves and each processor runs as much as in the one before: no
clock depends on another one in it, so what one iteration takes is taken as often as it has iterations. What the nest
misses is that of all iterations together, as of an owned loop (`interpreter.models.owned`), spread evenly over them.
"""

from collections.abc import Sequence
from contextlib import nullcontext

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from aag.graph.aau import AAU, Comm, IterD, IterSync
from aag.ir.evaluate import Unknown
from aag.spmd.branches import has_conditions
from aag.spmd.nodes import DoNode, Exchange, Nest
from aag.spmd.partition import Trips
from aag.spmd.vector import Along, TooLarge
from interpreter.evaluate import defined, needed
from interpreter.metrics import Tally
from interpreter.models.compute import LOOP_STEP, charge_work
from interpreter.models.differing import LONG, Place
from interpreter.models.misses import Spread, place_of, placed, spread_evenly
from interpreter.models.period import Watched, afford, is_refused
from interpreter.remembered import of_aau, remembered
from interpreter.state import Run

WORTH = 2
"""Iterations for each stretch from which on they are walked so."""
CELLS = 1 << 22
"""Iterations times processors up to which stretches are sought."""


class Stretches(Struct, frozen=True, eq=False):
    """How a loop is walked."""

    parts: tuple[tuple[int, int], ...]
    """The first iteration of each, from 0, and how many iterations it has."""
    misses: Spread | None


class _Body(Struct, frozen=True, eq=False):
    """A body that has stretches, if its values say so."""

    aau: IterD
    nest: Nest
    whole: Nest
    """All iterations of the loop as one nest."""
    exchanges: tuple[Exchange, ...]


def stretches_of(
    run: Run, aau: IterD | IterSync, loop: DoNode, body: tuple[AAU, ...], values: range
) -> Stretches | None:
    """The stretches of a loop whose variable takes these values; None: it has none, or a long loop has too many to be
    worth it (`interpreter.models.differing`). Around a single loop they always are: an iteration of it does not fill a
    cache, and what one finds there of those before it is known of all together alone."""
    found = _body(run, aau, loop, body)
    if found is None or not values or place_of(run) is not None or len(values) * run.procs > CELLS:
        return None
    try:
        begins = _begins(run, found, loop.var, values)
        if begins.size * WORTH > len(values) >= LONG and len(found.nest.indices) > 1:
            return None
        misses = spread_evenly(run, found.aau, found.whole)
    except (Unknown, TooLarge):
        return None
    if run.setting.force_unroll:
        begins = np.arange(len(values))
    begins = np.unique(np.append(begins, len(values) - 1))  # the last iteration by itself says when all ended
    lengths = np.diff(np.append(begins, len(values)))
    return Stretches(tuple(zip(begins.tolist(), lengths.tolist(), strict=True)), misses)


def walk_stretches(
    run: Run, aau: IterD | IterSync, loop: DoNode, body: tuple[AAU, ...], values: Sequence[int], found: Stretches
) -> None:
    """Walk one iteration of each stretch for all of it."""
    afford(run, aau, len(found.parts), len(values))
    run.rebase()
    if run.tape is not None:
        run.tape.entries.append(None)
    watched = Watched(run, aau, len(values))
    with nullcontext() if found.misses is None else placed(run, Place(found.misses)):
        for first, count in found.parts:
            watched.at(first)
            run.env[loop.var] = values[first]
            run.books.walked += 1
            with run.books.repeated(count, run.procs):
                run.books.count(aau.id, Tally.ITERATIONS, 1.0)
                charge_work(run, aau.id, LOOP_STEP)
                run.visit(run, body)
            if is_refused(run):
                break
    watched.end()
    if found.misses is not None:
        run.cache = found.misses.after


@remembered(of_aau)
def _body(_: Run, _aau: AAU, loop: DoNode, body: tuple[AAU, ...]) -> _Body | None:
    """A body of one nest and of exchanges between owners; None: it has something else."""
    nests = [each for each in body if isinstance(each, IterD) and each.nest is not None]
    moves = [each.operation for each in body if isinstance(each, Comm) and each.host is None]
    exchanges = tuple(each for each in moves if isinstance(each, Exchange))
    if len(nests) != 1 or len(exchanges) + 1 != len(body) or needed(body) & (defined(body) - {loop.var}):
        return None
    nest = nests[0].nest
    assert nest is not None
    if nest.home is None or nest.home.is_scattered or has_conditions(nest) or nest.reduce or nest.copies:
        return None
    index = loop.index
    whole = replace(
        nest,
        indices=(index, *nest.indices),
        home=replace(nest.home, indices=(index, *nest.home.indices)),
        outer=((), *nest.outer) if nest.outer else (),
        leading=(0, *nest.leading) if nest.outer else (),
        uses=(nest.uses | index.reads) - {index.name},
        near=True,
    )
    return _Body(nests[0], nest, whole, exchanges)


def _begins(run: Run, found: _Body, var: str, values: range) -> NDArray[np.intp]:
    """The first iterations of the stretches."""
    along = Along(var, np.array(values, np.int64))
    moves = np.zeros(len(values), np.bool_)
    for each in found.exchanges:
        moves |= run.application.may_move(each, run.env, along)
    begins = moves.copy()
    begins[1:] |= moves[:-1]
    before, env = None, dict(run.env)
    for number in range(len(values)):
        env[var] = values[number]
        now = run.application.trips(found.nest, env)
        begins[number] |= before is None or not _alike(before, now)
        before = now
    return np.flatnonzero(begins)


def _alike(one: Trips, other: Trips) -> bool:
    """Whether every processor runs as much."""
    if one is other:
        return True
    entered = one.entered is other.entered or (
        one.entered is not None and other.entered is not None and np.array_equal(one.entered, other.entered)
    )
    same = (one.bounded, one.tested) == (other.bounded, other.tested)
    return same and entered and np.array_equal(one.count, other.count) and np.array_equal(one.level, other.level)
