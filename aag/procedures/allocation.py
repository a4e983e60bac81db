"""ALLOCATED: each array that is asked for gets a variable that says whether it is allocated."""

from collections.abc import Iterator

from msgspec.structs import replace

from aag.diagnostics import Span
from aag.ir import statements as s
from aag.ir.expressions import Call, Element, Expr, LogicalLit, Var
from aag.ir.result_types import LOGICAL
from aag.ir.units import Entity, Unit
from aag.ir.visitors import Body, map_expression, map_own, mapped, names_in, walk_expressions, walk_statements
from aag.procedures.names import CallNames

_PREFIX = "allocated$"


def flag(name: str) -> str:
    """The variable that says whether an array is allocated."""
    return _PREFIX + name


def entered(unit: Unit, names: CallNames, span: Span) -> Iterator[s.Stmt]:
    """What the begin of a procedure says of its arrays: local ones and those of INTENT(OUT) are not allocated."""
    if unit.kind not in ("subroutine", "function"):
        return
    asked = _asked(unit)
    for each in unit.entities:
        lasts = "save" in each.attributes if each.name not in unit.arguments else "intent(out)" not in each.attributes
        if each.name in asked and "allocatable" in each.attributes and not lasts:
            yield s.Assign(span=span, target=Var(flag(names.of(each.name))), value=LogicalLit(False))


def with_flags(unit: Unit) -> Unit:
    """A program whose calls were replaced by their procedures, without ALLOCATED of allocatable arrays.

    It stays for arrays that other procedures get.
    """
    asked = _asked(unit)
    if not asked and not any(map(_flag_of, walk_statements(unit.body))):
        return unit
    calls = [each for each in walk_statements(unit.body) if isinstance(each, s.CallStmt)]
    passed = names_in(*(part for each in calls for part in (*each.args, *(value for _, value in each.keywords))))
    arrays = [each for each in unit.entities if "allocatable" in each.attributes and each.name in asked - passed]
    names = frozenset(each.name for each in arrays)
    flags = tuple(
        Entity(
            name=flag(each.name),
            shown=f"allocated({each.shown})",
            type=LOGICAL,
            shape=None,
            attributes=frozenset(),
            initial=LogicalLit(False),
            span=each.span,
        )
        for each in arrays
    )
    return replace(unit, entities=(*unit.entities, *flags), body=_flagged(unit.body, names))


def _asked(unit: Unit) -> frozenset[str]:
    found: set[str] = set()
    for each in walk_expressions(unit.body):
        match each:
            case Call(name="allocated", args=(Var(name=name),)):
                found.add(name)
    return frozenset(found)


def _flagged(body: Body, arrays: frozenset[str], *, masked: bool = False) -> Body:
    """`masked`: in a WHERE or FORALL, whose assignments allocate nothing."""
    return tuple(each for statement in body for each in _with_flags(statement, arrays, masked=masked))


def _with_flags(statement: s.Stmt, arrays: frozenset[str], *, masked: bool) -> Iterator[s.Stmt]:
    def one(expr: Expr) -> Expr:
        match expr:
            case Call(name="allocated", args=(Var(name=name),)) if name in arrays:
                return Var(flag(name), span=expr.span)
        return expr

    within = masked or isinstance(statement, s.Where | s.Forall)
    own = map_own(statement, lambda expr: map_expression(expr, one))
    made = mapped(own, lambda inner: _flagged(inner, arrays, masked=within))
    if not _flag_of(made) or _flag_of(made) in arrays:
        yield made
    for name in () if masked else _changed(made):
        if name in arrays:
            is_there = not (isinstance(made, s.Allocate) and made.deallocate)
            yield s.Assign(span=made.span, target=Var(flag(name)), value=LogicalLit(is_there))


def _flag_of(statement: s.Stmt) -> str:
    """The array whose variable a statement assigns, or nothing."""
    match statement:
        case s.Assign(target=Var(name=name)) if name.startswith(_PREFIX):
            return name.removeprefix(_PREFIX)
    return ""


def _changed(statement: s.Stmt) -> Iterator[str]:
    """The arrays that a statement allocates, by an assignment too, or deallocates."""
    match statement:
        case s.Allocate(items=items):
            yield from (each.name for each in items if isinstance(each, Var | Element))
        case s.Assign(target=Var(name=name)):
            yield name
