"""Assignments: to arrays as parallel nests, to scalars and single elements of replicated arrays by every processor."""

from aag.ir import statements as ir
from aag.ir.expressions import Call, Element, Expr, Var
from aag.ir.visitors import map_expression, names_in
from aag.spmd.foralls import forall
from aag.spmd.lowering import Lowering
from aag.spmd.names import calls_any
from aag.spmd.nodes import Local
from aag.spmd.reductions import extract, is_full
from aag.spmd.scans import is_scan, lower_scan
from aag.spmd.symbols import Unsupported, result_type


def lower_assign(lowering: Lowering, statement: ir.Assign) -> None:
    """Lower an assignment.

    Raises:
        Unsupported: its target is a component of a derived type.
        Mismatch: its target is a named constant.
    """
    target = statement.target
    if not isinstance(target, Var | Element):
        raise Unsupported("assignment to a component of a derived type")
    lowering.symbols.check_variable(target)
    shape = lowering.symbols.shape(target)
    if shape and isinstance(statement.value, Call) and is_scan(lowering, statement.value):
        lower_scan(lowering, target, statement.value)
    elif shape:
        indices, positions = lowering.elementwise.context(shape)
        forall(lowering, indices, None, target, _called(lowering, statement.value), positions)
    elif isinstance(target, Element) and lowering.is_distributed(target.name):
        forall(lowering, (), None, target, _called(lowering, statement.value), ())
    else:
        _scalar(lowering, target, statement.value)


def _called(lowering: Lowering, value: Expr) -> Expr:
    """The value with functions that may have side effects called beforehand: every processor calls them once."""
    if not calls_any(value, lowering.impure):
        return value

    def computed(each: Expr) -> Expr:
        if not isinstance(each, Call) or each.name not in lowering.impure:
            return each
        name = lowering.elementwise.fresh(each.name)
        lowering.symbols.declare(name, result_type(lowering.impure[each.name], each, lowering.symbols))
        _scalar(lowering, Var(name), each)
        return Var(name)

    return map_expression(value, computed)


def _scalar(lowering: Lowering, target: Var | Element, value: Expr) -> None:
    symbols = lowering.symbols
    same = symbols.type_of(value) == symbols.type_of(target)  # else partial results would be converted
    own = isinstance(target, Var) and target.name not in names_in(value)  # else what is reduced would change meanwhile
    if same and own and isinstance(target, Var) and isinstance(value, Call) and is_full(lowering, value):
        extract(lowering, value, into=target.name)
        return
    element = lowering.replicated(value)
    if isinstance(target, Element):
        target = Element(target.name, tuple(map(lowering.replicated, target.subscripts)), span=target.span)
    assign = ir.Assign(span=lowering.span, target=target, value=element)
    lowering.emit(Local(span=lowering.span, assigns=(assign,), defines=frozenset((target.name,))))
