"""Which of two choices is faster, and how sure that is (Def 19)."""

from collections.abc import Sequence
from itertools import groupby

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from esp.prediction import COMPILER, Prediction, first
from esp.stated import ERROR, stated_error
from sag.uncertainty import quantiles

OFTEN = 0.95
"""Share of the scenarios in which a choice must be faster to be called so."""

FAR = 3.0
"""Choices that take so many times as long as the fastest are slower, without scenarios."""

QUARTER = 0.25
"""Part of the scenarios that is called one end of the range of a quantity."""

MOST = 0.5
"""By how much more often a choice must be ahead at one end of a range than elsewhere for that to be the cause."""


class Timing(Struct, frozen=True, kw_only=True, eq=False):
    """The time of a choice, in every scenario if they are known, and its model error."""

    time_s: float
    error: float
    times_s: NDArray[np.float64] | None = None
    quantities: tuple[str, ...] = ()
    complete: bool = True
    fits: bool = True
    """Whether its data fit in the memory of each processor."""


class Swap(Struct, frozen=True, kw_only=True):
    """A choice that is faster than the first one in some scenarios, and what decides that.

    `quantity`: a parameter of the machine, or a group of them, that is near the upper (1) or lower (-1) end of its
    range; or what the compiler does (1) or not (-1); "" and 0 where no single one decides.
    """

    rank: int
    share: float
    """Part of the scenarios in which it is faster by more than the model error."""
    quantity: str = ""
    way: int = 0
    compiler: bool = False


class CloseCall(Struct, frozen=True, kw_only=True):
    """A choice that the first one beats in many scenarios, but not in enough, and what decides that.

    `quantity`, `way` and `compiler` as in `Swap`: where the two are equal within the model error.
    """

    rank: int
    share: float
    """Part of the scenarios in which the first is faster by more than the model error."""
    ahead: float
    """Part of the scenarios in which the first is faster at all."""
    error: float
    """The model error of the pair."""
    quantity: str = ""
    way: int = 0
    compiler: bool = False

    @property
    def by_error(self) -> bool:
        """Whether the model error decides: without it, the first would be called faster."""
        return self.ahead >= OFTEN


class Certainty(Struct, frozen=True, kw_only=True):
    """How sure it is which choice is the fastest: what holds between the first and each other (ranks from 1)."""

    equal: tuple[int, ...]
    """They differ from the first by no more than the model error, in nearly all scenarios."""
    close: tuple[CloseCall, ...]
    """They are never ahead, or hardly ever, but slower by more than the model error in too few scenarios."""
    swaps: tuple[Swap, ...]
    """They are faster in some scenarios."""
    slower: tuple[int, ...]
    """They are slower in nearly all scenarios."""
    far: tuple[int, ...]
    """They take more than `FAR` times as long, so that no scenarios are tried."""
    untried: tuple[int, ...]
    """They are slower with the given figures; scenarios are not tried, as that would take long."""
    error: float
    """The largest model error of a pair that is equal, 0 without one."""
    tried: bool
    """Whether scenarios of the machine's figures were predicted for the first, or need not be."""


def timing(prediction: Prediction, *, timed: bool = False) -> Timing:
    """The timing of a prediction, or of its timed region."""
    found, times = prediction.interval, None
    timed = timed and prediction.timed_s is not None
    if found is not None:
        times = found.timed_times_s if timed else found.times_s
    whole = prediction.timed_s if timed and prediction.timed_s is not None else prediction.time_s
    return Timing(
        time_s=first(whole),
        error=stated_error(prediction),
        times_s=times,
        quantities=() if found is None else found.quantities,
        complete=prediction.complete,
        fits=prediction.fits,
    )


def pair_error(one: Timing, other: Timing) -> float:
    """The model error of a pair: the tolerance of every statement about the two."""
    return max(one.error, other.error)


def faster(one: Timing, other: Timing) -> bool:
    """Whether the first is faster than the second: by more than the model error in 95 % of the scenarios, in which
    figures that both depend on are the same."""
    factor = 1.0 + pair_error(one, other)
    if one.times_s is None or other.times_s is None:
        return other.time_s > one.time_s * factor
    return bool(np.mean(other.times_s > one.times_s * factor) >= OFTEN)


def ties(timings: Sequence[Timing]) -> tuple[int | None, ...]:
    """For each choice, in ascending order of time, the position of the one it ties with; None where it stands alone.

    It ties with the first of those that stand alone which is not faster. So a tie never runs through a chain of small
    steps. Incomplete predictions do not tie, and neither does what does not fit in memory, which comes last.
    """
    found: list[int | None] = []
    if not all(each.complete for each in timings):
        return (None,) * len(timings)
    for at, each in enumerate(timings):
        if not each.fits:
            found.append(None)
            continue
        leaders = (before for before in range(at) if found[before] is None)
        found.append(next((before for before in leaders if not faster(timings[before], each)), None))
    return tuple(found)


