"""Sequential loops around nests, where one owner after the other works: iterations that are alike are walked once.

    processor 0  |== i = 1 ... 63 ==|--->                        message at the iteration that crosses
    processor 1  |..... waiting ....|---|== i = 65 ... 127 ==|--->

A stretch are neighbouring iterations in which nothing moves and each processor runs as much as in the one before: no
clock depends on another one in it, so what one iteration takes is taken as often as it has iterations. What the nests
miss is that of all iterations together, as of an owned loop (`interpreter.models.owned`), spread evenly over them.

Several nests are single assignments, beside scalars that every processor computes. Those that run on the same
processors miss together; others must use other arrays:

    do i = 1, n
      seed = mod(a*seed + c, m)                                every processor
      x(i) = seed                                              the owner
    end do
"""

from collections.abc import Sequence
from contextlib import nullcontext
from hashlib import blake2b

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from aag.graph.aau import AAU, Call, Comm, CondtD, IterD, IterSync, Seq, walk
from aag.ir.evaluate import Unknown
from aag.spmd.branches import has_conditions
from aag.spmd.nodes import DoNode, Exchange, Nest
from aag.spmd.touches import AccessSweep, touches
from aag.spmd.vector import Along, TooLarge
from interpreter.evaluate import defined, needed
from interpreter.metrics import Tally
from interpreter.models.compute import LOOP_STEP, charge_work
from interpreter.models.differing import LONG, Place
from interpreter.models.misses import Spread, place_of, placed, spread_evenly
from interpreter.models.period import Watched, afford, is_refused
from interpreter.models.shares import Shares, count_shares, sharing
from interpreter.remembered import of_aau, remembered
from interpreter.state import Run

WORTH = 2
"""Iterations for each stretch from which on they are walked so."""
CELLS = 1 << 28
"""Iterations times processors up to which stretches are sought."""


Groups = tuple[tuple[int, ...], ...]
"""Nests that run on the same processors, by their places in the body."""


class Stretches(Struct, frozen=True, eq=False):
    """How a loop is walked."""

    parts: tuple[tuple[int, int], ...]
    """The first iteration of each, from 0, and how many iterations it has."""
    misses: Spread | None
    shares: Shares
    """How often branches that assign to scalars are taken (`interpreter.models.shares`)."""


class _Body(Struct, frozen=True, eq=False):
    """A body that has stretches, if its values say so."""

    aaus: tuple[IterD, ...]
    """Those of the nests."""
    nests: tuple[Nest, ...]
    exchanges: tuple[Exchange, ...]
    conditionals: tuple[AAU, ...]
    """Branches that assign to scalars."""


def stretches_of(
    run: Run, aau: IterD | IterSync, loop: DoNode, body: tuple[AAU, ...], values: range
) -> Stretches | None:
    """The stretches of a loop whose variable takes these values; None: it has none, or a long loop has too many to be
    worth it (`interpreter.models.differing`). Around a single loop they always are: an iteration of it does not fill a
    cache, and what one finds there of those before it is known of all together alone."""
    found = _body(run, aau, loop, body)
    if found is None or not values or place_of(run) is not None or len(values) * run.procs > CELLS:
        return None
    by_shares = found.conditionals and not run.setting.force_unroll
    shares = count_shares(run, found.conditionals, loop.var, values) if by_shares else {}
    if shares is None:
        return None
    try:
        begins, groups = _begins(run, found, loop.var, values)
        if begins.size * WORTH > len(values) >= LONG and len(found.nests[0].indices) > 1:
            return None
        wholes = _wholes(run, aau, loop, found, groups)
        if wholes is None:
            return None
        misses = _misses(run, found, groups, wholes)
    except (Unknown, TooLarge):
        return None
    if run.setting.force_unroll:
        begins = np.arange(len(values))
    begins = np.unique(np.append(begins, len(values) - 1))  # the last iteration by itself says when all ended
    lengths = np.diff(np.append(begins, len(values)))
    return Stretches(tuple(zip(begins.tolist(), lengths.tolist(), strict=True)), misses, shares)


def walk_stretches(
    run: Run, aau: IterD | IterSync, loop: DoNode, body: tuple[AAU, ...], values: Sequence[int], found: Stretches
) -> None:
    """Walk one iteration of each stretch for all of it."""
    afford(run, aau, len(found.parts), len(values))
    run.rebase()
    if run.tape is not None:
        run.tape.entries.append(None)
    watched = Watched(run, aau, len(values))
    place = None if found.misses is None else Place(found.misses)
    with sharing(run, found.shares), nullcontext() if place is None else placed(run, place):
        for first, count in found.parts:
            watched.at(first)
            if place is not None:
                place.at(first)
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
    """A body of nests, of exchanges between owners and of scalars; None: it has something else."""
    aaus = [each for each in body if isinstance(each, IterD) and each.nest is not None]
    nests = tuple(each.nest for each in aaus if each.nest is not None)
    exchanges, others = [], []
    for each in body:
        if isinstance(each, Comm) and isinstance(each.operation, Exchange) and each.host is None:
            exchanges.append(each.operation)
        elif each not in aaus:
            others.append(each)
    if not nests or not all(_is_scalar(each, loop.var) or _assigns_scalars(each) for each in others):
        return None
    if needed(body) & (defined(body) - {loop.var}) or not all(map(_is_plain, nests)):
        return None
    if len(nests) > 1 and any(each.indices for each in nests):
        return None
    conditionals = tuple(each for each in others if isinstance(each, CondtD))
    return _Body(tuple(aaus), nests, tuple(exchanges), conditionals)


