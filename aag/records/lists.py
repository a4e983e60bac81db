"""Items of input, output and ALLOCATE that are of derived types."""

from collections.abc import Iterator

from aag.diagnostics import Span
from aag.ir import expressions as e
from aag.ir.directives import Bound
from aag.ir.linear import linear
from aag.ir.units import Type
from aag.records.assignments import fresh
from aag.records.designators import WHOLE, Designator, NamePart
from aag.records.leaves import ComponentPath, NotSplit, leaf_name, leaves
from aag.records.values import ExpressionSplitter


def transferred(values: ExpressionSplitter, item: e.Expr, span: Span) -> Iterator[e.Expr]:
    """What input or output transfers for one item: the components of each element in turn.

    Raises:
        NotSplit: it is not modelled.
    """
    if isinstance(item, e.ImpliedDo):
        inner = tuple(part for each in item.values for part in transferred(values, each, span))
        step = None if item.step is None else values.value(item.step)
        lower, upper = values.value(item.lower), values.value(item.upper)
        yield e.ImpliedDo(inner, item.var, lower, upper, step, span=item.span)
        return
    if not values.is_record(item):
        yield values.value(item)
        return
    value = values.record(item)
    if value.variable is None:
        value = values.kept(value, item)
    assert value.variable is not None
    yield from _components(values, value.variable, span)


def _components(values: ExpressionSplitter, variable: Designator, span: Span) -> Iterator[e.Expr]:
    """The components of a variable, for each of its elements."""
    record = variable.type.record
    if record is None:
        yield variable.reference()
        return
    parts = list(leaves(record))
    if values.rank(variable) and (len(parts) > 1 or parts[0].rank):
        yield from _elements(values, variable, span)
        return
    for each in record.fields:
        part = NamePart(len(each.shape or ()), None)
        path, places = (*variable.path, each.name), (*variable.parts, part)
        yield from _components(values, Designator(variable.entity, path, places, each.type, variable.span), span)


def _elements(values: ExpressionSplitter, variable: Designator, span: Span) -> Iterator[e.Expr]:
    """Loops over the elements of an array, the first dimension fastest."""
    loops: list[tuple[str, e.Expr, e.Expr, e.Expr | None]] = []
    made: list[NamePart] = []
    for each, bounds in zip(variable.parts, _bounds(values, variable), strict=True):
        given = (WHOLE,) * each.rank if each.subscripts is None else each.subscripts
        subscripts: list[e.Expr] = []
        for at, (subscript, bound) in enumerate(zip(given, bounds, strict=True)):
            if isinstance(subscript, e.Section):
                index = fresh(values, "item", Type(base="integer", bytes=4), span)
                loops.append((index, *_limits(variable, subscript, bound, at), subscript.step))
                subscripts.append(e.Var(index))
            elif values.is_array(subscript):
                raise NotSplit("input or output with a vector subscript is not modelled")
            else:
                subscripts.append(subscript)
        made.append(NamePart(each.rank, tuple(subscripts) if given else None))
    element = Designator(variable.entity, variable.path, tuple(made), variable.type, variable.span)
    items = tuple(_components(values, element, span))
    for index, lower, upper, step in loops:
        items = (e.ImpliedDo(items, index, lower, upper, step, span=variable.span),)
    yield from items


def _limits(variable: Designator, subscript: e.Section, bound: Bound, at: int) -> tuple[e.Expr, e.Expr]:
    """The first and the last index of a section."""
    first, last = (bound.lower or e.IntLit(1), bound.upper)
    if last is None:
        first, last = _inquired(variable, at)
    if subscript.step is not None and None in (subscript.lower, subscript.upper):
        step = linear(subscript.step, {})
        if not step.is_constant:
            raise NotSplit("input or output of a section without bounds and with a variable stride is not modelled")
        first, last = (first, last) if step.constant > 0 else (last, first)
    return subscript.lower or first, subscript.upper or last


def _inquired(variable: Designator, at: int) -> tuple[e.Expr, e.Expr]:
    """The bounds of a dimension of an allocated array."""
    assert variable.type.record is not None
    first = next(leaves(variable.type.record))
    dim = (e.Var(leaf_name(variable.entity.name, (*variable.path, *first.path))), e.IntLit(at + 1))
    return e.Call("lbound", dim), e.Call("ubound", dim)


def _bounds(values: ExpressionSplitter, variable: Designator) -> Iterator[tuple[Bound, ...]]:
    """The dimensions of each part of a reference."""
    yield variable.entity.shape or ()
    record = variable.entity.type.record
    for name in variable.path:
        assert record is not None
        component = record.component(name)
        assert component is not None
        leaf = ComponentPath((name,), component.shown, component.type, (component.shape or (),), (record.home,))
        yield values.scope.shape(leaf)
        record = component.type.record


def allocations(values: ExpressionSplitter, item: e.Expr) -> Iterator[e.Expr]:
    """What ALLOCATE or DEALLOCATE makes of one item: all of its components.

    Raises:
        NotSplit: it is not modelled.
    """
    if not isinstance(item, e.Var | e.Element) or values.designator(item) is None:
        yield values.value(item)
        return
    value = values.record(item)
    for leaf in leaves(value.record):
        bounds = values.scope.shape(leaf)
        if isinstance(item, e.Element) and leaf.rank:
            inner = (each.upper if each.lower is None else e.Section(each.lower, each.upper, None) for each in bounds)
            given = tuple(map(values.value, item.subscripts))
            dims = (*given, *(each for each in inner if each is not None))
            yield e.Element(leaf_name(item.name, leaf.path), dims, span=item.span)
        else:
            yield value.of(leaf)
