"""Declarations of old compilers in the words of Fortran: ``INTEGER N/10/`` and ``PARAMETER M = 3``."""

import re

from aag.ir.scan import scanned

_TYPED = re.compile(
    r"(?:integer|real|logical|complex|byte|character|double\s*precision|double\s*complex)\b", re.IGNORECASE
)
_BARE = re.compile(r"(parameter)\s*([a-z]\w*\s*=.*)$", re.IGNORECASE | re.DOTALL)
_NAME = re.compile(r"([a-z]\w*)\s*(?:\([^()]*\))?\s*$", re.IGNORECASE)


def modern(text: str) -> tuple[str, ...]:
    """The statements that a declaration means: itself, or without its values and DATA with them."""
    bare = _BARE.match(text)
    if bare:
        return (f"{bare[1]} ({bare[2].rstrip()})",)
    if "/" not in text or "::" in text or _TYPED.match(text) is None:
        return (text,)
    slashes = [at for at, char, depth, quote in scanned(text) if char == "/" and not depth and not quote]
    pairs = list(zip(slashes[::2], slashes[1::2], strict=False))
    if not pairs or len(slashes) % 2:
        return (text,)
    rest, values, before = "", [], 0
    for first, last in pairs:
        rest += text[before:first]
        name = _NAME.search(rest)
        if name is None:
            return (text,)
        values.append(f"{name[1]} {text[first : last + 1]}")
        before = last + 1
    return rest + text[before:], f"data {', '.join(values)}"
