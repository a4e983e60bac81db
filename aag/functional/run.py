"""`computed`: what a program decides by its data, found by running the part of it that matters."""

import math
import sys
import traceback
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aag.functional import support, whole
from aag.functional.slicing import slice_of
from aag.functional.tables import (
    BUDGET_USED,
    Found,
    LoopTrips,
    NotComputable,
    OverBudget,
    RunLimits,
    Table,
    WantedValues,
)
from aag.functional.writing import Written, written
from aag.ir.evaluate import Value
from aag.ir.units import Unit

_FILE = "<functional interpretation>"
_FAILURES: tuple[tuple[type[Exception], str], ...] = (
    (NameError, "a variable is used before it has a value"),
    (IndexError, "a subscript is outside of its array"),
    (ZeroDivisionError, "it divides by zero"),
    (OverflowError, "a number is too large"),
    (MemoryError, "it takes too much memory"),
    (ValueError, "shapes differ, or a value is not defined"),
    (TypeError, "an array is not allocated"),
    (AttributeError, "an array is not allocated"),
    (RecursionError, "it is nested too deep"),
)
NO_VALUE, UNUSED = "it has no value", "nothing uses it"
"""Reasons that say no more than that a name is not defined."""
NO_LIMITS = RunLimits()


class _Watch:
    """What a run records."""

    def __init__(self) -> None:
        self.scalars: dict[str, dict[Value, int]] = {}
        self.tests: dict[str, set[Value]] = {}
        self.moving: frozenset[str] = frozenset()
        self.unset: dict[str, int] = {}
        self.trips: dict[int, list[tuple[int, bool, int, int]]] = {}
        self.tables: dict[str, Table] = {}
        self.changing: set[str] = set()
        self.branches: dict[int, Counter[int]] = {}

    def scalar(self, name: str, value: Value, line: int) -> None:
        values = self.scalars.setdefault(name, {})
        if len(values) < 10:
            values.setdefault(value, line)

    def test(self, name: str, value: Value) -> None:
        values = self.tests.setdefault(name, set())
        if len(values) < 10:
            values.add(value)

    def trip(self, line: int, count: int, partial: bool, left: int, length: int) -> None:
        self.trips.setdefault(line, []).append((count, partial, left, length))

    def table(self, name: str, values: NDArray[Any], lower: tuple[int, ...], line: int, meter: support.Meter) -> None:
        meter.spend(values.size, 1, line)
        known = self.tables.get(name)
        if known is None:
            self.tables[name] = Table(values.copy(order="F"), lower)
        elif name not in self.changing and not _same(known.values, values):
            self.changing.add(name)

    def branch(self, line: int, at: int, times: int) -> None:
        self.branches.setdefault(line, Counter())[at] += times


def computed(
    unit: Unit,
    wanted: WantedValues,
    constants: Mapping[str, Value],
    given: Mapping[str, Value] | None = None,
    limits: RunLimits = NO_LIMITS,
) -> Found:
    """Run the part of a unit that computes what is wanted, within a budget.

    Args:
        unit: A program unit in which calls are replaced by what they call (`aag.pipeline.main_unit`).
        wanted: What to find.
        constants: Values of its named constants.
        given: Values of variables, which win over what the program computes.
        limits: What the run may cost, over all attempts.
    """
    meter = support.Meter(limits)
    values = {**constants, **_typed(unit, given or {})}
    found: list[Found] = []
    for group in wanted.groups():
        first = _attempt(unit, group, values, meter)
        spent = any(BUDGET_USED in why for why in first.missing.values())
        parts = [] if spent and group.branches else group.parts()  # each of many conditions would use it up again
        again = bool(first.missing) and len(parts) > 1
        found += [_attempt(unit, each, values, meter) for each in parts] if again else [first]
    return Found(
        scalars={name: value for each in found for name, value in each.scalars.items()},
        unsteady=frozenset().union(*(each.unsteady for each in found)),
        trips={line: count for each in found for line, count in each.trips.items()},
        tables={name: table for each in found for name, table in each.tables.items()},
        changing=frozenset().union(*(each.changing for each in found)),
        frequencies={line: share for each in found for line, share in each.frequencies.items()},
        missing={name: why for each in found for name, why in each.missing.items()},
        operations=meter.operations,
    )


def _attempt(unit: Unit, wanted: WantedValues, values: Mapping[str, Value], meter: support.Meter) -> Found:
    """One run, with what is left of a budget."""
    own = meter.rest()
    try:
        return _found(_run(unit, wanted, values, own), wanted, "")
    except NotComputable as problem:
        return _found(_Watch(), wanted, str(problem))
    finally:
        meter.operations = own.operations


