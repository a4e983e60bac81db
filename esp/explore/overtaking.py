"""On how many processors one program, distribution or machine overtakes another as the system grows.

X.-H. Sun and J. Zhu: the one with the better scalability is the faster one from some number of processors on, the
crossing point. Both have the same size, which is fixed, or grows with the system.
"""

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from math import ceil, log
from typing import Any, Literal

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from esp.api import Prediction, Request, Source, interpret_stages, lower_source
from esp.errors import PredictionError, UsageError
from esp.explore.interval import cheap, interval_of
from esp.explore.scaling import GROWTH, check_work, subject
from esp.explore.sized import Progress, SizedPredictions
from esp.prediction import first
from esp.stated import stated_error
from interpreter.scalability.search import smallest_lasting
from sag.uncertainty import SCENARIOS, TAIL
from sag.unit import System

Floats = NDArray[np.float64]
Growth = Literal["fixed", "work", "speed"]

GROWTHS: dict[Growth, str] = {
    "fixed": "the same size on all processors",
    "work": "the work of each processor stays the same",
    "speed": "the speed of each processor of the first stays the same",
}
"""How the size follows the processors."""


_WALKED = 500
"""Walked iterations up to which the scenarios of a prediction take seconds."""


class Contestant(Struct, frozen=True, kw_only=True, eq=False):
    """One of the two that are compared."""

    label: str
    source: Source
    system: System
    request: Request
    parameter: str = ""
    """Its PARAMETER that is the size."""


class OvertakingRow(Struct, frozen=True, kw_only=True):
    """Both on some processors. `faster`: the share of the scenarios in which the second is the faster one; None: none
    were tried."""

    processors: int
    size: int
    first_s: float
    second_s: float
    faster: float | None
    error: float
    """The model error of the pair: relative difference up to which they tie."""

    @property
    def ties(self) -> bool:
        """Whether they are equal within the model error."""
        return abs(self.second_s - self.first_s) <= self.error * min(self.first_s, self.second_s)


class CrossingPoint(Struct, frozen=True, kw_only=True):
    """Where the faster one changes: after `last` processors of one row, by `first` of the next one, `about` where the
    ratio of the times is 1 on a line between logarithms. `second`: whether the second is then the faster one."""

    last: int
    first: int
    about: float
    second: bool


class Overtaking(Struct, frozen=True, kw_only=True):
    """Two contestants as the system grows."""

    first: str
    second: str
    parameter: str
    growth: Growth
    rows: tuple[OvertakingRow, ...]
    crossings: tuple[CrossingPoint, ...]
    low: float | None
    """Of the last crossing, or where there is none of the one that who is behind would make: on how many processors it
    is at least in 95 % of the scenarios that have it between the first and the last row."""
    high: float | None
    """On how many it lies at most in 95 % of them."""
    inside: float | None
    """The share of the scenarios that have it there."""
    before: float | None
    """The share in which who overtakes is the faster one in all rows."""
    missing: tuple[int, ...] = ()
    """Numbers of processors for which no size was found."""
    warnings: tuple[Any, ...] = ()


def overtaking(
    one: Contestant,
    other: Contestant,
    procs: Sequence[int],
    *,
    growth: Growth = "fixed",
    size: str = "",
    work: str = "",
    progress: Progress | None = None,
) -> Overtaking:
    """Find the numbers of processors on which the second overtakes the first.

    Args:
        one: the first.
        other: the second; it has the same size.
        procs: numbers of processors, ascending.
        growth: how the size follows the processors.
        size: the PARAMETER that is the size (default: the one that sizes the distributed arrays).
        work: the flops of the best sequential program, as for `esp.scalability`.
        progress: called after each prediction.

    Raises:
        UsageError: an argument does not fit a program.
        PredictionError: no work is done, or a prediction is incomplete.
        aag.diagnostics.SourceError: a program or its values prevent a prediction.
        sag.errors.MachineError: a machine does.
    """
    if len(procs) < 2:
        raise UsageError("several numbers of processors are needed.", where="--procs", hint="Write 1..64 or 2,8,32.")
    request, name, current = subject(one.source, one.system, one.request, procs, size)
    second, second_name, _ = subject(other.source, other.system, other.request, procs, size)
    one = replace(one, request=request, parameter=name)
    other = replace(other, request=second, parameter=second_name)
    tries = SizedPredictions(one.source, one.system, one.request, name, work, progress)
    sizes = _sizes(tries, procs, current, growth, work)
    pairs = _Pairs(one, other, progress)
    rows, times = [], []
    for at, number in enumerate(procs):
        if number not in sizes:
            continue
        pairs.share = at / len(procs)
        row, scenarios = pairs.row(number, sizes[number])
        rows.append(row)
        times.append(scenarios)
    if len(rows) < 2:
        raise PredictionError("no size was found for these numbers of processors.", hint="Give fewer, or another size.")
    apart = [each for each in rows if not each.ties]
    crossings = [
        CrossingPoint(
            last=before.processors,
            first=after.processors,
            about=_about(before.processors, after.processors, _ahead(before), _ahead(after)),
            second=after.second_s < after.first_s,
        )
        for before, after in pairwise(apart)
        if (_ahead(before) < 0) != (_ahead(after) < 0)
    ]
    is_second = crossings[-1].second if crossings else _ahead((apart or rows)[-1]) >= 0
    low, high, inside, ahead = _range([each.processors for each in rows], times, 1.0 if is_second else -1.0)
    return Overtaking(
        first=one.label,
        second=other.label,
        parameter=name,
        growth=growth,
        rows=tuple(rows),
        crossings=tuple(crossings),
        low=low,
        high=high,
        inside=inside,
        before=ahead,
        missing=tuple(number for number in procs if number not in sizes),
        warnings=pairs.warnings,
    )