def _is_scalar(aau: AAU, var: str) -> bool:
    """Whether every processor does it, and the same in each iteration."""
    inside = list(walk((aau,)))
    return not needed((aau,)) & {var} and all(
        (isinstance(each, Seq) and not each.leave and not each.clock_mark and not each.unmodelled)
        or (isinstance(each, Call) and not each.assumption)
        or (isinstance(each, IterD) and each.nest is None and not each.sweeps and _has_no_home(each))
        for each in inside
    )


def _assigns_scalars(aau: AAU) -> bool:
    """Whether it is a conditional of assignments to scalars."""
    return isinstance(aau, CondtD) and all(
        isinstance(each, CondtD) or (isinstance(each, Seq) and not each.leave and not each.unmodelled)
        for each in walk((aau,))
    )


def _has_no_home(aau: IterD) -> bool:
    return aau.loop is None or aau.loop.home is None


def _is_plain(nest: Nest) -> bool:
    home = nest.home
    return home is not None and not (home.is_scattered or has_conditions(nest) or nest.reduce or nest.copies)


def _around(loop: DoNode, nest: Nest) -> Nest:
    """All iterations of a loop around a nest."""
    index, home = loop.index, nest.home
    assert home is not None
    return replace(
        nest,
        indices=(index, *nest.indices),
        home=replace(home, indices=(index, *home.indices)),
        outer=((), *nest.outer) if nest.outer else (),
        leading=(0, *nest.leading) if nest.outer else (),
        uses=(nest.uses | index.reads) - {index.name},
        near=True,
    )


def _together(loop: DoNode, aaus: Sequence[IterD]) -> Nest:
    """All iterations of a loop around assignments that run on the same processors."""
    nests = [(each.id, _around(loop, each.nest)) for each in aaus if each.nest is not None]
    first = nests[0][1]
    return AccessSweep(
        span=first.span,
        uses=frozenset().union(*(each.uses for _, each in nests)),
        defines=frozenset().union(*(each.defines for _, each in nests)),
        indices=first.indices,
        home=first.home,
        assigns=(),
        touches=tuple(replace(touch, source=number) for number, each in nests for touch in touches(each)),
        near=True,
    )


@remembered(of_aau, lambda _run, _aau, _loop, _found, groups: groups)
def _wholes(_: Run, _aau: AAU, loop: DoNode, found: _Body, groups: Groups) -> tuple[Nest, ...] | None:
    """All iterations of the loop as one nest for each group; None: two groups use the same array."""
    wholes = tuple(
        _around(loop, found.nests[each[0]]) if len(each) == 1 else _together(loop, [found.aaus[at] for at in each])
        for each in groups
    )
    used = [{touch.element.name for touch in touches(each)} for each in wholes]
    return wholes if sum(map(len, used)) == len(set[str]().union(*used)) else None


def _misses(run: Run, found: _Body, groups: Groups, wholes: Sequence[Nest]) -> Spread | None:
    """What each nest misses, one group after the other."""
    shares: dict[int, NDArray[np.float64]] = {}
    state = None
    for group, whole in zip(groups, wholes, strict=True):
        spread = spread_evenly(run, found.aaus[group[0]], whole, state)
        if spread is None:
            return None
        shares |= zip(group, spread.shares, strict=True)
        state = spread.after
    return None if state is None else Spread(tuple(shares[at] for at in range(len(found.nests))), state)


def _begins(run: Run, found: _Body, var: str, values: range) -> tuple[NDArray[np.intp], Groups]:
    """The first iterations of the stretches, and which nests run on the same processors in all iterations."""
    along = Along(var, np.array(values, np.int64))
    begins = np.zeros(len(values), np.bool_)
    for each in found.exchanges:
        moves = run.application.may_move(each, run.env, along)
        begins |= moves
        begins[1:] |= moves[:-1]
    runs: dict[bytes, list[int]] = {}
    for number, nest in enumerate(found.nests):
        where, at, before = blake2b(), 0, None
        for now in run.application.levels_along(nest, run.env, along):
            end = at + len(now)
            begins[at] |= before is None or not np.array_equal(before, now[0])
            begins[at + 1 : end] |= (now[1:] != now[:-1]).any(axis=(1, 2))
            where.update(np.ascontiguousarray(now).tobytes())
            at, before = end, now[-1]
        runs.setdefault(where.digest(), []).append(number)
    return np.flatnonzero(begins), tuple(map(tuple, runs.values()))
