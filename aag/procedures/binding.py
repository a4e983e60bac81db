"""Dummy arguments: what they are where a procedure is called."""

from collections.abc import Mapping, Sequence

from aag.diagnostics import Span
from aag.ir import statements as s
from aag.ir.directives import Bound
from aag.ir.evaluate import Environment
from aag.ir.expressions import Binary, Element, Expr, IntLit, LogicalLit, RealLit, Section, StringLit, Unary, Var
from aag.ir.linear import add, linear, subtract
from aag.ir.ranks import is_array
from aag.ir.units import Entity, Unit, shown_procedure
from aag.procedures.allocated import Allocations
from aag.procedures.names import ABSENT, ActualDim, ActualPart, CallNames, OtherShape, Refused, extent, same
from aag.wording import plural

NONE = Allocations()
"""Nothing is known of ALLOCATE statements."""


def actuals(unit: Unit, args: Sequence[Expr], keywords: Sequence[tuple[str, Expr]]) -> dict[str, Expr]:
    """The actual argument of each dummy; an optional one may have none.

    Raises:
        Refused: they do not fit.
    """
    if len(args) > len(unit.arguments):
        raise Refused(f"{shown_procedure(unit.name)} has {len(unit.arguments)} arguments, the call {len(args)}")
    found = dict(zip(unit.arguments, args, strict=False))
    for name, value in keywords:
        if name not in unit.arguments:
            raise Refused(f"{shown_procedure(unit.name)} has no argument {name}")
        found[name] = value
    found = {name: each for name, each in found.items() if each != Var(ABSENT)}
    for name in unit.arguments:
        entity = unit.entity(name)
        if name == "*":
            raise Refused("it has an alternate return")
        if name not in found and (entity is None or "optional" not in entity.attributes):
            raise Refused(f"its argument {name} is missing")
    return found


def part_of(
    dummy: Entity,
    actual: Expr,
    entities: Mapping[str, Entity],
    names: CallNames,
    env: Environment,
    *,
    allocations: Allocations = NONE,
) -> ActualPart:
    """What a dummy array is of the actual argument.

    Args:
        dummy: The declaration of the dummy.
        actual: The actual argument, in the names of the caller.
        entities: The declarations of the caller.
        names: What the names of the procedure mean there.
        env: The values of named constants.
        allocations: What ALLOCATE statements say of bounds.

    Raises:
        Refused: no part of an array with the same dimensions.
    """
    if not isinstance(actual, Var | Element):
        raise Refused(f"its array argument {dummy.shown} is an expression")
    array = entities.get(actual.name)
    if array is None or array.shape is None:
        raise Refused(f"its argument {dummy.shown} is an array, the actual one {actual.name} is not")
    shape = names.shape(dummy.shape or ())
    array = allocations.bounded(array, dummy, env)
    match actual:
        case Var():
            return _whole(dummy, shape, array, env)
        case Element(subscripts=subscripts) if any(isinstance(each, Section) for each in subscripts):
            if any(is_array(each, entities) for each in subscripts):
                raise Refused(f"its argument {dummy.shown} has a vector subscript")
            return _section(dummy, shape, array, subscripts, env)
        case Element(subscripts=subscripts) if any(is_array(each, entities) for each in subscripts):
            raise Refused(f"its argument {dummy.shown} has a vector subscript")
        case Element(subscripts=subscripts):
            return _from_element(dummy, shape, array, subscripts, env)


def _whole(dummy: Entity, shape: tuple[Bound, ...], array: Entity, env: Environment) -> ActualPart:
    declared = array.shape or ()
    if len(shape) != len(declared):
        raise OtherShape(f"{dummy.shown} has {plural(len(shape), 'dimension')}, {array.shown} has {len(declared)}")
    dims = [_along(mine, theirs, env) for mine, theirs in zip(shape, declared, strict=True)]
    _check_leading(dummy, array, dims, len(declared))
    return ActualPart(array.name, tuple(dims))


def _along(mine: Bound, theirs: Bound, env: Environment) -> ActualDim:
    """A dimension of a dummy whose first element is the first of the actual dimension."""
    lower, start = mine.lower or IntLit(1), theirs.lower or IntLit(1)
    if mine.upper is None:
        if theirs.upper is None or same(lower, start, env):
            return ActualDim(lower=lower, upper=theirs.upper, start=start, whole=True)
        return ActualDim(lower=lower, upper=Binary("+", lower, subtract(theirs.upper, start)), start=start, whole=True)
    whole = theirs.upper is not None and _as_long(mine, theirs.lower, theirs.upper, env)
    return ActualDim(lower=lower, upper=mine.upper, start=start, whole=whole)


def _as_long(mine: Bound, lower: Expr | None, upper: Expr, env: Environment) -> bool:
    if mine.upper is None:
        return True
    return same(extent(mine.lower, mine.upper), extent(lower, upper), env) or (
        same(mine.lower, lower, env) and same(mine.upper, upper, env)
    )


def _check_leading(dummy: Entity, array: Entity, dims: Sequence[ActualDim], rank: int) -> None:
    """All dimensions but the last of the dummy are whole ones, so that no element changes its place."""
    if not all(each.whole for each in dims[:-1]):
        raise OtherShape(f"{dummy.shown} has other extents than {array.shown}")
    if len(dims) < rank and dims[-1].upper is None:
        raise OtherShape(f"{dummy.shown} may reach past a dimension of {array.shown}")


