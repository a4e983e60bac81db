"""Sequence association: a dummy array whose elements are those of an actual array in their order, whatever its shape.

The actual array gets a second name with other extents (EQUIVALENCE), of which the dummy is a part.
"""

from collections.abc import Mapping, Sequence
from math import prod

from aag.ir import directives as d
from aag.ir.evaluate import Unknown, Value, evaluate_int
from aag.ir.expressions import Element, Expr, IntLit, Var
from aag.ir.linear import add, linear, multiply, subtract
from aag.ir.units import Entity
from aag.procedures.declarations import FlatDeclarations
from aag.procedures.names import ActualDim, ActualPart, CallNames, Refused, extent

_UNFIT = frozenset(("allocatable", "pointer", "parameter", "assumed_size"))


def in_sequence(dummy: Entity, actual: Expr, declarations: FlatDeclarations, names: CallNames) -> ActualPart:
    """What a dummy array is of another name of the actual array.

    Args:
        dummy: The declaration of the dummy.
        actual: The actual argument, in the names of the caller.
        declarations: Those of the program; the other name is added to them.
        names: What the names of the procedure mean there.

    Raises:
        Refused: the elements are not known, or distributed.
    """
    env = declarations.constants()
    array = declarations.entities[actual.name] if isinstance(actual, Var | Element) else None
    if array is None or array.shape is None:
        raise Refused(f"{dummy.shown} is an array, the actual argument is not")
    if array.name in declarations.mapped():
        raise Refused(f"{array.shown} is mapped")
    if array.attributes & _UNFIT or array.type != dummy.type or array.type.base == "character":
        raise Refused(f"{array.shown} has no fixed place, or another type")
    lower = [_value(each.lower or IntLit(1), env) for each in array.shape]
    extents = [_extent(each, env) for each in array.shape]
    shape = names.shape(dummy.shape or ())
    lead = [_extent(each, env) for each in shape[:-1]]
    width, size = prod(lead), prod(extents)
    subscripts = actual.subscripts if isinstance(actual, Element) else tuple(map(IntLit, lower))
    before = _before(subscripts, lower, extents, width, env)
    if min((size, width, *extents, *lead)) < 1 or size < width:
        raise Refused(f"{array.shown} has fewer elements than {dummy.shown}")
    shared = declarations.alias(array, (*lead, size // width), lower)
    bounds = [each.lower or IntLit(1) for each in shape]
    first: list[ActualDim] = [
        ActualDim(lower=low, upper=each.upper, start=IntLit(1), whole=True)
        for low, each in zip(bounds[:-1], shape[:-1], strict=True)
    ]
    upper = shape[-1].upper
    length = linear(extent(bounds[-1], upper), env) if upper is not None else None
    all_of_it = before == IntLit(0) and length is not None and length.is_constant and length.constant == size // width
    last = ActualDim(lower=bounds[-1], upper=upper, start=add(before, 1), whole=all_of_it)
    return ActualPart(shared, (*first, last))


def _before(
    subscripts: Sequence[Expr], lower: Sequence[int], extents: Sequence[int], width: int, env: Mapping[str, Value]
) -> Expr:
    """How many rows of `width` elements are before an element in an array with these bounds.

    Raises:
        Refused: no whole number.
    """
    constant, found, stride = 0, None, 1
    for subscript, low, length in zip(subscripts, lower, extents, strict=True):
        distance = subtract(subscript, IntLit(low))
        form = linear(distance, env)
        if form.is_constant:
            constant += form.constant * stride
        elif stride % width:
            raise Refused("it begins inside of a row")
        else:
            part = multiply(distance, IntLit(stride // width))
            found = part if found is None else add(found, part)
        stride *= length
    if constant % width:
        raise Refused("it begins inside of a row")
    return IntLit(constant // width) if found is None else add(found, constant // width)


def _extent(bound: d.Bound, env: Mapping[str, Value]) -> int:
    if bound.upper is None:
        raise Refused("its extents are not known")
    return _value(bound.upper, env) - _value(bound.lower or IntLit(1), env) + 1


def _value(expr: Expr, env: Mapping[str, Value]) -> int:
    try:
        return evaluate_int(expr, env)
    except Unknown as unknown:
        raise Refused(f"{unknown.name} is not known") from None
