"""Given values of elements of arrays, as in ``--set GP(1)=12``: their place in programs and in hints."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from msgspec.structs import replace

from aag.diagnostics import Diagnostic, SourceError
from aag.ir.elements import array_of, element_name, used_elements, why_not
from aag.ir.evaluate import Value
from aag.ir.units import Program, Unit
from aag.mapping.constants import typed
from aag.pipeline import main_unit
from esp.read_later import literal

_WORD = re.compile(r"[a-z][\w%]*")
_CODES = frozenset(("E312", "E501", "E504", "E508"))
"""Errors of values that are missing."""


def of_elements(values: Mapping[str, Value]) -> tuple[tuple[str, Value], ...]:
    """The given values that are of elements, by name in lower case."""
    return tuple(sorted((name, value) for each, value in values.items() if (name := element_name(each))))


@lru_cache(maxsize=64)
def with_given(program: Program, given: tuple[tuple[str, Value], ...]) -> Program:
    """The program with the values of elements.

    Raises:
        SourceError: an element cannot be given a value.
    """
    unit = main_unit(program)
    refused = {name: why for name, _ in given if (why := why_not(unit, name))}
    if refused:
        offered = [each.upper() for name in used_elements(unit) for each in _missing(program, name, frozenset())]
        hint = f"can be set: {', '.join(offered[:12])}" if offered else ""
        raise SourceError(
            Diagnostic(code="E301", message=f"‹set {name.upper()}›: {why}", hint=hint) for name, why in refused.items()
        )
    return replace(program, elements=tuple((name, literal(_typed(value, unit, name))) for name, value in given))


def _typed(value: Value, unit: Unit, element: str) -> Value:
    """A given value in the type of the array."""
    array = unit.entity(array_of(element))
    return typed(value, None if array is None else replace(array, shape=None))


def hinted(found: Sequence[Diagnostic], program: Program) -> tuple[Diagnostic, ...]:
    """Findings about missing values, with the elements to give among the ways out."""
    return tuple(_hinted(each, program) for each in found)


def _hinted(found: Diagnostic, program: Program) -> Diagnostic:
    if found.code not in _CODES:
        return found
    words = frozenset(_WORD.findall(found.message.lower()))
    known = frozenset(name for name, _ in program.elements)
    arrays = [each for each in used_elements(main_unit(program)) if each in words]
    names = [each for array in arrays for each in _missing(program, array, known)]
    if not names:
        return found
    given = ", ".join(f"‹set {each.upper()}=VALUE›" for each in names)
    other = found.hint if found.hint.startswith(("give", "override", "the program computes")) else ""
    return replace(found, hint=f"give {given}" + (f", or {other}" if other else ""))


def _missing(program: Program, array: str, known: frozenset[str]) -> list[str]:
    """The elements of an array that can be given a value and have none."""
    unit = main_unit(program)
    return [each for each in used_elements(unit).get(array, ()) if each not in known and not why_not(unit, each)]
