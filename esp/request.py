"""The options of a prediction, other than program and machine."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct, field, structs

from aag.functional.tables import RunLimits
from aag.graph.cluster import LEVELS, Level
from aag.ir.costs import RoutineCost
from aag.ir.directives import Align
from aag.ir.evaluate import Value
from aag.ir.spelling import spell_directive
from aag.mapping.tables import EVERYTHING
from aag.spmd.program import OPTIMISATIONS
from esp import arguments
from esp.errors import UsageError
from esp.prediction import Plain
from sag.quantities import Change
from sag.scenario import Scenario
from sag.values import WhatIf

SWITCHES = (*OPTIMISATIONS, "aggregate", "inline", "fuse")
"""Names of optimisations (Def 9); those that are not done may be switched off all the same."""


BUDGET = RunLimits().operations
"""The default budget, in operations."""


class Request(Struct, frozen=True, kw_only=True):
    """The options of a prediction, other than program and machine."""

    procs: int | None = None
    """None: what the program says, else the machine's default (Def 12)."""
    grid: tuple[int, ...] | None = None
    distribute: Mapping[str, str] = field(default_factory=dict)
    """Name of a template or array -> formats such as ``(BLOCK,*)``; the name ``""`` is for all that they fit."""
    align: tuple[Align, ...] = ()
    """Alignments instead of whatever maps their arrays in the source."""
    align_texts: tuple[str, ...] = ()
    """What was given for them, to be shown where it is wrong."""
    values: Mapping[str, Value] = field(default_factory=dict)
    """Name -> value, for PARAMETERs and whatever else decides the flow (D8)."""
    scenario: Scenario = field(default_factory=Scenario)
    off: frozenset[str] = frozenset()
    """Optimisations that are switched off."""
    on: frozenset[str] = frozenset()
    """Optimisations that are switched on, whatever the compiler of the machine does."""
    timed: bool = False
    """Only the timed region (Def 5)."""
    unroll: bool = False
    """Walk every iteration (D5)."""
    trust_directives: bool = False
    """Take INDEPENDENT, NEW and REDUCTION for true also where they are proved false."""
    granularity: Level = "statement"
    """Which statements are one AAU."""
    budget: int = BUDGET
    """Operations that running a part of the program may take, to know values that decide its flow (D8); 0: none."""
    partial: bool = True
    """Predict the rest where something is left out; otherwise that is an error (Def 20)."""


def requested(
    procs: int | None = None,
    *,
    grid: Sequence[int] | str | None = None,
    distribute: str | Mapping[str, str] | None = None,
    align: str | Sequence[str] | None = None,
    set: Mapping[str, Any] | None = None,  # noqa: A002 (the name of the command's option)
    bandwidth: WhatIf | None = None,
    load: WhatIf | None = None,
    latency: WhatIf | None = None,
    processor_speed: WhatIf | None = None,
    memory_speed: WhatIf | None = None,
    overlap: WhatIf | None = None,
    io: bool | str = True,
    opt: Mapping[str, bool | str] | None = None,
    system_set: Mapping[str, WhatIf] | None = None,
    timed: bool = False,
    unroll: bool = False,
    trust_directives: bool = False,
    granularity: Level = "statement",
    budget: int = BUDGET,
    **parameters: Any,
) -> Request:
    """The request that the arguments of `predict` beside program and machine stand for.

    Raises:
        UsageError: an argument that cannot be meant.
    """
    scenario = Scenario(
        load=load,
        bandwidth=bandwidth,
        latency=latency,
        processor_speed=processor_speed,
        memory_speed=memory_speed,
        overlap=overlap,
        io=arguments.switch("io", io),
        sets=tuple((system_set or {}).items()),
    )
    request = Request(
        procs=arguments.processors(procs),
        grid=arguments.grid(grid),
        distribute={EVERYTHING: distribute} if isinstance(distribute, str) else dict(distribute or {}),
        align=arguments.alignments(align),
        align_texts=(align,) if isinstance(align, str) else tuple(align or ()),
        values={name: _python_value(value) for name, value in {**(set or {}), **parameters}.items()},
        scenario=scenario,
        timed=timed,
        unroll=unroll,
        trust_directives=trust_directives,
        granularity=arguments.one_of("granularity", granularity, LEVELS),
        budget=arguments.operations(budget),
    )
    return switched(request, {name: arguments.switch(name, on) for name, on in (opt or {}).items()})


def switched(request: Request, opt: Mapping[str, bool]) -> Request:
    """The request with some optimisations switched on or off.

    Raises:
        UsageError: there is no such optimisation, or it cannot be switched on.
    """
    for name, on in opt.items():
        if name not in SWITCHES:
            raise UsageError(f"there is no optimisation {name!r}.", hint=f"Known: {', '.join(SWITCHES)}.")
        if on and name not in OPTIMISATIONS:
            hint = f"These are modelled: {', '.join(OPTIMISATIONS)}."
            raise UsageError(f"the optimisation {name!r} is not modelled, so it is always off.", hint=hint)
    off = frozenset(name for name, wanted in opt.items() if not wanted)
    more = frozenset(opt) - off
    return structs.replace(request, off=(request.off - more) | off, on=(request.on - off) | more)


def asked(request: Request, costs: Iterable[RoutineCost] = ()) -> Mapping[str, Plain]:
    """Name of an argument of `esp.predict` -> what was given; None, or nothing in it, where it was not. `costs`: those
    that were given with the program."""
    scenario = request.scenario
    return {
        "load": _data(scenario.load),
        "bandwidth": _data(scenario.bandwidth),
        "latency": _data(scenario.latency),
        "processor_speed": _data(scenario.processor_speed),
        "memory_speed": _data(scenario.memory_speed),
        "overlap": _data(scenario.overlap),
        "io": scenario.io,
        "system_set": {path: _data(change) for path, change in scenario.sets},
        "opt": {name: name in request.on for name in sorted(request.on | request.off)},
        "grid": None if request.grid is None else list(request.grid),
        "distribute": dict(request.distribute),
        "align": [spell_directive(each).removeprefix("align ") for each in request.align],
        "cost": [each.written for each in costs],
        "set": {name: _data(value) for name, value in request.values.items()},
        "timed": request.timed,
        "unroll": request.unroll,
        "trust_directives": request.trust_directives,
        "budget": None if request.budget == BUDGET else request.budget,
    }


def _data(given: object) -> Plain:
    if given is None or isinstance(given, bool | int | float | str):
        return given
    if isinstance(given, Change):
        return given.text
    if isinstance(given, list | tuple):
        return [_data(each) for each in given]
    if isinstance(given, np.ndarray | np.generic):
        return _data(given.tolist())
    return str(given)


def _python_value(value: Any) -> Value:
    """A value of NumPy as the Python value it stands for."""
    plain: Value = value.item() if hasattr(value, "item") else value
    return plain
