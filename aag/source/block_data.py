"""BLOCK DATA: its initial values move to the units with the same common blocks."""

from collections.abc import Container, Iterable, Mapping

from msgspec.structs import replace

from aag.ir.evaluate import Unknown, evaluate
from aag.ir.expressions import Expr, IntLit, RealLit, Var
from aag.ir.units import Common, Entity, Unit
from aag.ir.visitors import map_expression, names_in
from aag.source.data_values import size_of
from aag.source.declarations import Declarations
from aag.source.units import ReadUnit


def with_block_data(units: tuple[Unit, ...], reads: Iterable[ReadUnit]) -> tuple[Unit, ...]:
    """The units with the initial values of BLOCK DATA in every unit whose common blocks have the same variables in the
    same order. Other values stay in BLOCK DATA."""
    found = list(units)
    names = [each.names for each in reads]
    for at, data in enumerate(units):
        for common in data.commons if data.kind == "block_data" else ():
            for to, unit in enumerate(units):
                other = next((each for each in unit.commons if each.block == common.block), None)
                if unit.kind != "block_data" and other is not None:
                    moved = _values((data, common, names[at]), (unit, other, names[to]))
                    found[to] = _with(found[to], moved)
                    found[at] = _without(found[at], {name for name, _ in moved.values()})
    return tuple(found)


def _values(
    source: tuple[Unit, Common, Declarations], target: tuple[Unit, Common, Declarations]
) -> dict[str, tuple[str, Expr]]:
    """Variable of a unit -> the variable of BLOCK DATA and its value."""
    (data, common, known), (unit, other, mine) = source, target
    given = [data.entity(name) for name in common.names]
    own = [unit.entity(name) for name in other.names]
    if len(given) != len(own) or not all(_alike(a, known, b, mine) for a, b in zip(given, own, strict=True)):
        return {}
    found: dict[str, tuple[str, Expr]] = {}
    for one, to in zip(given, own, strict=True):
        value = None if one is None or one.initial is None else _alone(one.initial, known)
        if one is not None and to is not None and value is not None and to.initial is None:
            found[to.name] = (one.name, value)
    return found


def _with(unit: Unit, values: Mapping[str, tuple[str, Expr]]) -> Unit:
    given = (replace(each, initial=values[each.name][1]) if each.name in values else each for each in unit.entities)
    return replace(unit, entities=tuple(given))


def _without(unit: Unit, names: Container[str]) -> Unit:
    left = (replace(each, initial=None) if each.name in names else each for each in unit.entities)
    return replace(unit, entities=tuple(left))


def _alike(one: Entity | None, known: Declarations, other: Entity | None, mine: Declarations) -> bool:
    """Whether two variables have the same type and shape."""
    if one is None or other is None or one.type != other.type or len(one.shape or ()) != len(other.shape or ()):
        return False
    try:
        sizes = (size_of(known.names[one.name], known.constants), size_of(mine.names[other.name], mine.constants))
    except (Unknown, KeyError):
        return False
    return sizes[0] == sizes[1]


def _alone(value: Expr, known: Declarations) -> Expr | None:
    """A value with the PARAMETERs of its unit replaced by numbers; None if one of them is not a number."""

    def one(expr: Expr) -> Expr:
        if not isinstance(expr, Var):
            return expr
        try:
            number = evaluate(expr, known.constants)
        except Unknown:
            return expr
        if isinstance(number, int) and not isinstance(number, bool):
            return IntLit(number, span=expr.span)
        return RealLit(number, f"{number!r}d0", True, span=expr.span) if isinstance(number, float) else expr

    found = map_expression(value, one)
    return None if names_in(found) else found
