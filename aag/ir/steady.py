"""Scalars that have one value as long as they have one: assigned once, or only declared with a value."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from aag.ir import statements as s
from aag.ir.control import control_of
from aag.ir.costs import changed_by
from aag.ir.evaluate import Unknown, Value, evaluate
from aag.ir.expressions import Call, Component, Element, Expr, ImpliedDo, Substring, Var
from aag.ir.intrinsics import INTRINSICS
from aag.ir.units import Entity, Unit
from aag.ir.visitors import bodies, names_in, own_expressions, walk_expressions, walk_statements

Passed = Callable[[str, Sequence[Expr], Sequence[tuple[str, Expr]]], Iterator[str]]
"""The names that a call of a procedure with these arguments may assign."""


def all_passed(_: str, args: Sequence[Expr], keywords: Sequence[tuple[str, Expr]]) -> Iterator[str]:
    """A procedure may assign all its arguments."""
    yield from (each.name for each in (*args, *(value for _, value in keywords)) if isinstance(each, Var | Element))


def assigned_by_call(call: s.CallStmt, passed: Passed) -> Iterator[str]:
    """The names that a CALL may assign."""
    if call.into is not None:
        yield call.into.name
    if call.cost is None:
        yield from passed(call.name, call.args, call.keywords)
    else:
        yield from changed_by(call.args, call.cost)


def steady(unit: Unit, env: Mapping[str, Value], passed: Passed) -> dict[str, Value]:
    """The values of integer scalars that never change.

    Args:
        unit: A program unit.
        env: The values of constants.
        passed: What calls may assign.
    """
    given = {
        each.target.name: each.value
        for each in walk_statements(unit.body)
        if isinstance(each, s.Assign) and isinstance(each.target, Var)
    }
    times = assignments(unit, passed)
    shared = {name for each in unit.equivalences for name in names_in(*each.members)}
    if any(name not in INTRINSICS for name in _called(unit.body)):
        shared |= {name for common in unit.commons for name in common.names}
    waiting: dict[str, Expr] = {}
    for entity in unit.entities:
        if not _is_plain(entity) or entity.name in shared:
            continue
        if entity.initial is not None and not times.get(entity.name):
            waiting[entity.name] = entity.initial
        elif entity.initial is None and times.get(entity.name) == 1 and entity.name in given:
            waiting[entity.name] = given[entity.name]
    return _values(waiting, env)


def defined_once(unit: Unit, passed: Passed) -> frozenset[str]:
    """The integer scalars that get a value in a single place, which is in no loop: READ or an assignment."""
    times = assignments(unit, passed)
    shared = {name for each in unit.equivalences for name in names_in(*each.members)}
    shared |= {name for common in unit.commons for name in common.names}
    own = {each.name for each in unit.entities if _is_plain(each) and each.initial is None} - shared
    outside = {name for each in unit.body if not bodies(each) for name in _assigned(each, unit, passed)}
    return frozenset(name for name in own & outside if times[name] == 1)


def assignments(unit: Unit, passed: Passed) -> Mapping[str, int]:
    """In how many places a unit, or a procedure inside of it, may give each variable a value."""
    times = Counter(unit.arguments)
    for each in (unit, *unit.contains):
        for statement in walk_statements(each.body):
            times.update(_assigned(statement, each, passed))
    return times


def _called(body: Sequence[s.Stmt]) -> Iterator[str]:
    """The procedures that are called and may assign more than their arguments."""
    for each in walk_statements(body):
        if isinstance(each, s.CallStmt) and each.cost is None:
            yield each.name
        for whole in own_expressions(each):
            yield from (part.name for part in walk_expressions(whole) if isinstance(part, Call))


def _is_plain(entity: Entity) -> bool:
    scalar = entity.shape is None and entity.type.base == "integer"
    return scalar and not {"parameter", "pointer", "target"} & entity.attributes


def _stored(items: Sequence[Expr]) -> Iterator[str]:
    """The names that the items of a READ give values to, not those that say which elements."""
    for item in items:
        match item:
            case Var(name=name) | Element(name=name):
                yield name
            case ImpliedDo(values=values, var=var):
                yield var
                yield from _stored(values)
            case Component(base=base) | Substring(base=base):
                yield from _stored((base,))
            case _:
                yield from names_in(item)


def _assigned(statement: s.Stmt, unit: Unit, passed: Passed) -> Iterator[str]:
    match statement:
        case s.Assign(target=Var(name=name)) | s.Do(var=name):
            yield name
        case s.Forall(indices=indices):
            yield from (each.name for each in indices)
        case s.Io(kind=kind, items=items):
            yield from control_of(statement).sets
            yield from _stored(items) if kind == "read" else ()
        case s.CallStmt():
            yield from assigned_by_call(statement, passed)
        case s.Opaque():
            yield from (each.name for each in unit.entities)
    for whole in own_expressions(statement):
        for each in walk_expressions(whole):
            if isinstance(each, Call) and each.name not in INTRINSICS:
                yield from passed(each.name, each.args, each.keywords)
            elif isinstance(each, ImpliedDo):
                yield each.var


def _values(waiting: dict[str, Expr], env: Mapping[str, Value]) -> dict[str, Value]:
    """Evaluate until nothing changes."""
    found: dict[str, Value] = {}
    progress = True
    while progress:
        progress = False
        for name, expr in list(waiting.items()):
            try:
                value = evaluate(expr, {**found, **env})
            except Unknown:
                continue
            del waiting[name]
            progress = True
            if isinstance(value, int) and not isinstance(value, bool):
                found[name] = value
    return found
