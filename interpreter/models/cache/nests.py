"""Nests whose references move evenly: their misses on all processors, and the caches after them.

A nest is interpreted once for each distinct shape (extents, addresses, strides, cache contents), not for each
processor. Its loops are not walked: `trace` picks the iterations from which the misses of all others follow, and
`replay` decides for each of their references whether the line survived since its last use.
"""

from collections.abc import Iterable
from functools import lru_cache

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from aag.distinct import distinct_with_inverse
from interpreter.models.cache.order import Contents, odd_factor, odd_factors
from interpreter.models.cache.replay import replay
from interpreter.models.cache.sets import Sorted, by_set
from interpreter.models.cache.trace import BUDGET, Policy, TracedBody, TracedNest, trace

Traces = dict[tuple[bytes, bytes], Sorted]
"""What was looked at of nests, by their references and their trip counts and addresses."""

MAX_CLASSES = 64
"""Beyond this many distinct shapes, figures of a shape are interpolated between those with about as many iterations."""


class Cache(Struct, frozen=True, kw_only=True):
    """Geometry and policy of a data cache.

    `associativity` 0 means fully associative. `replacement` is "lru" or "random". Without `write_allocate` a
    write that misses goes to memory and leaves the cache as it was (the i860's way).

    Raises:
        ValueError: The size is not a whole number of sets, or the replacement is unknown.
    """

    size_bytes: int
    line_bytes: int
    associativity: int
    replacement: str = "lru"
    write_allocate: bool = True

    def __post_init__(self) -> None:
        if self.line_bytes <= 0 or self.size_bytes <= 0 or self.associativity < 0:
            raise ValueError("a cache needs a positive size and line, and an associativity of at least 0")
        if self.size_bytes % (self.line_bytes * max(1, self.associativity)):
            raise ValueError(
                f"{self.size_bytes} bytes are not a whole number of sets of {self.associativity} lines "
                f"of {self.line_bytes} bytes"
            )
        if self.replacement not in {"lru", "random"}:
            raise ValueError(f"replacement {self.replacement!r} is not known: lru or random")

    @property
    def lines(self) -> int:
        """Number of lines it holds."""
        return self.size_bytes // self.line_bytes

    @property
    def ways(self) -> int:
        """Lines of a set."""
        return self.associativity or self.lines

    @property
    def sets(self) -> int:
        """Number of sets."""
        return self.lines // self.ways

    @property
    def random(self) -> bool:
        """Whether there is a choice of lines to replace, and chance makes it."""
        return self.replacement == "random" and self.ways > 1

    @property
    def remembered(self) -> int:
        """Lines of a set that may still be there: with random replacement also some that many misses spared."""
        return min(4 * self.ways, self.ways + 16) if self.random else self.ways


class CachedAccess(Struct, frozen=True, kw_only=True):
    """One array reference of a nest; accesses are given in program order of the body."""

    array: str
    """Identity of the storage."""
    element_bytes: int
    start: NDArray[np.int64]
    """(P,) byte address of the access when all loop counters are 0."""
    strides: NDArray[np.int64]
    """(P, D) bytes per step of each loop, outermost first; 0 = invariant in that loop."""
    write: bool
    fraction: float = 1.0
    """Share of the iterations that perform it (masks)."""
    depth: int | None = None
    """Loops around it: with fewer than the nest has it is made once in each iteration of the last of them, before the
    loop inside or `after` it. None: all."""
    after: bool = False
    source: int = 0
    """A number of the statement whose misses are to be told apart."""
    places: NDArray[np.int64] | None = None
    """(P, D) how many places each loop reaches, where these are fewer than it has iterations."""


