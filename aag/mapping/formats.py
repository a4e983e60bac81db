"""The formats of ``T=(BLOCK,*)``: a distribution format list as text.

formats = ["("] format {"," format} [")"]
format  = "*" | BLOCK [size] | CYCLIC [size] | GEN_BLOCK "((/" integer {"," integer} "/))"
size    = "(" integer or name of a constant ")"
"""

import re

from aag.ir.directives import Format
from aag.ir.expressions import Constructor, Expr, IntLit, Var

_FORMAT = re.compile(
    r"(?P<star>\*)|(?P<kind>block|cyclic)\s*(?:\(\s*(?P<size>\d+|[a-z]\w*)\s*\))?"
    r"|gen_block\s*\(\s*\(/(?P<sizes>\s*\d+\s*(?:,\s*\d+\s*)*)/\)\s*\)"
)

_OUTSIDE = re.compile(r",(?![^(]*/\))")
"""Commas that are not in the sizes of GEN_BLOCK."""


def parse_formats(text: str) -> tuple[Format, ...]:
    """The formats of a list such as ``(BLOCK, *, CYCLIC(4))``; the outer parentheses may be left out.

    Raises:
        ValueError: it cannot be read; the text says what is wrong.
    """
    return tuple(_format(part) for part in split_formats(text.lower()))


def split_formats(text: str) -> tuple[str, ...]:
    """The texts of the formats of a list.

    Raises:
        ValueError: a parenthesis is missing.
    """
    inner = text.strip()
    if inner.startswith("("):
        if not inner.endswith(")"):
            raise ValueError("the closing parenthesis is missing")
        inner = inner[1:-1]
    return tuple(part.strip() for part in _OUTSIDE.split(inner))


def _format(text: str) -> Format:
    match = _FORMAT.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is none of BLOCK, BLOCK(n), CYCLIC, CYCLIC(n), GEN_BLOCK((/ sizes /)) and *")
    if match["star"]:
        return Format(kind="*")
    if match["sizes"] is not None:
        sizes = tuple(IntLit(int(each)) for each in match["sizes"].split(","))
        return Format(kind="gen_block", size=Constructor(sizes))
    return Format(kind="block" if match["kind"] == "block" else "cyclic", size=_size(match["size"]))


def _size(text: str | None) -> Expr | None:
    if text is None:
        return None
    return IntLit(int(text)) if text.isdigit() else Var(text)
