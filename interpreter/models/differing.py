"""Misses of loops whose iterations differ, such as eliminations: counted in some iterations, interpolated between.

Trips, operations and messages of each iteration are exact. Misses have no closed form, and a replay of the cache in
each iteration takes longer than everything else. What a nest misses is therefore divided by how often its body runs,
which is known exactly in each iteration. That share changes slowly and is interpolated linearly, but for what repeats
itself because a row begins at another place of a cache line: so iterations are counted in blocks of as many as there
are elements in a line, and interpolated between those that are at the same place of their blocks.

Blocks lie where they are needed: the segment between two of them with the largest error is divided, until that of each
segment and the sum of all are below `ACCURACY` of the misses of the loop. The error of a segment is what interpolation
misses in the block that divides it, and more where iterations do not refill the cache (`DOUBT`). So a size that begins
to fit is bracketed, down to neighbours if need be. Before a block is counted, the iteration before it is replayed, so
that it finds in the cache what that left there.
"""

from bisect import bisect_left
from collections.abc import Callable
from heapq import heappop, heappush
from typing import Generic, Protocol, TypeVar

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

Array = NDArray[np.float64]
State = TypeVar("State")

LONG = 256
"""Iterations from which on a loop is counted in some of them."""
ACCURACY = 1e-3
"""Largest error in relation to the misses of the loop."""
SEGMENTS = 8
"""Segments that are divided whatever their error."""
DOUBT = 0.25
"""Share of the misses that may be overlooked between iterations which bring in less than the cache holds: what they
throw out of it may come round again after any number of them."""
LEAD = (128, 64, 32, 16, 8, 4, 2, 1)
"""How far before the last block iterations are replayed for the sake of what is left in the cache after the loop."""
AT_LEAST = 8
"""Iterations that are compared with others."""
SETTLED = 0.01
"""Relative difference of what two halves miss up to which later iterations miss as much as the second of them."""
WORTH = 3
"""With fewer iterations than so many for each that is counted, all of them are counted."""


class Counted(Struct, frozen=True, eq=False):
    """What one execution of a nest counts on each of C classes of processors."""

    key: tuple[object, ...]
    """Which nest, and what is counted."""
    trips: Array
    """(C,) how often its body runs."""
    figures: Array
    """(C, K) figures of any kind."""

    @property
    def share(self) -> Array:
        """(C, K) figures for each run of the body; where a class has none, that of all classes."""
        often = self.trips[:, None]
        mean = self.figures.sum(axis=0) / max(1.0, self.trips.sum())
        share: Array = np.divide(
            self.figures, often, out=np.broadcast_to(mean, self.figures.shape).copy(), where=often > 0
        )
        return share


class Iteration(Struct, frozen=True, eq=False):
    """An iteration in which misses were counted, nest by nest in the order in which they are reached."""

    counted: tuple[Counted, ...]
    shares: tuple[Array, ...]
    refills: bool
    """Whether it brings in as many lines as the cache holds."""

    @property
    def keys(self) -> tuple[object, ...]:
        """Which nests were reached."""
        return tuple(each.key for each in self.counted)

    @property
    def total(self) -> float:
        """Everything that was counted."""
        return float(sum(each.figures.sum() for each in self.counted))


class MissRecorder(Struct):
    """Takes down what is counted in one iteration."""

    counted: list[Counted] = field(default_factory=list)
    brought: float = 0.0
    """What it brings in, in relation to what the cache holds."""
    period: int = 1
    """Elements in a line."""

    @property
    def total(self) -> float:
        """Everything that was counted."""
        return float(sum(each.figures.sum() for each in self.counted))


