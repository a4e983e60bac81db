"""Scalars that only select elements, as the row of a pivot: where a run cannot tell one value, one is taken (D8).

Such a scalar decides which processor owns an element, and no bound and no branch, unless through the contents of arrays
that are not of integers. It is then taken to select the middle of the dimension, which the result says.
"""

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct, structs

from aag.ir import statements as s
from aag.ir.evaluate import Unknown, Value, evaluate_int
from aag.ir.expressions import Binary, Element, Expr, IntLit, Section, Var
from aag.ir.units import Unit
from aag.ir.visitors import (
    backward_slice,
    bodies,
    children,
    map_expression,
    names_in,
    own_expressions,
    walk_expressions,
    walk_statements,
)


class Selected(Struct, frozen=True):
    """The value that a scalar is taken to have, the array in which it selects, and the line where it does so first."""

    value: int
    array: str
    line: int


def selected(unit: Unit, name: str, constants: Mapping[str, Value]) -> Selected | None:
    """The value to be taken for a scalar; None where it decides more than which elements are used.

    Args:
        unit: The program.
        name: The scalar.
        constants: The values of constants and of given scalars.
    """
    statements = tuple(walk_statements(unit.body))
    content = frozenset(each.name for each in unit.entities if each.shape is not None and each.type.base != "integer")
    deciding = (_decided(each, content) for each in _deciding(statements))
    assigns = [structs.replace(each, value=_decided(each.value, content)) for each in _assigns(statements, content)]
    if name in backward_slice(names_in(*deciding) - content, assigns) or _scatters(unit.body, name):
        return None
    own = {id(each) for one in statements if _is_index(one, name) for each in walk_statements((one,))}
    for statement in statements:
        for whole in own_expressions(statement) if id(statement) not in own else ():
            for each in walk_expressions(whole):
                found = _middle(unit, each, name, constants) if isinstance(each, Element) else None
                if found is not None and isinstance(each, Element):
                    return Selected(found, each.name, statement.span.line)
    return None


def _is_index(statement: s.Stmt, name: str) -> bool:
    """Whether a FORALL has an index of the same name."""
    return isinstance(statement, s.Forall) and any(each.name == name for each in statement.indices)


def _middle(unit: Unit, element: Element, name: str, constants: Mapping[str, Value]) -> int | None:
    """The middle of the dimension in which a scalar selects an element."""
    entity = unit.entity(element.name)
    if entity is None or entity.shape is None:
        return None
    for subscript, bound in zip(element.subscripts, entity.shape, strict=False):
        if isinstance(subscript, Section) or name not in names_in(subscript) or bound.upper is None:
            continue
        try:
            lower = evaluate_int(bound.lower or IntLit(1), constants)
            return (lower + evaluate_int(bound.upper, constants)) // 2
        except Unknown:
            continue
    return None


def _deciding(statements: Iterable[s.Stmt]) -> Iterator[Expr]:
    """Bounds, extents and conditions, but for what elements these select and for tests of equality."""
    for statement in statements:
        plain = isinstance(statement, s.Assign | s.Io | s.CallStmt)
        for whole in own_expressions(statement):
            yield from _sections(whole)
            if not plain:
                yield map_expression(whole, _without)


def _assigns(statements: Iterable[s.Stmt], content: frozenset[str]) -> Iterator[s.Assign]:
    """The assignments, but for those to the arrays of `content`."""
    for each in statements:
        if isinstance(each, s.Assign):
            target = each.target
            if not (isinstance(target, Var | Element) and target.name in content):
                yield each


def _decided(expr: Expr, content: frozenset[str]) -> Expr:
    """An expression with nothing in place of elements of the arrays of `content`: which way a program takes because of
    them is never read from a prediction, so that it does not matter either which elements these are."""
    return map_expression(expr, lambda each: IntLit(0) if isinstance(each, Element) and each.name in content else each)


def _sections(expr: Expr) -> Iterator[Expr]:
    if isinstance(expr, Section):
        yield expr
    for child in children(expr):
        yield from _sections(child)


def _without(expr: Expr) -> Expr:
    """An expression with nothing in place of subscripts and of tests of equality."""
    match expr:
        case Element(name=name):
            return Var(name)
        case Binary(op="==" | "/="):
            return IntLit(0)
        case _:
            return expr


def _scatters(body: Iterable[s.Stmt], name: str) -> bool:
    """Whether the iterations of a loop assign to elements that each of them selects anew: then no one value will do.
    Where loops inside it assign to elements, too, as after the swap of a pivot, the single ones do not matter."""
    for each in body:
        for inner in bodies(each):
            if _scatters(inner, name):
                return True
        if isinstance(each, s.Do):
            own = list(_own(each.body, name))
            anew = any(isinstance(one, s.Assign) and one.target == Var(name) for one in own)
            single = any(isinstance(one, s.Assign) and _selects(one.target, name) for one in own)
            if anew and single and not any(isinstance(one, s.Do) and _fills(one) for one in own):
                return True
    return False


def _fills(loop: s.Do) -> bool:
    """Whether a loop assigns to elements."""
    return any(isinstance(one, s.Assign) and isinstance(one.target, Element) for one in walk_statements(loop.body))


def _own(body: Iterable[s.Stmt], name: str) -> Iterator[s.Stmt]:
    """The statements of a body but for those in loops inside it, and in FORALLs with an index of the same name."""
    for each in body:
        yield each
        if not isinstance(each, s.Do | s.DoWhile) and not _is_index(each, name):
            for inner in bodies(each):
                yield from _own(inner, name)


def _selects(target: Expr, name: str) -> bool:
    """Whether a target is one element, which a scalar selects."""
    if not isinstance(target, Element) or any(isinstance(each, Section) for each in target.subscripts):
        return False
    return name in names_in(*target.subscripts)
