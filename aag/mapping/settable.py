"""The names that a user can give values: those that decide shapes, mappings, the flow, or where memory is touched."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from msgspec import Struct

from aag.ir import directives as d
from aag.ir import statements as s
from aag.ir.cases import in_turn
from aag.ir.expressions import Call, Element, Expr, ImpliedDo, Section, Var
from aag.ir.intrinsics import INTRINSICS
from aag.ir.units import Unit
from aag.ir.visitors import backward_slice, names_in, own_expressions, walk_expressions, walk_statements

TRIPS = re.compile(r"trips_(\d+)")
"""What the user calls the trip count of the while loop in that line; no name of the program."""
HOLDS = re.compile(r"holds_(\d+)")
"""What the user calls the share of the executions of a statement that take the branch in that line; no name of the
program."""


class Settable(Struct, frozen=True):
    """Names with the reason why no value can be given, empty where one can; `offered`: those worth a hint; `computed`:
    variables, with the lines that compute them all the same."""

    why: Mapping[str, str]
    offered: tuple[str, ...]
    computed: Mapping[str, tuple[int, ...]]


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
    endings = [found for each in units for found in _endings(each.body)]
    ends = {id(each.condition) for each in endings}
    steady = {name for each in endings for name in names_in(each.condition) - each.changed}
    deciding = backward_slice(names_in(*_deciding(units, ends)) | steady, assigns)
    read = {
        name for each in statements if isinstance(each, s.Io) and each.kind == "read" for name in names_in(*each.items)
    }
    deciding |= read & backward_slice(names_in(*(each.condition for each in endings)), assigns)
    changing = _changing(endings, assigns)
    counted = {name for each in statements for name in _counters(each)}
    counted |= {each.var for each in walk_expressions(unit.body) if isinstance(each, ImpliedDo)}
    why = {f"trips_{each.span.line}": "" for each in statements if isinstance(each, s.DoWhile) or _may_end(each)}
    why |= {f"holds_{line}": "" for each in statements for line in condition_lines(each)}
    why |= dict.fromkeys(deciding - entities.keys(), "")
    for name, entity in entities.items():
        constant = "parameter" in entity.attributes
        if entity.shape is not None:
            why[name] = f"{entity.shown} is an array"
        elif name in counted and not constant:
            why[name] = f"{entity.shown} is the variable of a loop"
        elif not constant and name in changing.keys() - deciding:
            why[name] = f"{entity.shown} decides when the loop in line {changing[name]} ends, and changes in it"
        elif not constant and name not in deciding:
            why[name] = f"{entity.shown} decides neither a size nor the flow of the program"
        else:
            why[name] = ""
    computed: dict[str, tuple[int, ...]] = {}
    for each in assigns:
        if isinstance(each.target, Var):
            computed[each.target.name] = (*computed.get(each.target.name, ()), each.span.line)
    free = (each for each in why if not why[each] and each not in assigned - read and not HOLDS.fullmatch(each))
    offered = tuple(sorted(free, key=is_made_up))
    return Settable(why, offered, computed)


class _Ending(Struct, frozen=True, eq=False):
    """A condition with which a loop ends, and the scalars that the loop assigns."""

    condition: Expr
    changed: frozenset[str]
    line: int


def _endings(body: Iterable[s.Stmt]) -> Iterator[_Ending]:
    for loop in walk_statements(body):
        if isinstance(loop, s.Do | s.DoWhile):
            inside = [each for each in walk_statements(loop.body) if isinstance(each, s.Assign)]
            changed = frozenset(each.target.name for each in inside if isinstance(each.target, Var))
            conditions = [loop.condition] if isinstance(loop, s.DoWhile) else []
            conditions += [branch.condition for branch in _leaving(loop.body)]
            yield from (_Ending(each, changed, loop.span.line) for each in conditions if each is not None)


def _leaving(body: Iterable[s.Stmt]) -> Iterator[s.Branch]:
    """The branches with an EXIT, but for those of loops further in."""
    for each in body:
        match each:
            case s.If(branches=branches):
                for branch in branches:
                    if any(isinstance(inner, s.Exit) for inner in branch.body):
                        yield branch
                    yield from _leaving(branch.body)
            case s.SelectCase(selector=selector, cases=cases):
                for case in cases:
                    yield from _leaving((s.guarded(selector, case.body, each.span),))
            case _:
                pass


def _may_end(statement: s.Stmt) -> bool:
    """Whether a counted loop has an EXIT under a condition."""
    return isinstance(statement, s.Do) and any(_leaving(statement.body))


def _changing(endings: Iterable[_Ending], assigns: Iterable[s.Assign]) -> Mapping[str, int]:
    """Scalars that a loop assigns and that decide when it ends, with its line: no single value stands for them."""
    found: dict[str, int] = {}
    for each in endings:
        for name in backward_slice(names_in(each.condition), assigns) & each.changed:
            found.setdefault(name, each.line)
    return found


def is_made_up(name: str) -> bool:
    """Whether a name is none of the program, but stands for what happens at a line."""
    return any(each.fullmatch(name) for each in (TRIPS, HOLDS))


def condition_lines(statement: s.Stmt) -> tuple[int, ...]:
    """The lines of the conditions of a statement, in the order in which they are tested."""
    match statement:
        case s.If(branches=branches):
            return tuple(each.span.line for each in branches if each.condition is not None)
        case s.SelectCase():
            return tuple(each.span.line for each in in_turn(statement) if each.values is not None)
        case s.Where(branches=parts):
            return tuple(each.mask.span.line or each.span.line for each in parts if each.mask is not None)
        case s.Forall(mask=mask) if mask is not None:
            return (mask.span.line or statement.span.line,)
        case _:
            return ()


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


def _deciding(units: Iterable[Unit], ends: Collection[int]) -> Iterator[Expr]:
    """Expressions that are bounds, extents, subscripts, conditions, or arguments of functions. `ends`: conditions that
    only end loops."""
    yield from _sizing(units)
    for unit in units:
        yield from (each.initial for each in unit.entities if each.initial is not None)
        for statement in walk_statements(unit.body):
            whole = not isinstance(statement, s.Assign | s.Io | s.Allocate | s.CallStmt)
            if isinstance(statement, s.CallStmt) and statement.cost is not None:
                yield from (each.amount for each in statement.cost.terms)
            for expr in own_expressions(statement):
                if whole and id(expr) not in ends:
                    yield expr
                yield from _inside(expr)


def _of_directive(directive: d.Directive) -> Iterator[Expr]:
    match directive:
        case d.Align(axes=axes, subscripts=subscripts):
            names = names_in(*(each for each in subscripts or () if not isinstance(each, d.Star)))
            yield from (Var(name) for name in sorted(names - set(axes or ())))
        case d.Distribute(formats=formats):
            yield from (each.size for each in formats or () if each.size is not None)


_DATA = frozenset({"array", "source", "matrix", "matrix_a", "matrix_b", "vector_a", "vector_b", "x", "vector", "pad"})
"""Arguments of functions of arrays that are data and no shift, dimension, shape or mask."""


def _arguments(call: Call) -> Iterable[Expr]:
    """The arguments of a function that may decide what it does."""
    row = INTRINSICS.get(call.name)
    if row is None:
        return (*call.args, *(value for _, value in call.keywords))
    if row.form == "elemental":
        return ()
    return [value for name, value in row.bound(call).items() if name not in _DATA]


def _inside(expr: Expr) -> Iterator[Expr]:
    """Subscripts, bounds of implied loops, and arguments of functions, which may be shifts or dimensions."""
    for each in walk_expressions(expr):
        match each:
            case Element(subscripts=parts):
                yield from parts
            case Call() as call:
                yield from _arguments(call)
            case ImpliedDo(lower=lower, upper=upper, step=step):
                yield from (part for part in (lower, upper, step) if part is not None)
            case Section():
                yield each
