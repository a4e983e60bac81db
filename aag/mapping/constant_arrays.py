"""Reductions of array constants, as expressions of their elements."""

from collections.abc import Mapping
from functools import reduce

from aag.ir.expressions import Binary, Call, Constructor, Expr, ImpliedDo, IntLit, Var
from aag.ir.units import Unit
from aag.ir.visitors import map_expression

Arrays = Mapping[str, tuple[Expr, ...]]
"""Name of an array -> its elements."""

_CHAINED = {"sum": "+", "product": "*"}
_CHOSEN = {"maxval": "max", "minval": "min"}


def constant_arrays(unit: Unit) -> Arrays:
    """The PARAMETERs of a unit that a constructor lists."""
    found = {each.name: each.initial for each in unit.entities if "parameter" in each.attributes}
    lists = {name: each.values for name, each in found.items() if isinstance(each, Constructor)}
    return {name: values for name, values in lists.items() if _listed(values)}


def of_elements(expr: Expr, arrays: Arrays) -> Expr:
    """`expr` with the sums, products, extremes and sizes of array constants written out."""
    return map_expression(expr, lambda part: _written_out(part, arrays))


def _written_out(expr: Expr, arrays: Arrays) -> Expr:
    match expr:
        case Call(name=name, args=(Var(name=array),), keywords=()) if array in arrays:
            values = arrays[array]
        case Call(name=name, args=(Constructor(values=values),), keywords=()) if _listed(values):
            pass
        case _:
            return expr
    if name == "size":
        return IntLit(len(values), span=expr.span)
    if name in _CHAINED:
        return reduce(lambda left, right: Binary(_CHAINED[name], left, right, span=expr.span), values)
    if name in _CHOSEN:
        return values[0] if len(values) == 1 else Call(_CHOSEN[name], values, span=expr.span)
    return expr


def _listed(values: tuple[Expr, ...]) -> bool:
    return bool(values) and not any(isinstance(each, ImpliedDo | Constructor) for each in values)
