"""Assignments to a part of a text, ``name(3:4) = value``, as assignments of the whole text."""

from collections.abc import Callable, Mapping
from functools import reduce

from aag.ir import expressions as e
from aag.ir.evaluate import Unknown, evaluate_int
from aag.ir.linear import add, linear
from aag.ir.values import Value

Length = Callable[[str], int]
"""The length of a CHARACTER variable; 0: not known."""


def whole_value(part: e.Substring, value: e.Expr, length: Length, constants: Mapping[str, Value]) -> e.Expr | None:
    """The whole text after `part` has been given `value`: what is before it, the value cut or filled up, and what is
    behind. None where the lengths are not known."""
    first, last = _bounds(part, length)
    whole, size = length(part.base.name), _size(first, last, constants)
    if not whole or size is None or size < 1:
        return None
    middle = _fitted(value, size, length, constants)
    if middle is None:
        return None
    before, behind = _known(add(first, -1), constants), _known(add(last, 1), constants)
    if any(isinstance(each, int) and not 0 <= each <= whole + 1 for each in (before, behind)):
        return None
    parts = [_part(part.base, e.IntLit(1), add(first, -1))] if before != 0 else []
    parts.append(middle)
    parts += [_part(part.base, add(last, 1), e.IntLit(whole))] if behind != whole + 1 else []
    return reduce(lambda left, right: e.Binary("//", left, right, span=value.span), parts)


def _fitted(value: e.Expr, size: int, length: Length, constants: Mapping[str, Value]) -> e.Expr | None:
    """A value cut to a length, or filled up with blanks."""
    match value:
        case e.StringLit(value=text):
            return e.StringLit(text[:size].ljust(size), span=value.span)
        case e.Call(name="char" | "achar"):
            return _filled(value, 1, size)
        case e.Call(name="merge", args=(one, other, mask)):
            fitted = [_fitted(each, size, length, constants) for each in (one, other)]
            texts = [each for each in fitted if each is not None]
            return e.Call("merge", (*texts, mask), span=value.span) if len(texts) == len(fitted) else None
        case e.Var() | e.Element():
            return _cut(value, e.IntLit(1), length(value.name), size)
        case e.Substring(base=base):
            first, last = _bounds(value, length)
            return _cut(base, first, _size(first, last, constants) or 0, size)
        case _:
            return None


def _cut(base: e.Var | e.Element, first: e.Expr, own: int, size: int) -> e.Expr | None:
    """So many characters of a text that has `own` from `first` on, with blanks behind where these are too few."""
    if own < 1:
        return None
    found = _part(base, first, add(first, min(own, size) - 1))
    return _filled(found, own, size)


def _filled(value: e.Expr, own: int, size: int) -> e.Expr:
    """A value with blanks behind it, up to a length."""
    return e.Binary("//", value, e.StringLit(" " * (size - own)), span=value.span) if size > own else value


def _bounds(part: e.Substring, length: Length) -> tuple[e.Expr, e.Expr]:
    return part.lower or e.IntLit(1), part.upper or e.IntLit(length(part.base.name))


def _size(first: e.Expr, last: e.Expr, constants: Mapping[str, Value]) -> int | None:
    """The number of characters between two bounds; they may be variables, as in ``text(i:i+2)``."""
    form = linear(last, constants).plus(linear(first, constants), -1)
    return form.constant + 1 if form.is_constant else None


def _known(expr: e.Expr, constants: Mapping[str, Value]) -> int | None:
    try:
        return evaluate_int(expr, constants)
    except Unknown:
        return None


def _part(base: e.Var | e.Element, first: e.Expr, last: e.Expr) -> e.Expr:
    return e.Substring(base, first, last, span=base.span)
