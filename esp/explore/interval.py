"""The interval of a time (Def 19): scenarios of the machine's figures in one walk, and of what its compiler may do.

What no source decides of a compiler is drawn as a figure is, half of the scenarios with it and half without. Each way
to compile is a node program of its own, so there is a walk for each with its share of the scenarios.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from aag.wording import plural
from esp.api import Prediction, Request, Source, Stages, compiled, interpret_stages, lower_source, switched
from esp.explore.ties import FAR
from esp.prediction import COMPILER, Interval, Variant
from esp.stated import meeting, stated_errors
from interpreter.listeners import Watch, begin
from interpreter.models.circuits import MOST
from interpreter.result import Figure
from sag.uncertainty import AS_GIVEN, SCENARIOS, TAIL, quantiles, uncertain, uncertain_scenario
from sag.unit import System

Array = NDArray[np.float64]

MANY = 4096
"""Processors up to which scenarios are tried unless they are asked for."""

RUN_SPREAD = 1.645
"""Half of a 90 % range in standard deviations: what a fit leaves of a run is in the interval, in place of the model
error."""

Choice = tuple[tuple[str, bool], ...]
"""Transformation -> whether it is done, for those that are undecided."""


def possible(prediction: Prediction) -> bool:
    """Whether there is an interval: not of an incomplete prediction, nor of several scenarios."""
    return prediction.complete and prediction.scenarios == 1


def cheap(prediction: Prediction) -> bool:
    """Whether 64 scenarios take little longer than one: not where messages meet, as they do so in another order in
    each, nor on very many processors."""
    return possible(prediction) and prediction.processors <= MANY and not meeting(prediction)


def contenders(times_s: Sequence[float], predictions: Sequence[Prediction], *, always: bool = False) -> list[int]:
    """Positions of the choices that could be the fastest in some scenario, where that takes little longer, or `always`;
    none where that is but one. The first of them is the fastest with the given figures."""
    wanted = possible if always else cheap
    if not predictions or not all(each.complete for each in predictions) or not wanted(predictions[0]):
        return []
    rows = enumerate(zip(times_s, predictions, strict=True))
    found = [at for at, (time_s, each) in rows if time_s <= FAR * times_s[0] and each.fits and wanted(each)]
    return found if len(found) > 1 else []


class Walk(Struct, frozen=True, kw_only=True, eq=False):
    """The time of a program that is compiled in one way, in its share of the scenarios."""

    choice: Choice
    times_s: Array
    """In each scenario of this way, in their order."""
    time_s: float
    """With the machine's own figures; so is what follows."""
    error: float
    timed_times_s: Array | None
    timed_s: float | None
    apart: bool
    """Whether its scenarios were walked one by one."""


def own_walk(
    stages: Stages, system: System, request: Request, watch: Watch | None = None, *, made: Prediction | None = None
) -> Walk:
    """The walk for the way in which a program is compiled for its prediction. It takes little, as all is counted.
    `made`: that prediction, which says whether scenarios take less time one by one."""
    choice, which = next(each for each in _ways(system, request) if _is_own(each[0], system, request))
    return _walk(stages, system, request, choice, which, watch, apart=made is not None and _apart(made))


def _apart(made: Prediction) -> bool:
    """Whether scenarios take less time one by one: where messages of several operations are followed, a loop jumps over
    its repetitions only where all scenarios that are walked together repeat themselves."""
    repeats = 4 * made.iterations_walked <= made.iterations
    return repeats and 0 < made.followed * (SCENARIOS + 1) <= MOST


def interval_of(
    source: Source,
    system: System,
    request: Request,
    known: Walk | None = None,
    watch: Watch | None = None,
    *,
    made: Prediction | None = None,
) -> Interval:
    """Return the interval of a time.

    Args:
        source: the program.
        system: the machine.
        request: what is asked for; one scenario.
        known: the walk for the way in which it is compiled; without it, it is made.
        watch: told how far it is.
        made: the prediction without an interval, as for `own_walk`; needed if `known` is None.
    """
    ways = _ways(system, request)
    apart = known.apart if known is not None else made is not None and _apart(made)
    times, timed = np.empty(SCENARIOS), np.full(SCENARIOS, np.nan)
    walks = []
    for choice, which in ways:
        walk = known
        if walk is None or not _is_own(choice, system, request):
            asked = switched(request, dict(choice))
            walk = _walk(lower_source(source, system, asked), system, asked, choice, which, watch, apart=apart)
        times[which] = walk.times_s
        if walk.timed_times_s is not None:
            timed[which] = walk.timed_times_s
        walks.append(walk)
    error = max(each.error for each in walks) if system.fit is None else RUN_SPREAD * system.fit.error
    figures = dict.fromkeys(figure.group or path for path, figure in uncertain(system).items())
    ends = _ends if system.fit is None else _fitted_ends
    low_s, high_s = ends(times, error)
    is_timed = not np.isnan(timed).any()
    timed_low_s, timed_high_s = ends(timed, error) if is_timed else (None, None)
    return Interval(
        low_s=low_s,
        high_s=high_s,
        timed_low_s=timed_low_s,
        timed_high_s=timed_high_s,
        scenarios=SCENARIOS,
        quantities=(*figures, *(f"{COMPILER}{name}" for name, _ in ways[0][0])),
        times_s=times,
        timed_times_s=timed if is_timed else None,
        model_error=error,
        undecided=tuple(_variant(each) for each in walks) if len(walks) > 1 else (),
    )


