"""Numbers that no kind of Fortran's integers or reals holds: refused where they are written."""

import math
import re
from collections.abc import Iterable, Mapping

from aag.diagnostics import Diagnostic
from aag.source.joining import Statement
from aag.source.tokens import Token, tokenize

_MOST_DIGITS = 19
_LARGEST = 2**63 - 1
_SUSPECT = re.compile(rf"\d{{{_MOST_DIGITS}}}|[eEdD][+-]?\d{{3}}")


def too_large(kind: str, text: str) -> str:
    """Why no variable can hold the number that a token of this kind spells; empty where one can."""
    digits = text.lower().partition("_")[0]
    if kind == "int":
        significant = digits.lstrip("0")
        if len(significant) > _MOST_DIGITS or int(significant or "0") > _LARGEST:
            return f"the whole number {_short(digits)} does not fit in 64 bits"
    elif kind == "real" and math.isinf(float(digits.replace("d", "e"))):
        return f"the real number {_short(digits)} is too large for eight bytes"
    return ""


def _short(digits: str) -> str:
    return digits if len(digits) <= 40 else f"{digits[:20]}... ({len(digits)} digits)"


def excessive(statements: Iterable[Statement], source: Mapping[tuple[str, int], str]) -> list[Diagnostic]:
    """An error for each statement that writes such a number."""
    found: list[Diagnostic] = []
    for each in statements:
        if not _SUSPECT.search(each.text.text):
            continue
        for token in tokenize(each.text.text):
            why = too_large(token.kind, token.text)
            if why:
                found.append(_error(each, token, why, source))
                break
    return found


def _error(statement: Statement, token: Token, why: str, source: Mapping[tuple[str, int], str]) -> Diagnostic:
    span = statement.text.span(token.start, token.end)
    return Diagnostic(
        code="E115",
        message=why,
        span=span,
        hint="integers go up to 9223372036854775807, reals to 1.7976931348623157e308",
        source_line=source.get((span.file, span.line), ""),
    )
