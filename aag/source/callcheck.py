"""Calls that do not fit what they call, and dummy arguments that are changed against their INTENT."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from aag.diagnostics import Diagnostic
from aag.ir import expressions as e
from aag.ir import statements as s
from aag.ir.spelling import spell
from aag.ir.units import Entity, Unit, shown_procedure
from aag.ir.visitors import walk_statements

_FIXED = e.Binary | e.Unary | e.IntLit | e.RealLit | e.LogicalLit | e.StringLit
"""Expressions that nothing can be assigned to."""


def procedures(units: Iterable[Unit]) -> dict[str, Unit]:
    """The procedures of a program whose names no other has."""
    listed = tuple(units)
    every = [each for unit in listed for each in (unit, *unit.contains) if each.kind in ("subroutine", "function")]
    often = Counter(each.name for each in every)
    return {each.name: each for each in every if often[each.name] == 1}


def changed_inputs(unit: Unit) -> Iterator[Diagnostic]:
    """An error for each statement that changes an argument of INTENT(IN)."""
    fixed = {each.name: each for each in unit.entities if "intent(in)" in each.attributes}
    for statement in walk_statements(unit.body):
        match statement:
            case s.Assign(target=e.Var(name=name) | e.Element(name=name)) | s.Do(var=name) if name in fixed:
                if "pointer" not in fixed[name].attributes:
                    yield Diagnostic(
                        code="E139",
                        message=f"{fixed[name].shown} has INTENT(IN) and cannot be changed",
                        span=statement.span,
                        hint="declare it with INTENT(INOUT), or use another variable",
                    )


def misfits(call: s.CallStmt, known: Mapping[str, Unit]) -> Iterator[Diagnostic]:
    """Errors of a call: of a function, with an expression where the procedure assigns a value, or with a number of
    another type."""
    unit = known.get(call.name)
    if unit is None:
        return
    shown = shown_procedure(call.name)
    if unit.kind == "function":
        hint = f"write x = {shown}(...), or make it a subroutine"
        yield Diagnostic(code="E136", message=f"{shown} is a function", span=call.span, hint=hint)
        return
    for dummy, actual in _pairs(call, unit):
        intent = next((each for each in ("out", "inout") if f"intent({each})" in dummy.attributes), "")
        if intent and isinstance(actual, _FIXED):
            yield Diagnostic(
                code="E136",
                message=f"{shown} changes its argument {dummy.shown}, but {spell(actual)} is not a variable",
                span=actual.span if actual.span.line else call.span,
                hint=f"give a variable for {dummy.shown}, which has INTENT({intent.upper()})",
            )

        base = _base(actual)
        if base and dummy.shape is None and dummy.type.base in ("integer", "real") and dummy.type.base != base:
            expected = f"the argument {dummy.shown} of {shown} must be {dummy.type.base}"
            yield Diagnostic(
                code="E136",
                message=f"{expected}, but {spell(actual)} is {base}",
                span=actual.span if actual.span.line else call.span,
                hint="write a value of this type, or correct the declaration",
            )


def _base(actual: e.Expr) -> str:
    """The type of a number as it is written."""
    match actual:
        case e.IntLit() | e.Unary(operand=e.IntLit()):
            return "integer"
        case e.RealLit() | e.Unary(operand=e.RealLit()):
            return "real"
        case _:
            return ""


def _pairs(call: s.CallStmt, unit: Unit) -> Iterator[tuple[Entity, e.Expr]]:
    named = [*zip(unit.arguments, call.args, strict=False), *call.keywords]
    for name, actual in named:
        dummy = unit.entity(name)
        if dummy is not None:
            yield dummy, actual
