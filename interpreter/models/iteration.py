"""Loops: IterD in closed form, IterSync iteration by iteration until it repeats, IterND by functional interpretation.

Formula: T_exec(IterD) = T_setup + n * (T_iter + T_body).
Formula: TCall_iter(i) = TCall_iter(i-1) + T_ovhd + T_blk1 + T_comm1(i-1) + ...: the walk itself.
Source: Parashar and Hariri, section 2.3; Def 16, 17, 18.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import cache

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from aag.functional.tables import LoopTrips
from aag.graph.aau import AAU, IterD, IterND, IterSync, Seq, Work, walk
from aag.ir.evaluate import Unknown
from aag.ir.statements import RETURNED
from aag.spmd.nodes import DoNode, Nest
from aag.spmd.partition import Trips
from aag.wording import plural
from interpreter.counts import Counts
from interpreter.evaluate import Scalars, defined, leave_of, needed, own_leave, touching
from interpreter.exits import leaving_exits
from interpreter.metrics import Tally
from interpreter.models.again import again
from interpreter.models.asking import announce_mask, span_of
from interpreter.models.cache import CacheStates
from interpreter.models.compute import (
    GUARD,
    LOOP_SETUP,
    LOOP_STEP,
    Cost,
    charge,
    charge_work,
    masked_of,
    nest_cost,
    priced,
)
from interpreter.models.differing import LONG, Differing, Even, MissRecorder, Place, sampled, settled
from interpreter.models.entries import (
    ENTRIES,
    ask_early,
    differently_often,
    entries_inside,
    exit_lines,
    lose_entries,
    walk_groups,
)
from interpreter.models.guarded import times_of_branches
from interpreter.models.listing import listing
from interpreter.models.misses import caches_of, charge_misses, place_of, placed, state_of
from interpreter.models.owned import run_owned
from interpreter.models.owners import Owners, samples
from interpreter.models.period import Watched, afford, is_refused, repeat
from interpreter.models.planes import has_misses, planes_of, settles
from interpreter.models.shares import Shares, count_shares, decided, sharing
from interpreter.models.stretches import stretches_of, walk_stretches
from interpreter.models.sweeping import FOLLOWED, Followed, followed_of, following, sweep
from interpreter.remembered import Key, by_values, of_aau, remembered, values_of
from interpreter.state import Run


class Carried(Struct, frozen=True):
    """What iterations of a loop leave to each other."""

    names: tuple[str, ...] | None
    """Scalars that the body changes and that decide what it does; None where the loop variable is one of them."""
    places: frozenset[str]
    """Scalars that the loop changes, its variable among them, and that decide where loops inside touch memory."""


def iterate(run: Run, scalars: Scalars, aau: IterD) -> str:
    """A parallel nest, or a counted loop without communication."""
    if aau.nest is None:
        if aau.loop is None:
            return ""
        sweep(run, aau)
        return _counted(run, scalars, aau, aau.loop, aau.body)
    nest, key = aau.nest, ("nest", aau.id, by_values(run, aau))
    trips = cache(lambda: run.application.trips(nest, run.env))
    try:
        cost = _nest(run, key, aau, nest, trips)
    except Unknown as unknown:
        raise scalars.unresolved(unknown, aau.span, run.env) from unknown
    charge(run, aau.id, cost)
    if nest.home is not None and nest.home.is_scattered:
        charge(run, aau.id, _tests(run, key, trips))
    run.books.count(aau.id, Tally.EXECUTIONS, 1.0)
    charge_misses(run, aau, nest, key, trips)
    scalars.forget(run.env, aau.defines & scalars.relevant)
    return ""


@remembered(lambda _, key, *_rest: key[1], lambda _, key, *_rest: key[2])
def _nest(run: Run, _key: Key, aau: IterD, nest: Nest, trips: Callable[[], Trips]) -> Cost:
    """What a nest costs with the values that hold now."""
    found = trips()
    if found.bounded:
        run.books.assume(
            "bound",
            f"too many index combinations to count the iterations of {aau.label}: using an upper bound",
            aau.span,
        )
    if nest.mask is not None and found.masked is None:
        announce_mask(run, nest, span_of(nest.mask, aau.span))
    conditional = [masked_of(run, nest, found), *times_of_branches(run, nest, found)]
    return nest_cost(run, aau, found.level, found.count, conditional, found.entered)


@remembered(lambda _, key, *_rest: key[1], lambda _, key, *_rest: key[2])
def _tests(run: Run, _key: Key, trips: Callable[[], Trips]) -> Cost:
    """What every processor pays to find its iterations, where index arrays decide whose they are (Def 16)."""
    found = trips()
    tested = found.tested or 0
    guard, step = run.prices.of(GUARD), run.prices.of(Work(overhead=LOOP_STEP.computation))
    others = np.maximum(tested - found.count, 0)  # where a loop runs inside the test, its own iterations are counted
    return priced(Counts(run.prices.basis(guard, step), np.array([np.full(run.procs, tested), others], np.float64)))


def synchronised(run: Run, scalars: Scalars, aau: IterSync) -> str:
    """A counted loop with communication, or a sequential DO over distributed data."""
    if aau.owned is not None:
        run_owned(run, scalars, aau, aau.owned)
        return ""
    if aau.loop is None:
        return ""
    sweep(run, aau)
    loop = aau.loop
    return again(run, aau, lambda: _counted(run, scalars, aau, loop, aau.body))


def _counted(run: Run, scalars: Scalars, aau: IterD | IterSync, loop: DoNode, body: tuple[AAU, ...]) -> str:
    first, step, count = scalars.trips(loop, run.env, aau.span)
    if loop.home is not None:
        return _shared(run, aau, loop, body, range(first, first + count * step, step))
    carried, followed = _carried(run, aau, loop.var, body), followed_of(run)
    names, places = carried.names, carried.places
    if names is not None and places:
        if followed.walks * count <= FOLLOWED:
            followed = Followed(followed.walks * max(1, count), followed.lost)
            names = None if loop.var in places else tuple(sorted({*names, *places}))
        else:
            followed = Followed(followed.walks, followed.lost | places)
    start = dict(run.env)
    if exit_lines(run, aau, body, loop.name):
        ask_early(run, aau)
    run.books.count(aau.id, Tally.EXECUTIONS, 1.0)
    charge_work(run, aau.id, LOOP_SETUP)
    charge_work(run, aau.id, aau.setup)

    differing, shares, stretches = None, None, None
    values = range(first, first + count * step, step)
    if names is None:
        run.application.expect(loop.var, values)
        shares = _shares(run, aau, loop.var, body, values)
        if shares is not None:
            names = ()
        elif (stretches := stretches_of(run, aau, loop, body, values)) is None:
            names = planes_of(run, aau, loop.var, body, values)
            if names is None:
                afford(run, aau, count, count)
            steady = names is not None and settles(run, aau, loop.var, body)
            differing = _differing(run, aau, loop, body, values, steady)
            if names is not None and has_misses(run, body) and not isinstance(differing, Even):
                names = None
                afford(run, aau, count, count)
            if names is not None:
                run.application.expect(loop.var, ())
    place = None if differing is None else Place(differing)

    done = 0

    def one(number: int) -> str:
        nonlocal done
        done += 1
        if place is not None:
            place.at(number)
        run.env[loop.var] = first + number * step
        charge_work(run, aau.id, LOOP_STEP)
        left = own_leave(run.visit(run, body), loop.name)
        return "" if left == "cycle" else left

    inside = differently_often(run, body)
    ending = None if loop.var.startswith(RETURNED) else _ending(run, scalars, aau, body, loop.name, count)
    whole, exits = (count, frozenset[int]()) if ending is None else ending
    exits = frozenset(each for each in exits if run.exits.get(each, True))  # a loop around may know better
    with following(run, followed), sharing(run, shares or {}), nullcontext() if place is None else placed(run, place):
        never = frozenset[int]() if ending is None else exit_lines(run, aau, body, loop.name)
        leaving = nullcontext() if loop.var.startswith(RETURNED) else _leaving(run, aau, body, loop.name)
        with _exits(run, never, taken=False), leaving:
            periodic = names is not None and not (inside and whole <= ENTRIES)
            if stretches is not None:
                left = ""
                walk_stretches(run, aau, loop, body, values, stretches)
            elif names == () and (entries := entries_inside(run, aau, body, inside, whole)) is not None:
                left = ""
                walk_groups(run, aau, body, one, entries)
            else:
                left = repeat(run, aau, whole, one, names=names or (), periodic=periodic)
            lose_entries(run, inside if periodic else ())
            if exits and not left:
                if done < whole and not is_refused(run):
                    scalars.after(loop, body, run.env, start, whole)
                with _exits(run, never - exits, taken=False), _exits(run, exits, taken=True):
                    run.books.count(aau.id, Tally.ITERATIONS, 1.0)
                    left = one(whole) or "exit"
    run.application.expect(loop.var, ())
    if differing is not None:
        run.cache = differing.after
    if left == "exit":
        return ""
    if left:
        return left
    if done < count and not is_refused(run):
        scalars.after(loop, body, run.env, start, count)
    run.env[loop.var] = first + count * step
    return ""


def _ending(
    run: Run, scalars: Scalars, aau: AAU, body: tuple[AAU, ...], name: str, count: int
) -> tuple[int, frozenset[int]] | None:
    """How often a counted loop runs, and the lines of the EXITs that end one more iteration, if the user says so
    (``trips_LINE``) or that was computed."""
    found = run.setting.trips.get(aau.span.line)
    if found is not None and f"trips_{aau.span.line}" not in scalars.given:
        return found.of(count, run.entered(aau.span.line))
    known = scalars.given.get(f"trips_{aau.span.line}")
    if not isinstance(known, int) or isinstance(known, bool) or not 0 <= known < count:
        return None
    exits = exit_lines(run, aau, body, name)
    if not exits:
        return None
    times = plural(known, "time")
    run.books.assume("while", f"line {aau.span.line}: the loop runs {times} and a part of one more, as given", aau.span)
    return known, exits


@contextmanager
def _leaving(run: Run, aau: AAU, body: tuple[AAU, ...], name: str) -> Iterator[None]:
    """Which loop an EXIT leaves, by their lines, for what is said of it."""
    before, lines = run.leaving, exit_lines(run, aau, body, name)
    run.leaving = {**before, **{each: (*before.get(each, ()), aau.span.line) for each in lines}} if lines else before
    try:
        yield
    finally:
        run.leaving = before


def _shared(run: Run, aau: AAU, loop: DoNode, body: tuple[AAU, ...], values: range) -> str:
    """A loop of which each processor runs its own iterations. They leave nothing to each other."""
    assert isinstance(aau, IterD)
    assert loop.home is not None
    run.books.count(aau.id, Tally.EXECUTIONS, 1.0)
    charge_work(run, aau.id, LOOP_SETUP)
    charge_work(run, aau.id, aau.setup)
    owners = Owners(run, aau, loop, loop.home, len(values))
    alike = loop.var not in needed(body) and not run.setting.force_unroll and not differently_often(run, body)
    some = samples(len(values)) if alike else tuple((number, 1.0) for number in range(len(values)))
    afford(run, aau, len(some), len(values))
    if not alike:
        run.application.expect(loop.var, values)
    run.rebase()
    if run.tape is not None:
        run.tape.entries.append(None)
    watched = Watched(run, aau, len(values))
    for number, times in some:
        watched.at(number)
        run.env[loop.var] = values[number]
        run.books.walked += 1
        with owners.running(times if alike else None):
            run.books.count(aau.id, Tally.ITERATIONS, 1.0)
            charge_work(run, aau.id, LOOP_STEP)
            run.visit(run, body)
        if is_refused(run):
            break
    watched.end()
    run.application.expect(loop.var, ())
    run.env[loop.var] = values.start + len(values) * values.step
    return ""


def _shares(run: Run, aau: IterD | IterSync, var: str, body: tuple[AAU, ...], values: range) -> Shares | None:
    """The shares of the branches in a loop whose iterations differ in nothing but the branches that they take."""
    if not isinstance(aau, IterD) or run.setting.force_unroll or needed(body) & decided(run, body) - {var}:
        return None
    return count_shares(run, body, var, values)


def _differing(
    run: Run, aau: AAU, loop: DoNode, body: tuple[AAU, ...], values: range, steady: bool
) -> Differing[CacheStates] | Even[CacheStates] | None:
    """Some iterations in which misses are counted for all; None: they are counted in each. `steady`: whether
    they miss as much as each other once they have filled the cache."""
    costs, setting = run.machine.memory, run.setting
    if costs is None or not setting.memory or setting.force_unroll or place_of(run):
        return None
    if len(values) < LONG and not steady:
        return None
    if not _is_countable(body) or _carries_over(loop.var, body):
        return None
    env = values_of(tuple(sorted(needed(body) | touching(body))), run.env)
    state, addresses = state_of(run), tuple(setting.addresses.items())
    key = (
        "differing",
        loop,
        values,
        env,
        tuple(setting.masks.items()),
        addresses,
        caches_of(costs),
        costs.tlb_entries,
        state,
    )
    found, allowance = run.application.answers.find(key), listing(run)

    def replay(number: int, before: CacheStates) -> tuple[MissRecorder, CacheStates]:
        aside, recorder = run.aside(), MissRecorder()
        aside.cache = before
        aside.env[loop.var] = values[number]
        with placed(aside, recorder):
            aside.visit(aside, body)
        return recorder, state_of(aside)

    if not isinstance(found, Differing | Even):
        left = allowance.left
        found = settled(len(values), state, replay) if steady else None
        if found is None and len(values) >= LONG:
            found = sampled(len(values), state, replay, lambda: allowance.left < 0)
        if found is None:
            return None
        found = replace(found, listed=left - allowance.left)
        run.application.answers.keep(key, found, found.nbytes())
    else:
        allowance.spend(found.listed)
    how = "and interpolated" if isinstance(found, Differing) else "whose mean stands for all"
    run.books.assume(
        "cache",
        f"cache misses of {aau.label} are counted in {found.counted_in} of {len(values):,} iterations {how}",
        aau.span,
    )
    return found


def _is_countable(body: tuple[AAU, ...]) -> bool:
    """Whether iterations reach memory, outside loops of their own, and none of them leaves the loop."""
    inside = list(walk(body))
    if any(isinstance(each, Seq) and leave_of(each) for each in inside):
        return False
    loops = [each for each in inside if isinstance(each, IterD | IterSync | IterND)]
    return any(map(_reaches_memory, loops)) and not any(
        _reaches_memory(each) for loop in loops for each in walk(loop.body)
    )


def _reaches_memory(aau: AAU) -> bool:
    """Whether misses are charged when a loop begins."""
    if isinstance(aau, IterD):
        return aau.nest is not None or bool(aau.sweeps)
    return isinstance(aau, IterSync) and aau.owned is not None


@remembered(of_aau)
def _carried(_: Run, _aau: AAU, var: str, body: tuple[AAU, ...]) -> Carried:
    """What iterations of a loop with the variable `var` ("": none) leave to each other."""
    wanted, changed = needed(body), defined(body)
    names = None if var and var in wanted else tuple(sorted(wanted & changed))
    return Carried(names, touching(body) & (changed | {var}))


def _carries_over(var: str, body: tuple[AAU, ...]) -> bool:
    """Whether scalars other than loop variables decide what the body does, and the body changes them: an iteration may
    depend on those before it."""
    inside = {each.loop.var for each in walk(body) if isinstance(each, IterD | IterSync) and each.loop}
    return bool((needed(body) | touching(body)) & defined(body) - inside - {var})


def undetermined(run: Run, scalars: Scalars, aau: IterND) -> str:
    """A while loop: its trip count by functional interpretation (Def 18), then as any loop with communication."""
    return again(run, aau, lambda: _undetermined(run, scalars, aau))


def _undetermined(run: Run, scalars: Scalars, aau: IterND) -> str:
    ask_early(run, aau)
    run.books.count(aau.id, Tally.EXECUTIONS, 1.0)
    sweep(run, aau)
    known = scalars.given.get(f"trips_{aau.span.line}")
    found = None if known is not None else run.setting.trips.get(aau.span.line)
    never = frozenset[int]() if found is None else exit_lines(run, aau, aau.body, aau.name)
    after = dict(run.env)
    left, last, exits = "", after, frozenset[int]()
    if isinstance(known, int) and not isinstance(known, bool):
        found = LoopTrips(counts=(max(0, known),), exits=_only_exit(aau))
        times = plural(found.counts[0], "time") + (" and a part of one more" if found.partial else "")
        run.books.assume("while", f"line {aau.span.line}: the loop runs {times}, as given", aau.span)
        never = exit_lines(run, aau, aau.body, aau.name)
    if found is not None:
        count, exits = _entry(run, found, aau.span.line)
        left = "exit" if exits else ""
        for _ in range(min(count, run.setting.while_iterations)):
            scalars.simulate(aau.body, after)
    else:
        count, left, assumed, last = scalars.while_trips(aau, after, run.setting.while_iterations)
        if assumed:
            of_all = "its one iteration" if count == 1 else f"all {count} iterations"
            run.books.assume(
                "while", f"line {aau.span.line}: the loop exit depends on data: assuming {of_all}", aau.span
            )

    def one(_: int) -> str:
        charge_work(run, aau.id, aau.work)
        how = own_leave(run.visit(run, aau.body), aau.name)
        return "" if how == "cycle" else how

    carried, followed = _carried(run, aau, "", aau.body), followed_of(run)
    inside = differently_often(run, aau.body)
    periodic = not inside or count > ENTRIES
    exits = frozenset(each for each in exits if run.exits.get(each, True))
    with (
        following(run, Followed(followed.walks, followed.lost | carried.places)),
        _leaving(run, aau, aau.body, aau.name),
    ):
        with _exits(run, never | exits, taken=False):
            how = repeat(run, aau, count, one, names=carried.names or (), periodic=periodic)
        lose_entries(run, inside if periodic else ())
        if not how and left:
            run.env.clear()
            run.env.update(last)
            with _exits(run, never - exits, taken=False), _exits(run, exits, taken=True):
                run.books.count(aau.id, Tally.ITERATIONS, 1.0)
                how = one(count)
            after = dict(run.env)
        elif not how:
            charge_work(run, aau.id, aau.work)
    run.env.clear()
    run.env.update(after)
    return "" if how == "exit" else how


def _entry(run: Run, found: LoopTrips, line: int) -> tuple[int, frozenset[int]]:
    """Complete iterations of this entry of a while loop, or of all in the mean, and what ends one more."""
    entry = run.entered(line)
    if found.ends and entry < len(found.counts):
        return found.counts[entry], frozenset((found.ends[entry],)) if found.ends[entry] else frozenset()
    return round(found.mean), found.exits


def _only_exit(aau: IterND) -> frozenset[int]:
    """The line of the EXIT by which a loop without a condition ends, if it has just one. A condition that is evaluated
    by statements of a procedure is such an EXIT at the beginning."""
    found = [each.span.line for each in leaving_exits(aau.body, aau.name)] if aau.condition is None else []
    return frozenset(found if len(found) == 1 else ())


@contextmanager
def _exits(run: Run, lines: frozenset[int], *, taken: bool) -> Iterator[None]:
    """Whether EXITs are taken in iterations, because the trip count of the loop that they end is known."""
    before = run.exits
    run.exits = {**before, **dict.fromkeys(lines, taken)} if lines else before
    try:
        yield
    finally:
        run.exits = before
