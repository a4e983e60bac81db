"""The names that a user can give values: those that decide shapes, mappings, the flow, or where memory is touched."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from aag.ir import directives as d
from aag.ir import statements as s
from aag.ir.expressions import Call, Component, Constructor, Element, Expr, ImpliedDo, OpaqueExpr, Section, Var
from aag.ir.intrinsics import INTRINSICS
from aag.ir.steady import all_passed, assignments
from aag.ir.units import Unit
from aag.ir.visitors import backward_slice, names_in, own_expressions, walk_expressions, walk_statements

TRIPS = re.compile(r"trips_(\d+)")
"""What the user calls the trip count of the while loop in that line; no name of the program."""


class Settable(Struct, frozen=True):
    """Names with the reason why no value can be given, empty where one can; `offered`: those worth a hint."""

    why: Mapping[str, str]
    offered: tuple[str, ...]


def settable(unit: Unit, visible: Iterable[Unit]) -> Settable:
    """The PARAMETERs and variables of a unit, and the trip counts of its while loops.

    Args:
        unit: The unit that is predicted.
        visible: Units whose names it sees.
    """
    units = (*visible, unit)
    statements = tuple(walk_statements(unit.body))
    entities = {each.name: each for one in units for each in one.entities}
    assigns = [each for each in statements if isinstance(each, s.Assign)]
    assigned = {each.target.name for each in assigns if isinstance(each.target, Var)}
    deciding = backward_slice(names_in(*_deciding(units)), assigns)
    sizing = backward_slice(names_in(*_sizing(units)), assigns)
    counted = {name for each in statements for name in _counters(each)}
    counted |= {each.var for each in walk_expressions(unit.body) if isinstance(each, ImpliedDo)}
    fixed = _fixed(unit, {each.name for each in entities.values() if "parameter" in each.attributes})
    why = {f"trips_{each.span.line}": "" for each in statements if isinstance(each, s.DoWhile)}
    why |= dict.fromkeys(deciding - entities.keys(), "")
    for name, entity in entities.items():
        constant = "parameter" in entity.attributes
        if entity.shape is not None:
            why[name] = f"{entity.shown} is an array"
        elif name in counted and not constant:
            why[name] = f"{entity.shown} is the variable of a loop"
        elif not constant and name not in deciding:
            why[name] = f"{entity.shown} decides neither a size nor the flow of the program"
        elif name in fixed and name not in sizing:
            why[name] = f"the program computes {entity.shown} from constants in line {fixed[name]}"
        else:
            why[name] = ""
    return Settable(why, tuple(sorted((each for each in why if not why[each] and each not in assigned), key=_is_trips)))


def _fixed(unit: Unit, parameters: set[str]) -> Mapping[str, int]:
    """Variables that only one statement sets, from constants and outside of all blocks -> its line."""
    times = Counter(assignments(unit, all_passed))
    for shared in unit.equivalences:
        times.update(names_in(*shared.members))
    times.update(each.name for each in unit.entities if each.initial is not None)  # it decides until then
    found: dict[str, int] = {}
    for each in unit.body:
        if isinstance(each, s.Assign) and isinstance(each.target, Var) and times[each.target.name] == 1:
            parts = tuple(walk_expressions(each.value))
            plain = not any(isinstance(part, Element | Constructor | Component | OpaqueExpr) for part in parts)
            calls = [part.name for part in parts if isinstance(part, Call)]
            valued = all(name in INTRINSICS and INTRINSICS[name].value is not None for name in calls)
            if plain and valued and names_in(each.value) <= parameters | found.keys():
                found[each.target.name] = each.span.line
    return found


def _is_trips(name: str) -> bool:
    return TRIPS.fullmatch(name) is not None


def _counters(statement: s.Stmt) -> tuple[str, ...]:
    match statement:
        case s.Do(var=var):
            return (var,)
        case s.Forall(indices=indices):
            return tuple(each.name for each in indices)
        case _:
            return ()


def _sizing(units: Iterable[Unit]) -> Iterator[Expr]:
    """Expressions that are extents or sizes of blocks: their values are needed before anything runs."""
    for unit in units:
        bounds = [bound for entity in unit.entities for bound in entity.shape or ()]
        for directive in unit.directives:
            bounds += directive.shape if isinstance(directive, d.Processors | d.Template) else ()
            yield from _of_directive(directive)
        yield from (part for bound in bounds for part in (bound.lower, bound.upper) if part is not None)
        for statement in walk_statements(unit.body):
            if isinstance(statement, s.Allocate):
                yield from statement.items


def _deciding(units: Iterable[Unit]) -> Iterator[Expr]:
    """Expressions that are bounds, extents, subscripts, conditions, or arguments of functions."""
    yield from _sizing(units)
    for unit in units:
        yield from (each.initial for each in unit.entities if each.initial is not None)
        for statement in walk_statements(unit.body):
            whole = not isinstance(statement, s.Assign | s.Io | s.Allocate | s.CallStmt)
            for expr in own_expressions(statement):
                if whole:
                    yield expr
                yield from _inside(expr)


def _of_directive(directive: d.Directive) -> Iterator[Expr]:
    match directive:
        case d.Align(subscripts=subscripts):
            yield from (each for each in subscripts or () if not isinstance(each, d.Star))
        case d.Distribute(formats=formats):
            yield from (each.size for each in formats or () if each.size is not None)


def _inside(expr: Expr) -> Iterator[Expr]:
    """Subscripts, bounds of implied loops, and arguments of functions, which may be shifts or dimensions."""
    for each in walk_expressions(expr):
        match each:
            case Element(subscripts=parts):
                yield from parts
            case Call(args=parts, keywords=keywords):
                yield from (*parts, *(value for _, value in keywords))
            case ImpliedDo(lower=lower, upper=upper, step=step):
                yield from (part for part in (lower, upper, step) if part is not None)
            case Section():
                yield each
