"""Which runs say most about a machine, before any is made: D-optimal plans, and evenly spaced runs beside them.

A plan is D-optimal if the determinant of the covariance of what it determines is least (V. Fedorov). Runs are added
one after the other, each the one that makes it smallest, and exchanged for others as long as that helps. The
derivatives are those of the predictions with the machine as it is described.
"""

from collections.abc import Sequence
from itertools import product

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from aag.diagnostics import Diagnostic
from esp import api
from esp.errors import UsageError
from esp.fit.regression import prior_of
from esp.fit.runs import MeasuredRun
from esp.fit.walks import FitSubject, Progress, RunWalks
from esp.quantities import NODE, kind_of, quantities_of
from esp.sizing import default_size
from esp.sources import Source
from sag.unit import System

Floats = NDArray[np.float64]

ERROR = 0.03
"""Standard deviation of the relative error of a run that is assumed."""
LEAST = 3
"""Runs that a fit needs."""
MOST = 2_000
"""Runs among which is chosen."""
_EXCHANGES = 50
_HALF = 1.96
"""Half of a 95 % interval in standard deviations."""


class PlannedRun(Struct, frozen=True, kw_only=True):
    """A run to make. `time_s`: as predicted."""

    run: MeasuredRun
    time_s: float


class RunPlan(Struct, frozen=True, kw_only=True, eq=False):
    """Runs that say most about a machine."""

    file: str
    system: str
    parameter: str
    runs: tuple[PlannedRun, ...]
    among: int
    """How many runs were candidates."""
    known: tuple[tuple[str, float], ...]
    """Quantity -> the factor by which it may be larger or smaller, with 95 %, after these runs."""
    systematic: tuple[tuple[str, float], ...]
    """The same of as many evenly spaced runs of the list of candidates."""
    assumed: tuple[str, ...] = ()
    """What the predictions assume of the programs."""
    warnings: tuple[Diagnostic, ...] = ()


def planned(
    source: Source,
    system: System,
    request: api.Request,
    sizes: Sequence[int],
    procs: Sequence[int],
    budget: int,
    *,
    size: str = "",
    progress: Progress | None = None,
) -> RunPlan:
    """Choose runs.

    Args:
        source: the program.
        system: the machine as it is described.
        request: what is asked for; sizes and processors come from the candidates.
        sizes: values of the PARAMETER that is the size.
        procs: numbers of processors.
        budget: how many runs.
        size: the PARAMETER; empty: the one that sizes the distributed arrays.
        progress: called before each prediction.

    Raises:
        UsageError: there are too many candidates, fewer than the runs, or no such PARAMETER.
        PredictionError: a prediction is incomplete.
        aag.diagnostics.SourceError: the program or its values prevent a prediction.
        sag.errors.MachineError: the machine does.
    """
    name = _checked(source, system, request, size)
    candidates = [
        MeasuredRun(program="", processors=p, values={name: n}, time_s=0.0, line=0) for n, p in product(sizes, procs)
    ]
    if len(candidates) < LEAST:
        hint = "Give several sizes and numbers of processors."
        raise UsageError(f"{len(candidates)} runs say too little about a machine.", where="--sizes", hint=hint)
    if not budget <= len(candidates) <= MOST:
        told = f"{budget:,} of {len(candidates):,} runs cannot be chosen."
        hint = f"Give as many sizes and processors as make {budget:,} to {MOST:,} runs."
        raise UsageError(told, where="--runs", hint=hint)
    quantities = quantities_of(system)
    subject = FitSubject(sources={"": source}, system=system, request=request, quantities=quantities)
    walks = RunWalks(subject, candidates, progress)
    logs, slopes = walks(np.zeros(len(quantities)))
    prior = prior_of(["node" if kind_of(each) in NODE else "network" for each in quantities])
    chosen = sorted(chosen_runs(slopes / ERROR, prior, budget))
    spaced = sorted({round(each) for each in np.linspace(0, len(candidates) - 1, budget)})
    seen = np.abs(slopes).max(axis=0) > 0
    names = [each for at, each in enumerate(quantities) if seen[at]]
    slopes, prior = slopes[:, seen], prior[np.ix_(seen, seen)]
    return RunPlan(
        file=source.program.file,
        system=system.name,
        parameter=name,
        runs=tuple(PlannedRun(run=candidates[at], time_s=float(np.exp(logs[at]))) for at in chosen),
        among=len(candidates),
        known=_known(slopes[chosen] / ERROR, prior, names),
        systematic=_known(slopes[spaced] / ERROR, prior, names),
        assumed=tuple(walks.assumed),
        warnings=tuple(walks.warnings),
    )


def _checked(source: Source, system: System, request: api.Request, size: str) -> str:
    """The PARAMETER that is the size.

    Raises:
        UsageError: the program has no such PARAMETER.
    """
    constants = api.lower_source(source, system, request).node_program.layouts.constants
    name = (size or default_size(source, system, request)).lower()
    if isinstance(constants.get(name), int):
        return name
    known = sorted(each for each, value in constants.items() if type(value) is int and "$" not in each)
    hint = f"Its integer constants: {', '.join(known)}." if known else "The program has no integer constants."
    raise UsageError(f"{size} is not a size of this program.", where="--size", hint=hint)


def chosen_runs(slopes: Floats, prior: Floats, budget: int) -> list[int]:
    """The positions of the runs of a plan.

    Args:
        slopes: (N, G) derivatives of the logarithms of the times, in units of the error of a run.
        prior: (G, G) covariance before any run.
        budget: how many.
    """
    covariance = prior.copy()
    chosen: list[int] = []
    for _ in range(budget):
        gains = np.einsum("ng,gh,nh->n", slopes, covariance, slopes)
        gains[chosen] = -1.0
        chosen.append(int(np.argmax(gains)))
        covariance = _with(covariance, slopes[chosen[-1]])
    for _ in range(_EXCHANGES):
        swap = _exchange(slopes, covariance, chosen)
        if swap is None:
            break
        out, into = swap
        covariance = _with(_with(covariance, slopes[chosen[out]], -1.0), slopes[into])
        chosen[out] = into
    return chosen


def _with(covariance: Floats, slope: Floats, sign: float = 1.0) -> Floats:
    """The covariance with a run more, or with -1 one less (Sherman and Morrison)."""
    towards = covariance @ slope
    return np.asarray(covariance - sign * np.outer(towards, towards) / (1.0 + sign * slope @ towards))


def _exchange(slopes: Floats, covariance: Floats, chosen: Sequence[int]) -> tuple[int, int] | None:
    """The position of a chosen run and another run with which the determinant becomes smallest; None: with none."""
    inner = slopes @ covariance @ slopes.T
    own = np.diag(inner)
    taken = np.array(chosen)
    # The factor on the inverse of the determinant: (1 + a)(1 - b) + c^2 for a run in, one out, and what both share.
    factor = (1.0 + own)[None, :] * (1.0 - own[taken])[:, None] + inner[taken] ** 2
    factor[:, taken] = 0.0
    out, into = np.unravel_index(int(np.argmax(factor)), factor.shape)
    return (int(out), int(into)) if factor[out, into] > 1.0 + 1e-9 else None


def _known(slopes: Floats, prior: Floats, names: Sequence[str]) -> tuple[tuple[str, float], ...]:
    covariance = np.linalg.inv(slopes.T @ slopes + np.linalg.inv(prior))
    factors = np.exp(_HALF * np.sqrt(np.diag(covariance)))
    return tuple((name, float(factor)) for name, factor in zip(names, factors, strict=True))
