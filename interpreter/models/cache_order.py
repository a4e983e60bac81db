"""The references of all classes of processors, sorted by cache set: the order in which a cache sees them.

Whether a line survived since its last use is a question about its neighbours in this order; `cache_lru` and
`cache_random` answer it, `cache_replay` counts.
"""

from functools import lru_cache

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from interpreter.models.cache_trace import Policy, Trace

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


class Touches(Struct, frozen=True):
    """T references of all classes, sorted by class and set, in order of time within a set."""

    line: NDArray[np.int64]
    """Line number made unique over the classes."""
    key: NDArray[np.int64]
    """class * sets + set."""
    write: NDArray[np.bool_]
    weight: NDArray[np.float64]
    charge: NDArray[np.float64]
    certain: NDArray[np.bool_]
    before: NDArray[np.float64]
    """Where the entry stands for what was cached before the nest: its probability; else -1."""
    classes: int
    source: NDArray[np.int64] | None = None
    """Number of the statement; None: there is only one."""

    def allocates(self, policy: Policy) -> NDArray[np.bool_]:
        """(T,) whether the line is in the cache after the reference in any case."""
        return (self.before >= 0) | self.certain & (np.bool_(policy.write_allocate) | ~self.write)


def sort_by_set(traces: list[Trace], policy: Policy, contents: Contents) -> Touches:
    """All touches, those that stand for what was cached before first in each set."""
    classes = len(traces)
    which, sets, place = np.nonzero(contents.line[:, :, ::-1] != EMPTY)
    place = contents.line.shape[2] - 1 - place
    old = contents.line[which, sets, place]
    lengths = [trace.line.size for trace in traces]
    owner = np.concatenate([which, np.repeat(np.arange(classes), lengths)])
    line = np.concatenate([old, *(trace.line for trace in traces)])
    slot = line & policy.sets - 1 if policy.sets & policy.sets - 1 == 0 else line % policy.sets
    key = owner * policy.sets + slot
    order = stable_order(key, classes * policy.sets)
    fresh = np.full(line.size, -1.0)
    fresh[:old.size] = contents.present[which, sets, place]
    quiet = np.zeros(old.size)
    parts = [np.zeros(size, np.int64) if trace.source is None else trace.source
             for trace, size in zip(traces, lengths, strict=True)]
    several = any(trace.source is not None for trace in traces)
    return Touches(
        line=(line if classes == 1 else line * classes + owner)[order], key=key[order],
        write=np.concatenate([contents.dirty[which, sets, place], *(trace.write for trace in traces)])[order],
        weight=np.concatenate([quiet, *(trace.weight for trace in traces)])[order],
        charge=np.concatenate([quiet, *(trace.charge for trace in traces)])[order],
        certain=np.concatenate([quiet == 0, *(trace.certain for trace in traces)])[order],
        before=fresh[order], classes=classes,
        source=np.concatenate([np.zeros(old.size, np.int64), *parts])[order] if several else None)


def stable_order(key: NDArray[np.int64], bound: int) -> NDArray[np.intp]:
    """Stable order of keys below `bound`; NumPy sorts 16-bit numbers by radix, several times faster than others."""
    if bound <= 1 << 16:
        return np.argsort(key.astype(np.uint16), kind="stable")
    order = np.argsort((key & 0xFFFF).astype(np.uint16), kind="stable")
    while bound > 1 << 16:
        key, bound = key >> 16, (bound - 1 >> 16) + 1
        order = order[np.argsort((key[order] & 0xFFFF).astype(np.uint16), kind="stable")]
    return order


class Outcome(Struct, frozen=True):
    """What became of each reference."""

    hit: NDArray[np.float64]
    """(T,) probability that it finds its line."""
    active: NDArray[np.bool_]
    """(T,) whether it leaves its line in the cache, as the one last used."""
    elements: "Elements | None" = None
    """Only for random replacement."""
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
    low = int(line.min())
    by_line = stable_order(line - low, int(line.max()) - low + 1)
    last = np.maximum.accumulate(np.where(moved[by_line], np.arange(place.size), -1))
    before = np.concatenate([[-1], last[:-1]])
    same = (before >= 0) & (line[by_line[before]] == line[by_line])
    previous = np.empty(place.size, np.intp)
    previous[by_line] = np.where(same, by_line[before], -1)
    return Elements(place, moved, by_line, previous)
