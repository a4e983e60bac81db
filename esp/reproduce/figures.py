"""Makes the predictions of an experiment, and checks what is stated about them."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from esp.api import Prediction, predict, read_source
from esp.explore.axes import values_of
from esp.explore.sweep import Progress, Sweep, sweep
from esp.reproduce.experiments import Experiment, PaperStatement, PhaseRange
from esp.reproduce.statements import PhaseTimes
from esp.values import value_of


class StatementCheck(Struct, frozen=True):
    """A statement, and whether it holds."""

    statement: PaperStatement
    holds: bool

    @property
    def text(self) -> str:
        """The sentence."""
        return self.statement.text

    @property
    def paper(self) -> bool:
        """Whether the paper says so."""
        return self.statement.paper


class Reproduced(Struct, frozen=True, kw_only=True, eq=False):
    """An experiment with its predictions: a sweep, or a prediction with its phases."""

    experiment: Experiment
    checked: tuple[StatementCheck, ...]
    sweep: Sweep | None = None
    prediction: Prediction | None = None
    phases: tuple[PhaseTimes, ...] = ()


class SweptTimes:
    """The times of a sweep by the labels of its axes."""

    def __init__(self, found: Sweep) -> None:
        self._found = found
        self._axes = {axis.name: axis.labels for axis in found.axes}

    def values(self, axis: str) -> tuple[str, ...]:
        """The labels of an axis."""
        return self._axes[axis]

    def at(self, **labels: str) -> float:
        """Seconds of one prediction. An axis of one value may be left out.

        Raises:
            ValueError: the figure has no such label.
        """
        place = [own.index(labels[name]) if name in labels or len(own) > 1 else 0 for name, own in self._axes.items()]
        return float(self._found.time_s[tuple(place)])


def reproduce(experiment: Experiment, progress: Progress | None = None) -> Reproduced:
    """Predict what an experiment asks for, and check its statements."""
    if experiment.phases:
        options = _options(experiment)
        prediction = predict(experiment.programs[0], **{name: _single(given) for name, given in options.items()})
        lines = read_source(experiment.programs[0]).program.lines
        phases = tuple([_phase(prediction, lines, each) for each in experiment.phases])
        return Reproduced(
            experiment=experiment,
            checked=_check(experiment, {each.name: each for each in phases}),
            prediction=prediction,
            phases=phases,
        )
    found = sweep(
        experiment.programs[0] if len(experiment.programs) == 1 else experiment.programs,
        timed=experiment.timed,
        progress=progress,
        **_options(experiment),
    )
    checked = () if found.interrupted else _check(experiment, SweptTimes(found))
    return Reproduced(experiment=experiment, checked=checked, sweep=found)


def _check(experiment: Experiment, found: Any) -> tuple[StatementCheck, ...]:
    return tuple([StatementCheck(each, each.holds(found)) for each in experiment.statements])


def _options(experiment: Experiment) -> dict[str, Any]:
    """The axes as arguments of `esp.sweep`."""
    found: dict[str, Any] = {}
    for name, text in experiment.axes:
        if name == "set":
            key, _, values = text.partition("=")
            found["set"] = {key: [value_of(key, each) for each in values_of(values, name)]}
        else:
            given = values_of(text, name)
            found[name] = [int(each) for each in given] if name == "procs" else list(given)
    return found


def _single(given: Any) -> Any:
    """The only value of an axis."""
    if isinstance(given, Mapping):
        return {name: _single(each) for name, each in given.items()}
    (value,) = given
    return value


def _phase(prediction: Prediction, lines: tuple[str, ...], part: PhaseRange) -> PhaseTimes:
    """The sum over the lines of a part of a program."""
    texts = [each.strip() for each in lines]
    first = next(at for at, text in enumerate(texts, start=1) if text.startswith(part.first))
    last = next(at for at, text in enumerate(texts, start=1) if at >= first and text.startswith(part.last))
    inside = [each for each in prediction.lines if first <= each.line <= last]

    def total(name: str) -> float:
        return float(sum(getattr(each.parts, name) for each in inside))

    return PhaseTimes(
        name=part.name,
        first=first,
        last=last,
        time_s=total("time_s"),
        computation_s=total("computation_s"),
        communication_s=total("communication_s"),
        waiting_s=total("waiting_s"),
        overhead_s=total("overhead_s"),
        messages=int(sum(each.messages for each in inside)),
        bytes=int(sum(each.bytes for each in inside)),
    )
