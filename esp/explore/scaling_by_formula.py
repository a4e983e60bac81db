"""Isospeed scalability of very large systems: times by the formula in size and processors instead of predictions."""

from collections.abc import Callable, Sequence
from math import ceil

import numpy as np
from msgspec import Struct

from esp.api import Request, Source
from esp.errors import PredictionError, UsageError
from esp.explore.scaling import GROWTH, ScaledRun, Scaling, check_work, run_of, subject
from esp.explore.sized import SizedPredictions
from esp.formulas.scaling_derivation import scaling_formula_of
from esp.formulas.scaling_formula import ScalingFormula
from interpreter.scalability import isospeed
from interpreter.scalability.search import smallest_lasting
from interpreter.symbolic.across import polynomial_through
from interpreter.symbolic.sampled import exact
from sag.unit import System

SAMPLES = (16, 24, 32, 40, 48, 64, 80)
"""Sizes at which the work is counted, which is a polynomial in the size."""

LEAST = 4
"""The least number of processors for which a formula can hold."""

LASTING = 4
"""How many further sizes must keep the speed as well."""

Progress = Callable[[int, int, str], None]


def scaled_by_formula(
    source: Source,
    system: System,
    request: Request,
    procs: Sequence[int],
    *,
    speed: float | None = None,
    size: str = "",
    work: str = "",
    progress: Progress | None = None,
) -> Scaling:
    """Find the sizes that keep the average speed of a processor, with times by a formula: without waiting and cache
    misses, and among the sizes for which the formula is exact.

    Args:
        source, system, request, procs, speed, size, work: as for `esp.explore.scaling.scaled`.
        progress: called while counts are made.

    Raises:
        UsageError: an argument does not fit the program, or the formula does not hold for a number of processors.
        PredictionError: no work is done, or it is not a polynomial in the size.
        aag.diagnostics.SourceError: the program or its values prevent a prediction.
        sag.errors.MachineError: the machine does.
    """
    odd = [each for each in procs if each < LEAST or each & (each - 1)]
    if odd:
        hint = "Write powers of two from 4 on for one distributed dimension, such as --procs 4,64,1024; of 4 for two."
        raise UsageError(f"a formula in processors does not hold for {odd[0]:,}.", where="--procs", hint=hint)
    request, name, current = subject(source, system, request, procs, size)
    flops = _work_of(source, system, request, name, work)
    formula = scaling_formula_of(source, system, request, name, progress)
    extents = [_extent(formula, each) for each in procs]
    sought = _Sought(formula, flops)
    first = _nearest(formula, current, extents[0])
    kept = speed if speed is not None else sought.speed(first, procs[0])
    check_work(sought.work(first), kept, work, f"{name} = {first}")
    most = GROWTH * max(current, 1) * max(1, procs[-1] // procs[0])
    runs: list[ScaledRun] = []
    missing: list[int] = []
    for number, extent in zip(procs, extents, strict=True):
        found = sought.smallest(number, extent, kept, runs[-1].size if runs else first, most)
        if found is None:
            missing.append(number)
        else:
            runs.append(run_of(runs, number, found, sought.work(found), sought.time_s(found, number)))
    return Scaling(
        file=source.program.file,
        system=system.name,
        parameter=name,
        current=current,
        speed=kept,
        work=work or "this program on one processor",
        rate=None,
        tol=None,
        runs=tuple(runs),
        missing=tuple(missing),
        most=most,
        by="formula",
        warnings=formula.prediction.warnings,
    )


class _Sought(Struct, frozen=True):
    """Speeds by a formula."""

    formula: ScalingFormula
    work: Callable[[int], float]

    def time_s(self, size: int, procs: int) -> float:
        """Seconds of the slowest processor."""
        return float(self.formula.evaluate(size, procs)[0])

    def speed(self, size: int, procs: int) -> float:
        """The average speed of a processor, flop/s."""
        return isospeed.average_speed(self.work(size), procs, self.time_s(size, procs))

    def smallest(self, procs: int, extent: int, speed: float, guess: int, most: int) -> int | None:
        """The smallest size for which the formula is exact that keeps a speed, as those after it do."""
        step = extent * self.formula.period
        least = ceil(self.formula.cells / self.formula.period)
        found = smallest_lasting(
            lambda number: self.speed(number * step, procs) >= speed,
            least,
            max(least, guess // step),
            max(least, most // step) + LASTING,
            LASTING,
        )
        return None if found is None else found * step


def _extent(formula: ScalingFormula, procs: int) -> int:
    """The extent of the grid of so many processors.

    Raises:
        UsageError: the formula does not hold for them.
    """
    extent: int = round(procs ** (1.0 / formula.names.rank))
    if extent**formula.names.rank != procs or extent < formula.least or extent & (extent - 1):
        numbers = [str((formula.least << more) ** formula.names.rank) for more in range(4)]
        hint = f"Write such as --procs {','.join(numbers)}."
        raise UsageError(f"the formula does not hold for {procs} processors.", where="--procs", hint=hint)
    return extent


def _nearest(formula: ScalingFormula, size: int, extent: int) -> int:
    """The size at or above a size for which the formula is exact."""
    step = extent * formula.period
    return max(-(-size // step) * step, formula.cells * extent)


def _work_of(source: Source, system: System, request: Request, name: str, work: str) -> Callable[[int], float]:
    """The flops of the sequential program as a function of the size.

    Raises:
        PredictionError: they are not a polynomial in it.
    """
    tries = SizedPredictions(source, system, request, name, work, None)
    if work.strip():
        return tries.work
    counted = exact(np.array([tries.work(each) for each in SAMPLES]))
    found = None if counted is None else polynomial_through(SAMPLES, counted)
    if found is None:
        told = f"the flops of one processor are not a polynomial in {name}."
        raise PredictionError(told, where="--by", hint="Give them with --work.")
    coefficients = tuple(found)
    return lambda size: float(sum(each * size**power for power, each in enumerate(coefficients)))
