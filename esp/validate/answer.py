"""Two outputs compared, number by number."""

import re
from math import isnan

from aag.wording import plural

TOLERANCE = 1e-12
"""Of reals, relative; single precision is printed with nine digits at most and gets `SINGLE`."""
SINGLE = 1e-5
ROUNDING = 1e-7
"""Relative difference of reals up to which sums in another order may explain it."""


def difference(
    expected: str, found: str, unsteady: frozenset[int] = frozenset(), *, allowed: float | None = None
) -> str:
    """How two outputs differ: integers, logicals and words exactly, reals by `TOLERANCE`, or the relative difference
    that is `allowed`; empty where they agree. The items of `unsteady` (counted from 0) may be anything."""
    left, right = _items(expected), _items(found)
    if len(left) != len(right):
        return f"{plural(len(right), 'item')} instead of {len(left)}"
    for at, (one, other) in enumerate(zip(left, right, strict=True)):
        if at not in unsteady and one != other and not _close(one, other, allowed):
            return f"{other} instead of {one}{_place(left, at)}{_how_far(one, other, allowed)}"
    return ""


def unsteady_items(one: str, other: str) -> frozenset[int]:
    """The items that two runs of the same program print differently, such as times."""
    left, right = _items(one), _items(other)
    return frozenset(at for at, (a, b) in enumerate(zip(left, right, strict=False)) if a != b)


_COMPLEX = re.compile(r"\(\s*([^\s(),]+),\s*([^\s(),]+)\s*\)")


def _items(text: str) -> list[str]:
    """Words and numbers; the two parts of a complex number are numbers of their own."""
    return _COMPLEX.sub(r" \1 \2 ", text).split()


def _place(items: list[str], at: int) -> str:
    """The word that an item stands behind."""
    words = [each for each in items[:at] if _number(each) is None and each not in {"T", "F"}]
    return f" behind {words[-1]!r}" if words else ""


def _how_far(one: str, other: str, allowed: float | None) -> str:
    first, second = _number(one), _number(other)
    if first is None or second is None or ("." not in one and "." not in other):
        return ""
    if isnan(first) or isnan(second):
        return ""
    if first == second:
        return ""
    apart = abs(first - second) / max(abs(first), abs(second))
    more = "; sums in another order are rounded differently, and --tolerance allows more" if apart < ROUNDING else ""
    return f" ({apart:.1g} of the value apart, {_tolerance(one, allowed):g} is allowed{more})"


def _close(one: str, other: str, allowed: float | None) -> bool:
    if "." not in one or "." not in other:
        return False
    first, second = _number(one), _number(other)
    if first is None or second is None:
        return False
    return abs(first - second) <= _tolerance(one, allowed) * max(abs(first), abs(second))


def _tolerance(text: str, allowed: float | None) -> float:
    if allowed is not None:
        return allowed
    digits = re.sub(r"[eE].*|\D", "", text).lstrip("0")
    return TOLERANCE if len(digits) > 9 else SINGLE


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
