"""Sensitivity: by how much a time changes with each parameter of the machine (M. Clement, section 6.2).

The derivatives are taken from one walk of the engine for each run, with a scenario for every parameter that is a
little slower, a little faster, or twice as fast. A time is homogeneous in all times of the machine, so that its
elasticities add up to 1 (Euler): each is the share of the time that a parameter decides.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from os import PathLike
from typing import Any

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from aag.diagnostics import Diagnostic
from aag.ir.units import Form
from esp import api
from esp.calling import in_python
from esp.errors import PredictionError, UsageError
from esp.explore.plan import DIMENSIONS
from esp.prediction import Prediction
from esp.quantities import kind_of, scaled, timed_parameters
from esp.request import asked, requested
from esp.shown import Printed
from esp.sizing import default_size
from esp.sources import Name, Source, read_source
from sag.quantities import Change, make_change
from sag.unit import Figure, System

Floats = NDArray[np.float64]

STEP = 1e-3
"""By how much a parameter is made slower or faster for a derivative. Times are linear in parameters but where one of
two things that happen at once becomes the longer one, so that the step hardly matters."""
KINK = 0.01
"""Difference of the elasticities to both sides from which a time has a kink there."""
MOST_RUNS = 1_000

Progress = Callable[[int, int, str], None]
"""Called with runs made, runs in all, and which one is next."""


class ParameterSensitivity(Struct, frozen=True, kw_only=True):
    """How a time depends on a parameter. Elasticities are relative: 0.1 where 1 % more makes the time 0.1 % longer."""

    path: str
    quantity: str
    value: float
    """In SI units."""
    slower: float
    """The elasticity if the parameter gets slower."""
    faster: float
    """The elasticity if it gets faster."""
    halved_s: float
    """The time with a parameter twice as fast."""
    is_rate: bool = False
    """Whether it is a rate, of which more is faster."""

    @property
    def elasticity(self) -> float:
        """The mean of both sides."""
        return (self.slower + self.faster) / 2.0

    @property
    def is_kink(self) -> bool:
        """Whether both sides differ."""
        return abs(self.slower - self.faster) > KINK

    def derivative(self, time_s: float) -> float:
        """Seconds by which a time grows with each unit of the parameter."""
        return self.elasticity * time_s / self.value * (-1.0 if self.is_rate else 1.0)


class SensitiveRun(Struct, frozen=True, kw_only=True):
    """The sensitivity of one run. `size`: the value of the PARAMETER that is varied."""

    processors: int
    size: int | None
    time_s: float
    parameters: tuple[ParameterSensitivity, ...]
    """Those that have an influence, the greatest first."""

    @property
    def quantities(self) -> Mapping[str, float]:
        """Kind of quantity -> elasticity of the time."""
        found: dict[str, float] = {}
        for each in self.parameters:
            kind = kind_of(each.quantity)
            found[kind] = found.get(kind, 0.0) + each.elasticity
        return found

    @property
    def rest(self) -> float:
        """What lacks to 1: the influence of what cannot be varied, and of kinks."""
        return 1.0 - sum(each.elasticity for each in self.parameters)


class Sensitivity(Printed, Struct, frozen=True, kw_only=True, eq=False):
    """The result of `sensitivity`."""

    file: str
    system: str
    parameter: str
    """The PARAMETER whose values the sizes are; empty: none is varied."""
    timed: bool
    runs: tuple[SensitiveRun, ...]
    prediction: Prediction
    """Of the last run, with all its scenarios; what was asked for is that of all runs."""
    warnings: tuple[Diagnostic, ...] = ()


@in_python
def sensitivity(
    source: Name | Source,
    system: str | PathLike[str] = "ipsc860",
    procs: int | Sequence[int] | None = None,
    *,
    sizes: Sequence[int] = (),
    size: str = "",
    form: Form | None = None,
    cost: str | Sequence[str] | None = None,
    **options: Any,
) -> Sensitivity:
    """Find by how much the time of a program changes with each parameter of the machine.

    Args:
        source: as for `esp.predict`.
        system: as for `esp.predict`.
        procs: a number of processors, or several.
        sizes: values of the PARAMETER that is the size; none: that of the program.
        size: that PARAMETER; empty: the one that sizes the distributed arrays.
        form: as for `esp.predict`.
        cost: as for `esp.predict`.
        **options: all other options of `esp.predict`, each with one value.

    Examples:
        >>> import esp
        >>> found = esp.sensitivity("laplace.hpf", procs=8, n=64)
        >>> round(sum(found.runs[0].quantities.values()), 3)
        1.0

    Raises:
        TypeError: an argument is unknown to esp and to the program.
        UsageError: an argument does not fit.
        PredictionError: a prediction is incomplete, or there is no timed region where one is asked for.
        esp.SourceError: the program or its values prevent a prediction.
        esp.MachineError: the machine prevents it.
    """
    several = [procs] if procs is None or not isinstance(procs, Sequence) else list(procs)
    request = requested(**options)
    read = read_source(source, form=form, cost=cost)
    return sensitivities(read, api.load_machine(system), request, several, sizes, size=size)


def sensitivities(
    source: Source,
    system: System,
    request: api.Request,
    procs: Sequence[int | None],
    sizes: Sequence[int] = (),
    *,
    size: str = "",
    progress: Progress | None = None,
) -> Sensitivity:
    """As `sensitivity`, for a program that is read and a machine that is loaded."""
    if request.scenario.has_lists:
        raise UsageError("a sensitivity is that of one machine.", hint="Give each change one value.")
    refuse_absolute(request)
    runs = list(product(procs, sizes or (None,)))
    if not 0 < len(runs) <= MOST_RUNS:
        raise UsageError(f"{len(runs):,} runs are none or too many.", hint=f"Give 1 to {MOST_RUNS:,}.")
    size = size or (default_size(source, system, request) if sizes else "")
    timed = timed_parameters(system)
    changes = _changes(system, timed)
    made: list[SensitiveRun] = []
    prediction = None
    warnings: dict[Diagnostic, None] = {}
    for at, (number, extent) in enumerate(runs):
        if progress is not None:
            progress(at, len(runs), _label(number, extent, size))
        values = request.values if extent is None else {**request.values, size: extent}
        asked_for = structs.replace(request, procs=number, values=values, partial=False)
        prediction = _walked(source, system, asked_for, changes)
        warnings |= dict.fromkeys(prediction.warnings)
        made.append(_run(prediction, _values(system, asked_for, timed), timed, extent))
    assert prediction is not None, "there is a run"
    return Sensitivity(
        file=source.program.file,
        system=system.name,
        parameter=size if sizes else "",
        timed=request.timed,
        runs=tuple(made),
        prediction=structs.replace(prediction, asked=asked(request, source.program.costs)),
        warnings=tuple(warnings),
    )


def refuse_absolute(request: api.Request) -> None:
    """Refuse a what-if that replaces parameters, so that nothing depends on them any more.

    Raises:
        UsageError: one has a value instead of a factor.
    """
    for name in ("bandwidth", "latency", "processor_speed"):
        given = getattr(request.scenario, name)
        if given is not None and not make_change(given, DIMENSIONS[name], plain_is_factor=True).is_factor:
            raise UsageError(
                f"a {name.replace('_', ' ')} in place of the machine's leaves nothing to vary.",
                where=f"--{name.replace('_', '-')}",
                hint="Write a factor, such as x2.",
            )


def _label(processors: int | None, extent: int | None, size: str) -> str:
    sized = "" if extent is None else f"{size}={extent} "
    return f"{sized}procs={processors}" if processors else sized or "the run"


def _changes(system: System, timed: Mapping[str, str]) -> tuple[tuple[str, Change], ...]:
    """The scenarios: the machine as it is, then each parameter slower, faster, and twice as fast."""
    count, rates = len(timed), _rates(system)
    found = []
    for at, path in enumerate(timed):
        times = np.ones(1 + 3 * count)
        times[[1 + at, 1 + count + at, 1 + 2 * count + at]] = 1.0 + STEP, 1.0 - STEP, 0.5
        amount = 1.0 / times if path in rates else times
        found.append((path, Change(is_factor=True, amount=amount, text=f"{times.size} values")))
    return tuple(found)


def _walked(
    source: Source, system: System, request: api.Request, changes: tuple[tuple[str, Change], ...]
) -> Prediction:
    scenario = structs.replace(request.scenario, sets=scaled(system, request.scenario.sets, changes))
    stages = api.lower_source(source, system, request)
    return api.interpret_stages(stages, system, structs.replace(request, scenario=scenario))


def _values(system: System, request: api.Request, timed: Mapping[str, str]) -> Mapping[str, tuple[float, bool]]:
    """Path -> the value of the parameter after ``--system-set``, and whether it is a rate."""
    figures = {path: each for path, each in system.parameters().items() if isinstance(each, Figure) and path in timed}
    values = {path: each.value for path, each in figures.items()}
    for path, change in request.scenario.sets:
        if path in values:
            made = make_change(change, figures[path].dimension, plain_is_factor=False)
            values[path] = float(made.apply(values[path])[0])
    rates = _rates(system)
    return {path: (value, path in rates) for path, value in values.items()}


def _rates(system: System) -> frozenset[str]:
    """Paths of parameters of which more is faster."""
    every = system.parameters().items()
    return frozenset(path for path, each in every if isinstance(each, Figure) and each.dimension == "bandwidth")


def _run(
    prediction: Prediction, values: Mapping[str, tuple[float, bool]], timed: Mapping[str, str], extent: int | None
) -> SensitiveRun:
    count = len(timed)
    times = np.broadcast_to(_times(prediction, timed=prediction.asked["timed"] is True), 1 + 3 * count)
    base_s = float(times[0])
    if not base_s > 0:
        raise PredictionError("the program takes no time.", where=prediction.file)
    slower = (times[1 : 1 + count] - base_s) / (STEP * base_s)
    faster = (base_s - times[1 + count : 1 + 2 * count]) / (STEP * base_s)
    found = [
        ParameterSensitivity(
            path=path,
            quantity=quantity,
            value=values[path][0],
            slower=float(slower[at]),
            faster=float(faster[at]),
            halved_s=float(times[1 + 2 * count + at]),
            is_rate=values[path][1],
        )
        for at, (path, quantity) in enumerate(timed.items())
        if times[1 + at] != base_s or times[1 + count + at] != base_s or times[1 + 2 * count + at] != base_s
    ]
    found.sort(key=lambda each: -each.elasticity)
    return SensitiveRun(processors=prediction.processors, size=extent, time_s=base_s, parameters=tuple(found))


def _times(prediction: Prediction, *, timed: bool) -> Floats:
    """The seconds in each scenario.

    Raises:
        PredictionError: the program has no timed region.
    """
    found = prediction.timed_s if timed else prediction.time_s
    if found is None:
        raise PredictionError(
            "the program has no region between two readings of the clock.",
            where=prediction.file,
            hint="Leave out ‹timed›.",
        )
    return np.atleast_1d(np.asarray(found, dtype=np.float64))