class CachedNest(Struct, frozen=True, kw_only=True):
    """A perfect loop nest with the references of its body.

    With `addresses_known` false the starts are offsets within each array only: each array is then taken to start at
    an unknown, line-aligned address, and no set conflicts between arrays are assumed.
    """

    extents: NDArray[np.int64]
    """(P, D) trip counts, outermost first; with a 0 the processor does nothing."""
    accesses: tuple[CachedAccess, ...]
    addresses_known: bool = True

    @property
    def sources(self) -> tuple[int, ...]:
        """Numbers of the statements, by first appearance."""
        return tuple(dict.fromkeys(access.source for access in self.accesses))


class Misses(Struct, frozen=True):
    """(P,) figures for the whole nest: lines read, misses of writes, dirty lines written back.

    Write misses are lines where the cache allocates on writes, and single writes where it does not.
    """

    read: NDArray[np.float64]
    write: NDArray[np.float64]
    writeback: NDArray[np.float64]
    parts: NDArray[np.float64] | None = None
    """(P, 2 G) lines read and misses of writes of each of G statements, as in `Nest.sources`; None: there is one."""


class CacheState(Struct, frozen=True, eq=False):
    """What is cached after the nests so far; processors with equal contents share them."""

    class_of: NDArray[np.int32]
    """(P,) contents of each processor, numbered by first appearance."""
    contents: Contents
    arrays: tuple[str, ...] = ()
    """Arrays at unknown addresses, in order of first appearance; the place gives each a pretended address."""

    @staticmethod
    def cold(procs: int) -> "CacheState":
        """Nothing cached on any of `procs` processors."""
        return CacheState(np.zeros(procs, np.int32), Contents.empty(1, 0, 0))

    def nbytes(self) -> int:
        """Memory it holds."""
        return self.class_of.nbytes + self.contents.nbytes()

    def same_as(self, other: "CacheState") -> bool:
        """Whether every nest behaves from here as it does from `other`."""
        return (
            self.arrays == other.arrays
            and np.array_equal(self.class_of, other.class_of)
            and self.contents.same_as(other.contents)
        )


def interpret_even(
    nest: CachedNest, cache: Cache, state: CacheState, traces: Traces | None = None
) -> tuple[Misses, CacheState]:
    """Misses of one execution of `nest` on each processor, and what is cached after it.

    Args:
        nest: The loops and references, with arrays over the P processors.
        cache: Geometry and policy; the same for all nests of a program.
        state: What is cached before.
        traces: What was looked at before of nests on a cache of this geometry, to be used again; it grows.

    Raises:
        ValueError: The state comes from a cache of another geometry or another number of processors.
    """
    state = fit(state, nest.extents.shape[0], cache)
    arrays, bases = _bases(nest, cache, state.arrays)
    class_of, leader = _classes(nest, cache, state.class_of)
    iterations = nest.extents[leader].prod(axis=1)
    chosen, position = _represent(iterations)
    policy = policy_of(cache)
    sources = len(nest.sources)
    counts, after = replayed(
        _traces(nest, leader[chosen], bases, policy, {} if traces is None else traces),
        policy,
        state.contents.take(state.class_of[leader[chosen]]),
        sources,
    )
    if chosen.size < leader.size:
        counts = np.stack([np.interp(iterations, iterations[chosen], kind) for kind in counts.T], axis=1)
    label, first = by_first_appearance(after.fingerprint()[position])
    contents = after.take(position[first])
    read, write, writeback = counts.T[:3].take(class_of, axis=1)
    misses = Misses(read, write, writeback, counts[class_of, 3:] if sources > 1 else None)
    return misses, replace(state, class_of=label[class_of].astype(np.int32), contents=contents, arrays=arrays)


def replayed(
    traces: list[Sorted | None], policy: Policy, contents: Contents, sources: int
) -> tuple[NDArray[np.float64], Contents]:
    """As `replay`; who does nothing (None) misses nothing, and keeps what it has."""
    some = [each for each in traces if each is not None]
    if len(some) == len(traces):
        return replay(some, policy, contents, sources)
    counts = np.zeros((len(traces), 3 + (2 * sources if sources > 1 else 0)))
    if not some:
        return counts, contents
    busy = [number for number, each in enumerate(traces) if each is not None]
    counts[busy], after = replay(some, policy, contents.take(np.array(busy)), sources)
    return counts, contents.replaced(busy, after)


