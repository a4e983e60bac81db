"""How the problem must grow so that each processor keeps its speed: isospeed scalability.

X.-H. Sun and J. Zhu call a scalability *computed* that follows from the relation of speed and size, and *predicted* one
that follows from Equation 2 (docs/scalability.md).
"""

from collections.abc import Sequence
from functools import partial
from math import ceil, isfinite
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from esp.api import Request, Source, lower_source
from esp.errors import PredictionError, UsageError
from esp.explore.choices import distributed_by
from esp.explore.scaling_predicted import PredictedRun, predicted_run, rate_of
from esp.explore.sized import Progress, SizedPredictions
from esp.explore.sizes import size_name
from esp.shown import Printed
from interpreter.scalability import isospeed
from interpreter.scalability.search import smallest_lasting
from sag.unit import System

TOLERANCE = 0.01
"""Of the speed to keep: by how much the speed at a size by Equation 2 may differ, unless another share is given."""

GROWTH = 64
"""Sizes are tried up to so many times the current one, times how much the system grows."""


class MeasuredSize(Struct, frozen=True, kw_only=True):
    """The size at which runs of the program have the speed (`esp.explore.scaling_measured`)."""

    size: int
    work: float
    """Flops of the sequential program."""
    time_s: float
    speed: float
    """Average speed of a processor, flop/s."""
    kept: bool
    """Whether it is within the tolerance of the speed to keep."""
    runs: int
    """How often the program was run on this number of processors."""
    psi: float
    """Scalability from the first number of processors."""


class FittedSize(Struct, frozen=True, kw_only=True):
    """The size at which rates that were fitted to a few runs give the speed (`esp.explore.scaling_fitted`)."""

    processors: int
    size: int
    work: float
    """Flops of the sequential program."""
    time_s: float
    """By the rates."""
    overhead_s: float
    """The degradation of parallelism T0."""
    speed: float
    """Average speed of a processor, flop/s."""
    kept: bool
    """Whether it is within the tolerance of the speed to keep."""
    known: bool
    """Whether the runs did all that the program does at this size: messages as far, and data beyond the cache."""
    psi: float
    """Scalability from the first number of processors."""


class FittedRate(Struct, frozen=True, kw_only=True):
    """Seconds of a ``flop``, on data that fit into the cache (`level` 0) or do not (1); or how many times as long as by
    the machine file a ``message`` takes, by how far it goes (the nearest: 0)."""

    what: str
    level: int
    value: float


class ScaledRun(Struct, frozen=True, kw_only=True):
    """The smallest size that keeps the speed on some processors."""

    processors: int
    size: int
    work: float
    """Flops of the sequential program."""
    time_s: float
    speed: float
    """Average speed of a processor, flop/s."""
    psi: float
    """Scalability from the first number of processors."""
    step: float
    """Scalability from the number before."""
    scaled_time_s: float
    """The time by Equation 4, from the time of the first run and psi."""
    fits: bool | None
    """Whether data and copies fit in the memory of a node; None: that is not known."""
    predicted: PredictedRun | None
    """The size by Equation 2; None where it gives none."""
    measured: MeasuredSize | None = None
    """The size by runs; None: the program was not run."""
    fitted: FittedSize | None = None
    """The size by rates of a few runs; None: there are no rates, or they give none."""


class Scaling(Printed, Struct, frozen=True, kw_only=True):
    """Sizes that keep an average speed as the system grows, and the scalability that follows."""

    file: str
    system: str
    parameter: str
    """The PARAMETER that is the size."""
    current: int
    """Its value in the program."""
    speed: float
    """The average speed that is kept, flop/s for each processor."""
    work: str
    """Whose flops are the work."""
    rate: float | None
    """Tau: seconds for each flop on one processor, as in Equation 2; None: by a formula."""
    tol: float | None
    """The share of the speed by which the speed at a size by Equation 2 may differ; None: by a formula."""
    runs: tuple[ScaledRun, ...]
    missing: tuple[int, ...]
    """Numbers of processors for which no size up to `most` keeps the speed."""
    most: int
    by: str = "predictions"
    """What gives the times: ``predictions``, or the ``formula`` in size and processors."""
    rates: tuple[FittedRate, ...] = ()
    """What fits the runs on `fitted_on` processors best."""
    fitted_on: tuple[int, ...] = ()
    misfit: float | None = None
    """By which share of its time the worst of these runs differs from the rates."""
    warnings: tuple[Any, ...] = ()


