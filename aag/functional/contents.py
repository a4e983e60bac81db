"""What index arrays hold, so that iterations and messages can be counted (D8)."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from math import gcd, prod

import numpy as np
from msgspec.structs import replace

from aag.diagnostics import Diagnostic
from aag.functional.run import NO_LIMITS, computed
from aag.functional.tables import Found, RunLimits, Table, WantedValues
from aag.ir import statements as s
from aag.ir.array_functions import PLACES
from aag.ir.evaluate import Value
from aag.ir.expressions import Call, Element, Expr, Var
from aag.ir.units import Unit
from aag.ir.visitors import children, walk_statements
from aag.mapping.layout import Layout, Layouts

Range = tuple[int, int]

GOLDEN = 0.6180339887
"""Multiples of it, modulo 1, are spread evenly (Weyl)."""


def with_contents(unit: Unit, layouts: Layouts, given: Mapping[str, Value], limits: RunLimits = NO_LIMITS) -> Layouts:
    """The layouts with the contents of the arrays that decide how often loops run and which elements are assigned.

    What cannot be computed is taken to be spread evenly over the dimension whose subscripts it gives, if there is one.
    `given`: values of variables, which win over what the program computes. `limits`: what computing may
    cost.
    """
    ranges = index_arrays(unit, layouts)
    if not ranges:
        return layouts
    found = _found(unit, frozenset(ranges), tuple(layouts.constants.items()), tuple(given.items()), limits)
    contents = dict(found.tables)
    notes = []
    guessed = set(found.changing) & ranges.keys()
    for name, values in ranges.items():
        layout = layouts.arrays[name]
        if name in found.changing:
            notes.append(_note(f"{name} changes: taking what it holds when it is first used", layout))
        if name in contents or values is None:
            continue
        guessed.add(name)
        why = found.missing.get(name, "it is not used")
        if name.startswith(PLACES):
            contents[name] = every_second(layout)
            notes.append(_note(f"the mask of PACK is not known ({why}): assuming every second element", layout))
            continue
        contents[name] = evenly(layout, values)
        notes.append(_note(f"what {name} holds is not known ({why}): taking values that are spread evenly", layout))
    unknown = {name: found.missing[name] for name in ranges if name not in contents and name in found.missing}
    found_notes = (*layouts.notes, *notes)
    return replace(layouts, contents=contents, notes=found_notes, guessed=frozenset(guessed), unknown=unknown)


def index_arrays(unit: Unit, layouts: Layouts) -> Mapping[str, Range | None]:
    """Arrays in bounds of loops and in subscripts of what is assigned, each with the bounds of the dimension that its
    values choose from, as far as there is one."""
    found: dict[str, Range | None] = {}
    for name, values in _places(unit, layouts):
        if name in layouts.arrays and layouts.arrays[name].rank:
            found[name] = found.get(name) or values
    return found


def _places(unit: Unit, layouts: Layouts) -> Iterator[tuple[str, Range | None]]:
    for statement in walk_statements(unit.body):
        match statement:
            case s.Assign(target=Element(name=array, subscripts=subscripts)) if array in layouts.arrays:
                layout = layouts.arrays[array]
                if layout.is_distributed or layouts.dynamics is not None:
                    for subscript, bounds in zip(subscripts, layout.bounds, strict=False):
                        yield from ((name, bounds) for name in _read(subscript))
            case s.Do(lower=lower, upper=upper, step=step):
                yield from ((name, None) for part in (lower, upper, step) for name in _read(part))
            case s.Forall(indices=indices):
                parts = [part for each in indices for part in (each.lower, each.upper, each.step)]
                yield from ((name, None) for part in parts for name in _read(part))


def _read(expr: Expr | None) -> Iterator[str]:
    """The variables and arrays whose values decide an expression: those of which only the shape is asked are none."""
    match expr:
        case None:
            return
        case Var(name=name):
            yield name
        case Element(name=name):
            yield name
        case Call(name="size" | "shape" | "lbound" | "ubound", args=(Element(subscripts=parts), *others)):
            for each in (*parts, *others):
                yield from _read(each)
            return
        case Call(args=args):
            for each in args:
                yield from () if isinstance(each, Var) else _read(each)
            return
    for child in children(expr):
        yield from _read(child)


@lru_cache(maxsize=16)
def _found(
    unit: Unit,
    names: frozenset[str],
    constants: tuple[tuple[str, Value], ...],
    given: tuple[tuple[str, Value], ...],
    limits: RunLimits,
) -> Found:
    return computed(unit, WantedValues(arrays=names), dict(constants), dict(given), limits)


def evenly(layout: Layout, values: Range) -> Table:
    """Contents that are spread evenly over a range, without repetition as long as there are values left."""
    lower, upper = values
    many, count = max(1, upper - lower + 1), prod(layout.extents)
    stride = next(each for each in range(max(1, round(GOLDEN * many)), many + 2) if gcd(each, many) == 1)
    chosen = lower + np.arange(count, dtype=np.int64) * stride % many
    return Table(chosen.reshape(layout.extents, order="F"), tuple(low for low, _ in layout.bounds))


def every_second(layout: Layout) -> Table:
    """The places of elements in what PACK makes, where it takes every second one; 0 for the others."""
    number = np.arange(1, prod(layout.extents) + 1, dtype=np.int64)
    places = np.where(number % 2, (number + 1) // 2, 0)
    return Table(places.reshape(layout.extents, order="F"), tuple(low for low, _ in layout.bounds))


def _note(message: str, layout: Layout) -> Diagnostic:
    return Diagnostic(code="W214", message=message, span=layout.span)
