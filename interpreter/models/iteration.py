"""Loops: IterD in closed form, IterSync iteration by iteration until it repeats, IterND by functional interpretation.

Formula: T_exec(IterD) = T_setup + n * (T_iter + T_body).
Formula: TCall_iter(i) = TCall_iter(i-1) + T_ovhd + T_blk1 + T_comm1(i-1) + ...: the walk itself.
Source: Parashar and Hariri, section 2.3; Def 16, 17, 18.
"""

from msgspec import Struct

from aag.graph.aau import AAU, IterD, IterND, IterSync, Seq, walk
from aag.ir.evaluate import Unknown
from aag.spmd.nodes import DoNode
from interpreter.evaluate import Scalars, defined, leave_of, needed, own_leave, touching
from interpreter.metrics import Tally
from interpreter.models.cache import CacheState
from interpreter.models.compute import (
    LOOP_SETUP,
    LOOP_STEP,
    Cost,
    charge,
    charge_work,
    masked_of,
    nest_cost,
    sorted_uses,
    values_of,
)
from interpreter.models.differing import LONG, Differing, Place, Recorder, sampled
from interpreter.models.misses import cache_of, charge_misses, state_of
from interpreter.models.owned import run_owned
from interpreter.models.period import repeat
from interpreter.models.sweeping import FOLLOWED, Followed, followed_of, sweep
from interpreter.state import Run


def iterate(run: Run, scalars: Scalars, aau: IterD) -> str:
    """A parallel nest, or a counted loop without communication."""
    if aau.nest is None:
        if aau.loop is None:
            return ""
        sweep(run, aau)
        return _counted(run, scalars, aau, aau.loop, aau.body)
    key = ("nest", aau.id, values_of(sorted_uses(run, aau), run.env))
    cost, trips = run.memo.get(key), None
    if not isinstance(cost, Cost):
        try:
            trips = run.application.trips(aau.nest, run.env)
        except Unknown as unknown:
            raise scalars.unresolved(unknown, aau.span, run.env) from unknown
        if trips.bounded:
            run.assume(
                "bound",
                f"the indices of {aau.label} are coupled in too many combinations to be counted: "
                "its iterations are an upper bound",
                aau.span,
            )
        if aau.nest.mask is not None and trips.masked is None:
            run.assume("mask", "data decide the mask: it is taken to hold for half of the elements", aau.span)
        cost = nest_cost(run, aau, trips.level, trips.count, masked_of(aau.nest, trips))
        run.remember(key, cost)
    charge(run, aau.id, cost)
    run.count(aau.id, Tally.EXECUTIONS, 1.0)
    charge_misses(run, aau, key, trips)
    scalars.forget(run.env, aau.defines & scalars.relevant)
    return ""


def synchronised(run: Run, scalars: Scalars, aau: IterSync) -> str:
    """A counted loop with communication, or a sequential DO over distributed data."""
    if aau.owned is not None:
        run_owned(run, scalars, aau, aau.owned)
        return ""
    if aau.loop is None:
        return ""
    sweep(run, aau)
    return _counted(run, scalars, aau, aau.loop, aau.body)


def _counted(run: Run, scalars: Scalars, aau: IterD | IterSync, loop: DoNode, body: tuple[AAU, ...]) -> str:
    first, step, count = scalars.trips(loop, run.env, aau.span)
    names, followed = _dependence(run, aau, loop.var, body), followed_of(run)
    places = _places(run, aau, loop.var, body) if names is not None else frozenset[str]()
    if places:
        if followed.walks * count <= FOLLOWED:
            now = Followed(followed.walks * max(1, count), followed.lost)
            names = None if loop.var in places else tuple(sorted({*(names or ()), *places}))
        else:
            now = Followed(followed.walks, followed.lost | places)
        run.memo["followed",] = now
    start = dict(run.env)
    run.count(aau.id, Tally.EXECUTIONS, 1.0)
    charge_work(run, aau.id, LOOP_SETUP)

    differing = None
    if names is None:
        values = range(first, first + count * step, step)
        run.application.expect(loop.var, values)
        differing = _differing(run, aau, loop, body, values)

    def one(number: int) -> str:
        if differing is not None:
            run.place = Place(differing, number)
        run.env[loop.var] = first + number * step
        charge_work(run, aau.id, LOOP_STEP)
        left = own_leave(run.visit(run, body), loop.name)
        return "" if left == "cycle" else left

    walked = run.walked
    left = repeat(run, aau, count, one, names=names or (), periodic=names is not None)
    run.application.expect(loop.var, ())
    if differing is not None:
        run.place, run.cache = None, differing.after
    run.memo["followed",] = followed
    if left == "exit":
        return ""
    if left:
        return left
    if run.walked - walked < count:
        scalars.after(loop, body, run.env, start, count)
    run.env[loop.var] = first + count * step
    return ""


