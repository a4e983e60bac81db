"""Cache misses of the nests, charged with the penalties of M (Def 17).

A miss is time of the statement that misses, hence computation. Which lines are still cached is carried from nest to
nest; what a nest misses is remembered for the state in which it found the cache, so that loops whose cache contents
have settled cost nothing more. Processors whose local parts have equal shapes share one count in `models.cache`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from aag.graph.aau import IterD, IterSync
from aag.spmd.course import is_uneven
from aag.spmd.nodes import Nest
from aag.spmd.partition import Trips
from aag.spmd.touches import AccessSweep
from interpreter.counts import CountColumn, Counts
from interpreter.metrics import COMPUTATION
from interpreter.models.cache import (
    Cache,
    CachedAccess,
    CachedNest,
    CacheStates,
    ListedNest,
    Misses,
    Traces,
    interpret_levels,
    page_misses,
)
from interpreter.models.compute import Cost, alike, charge, masked_of, priced
from interpreter.models.differing import Counted, MissRecorder, Place
from interpreter.models.guarded import shares_in
from interpreter.models.listing import list_references, listing, statements_of
from interpreter.models.temporaries import through_temporaries
from interpreter.reduce import any_of
from interpreter.remembered import Key, by_values, remembered, values_of
from interpreter.result import Assumption
from interpreter.shared import Figures, Shared
from interpreter.state import Run
from sag.machine import CacheCosts, MemoryCosts

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

WORD = 8
"""Bytes of an element where none is known: where the references of a nest are looked at one by one."""

MOST_SEEN = 2048
"""Executions of nests that are remembered at once, as each holds the contents of all caches."""


class _Seen(Struct, frozen=True):
    """What a nest missed, and the states of the caches before and after."""

    before: CacheStates
    after: CacheStates
    cost: Cost
    statements: "tuple[tuple[int, _Seen], ...]" = ()
    """The same of each statement of a sweep, by its AAU."""


@remembered()
def _all_seen(_: Run) -> dict[Key, _Seen]:
    """What nests missed when they were reached last."""
    return {}


@remembered()
def _traces(_: Run) -> dict[Cache, Traces]:
    """References that were looked at, for each cache."""
    return {}


@remembered()
def _places(_: Run) -> list[Place | MissRecorder | None]:
    """In which iteration of a loop the walk is, or who takes down what is counted in it; the innermost is last."""
    return [None]


@contextmanager
def placed(run: Run, place: Place | MissRecorder) -> Iterator[None]:
    """Misses of a loop are known from other iterations, or are taken down."""
    _places(run).append(place)
    try:
        yield
    finally:
        _places(run).pop()


def place_of(run: Run) -> Place | MissRecorder | None:
    """Where misses are known or taken down; None: they are counted."""
    return _places(run)[-1]


class _Found(Struct, frozen=True, eq=False):
    """What a nest missed on each class of processors in each cache (nothing: it reaches no array), and the states after
    it."""

    misses: tuple[Misses, ...]
    after: CacheStates
    pages: Array | None = None
    """(K, G) translations that each of its G statements lacked; None: the machine does not say what that costs."""
    listed: int = 0
    """References that were looked at one by one for it."""
    assumed: tuple[Assumption, ...] = ()
    """What it rests on."""

    def nbytes(self) -> int:
        """Memory it holds, about."""
        own = 0 if self.pages is None else self.pages.nbytes
        for each in self.misses:
            own += 3 * each.read.nbytes + (0 if each.parts is None else each.parts.nbytes)
        return own + self.after.nbytes() + 500


class Spread(Struct, frozen=True, eq=False):
    """What iterations that are alike miss each: all of them together, for each run of the bodies of their nests."""

    shares: tuple[Array, ...]
    """(C, K) of each nest, on each class of processors."""
    after: CacheStates
    """What is cached after all of them."""

    def counted(self, _number: int, reached: int, key: Key, trips: Array) -> Counted:
        """Return what the nest counts in one of them that is reached next."""
        return Counted(key, trips, self.shares[reached] * trips[:, None])


def spread_evenly(run: Run, aau: IterD, whole: Nest, before: CacheStates | None) -> Spread | None:
    """What the iterations of a loop around the nest of an AAU miss, or around several nests, the first of them that of
    the AAU. `whole` are all of them as one nest, which finds the caches as they are `before` (None: now). None: the
    machine has none."""
    costs = run.machine.memory
    if costs is None or not run.setting.memory:
        return None
    key = ("whole", aau.id, values_of(tuple(sorted(whole.uses)), run.env))

    def trips() -> Trips:
        return run.application.trips(whole, run.env)

    state = state_of(run) if before is None else before
    found = _replayed(run, aau, whole, key, costs, state, trips)
    often = trips().count[run.application.classes()[1]].astype(np.float64)
    apart = [each for _, each in _apart(whole, found)] if isinstance(whole, AccessSweep) else [found]
    shares = tuple(Counted(key[:2], often, _figures(each, often.size)).share for each in apart)
    return Spread(shares, found.after)


def charge_misses(run: Run, aau: IterD, nest: Nest, key: Key, trips: Callable[[], Trips]) -> None:
    """Charge the misses of one execution of a nest; `key` says which nest with which values, `trips` how often its
    loops run."""
    seen = _seen(run, aau, nest, key, trips)
    if seen is not None:
        charge(run, aau.id, seen.cost)


def count_misses(run: Run, aau: IterSync, nest: Nest) -> Figures:
    """Count what one execution of a nest misses; the result is the time of it, (S or 1, P or 1), yet to be spent."""
    key = ("owned", aau.id, by_values(run, aau))
    seen = _seen(run, aau, nest, key, lambda: run.application.trips(nest, run.env))
    if seen is None or seen.cost.counts is None:
        return np.zeros((1, 1))
    run.books.pay(aau.id, seen.cost.counts)
    return np.zeros((1, 1)) if seen.cost.computation is None else seen.cost.computation


def charge_sweep(run: Run, aau: IterD, sweep: AccessSweep, key: Key, trips: Callable[[], Trips]) -> None:
    """Charge the misses of a DO nest that every processor runs whole, each statement its own."""
    seen = _seen(run, aau, sweep, key, trips)
    for statement, own in () if seen is None else seen.statements:
        charge(run, statement, own.cost)


def _seen(run: Run, aau: IterD | IterSync, nest: Nest, key: Key, trips: Callable[[], Trips]) -> _Seen | None:
    """What one execution of a nest misses, and the caches after it; None: the machine has none."""
    costs = run.machine.memory
    if costs is None or not run.setting.memory:
        return None
    state = state_of(run)
    place, known = place_of(run), _all_seen(run)
    seen = known.get(key) if place is None else None
    if seen is None or not (seen.before is state or seen.before.same_as(state)):
        found = _found(run, aau, nest, key, costs, state, trips)
        written = _written(run, nest, key[:2])
        seen = _charged(run, costs, state, found, written)
        if isinstance(nest, AccessSweep):
            apart = _apart(nest, found)
            seen = replace(
                seen, statements=tuple((number, _charged(run, costs, state, each, written)) for number, each in apart)
            )
        if place is None:
            if len(known) >= MOST_SEEN:
                known.clear()
            known[key] = seen
    run.cache = seen.after
    return seen


def _apart(sweep: AccessSweep, found: _Found) -> list[tuple[int, _Found]]:
    """What each statement of a sweep missed. Lines are written back for those whose writes brought them in, or where
    none did for those who read."""
    sources = tuple(dict.fromkeys(touch.source for touch in sweep.touches))
    if not found.misses:
        return [(each, found) for each in sources]
    if found.misses[0].parts is None:
        return [(sources[0], found)]
    parts = [_parts_of(each) for each in found.misses]
    return [
        (
            source,
            _Found(
                tuple(each[at] for each in parts),
                found.after,
                None if found.pages is None else found.pages[:, at : at + 1],
            ),
        )
        for at, source in enumerate(sources)
    ]


def _parts_of(misses: Misses) -> tuple[Misses, ...]:
    """What each statement missed."""
    assert misses.parts is not None
    read, write = misses.parts[:, ::2], misses.parts[:, 1::2]
    brought = np.where(write.sum(axis=1, keepdims=True) > 0, write, read)
    share = brought / np.maximum(brought.sum(axis=1, keepdims=True), 1.0)
    return tuple(Misses(read[:, at], write[:, at], misses.writeback * share[:, at]) for at in range(read.shape[1]))


def _sum(one: Misses, other: Misses) -> Misses:
    return Misses(one.read + other.read, one.write + other.write, one.writeback + other.writeback)


def state_of(run: Run) -> CacheStates:
    """What is cached now."""
    return run.cache if isinstance(run.cache, CacheStates) else _cold(run)


def caches_of(costs: MemoryCosts) -> tuple[Cache, ...]:
    """The caches of a machine, the nearest first."""
    return tuple(
        Cache(
            size_bytes=each.size_bytes,
            line_bytes=each.line_bytes,
            associativity=each.associativity,
            replacement=each.replacement,
            write_allocate=each.write_allocate,
        )
        for each in costs.caches
    )


def _cold(run: Run) -> CacheStates:
    """Empty caches: the same in all interpretations, so that what follows is known to be the same, too."""
    answers, costs = run.application.answers, run.machine.memory
    assert costs is not None
    question = ("cold", len(costs.caches))
    known = answers.find(question)
    if not isinstance(known, CacheStates):
        known = CacheStates.cold(run.application.classes()[1].size, len(costs.caches))
        answers.keep(question, known, known.nbytes())
    return known


def _found(
    run: Run,
    aau: IterD | IterSync,
    nest: Nest,
    key: Key,
    costs: MemoryCosts,
    state: CacheStates,
    trips: Callable[[], Trips],
) -> _Found:
    """What the nest misses from a state on: by a replay, or from what is known of other iterations of a loop."""
    place = place_of(run)
    if place is None:
        return _replayed(run, aau, nest, key, costs, state, trips)
    often = trips().count[run.application.classes()[1]].astype(np.float64)
    if isinstance(place, Place):
        counted = place.counted(key[:2], often)
        if counted is not None:
            return _between(counted, state, statements_of(nest), len(costs.caches))
    found = _replayed(run, aau, nest, key, costs, state, trips)
    if isinstance(place, MissRecorder):
        _record(run, place, nest, found, Counted(key[:2], often, _figures(found, often.size)))
    return found


def _replayed(
    run: Run,
    aau: IterD | IterSync,
    nest: Nest,
    key: Key,
    costs: MemoryCosts,
    state: CacheStates,
    trips: Callable[[], Trips],
) -> _Found:
    """What the nest misses from a state on: as it was found in an earlier interpretation, or by a replay."""
    caches = caches_of(costs)
    node = aau.owned if isinstance(aau, IterSync) else nest
    given = key[2], shares_in(run, nest), tuple(run.setting.addresses.items())
    question = ("misses", node, *given, caches, costs.tlb_entries, state)
    known = run.application.answers.find(question)
    if isinstance(known, _Found):
        listing(run).spend(known.listed)
        for each in known.assumed:
            run.books.assume(each.code, each.text, each.span)
        return known
    misses, after = tuple[Misses, ...](), state
    before, said = listing(run).left, len(run.books.assumptions)
    for part in _parts(run, nest, key, trips):
        if isinstance(part, CachedNest) and not part.accesses:
            continue
        more, after = interpret_levels(part, caches, after, _traces(run))
        misses = tuple(map(_sum, misses, more)) if misses else more
    pages = None
    if misses and costs.tlb_entries:
        tested = aau.tested if isinstance(aau, IterD) else 0
        pages = _pages(_shape(run, nest, trips(), tested), costs)
    assumed = tuple(run.books.assumptions.values())[said:]
    found = _Found(misses, after, pages, before - listing(run).left, assumed)
    run.application.answers.keep(question, found, found.nbytes())
    return found


def _record(run: Run, recorder: MissRecorder, nest: Nest, found: _Found, counted: Counted) -> None:
    """Take down what was found."""
    costs = run.machine.memory
    assert costs is not None
    sizes = () if is_uneven(nest) else [each.element_bytes for each in run.application.accesses(nest, run.env)]
    line = max(each.line_bytes for each in costs.caches)
    recorder.period = max(recorder.period, line // min(sizes, default=WORD))
    recorder.counted.append(counted)
    if found.misses:  # the last cache is refilled last
        last, misses = costs.last, found.misses[-1]
        brought = float((misses.read + misses.write if last.write_allocate else misses.read).mean())
        recorder.brought += brought * last.line_bytes / last.size_bytes


def _figures(found: _Found, classes: int) -> Array:
    """(C, K) what was found, as figures that can be interpolated."""
    if not found.misses:
        return np.zeros((classes, 0))
    own = [
        part
        for each in found.misses
        for part in (np.stack([each.read, each.write, each.writeback], axis=1), each.parts)
        if part is not None
    ]
    return np.concatenate(own if found.pages is None else [*own, found.pages], axis=1)


def _between(counted: Counted, state: CacheStates, statements: int, caches: int) -> _Found:
    """The inverse of `_figures`; the caches stay as they are."""
    figures = counted.figures
    if not figures.shape[1]:
        return _Found((), state)
    wide = 3 + (2 * statements if statements > 1 else 0)
    levels = [figures[:, at * wide : (at + 1) * wide] for at in range(caches)]
    misses = tuple(Misses(each[:, 0], each[:, 1], each[:, 2], each[:, 3:] if wide > 3 else None) for each in levels)
    end = caches * wide
    return _Found(misses, state, figures[:, end:] if figures.shape[1] > end else None)


def _parts(run: Run, nest: Nest, key: Key, trips: Callable[[], Trips]) -> tuple[CachedNest | ListedNest, ...]:
    """The nest as the cache sees it: what is done one after the other."""
    if is_uneven(nest):
        latest = _latest(run, nest, key[:2])
        if key[2] not in latest:
            latest.clear()
            latest[key[2]] = list_references(run, nest)
        found = latest[key[2]]
        if found is not None:
            return (found,)
    return _even(run, nest, key, trips)


@remembered(lambda _run, _nest, which: which)
def _latest(_: Run, _nest: Nest, _which: Key) -> dict[object, ListedNest | None]:
    """The references of a nest one by one, by the latest values."""
    return {}


@remembered(lambda _run, _nest, key, _trips: key[:2], lambda _run, _nest, key, _trips: key[2])
def _even(run: Run, nest: Nest, _key: Key, trips: Callable[[], Trips]) -> tuple[CachedNest, ...]:
    shape = _shape(run, nest, trips())
    return through_temporaries(shape, nest, run.setting.addresses) if nest.copies else (shape,)


def _pages(sweep: CachedNest, costs: MemoryCosts) -> Array:
    """(K, G) translations that each statement of a sweep lacks."""
    lacking = page_misses(sweep, costs.tlb_entries, costs.page_bytes)
    parts = np.array([[access.source == source for source in sweep.sources] for access in sweep.accesses], np.float64)
    found: Array = lacking @ parts.reshape(len(sweep.accesses), len(sweep.sources))
    return found


def _charged(run: Run, costs: MemoryCosts, state: CacheStates, found: _Found, written: float) -> _Seen:
    """What the misses cost on the machine of the run. `written`: bytes of a write that goes to memory by itself."""
    if not found.misses:
        return _Seen(state, state, Cost(None, None))
    class_of, ranks = run.application.classes()
    often = np.array([kind for each in found.misses for kind in (each.read, each.write, each.writeback)])
    basis = run.prices.basis(*_columns(costs, written))
    if found.pages is not None:
        often = np.concatenate([often, found.pages.sum(axis=1)[None, :]])
        basis = run.prices.basis(*basis.columns, PAGE)
    if not any_of(often):
        return _Seen(state, found.after, Cost(None, None))
    paid: Figures = often
    if (shared_by := alike(run)) is not None:
        paid = Shared(often, shared_by[0])
    elif ranks.size < run.procs or not (class_of == np.arange(run.procs)).all():
        paid = often[:, class_of]
    return _Seen(state, found.after, priced(Counts(basis, paid)))


PAGE = CountColumn(((COMPUTATION, "memory.tlb_miss", 1.0),))


def _columns(costs: MemoryCosts, written: float) -> tuple[CountColumn, ...]:
    """What a line read, a write that misses and a line written back pay in each cache, and how many bytes those of the
    last cache move to or from memory. `written`: bytes of a write that goes to memory by itself."""

    def column(cache: CacheCosts, key: str, moved: float) -> CountColumn:
        return CountColumn(((COMPUTATION, cache.figure(key), 1.0),), moved if cache is costs.last else 0.0)

    return tuple(
        column(each, key, moved)
        for each in costs.caches
        for key, moved in (
            ("read_miss", float(each.line_bytes)),
            ("write_miss", float(each.line_bytes) if each.write_allocate else written),
            ("writeback", float(each.line_bytes)),
        )
    )


@remembered(lambda _run, _nest, which: which)
def _written(run: Run, nest: Nest, _which: Key) -> float:
    """Bytes of an element that a nest writes, mean over its references."""
    accesses = () if is_uneven(nest) else run.application.accesses(nest, run.env)
    sizes = [each.element_bytes for each in accesses if each.write]
    return sum(sizes) / len(sizes) if sizes else float(WORD)


def _shape(run: Run, nest: Nest, trips: Trips, tested: int = 0) -> CachedNest:
    """The nest as the cache sees it: trip counts and addresses on each processor. Where the mask is `tested` outside
    the innermost loop, the loop of the test is as much shorter."""
    ranks = run.application.classes()[1]
    extents = trips.extents_of(ranks)
    accesses = run.application.accesses(nest, run.env)
    strides = [each.strides_bytes for each in accesses]
    if not extents.shape[1]:
        extents = trips.count[ranks, None]
        strides = [np.zeros_like(extents) for _ in accesses]
    # One share for all processors: the model asks how often a reference is made, not which elements it takes.
    share = 1.0 if nest.mask is None else float(masked_of(run, nest, trips).sum() / max(1, trips.count.sum()))
    if nest.mask is not None and 0 < tested < extents.shape[1]:
        extents = extents.copy()
        extents[:, tested - 1] = np.rint(extents[:, tested - 1] * share)
        share = 1.0
    address = run.setting.addresses
    known = bool(address) and all(each.array in address for each in accesses)
    return CachedNest(
        extents=extents,
        addresses_known=known,
        accesses=tuple(
            CachedAccess(
                array=each.array,
                element_bytes=each.element_bytes,
                start=each.start_bytes + address[each.array] if known else each.start_bytes,
                strides=stride,
                write=each.write,
                fraction=(share if each.write else 1.0) * each.touch.share,
                depth=None if each.touch.depth == len(nest.indices) else each.touch.depth,
                after=each.touch.after,
                source=each.touch.source,
                places=each.places,
            )
            for each, stride in zip(accesses, strides, strict=True)
        ),
    )
