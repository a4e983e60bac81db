"""The elements of named integer constants that are arrays, as the expressions that their initial values write."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod

from aag.ir.directives import Bound
from aag.ir.evaluate import Environment, Unknown, evaluate_int
from aag.ir.expressions import Call, Constructor, Element, Expr, ImpliedDo, IntLit, Var
from aag.ir.visitors import map_expression, names_in

Table = Mapping[tuple[int, ...], Expr]
"""Subscripts -> the element."""

_MOST = 1_000
"""Elements of a constant that is looked at."""


def table_of(shape: Sequence[Bound], initial: Expr, constants: Environment, arrays: frozenset[str]) -> Table:
    """The elements of a constant of that shape; empty where they cannot be listed. `arrays`: names that are no
    scalars."""
    try:
        values = list(_values(initial, constants, arrays))
        implied = IntLit(len(values))  # of a constant that is declared with *
        ranges = [_range(each, implied, constants) for each in shape]
    except Unknown:
        return {}
    count = prod(map(len, ranges))
    if not isinstance(initial, Constructor | Call) and count <= _MOST:
        values *= count
    if len(values) != count:
        return {}
    places = (place[::-1] for place in product(*reversed(ranges)))  # the first subscript changes fastest
    return dict(zip(places, values, strict=True))


def element_of(table: Table, element: Element) -> Expr:
    """What a reference to an element stands for; the reference where its subscripts are not literals."""
    places = tuple(each.value for each in element.subscripts if isinstance(each, IntLit))
    found = table.get(places) if len(places) == len(element.subscripts) else None
    return element if found is None else replace(found, span=element.span)


def literals(table: Table) -> Table:
    """The elements that mean the same in every scope."""
    return {place: each for place, each in table.items() if not names_in(each)}


def _range(bound: Bound, implied: Expr, constants: Environment) -> range:
    lower = 1 if bound.lower is None else evaluate_int(bound.lower, constants)
    upper = evaluate_int(bound.upper or implied, constants)
    return range(lower, upper + (lower if bound.upper is None else 1))


def _values(expr: Expr, constants: Environment, arrays: frozenset[str]) -> Iterator[Expr]:
    """The elements of an initial value in array element order.

    Raises:
        Unknown: they cannot be listed.
    """
    match expr:
        case Constructor(values=values):
            for each in values:
                yield from _values(each, constants, arrays)
        case ImpliedDo(values=values, var=var, lower=lower, upper=upper, step=step):
            first, last = evaluate_int(lower, constants), evaluate_int(upper, constants)
            by = 1 if step is None else evaluate_int(step, constants)
            if not by or abs(last - first) // abs(by) > _MOST:
                raise Unknown(var)
            for value in range(first, last + (1 if by > 0 else -1), by):
                for each in values:
                    yield from _values(_with(each, var, value), constants, arrays)
        case Call(name="reshape", args=(Constructor() as source, _), keywords=()):
            yield from _values(source, constants, arrays)
        case _:
            if names_in(expr) & arrays:
                raise Unknown("array")
            evaluate_int(expr, constants)
            yield expr


def _with(expr: Expr, name: str, value: int) -> Expr:
    return map_expression(expr, lambda each: IntLit(value) if isinstance(each, Var) and each.name == name else each)
