"""BLOCK DATA: its initial values move to the main program, where the variables of the same common blocks are."""

from collections.abc import Iterable

from msgspec.structs import replace

from aag.ir.evaluate import Unknown, evaluate
from aag.ir.expressions import Expr, IntLit, RealLit, Var
from aag.ir.units import Common, Entity, Unit
from aag.ir.visitors import map_expression, names_in
from aag.source.data_values import size_of
from aag.source.declarations import Declarations
from aag.source.units import ReadUnit


def with_block_data(units: tuple[Unit, ...], reads: Iterable[ReadUnit]) -> tuple[Unit, ...]:
    """The units with the initial values of BLOCK DATA in the main program, if its common blocks have the same variables
    in the same order. Others stay where they are."""
    found = list(units)
    names = [each.names for each in reads]
    mains = [at for at, unit in enumerate(found) if unit.kind == "program"]
    for at, unit in enumerate(found):
        for main in mains if unit.kind == "block_data" else ():
            for common in unit.commons:
                other = next((each for each in found[main].commons if each.block == common.block), None)
                if other is not None:
                    _move(found, (at, common, names[at]), (main, other, names[main]))
    return tuple(found)


def _move(
    units: list[Unit], source: tuple[int, Common, Declarations], target: tuple[int, Common, Declarations]
) -> None:
    (data, common, known), (main, other, mine) = source, target
    given = [units[data].entity(name) for name in common.names]
    own = [units[main].entity(name) for name in other.names]
    if len(given) != len(own) or not all(_alike(a, known, b, mine) for a, b in zip(given, own, strict=True)):
        return
    moved: dict[str, Expr] = {}
    emptied: set[str] = set()
    for one, to in zip(given, own, strict=True):
        value = None if one is None or one.initial is None else _alone(one.initial, known)
        if one is not None and to is not None and value is not None and to.initial is None:
            moved[to.name] = value
            emptied.add(one.name)
    units[main] = replace(
        units[main],
        entities=tuple(replace(each, initial=moved.get(each.name, each.initial)) for each in units[main].entities),
    )
    units[data] = replace(
        units[data],
        entities=tuple(replace(each, initial=None) if each.name in emptied else each for each in units[data].entities),
    )


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
    """A value without the PARAMETERs of its unit; None where one is no number."""

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
