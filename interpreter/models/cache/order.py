"""The references of all classes of processors, sorted by cache set: the order in which a cache sees them.

Whether a line survived since its last use is a question about its neighbours in this order; `lru` and
`chance` answer it, `replay` counts.
"""

from functools import lru_cache

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from interpreter.models.cache.sets import ACTIVE, HAD, WROTE, Marks, Sorted, order_by_line
from interpreter.models.cache.trace import Policy
from interpreter.reduce import all_of

EMPTY = np.iinfo(np.int64).min
"""Line number of a place that holds nothing."""
ALIKE = np.float32(1e-3)
"""Probabilities that differ by no more than this are the same."""


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
        if classes.size == self.line.shape[0] and (classes == np.arange(classes.size)).all():
            return self
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
        return Contents(
            np.where(line == EMPTY, EMPTY, line + by[:, None, None]), self.dirty[cache, old], self.present[cache, old]
        )

    def same_as(self, other: "Contents") -> bool:
        """Whether all caches hold the same in the same order; probabilities count as equal within `ALIKE`."""
        return (
            self.line.shape == other.line.shape
            and all_of(self.line == other.line)
            and all_of(self.dirty == other.dirty)
            and all_of(np.abs(self.present - other.present) <= ALIKE)
        )

    def fingerprint(self) -> NDArray[np.uint64]:
        """(C,) equal for equal contents, and for different ones different but for a 64-bit coincidence."""
        rows = self.line.reshape(self.line.shape[0], -1)
        if rows.shape[0] == 1:
            return np.zeros(1, np.uint64)
        flags = (self.present.reshape(rows.shape) * 1000).astype(np.int64)
        flags <<= 1
        flags |= self.dirty.reshape(rows.shape)
        flags <<= 50
        flags ^= rows
        mixed = flags.view(np.uint64)
        mixed *= odd_factors(rows.shape[1])
        return np.asarray(mixed.sum(axis=1), np.uint64)


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
    marks: Marks
    weight: NDArray[np.float64]
    asked: "Asked"
    classes: int
    border: NDArray[np.intp]
    """(classes * sets + 1,) place of the first reference to each set, and the end."""
    first: NDArray[np.intp]
    """Places of the first reference to each set that may leave its line there."""


class Asked(Struct, frozen=True):
    """What is counted if references miss."""

    kind: NDArray[np.int64]
    """2 * class + whether it writes."""
    charge: NDArray[np.float64]
    source: NDArray[np.int64] | None = None


class Touches(Struct, frozen=True):
    """T entries of all classes: in each set the lines cached before, then the references to it, as in `Fresh`."""

    line: NDArray[np.int64]
    key: NDArray[np.int64]
    marks: Marks
    weight: NDArray[np.float64]
    before: NDArray[np.float64]
    """Where the entry stands for what was cached before the nest: its probability; else -1."""
    classes: int
    border: NDArray[np.intp]
    """(classes * sets + 1,) first entry of each set, and the end."""
    held: NDArray[np.intp]
    """(classes * sets,) how many entries of each set stand for what was cached before."""
    asked: Asked
    place: NDArray[np.intp] | None
    """Where the references `asked` for are; None: all entries."""
    certain: NDArray[np.intp] | None = None
    """References `asked` for that find their line in any case, and have no place."""

    def missed(self, hit: NDArray[np.float64]) -> NDArray[np.float64]:
        """How many misses are counted for each reference asked for, if entries find their lines so likely."""
        charge = self.asked.charge
        if self.place is None:
            return charge * (1.0 - hit)
        if self.certain is None:
            return charge * (1.0 - hit[self.place])
        others = _without(charge.size, self.certain)
        missed = np.zeros(charge.size)
        missed[others] = charge[others] * (1.0 - hit[self.place])
        return missed

    def marked(self, mark: int) -> NDArray[np.bool_]:
        """Which entries have a mark."""
        marked: NDArray[np.bool_] = (self.marks & mark) != 0
        return marked


@lru_cache(maxsize=8)
def joined(traces: tuple[Sorted, ...], policy: Policy) -> Fresh:
    """The references of all classes. The last ones are kept, as loops come by with the same ones several times."""
    classes = len(traces)
    if classes == 1:
        only = traces[0]
        asked = Asked(only.write.astype(np.int64), only.charge, only.source)
        return Fresh(
            only.line, only.slot, only.marks, only.weight, asked, 1, _borders(only.slot, policy.sets), only.first
        )
    sizes = [trace.line.size for trace in traces]
    owner = np.arange(classes).repeat(sizes)
    line, key = np.concatenate([trace.line for trace in traces]), np.concatenate([trace.slot for trace in traces])
    key += owner * policy.sets
    line *= classes
    line += owner
    source = None
    if any(trace.source is not None for trace in traces):
        source = np.concatenate(
            [
                np.zeros(size, np.int64) if trace.source is None else trace.source
                for trace, size in zip(traces, sizes, strict=True)
            ]
        )
    asked = Asked(
        2 * owner + np.concatenate([trace.write for trace in traces]),
        np.concatenate([trace.charge for trace in traces]),
        source,
    )
    return Fresh(
        line=line,
        key=key,
        marks=np.concatenate([trace.marks for trace in traces]),
        weight=np.concatenate([trace.weight for trace in traces]),
        asked=asked,
        classes=classes,
        border=_borders(key, classes * policy.sets),
        first=np.concatenate([trace.first for trace in traces])
        + np.cumsum([0, *sizes[:-1]]).repeat([trace.first.size for trace in traces]),
    )


