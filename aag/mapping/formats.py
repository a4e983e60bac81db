"""The formats of ``T=(BLOCK,*)``: a distribution format list as text.

formats = ["("] format {"," format} [")"]
format  = "*" | BLOCK [size] | CYCLIC [size]
size    = "(" integer or name of a constant ")"
"""

import re

from aag.ir.directives import Format
from aag.ir.expressions import Expr, IntLit, Var

_FORMAT = re.compile(r"(?P<star>\*)|(?P<kind>block|cyclic)\s*(?:\(\s*(?P<size>\d+|[a-z]\w*)\s*\))?")


def parse_formats(text: str) -> tuple[Format, ...]:
    """The formats of a list such as ``(BLOCK, *, CYCLIC(4))``; the outer parentheses may be left out.

    Raises:
        ValueError: it cannot be read; the text says what is wrong.
    """
    inner = text.strip().lower()
    if inner.startswith("("):
        if not inner.endswith(")"):
            raise ValueError("the closing parenthesis is missing")
        inner = inner[1:-1]
    return tuple(_format(part.strip()) for part in inner.split(","))


def _format(text: str) -> Format:
    match = _FORMAT.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is none of BLOCK, BLOCK(n), CYCLIC, CYCLIC(n) and *")
    if match["star"]:
        return Format(kind="*")
    return Format(kind="block" if match["kind"] == "block" else "cyclic", size=_size(match["size"]))


def _size(text: str | None) -> Expr | None:
    if text is None:
        return None
    return IntLit(int(text)) if text.isdigit() else Var(text)
