"""The size that keeps a speed when the program is run: a control loop over executions.

X.-H. Sun and J. Zhu call such a scalability *measured* (docs/scalability.md).
"""

from collections.abc import Callable, Sequence
from math import log

from msgspec.structs import replace

from esp.api import Request, Source
from esp.explore.scaling import TOLERANCE, MeasuredSize, ScaledRun, Scaling
from esp.explore.sized import Progress, SizedPredictions
from interpreter.scalability import isospeed
from sag.unit import System

Execution = Callable[[int, int], float]
"""Number of processors, size -> seconds of a run."""

TRIES = 6
"""So many runs at most on each number of processors."""
_FACTOR = 2.0
"""The next size is at most so many times a tried one, or one of so many parts of it."""


def measured(
    found: Scaling,
    source: Source,
    system: System,
    request: Request,
    executed: Execution,
    *,
    work: str = "",
    tol: float = TOLERANCE,
    progress: Progress | None = None,
) -> Scaling:
    """Search by runs the sizes that keep the speed, each from the size that is computed.

    Args:
        found: the sizes that are computed.
        source: the program.
        system: the machine as it is described, for the work of the sequential program.
        request: as for `found`.
        executed: runs the program.
        work: the flops of the best sequential program, as for `found`.
        tol: the share of the speed by which the speed at a size may differ.
        progress: called before each run with the runs made, processors and size of the next, and the share of the
            numbers of processors done.
    """
    made = 0

    def run(procs: int, size: int) -> float:
        nonlocal made
        if progress is not None:
            progress(made, procs, f"{found.parameter} = {size:,}", len(runs) / len(found.runs))
        made += 1
        return executed(procs, size)

    tries = SizedPredictions(source, system, request, found.parameter, work, None)
    runs: list[ScaledRun] = []
    first: tuple[int, float] | None = None
    for each in found.runs:
        one = _search(each, found.speed, tries, run, tol)
        first = first or (each.processors, one.work)
        psi = isospeed.scalability(*first, each.processors, one.work)
        runs.append(replace(each, measured=replace(one, psi=psi)))
    return replace(found, runs=tuple(runs), tol=tol)


def _search(each: ScaledRun, kept: float, tries: SizedPredictions, executed: Execution, tol: float) -> MeasuredSize:
    """The nearest of the sizes that are tried; one that is a little too fast is as good as one that is too slow."""
    speeds: dict[int, float] = {}
    times: dict[int, float] = {}
    size = each.size
    while len(speeds) < TRIES and size not in speeds:
        times[size] = executed(each.processors, size)
        speeds[size] = isospeed.average_speed(tries.work(size), each.processors, times[size])
        if abs(speeds[size] / kept - 1) <= tol:
            break
        size = next_size(speeds, kept)
    best = min(speeds, key=lambda one: abs(speeds[one] / kept - 1))
    return MeasuredSize(
        size=best,
        work=tries.work(best),
        time_s=times[best],
        speed=speeds[best],
        kept=abs(speeds[best] / kept - 1) <= tol,
        runs=len(speeds),
        psi=1.0,
    )


def next_size(speeds: dict[int, float], kept: float) -> int:
    """The size to try next: on the line through the two nearest points in logarithms, within a factor of the nearest.

    >>> next_size({100: 2.0}, 1.0), next_size({100: 2.0, 50: 1.5}, 1.0)
    (50, 25)
    """
    near: Sequence[int] = sorted(speeds, key=lambda one: abs(log(speeds[one] / kept)))[:2]
    size, slope = near[0], 1.0
    if len(near) > 1:
        slope = max(log(speeds[near[0]] / speeds[near[1]]) / log(near[0] / near[1]), 0.1)
    factor = (kept / speeds[size]) ** (1 / slope)
    wanted = round(size * min(max(factor, 1 / _FACTOR), _FACTOR))
    step = 1 if kept > speeds[size] else -1
    return max(1, wanted if wanted != size else size + step)