class Differing(Struct, Generic[State], frozen=True, eq=False):
    """The iterations in which misses were counted, and what is cached after the loop."""

    iterations: dict[int, Iteration]
    alike: tuple[list[int], ...]
    """Their numbers from 1 on by the place in a block, ascending."""
    after: State
    listed: int = 0
    """References that were looked at one by one for it."""

    @property
    def counted_in(self) -> int:
        """Iterations in which misses were counted."""
        return len(self.iterations)

    def nbytes(self) -> int:
        """Memory it holds, about."""
        return sum(3 * each.figures.nbytes + 500 for one in self.iterations.values() for each in one.counted)

    def counted(self, number: int, reached: int, key: tuple[object, ...], trips: Array) -> Counted | None:
        """Return what the nest counts that is reached in an iteration after some others; None: that is not known."""
        known = self.iterations.get(number)
        if known is not None:
            return known.counted[reached] if known.keys[reached : reached + 1] == (key,) else None
        some = self.alike[number % len(self.alike)]
        high = bisect_left(some, number)
        earlier, later = (self.iterations[some[at]] for at in (high - 1, high))
        if earlier.keys != later.keys or earlier.keys[reached : reached + 1] != (key,):
            return None
        way = (number - some[high - 1]) / (some[high] - some[high - 1])
        return Counted(key, trips, _between(earlier, later, reached, way) * trips[:, None])


class Even(Struct, Generic[State], frozen=True, eq=False):
    """What the iterations of a loop miss each, nest by nest, where nothing else differs between them."""

    keys: tuple[object, ...]
    shares: tuple[Array, ...]
    """(C, K) for each run of the body of a nest."""
    after: State
    """What is cached after the loop."""
    counted_in: int
    """Iterations in which misses were counted."""
    listed: int = 0
    """References that were looked at one by one for it."""

    def nbytes(self) -> int:
        """Memory it holds, about."""
        return sum(3 * each.nbytes + 500 for each in self.shares)

    def counted(self, _number: int, reached: int, key: tuple[object, ...], trips: Array) -> Counted | None:
        """Return what the nest counts that is reached in an iteration after some others; None: that is not known."""
        if self.keys[reached : reached + 1] != (key,):
            return None
        return Counted(key, trips, self.shares[reached] * trips[:, None])


def _between(earlier: Iteration, later: Iteration, at: int, way: float) -> Array:
    """The share that nest `at` misses after part of the way between two iterations."""
    shares: Array = (1.0 - way) * earlier.shares[at] + way * later.shares[at]
    return shares


class KnownMisses(Protocol):
    """What is known of all iterations of a loop."""

    def counted(self, number: int, reached: int, key: tuple[object, ...], trips: Array, /) -> Counted | None:
        """Return what the nest counts that is reached in an iteration after some others; None: that is not known."""
        ...


class Place(Struct):
    """Where the walk of a loop is: in which iteration, and how many nests it has reached in it."""

    known: KnownMisses
    number: int = 0
    reached: int = 0

    def at(self, number: int) -> None:
        """Come to an iteration."""
        self.number, self.reached = number, 0

    def counted(self, key: tuple[object, ...], trips: Array) -> Counted | None:
        """Return what the nest counts that is reached next; None: that is not known."""
        self.reached += 1
        return self.known.counted(self.number, self.reached - 1, key, trips)


class _Segment(Struct, frozen=True, order=True):
    """The iterations between two blocks, by the first iterations of these; the largest error comes first."""

    rank: float
    """The error, all figures together, times -1."""
    low: int
    high: int
    error: float
    """By how much the sum of all figures is too large."""


