"""Assignments of values of derived types, component by component."""

from collections.abc import Iterator, Sequence

from aag.diagnostics import Span
from aag.ir import expressions as e
from aag.ir import statements as s
from aag.ir.linear import add
from aag.ir.units import Entity, Type
from aag.ir.visitors import names_in
from aag.records.leaves import ComponentPath, NotSplit, leaves
from aag.records.values import ExpressionSplitter, RecordValue

_UNROLLED = 8
"""Elements of an array component that get an assignment each."""

Pair = tuple[ComponentPath, e.Expr, e.Expr]
"""A component, the variable that it is, and the value that this is given."""


def assigned(values: ExpressionSplitter, statement: s.Assign, *, simple: bool) -> list[s.Stmt]:
    """The assignments of all components. `simple`: only assignments can stand there.

    Raises:
        NotSplit: they are not modelled.
    """
    target, value = values.record(statement.target), values.record(statement.value)
    if target.record != value.record:
        values.error(
            f"a value of type {value.record.name} cannot be assigned to type {target.record.name}", statement.span
        )
        raise NotSplit("")
    made: list[s.Stmt] = []
    pairs: list[Pair] = []
    for leaf in leaves(target.record):
        pairs.append((leaf, target.of(leaf), value.of(leaf)))
    for leaf, into, given in _ordered(values, pairs, statement, made, simple=simple):
        made += _one(values, target, value, (leaf, into, given), statement.span, simple=simple)
    return made


def _ordered(
    values: ExpressionSplitter, pairs: list[Pair], statement: s.Assign, made: list[s.Stmt], *, simple: bool
) -> Iterator[Pair]:
    """The assignments in an order in which none changes what a later one reads; where there is none, `made` copies a
    value first."""
    left = list(pairs)
    reads = {id(each): _read(each) for each in pairs}
    while left:
        for each in left:
            name = _name(each[1])
            if not any(name in reads[id(other)] for other in left if other is not each):
                break
        else:
            each = left[0]
            if simple or isinstance(each[1], e.Element) or each[0].rank or values.before is None:
                raise NotSplit("an assignment that reads several of the components that it changes is not modelled")
            copies = [(leaf, into, _copy(values, leaf, given, statement.span, made)) for leaf, into, given in left]
            yield from copies
            return
        left.remove(each)
        yield each


def _read(pair: Pair) -> frozenset[str]:
    _, into, given = pair
    return names_in(given, *(into.subscripts if isinstance(into, e.Element) else ()))


def _copy(values: ExpressionSplitter, leaf: ComponentPath, given: e.Expr, span: Span, made: list[s.Stmt]) -> e.Expr:
    if leaf.rank:
        raise NotSplit("an assignment that reads several of the components that it changes is not modelled")
    name = fresh(values, "component", leaf.type, span)
    made.append(s.Assign(span=span, target=e.Var(name), value=given))
    return e.Var(name)


def fresh(values: ExpressionSplitter, wanted: str, kind: Type, span: Span) -> str:
    """A new scalar variable."""
    number = 1
    while (name := f"{wanted}_{number}") in {*values.made, *values.scope.entities, *values.scope.functions}:
        number += 1
    none: frozenset[str] = frozenset()
    values.made[name] = Entity(name=name, shown=name, type=kind, shape=None, attributes=none, initial=None, span=span)
    return name


def _name(target: e.Expr) -> str:
    assert isinstance(target, e.Var | e.Element)
    return target.name


def _one(
    values: ExpressionSplitter, target: RecordValue, value: RecordValue, pair: Pair, span: Span, *, simple: bool
) -> Sequence[s.Stmt]:
    """The assignments of one component."""
    leaf, into, given = pair
    if not target.rank or value.rank or not leaf.rank or not (value.variable is not None or values.is_array(given)):
        return [s.Assign(span=span, target=into, value=given)]
    bounds = values.scope.shape(leaf)
    lower = [each.lower or e.IntLit(1) for each in bounds]
    assert isinstance(into, e.Var | e.Element)
    assert target.variable is not None
    outer = target.variable.sections
    if isinstance(given, e.Constructor) and leaf.rank == 1 and len(given.values) <= _UNROLLED:
        places = [add(lower[0], at) for at in range(len(given.values))]
        return [
            s.Assign(span=span, target=e.Element(into.name, (*outer, place), span=into.span), value=each)
            for place, each in zip(places, given.values, strict=True)
        ]
    if simple or value.variable is None:
        raise NotSplit(f"an assignment of one value to many with the array component {leaf.shown} is not modelled")
    kind = Type(base="integer", bytes=4)
    indices = [fresh(values, "element", kind, span) for _ in bounds]
    subscripts = tuple(map(e.Var, indices))
    assert isinstance(given, e.Var | e.Element)
    kept = given.subscripts[: -leaf.rank] if isinstance(given, e.Element) else ()
    body: tuple[s.Stmt, ...] = (
        s.Assign(
            span=span,
            target=e.Element(into.name, (*outer, *subscripts), span=into.span),
            value=e.Element(given.name, (*kept, *subscripts), span=given.span),
        ),
    )
    for index, low, bound in zip(indices, lower, bounds, strict=True):
        assert bound.upper is not None
        body = (s.Do(span=span, var=index, lower=low, upper=bound.upper, step=None, body=body, end=span),)
    return body