def _borders(key: NDArray[np.int64], keys: int) -> NDArray[np.intp]:
    """(keys + 1,) where each of ascending keys begins, and the end."""
    return _summed(np.bincount(key, minlength=keys))


def _summed(counts: NDArray[np.intp]) -> NDArray[np.intp]:
    """How many come before each, and how many there are."""
    total = np.zeros(counts.size + 1, np.intp)
    counts.cumsum(out=total[1:])
    return total


def with_cached(fresh: Fresh, contents: Contents) -> Touches:
    """The references behind what was cached before, in each set.

    The first reference to a set is left out, too, if it is to the line used last before.
    """
    classes, sets = contents.line.shape[:2]
    found = (contents.line[:, :, ::-1] != EMPTY).ravel().nonzero()[0]
    if not found.size:
        return Touches(
            fresh.line,
            fresh.key,
            fresh.marks,
            fresh.weight,
            np.full(fresh.line.size, -1.0),
            classes,
            fresh.border,
            np.zeros(classes * sets, np.intp),
            fresh.asked,
            None,
        )
    repeated = _repeating(fresh, contents)
    touches = _behind(fresh, contents, found, repeated)
    if not repeated.size:
        return touches
    key = fresh.key[repeated]
    newest = touches.border[key] + touches.held[key] - 1
    touches.marks[newest] |= fresh.marks[repeated] & WROTE
    touches.weight[newest] = fresh.weight[repeated]
    return touches


def _without(count: int, some: NDArray[np.intp]) -> NDArray[np.intp]:
    """The numbers below `count` without some of them."""
    others = np.ones(count, np.bool_)
    others[some] = False
    return others.nonzero()[0]


def _behind(fresh: Fresh, contents: Contents, found: NDArray[np.intp], repeated: NDArray[np.intp]) -> Touches:
    """The references but some `repeated` ones behind the lines `found` in the caches, counted with those used last
    behind in each set."""
    classes, sets, places = contents.line.shape
    of = found // places
    held = np.bincount(of, minlength=classes * sets)
    kept: slice | NDArray[np.intp] = slice(None)
    fresh_border = fresh.border
    if repeated.size:
        kept = _without(fresh.line.size, repeated)
        fresh_border = fresh_border - _borders(fresh.key[repeated], classes * sets)
    border = fresh_border + _summed(held)
    old = np.arange(found.size)
    old += fresh_border[of]
    size = found.size + fresh.line.size - repeated.size
    new = _without(size, old)
    touches = Touches(
        line=np.empty(size, np.int64),
        key=np.arange(classes * sets).repeat(border[1:] - border[:-1]),
        marks=np.empty(size, np.uint8),
        weight=np.zeros(size),
        before=np.full(size, -1.0),
        classes=classes,
        border=border,
        held=held,
        asked=fresh.asked,
        place=new,
        certain=repeated if repeated.size else None,
    )
    where = (2 * of + 1) * places - 1 - found
    cached = contents.line.ravel()[where]
    touches.line[old] = cached if classes == 1 else cached * classes + of // sets
    touches.line[new] = fresh.line[kept]
    touches.marks[old] = contents.dirty.ravel()[where] * np.uint8(WROTE | HAD) + np.uint8(ACTIVE)
    touches.marks[new] = fresh.marks[kept]
    touches.weight[new] = fresh.weight[kept]
    touches.before[old] = contents.present.ravel()[where]
    return touches


def _repeating(fresh: Fresh, contents: Contents) -> NDArray[np.intp]:
    """First references to the line that their set used last before the nest."""
    sets = contents.line.shape[1]
    key = fresh.key[fresh.first]
    newest = contents.line[:, :, 0].ravel()[key]
    again = newest * fresh.classes + key // sets == fresh.line[fresh.first]
    again &= newest != EMPTY
    repeated: NDArray[np.intp] = fresh.first[again]
    return repeated


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
    """The chain of entries in the order `place`, with their lines in it."""
    used = active[place]
    return Chain(place, line, used, used.nonzero()[0], used.cumsum())


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
    previous: NDArray[np.intp]
    """The last active element of the same line, else -1."""


def elements_of(touches: Touches, active: NDArray[np.bool_]) -> Elements:
    """The touches without direct repetitions of active ones."""
    wanted = ~active
    wanted[runs(touches.line, active)] = True
    place = wanted.nonzero()[0]
    line, moved = touches.line[place], active[place]
    by_line, ordered = order_by_line(line)
    last = np.maximum.accumulate(np.where(moved[by_line], np.arange(place.size), -1))
    before = np.concatenate([[-1], last[:-1]])
    same = (before >= 0) & (ordered[before] == ordered)
    previous = np.empty(place.size, np.intp)
    previous[by_line] = np.where(same, by_line[before], -1)
    return Elements(place, moved, previous)
