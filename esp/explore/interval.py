"""The interval of a time (Def 19): scenarios of the machine's figures in one walk, and of what its compiler may do.

What no source decides of a compiler is drawn as a figure is, half of the scenarios with it and half without. Each way
to compile is a node program of its own, so there is a walk for each with its share of the scenarios.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from esp.api import Prediction, Request, Source, interpret_stages, lower_source, switched
from esp.explore.ties import stated_error
from esp.prediction import Interval, Variant, first
from sag.uncertainty import SCENARIOS, TAIL, quantiles, uncertain, uncertain_scenario
from sag.unit import System

Array = NDArray[np.float64]
Choice = tuple[tuple[str, bool], ...]
"""Transformation -> whether it is done, for those that are undecided."""


def with_interval(prediction: Prediction, source: Source, system: System, request: Request) -> Prediction:
    """The prediction with the interval of its time."""
    times, timed = np.empty(SCENARIOS), np.full(SCENARIOS, np.nan)
    variants = []
    choices = _choices(system, request)
    error = stated_error(prediction)
    for choice in sorted(set(choices)):
        which = [at for at, each in enumerate(choices) if each == choice]
        asked = switched(request, dict(choice))
        stages = lower_source(source, system, asked)
        scenario = uncertain_scenario(system, asked.scenario, which)
        made = interpret_stages(stages, system, replace(asked, scenario=scenario))
        times[which] = made.time_s
        if made.timed_s is not None:
            timed[which] = made.timed_s
        if len(set(choices)) > 1:
            made = interpret_stages(stages, system, asked)
            error = max(error, stated_error(made))
            variants.append(_variant(choice, made))
    quantities = {figure.group or path for path, figure in uncertain(system).items()}
    low_s, high_s = _ends(times, error)
    timed_low_s, timed_high_s = (None, None) if np.isnan(timed).any() else _ends(timed, error)
    return replace(
        prediction,
        interval=Interval(
            low_s=low_s,
            high_s=high_s,
            timed_low_s=timed_low_s,
            timed_high_s=timed_high_s,
            scenarios=SCENARIOS,
            quantities=len(quantities),
            model_error=error,
            undecided=tuple(variants),
        ),
    )


def _choices(system: System, request: Request) -> Sequence[Choice]:
    """What the compiler does in each scenario. What the request says is decided."""
    said: Mapping[str, str] = {name: each.text for name, each in system.compiler.items()}
    open_ones = sorted(
        name for name, value in said.items() if value == "undecided" and name not in request.on | request.off
    )
    drawn = {name: quantiles(f"compiler {name}") < 0.5 for name in open_ones}
    return [tuple((name, bool(drawn[name][at])) for name in open_ones) for at in range(SCENARIOS)]


def _variant(choice: Choice, made: Prediction) -> Variant:
    on = tuple(name for name, done in choice if done)
    off = tuple(name for name, done in choice if not done)
    timed_s = None if made.timed_s is None else first(made.timed_s)
    return Variant(on=on, off=off, time_s=first(made.time_s), timed_s=timed_s)


def _ends(times: Array, error: float) -> tuple[float, float]:
    low, high = np.quantile(times, (TAIL, 1.0 - TAIL))
    return float(low) * (1.0 - error), float(high) * (1.0 + error)