def sampled(
    trips: int,
    before: State,
    replay: Callable[[int, State], tuple[MissRecorder, State]],
    is_enough: Callable[[], bool] = lambda: False,
) -> Differing[State] | None:
    """Count the misses of some of `trips` iterations, from the caches `before` the loop on; None: of too many.

    Args:
        trips: Iterations of the loop, many times as many as there are elements in a line.
        before: What is cached before the first.
        replay: Counts one iteration from a state of the caches on, and returns the state after it, too.
        is_enough: Whether no more iterations can be counted, however accurate the result is.
    """
    known: dict[int, Iteration] = {}
    after = {-1: before}

    def count(number: int) -> int:
        recorder, after[number] = replay(number, after[number - 1])
        counted = tuple(recorder.counted)
        known[number] = Iteration(counted, tuple(each.share for each in counted), recorder.brought >= 1.0)
        return recorder.period

    period = count(0)

    def block(first: int) -> float:
        if first - 1 not in after:
            state = after[max(each for each in after if each < first)]
            for before_it in LEAD if first == trips - period else LEAD[-1:]:
                _, state = replay(first - before_it, state)
            after[first - 1] = state
        for number in range(first, first + period):
            count(number)
        return sum(known[number].total for number in range(first, first + period)) / period

    mean = {each: block(each) for each in (1, trips - period)}
    if not any(known[each].refills for each in mean):
        return None
    total = sum(mean.values()) / 2 * trips
    segments = [_Segment(-np.inf, 1, trips - period, 0.0)]
    while segments and max(-segments[0].rank, abs(sum(each.error for each in segments))) > ACCURACY * total:
        if is_enough():
            break
        if len(known) * WORTH > trips:
            return None
        widest = heappop(segments)
        low, high = widest.low, widest.high
        if high - low <= period:
            continue
        middle = max(low + period, _middle(low, high, len(known)))
        mean[middle] = block(middle)
        total += (mean[middle] * (high - low) - mean[low] * (high - middle) - mean[high] * (middle - low)) / 2
        missed, error = _missed(known, low, high, range(middle, middle + period))
        for first, last in ((low, middle), (middle, high)):
            unlike = known[first].keys != known[last].keys or (last - first) * SEGMENTS > trips
            half = (last - first) / 2
            size = half * missed
            if not (known[first].refills and known[last].refills):
                size = max(size, DOUBT * half * (mean[first] + mean[last]))
            heappush(segments, _Segment(-np.inf if unlike else -size, first, last, half * error))
    alike = tuple(sorted(each for each in known if each and each % period == place) for place in range(period))
    return Differing(known, alike, after[trips - 1])


def settled(
    trips: int, before: State, replay: Callable[[int, State], tuple[MissRecorder, State]]
) -> Even[State] | None:
    """Count the misses of a loop whose iterations differ in nothing else, in the first 16, 32, 64, ... of them until
    the later half misses as much as the earlier one (`SETTLED`), each more than the cache holds: the later half stands
    for all that follow. Where planes begin in the cache repeats itself after a power of two. None: they are too many.
    Args and results are as for `sampled`.
    """
    state, earlier, filled = before, np.inf, 0
    every: list[MissRecorder] = []
    while True:
        some = max(AT_LEAST, len(every))
        if 2 * (len(every) + some) > trips:
            return None
        for number in range(len(every), len(every) + some):
            recorder, state = replay(number, state)
            every.append(recorder)
        later = every[-some:]
        mean, brought = sum(each.total for each in later) / some, np.cumsum([each.brought for each in later])
        if brought[-1] >= 1.0 and abs(mean - earlier) <= SETTLED * mean:
            filled = 1 + int(np.argmax(brought >= 1.0))
            break
        if brought[-1] / some * trips < 4.0:  # not even a quarter of all iterations fills it
            return None
        earlier = mean if brought[-1] >= 1.0 else np.inf
    for number in range(trips - filled, trips):
        _, state = replay(number, state)
    keys = tuple(each.key for each in every[0].counted)
    if any(tuple(each.key for each in one.counted) != keys for one in every):
        return None
    weights = np.ones(len(every))
    weights[-some:] += (trips - len(every)) / some
    shares = tuple(
        np.average([one.counted[at].share for one in every], axis=0, weights=weights) for at in range(len(keys))
    )
    return Even(keys, shares, state, len(every) + filled)


def _middle(low: int, high: int, salt: int) -> int:
    """An iteration about half way, so that those chosen are spread over the remainders of any small number."""
    shift = 5 * salt % 17 - 8 if high - low > 64 else 0
    return (low + high) // 2 + shift


def _missed(known: dict[int, Iteration], low: int, high: int, block: range) -> tuple[float, float]:
    """How far interpolation between two blocks is from what was counted in an iteration of a `block` between them, all
    nests and kinds of figures together (infinite where other nests were reached), and by how much it is too high."""
    errors = []
    for number in block:
        first, last = (each + (number - each) % len(block) for each in (low, high))
        earlier, found, later = known[first], known[number], known[last]
        if not earlier.keys == found.keys == later.keys:
            return float("inf"), 0.0
        way = (number - first) / (last - first)
        between = [_between(earlier, later, at, way) * each.trips[:, None] for at, each in enumerate(found.counted)]
        parts = [(mine - each.figures).sum(axis=0) for mine, each in zip(between, found.counted, strict=True)]
        errors.append(np.concatenate(parts))
    error = np.sum(errors, axis=0) / len(block)
    return float(np.abs(error).sum()), float(error.sum())
