"""Names in statements: which are mentioned, which of them mean something outside of the loop that has them as its own,
and the same statements with other names."""

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping

from msgspec.structs import replace

from aag.diagnostics import Span
from aag.ir import expressions as e
from aag.ir import statements as s
from aag.ir.directives import Independent
from aag.ir.visitors import Body, bodies, map_expression, map_own, mapped, own_expressions, walk_expressions
from aag.source.concurrent import ConcurrentHead

_WORD = re.compile(r"'[^']*'|\"[^\"]*\"|[a-z_]\w*", re.IGNORECASE)


def mentions_of(stmt: s.Stmt) -> frozenset[str]:
    """The names in a statement itself, without those in the statements inside of it."""
    found: set[str] = set()
    for whole in own_expressions(stmt):
        for each in walk_expressions(whole):
            match each:
                case e.Var(name=name) | e.Element(name=name) | e.ImpliedDo(var=name):
                    found.add(name)
    match stmt:
        case s.Do(var=var, independent=claim):
            found |= {var, *_claimed(claim)}
        case s.Forall(indices=indices, independent=claim):
            found |= {*(each.name for each in indices), *_claimed(claim)}
        case s.Io(control=control) | s.Opaque(text=control):
            found |= {each.lower() for each in _WORD.findall(control) if each[0] not in "'\""}
    return frozenset(found)


def _claimed(claim: Independent | None) -> tuple[str, ...]:
    return () if claim is None else (*claim.new, *claim.reductions, *_home(claim))


def _home(claim: Independent) -> tuple[str, ...]:
    parts = () if claim.home is None else tuple(walk_expressions(claim.home))
    return tuple(each.name for each in parts if isinstance(each, e.Var | e.Element))


def free_names(body: Iterable[s.Stmt], opened: Mapping[Span, ConcurrentHead]) -> frozenset[str]:
    """Names in some statements that mean something outside of FORALL and the DO CONCURRENTs that have them as own."""
    found: set[str] = set()
    _collect(body, opened, frozenset(), found)
    return frozenset(found)


def _collect(
    body: Iterable[s.Stmt], opened: Mapping[Span, ConcurrentHead], bound: frozenset[str], found: set[str]
) -> None:
    for stmt in body:
        within = bound
        if isinstance(stmt, s.Forall):
            within = bound | {each.name for each in stmt.indices}
        elif isinstance(stmt, s.Do) and stmt.independent is not None and stmt.independent.concurrent:
            one = opened.get(stmt.span)
            if one is not None:
                copied = {each.name for each in one.head.initial}
                found |= copied - bound
                within = bound | {*one.indices, *(each.name for each in one.head.local), *copied}
        found |= mentions_of(stmt) - within
        for inner in bodies(stmt):
            _collect(inner, opened, within, found)


def renamed(body: Body, names: Mapping[str, str], *, deep: bool = True) -> Body:
    """Statements with other names of variables. `deep`: also in the statements inside of them."""
    changed = {old: new for old, new in names.items() if old != new}
    return tuple(_renamed(each, changed, deep) for each in body) if changed else body


def renamed_expression(expr: e.Expr, names: Mapping[str, str]) -> e.Expr:
    """An expression with other names of variables."""

    def one(part: e.Expr) -> e.Expr:
        match part:
            case e.Var(name=name) | e.Element(name=name) if name in names:
                return dataclasses.replace(part, name=names[name])
            case e.ImpliedDo(var=var) if var in names:
                return dataclasses.replace(part, var=names[var])
        return part

    return map_expression(expr, one)


def _renamed(stmt: s.Stmt, names: Mapping[str, str], deep: bool) -> s.Stmt:
    def of(name: str) -> str:
        return names.get(name, name)

    def whole(expr: e.Expr) -> e.Expr:
        return renamed_expression(expr, names)

    made = map_own(stmt, whole)
    match made:
        case s.Do(var=var, independent=claim):
            made = replace(made, var=of(var), independent=_claim(claim, of, whole))
        case s.Forall(indices=indices, independent=claim):
            listed = tuple(replace(each, name=of(each.name)) for each in indices)
            made = replace(made, indices=listed, independent=_claim(claim, of, whole))
        case s.Io(control=control):
            made = replace(made, control=_WORD.sub(lambda found: of(found[0].lower()), control) if control else control)
    return mapped(made, lambda inner: renamed(inner, names)) if deep else made


def _claim(
    claim: Independent | None, of: Callable[[str], str], whole: Callable[[e.Expr], e.Expr]
) -> Independent | None:
    if claim is None:
        return None
    return replace(
        claim,
        indices=tuple(map(of, claim.indices)),
        new=tuple(map(of, claim.new)),
        reductions=tuple(map(of, claim.reductions)),
        home=None if claim.home is None else whole(claim.home),
    )
