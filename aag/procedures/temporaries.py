"""Arrays for values without a name: their shapes, and the arrays of the program that they go with."""

from collections.abc import Iterator, Mapping, Sequence

from aag.ir.directives import Bound
from aag.ir.expressions import Binary, Call, Constructor, Element, Expr, ImpliedDo, IntLit, Section, Unary, Var
from aag.ir.intrinsics import INTRINSICS
from aag.ir.linear import add
from aag.ir.ranks import is_array, rank_of
from aag.ir.units import Entity
from aag.ir.visitors import children
from aag.procedures.binding import section_length
from aag.procedures.names import extent

Extents = tuple[Expr, ...]


def shape_of(expr: Expr, entities: Mapping[str, Entity]) -> Extents | None:
    """How many elements an expression has in each dimension; None: that cannot be written."""
    match expr:
        case Var(name=name) if name in entities:
            return tuple(_along(name, at, each) for at, each in enumerate(entities[name].shape or (), start=1))
        case Element(name=name, subscripts=subscripts) if name in entities:
            return _of_section(name, subscripts, entities)
        case Unary(operand=operand):
            return shape_of(operand, entities)
        case Binary(left=left, right=right):
            return shape_of(left if is_array(left, entities) else right, entities)
        case Constructor(values=values):
            return _of_constructor(values, entities)
        case Call(name=name) if name in INTRINSICS:
            return _of_call(expr, entities)
        case _:
            return None


def _along(name: str, dim: int, bound: Bound) -> Expr:
    if bound.upper is None:
        return Call("size", (Var(name), IntLit(dim)))
    return extent(bound.lower, bound.upper)


def _of_section(name: str, subscripts: Sequence[Expr], entities: Mapping[str, Entity]) -> Extents | None:
    found: list[Expr] = []
    declared = entities[name].shape or ()
    for dim, (each, bound) in enumerate(zip(subscripts, declared, strict=False), start=1):
        if isinstance(each, Section):
            first, last = each.lower or bound.lower or IntLit(1), each.upper or bound.upper
            if each.lower is None and each.upper is None and each.step is None:
                found.append(_along(name, dim, bound))
            elif last is None:
                return None
            else:
                found.append(section_length(first, last, each.step or IntLit(1)))
        elif is_array(each, entities):
            inner = shape_of(each, entities)
            if inner is None:
                return None
            found += inner
    return tuple(found)


def _of_constructor(values: Sequence[Expr], entities: Mapping[str, Entity]) -> Extents | None:
    match values:
        case [ImpliedDo(values=(one,), lower=lower, upper=upper, step=None)] if not is_array(one, entities):
            return (extent(lower, upper),)
    if any(isinstance(each, ImpliedDo) or is_array(each, entities) for each in values):
        return None
    return (IntLit(len(values)),)


def _of_call(call: Call, entities: Mapping[str, Entity]) -> Extents | None:
    row = INTRINSICS[call.name]
    given = row.bound(call)
    if rank_of(call, entities) == 0:
        return ()
    match row.form:
        case "elemental":
            arrays = (each for each in given.values() if is_array(each, entities))
            return shape_of(next(arrays), entities)
        case "shift":
            return shape_of(call.args[0], entities)
        case "transpose":
            found = shape_of(call.args[0], entities)
            return None if found is None else found[::-1]
        case "matmul":
            left, right = (shape_of(each, entities) for each in call.args[:2])
            return None if left is None or right is None else left[:-1] + right[1:]
        case "reduction":
            found, dim = shape_of(call.args[0], entities), given.get("dim")
            if found is None or not isinstance(dim, IntLit):
                return None
            return found[: dim.value - 1] + found[dim.value :]
        case "spread":
            found, dim = shape_of(given["source"], entities), given["dim"]
            if found is None or not isinstance(dim, IntLit):
                return None
            return (*found[: dim.value - 1], given["ncopies"], *found[dim.value - 1 :])
        case _:
            return None


def bounds(extents: Extents, declared: Sequence[Bound]) -> tuple[Bound, ...]:
    """The bounds of a dummy of assumed shape whose argument has these extents."""

    def one(length: Expr, bound: Bound) -> Bound:
        first = bound.lower
        if first is None or first == IntLit(1):
            return Bound(lower=None, upper=length)
        return Bound(lower=first, upper=add(Binary("+", first, length), -1))

    return tuple(one(length, bound) for length, bound in zip(extents, declared, strict=True))


def whole_arrays(expr: Expr, rank: int, entities: Mapping[str, Entity]) -> Iterator[str]:
    """The arrays of a rank whose elements an expression combines place by place."""
    match expr:
        case Var(name=name) if name in entities and len(entities[name].shape or ()) == rank:
            yield name
        case Unary() | Binary():
            for each in children(expr):
                yield from whole_arrays(each, rank, entities)
        case Call(name=name, args=args) if name in INTRINSICS and INTRINSICS[name].form in ("elemental", "shift"):
            for each in args:
                yield from whole_arrays(each, rank, entities)
