"""Which arrays of the caller a line of a procedure works on: esp puts procedures in place of their calls."""

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from aag.diagnostics import Span
from aag.ir.expressions import Call, Expr
from aag.ir.spelling import spell
from aag.ir.statements import CallStmt
from aag.ir.units import Program, Unit
from aag.ir.visitors import own_expressions, walk_expressions, walk_statements

_NAME = re.compile(r"[a-z]\w*", re.IGNORECASE)


class PassedArray(Struct, frozen=True, kw_only=True):
    """A dummy array and the argument that a call passes for it, as both are written."""

    dummy: str
    actual: str
    procedure: str
    call_line: int


def passed(program: Program, file: str, line: int) -> tuple[PassedArray, ...]:
    """What each call passes for the dummy arrays that a line of a procedure names, in the order of the calls."""
    every = tuple(_all(program.units))
    around = [each for each in every if each.span.file == file and each.span.line <= line <= each.end.line]
    if not around:
        return ()
    unit = min(around, key=lambda each: each.end.line - each.span.line)
    named = {name.lower() for name in _NAME.findall(_statement(program.lines_of(file), line))}
    arrays = [name for name in unit.arguments if name in named and (found := unit.entity(name)) and found.shape]
    made: list[PassedArray] = []
    for args, keywords, span in _calls(every, unit.name):
        actuals = dict(zip(unit.arguments, args, strict=False)) | dict(keywords)
        made += [
            PassedArray(dummy=name, actual=spell(actuals[name]), procedure=unit.name, call_line=span.line)
            for name in arrays
            if name in actuals
        ]
    return tuple(made)


def _all(units: Iterable[Unit]) -> Iterator[Unit]:
    for each in units:
        yield each
        yield from _all(each.contains)


def _statement(lines: Sequence[str], line: int) -> str:
    """The lines of a statement, from its first one."""
    rest = iter(lines[line - 1 :])
    text = next(rest, "")
    while text.rstrip().endswith("&"):
        text = f"{text.rstrip()[:-1]} {next(rest, '')}"
    return text.partition("!")[0]


def _calls(units: Iterable[Unit], name: str) -> Iterator[tuple[tuple[Expr, ...], tuple[tuple[str, Expr], ...], Span]]:
    """The arguments of each call of a procedure, and where it is."""
    for unit in units:
        for statement in walk_statements(unit.body):
            if isinstance(statement, CallStmt):
                if statement.name == name:
                    yield statement.args, statement.keywords, statement.span
                continue
            for each in (part for own in own_expressions(statement) for part in walk_expressions(own)):
                if isinstance(each, Call) and each.name == name:
                    yield each.args, each.keywords, statement.span