def _section(
    dummy: Entity, shape: tuple[Bound, ...], array: Entity, subscripts: tuple[Expr, ...], env: Environment
) -> ActualPart:
    declared = array.shape or ()
    rank = sum(isinstance(each, Section) for each in subscripts)
    if rank != len(shape):
        raise Refused(f"{dummy.shown} has {plural(len(shape), 'dimension')}, the section of {array.shown} has {rank}")
    given, dims = iter(shape), list[Expr | ActualDim]()
    for subscript, theirs in zip(subscripts, declared, strict=True):
        if not isinstance(subscript, Section):
            dims.append(subscript)
            continue
        mine = next(given)
        lower = mine.lower or IntLit(1)
        step = subscript.step or IntLit(1)
        start = subscript.lower or theirs.lower or IntLit(1)
        end = subscript.upper or theirs.upper
        every = subscript.lower is None and subscript.upper is None and subscript.step is None
        if every:
            dims.append(_along(mine, theirs, env))
            continue
        if end is None:
            raise Refused(f"the section of {array.shown} has no end that is known")
        count = section_length(start, end, step)
        if mine.upper is not None and not same(extent(mine.lower, mine.upper), count, env) and len(shape) > 1:
            raise Refused(f"{dummy.shown} has other extents than the section of {array.shown}")
        upper = mine.upper or (count if lower == IntLit(1) else Binary("+", lower, subtract(count, IntLit(1))))
        number = linear(count, env)
        empty = mine.upper is None and not (number.is_constant and number.constant >= 0)
        dims.append(ActualDim(lower=lower, upper=upper, start=start, step=step, maybe_empty=empty))
    return ActualPart(array.name, tuple(dims))


def section_length(start: Expr, end: Expr, step: Expr) -> Expr:
    """How many elements a section has."""
    distance, stride = linear(subtract(end, start), {}), linear(step, {})
    if distance.is_constant and stride.is_constant and stride.constant:
        return IntLit(max(0, (distance.constant + stride.constant) // stride.constant))
    if step == IntLit(1):
        return extent(start, end)
    return Binary("/", Binary("+", subtract(end, start), step), step)


def _from_element(
    dummy: Entity, shape: tuple[Bound, ...], array: Entity, subscripts: tuple[Expr, ...], env: Environment
) -> ActualPart:
    """Sequence association with an element: dimensions from its first on, where none is left before its end."""
    declared = array.shape or ()
    if len(shape) > len(declared):
        raise OtherShape(f"{dummy.shown} has more dimensions than {array.shown}")
    dims: list[Expr | ActualDim] = []
    for at, (subscript, theirs) in enumerate(zip(subscripts, declared, strict=True)):
        if at >= len(shape):
            dims.append(subscript)
            continue
        mine, begins = shape[at], same(subscript, theirs.lower, env)
        if begins:
            along = _along(mine, theirs, env)
        else:
            along = ActualDim(lower=mine.lower or IntLit(1), upper=mine.upper, start=subscript)
        if at + 1 < len(shape) and not (begins and along.whole):
            raise OtherShape(f"{dummy.shown} has other extents than {array.shown}")
        dims.append(along)
    if _crosses(shape, declared, subscripts, env):
        raise OtherShape(f"{dummy.shown} reaches past a dimension of {array.shown}")
    if shape and shape[-1].upper is None and len(shape) < len(declared):
        raise OtherShape(f"{dummy.shown} may reach past a dimension of {array.shown}")
    return ActualPart(array.name, tuple(dims))


def may_cross(dummy: Entity, actual: Expr, array: Entity, names: CallNames, env: Environment) -> bool:
    """Whether a dummy that begins at an element may reach past a dimension, for all that is known. One that is declared
    with one element may have any number of them."""
    if not isinstance(actual, Element) or any(isinstance(each, Section) for each in actual.subscripts):
        return False
    shape = names.shape(dummy.shape or ())
    if shape and shape[-1].upper == IntLit(1):
        return len(shape) < len(array.shape or ())
    return _crosses(shape, array.shape or (), actual.subscripts, env) is None


def _crosses(
    shape: Sequence[Bound], declared: Sequence[Bound], subscripts: Sequence[Expr], env: Environment
) -> bool | None:
    """Whether the last dimension of a dummy that begins at an element is longer than the rest of the actual one; None:
    it is not known."""
    at = len(shape) - 1
    if not shape or len(shape) >= len(declared):
        return False
    end, upper = declared[at].upper, shape[at].upper
    if end is None or upper is None:
        return None
    rest = linear(subtract(add(subtract(end, subscripts[at]), 1), extent(shape[at].lower, upper)), env)
    return rest.constant < 0 if rest.is_constant else None


def is_constant(expr: Expr, entities: Mapping[str, Entity]) -> bool:
    """Whether an expression has the same value everywhere: literals and named constants."""
    match expr:
        case IntLit() | RealLit() | LogicalLit() | StringLit():
            return True
        case Var(name=name):
            return name in entities and "parameter" in entities[name].attributes
        case Unary(operand=operand):
            return is_constant(operand, entities)
        case Binary(left=left, right=right):
            return is_constant(left, entities) and is_constant(right, entities)
        case _:
            return False


def assign(span: Span, target: Expr, value: Expr) -> s.Stmt:
    """A copy of an argument."""
    return s.Assign(span=span, target=target, value=value)