def runs(times: NDArray[np.float64]) -> list[tuple[int, int, list[int]]]:
    """Rows of times (row, choice) next to each other with a choice that is the best of all, or tied with it: first
    row, last row, all such choices. As few as possible, so that a change is never one inside a tie.

    >>> runs(np.array([[1.0, 2.0], [2.0, 2.01], [3.0, 2.9], [4.0, 3.0]]))
    [(0, 1, [0]), (2, 3, [1])]
    """
    tied = times <= times.min(axis=1, keepdims=True) * (1 + ERROR)
    tied &= np.isfinite(times)
    number, still = 0, np.ones(times.shape[1], np.bool_)
    numbers = []
    for row in tied:
        if not (still & row).any():
            number, still = number + 1, np.ones_like(row)
        still = still & row
        numbers.append(number)
    found = []
    for _, group in groupby(range(len(numbers)), key=numbers.__getitem__):
        rows = list(group)
        common = tied[rows].all(axis=0)
        if common.any():
            ratios = (times[rows] / times[rows].min(axis=1, keepdims=True)).sum(axis=0)
            order = np.argsort(np.where(common, ratios, np.inf), kind="stable")
            found.append((rows[0], rows[-1], order[: int(common.sum())].tolist()))
    return found


def certainty(timings: Sequence[Timing]) -> Certainty:
    """How sure it is that the first of these is the fastest of those that fit in memory."""
    best = timings[0]
    equal: list[int] = []
    close: list[CloseCall] = []
    slower: list[int] = []
    far: list[int] = []
    untried: list[int] = []
    swaps: list[Swap] = []
    for rank, other in enumerate(timings[1:], 2):
        if not (best.fits and other.fits):
            continue
        if other.time_s > FAR * best.time_s:
            far.append(rank)
        elif faster(best, other):
            (untried if best.times_s is None or other.times_s is None else slower).append(rank)
        elif _share_ahead(other, best) > 1.0 - OFTEN:
            swaps.append(_swap(rank, best, other))
        elif _equal(best, other):
            equal.append(rank)
        else:
            close.append(_close_call(rank, best, other))
    return Certainty(
        equal=tuple(equal),
        close=tuple(close),
        swaps=tuple(swaps),
        slower=tuple(slower),
        far=tuple(far),
        untried=tuple(untried),
        error=max((pair_error(best, timings[rank - 1]) for rank in equal), default=0.0),
        tried=best.times_s is not None or len(far) == len(timings) - 1,
    )


def _share_ahead(one: Timing, other: Timing) -> float:
    """Part of the scenarios in which the first is faster by more than the model error; 0 without scenarios."""
    if one.times_s is None or other.times_s is None:
        return 0.0
    return float(np.mean(other.times_s > one.times_s * (1.0 + pair_error(one, other))))


def _equal(one: Timing, other: Timing) -> bool:
    """Whether neither is faster, with the given figures and in nearly all scenarios."""
    if other.time_s > one.time_s * (1.0 + pair_error(one, other)):
        return False
    return _share_ahead(one, other) <= 1.0 - OFTEN


def _close_call(rank: int, one: Timing, other: Timing) -> CloseCall:
    """What decides that the first is not called faster: what makes the two equal at one end of its range."""
    assert one.times_s is not None
    assert other.times_s is not None
    error = pair_error(one, other)
    behind = other.times_s > one.times_s * (1.0 + error)
    quantity, way, compiler = _decider(one.quantities, ~behind)
    return CloseCall(
        rank=rank,
        share=float(np.mean(behind)),
        ahead=float(np.mean(other.times_s > one.times_s)),
        error=error,
        quantity=quantity,
        way=way,
        compiler=compiler,
    )


def _swap(rank: int, one: Timing, other: Timing) -> Swap:
    """What decides that the other is the faster one."""
    assert one.times_s is not None
    assert other.times_s is not None
    quantity, way, compiler = _decider(one.quantities, other.times_s < one.times_s)
    return Swap(rank=rank, share=_share_ahead(other, one), quantity=quantity, way=way, compiler=compiler)


def _decider(quantities: Sequence[str], holds: NDArray[np.bool_]) -> tuple[str, int, bool]:
    """What puts a statement about two choices right in most scenarios at one end of its range, and much more often than
    elsewhere: its name, the end, and whether it is the compiler; "" and 0 where nothing does so alone."""
    found, most = ("", 0, False), MOST
    for name in quantities:
        at, compiler = quantiles(name), name.startswith(COMPILER)
        part = 0.5 if compiler else QUARTER
        for high in (True, False):
            inside = at > 1.0 - part if high else at < part
            there, elsewhere = float(np.mean(holds[inside])), float(np.mean(holds[~inside]))
            if there - elsewhere > most:
                most = there - elsewhere
                way = 1 if high != compiler else -1  # a compiler does what is drawn in the lower half
                found = name.removeprefix(COMPILER), way, compiler
    return found
