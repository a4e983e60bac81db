"""SIZE, LBOUND and UBOUND of arrays in the extents of others."""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from functools import reduce

from msgspec.structs import replace

from aag.ir.directives import Bound
from aag.ir.expressions import Binary, Call, Expr, IntLit, Var
from aag.ir.intrinsics import INTRINSICS
from aag.ir.visitors import map_expression

Shapes = Callable[[str], Sequence[Bound]]
"""Name of an array -> its shape, empty for any other name."""

_ONE = IntLit(1)


def inquired(bound: Bound, shapes: Shapes, around: AbstractSet[str]) -> Bound:
    """A bound with what its inquiries return. `around`: arrays whose own shape needs this bound."""

    def one(expr: Expr) -> Expr:
        match expr:
            case Call(name="size" | "lbound" | "ubound", args=(Var(name=name), *_)) if name not in around:
                shape = [inquired(each, shapes, {*around, name}) for each in shapes(name)]
                return _returned(expr, shape)
        return expr

    return replace(
        bound,
        lower=None if bound.lower is None else map_expression(bound.lower, one),
        upper=None if bound.upper is None else map_expression(bound.upper, one),
    )


def _returned(call: Call, shape: Sequence[Bound]) -> Expr:
    dim = INTRINSICS[call.name].bound(call).get("dim")
    if isinstance(dim, IntLit):
        shape = shape[dim.value - 1 : dim.value] if dim.value > 0 else ()
    elif dim is not None or call.name != "size":
        return call
    if not shape or any(each.upper is None for each in shape):
        return call
    match call.name:
        case "lbound":
            return shape[0].lower or _ONE
        case "ubound":
            return shape[0].upper or _ONE
        case _:
            return reduce(lambda left, right: Binary("*", left, right), map(_length, shape))


def _length(bound: Bound) -> Expr:
    first, last = bound.lower or _ONE, bound.upper or _ONE
    return Call("max", (IntLit(0), Binary("+", Binary("-", last, first), _ONE)))
