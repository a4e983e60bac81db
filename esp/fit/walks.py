"""What is predicted for measured runs with other factors of a machine's quantities: one walk for each run."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from aag.diagnostics import Diagnostic, SourceError
from esp import api
from esp.errors import PredictionError, UsageError
from esp.fit.runs import MeasuredRun
from esp.prediction import Prediction
from esp.quantities import scaled
from esp.sources import Source
from sag.quantities import Change
from sag.unit import System

Floats = NDArray[np.float64]

UNKNOWN = "E301"
"""The code of names that a program does not have."""

APART = 0.05
"""Difference of the logarithms of two factors from which derivatives are taken, to both sides."""

_OF_PROGRAMS = frozenset(("while", "branch", "mask", "computed"))
"""Codes of assumptions about what a program does, which runs may do otherwise."""

Progress = Callable[[int, int, str], None]
"""Called with how many walks are made, of how many so far, and of which run the next one is."""


class FitSubject(Struct, frozen=True, kw_only=True):
    """What is fitted: the programs by name, the machine as it is described, and what is asked for."""

    sources: Mapping[str, Source]
    system: System
    request: api.Request
    quantities: Mapping[str, Sequence[str]]
    """Quantity -> paths of its parameters."""


class RunWalks:
    """Predictions of runs, each of which is lowered once."""

    def __init__(self, subject: FitSubject, runs: Sequence[MeasuredRun], progress: Progress | None = None) -> None:
        self.subject, self.runs, self.progress = subject, runs, progress
        self._stages: dict[tuple[str, int, tuple[tuple[str, int], ...]], api.Stages] = {}
        self._made = 0
        self.warnings: dict[Diagnostic, None] = {}
        self.assumed: dict[str, None] = {}
        """What predictions assume of the program: its trips, branches and masks."""

    def __call__(self, logs: Floats) -> tuple[Floats, Floats]:
        """(R,) logarithms of the predicted times with such logarithms of factors (G,), and their derivatives (R, G).

        Equal runs are walked once.

        Raises:
            PredictionError: a prediction is incomplete, or has no timed region where one is asked for.
            aag.diagnostics.SourceError: the program or its values prevent a prediction.
        """
        steps = np.concatenate([np.zeros((1, logs.size)), APART * np.eye(logs.size), -APART * np.eye(logs.size)])
        factors = np.exp(logs + steps)
        sets = tuple(
            (path, Change(is_factor=True, amount=factors[:, at].copy(), text=f"x{factors[0, at]:.4g}"))
            for at, paths in enumerate(self.subject.quantities.values())
            for path in paths
        )
        known: dict[tuple[str, int, tuple[tuple[str, int], ...]], Floats] = {}
        rows = []
        for run in self.runs:
            key = _key(run)
            if key not in known:
                known[key] = np.log(self._times(run, sets, len(steps)))
            rows.append(known[key])
        times = np.array(rows)
        count = logs.size
        slopes = (times[:, 1 : count + 1] - times[:, count + 1 :]) / (2.0 * APART)
        return times[:, 0], slopes

    def _times(self, run: MeasuredRun, sets: tuple[tuple[str, Change], ...], scenarios: int) -> Floats:
        subject = self.subject
        if self.progress is not None:
            self.progress(self._made, -(-(self._made + 1) // len(self.runs)) * len(self.runs), run.label)
        self._made += 1
        request = request_of(subject, run)
        key = _key(run)
        if key not in self._stages:
            self._stages[key] = _lowered(subject, run, request)
        scenario = structs.replace(request.scenario, sets=scaled(subject.system, request.scenario.sets, sets))
        asked = structs.replace(request, scenario=scenario)
        made = api.interpret_stages(self._stages[key], subject.system, asked)
        self.warnings |= dict.fromkeys(made.warnings)
        self.assumed |= dict.fromkeys(each.text for each in made.assumptions if each.code in _OF_PROGRAMS)
        return np.broadcast_to(time_of(made, run, timed=subject.request.timed), scenarios).copy()


def _lowered(subject: FitSubject, run: MeasuredRun, request: api.Request) -> api.Stages:
    """The node program of a run.

    Raises:
        UsageError: the program has no name like a column of the table.
    """
    try:
        return api.lower_source(subject.sources[run.program], subject.system, request)
    except SourceError as problem:
        first = problem.diagnostics[0]
        strange = [name for name in run.values if first.code == UNKNOWN and f"‹set {name}›" in first.message]
        if not strange:
            raise
        why = first.message.partition(": ")[2]
        raise UsageError(
            f"{strange[0]} in {run.label}: {why}.", hint=f"{first.hint[:1].upper()}{first.hint[1:]}."
        ) from None


def _key(run: MeasuredRun) -> tuple[str, int, tuple[tuple[str, int], ...]]:
    return run.program, run.processors, tuple(sorted(run.values.items()))


def request_of(subject: FitSubject, run: MeasuredRun) -> api.Request:
    """What is asked for in a run."""
    request = subject.request
    return structs.replace(request, procs=run.processors, values={**request.values, **run.values}, partial=False)


def time_of(made: Prediction, run: MeasuredRun, *, timed: bool) -> Floats:
    """The seconds of a run in each scenario.

    Raises:
        PredictionError: the program has no timed region.
    """
    if not timed:
        return np.atleast_1d(np.asarray(made.time_s, dtype=np.float64))
    if made.timed_s is None:
        where = f"{run.label} has no region between two readings of the clock."
        raise PredictionError(where, hint="Leave out ‹timed›.")
    return np.atleast_1d(np.asarray(made.timed_s, dtype=np.float64))
