"""Calls of subroutines; intrinsic ones are the clock and random numbers."""

from collections.abc import Iterator

from msgspec import structs

from aag.diagnostics import CallSite
from aag.ir import statements as ir
from aag.ir.expressions import Call, Element, RealLit, Var
from aag.ir.nearest import did_you_mean
from aag.ir.units import Program
from aag.spmd.assignments import lower_assign
from aag.spmd.lowering import Lowering
from aag.spmd.names import CLOCKS, RANDOM
from aag.spmd.nodes import CallNode, ClockMark

EMITTED_CLOCKS = frozenset(("system_clock", "cpu_time", "date_and_time", "etime", "second"))
"""Those that gfortran has as subroutines."""


def lower_call(lowering: Lowering, statement: ir.CallStmt) -> None:
    """Lower a CALL: of an intrinsic subroutine, or of a procedure whose body is not interpreted."""
    if _lower_intrinsic(lowering, statement):
        return
    lowering.complete = False
    if statement.reason:
        what = f"the body of {statement.name} is not interpreted ({statement.reason})"
    else:
        near = did_you_mean(statement.name, sorted(_subroutines(lowering.program)))
        what = f"found no subroutine {statement.name}{f' ({near})' if near else ''}"
    assumption = f"{what}: only its call is charged"
    lowering.note("W202", assumption)
    span = structs.replace(statement.span, call=CallSite(statement.name, statement.span))
    lowering.emit(CallNode(span=span, name=statement.name, arguments=len(statement.args), assumption=assumption))


def _subroutines(program: Program) -> Iterator[str]:
    """The names of the subroutines of the source."""
    for unit in program.units:
        yield from (each.name for each in (unit, *unit.contains) if each.kind == "subroutine")


def _lower_intrinsic(lowering: Lowering, statement: ir.CallStmt) -> bool:
    """Lower a call of an intrinsic subroutine; False where it is none."""
    name, args, span = statement.name, statement.args, statement.span
    if name in CLOCKS:
        if name not in EMITTED_CLOCKS:
            lowering.note("W209", f"{name.upper()} reads the clock: esp compile refuses such a program")
        lowering.emit(ClockMark(span=span))
        return True
    if name not in RANDOM or lowering.has_procedure(name):
        return False
    lowering.note("W209", "values that depend on random numbers are unknown: esp compile refuses such a program")
    if name == "random_number" and args and isinstance(args[0], Var | Element):
        # Every element is drawn by its owner.
        double = lowering.symbols.type_of(args[0]).bytes == 8
        drawn = Call(name, (RealLit(0.0, "0.0d0" if double else "0.0", double),), span=span)
        lower_assign(lowering, ir.Assign(span=span, target=args[0], value=drawn))
    else:
        lowering.emit(CallNode(span=span, name=name, arguments=len(args)))
    return True
