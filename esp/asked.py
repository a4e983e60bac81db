"""What a prediction was asked for beside program, machine and processors, as plain data for the reports."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from aag.ir.spelling import spell_directive
from esp.output.figures import Plain
from sag.quantities import Change

if TYPE_CHECKING:
    from esp.api import Request


def asked(request: "Request") -> Mapping[str, Plain]:
    """Name of an argument of `esp.predict` -> what was given; None, or nothing in it, where it was not."""
    scenario = request.scenario
    return {
        "load": _plain(scenario.load),
        "bandwidth": _plain(scenario.bandwidth),
        "latency": _plain(scenario.latency),
        "processor_speed": _plain(scenario.processor_speed),
        "memory_speed": _plain(scenario.memory_speed),
        "overlap": _plain(scenario.overlap),
        "io": scenario.io,
        "system_set": {path: _plain(change) for path, change in scenario.sets},
        "opt": {name: name in request.on for name in sorted(request.on | request.off)},
        "grid": None if request.grid is None else list(request.grid),
        "distribute": dict(request.distribute),
        "align": [spell_directive(each).removeprefix("align ") for each in request.align],
        "set": {name: _plain(value) for name, value in request.values.items()},
        "timed": request.timed,
        "unroll": request.unroll,
        "trust_directives": request.trust_directives,
    }


def _plain(given: object) -> Plain:
    if given is None or isinstance(given, bool | int | float | str):
        return given
    if isinstance(given, Change):
        return given.text
    if isinstance(given, list | tuple):
        return [_plain(each) for each in given]
    if isinstance(given, np.ndarray | np.generic):
        return _plain(given.tolist())
    return str(given)
