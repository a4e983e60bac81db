"""Elements of arrays whose values the user gives: ``gp(1)`` of an array that the program reads from input."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from msgspec.structs import replace

from aag.ir import directives as d
from aag.ir import statements as s
from aag.ir.evaluate import Unknown, evaluate_int
from aag.ir.expressions import Element, Expr, IntLit
from aag.ir.units import Entity, Unit
from aag.ir.visitors import (
    Body,
    map_expression,
    map_operands,
    map_own,
    mapped,
    names_in,
    own_expressions,
    walk_expressions,
    walk_statements,
)
from aag.wording import plural

_NAME = re.compile(r"([a-z]\w*)\((-?\d+(?:,-?\d+)*)\)")
_MOST = 64
"""Elements of an array that hints list."""


def element_name(text: str) -> str:
    """What an option calls an element, in lower case and without blanks; empty where it names none.

    >>> element_name("GP( 1 )"), element_name("n")
    ('gp(1)', '')
    """
    plain = "".join(text.lower().split())
    return plain if _NAME.fullmatch(plain) else ""


def array_of(element: str) -> str:
    """The array of an element."""
    return element.partition("(")[0]


@lru_cache(maxsize=16)
def with_elements(unit: Unit, values: tuple[tuple[str, Expr], ...]) -> Unit:
    """The unit with values in place of elements, except where these get a value."""
    if not values:
        return unit
    given, constants = dict(values), _constants(unit)

    def one(expr: Expr) -> Expr:
        name = _named(expr, constants) if isinstance(expr, Element) else ""
        return given.get(name, expr)

    def everywhere(expr: Expr) -> Expr:
        return map_expression(expr, one)

    def inside(expr: Expr) -> Expr:
        return map_operands(expr, everywhere)

    def statement(each: s.Stmt) -> s.Stmt:
        match each:
            case s.Assign(target=target, value=value):
                made: s.Stmt = replace(each, target=inside(target), value=everywhere(value))
            case s.CallStmt() | s.Allocate() | s.Io(kind="read"):
                made = map_own(each, inside)
            case _:
                made = map_own(each, everywhere)
        return mapped(made, body)

    def body(statements: Body) -> Body:
        return tuple(map(statement, statements))

    def bound(each: d.Bound) -> d.Bound:
        lower, upper = (None if part is None else everywhere(part) for part in (each.lower, each.upper))
        return d.Bound(lower=lower, upper=upper)

    def entity(each: Entity) -> Entity:
        return replace(each, shape=tuple(map(bound, each.shape))) if each.shape else each

    return replace(unit, body=body(unit.body), entities=tuple(map(entity, unit.entities)))


def why_not(unit: Unit, element: str) -> str:
    """Why an element cannot be given a value; empty where it can."""
    name = array_of(element)
    array = unit.entity(name)
    if array is None or array.shape is None:
        return f"the program has no array {name}"
    if element.count(",") + 1 != len(array.shape):
        return f"{array.shown} has {plural(len(array.shape), 'dimension')}"
    if array.type.base not in ("integer", "real", "logical"):
        return f"{array.shown} is of {array.type.base.upper()}"
    if any(d.mapped_name(each) == name for each in unit.directives):
        return f"{array.shown} is distributed"
    lines = [each.span.line for each in walk_statements(unit.body) if _assigns(each, name)]
    if lines or any(name in names_in(*each.members) for each in unit.equivalences):
        where = f"line {lines[0]} assigns it" if lines else "it shares its storage"
        return f"the program computes {array.shown}: {where}"
    return "" if element in used_elements(unit).get(name, ()) else f"the program does not use {element}"


def used_elements(unit: Unit) -> Mapping[str, tuple[str, ...]]:
    """The elements with constant subscripts that a unit reads, by array."""
    constants = _constants(unit)
    arrays = {each.name for each in unit.entities if each.shape}
    found: dict[str, dict[str, None]] = {}
    for expr in (*_values(unit.body), *(part for each in unit.entities for part in _extents(each))):
        for each in walk_expressions(expr):
            if isinstance(each, Element) and each.name in arrays and (name := _named(each, constants)):
                found.setdefault(each.name, {})[name] = None
    return {name: tuple(sorted(each))[:_MOST] for name, each in found.items()}


def _values(body: Iterable[s.Stmt]) -> Iterator[Expr]:
    """Expressions whose values statements use."""
    for each in walk_statements(body):
        match each:
            case s.Assign(target=Element(subscripts=subscripts), value=value):
                yield from (*subscripts, value)
            case s.Assign(value=value):
                yield value
            case s.Io(kind="read", items=items) | s.Allocate(items=items) | s.CallStmt(args=items):
                yield from (part for item in items if isinstance(item, Element) for part in item.subscripts)
            case _:
                yield from own_expressions(each)


def _extents(entity: Entity) -> Iterator[Expr]:
    yield from (part for each in entity.shape or () for part in (each.lower, each.upper) if part is not None)


def _assigns(statement: s.Stmt, name: str) -> bool:
    match statement:
        case s.Assign(target=target):
            return getattr(target, "name", "") == name
    return False


def _constants(unit: Unit) -> Mapping[str, int]:
    found = {}
    for each in unit.entities:
        if "parameter" in each.attributes and isinstance(each.initial, IntLit):
            found[each.name] = each.initial.value
    return found


def _named(element: Element, constants: Mapping[str, int]) -> str:
    """What options call an element; empty where a subscript is not constant."""
    try:
        places = [str(evaluate_int(each, constants)) for each in element.subscripts]
    except Unknown:
        return ""
    return f"{element.name}({','.join(places)})"
