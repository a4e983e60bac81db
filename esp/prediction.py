"""Predictions with their options, and the first scenario as plain floats."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import numpy as np
from msgspec import Struct, field, structs
from numpy.typing import NDArray

from aag.diagnostics import Diagnostic
from esp.shown import Printed
from interpreter.result import Assumption, Figure, Parts, Result

Plain = bool | int | float | str | list[Any] | dict[str, Any] | None
"""What JSON can say."""

Record = TypeVar("Record", bound=Struct)

COMPILER = "compiler "
"""Beginning of the names of quantities that decide what the compiler does: below one half it does it."""


class Variant(Struct, frozen=True, kw_only=True):
    """What the compiler may do, and the time if it does."""

    on: tuple[str, ...]
    off: tuple[str, ...]
    time_s: float
    timed_s: float | None


class Interval(Struct, frozen=True, kw_only=True, eq=False):
    """Between which times the program takes with 90 %, as the ranges of the machine's figures say (Def 19)."""

    low_s: float
    high_s: float
    timed_low_s: float | None
    timed_high_s: float | None
    scenarios: int
    quantities: tuple[str, ...]
    """The independent quantities that were drawn, each a figure or a group of them."""
    model_error: float
    """By how much the interval was widened."""
    times_s: NDArray[np.float64]
    """The time in each scenario, the same ones for all choices."""
    timed_times_s: NDArray[np.float64] | None = None
    undecided: tuple[Variant, ...] = ()
    """The times with the machine's own figures for each way to compile that no source decides."""


class Prediction(Printed, Result, frozen=True, kw_only=True, eq=False, weakref=True):
    """The result of `esp.predict`. `bundled`: the program is a bundled one."""

    bundled: bool = False
    asked: Mapping[str, Plain] = field(default_factory=dict)
    """What was asked for beside program, machine and processors: name of an argument -> what was given."""
    warnings: tuple[Diagnostic, ...] = ()
    interval: Interval | None = None
    """None where nobody asked for it."""
    origin: Any = None
    """What `esp.predict` made it of (`esp.api.Origin`), for an interval that is computed when it is shown."""
    without_elements: int = 0
    """Processors that own no element of any distributed array."""
    distributed: tuple[str, ...] = ()
    """The distributed arrays, where there are such processors."""

    @property
    def fits(self) -> bool:
        """Whether data and copies fit in the memory of a node, as far as the machine description says."""
        return self.memory_usable_bytes is None or self.memory_needed_bytes <= self.memory_usable_bytes

    @property
    def memory_needed_bytes(self) -> int:
        """Data and copies of the fullest processor."""
        return self.memory_bytes + self.memory_copies_bytes


CATEGORIES = ("computation", "communication", "waiting", "overhead")
"""The four categories (Def 2) in the order in which they are shown."""

_NOT_CHARGED = ("this statement is not modelled and costs nothing here: ", "; no time is charged for it")
"""What lowering and interpretation put around the same reason."""


def first(values: Figure) -> float:
    """The value of the first scenario, which is the only one on the command line."""
    return float(values) if isinstance(values, float) else float(values.flat[0])  # NumPy's floats become Python's


def of_scenario(values: Figure, scenario: int) -> float:
    """The value of a scenario; one value is that of all."""
    return first(values) if isinstance(values, float) or len(values) == 1 else float(values[scenario])


def least_and_most(values: Figure) -> tuple[float, float]:
    """The smallest and the largest value."""
    return float(np.min(values)), float(np.max(values))


def single(result: Result) -> Result:
    """A result of one scenario with plain numbers as its figures; what has an entry for each processor stays."""
    lines = tuple(_single(each) for each in result.lines)
    aaus = tuple(structs.replace(_single(each), division=tuple(map(_single, each.division))) for each in result.aaus)
    calls = tuple(map(_single, result.calls))
    return _single(structs.replace(result, lines=lines, aaus=aaus, calls=calls))


def _single(record: Record) -> Record:
    return type(record)(**{name: _number(getattr(record, name)) for name in record.__struct_fields__})


def _number(value: object) -> object:
    if isinstance(value, Parts):
        return _single(value)
    return first(value) if isinstance(value, np.ndarray) else value


def assuming(prediction: Prediction, more: tuple[Assumption, ...]) -> Prediction:
    """The prediction with further assumptions in front."""
    new = tuple(each for each in more if each not in prediction.assumptions)
    return structs.replace(prediction, assumptions=(*new, *prediction.assumptions)) if new else prediction


def four(parts: Parts) -> tuple[float, float, float, float]:
    """Seconds of each category in the order of `CATEGORIES`."""
    return (first(parts.computation_s), first(parts.communication_s), first(parts.waiting_s), first(parts.overhead_s))


def without_repeats(assumptions: Iterable[Assumption], notes: Iterable[Diagnostic]) -> tuple[Assumption, ...]:
    """Assumptions without those that say the like of the same place in other words.

    `notes`: findings of which one text may be an assumption already, at another place: it holds there, too.
    """
    given = tuple(assumptions)
    said = {each.text for each in given}
    more = [Assumption(code=each.code, text=each.message, span=each.span) for each in notes if each.message in said]
    found: dict[object, Assumption] = {}
    for each in (*given, *more):
        at = None if each.span is None or not each.span.line else (each.span.file, each.span.line)
        found.setdefault((at, _core(each)), each)
    return tuple(found.values())


def _core(assumption: Assumption) -> str:
    before, after = _NOT_CHARGED
    return unplaced(assumption).removeprefix(before).removesuffix(after)


def unplaced(assumption: Assumption) -> str:
    """The text without the line at its beginning, which the span says as well."""
    line = assumption.span.line if assumption.span else 0
    return assumption.text.removeprefix(f"line {line}: ")