def scaled(
    source: Source,
    system: System,
    request: Request,
    procs: Sequence[int],
    *,
    speed: float | None = None,
    size: str = "",
    work: str = "",
    tol: float = TOLERANCE,
    progress: Progress | None = None,
) -> Scaling:
    """Find the sizes that keep the average speed of a processor as the system grows (isospeed scalability).

    Args:
        source: the program.
        system: the machine.
        request: what is asked for, for the first number of processors; one scenario.
        procs: numbers of processors, ascending.
        speed: flop/s for each processor; default: the speed on the first number at the size of the program.
        size: the PARAMETER to vary (default: the one that sizes the distributed arrays).
        work: the flops of the best sequential program, such as ``"2*n**3"``; default: those of this program on one
            processor.
        tol: the share of the speed by which the speed at a size by Equation 2 may differ.
        progress: called after each prediction.

    Raises:
        UsageError: an argument does not fit the program.
        PredictionError: no work is done, or a prediction is incomplete.
        aag.diagnostics.SourceError: the program or its values prevent a prediction.
        sag.errors.MachineError: the machine does.
    """
    request, name, current = subject(source, system, request, procs, size)
    tries = SizedPredictions(source, system, request, name, work, progress)
    kept = speed if speed is not None else tries.speed(procs[0], current)
    check_work(tries.work(current), kept, work, f"{name} = {current}")
    rate = rate_of(tries, (current, 2 * current))
    most = GROWTH * max(current, 1) * (procs[-1] // procs[0])
    runs: list[ScaledRun] = []
    missing: list[int] = []
    for at, number in enumerate(procs):
        tries.share = at / len(procs)
        latest = runs[-1] if runs else None
        guess = current if latest is None else ceil(latest.size * number / latest.processors)
        found = smallest_lasting(partial(tries.keeps, number, speed=kept), 1, guess, most, 2 * number)
        if found is None:
            missing.append(number)
            continue
        by_overhead = predicted_run(tries, number, guess, most, kept, rate, tol)
        runs.append(_run(tries, number, found, runs, by_overhead))
    return Scaling(
        file=source.program.file,
        system=system.name,
        parameter=name,
        current=current,
        speed=kept,
        work=work or "this program on one processor",
        rate=rate,
        tol=tol,
        runs=tuple(runs),
        missing=tuple(missing),
        most=most,
        warnings=tries.warnings,
    )


def subject(
    source: Source, system: System, request: Request, procs: Sequence[int], size: str
) -> tuple[Request, str, int]:
    """What is asked for on the first number of processors, the PARAMETER that is the size, and its value.

    Raises:
        UsageError: an argument does not fit the program.
        aag.diagnostics.SourceError: the program or its values prevent a prediction.
    """
    if list(procs) != sorted(set(procs)) or not procs:
        raise UsageError("the numbers of processors must rise.", where="--procs", hint="Write 1,2,4,8 or 1..64.")
    if request.grid is not None:
        raise UsageError("a grid is for one number of processors.", where="--grid", hint="Leave it out.")
    request = replace(request, procs=procs[0])
    stages = lower_source(source, system, request)
    given = {name.lower(): value for name, value in request.values.items()}
    constants = {**given, **stages.node_program.layouts.constants}
    name = size_name(source.program, constants, distributed_by(source, system, request), size)
    if name is None:
        raise UsageError("no PARAMETER sizes the distributed arrays.", where="--size", hint="Name it: --size n.")
    current = constants[name]
    assert isinstance(current, int)  # so `size_name` promises
    return request, name, current


def check_work(done: float, speed: float, work: str, where: str) -> None:
    """Find out whether there is a speed to keep; `work`: the formula of the work that is `done`, if one is given.

    Raises:
        UsageError: the given work is not a number of flops.
        PredictionError: no work is done.
    """
    if work and not done > 0:
        wrong = f"{work} is {done:g} at {where}, no number of flops."
        raise UsageError(wrong, where="--work", hint="Write one above 0, such as 2*n**3.")
    if not isfinite(speed) or speed <= 0 or not done > 0:
        raise PredictionError(
            "the program has no floating-point operations, so that processors have no speed.",
            hint="esp scalability --work names others.",
        )


def _run(
    tries: SizedPredictions, processors: int, size: int, before: Sequence[ScaledRun], by_overhead: PredictedRun | None
) -> ScaledRun:
    done, work = tries.prediction(processors, size), tries.work(size)
    base = next(((each.processors, each.predicted) for each in before if each.predicted is not None), None)
    if by_overhead is not None and base is not None:
        psi = isospeed.scalability(base[0], base[1].work, processors, by_overhead.work)
        by_overhead = replace(by_overhead, psi=psi)
    return run_of(before, processors, size, work, tries.time_s(done), fits=done.fits, predicted=by_overhead)


def run_of(
    before: Sequence[ScaledRun],
    processors: int,
    size: int,
    work: float,
    time_s: float,
    *,
    fits: bool | None = None,
    predicted: PredictedRun | None = None,
) -> ScaledRun:
    """A size that keeps the speed, with the scalability from the runs on fewer processors."""

    def psi(other: ScaledRun | None) -> float:
        return 1.0 if other is None else isospeed.scalability(other.processors, other.work, processors, work)

    from_first = psi(before[0] if before else None)
    return ScaledRun(
        processors=processors,
        size=size,
        work=work,
        time_s=time_s,
        speed=isospeed.average_speed(work, processors, time_s),
        psi=from_first,
        step=psi(before[-1] if before else None),
        scaled_time_s=isospeed.scaled_time(before[0].time_s if before else time_s, from_first),
        fits=fits,
        predicted=predicted,
    )
