"""Procedures that a DO CONCURRENT calls must be PURE."""

from collections.abc import Iterable, Iterator

from aag.diagnostics import Diagnostic, Span
from aag.ir import statements as s
from aag.ir.expressions import Call
from aag.ir.units import Unit, shown_procedure
from aag.ir.visitors import bodies, own_expressions, walk_expressions, walk_statements
from aag.source.callcheck import procedures
from aag.source.concurrent import RULE
from aag.source.units import ReadUnit

_IMPURE = frozenset(
    "random_number random_seed system_clock cpu_time date_and_time get_command execute_command_line".split()
)
"""Intrinsic subroutines that are not PURE."""


def impure_calls(units: Iterable[Unit], reads: Iterable[ReadUnit]) -> list[Diagnostic]:
    """An error for each call in a DO CONCURRENT of a procedure that is not PURE."""
    listed = tuple(units)
    if not any(each.names.opened for read in reads for each in (read, *read.inner)):
        return []
    known = procedures(listed)
    return [
        _error(name, span)
        for unit in listed
        for one in (unit, *unit.contains)
        for name, span in _calls(one.body)
        if _is_impure(name, known.get(name))
    ]


def _calls(body: Iterable[s.Stmt]) -> Iterator[tuple[str, Span]]:
    """The procedures that DO CONCURRENTs in a body call, and where."""
    for stmt in body:
        if isinstance(stmt, s.Do) and stmt.independent is not None and stmt.independent.concurrent:
            yield from _called(stmt.body)
        else:
            for inner in bodies(stmt):
                yield from _calls(inner)


def _called(body: Iterable[s.Stmt]) -> Iterator[tuple[str, Span]]:
    for stmt in walk_statements(body):
        if isinstance(stmt, s.CallStmt):
            yield stmt.name, stmt.span
        for each in (part for whole in own_expressions(stmt) for part in walk_expressions(whole)):
            if isinstance(each, Call):
                yield each.name, each.span if each.span.line else stmt.span


def _is_impure(name: str, unit: Unit | None) -> bool:
    return name in _IMPURE if unit is None else not unit.prefixes & {"pure", "elemental"} or "impure" in unit.prefixes


def _error(name: str, span: Span) -> Diagnostic:
    shown = shown_procedure(name)
    message = f"{shown} is called in a DO CONCURRENT and is not PURE"
    hint = f"declare {shown} PURE, or write DO" if name not in _IMPURE else "call it outside of the loop, or write DO"
    return Diagnostic(code=RULE, message=message, span=span, hint=hint)