def _walk(
    stages: Stages,
    system: System,
    asked: Request,
    choice: Choice,
    which: Sequence[int],
    watch: Watch | None,
    *,
    apart: bool,
) -> Walk:
    numbers = [*which, AS_GIVEN]
    way = " and ".join(f"{name}={'on' if done else 'off'}" for name, done in choice)
    made: list[Prediction] = []
    for some in [[each] for each in numbers] if apart else [numbers]:
        label = f"scenario {len(made) + 1} of {len(numbers)}" if apart else plural(len(which), "scenario")
        begin(watch, label + (f" with {way}" if way else ""))
        scenario = uncertain_scenario(system, asked.scenario, some)
        made.append(interpret_stages(stages, system, replace(asked, scenario=scenario), watch=watch))
    timed = [each.timed_s for each in made if each.timed_s is not None]
    times_s, time_s = _drawn_and_given([each.time_s for each in made], which)
    timed_times_s, timed_s = _drawn_and_given(timed, which) if timed else (None, None)
    error = _drawn_and_given([stated_errors(each) for each in made], which)[1]
    return Walk(
        choice=choice,
        times_s=times_s,
        time_s=time_s,
        error=error,
        timed_times_s=timed_times_s,
        timed_s=timed_s,
        apart=apart,
    )


def _variant(walk: Walk) -> Variant:
    on = tuple(name for name, done in walk.choice if done)
    off = tuple(name for name, done in walk.choice if not done)
    return Variant(on=on, off=off, time_s=walk.time_s, timed_s=walk.timed_s)


def _is_own(choice: Choice, system: System, request: Request) -> bool:
    now = compiled(system, request)
    return all(now.on(name) == done for name, done in choice)


def _ways(system: System, request: Request) -> Sequence[tuple[Choice, Sequence[int]]]:
    """The ways to compile, each with its scenarios."""
    choices = _choices(system, request)
    return [(choice, [at for at, each in enumerate(choices) if each == choice]) for choice in sorted(set(choices))]


def _choices(system: System, request: Request) -> Sequence[Choice]:
    """What the compiler does in each scenario. What the request says is decided."""
    said: Mapping[str, str] = {name: each.text for name, each in system.compiler.items()}
    open_ones = sorted(
        name for name, value in said.items() if value == "undecided" and name not in request.on | request.off
    )
    drawn = {name: quantiles(f"{COMPILER}{name}") < 0.5 for name in open_ones}
    return [tuple((name, bool(drawn[name][at])) for name in open_ones) for at in range(SCENARIOS)]


def _drawn_and_given(values: Sequence[Figure | Array], which: Sequence[int]) -> tuple[Array, float]:
    """The values of the drawn scenarios, of one walk or of several, and the value of the machine's own figures, which
    is the last one."""
    one = np.concatenate([np.atleast_1d(each) for each in values])
    found = np.broadcast_to(one, len(which) + 1)  # a machine of which everything is sure has one scenario
    return found[:-1], float(found[-1])


def _fitted_ends(times: Array, error: float) -> tuple[float, float]:
    """The ends where the error is independent of the parameters, as what a fit leaves of a run is."""
    (low, high), middle = _ends(times, 0.0), float(np.median(times))
    own = error * middle
    return middle - float(np.hypot(middle - low, own)), middle + float(np.hypot(high - middle, own))


def _ends(times: Array, error: float) -> tuple[float, float]:
    at = (times.size - 1) * np.array((TAIL, 1.0 - TAIL))
    low, high = np.interp(at, np.arange(times.size), np.sort(times))
    return float(low) * (1.0 - error), float(high) * (1.0 + error)
