"""Works, times and speeds of one program at several sizes on several numbers of processors."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from aag.ir.evaluate import Environment, Unknown, evaluate
from aag.ir.expressions import Expr
from aag.source.costs import read_cost
from esp.api import Prediction, Request, Source, interpret_stages, interpreted, lower_source, scenario_of
from esp.errors import PredictionError, UsageError
from esp.prediction import first
from interpreter.engine import interpret
from interpreter.result import Result
from interpreter.scalability.isospeed import average_speed
from interpreter.setting import Setting
from sag.scenario import export
from sag.unit import System

Progress = Callable[[int, int, str, float], None]
"""Called with predictions made, processors and size of the latest, and the share of the numbers of processors done."""


class SizedPredictions:
    """Predictions of a program for sizes and processors, each made once."""

    def __init__(
        self, source: Source, system: System, request: Request, name: str, work: str, progress: Progress | None
    ) -> None:
        """Take what is predicted.

        Args:
            source: the program.
            system: the machine.
            request: all else that is asked for; one scenario.
            name: the PARAMETER that is the size.
            work: the flops of the sequential program as a formula; empty: those predicted on one processor.
            progress: called after each prediction.
        """
        self._source, self._system, self._request = source, system, request
        self.name, self._formula, self._progress = name, _formula(work, name), progress
        self._done: dict[tuple[int, int], Prediction] = {}
        self._works: dict[int, float] = {}
        self.share = 0.0
        self.warnings: tuple[Any, ...] = ()

    def keeps(self, processors: int, size: int, speed: float) -> bool:
        """Whether each processor is at least so fast on average."""
        return self.speed(processors, size) >= speed

    def prediction(self, processors: int, size: int) -> Prediction:
        """The prediction; an incomplete one has no speed."""
        if (processors, size) not in self._done:
            asked = self._asked(processors, size)
            made = interpret_stages(lower_source(self._source, self._system, asked), self._system, asked)
            _check(made, f"{self.name} = {size}")
            self._done[processors, size] = made
            self.warnings = self.warnings or made.warnings
            if self._progress is not None:
                self._progress(len(self._done), processors, f"{self.name} = {size:,}", self.share)
        return self._done[processors, size]

    def _asked(self, processors: int, size: int) -> Request:
        return replace(self._request, procs=processors, values={**self._request.values, self.name: size})

    def time_s(self, made: Prediction) -> float:
        """The time that counts: of the kernel where that is asked for."""
        if self._request.timed and made.timed_s is not None:
            return first(made.timed_s)
        return first(made.time_s)

    def work(self, size: int) -> float:
        """Flops of the sequential program."""
        if self._formula is None:
            if size not in self._works:
                self._works[size] = self._counted(size)
            return self._works[size]
        env: Environment = {self.name: size}
        try:
            value = evaluate(self._formula, env)
        except Unknown:
            value = ""
        if not isinstance(value, int | float):
            hint = f"Write it with {self.name} alone, such as 2*{self.name}**3."
            raise UsageError("it cannot be evaluated.", where="--work", hint=hint)
        return float(value)

    def _counted(self, size: int) -> float:
        """Flops on one processor, which do not depend on what its caches miss."""
        asked = self._asked(1, size)
        stages, machine = lower_source(self._source, self._system, asked), export(self._system, scenario_of(asked))

        def attempt(setting: Setting) -> Result:
            without = replace(setting, memory=False, partial=asked.partial)
            return interpret(stages.node_program, stages.graph, machine, without)

        made = interpreted(stages, asked, attempt)[0]
        _check(made, f"{self.name} = {size}")
        return sum(made.counts.flops().values())

    def speed(self, processors: int, size: int) -> float:
        """The average speed of a processor, flop/s."""
        return average_speed(self.work(size), processors, self.time_s(self.prediction(processors, size)))


def _check(made: Result, at: str) -> None:
    """Refuse an incomplete result, which has no speed."""
    if not made.complete:
        raise PredictionError(f"the prediction for {at} is incomplete.")


def _formula(work: str, name: str) -> Expr | None:
    """The flops that the user gives, as an expression in the size."""
    if not work.strip():
        return None
    return read_cost(f"work({name}) = {work} flop", (), 1).terms[0].amount
