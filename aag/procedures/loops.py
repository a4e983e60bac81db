"""FORALL, WHERE and array assignments that call functions of several statements, as loops with one call each.

    forall (i = 1:n) y(i) = f(x(i))        do i = 1, n
    y = f(x)                         -->     y(i) = f(x(i))
                                           end do

This needs an assignment that does not read other elements of what it assigns.
"""

from collections.abc import Callable, Mapping, Sequence

from aag.diagnostics import Span
from aag.ir import statements as s
from aag.ir.directives import Bound, Independent
from aag.ir.expressions import Call, Constructor, Element, Expr, ImpliedDo, IntLit, Section, Var
from aag.ir.intrinsics import INTRINSICS
from aag.ir.linear import add, subtract
from aag.ir.units import Entity
from aag.ir.visitors import map_expression, map_operands, names_in, walk_expressions

NewIndex = Callable[[str, Span], str]
"""Declares an integer that is called like another one, if it can be."""


class _Unfit(Exception):
    """The statement cannot be written as loops."""


def calling_loops(
    statement: s.Stmt, entities: Mapping[str, Entity], long: frozenset[str], new: NewIndex
) -> s.Stmt | None:
    """The loops that say the same as a statement; None where it needs none, or cannot be written so.

    Args:
        statement: The statement.
        entities: The names of the program.
        long: Functions that are more than a formula.
        new: Declares the variables of the loops.
    """
    try:
        match statement:
            case s.Forall(body=(s.Assign(target=Element() as target, value=value) as inner,), mask=mask):
                if not _calls(long, value, mask) or _is_section(target):
                    return None
                if target.name in names_in(value, mask, *target.subscripts):
                    return None
                return _of_forall(statement, inner, new)
            case s.Where(branches=(s.WhereBranch(mask=mask, body=(s.Assign() as inner,)),)) if mask is not None:
                return _of_arrays(inner, mask, entities, long, new)
            case s.Assign():
                return _of_arrays(statement, None, entities, long, new)
            case _:
                return None
    except _Unfit:
        return None


def _calls(names: frozenset[str], *exprs: Expr | None) -> bool:
    parts = (part for each in exprs if each is not None for part in walk_expressions(each))
    return any(isinstance(part, Call) and part.name in names for part in parts)


def _is_section(target: Element) -> bool:
    return any(isinstance(each, Section) for each in target.subscripts)


def _of_forall(forall: s.Forall, inner: s.Assign, new: NewIndex) -> s.Stmt:
    names = {each.name: Var(new(each.name, forall.span)) for each in forall.indices}

    def own(expr: Expr) -> Expr:
        return map_expression(expr, lambda part: names.get(part.name, part) if isinstance(part, Var) else part)

    body: s.Stmt = s.Assign(span=inner.span, target=own(inner.target), value=own(inner.value))
    if forall.mask is not None:
        body = s.guarded(own(forall.mask), (body,), body.span)
    for each in reversed(forall.indices):
        body = _loop(names[each.name].name, each.lower, each.upper, each.step, body)
    return body


def _of_arrays(
    assign: s.Assign, mask: Expr | None, entities: Mapping[str, Entity], long: frozenset[str], new: NewIndex
) -> s.Stmt | None:
    target = assign.target
    if not _calls(long, assign.value, mask) or not isinstance(target, Var | Element):
        return None
    ranges = _ranges(target, entities)
    if not ranges:
        return None
    indices = [new("i", assign.span) for _ in ranges]
    own = _element(target, indices, ranges, entities)
    if isinstance(target, Element) and target.name in names_in(*target.subscripts):
        return None

    def one(expr: Expr) -> Expr:
        match expr:
            case Var() | Element() if _ranges(expr, entities):
                found = _element(expr, indices, ranges, entities)
                if found.name == own.name and found != own:
                    raise _Unfit
                return found
            case Call(name=name) if name not in long and (
                name not in INTRINSICS or INTRINSICS[name].form != "elemental"
            ):
                raise _Unfit
            case Constructor() | ImpliedDo():
                raise _Unfit
            case Element():
                if expr.name == own.name:
                    raise _Unfit
                return expr
            case _:
                return map_operands(expr, one)

    body: s.Stmt = s.Assign(span=assign.span, target=own, value=one(assign.value))
    if mask is not None:
        body = s.guarded(one(mask), (body,), body.span)
    for name, (lower, upper) in reversed(list(zip(indices, ranges, strict=True))):
        body = _loop(name, lower, upper, None, body)
    return body


def _ranges(expr: Var | Element, entities: Mapping[str, Entity]) -> list[tuple[Expr, Expr]]:
    """The first and last subscript of each dimension of a whole array or section; none of a scalar."""
    entity = entities.get(expr.name)
    if entity is None or entity.shape is None:
        return []
    whole = [_bounds(expr.name, dim, bound) for dim, bound in enumerate(entity.shape, 1)]
    if isinstance(expr, Var):
        return whole
    found = []
    for (lower, upper), each in zip(whole, expr.subscripts, strict=False):
        if isinstance(each, Section):
            if each.step is not None:
                raise _Unfit
            found.append((each.lower or lower, each.upper or upper))
        elif any(
            isinstance(part, Var) and part.name in entities and entities[part.name].shape
            for part in walk_expressions(each)
        ):
            raise _Unfit  # a vector subscript
    return found


def _bounds(name: str, dim: int, bound: Bound) -> tuple[Expr, Expr]:
    if bound.upper is not None:
        return bound.lower or IntLit(1), bound.upper
    array, number = Var(name), IntLit(dim)
    return Call("lbound", (array, number)), Call("ubound", (array, number))


def _element(
    expr: Var | Element, indices: Sequence[str], ranges: Sequence[tuple[Expr, Expr]], entities: Mapping[str, Entity]
) -> Element:
    """The element of a whole array or section that belongs to the indices of the target."""
    own = _ranges(expr, entities)
    if len(own) != len(ranges):
        raise _Unfit
    places = iter(
        add(Var(name), subtract(lower, first)) if lower != first else Var(name)
        for name, (lower, _), (first, _) in zip(indices, own, ranges, strict=True)
    )
    if isinstance(expr, Var):
        return Element(expr.name, tuple(places), span=expr.span)
    subscripts = tuple(next(places) if isinstance(each, Section) else each for each in expr.subscripts)
    return Element(expr.name, subscripts, span=expr.span)


def _loop(name: str, lower: Expr, upper: Expr, step: Expr | None, body: s.Stmt) -> s.Do:
    span = body.span
    return s.Do(
        span=span,
        var=name,
        lower=lower,
        upper=upper,
        step=step,
        body=(body,),
        end=span,
        independent=Independent(span=span),
    )