def fit(state: CacheState, procs: int, cache: Cache) -> CacheState:
    """The state with arrays of this cache's geometry; a cold one has none yet.

    Raises:
        ValueError: it comes from a cache of another geometry or another number of processors.
    """
    if procs != state.class_of.shape[0]:
        raise ValueError(f"a nest of {procs} processors meets a cache state of {state.class_of.shape[0]}")
    if state.contents.line.size == 0:
        return replace(state, contents=Contents.empty(1, cache.sets, cache.remembered))
    if state.contents.line.shape[1:] != (cache.sets, cache.remembered):
        raise ValueError("the cache state was made by a cache of another geometry")
    return state


def _bases(nest: CachedNest, cache: Cache, arrays: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Address to add to each access: 0 where addresses are known, else a pretended place of its array.

    Pretended places are terabytes apart. Their first sets follow the van der Corput sequence (0, 1/2, 1/4, 3/4,
    1/8, ... of the sets), so that streams through several arrays are as far from each other in the sets as possible.
    """
    if nest.addresses_known:
        return arrays, (0,) * len(nest.accesses)
    place = places_of((*arrays, *(access.array for access in nest.accesses)), cache)
    return tuple(place), tuple(place[access.array] for access in nest.accesses)


def places_of(arrays: Iterable[str], cache: Cache) -> dict[str, int]:
    """The pretended places of arrays, in order of first appearance."""
    return {
        array: _pretended(number, cache.sets, cache.line_bytes) for number, array in enumerate(dict.fromkeys(arrays))
    }


@lru_cache(maxsize=1024)
def _pretended(number: int, sets: int, line_bytes: int) -> int:
    """The pretended place of array `number`."""
    fraction, digit, rest = 0.0, 0.5, number
    while rest:
        fraction += digit * (rest & 1)
        rest >>= 1
        digit /= 2
    return (number + 1 << 40) + int(fraction * sets) * line_bytes


@lru_cache(maxsize=64)
def policy_of(cache: Cache) -> Policy:
    """The cache as the replay needs it."""
    return Policy(
        line_bytes=cache.line_bytes,
        sets=cache.sets,
        ways=cache.ways,
        write_allocate=cache.write_allocate,
        random=cache.random,
    )


def _traces(
    nest: CachedNest, chosen: NDArray[np.intp], bases: tuple[int, ...], policy: Policy, known: Traces
) -> list[Sorted | None]:
    """What to look at of the nest as some processors see it; None: nothing."""
    made = [access for access in zip(nest.accesses, bases, strict=True) if access[0].fraction > 0]
    deepest = nest.extents.shape[1]
    around = np.array([deepest if access.depth is None else access.depth for access, _ in made], np.int64)
    depth = int(around.max(initial=0)) or deepest
    numbers = {source: number for number, source in enumerate(nest.sources)}
    write = np.array([access.write for access, _ in made], np.bool_)
    fraction = np.array([access.fraction for access, _ in made], np.float64)
    after = np.array([access.after for access, _ in made], np.bool_)
    source = np.array([numbers[access.source] for access, _ in made], np.int64)
    references = b"".join(part.tobytes() for part in (write, fraction, around, after, source))
    rows = _rows(nest, made, chosen, depth)
    idle: NDArray[np.bool_] = (rows[:, :depth] == 0).any(axis=1)
    found: list[Sorted | None] = []
    for row, nothing in zip(rows, idle, strict=True):
        if nothing or not made:
            found.append(None)
            continue
        key = references, row.tobytes()
        if key not in known:
            last = depth + len(made)
            body = TracedBody(
                start=row[depth:last],
                strides=row[last:].reshape(len(made), depth),
                write=write,
                fraction=fraction,
                around=around,
                after=after,
                source=source,
            )
            known[key] = by_set(trace(TracedNest(extents=row[:depth], body=body), policy), policy)
        found.append(known[key])
    return found


def _rows(
    nest: CachedNest, made: list[tuple[CachedAccess, int]], chosen: NDArray[np.intp], depth: int
) -> NDArray[np.int64]:
    """For some processors its trip counts, then where the references that are `made` start, then their strides."""
    first, last = depth, depth + len(made)
    rows = np.empty((chosen.size, last + depth * len(made)), np.int64)
    rows[:, :first] = nest.extents[chosen, :depth]
    for number, (access, base) in enumerate(made):
        np.add(access.start[chosen], base, out=rows[:, first + number])
        rows[:, last + number * depth : last + (number + 1) * depth] = access.strides[chosen, :depth]
    return rows


_SMALL = 4096


def _classes(nest: CachedNest, cache: Cache, class_of: NDArray[np.int32]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Class of each processor, and the first processor of each class: equal contents, extents, starts and strides.

    Starts that are all as many lines further on make no difference to a nest that brings in the cache many times over.
    Equal 64-bit linear hashes of the rows stand for equal rows; columns that are the same everywhere are left out.
    """
    columns: list[NDArray[np.int64]] = [class_of[:, None].astype(np.int64), nest.extents]
    where = 0
    if nest.accesses:
        large = nest.extents.prod(axis=1) * len(nest.accesses) > BUDGET
        where = large * (nest.accesses[0].start // cache.line_bytes * cache.line_bytes)
    for access in nest.accesses:
        columns += [(access.start - where)[:, None], access.strides]
    if class_of.size <= _SMALL:
        values = np.concatenate(columns, axis=1).view(np.uint64)
        return by_first_appearance((values * odd_factors(values.shape[1])).sum(axis=1))
    mixed = np.zeros(class_of.shape[0], np.uint64)
    factor = 0
    for block in columns:
        factor += block.shape[1]
        if not _constant(block):
            values = block.astype(np.int64).view(np.uint64)
            for column in range(block.shape[1]):
                mixed += values[:, column] * odd_factor(factor - column)
    return by_first_appearance(mixed)


def _constant(block: NDArray[np.int64]) -> bool:
    return block.shape[0] == 1 or block.strides[0] == 0 or bool((block == block[:1]).all())


def by_first_appearance(values: NDArray[np.uint64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Number of each value by first appearance, and the place of that appearance."""
    if values.size <= MAX_CLASSES:
        found = (values[:, None] == values).argmax(axis=1)
        new = found == np.arange(values.size)
        return (new.cumsum() - 1)[found], new.nonzero()[0]
    if values.size > _SMALL:
        peeled = _peel(values)
        if peeled is not None:
            return peeled
    _, first, inverse = distinct_with_inverse(values)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    return rank[inverse.reshape(-1)], first[order]


def _peel(values: NDArray[np.uint64]) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
    """The same without sorting, if there are few distinct values."""
    label = np.full(values.size, -1, np.intp)
    first: list[int] = []
    while len(first) < MAX_CLASSES:
        unseen = int(np.argmax(label < 0))
        if label[unseen] >= 0:
            return label, np.array(first, np.intp)
        label[values == values[unseen]] = len(first)
        first.append(unseen)
    return None


def _represent(iterations: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Classes to interpret, in order of their iterations, and for each class the number of the one standing for it.

    Up to MAX_CLASSES each class stands for itself. Beyond, evenly chosen ones stand for their neighbours.
    """
    if iterations.size <= MAX_CLASSES:
        every = np.arange(iterations.size)
        return every, every
    order = np.argsort(iterations, kind="stable")
    chosen = order[np.linspace(0, iterations.size - 1, MAX_CLASSES).round().astype(np.intp)]
    position = np.empty_like(order)
    position[order] = np.linspace(0, MAX_CLASSES - 1, iterations.size).round().astype(np.intp)
    return chosen, position
