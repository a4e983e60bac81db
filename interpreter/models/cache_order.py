"""The references of all classes of processors, sorted by cache set: the order in which a cache sees them.

Whether a line survived since its last use is a question about its neighbours in this order; `cache_lru` and
`cache_random` answer it, `cache_replay` counts.
"""

from functools import lru_cache

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from interpreter.models.cache_sorted import Sorted, allocates, stable_order
from interpreter.models.cache_trace import Policy

EMPTY = np.iinfo(np.int64).min
"""Line number of a place that holds nothing."""


class Contents(Struct, frozen=True):
    """(C, sets, places) lines of C different caches, last used first."""

    line: NDArray[np.int64]
    dirty: NDArray[np.bool_]
    present: NDArray[np.float32]
    """Probability that the line is there: 1 under LRU."""

    @staticmethod
    def empty(classes: int, sets: int, ways: int) -> "Contents":
        """Caches that hold nothing."""
        shape = (classes, sets, ways)
        return Contents(np.full(shape, EMPTY), np.zeros(shape, np.bool_), np.zeros(shape, np.float32))

    def nbytes(self) -> int:
        """Memory they take."""
        return self.line.nbytes + self.dirty.nbytes + self.present.nbytes

    def take(self, classes: NDArray[np.intp] | NDArray[np.int32]) -> "Contents":
        """The caches of the given classes."""
        return Contents(self.line[classes], self.dirty[classes], self.present[classes])

    def replaced(self, places: list[int], others: "Contents") -> "Contents":
        """The caches, with others at some places."""
        mine = Contents(self.line.copy(), self.dirty.copy(), self.present.copy())
        mine.line[places], mine.dirty[places], mine.present[places] = others.line, others.dirty, others.present
        return mine

    def moved(self, by: NDArray[np.int64]) -> "Contents":
        """The caches after all their lines have been replaced by those `by` (C,) lines further on."""
        if not by.any():
            return self
        sets = self.line.shape[1]
        cache, old = np.arange(by.size)[:, None], (np.arange(sets) - by[:, None]) % sets
        line = self.line[cache, old]
        return Contents(np.where(line == EMPTY, EMPTY, line + by[:, None, None]), self.dirty[cache, old],
                        self.present[cache, old])

    def same_as(self, other: "Contents") -> bool:
        """Whether all caches hold the same in the same order; probabilities count as equal within 1e-3."""
        return (np.array_equal(self.line, other.line) and np.array_equal(self.dirty, other.dirty)
                and bool(np.allclose(self.present, other.present, rtol=0, atol=1e-3)))

    def fingerprint(self) -> NDArray[np.uint64]:
        """(C,) equal for equal contents, and for different ones different but for a 64-bit coincidence."""
        rows = self.line.reshape(self.line.shape[0], -1)
        if rows.shape[0] == 1:
            return np.zeros(1, np.uint64)
        flags = self.dirty.reshape(rows.shape) + 2 * (self.present.reshape(rows.shape) * 1000).astype(np.int64)
        factors = odd_factors(rows.shape[1])
        mixed = rows.view(np.uint64) ^ (flags.view(np.uint64) << np.uint64(50))
        return np.asarray((mixed * factors).sum(axis=1), np.uint64)


def odd_factor(number: int) -> np.uint64:
    """The factor of column `number` in a linear hash of 64 bits."""
    return np.uint64(odd_factors(max(64, 1 << number.bit_length()))[number])


