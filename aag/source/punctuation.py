"""Operators, commas and parentheses that are missing, where the parser would report another line or nothing at all.

fparser reads ``a = 3 4`` as ``a = 34``. What no statement allows are two numbers in a row, and two operands in
parentheses or behind the ``=`` of an assignment or a loop. IF, WHERE and others with an open parenthesis seem to be
statements without a block, so that the END of the block would be wrong.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from aag.diagnostics import Diagnostic, Span
from aag.ir.scan import scanned
from aag.source.causes import wrong_head
from aag.source.classify import classify
from aag.source.joining import Statement, Text
from aag.source.tokens import Token, tokenize

_SUSPECT = re.compile(r"[\w)\]'\"]\s+[\w'\"]")
_UNEQUAL = re.compile(r"\s*!=(?!=)")
_UNREADABLE = "this statement cannot be read as Fortran: "
_PARENTHESES = "check the parentheses"
_KINDS = frozenset(("name", "int", "real", "string"))
_NUMBERS = frozenset(("int", "real"))
_OPENING, _CLOSING = frozenset(("(", "(/", "[")), frozenset((")", "/)", "]"))
_PAIRS = frozenset((("in", "out"), ("double", "precision"), ("double", "complex")))
"""Keywords of two words that may be in parentheses or brackets."""
_HEADS = frozenset("if elseif where elsewhere forall selectcase case dowhile".split())
"""First words of statements whose parentheses decide what they are."""


def mispunctuated(
    statements: Iterable[Statement], source: Mapping[tuple[str, int], str], *, free: bool
) -> list[Diagnostic]:
    """An error for each such statement; operands side by side are looked for in `free` form."""
    found = []
    for each in statements:
        text = each.text.text
        spaced = free and _SUSPECT.search(text) is not None
        if (head := wrong_head(text)) is not None:
            found.append(_error(_UNREADABLE + head.why, each.text.span(head.start, head.end), source, head.hint))
            continue
        what = classify(text) if spaced or "(" in text else None
        if what is None:
            continue
        if what.word in _HEADS and (wrong := wrong_parenthesis(each.text, source)) is not None:
            why, hint, span = wrong
            found.append(_error(_UNREADABLE + why, span, source, hint))
        elif spaced and what.kind != "format":
            pair = next(_pairs(text, valued=what.kind in ("exec", "do")), None)
            found += [] if pair is None else [_between(each.text, *pair, source)]
    return found


def wrong_parenthesis(text: Text, source: Mapping[tuple[str, int], str]) -> tuple[str, str, Span] | None:
    """What is wrong with the parentheses of a statement, what to do, and where; None: nothing."""
    opened: list[int] = []
    for at, char, depth, quote in scanned(text.text):
        if quote:
            continue
        if char == "(":
            opened.append(at)
        elif depth < 0:
            return "one ')' too many", _PARENTHESES, text.span(at, at + 1)
        elif char == ")":
            opened.pop()
    if not opened:
        return None
    file, line, column = text.place(max(0, len(text.text) - 1))
    rest = source.get((file, line), "")[column:]
    if _UNEQUAL.match(rest):
        unequal = Span(file, line, column + 1 + len(rest) - len(rest.lstrip()))
        return "!= begins a comment", "write /= for not equal", unequal
    return "a ')' is missing", _PARENTHESES, text.span(opened[0], opened[0] + 1)


def _pairs(text: str, *, valued: bool) -> Iterator[tuple[Token, Token]]:
    """Operands side by side. `valued`: whether what follows ``=`` is an expression."""
    depth, behind = 0, False
    before: Token | None = None
    for token in tokenize(text):
        if before is not None and token.kind in _KINDS and before.end < token.start:
            numbers = token.kind in _NUMBERS and before.kind in _NUMBERS
            operand = before.kind in _KINDS or before.text in _CLOSING
            if numbers or ((depth > 0 or behind) and operand and (before.text, token.text) not in _PAIRS):
                yield before, token
        depth += (token.text in _OPENING) - (token.text in _CLOSING)
        behind = behind or (valued and token.text == "=" and depth == 0)
        before = token


def _between(text: Text, left: Token, right: Token, source: Mapping[tuple[str, int], str]) -> Diagnostic:
    one, other = (text.text[each.start : each.end] for each in (left, right))
    numbers = left.kind in _NUMBERS and right.kind in _NUMBERS
    return _error(
        f"an operator or a comma is missing between {one} and {other}",
        text.span(left.start, right.end),
        source,
        "a number has no blanks inside" if numbers else "write it",
    )


def _error(message: str, span: Span, source: Mapping[tuple[str, int], str], hint: str) -> Diagnostic:
    line = source.get((span.file, span.line), "")
    return Diagnostic(code="E123", message=message, span=span, hint=hint, source_line=line)
