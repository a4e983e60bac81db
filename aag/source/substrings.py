"""Assignments to a part of a text, ``name(3:4) = value``, as assignments of the whole text."""

from collections.abc import Callable, Mapping
from functools import reduce

from aag.ir import expressions as e
from aag.ir.evaluate import Unknown, evaluate_int
from aag.ir.values import Value

Length = Callable[[str], int]
"""The length of a CHARACTER variable; 0: not known."""


def whole_value(part: e.Substring, value: e.Expr, length: Length, constants: Mapping[str, Value]) -> e.Expr | None:
    """The whole text after `part` has been given `value`: what is before it, the value cut or filled up, and what is
    behind. None where the lengths are not known."""
    bounds = _bounds(part, length, constants)
    whole = length(part.base.name)
    if bounds is None or not (whole and 1 <= bounds[0] <= bounds[1] <= whole):
        return None
    first, last = bounds
    middle = _fitted(value, last - first + 1, length, constants)
    if middle is None:
        return None
    before = [_part(part.base, 1, first - 1)] if first > 1 else []
    behind = [_part(part.base, last + 1, whole)] if last < whole else []
    return reduce(lambda left, right: e.Binary("//", left, right, span=value.span), [*before, middle, *behind])


def _fitted(value: e.Expr, size: int, length: Length, constants: Mapping[str, Value]) -> e.Expr | None:
    """A value cut to a length, or filled up with blanks."""
    match value:
        case e.StringLit(value=text):
            return e.StringLit(text[:size].ljust(size), span=value.span)
        case e.Call(name="char" | "achar"):
            return value if size == 1 else e.Binary("//", value, e.StringLit(" " * (size - 1)), span=value.span)
        case e.Var() | e.Element():
            base, first, last = value, 1, length(value.name)
        case e.Substring(base=base):
            bounds = _bounds(value, length, constants)
            if bounds is None:
                return None
            first, last = bounds
        case _:
            return None
    if not 1 <= first <= last:
        return None
    if last - first + 1 >= size:
        return _part(base, first, first + size - 1)
    blanks = e.StringLit(" " * (size - (last - first + 1)), span=value.span)
    return e.Binary("//", value, blanks, span=value.span)


def _bounds(part: e.Substring, length: Length, constants: Mapping[str, Value]) -> tuple[int, int] | None:
    try:
        first = 1 if part.lower is None else evaluate_int(part.lower, constants)
        last = length(part.base.name) if part.upper is None else evaluate_int(part.upper, constants)
    except Unknown:
        return None
    return first, last


def _part(base: e.Var | e.Element, first: int, last: int) -> e.Expr:
    span = base.span
    return e.Substring(base, e.IntLit(first, span=span), e.IntLit(last, span=span), span=span)
