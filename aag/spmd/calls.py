"""Calls of subroutines; intrinsic ones are the clock and random numbers."""

from collections.abc import Iterator
from functools import reduce

from msgspec import structs

from aag.diagnostics import CallSite
from aag.ir import statements as ir
from aag.ir.costs import RELATIVE, CallCost, changed_by
from aag.ir.expressions import Call, Element, RealLit, Var
from aag.ir.operations import component, operations
from aag.ir.result_types import wider
from aag.ir.units import Type
from aag.ir.visitors import names_in
from aag.spmd.assignments import lower_assign
from aag.spmd.lowering import Lowering
from aag.spmd.names import CLOCKS, RANDOM, scalars
from aag.spmd.nodes import CallNode, Charge, ClockMark, LibraryCall
from aag.spmd.uncalled import what_stays

EMITTED_CLOCKS = frozenset(("system_clock", "cpu_time", "date_and_time", "etime", "second"))
"""Those that gfortran has as subroutines."""


def lower_call(lowering: Lowering, statement: ir.CallStmt) -> None:
    """Lower a CALL: of an intrinsic subroutine, or of a procedure whose body is not interpreted."""
    if _lower_intrinsic(lowering, statement):
        return
    if statement.cost is not None:
        _lower_priced(lowering, statement, statement.cost)
        return
    lowering.complete = False
    assumption = f"{what_stays(lowering.program, statement)}: only its call is charged"
    lowering.note("W202", assumption)
    span = structs.replace(statement.span, call=CallSite(statement.name, statement.span))
    lowering.emit(CallNode(span=span, name=statement.name, arguments=len(statement.args), assumption=assumption))


def _lower_priced(lowering: Lowering, statement: ir.CallStmt, cost: CallCost) -> None:
    """Lower a call whose cost is known. A library works on what it gets, on one processor: an argument that is
    distributed leaves the cost of the call unknown, unless a loop around gives each processor its own part."""
    name, args = statement.name, statement.args
    into = () if statement.into is None else (statement.into.name,)
    changes = tuple(dict.fromkeys((*changed_by(args, cost), *into)))
    parts = sorted(each for each in names_in(*args) if lowering.is_distributed(each))
    span = structs.replace(statement.span, call=CallSite(name, statement.span))
    if parts:
        several = len(parts) > 1
        what = f"{', '.join(parts)} {'are' if several else 'is'} distributed"
        assumption = f"{name} is a library procedure and {what}: only its call is charged"
        lowering.complete = False
        hint = f"pass sections that one processor owns, or {'copies' if several else 'a copy'} without a mapping"
        lowering.note("W286", assumption, f"{hint}, or write the statements of {name} in place of the call")
        lowering.emit(CallNode(span=span, name=name, arguments=len(args), assumption=assumption))
        return
    by = cost.source if cost.origin == "table" else "as you say"
    lowering.note("W285", f"{name} has no source: a call costs {cost.text} ({by}) and {cost.effect}")
    charges = tuple(_charges(cost, _kind(lowering, statement, cost)))
    library = LibraryCall(
        args=args, into=statement.into, charges=charges, changes=changes, text=cost.text, origin=cost.origin
    )
    lowering.emit(
        CallNode(
            span=span,
            name=name,
            arguments=len(args),
            library=library,
            uses=scalars(lowering.symbols, *(each.amount for each in charges)),
            defines=frozenset(changes),
        )
    )


def _kind(lowering: Lowering, statement: ir.CallStmt, cost: CallCost) -> Type:
    """The numbers that a procedure works with: as its name says, else as the widest of its arguments and its result;
    double precision where none is real."""
    if cost.kind:
        return _KINDS[cost.kind]
    given = (*statement.args, *(() if statement.into is None else (statement.into,)))
    types = [lowering.symbols.type_of(each) for each in given]
    found = [each for each in types if each.base in ("real", "complex")]
    return reduce(wider, found) if found else _KINDS["r8"]


_KINDS = {
    "r4": Type(base="real", bytes=4),
    "r8": Type(base="real", bytes=8),
    "c8": Type(base="complex", bytes=8),
    "c16": Type(base="complex", bytes=16),
}


def _charges(cost: CallCost, kind: Type) -> Iterator[Charge]:
    """The operation classes of a cost."""
    for term in cost.terms:
        match term.unit:
            case "flop":
                parts: dict[str, float] = {f"{component(kind)}.{each}": 0.5 for each in ("add", "mul")}
            case unit if unit in RELATIVE:
                parts = {name: float(number) for name, number in operations(kind, unit).items()}
            case unit:
                parts = {unit: 1.0}
        for operation, number in parts.items():
            yield Charge(operation=operation, times=number * term.factor, amount=term.amount)


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
