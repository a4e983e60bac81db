"""The interval of a time (Def 19): scenarios of the machine's figures in one walk, and of what its compiler may do.

What no source decides of a compiler is drawn as a figure is, half of the scenarios with it and half without. Each way
to compile is a node program of its own, so there is a walk for each with its share of the scenarios.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from esp.api import Prediction, Request, Source, Stages, compiled, interpret_stages, lower_source, switched
from esp.explore.ties import FAR
from esp.prediction import COMPILER, Interval, Variant
from esp.stated import meeting, stated_errors
from interpreter.listeners import Watch
from interpreter.result import Figure
from sag.uncertainty import AS_GIVEN, SCENARIOS, TAIL, quantiles, uncertain, uncertain_scenario
from sag.unit import System

Array = NDArray[np.float64]

MANY = 4096
"""Processors up to which scenarios are tried unless they are asked for."""

Choice = tuple[tuple[str, bool], ...]
"""Transformation -> whether it is done, for those that are undecided."""


def possible(prediction: Prediction) -> bool:
    """Whether there is an interval: not of an incomplete prediction, nor of several scenarios."""
    return prediction.complete and prediction.scenarios == 1


def cheap(prediction: Prediction) -> bool:
    """Whether 64 scenarios take little longer than one: not where messages meet, as they do so in another order in
    each, nor on very many processors."""
    return possible(prediction) and prediction.processors <= MANY and not meeting(prediction)


def contenders(times_s: Sequence[float], predictions: Sequence[Prediction]) -> list[int]:
    """Positions of the choices that could be the fastest in some scenario, where that takes little longer; none where
    that is but one. The first of them is the fastest with the given figures."""
    if not predictions or not all(each.complete for each in predictions) or not cheap(predictions[0]):
        return []
    rows = enumerate(zip(times_s, predictions, strict=True))
    found = [at for at, (time_s, each) in rows if time_s <= FAR * times_s[0] and each.fits and cheap(each)]
    return found if len(found) > 1 else []


def interval_of(
    source: Source, system: System, request: Request, known: Stages | None = None, watch: Watch | None = None
) -> Interval:
    """Return the interval of a time.

    Args:
        source: the program.
        system: the machine.
        request: what is asked for; one scenario.
        known: the stages of the request; without them they are made again.
        watch: told how far it is.
    """
    choices = _choices(system, request)
    different = sorted(set(choices))
    times, timed = np.empty(SCENARIOS), np.full(SCENARIOS, np.nan)
    errors, variants = [], []
    for choice in different:
        which = [at for at, each in enumerate(choices) if each == choice]
        asked = switched(request, dict(choice))
        same = known is not None and compiled(system, asked) == compiled(system, request)
        stages = known if known is not None and same else lower_source(source, system, asked)
        scenario = uncertain_scenario(system, asked.scenario, [*which, AS_GIVEN])
        made = interpret_stages(stages, system, replace(asked, scenario=scenario), watch=watch)
        times[which], time_s = _drawn_and_given(made.time_s, which)
        timed_s = None
        if made.timed_s is not None:
            timed[which], timed_s = _drawn_and_given(made.timed_s, which)
        errors.append(_drawn_and_given(stated_errors(made), which)[1])
        on = tuple(name for name, done in choice if done)
        off = tuple(name for name, done in choice if not done)
        variants.append(Variant(on=on, off=off, time_s=time_s, timed_s=timed_s))
    figures = dict.fromkeys(figure.group or path for path, figure in uncertain(system).items())
    low_s, high_s = _ends(times, max(errors))
    is_timed = not np.isnan(timed).any()
    timed_low_s, timed_high_s = _ends(timed, max(errors)) if is_timed else (None, None)
    return Interval(
        low_s=low_s,
        high_s=high_s,
        timed_low_s=timed_low_s,
        timed_high_s=timed_high_s,
        scenarios=SCENARIOS,
        quantities=(*figures, *(f"{COMPILER}{name}" for name, _ in choices[0])),
        times_s=times,
        timed_times_s=timed if is_timed else None,
        model_error=max(errors),
        undecided=tuple(variants) if len(different) > 1 else (),
    )


def _choices(system: System, request: Request) -> Sequence[Choice]:
    """What the compiler does in each scenario. What the request says is decided."""
    said: Mapping[str, str] = {name: each.text for name, each in system.compiler.items()}
    open_ones = sorted(
        name for name, value in said.items() if value == "undecided" and name not in request.on | request.off
    )
    drawn = {name: quantiles(f"{COMPILER}{name}") < 0.5 for name in open_ones}
    return [tuple((name, bool(drawn[name][at])) for name in open_ones) for at in range(SCENARIOS)]


def _drawn_and_given(values: Figure, which: Sequence[int]) -> tuple[Array, float]:
    """The values of the drawn scenarios, and the value of the machine's own figures, which is the last one."""
    found = np.broadcast_to(values, len(which) + 1)  # a machine of which everything is sure has one scenario
    return found[:-1], float(found[-1])


def _ends(times: Array, error: float) -> tuple[float, float]:
    at = (times.size - 1) * np.array((TAIL, 1.0 - TAIL))
    low, high = np.interp(at, np.arange(times.size), np.sort(times))
    return float(low) * (1.0 - error), float(high) * (1.0 + error)
