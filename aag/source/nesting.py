"""Keeps what the parser takes exponential time or deep recursion for away from it.

fparser tries several readings for each level of ``a(b(c(...)))``, so its time doubles with each level. Deep
groups and long right-hand sides are read by our own parser; fparser sees a name that stands for them.
"""

import itertools
import re

from msgspec.structs import replace

from aag.budget import TALLEST
from aag.diagnostics import Diagnostic, SourceError
from aag.ir.expressions import Call, Expr, Var
from aag.source.expression_parser import Parser, SyntaxProblem
from aag.source.outline import MARK, Row, opaque_row
from aag.source.statement_functions import height

DEEPEST = 16
"""Parentheses that may be nested in one statement."""
_KEPT = 1
_LEAST = 2
"""Levels of a group that is read by our own parser."""
"""Levels of ``name(`` that fparser sees."""
_MOST_OPERATORS = 60

_MARKS = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|[()]|[-+*/]")
_NAME_BEFORE = re.compile(r"[A-Za-z_]\w*\s*$")


def cut_deep(rows: tuple[Row, ...], source: dict[tuple[str, int], str]) -> tuple[tuple[Row, ...], dict[str, Expr]]:
    """Rows without deep nests or long expressions, and the expressions behind the names that stand for them.

    Raises:
        SourceError: parentheses nested more than `DEEPEST` deep.
    """
    cuts: dict[str, Expr] = {}
    problems: list[Diagnostic] = []
    found = list(rows)
    for index, row in enumerate(rows):
        if row.text.count("(") <= _KEPT + 2 and len(row.text) < 2 * _MOST_OPERATORS:
            continue
        marks = [mark for mark in _MARKS.finditer(row.text) if mark.group()[0] not in "'\""]
        deep = _first_too_deep(marks)
        if deep >= 0:
            problems.append(_too_deep(row, deep, source))
            continue
        try:
            found[index] = _cut(row, marks, cuts)
        except (SyntaxProblem, RecursionError):
            if row.simple:
                found[index] = opaque_row(row, index, "an expression is too long or cannot be read")
    if problems:
        raise SourceError(problems)
    return tuple(found), cuts


def _first_too_deep(marks: list[re.Match[str]]) -> int:
    depth = 0
    for mark in marks:
        depth += (mark.group() == "(") - (mark.group() == ")")
        if depth > DEEPEST:
            return mark.start()
    return -1


def _too_deep(row: Row, at: int, source: dict[tuple[str, int], str]) -> Diagnostic:
    span = row.statement.text.span(at, at + 1)
    return Diagnostic(
        code="E113",
        message=f"parentheses are nested more than {DEEPEST} deep",
        span=span,
        hint="split the expression into several statements",
        source_line=source.get((span.file, span.line), ""),
    )


def _cut(row: Row, marks: list[re.Match[str]], cuts: dict[str, Expr]) -> Row:
    text = row.text
    pieces = _deep_groups(text, marks)
    if row.simple and _operators(marks) > _MOST_OPERATORS:
        at = _equals(text, marks)
        pieces = [(at, len(text))] if at < len(text) else _long_arguments(text, marks)
    shift = 0
    for start, end in pieces:
        name = f"{MARK}{len(cuts)}x"
        cuts[name] = _parsed(row, start, end)
        text = text[: start + shift] + name + text[end + shift :]
        shift += len(name) - (end - start)
    return row if not pieces else replace(row, text=text)


def read_assignment(row: Row, cuts: dict[str, Expr]) -> Row | None:
    """An assignment that fparser refuses, with both sides read by our own parser; None if that fails too.

    fparser takes an array that is dimensioned without a type for the intrinsic function of the same name, and
    knows no common extensions such as ``a * -b``.
    """
    if row.what.word != "assignment":
        return None
    marks = [mark for mark in _MARKS.finditer(row.text) if mark.group()[0] not in "'\""]
    at = _equals(row.text, marks)
    try:
        sides = [_parsed(row, 0, at - 1), _parsed(row, at, len(row.text))]
    except (SyntaxProblem, RecursionError):
        return None
    if not isinstance(sides[0], Var | Call):
        return None
    names = []
    for side in sides:
        names.append(f"{MARK}{len(cuts)}x")
        cuts[names[-1]] = side
    return replace(row, text=f"{names[0]} = {names[1]}")