def _typed(unit: Unit, given: Mapping[str, Value]) -> dict[str, Value]:
    """Values as variables of their types hold them; others are left out."""
    found: dict[str, Value] = {}
    for name, value in given.items():
        entity = unit.entity(name)
        kind = None if entity is None else entity.type.base
        if entity is not None and entity.shape is not None:
            continue
        if kind == "real" and isinstance(value, int | float):
            found[name] = float(value)
        elif not isinstance(value, complex | str):
            found[name] = value
    return found


def _run(unit: Unit, wanted: WantedValues, values: Mapping[str, Value], meter: support.Meter) -> _Watch:
    try:
        part = slice_of(unit, wanted, values)
        text = written(unit, part, wanted, values)
    except RecursionError as problem:
        raise NotComputable("it is nested too deep") from problem
    watch = _Watch()
    watch.moving = part.moving
    space: dict[str, Any] = {**vars(support), **vars(whole), "np": np, "math": math}
    try:
        exec(compile(text.text, _FILE, "exec"), space)  # noqa: S102 (made from the syntax tree, no text of the program)
        with np.errstate(all="ignore"):
            space["run"](meter, watch)
    except support.Stopped:
        pass
    except NotComputable as problem:
        why = problem.why + (_so_far(text, problem) if isinstance(problem, OverBudget) else "")
        raise NotComputable(why, problem.line or _line(text)) from None
    except SyntaxError as problem:
        raise NotComputable("its loops are nested too deep") from problem
    except tuple(kind for kind, _ in _FAILURES) as problem:
        why = next(why for kind, why in _FAILURES if isinstance(problem, kind))
        why = "it uses values that were never assigned" if "NaN" in str(problem) else why
        raise NotComputable(why, _line(text)) from problem
    return watch


def _so_far(text: Written, problem: OverBudget) -> str:
    """How far a counted loop had come when the budget was used up, and the values that its condition then had."""
    frames = [frame for frame, _ in traceback.walk_tb(problem.__traceback__) if frame.f_code.co_filename == _FILE]
    for frame in frames:
        for loop in text.counted:
            done = frame.f_locals.get(loop.count, -1)
            if done > 0:
                now = {name: frame.f_locals.get(own) for name, own in loop.decides.items()}
                values = [f"{name.upper()} was {value:.3g}" for name, value in now.items() if isinstance(value, float)]
                return f" after {done:,} iterations" + (f", when {' and '.join(values)}" if values else "")
    return ""


def _line(text: Written) -> int:
    """The line of the program at which the exception that is handled was raised."""
    for frame in reversed(traceback.extract_tb(sys.exc_info()[2])):
        if frame.filename == _FILE and frame.lineno is not None:
            return text.source[frame.lineno - 1]
    return 0


def _same(one: NDArray[Any], other: NDArray[Any]) -> bool:
    return one.shape == other.shape and bool(np.array_equal(one, other, equal_nan=one.dtype.kind == "f"))


def _found(watch: _Watch, wanted: WantedValues, why: str) -> Found:
    missing: dict[str, str] = {}
    scalars: dict[str, Value] = {}
    for name in wanted.scalars:
        values = watch.scalars.get(name, {})
        if len(values) == 1:
            (scalars[name],) = values
        elif values:
            (first, line), (second, other) = list(values.items())[:2]
            missing[name] = f"it has several values: {first} in line {line}, {second} in line {other}"
        else:
            used = f"line {watch.unset[name]}: {NO_VALUE}" if name in watch.unset else UNUSED
            missing[name] = why or used
    trips: dict[int, LoopTrips] = {}
    for loop in wanted.loops:
        if loop in watch.trips:
            counts, partial, left, lengths = zip(*watch.trips[loop], strict=True)
            exits = frozenset(line for line, early in zip(left, partial, strict=True) if early)
            ends = tuple(line if early else 0 for line, early in zip(left, partial, strict=True))
            trips[loop] = LoopTrips(counts=counts, exits=exits, lengths=lengths, ends=ends)
        else:
            missing[f"trips_{loop}"] = why or "the program does not reach this loop"
    for name in wanted.arrays - watch.tables.keys():
        missing[name] = why or UNUSED
    shares: dict[int, tuple[float, ...]] = {}
    for line in wanted.branches:
        times = watch.branches.get(line)
        if times:
            total = sum(times.values())
            shares[line] = tuple(times[at] / total for at in range(max(times) + 1))
        else:
            missing[f"if_{line}"] = why or "the program does not reach it"
    return Found(
        scalars=scalars,
        trips=trips,
        unsteady=watch.moving | {name for name, value in scalars.items() if watch.tests.get(name, set()) - {value}},
        tables=watch.tables,
        changing=frozenset(watch.changing),
        frequencies=shares,
        missing=missing,
        operations=0,
    )
