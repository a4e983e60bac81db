"""From which problem size on a choice is the fastest, and which one is below it."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from math import inf, log

import numpy as np
from msgspec import Struct

from esp.explore.ties import runs

LOWEST = 8
"""The smallest size that is tried is this part of the current one."""

NEAR = 0.75
"""From this part of the way on, a first guess is taken for the current size: that is often a power of two, which may
be slow for one choice because of the cache, so that times cross right there."""

TimeOf = Callable[[int, int], float]
"""Number of a choice and size -> seconds; infinite where the choice is impossible."""

Ahead = Callable[[Iterable[tuple[int, int]]], None]
"""Told the choices and sizes that are going to be asked for, so that several can be predicted at a time."""


class Crossover(Struct, frozen=True, kw_only=True):
    """Where a choice is overtaken by a rival that it does not beat at the smallest size.

    At `wins_from` the winner is faster than the rival by more than `tolerance`, at the size of `sizes` before it is
    not. No more than that is known of the sizes that are not in `tried`.
    """

    name: str
    """The size parameter."""
    sizes: tuple[int, ...]
    """Sizes between which was searched, ascending; the last is the current one."""
    tried: tuple[int, ...]
    """Those of them at which winner and rival were predicted, ascending."""
    challengers: tuple[int, ...]
    """The choices that were tried at the smallest size."""
    wins_from: int | None
    """None: the two tie at the largest size."""
    rival: int | None
    """None: the winner beats all of them at the smallest size."""
    rival_wins: bool = False
    """Whether the rival is faster at the smallest size by more than `tolerance`; else the two tie there."""
    tolerance: float = 0.0
    above: int | None = None
    """The larger size that was tried, too, where the winner beats the rival at the largest of `sizes` alone."""
    wins_above: bool = False
    """Whether the winner is faster than the rival there, too, by more than `tolerance`."""
    special: bool = False
    """Whether the largest of `sizes` is special by itself, not a limit, such as a power of two that suits a cache
    badly: the winner wins there alone, or the rival takes longer there than at the larger size."""
    fixed: Mapping[str, int] = {}
    """Other names that size what is distributed, with the values that they keep."""


class Scan(Struct, frozen=True, kw_only=True):
    """The fastest choice at every size that was asked for."""

    name: str
    sizes: tuple[int, ...]
    best: tuple[int, ...]

    runs: tuple[tuple[int, int, tuple[int, ...]], ...]
    """Sizes next to each other with choices that are the fastest or tie with it at all of them: first size, last size,
    choices."""
    fixed: Mapping[str, int] = {}
    """As in `Crossover`."""


def sizes_below(current: int, procs: int) -> tuple[int, ...]:
    """The sizes to search: multiples of the number of processors, so that blocks are even, and the current one.

    Where there are fewer than four of them, every size.
    """
    step = procs if current >= 4 * procs else 1
    first = max(2, -(-current // LOWEST))
    first = -(-first // step) * step
    return (*range(first, current, step), current)


def size_above(current: int, procs: int) -> int:
    """The next size after the current one that `sizes_below` would take."""
    step = procs if current >= 4 * procs else 1
    return current - current % step + step


def _alone(_: Iterable[tuple[int, int]]) -> None:
    """One prediction at a time."""


def crossover(
    name: str,
    time_of: TimeOf,
    winner: int,
    challengers: Sequence[int],
    sizes: Sequence[int],
    *,
    tolerance: float = 0.0,
    tied: Collection[int] = (),
    ahead: Ahead = _alone,
    beyond: int | None = None,
) -> Crossover:
    """Search for the size at which the winner of the largest size is overtaken.

    Args:
        name: the size parameter.
        time_of: see `TimeOf`.
        winner: the choice that is fastest at the largest size.
        challengers: the choices that are tried at the smallest size; the fastest of them is the rival.
        sizes: ascending.
        tolerance: relative difference up to which two times tie.
        tied: challengers that tie with the winner at the largest size.
        ahead: see `Ahead`.
        beyond: a larger size, which shows whether the largest of `sizes` is a special one.
    """
    ahead((each, sizes[0]) for each in (*challengers, winner))
    times = {each: time_of(each, sizes[0]) for each in challengers}
    rival = min(times, key=lambda each: (times[each], each), default=None)
    gaps: dict[int, float] = {}

    def gap(at: int, other: int) -> float:
        """How far the winner is behind at a size: above 0 where it is."""
        if at not in gaps:
            ahead((each, sizes[at]) for each in (winner, other))
            gaps[at] = _behind(time_of(winner, sizes[at]) * (1.0 + tolerance), time_of(other, sizes[at]))
        return gaps[at]

    wins_from: int | None = sizes[0]
    if rival is not None and len(sizes) > 1 and gap(0, rival) > 0:
        low, high = 0, len(sizes) - 1
        together = gap(high, rival) > 0 or rival in tied
        while high - low > 1 and not together:
            middle = _between(low, high, gaps, halve=len(gaps) % 2 == 1)
            if gap(middle, rival) > 0:
                low = middle
            else:
                high = middle
        wins_from = None if together else sizes[high]
    else:
        rival = None
    above, wins_above, special = None, False, False
    if rival is not None and wins_from == sizes[-1] and len(sizes) > 2 and beyond is not None:
        above = beyond
        ahead((each, beyond) for each in (winner, rival))
        wins_above = _behind(time_of(winner, beyond) * (1.0 + tolerance), time_of(rival, beyond)) <= 0
        special = not wins_above or time_of(rival, sizes[-1]) > time_of(rival, beyond)
    return Crossover(
        name=name,
        sizes=tuple(sizes),
        tried=tuple(sizes[at] for at in sorted(gaps)) or (sizes[0],),
        challengers=tuple(challengers),
        wins_from=wins_from,
        rival=rival,
        rival_wins=rival is not None and time_of(winner, sizes[0]) > times[rival] * (1.0 + tolerance),
        tolerance=tolerance,
        above=above,
        wins_above=wins_above,
        special=special,
    )


def _behind(winner_s: float, rival_s: float) -> float:
    """The logarithm of the ratio of two times, of which one or both may be 0 or infinite."""
    if winner_s == rival_s:
        return 0.0
    if min(winner_s, rival_s) <= 0 or max(winner_s, rival_s) == inf:
        return inf if winner_s > rival_s else -inf
    return log(winner_s / rival_s) or (1.0 if winner_s > rival_s else -1.0)


def _between(low: int, high: int, gaps: dict[int, float], *, halve: bool) -> int:
    """Where to look next: where a straight line would cross, every other time in the middle."""
    middle = (low + high) // 2
    above, below = gaps[low], gaps[high]
    if halve or above == inf or below == -inf or above <= below:
        return middle
    part = above / (above - below)
    if len(gaps) == 2 and part > NEAR:
        return high - 1
    return min(max(low + round((high - low) * part), low + 1), high - 1)


def scan(name: str, time_of: TimeOf, choices: Sequence[int], sizes: Sequence[int], *, ahead: Ahead = _alone) -> Scan:
    """Try every choice at every size."""
    ahead((each, size) for size in sizes for each in choices)
    best = tuple(min(choices, key=lambda each: (time_of(each, size), each)) for size in sizes)
    times = np.array([[time_of(each, size) for each in choices] for size in sizes])
    spans = tuple(
        (sizes[first], sizes[last], tuple(choices[each] for each in tied)) for first, last, tied in runs(times)
    )
    return Scan(name=name, sizes=tuple(sizes), best=best, runs=spans)
