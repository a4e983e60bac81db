"""How the problem must grow so that each processor keeps its speed: isospeed scalability, computed from predictions.

X.-H. Sun and J. Zhu call a scalability *computed* that follows from the relation of speed and size
(docs/scalability.md).
"""

from collections.abc import Callable, Sequence
from functools import partial
from math import ceil, isfinite
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from aag.ir.evaluate import Environment, Unknown, evaluate
from aag.ir.expressions import Expr
from aag.source.costs import read_cost
from esp.api import Prediction, Request, Source, interpret_stages, lower_source
from esp.errors import PredictionError, UsageError
from esp.explore.choices import distributed_by
from esp.explore.sizes import size_name
from esp.prediction import first
from interpreter.scalability.isospeed import average_speed, scalability
from interpreter.scalability.search import smallest_lasting
from sag.unit import System

Progress = Callable[[int, int, str, float], None]
"""Called with predictions made, processors and size of the latest, and the share of the numbers of processors done."""

GROWTH = 64
"""Sizes are tried up to so many times the current one, times how much the system grows."""


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
    fits: bool
    """Whether data and copies fit in the memory of a node."""


class Scaling(Struct, frozen=True, kw_only=True):
    """Sizes that keep an average speed as the system grows, and the scalability that follows."""

    file: str
    system: str
    parameter: str
    """The PARAMETER that is the size."""
    speed: float
    """The average speed that is kept, flop/s for each processor."""
    work: str
    """Whose flops are the work."""
    runs: tuple[ScaledRun, ...]
    missing: tuple[int, ...]
    """Numbers of processors for which no size up to `most` keeps the speed."""
    most: int
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
        progress: called after each prediction.

    Raises:
        UsageError: an argument does not fit the program.
        PredictionError: no work is done, or a prediction is incomplete.
        aag.diagnostics.SourceError: the program or its values prevent a prediction.
        sag.errors.MachineError: the machine does.
    """
    if list(procs) != sorted(set(procs)) or not procs:
        raise UsageError("the numbers of processors must rise.", where="--procs", hint="Write 1,2,4,8 or 1..64.")
    if request.grid is not None:
        raise UsageError("a grid is for one number of processors.", where="--grid", hint="Leave it out.")
    request = replace(request, procs=procs[0])
    stages = lower_source(source, system, request)
    constants = stages.node_program.layouts.constants
    name = size_name(source.program, constants, distributed_by(source, system, request), size)
    if name is None:
        raise UsageError("no PARAMETER sizes the distributed arrays.", where="--size", hint="Name it: --size n.")
    current = constants[name]
    assert isinstance(current, int)  # so `size_name` promises
    tries = _Tries(source, system, request, name, _formula(work, name), progress)
    kept = speed if speed is not None else tries.speed(procs[0], current)
    if not isfinite(kept) or kept <= 0:
        raise PredictionError("there are no floating-point operations, and so no speed to keep: give --work.")
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
        runs.append(_run(tries, number, found, runs))
    return Scaling(
        file=source.program.file,
        system=system.name,
        parameter=name,
        speed=kept,
        work=work or "this program on one processor",
        runs=tuple(runs),
        missing=tuple(missing),
        most=most,
        warnings=tries.warnings,
    )


def _run(tries: "_Tries", processors: int, size: int, before: Sequence[ScaledRun]) -> ScaledRun:
    done, work = tries.prediction(processors, size), tries.work(size)

    def psi(other: ScaledRun | None) -> float:
        return 1.0 if other is None else scalability(other.processors, other.work, processors, work)

    return ScaledRun(
        processors=processors,
        size=size,
        work=work,
        time_s=tries.time_s(done),
        speed=tries.speed(processors, size),
        psi=psi(before[0] if before else None),
        step=psi(before[-1] if before else None),
        fits=done.fits,
    )


class _Tries:
    """Predictions for sizes and processors, each made once."""

    def __init__(
        self,
        source: Source,
        system: System,
        request: Request,
        name: str,
        formula: Expr | None,
        progress: Progress | None,
    ) -> None:
        self._source, self._system, self._request = source, system, request
        self._name, self._formula, self._progress = name, formula, progress
        self._done: dict[tuple[int, int], Prediction] = {}
        self.share = 0.0
        self.warnings: tuple[Any, ...] = ()

    def keeps(self, processors: int, size: int, speed: float) -> bool:
        """Whether each processor is at least so fast on average."""
        return self.speed(processors, size) >= speed

    def prediction(self, processors: int, size: int) -> Prediction:
        """The prediction; an incomplete one has no speed."""
        if (processors, size) not in self._done:
            asked = replace(self._request, procs=processors, values={**self._request.values, self._name: size})
            stages = lower_source(self._source, self._system, asked)
            made = interpret_stages(stages, self._system, asked)
            if not made.complete:
                raise PredictionError(f"the prediction for {self._name} = {size} is incomplete.")
            self.warnings = self.warnings or made.warnings
            self._done[processors, size] = made
            if self._progress is not None:
                self._progress(len(self._done), processors, f"{self._name} = {size:,}", self.share)
        return self._done[processors, size]

    def time_s(self, made: Prediction) -> float:
        """The time that counts: of the kernel where that is asked for."""
        if self._request.timed and made.timed_s is not None:
            return first(made.timed_s)
        return first(made.time_s)

    def work(self, size: int) -> float:
        """Flops of the sequential program."""
        if self._formula is None:
            return sum(self.prediction(1, size).counts.flops().values())
        env: Environment = {self._name: size}
        try:
            value = evaluate(self._formula, env)
        except Unknown:
            value = ""
        if not isinstance(value, int | float):
            hint = f"Write it with {self._name} alone, such as 2*{self._name}**3."
            raise UsageError("it cannot be evaluated.", where="--work", hint=hint)
        return float(value)

    def speed(self, processors: int, size: int) -> float:
        """The average speed of a processor, flop/s."""
        return average_speed(self.work(size), processors, self.time_s(self.prediction(processors, size)))


def _formula(work: str, name: str) -> Expr | None:
    """The flops that the user gives, as an expression in the size."""
    if not work.strip():
        return None
    return read_cost(f"work({name}) = {work} flop", (), 1).terms[0].amount