@lru_cache(maxsize=16)
def odd_factors(count: int) -> NDArray[np.uint64]:
    """Odd numbers without visible pattern (the finalizer of SplitMix64, Steele, Lea and Flood 2014)."""
    mixed = (np.arange(count).astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (mixed ^ (mixed >> np.uint64(31))) | np.uint64(1)


class Fresh(Struct, frozen=True):
    """The references of a nest on all classes, sorted by class and set (`Sorted`)."""

    line: NDArray[np.int64]
    """Line number made unique over the classes."""
    key: NDArray[np.int64]
    """class * sets + set."""
    write: NDArray[np.bool_]
    wrote: NDArray[np.bool_]
    weight: NDArray[np.float64]
    charge: NDArray[np.float64]
    certain: NDArray[np.bool_]
    classes: int
    begin: NDArray[np.intp]
    """(classes * sets,) place of the first reference to each set."""
    first: NDArray[np.intp]
    source: NDArray[np.int64] | None = None
    by_line: NDArray[np.intp] | None = None
    """Places line by line, in order of time. Only for random replacement."""


class Touches(Struct, frozen=True):
    """T entries of all classes: in each set the lines cached before, then the references to it, as in `Fresh`."""

    line: NDArray[np.int64]
    key: NDArray[np.int64]
    write: NDArray[np.bool_]
    wrote: NDArray[np.bool_]
    weight: NDArray[np.float64]
    charge: NDArray[np.float64]
    certain: NDArray[np.bool_]
    before: NDArray[np.float64]
    """Where the entry stands for what was cached before the nest: its probability; else -1."""
    classes: int
    source: NDArray[np.int64] | None = None
    by_line: NDArray[np.intp] | None = None

    def allocates(self, policy: Policy) -> NDArray[np.bool_]:
        """(T,) whether the line is in the cache after the reference in any case."""
        return (self.before >= 0) | allocates(self.certain, self.write, policy)


@lru_cache(maxsize=8)
def joined(traces: tuple[Sorted, ...], policy: Policy) -> Fresh:
    """The references of all classes. The last ones are kept, as loops come by with the same ones several times."""
    classes = len(traces)
    sizes = [trace.line.size for trace in traces]
    if classes == 1:
        only = traces[0]
        return Fresh(only.line, only.slot, only.write, only.wrote, only.weight, only.charge, only.certain, 1,
                     np.searchsorted(only.slot, np.arange(policy.sets)), only.first, only.source,
                     order_by_line(only.line) if policy.random else None)
    line, key = np.concatenate([trace.line for trace in traces]), np.concatenate([trace.slot for trace in traces])
    owner = np.repeat(np.arange(classes), sizes)
    key += owner * policy.sets
    line *= classes
    line += owner
    before = [sum(sizes[:number]) for number in range(classes)]
    source = None
    if any(trace.source is not None for trace in traces):
        source = np.concatenate([np.zeros(size, np.int64) if trace.source is None else trace.source
                                 for trace, size in zip(traces, sizes, strict=True)])
    return Fresh(
        line=line, key=key, write=np.concatenate([trace.write for trace in traces]),
        wrote=np.concatenate([trace.wrote for trace in traces]),
        weight=np.concatenate([trace.weight for trace in traces]),
        charge=np.concatenate([trace.charge for trace in traces]),
        certain=np.concatenate([trace.certain for trace in traces]), classes=classes,
        begin=np.searchsorted(key, np.arange(classes * policy.sets)),
        first=np.concatenate([trace.first + place for trace, place in zip(traces, before, strict=True)]),
        source=source, by_line=order_by_line(line) if policy.random else None)


def with_cached(fresh: Fresh, policy: Policy, contents: Contents) -> Touches:
    """The references behind what was cached before, in each set.

    The first reference to a set is left out, too, if it is to the line used last before.
    """
    count, classes, sets = fresh.line.size, fresh.classes, policy.sets
    which, slot, place = np.nonzero(contents.line[:, :, ::-1] != EMPTY)
    if not which.size:
        return Touches(fresh.line, fresh.key, fresh.write, fresh.wrote, fresh.weight, fresh.charge, fresh.certain,
                       np.full(count, -1.0), classes, fresh.source, fresh.by_line)
    where = which, slot, contents.line.shape[2] - 1 - place
    old, old_key, dirty = contents.line[where] * classes + which, which * sets + slot, contents.dirty[where]
    number = np.arange(old.size)
    wrote, weight = np.concatenate([fresh.wrote, dirty]), np.concatenate([fresh.weight, np.zeros(old.size)])
    first_key = fresh.key[fresh.first]
    newest = contents.line.reshape(classes * sets, -1)[first_key, 0]
    again = (newest != EMPTY) & (newest * classes + first_key // sets == fresh.line[fresh.first])
    repeated = fresh.first[again]
    if repeated.size:
        last = count - 1 + np.searchsorted(old_key, first_key[again], side="right")
        wrote[last] |= wrote[repeated]
        weight[last] = weight[repeated]
    order = _inserted(np.arange(count), fresh.begin[old_key], number + count)
    if repeated.size:
        kept = np.ones(order.size, np.bool_)
        kept[repeated] = False
        order = order[kept[order]]
    before = np.full(order.size, -1.0)
    before[order >= count] = contents.present[where]
    quiet = np.zeros(old.size, np.int64)
    return Touches(
        line=np.concatenate([fresh.line, old])[order], key=np.concatenate([fresh.key, old_key])[order],
        write=np.concatenate([fresh.write, dirty])[order], wrote=wrote[order], weight=weight[order],
        charge=np.concatenate([fresh.charge, quiet])[order],
        certain=np.concatenate([fresh.certain, quiet == 0])[order], before=before, classes=classes,
        source=None if fresh.source is None else np.concatenate([fresh.source, quiet])[order],
        by_line=None if fresh.by_line is None else _cached_by_line(fresh, fresh.by_line, old, order))


def _inserted(into: NDArray[np.intp], where: NDArray[np.intp], what: NDArray[np.intp]) -> NDArray[np.intp]:
    """`into` with `what` put in before the places `where`, which ascend."""
    result = np.empty(into.size + what.size, np.intp)
    rest = np.ones(result.size, np.bool_)
    place = where + np.arange(what.size)
    rest[place] = False
    result[place] = what
    result[rest] = into
    return result


def _cached_by_line(fresh: Fresh, by_line: NDArray[np.intp], old: NDArray[np.int64], order: NDArray[np.intp]
                    ) -> NDArray[np.intp]:
    """Places line by line, when references and lines cached before (`old`) have been put in `order`."""
    sorting = np.argsort(old)
    everyone = _inserted(by_line, np.searchsorted(fresh.line[by_line], old[sorting]), sorting + by_line.size)
    rank = np.full(everyone.size, -1)
    rank[order] = np.arange(order.size)
    ranks = rank[everyone]
    return ranks if order.size == everyone.size else ranks[ranks >= 0]


def order_by_line(line: NDArray[np.int64]) -> NDArray[np.intp]:
    """Stable order by line."""
    if not line.size:
        return np.zeros(0, np.intp)
    low = int(line.min())
    return stable_order(line - low, int(line.max()) - low + 1)


class Chain(Struct, frozen=True):
    """Entries line by line, in order of time."""

    place: NDArray[np.intp]
    line: NDArray[np.int64]
    used: NDArray[np.bool_]
    """Whether the entry leaves its line in the cache."""
    use: NDArray[np.intp]
    """Where those that do are in this order."""
    number: NDArray[np.intp]
    """How many of them there are up to here, with this one."""


def chain_of(place: NDArray[np.intp], line: NDArray[np.int64], active: NDArray[np.bool_]) -> Chain:
    """The chain of entries (`line`, `active`) in the order `place`."""
    used = active[place]
    return Chain(place, line[place], used, used.nonzero()[0], used.cumsum())


class Outcome(Struct, frozen=True):
    """What became of each reference."""

    hit: NDArray[np.float64]
    """(T,) probability that it finds its line."""
    active: NDArray[np.bool_]
    """(T,) whether it leaves its line in the cache, as the one last used."""
    chain: Chain | None = None
    """Only for random replacement: the references line by line."""
    lasting: NDArray[np.float64] | None = None
    """Only for random replacement: (T,) probability that the line is there at the end if it is not used again."""


def runs(line: NDArray[np.int64], active: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Places of active references whose line is not that of the active one before."""
    place = active.nonzero()[0]
    chosen = line[place]
    new = np.ones(place.size, np.bool_)
    np.not_equal(chosen[1:], chosen[:-1], out=new[1:])
    return place[new]


class Elements(Struct, frozen=True):
    """Touches without those that follow directly on one of the same line: their places, and their last uses."""

    place: NDArray[np.intp]
    active: NDArray[np.bool_]
    by_line: NDArray[np.intp]
    """Elements line by line, in order of time."""
    previous: NDArray[np.intp]
    """The last active element of the same line, else -1."""


def elements_of(touches: Touches, active: NDArray[np.bool_]) -> Elements:
    """The touches without direct repetitions of active ones."""
    wanted = ~active
    wanted[runs(touches.line, active)] = True
    place = wanted.nonzero()[0]
    line, moved = touches.line[place], active[place]
    by_line = order_by_line(line)
    last = np.maximum.accumulate(np.where(moved[by_line], np.arange(place.size), -1))
    before = np.concatenate([[-1], last[:-1]])
    same = (before >= 0) & (line[by_line[before]] == line[by_line])
    previous = np.empty(place.size, np.intp)
    previous[by_line] = np.where(same, by_line[before], -1)
    return Elements(place, moved, by_line, previous)
