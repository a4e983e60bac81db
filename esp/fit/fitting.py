"""`esp fit`: a machine's quantities from measured runs, and predictions with intervals."""

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from aag.ir.units import Form
from esp import api
from esp.calling import in_python
from esp.errors import PredictionError, UsageError
from esp.fit.reading import read_runs
from esp.fit.regression import Factors, factors_of, prior_of
from esp.fit.runs import ALIASES, MeasuredRun
from esp.fit.student import half_width
from esp.fit.walks import FitSubject, Progress, RunWalks
from esp.quantities import NODE, kind_of, quantities_of
from esp.request import requested
from esp.shown import Printed
from esp.sources import Name, Source, read_source
from sag.unit import System

Floats = NDArray[np.float64]

MOST_RUNS = 2_000
_NO_EFFECT = 1e-9
"""Derivative of all times below which a quantity has no influence."""


class FittedQuantity(Struct, frozen=True, kw_only=True):
    """A quantity after the fit: its factor on the parameters of the machine, and between which it lies with 95 %."""

    name: str
    paths: tuple[str, ...]
    factor: float
    low: float
    high: float
    learnt: float
    """Which share of what was not known of it the runs determine, 0 to 1."""
    share: float
    """Its mean share of the time of the runs."""


class FittedRun(Struct, frozen=True, kw_only=True):
    """A measured run beside its fitted time. `studentised`: its residual in units of its own standard deviation;
    `influence`: Cook's distance."""

    run: MeasuredRun
    described_s: float
    """As predicted with the machine as it was described."""
    fitted_s: float
    residual: float
    studentised: float
    influence: float


class RunForecast(Struct, frozen=True, kw_only=True):
    """The time of a run that was not measured, and between which it lies with 95 %."""

    run: MeasuredRun
    described_s: float
    time_s: float
    low_s: float
    high_s: float


class FittedMachine(Printed, Struct, frozen=True, kw_only=True, eq=False):
    """What measured runs say of a machine."""

    system: System
    programs: tuple[str, ...]
    """Their files."""
    timed: bool
    quantities: tuple[FittedQuantity, ...]
    without: tuple[str, ...]
    """Quantities on which no run depends."""
    compiled: Mapping[str, bool]
    """What is not known of the compiler -> whether the predictions of the fit have it."""
    runs: tuple[FittedRun, ...]
    forecasts: tuple[RunForecast, ...]
    factors: Factors
    assumed: tuple[str, ...] = ()
    """What the predictions assume of the programs."""
    warnings: tuple[Any, ...] = ()

    @property
    def explained(self) -> float:
        """Uncentred R^2: the share of the squares of the measured times that the fitted ones explain."""
        measured = np.array([each.run.time_s for each in self.runs])
        fitted = np.array([each.fitted_s for each in self.runs])
        return float(1.0 - ((measured - fitted) ** 2).sum() / (measured**2).sum())


@in_python
def fit_runs(
    table: str | PathLike[str],
    source: Name | Source | None = None,
    system: str | PathLike[str] = "ipsc860",
    *,
    predict: Sequence[Mapping[str, int]] = (),
    form: Form | None = None,
    **options: Any,
) -> FittedMachine:
    """Find the quantities of a machine that explain measured times of programs.

    Args:
        table: a CSV file with the columns procs, time, PARAMETERs, and program where there are several.
        source: the program, as for `esp.predict`; None: the table names programs.
        system: the machine whose parameters are scaled, as for `esp.predict`.
        predict: runs to predict with the fitted machine, such as ``{"n": 4096, "procs": 64}``.
        form: as for `esp.predict`.
        **options: all other options of `esp.predict`, each with one value, except ``procs``.

    Raises:
        UsageError: an argument does not fit, or a run has no program.
        UnreadableFileError: the table or a program cannot be read.
        PredictionError: a prediction is incomplete, or there are too few runs.
        esp.SourceError: a program or its values prevent a prediction.
        esp.MachineError: the machine prevents it.
    """
    given = None if source is None else read_source(source, form=form)
    wanted = [forecast_run(each, f"predict={each}") for each in predict]
    return fitted(read_runs(Path(table)), given, api.load_machine(system), requested(None, **options), wanted)


def forecast_run(values: Mapping[str, int], where: str) -> MeasuredRun:
    """A run to predict from ``procs`` and values of PARAMETERs.

    Raises:
        UsageError: it has no number of processors.
    """
    plain = {ALIASES.get(name.lower(), name.lower()): value for name, value in values.items()}
    procs = plain.pop("procs", 0)
    if procs < 1:
        raise UsageError(
            "a run to predict needs its processors.",
            where=where,
            hint="Write its number of processors as procs: n=4096,procs=64.",
        )
    return MeasuredRun(program="", processors=procs, values=plain, time_s=0.0, line=0)


