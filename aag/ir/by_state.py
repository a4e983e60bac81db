"""Statements that depend on how the program came to them: a copy for each state, chosen by a scalar."""

from collections.abc import Callable, Iterable, Sequence

from msgspec.structs import replace

from aag.diagnostics import Span
from aag.ir import statements as s
from aag.ir.expressions import Binary, Expr, IntLit, Var
from aag.ir.spelling import spell_directive
from aag.ir.units import Entity, Type, Unit
from aag.ir.visitors import Body, mapped, own_expressions, walk_statements


def copies_by_state(scalar: str, span: Span, states: Iterable[int], make: Callable[[int], Body]) -> tuple[Body, bool]:
    """What `make` says for each state, and whether that differs: then it is under an IF that tests `scalar`."""
    groups: dict[tuple[object, ...], tuple[Body, list[int]]] = {}
    for state in sorted(states):
        made = make(state)
        groups.setdefault(_key(made), (made, []))[1].append(state)
    if len(groups) == 1:
        return next(iter(groups.values()))[0], False
    *some, last = (
        (_relabelled(body, f"_{at + 1}" if at else ""), which) for at, (body, which) in enumerate(groups.values())
    )
    branches = [s.Branch(condition=_holds(scalar, which), body=body, span=span) for body, which in some]
    return (s.If(span=span, branches=(*branches, s.Branch(condition=None, body=last[0], span=span))),), True


def set_state(scalar: str, span: Span, state: int) -> s.Stmt:
    """The assignment that says which state holds."""
    return s.Assign(span=span, target=Var(scalar), value=IntLit(state))


def state_entity(scalar: str, unit: Unit) -> Entity:
    """The declaration of the scalar that says which state holds."""
    kind = Type(base="integer", bytes=4)
    none: frozenset[str] = frozenset()
    return Entity(name=scalar, shown=scalar, type=kind, shape=None, attributes=none, initial=None, span=unit.span)


def _key(body: Body) -> tuple[object, ...]:
    """What two copies of the same statements have in common only if they say the same."""
    return tuple(part for each in walk_statements(body) for part in (type(each), _named(each), *own_expressions(each)))


def _named(statement: s.Stmt) -> str:
    """What a statement names outside of expressions."""
    match statement:
        case s.Remap(directive=directive, keeps=keeps):
            return f"{spell_directive(directive, again=True)} {keeps}"
        case s.Restore(array=array, kept=kept):
            return f"{array} {kept}"
    return ""


def _relabelled(body: Body, mark: str) -> Body:
    """A copy of statements whose loops have names of their own: a name stands for one loop of a program unit."""
    own = {each.name for each in walk_statements(body) if isinstance(each, s.Do | s.DoWhile)}

    def one(statement: s.Stmt) -> s.Stmt:
        if isinstance(statement, s.Do | s.DoWhile | s.Exit | s.Cycle) and statement.name in own - {""}:
            statement = replace(statement, name=f"{statement.name}{mark}")
        return mapped(statement, lambda inner: tuple(map(one, inner)))

    return tuple(map(one, body)) if mark else body


def _holds(scalar: str, states: Sequence[int]) -> Expr:
    first, *rest = (Binary("==", Var(scalar), IntLit(state)) for state in states)
    condition: Expr = first
    for test in rest:
        condition = Binary(".or.", condition, test)
    return condition
