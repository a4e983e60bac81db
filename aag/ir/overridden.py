"""Scalars whose values the user gives although the program computes them: these values hold instead.

k = k + 1       becomes   k = 20
k = sum(b)      becomes   k = sum(b), k = 20       for the work is done all the same
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache

from msgspec.structs import replace

from aag.ir import statements as s
from aag.ir.expressions import Call, Expr, Var
from aag.ir.units import Unit
from aag.ir.visitors import Body, mapped, names_in, walk_expressions, walk_statements


def computed_by(unit: Unit, names: Iterable[str]) -> frozenset[str]:
    """Those of some scalars that an assignment or the declaration gives a value."""
    declared = (each.name for each in unit.entities if each.initial is not None and "parameter" not in each.attributes)
    assigned = (
        each.target.name
        for each in walk_statements(unit.body)
        if isinstance(each, s.Assign) and isinstance(each.target, Var)
    )
    arrays = {each.name for each in unit.entities if each.shape is not None}
    return frozenset(names).intersection((*declared, *assigned)) - arrays


@lru_cache(maxsize=16)
def with_scalars(unit: Unit, values: tuple[tuple[str, Expr], ...]) -> Unit:
    """The unit with given values in place of all that it assigns to some scalars."""
    if not values:
        return unit
    given, arrays = dict(values), {each.name for each in unit.entities if each.shape is not None}

    def statement(each: s.Stmt) -> Iterator[s.Stmt]:
        if not isinstance(each, s.Assign) or not isinstance(each.target, Var) or each.target.name not in given:
            yield mapped(each, body)
            return
        works = any(isinstance(part, Call) for part in walk_expressions(each.value)) or names_in(each.value) & arrays
        value = given[each.target.name]
        if works:
            yield each
            behind = replace(each.span, column=max(each.span.column + 1, each.span.end_column))  # a place of its own
            yield replace(each, span=behind, value=value)
        else:
            yield replace(each, value=value)

    def body(statements: Body) -> Body:
        return tuple(one for each in statements for one in statement(each))

    entities = (
        each if each.initial is None or each.name not in given else replace(each, initial=given[each.name])
        for each in unit.entities
    )
    return replace(unit, body=body(unit.body), entities=tuple(entities))