def fitted(
    runs: Sequence[MeasuredRun],
    source: Source | None,
    system: System,
    request: api.Request,
    forecasts: Sequence[MeasuredRun] = (),
    progress: Progress | None = None,
) -> FittedMachine:
    """Fit a machine that is loaded to runs that are read.

    Args:
        runs: what was measured.
        source: the program; None: the runs name theirs.
        system: the machine.
        request: what is asked for; processors and PARAMETERs come from the runs.
        forecasts: runs to predict; those without a program are of the first one.
        progress: called before each walk.

    Raises:
        UsageError: a run has no program, or there are several scenarios.
        PredictionError: a prediction is incomplete, or there are too few runs.
        aag.diagnostics.SourceError: a program or its values prevent a prediction.
        sag.errors.MachineError: the machine does.
    """
    if request.scenario.has_lists:
        raise UsageError("a fit has one scenario.", hint="Give each change one value.")
    if len(runs) > MOST_RUNS:
        raise PredictionError(f"{len(runs):,} runs are more than {MOST_RUNS:,}.", hint="Take the least of equal ones.")
    sources = _sources(runs, source)
    quantities = quantities_of(system)
    subject = FitSubject(sources=sources, system=system, request=request, quantities=quantities)
    walks = RunWalks(subject, runs, progress)
    described, slopes = walks(np.zeros(len(quantities)))
    seen = [name for at, name in enumerate(quantities) if np.abs(slopes[:, at]).max() > _NO_EFFECT]
    settings = {(each.program, each.processors, *sorted(each.values.items())) for each in runs}
    if len(settings) < 3:
        told = f"{len(settings)} different runs say too little about a machine."
        raise PredictionError(told, hint="Measure several sizes on several numbers of processors, at least three.")
    walks.subject = subject = structs.replace(subject, quantities={name: quantities[name] for name in seen})
    prior = prior_of(["node" if kind_of(name) in NODE else "network" for name in seen])
    logs = np.log([each.time_s for each in runs])
    kinds = [("procs", [str(each.processors) for each in runs]), ("program", [each.program for each in runs])]
    found = factors_of(walks, logs, prior, kinds)
    quantile = half_width(found.free)
    return FittedMachine(
        system=system,
        programs=tuple(each.program.file for each in sources.values()),
        timed=request.timed,
        quantities=tuple(_quantity(at, name, subject, found, quantile) for at, name in enumerate(seen)),
        without=tuple(name for name in quantities if name not in seen),
        compiled=_compiled(system, request),
        runs=tuple(_run(at, each, described, found) for at, each in enumerate(runs)),
        forecasts=_forecasts(subject, forecasts, found, quantile),
        factors=found,
        assumed=tuple(walks.assumed),
        warnings=tuple(walks.warnings),
    )


def _compiled(system: System, request: api.Request) -> dict[str, bool]:
    """What is done of the transformations that no source decides."""
    options = api.compiled(system, request)
    return {name: options.on(name) for name, each in system.compiler.items() if each.text == "undecided"}


def _sources(runs: Sequence[MeasuredRun], source: Source | None) -> dict[str, Source]:
    """The program of each name in the table."""
    names = list(dict.fromkeys(each.program for each in runs))
    if source is not None:
        if names != [""]:
            hint = "Leave out the program, or the column."
            raise UsageError("the table names programs, and one is given as well.", hint=hint)
        return {"": source}
    lacking = next((each for each in runs if not each.program), None)
    if lacking is not None:
        hint = "Name it behind the table, or in a column program."
        raise UsageError(f"the run of line {lacking.line} has no program.", hint=hint)
    return {name: read_source(name) for name in names}


def _quantity(at: int, name: str, subject: FitSubject, found: Factors, quantile: float) -> FittedQuantity:
    log, width = found.logs[at], quantile * float(np.sqrt(found.covariance[at, at]))
    return FittedQuantity(
        name=name,
        paths=tuple(subject.quantities[name]),
        factor=float(np.exp(log)),
        low=float(np.exp(log - width)),
        high=float(np.exp(log + width)),
        learnt=float(found.learnt[at]),
        share=float(found.slopes[:, at].mean()),
    )


def _run(at: int, run: MeasuredRun, described: Floats, found: Factors) -> FittedRun:
    return FittedRun(
        run=run,
        described_s=float(np.exp(described[at])),
        fitted_s=float(np.exp(found.fitted[at])),
        residual=float(np.expm1(found.residuals[at])),
        studentised=float(found.studentised[at]),
        influence=float(found.influence[at]),
    )


def _forecasts(
    subject: FitSubject, forecasts: Sequence[MeasuredRun], found: Factors, quantile: float
) -> tuple[RunForecast, ...]:
    if not forecasts:
        return ()
    program = next(iter(subject.sources))
    runs = [
        MeasuredRun(program=each.program or program, processors=each.processors, values=each.values, time_s=0.0, line=0)
        for each in forecasts
    ]
    walks = RunWalks(subject, runs)
    described, _ = walks(np.zeros(found.logs.size))
    times, slopes = walks(found.logs)
    widths = quantile * found.deviation(slopes)
    return tuple(
        RunForecast(
            run=run,
            described_s=float(np.exp(described[at])),
            time_s=float(np.exp(times[at])),
            low_s=float(np.exp(times[at] - widths[at])),
            high_s=float(np.exp(times[at] + widths[at])),
        )
        for at, run in enumerate(runs)
    )