def read_bounds(row: Row, cuts: dict[str, Expr]) -> Row | None:
    """A counted DO that fparser refuses, such as one with REAL bounds, with its bounds read by our own parser; None if
    that fails too."""
    marks = [mark for mark in _MARKS.finditer(row.text) if mark.group()[0] not in "'\""]
    start = _equals(row.text, marks)
    if row.what.kind != "do" or start == len(row.text):
        return None
    depth, commas = 0, []
    for at in range(start, len(row.text)):
        depth += (row.text[at] == "(") - (row.text[at] == ")")
        if row.text[at] == "," and not depth:
            commas.append(at)
    names = []
    try:
        for first, end in itertools.pairwise([start - 1, *commas, len(row.text)]):
            cuts[name := f"{MARK}{len(cuts)}x"] = _parsed(row, first + 1, end)
            names.append(name)
    except (SyntaxProblem, RecursionError):
        return None
    return replace(row, text=row.text[:start] + ", ".join(names))


def _equals(text: str, marks: list[re.Match[str]]) -> int:
    """Where the right-hand side of an assignment starts."""
    depth = 0
    opened = {mark.start(): (mark.group() == "(") - (mark.group() == ")") for mark in marks}
    for at, char in enumerate(text):
        depth += opened.get(at, 0)
        if char == "=" and depth == 0:
            return at + 1
    return len(text)


def _operators(marks: list[re.Match[str]]) -> int:
    return sum(mark.group() not in "()" for mark in marks)


def _long_arguments(text: str, marks: list[re.Match[str]]) -> list[tuple[int, int]]:
    """Arguments of a CALL that hold many operators."""
    ends: list[int] = []
    depth, before = 0, 0
    for mark in marks:
        if depth == 1:
            ends += [at for at in range(before, mark.start()) if text[at] in ",="]
        depth += (mark.group() == "(") - (mark.group() == ")")
        if (depth == 1 and mark.group() == "(") or depth == 0:
            ends.append(mark.start())
        before = mark.end()
    spans = [(start + 1, end) for start, end in itertools.pairwise(ends)]
    longs = [span for span in spans if _operators([m for m in marks if span[0] <= m.start() < span[1]]) > 20]
    return longs if text.lower().startswith("call") else []


def _deep_groups(text: str, marks: list[re.Match[str]]) -> list[tuple[int, int]]:
    """The outermost ``name(...)`` that stand inside `_KEPT` others and hold `_LEAST` levels."""
    groups: list[tuple[int, int]] = []
    stack: list[tuple[int, bool, int]] = []  # start, whether a name precedes, levels of names below
    for mark in marks:
        if mark.group() == "(":
            before = _NAME_BEFORE.search(text, 0, mark.start())
            stack.append((before.start() if before else mark.start(), before is not None, 0))
        elif mark.group() == ")" and stack:
            start, named, below = stack.pop()
            height = below + named
            if stack:
                outer = stack[-1]
                stack[-1] = (outer[0], outer[1], max(outer[2], height))
            if named and height >= _LEAST and sum(each[1] for each in stack) == _KEPT:
                groups = [each for each in groups if each[0] < start]
                groups.append((start, mark.end()))
    return groups


def _parsed(row: Row, start: int, end: int) -> Expr:
    parser = Parser(row.statement.text, start, end, defined=True)
    expr = parser.expression()
    if parser.token.kind != "end":
        raise SyntaxProblem("not an expression", parser.token)
    if height(expr) > TALLEST:
        raise RecursionError
    return expr
