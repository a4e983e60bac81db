"""Two outputs compared, number by number."""

import re

TOLERANCE = 1e-12
"""Of reals, relative; single precision is printed with nine digits at most and gets `SINGLE`."""
SINGLE = 1e-5


def difference(expected: str, found: str) -> str:
    """How two outputs differ: integers, logicals and words exactly, reals by `TOLERANCE`; empty where they agree."""
    left, right = expected.split(), found.split()
    if len(left) != len(right):
        return f"{len(right)} items instead of {len(left)}"
    for one, other in zip(left, right, strict=True):
        if one != other and not _close(one, other):
            return f"{other} instead of {one}"
    return ""


def _close(one: str, other: str) -> bool:
    if "." not in one or "." not in other:
        return False
    try:
        first, second = float(one), float(other)
    except ValueError:
        return False
    digits = len(re.sub(r"[eE].*|\D", "", one))
    tolerance = TOLERANCE if digits > 9 else SINGLE
    return abs(first - second) <= tolerance * max(abs(first), abs(second))