def _differing(run: Run, aau: AAU, loop: DoNode, body: tuple[AAU, ...], values: range) -> Differing[CacheState] | None:
    """Some iterations in which misses are counted for all; None: they are counted in each."""
    costs, setting = run.machine.memory, run.setting
    if costs is None or not setting.memory or setting.force_unroll or len(values) < LONG or run.place is not None:
        return None
    if not _is_countable(body) or _carries_over(loop.var, body):
        return None
    env = values_of(tuple(sorted(needed(body) | touching(body))), run.env)
    state, addresses = state_of(run), tuple(setting.addresses.items())
    key = ("differing", loop, values, env, addresses, cache_of(costs), costs.tlb_entries, state)
    found = run.application.answers.find(key)

    def replay(number: int, before: CacheState) -> tuple[Recorder, CacheState]:
        aside, recorder = run.aside(), Recorder()
        aside.place, aside.cache = recorder, before
        aside.env[loop.var] = values[number]
        aside.visit(aside, body)
        return recorder, state_of(aside)

    if not isinstance(found, Differing):
        found = sampled(len(values), state, replay)
        if found is None:
            return None
        run.application.answers.keep(key, found, found.nbytes())
    run.assume(
        "cache",
        f"cache misses of {aau.label} are counted in {len(found.iterations)} of its {len(values):,} iterations "
        "and interpolated between them",
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


def _dependence(run: Run, aau: AAU, var: str, body: tuple[AAU, ...]) -> tuple[str, ...] | None:
    """Scalars that the body changes and that decide what it does; None where the loop variable is one of them."""
    key = ("dependence", aau.id)
    known = run.memo.get(key)
    if isinstance(known, Dependence):
        return known.names
    wanted = needed(body)
    names = None if var and var in wanted else tuple(sorted(wanted & defined(body)))
    run.memo[key] = Dependence(names)
    return names


class Dependence(Struct, frozen=True):
    """Answer of `_dependence`, kept."""

    names: tuple[str, ...] | None


def _carries_over(var: str, body: tuple[AAU, ...]) -> bool:
    """Whether scalars other than loop variables decide what the body does, and the body changes them: an iteration may
    depend on those before it."""
    inside = {each.loop.var for each in walk(body) if isinstance(each, IterD | IterSync) and each.loop}
    return bool((needed(body) | touching(body)) & defined(body) - inside - {var})


def _places(run: Run, aau: AAU, var: str, body: tuple[AAU, ...]) -> frozenset[str]:
    """Scalars that the loop changes, its variable among them, and that decide where loops inside touch memory."""
    key = ("places", aau.id)
    known = run.memo.get(key)
    if not isinstance(known, frozenset):
        known = run.memo[key] = touching(body) & (defined(body) | {var})
    return known


def undetermined(run: Run, scalars: Scalars, aau: IterND) -> str:
    """A while loop: its trip count by functional interpretation (Def 18), then as any loop with communication."""
    run.count(aau.id, Tally.EXECUTIONS, 1.0)
    sweep(run, aau)
    known = scalars.given.get(f"trips_{aau.span.line}")
    after = dict(run.env)
    left, last = "", after
    if isinstance(known, int) and not isinstance(known, bool):
        count = max(0, known)
        for _ in range(min(count, run.setting.while_iterations)):
            scalars.simulate(aau.body, after)
        run.assume("while", f"line {aau.span.line}: the loop runs {count} times, as asked", aau.span)
    else:
        count, left, assumed, last = scalars.while_trips(aau, after, run.setting.while_iterations)
        if assumed:
            run.assume(
                "while",
                f"line {aau.span.line}: it is not known when the condition ends the loop; it is taken "
                f"to run to its bound, {count} iterations",
                aau.span,
            )

    def one(_: int) -> str:
        charge_work(run, aau.id, aau.work)
        how = own_leave(run.visit(run, aau.body), aau.name)
        return "" if how == "cycle" else how

    followed = followed_of(run)
    run.memo["followed",] = Followed(followed.walks, followed.lost | _places(run, aau, "", aau.body))
    how = repeat(run, aau, count, one, names=_dependence(run, aau, "", aau.body) or ())
    if not how and left:
        run.env.clear()
        run.env.update(last)
        how = one(count)
    elif not how:
        charge_work(run, aau.id, aau.work)
    run.memo["followed",] = followed
    run.env.clear()
    run.env.update(after)
    return "" if how == "exit" else how