def _sizes(tries: SizedPredictions, procs: Sequence[int], current: int, growth: Growth, work: str) -> dict[int, int]:
    """Number of processors -> size, where there is one."""
    if growth == "fixed":
        return dict.fromkeys(procs, current)
    base = procs[0]
    most = GROWTH * max(1, current) * max(1, procs[-1] // base)
    each = tries.work(current) / base
    check_work(each, 1.0, work, f"{tries.name} = {current}")
    speed = tries.speed(base, current)
    found: dict[int, int] = {base: current}
    size = current
    for number in procs[1:]:
        guess = ceil(size * number / base)
        if growth == "work":
            least = smallest_lasting(partial(_does, tries, each * number), 1, guess, most, 0)
        else:
            least = smallest_lasting(partial(tries.keeps, number, speed=speed), 1, guess, most, 2 * number)
        if least is not None:
            found[number], size, base = least, least, number
    return found


def _does(tries: SizedPredictions, work: float, size: int) -> bool:
    """Whether a size has so much work."""
    return tries.work(size) >= work


def _ahead(row: OvertakingRow) -> float:
    """Logarithm of the second time over the first: negative where the second is faster."""
    return log(row.second_s / row.first_s)


def _about(low: float, high: float, before: float, after: float) -> float:
    """Where something that changes its sign is 0, on a line over the logarithm of processors."""
    return float(low * (high / low) ** (before / (before - after)))


def _range(
    procs: Sequence[int], times: Sequence[tuple[Floats, Floats] | None], sign: float
) -> tuple[float | None, float | None, float | None, float | None]:
    """Between which numbers of processors the second (-1: the first) overtakes in 90 % of the scenarios, the share of
    the scenarios in which it does, and of those in which it is ahead all the time."""
    known = [each for each in times if each is not None]
    if len(known) < len(times):
        return None, None, None, None
    logs = sign * np.log([second / one for one, second in known])  # (rows, scenarios)
    found = []
    for column in logs.T:
        at = next((at for at in range(column.size - 1, 0, -1) if column[at] < 0 <= column[at - 1]), None)
        if at is not None:
            found.append(_about(procs[at - 1], procs[at], column[at - 1], column[at]))
    ahead = float((logs < 0).all(axis=0).mean())
    if not found:
        return None, None, 0.0, ahead
    low, high = np.quantile(found, (TAIL, 1.0 - TAIL))
    return float(low), float(high), len(found) / logs.shape[1], ahead


class _Pairs:
    """Predictions of both contestants, each made once."""

    def __init__(self, one: Contestant, other: Contestant, progress: Progress | None) -> None:
        self._both, self._progress = (one, other), progress
        self._done: dict[tuple[int, int, int], Prediction] = {}
        self.share = 0.0

    @property
    def warnings(self) -> tuple[Any, ...]:
        """Those of both."""
        return tuple(dict.fromkeys(found for each in self._done.values() for found in each.warnings))

    def times(self, processors: int, size: int) -> tuple[float, float]:
        """The time of each, in seconds."""
        one, other = (self._time_s(which, processors, size) for which in (0, 1))
        return one, other

    def row(self, processors: int, size: int) -> tuple[OvertakingRow, tuple[Floats, Floats] | None]:
        """Both on some processors, and their times in the scenarios, which have the same figures where the machine is
        the same."""
        first_s, second_s = self.times(processors, size)
        made = [self._made(which, processors, size) for which in (0, 1)]
        error, scenarios, faster = max(map(stated_error, made)), None, None
        if all(cheap(each) and each.iterations_walked <= _WALKED for each in made):
            found = []
            for which, (contestant, each) in enumerate(zip(self._both, made, strict=True)):
                asked = self._asked(which, processors, size)
                interval = interval_of(contestant.source, contestant.system, asked, made=each)
                times = interval.timed_times_s if contestant.request.timed else interval.times_s
                assert times is not None
                found.append(np.broadcast_to(times, SCENARIOS))
                error = max(error, interval.model_error)
            scenarios = (found[0], found[1])
            faster = float((found[1] < found[0]).mean())
        row = OvertakingRow(
            processors=processors, size=size, first_s=first_s, second_s=second_s, faster=faster, error=error
        )
        return row, scenarios

    def _asked(self, which: int, processors: int, size: int) -> Request:
        contestant = self._both[which]
        values = {**contestant.request.values, contestant.parameter: size}
        return replace(contestant.request, procs=processors, values=values)

    def _made(self, which: int, processors: int, size: int) -> Prediction:
        key = (which, processors, size)
        if key not in self._done:
            contestant, asked = self._both[which], self._asked(which, processors, size)
            stages = lower_source(contestant.source, contestant.system, asked)
            made = interpret_stages(stages, contestant.system, asked)
            if not made.complete:
                raise PredictionError(f"the prediction of {contestant.label} is incomplete.")
            self._done[key] = made
            if self._progress is not None:
                what = f"{contestant.label} with {contestant.parameter} = {size:,}"
                self._progress(len(self._done), processors, what, self.share)
        return self._done[key]

    def _time_s(self, which: int, processors: int, size: int) -> float:
        made, contestant = self._made(which, processors, size), self._both[which]
        if not contestant.request.timed:
            return first(made.time_s)
        if made.timed_s is None:
            hint = "Leave out ‹timed›."
            raise PredictionError(f"{contestant.label} has no region between two readings of the clock.", hint=hint)
        return first(made.timed_s)
