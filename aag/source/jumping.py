"""Jumps in bodies: where they go, what they become, and the names that EXIT and CYCLE need among new loops."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from aag.diagnostics import Diagnostic, Span
from aag.ir import expressions as e
from aag.ir import statements as s
from aag.ir.nearest import did_you_mean
from aag.ir.visitors import bodies, mapped, walk_statements

GO_TO = "a jump"
"""The reason of the `Opaque` statements that stand for jumps until they are something else."""
NOWHERE_TO_GO = "GO TO needs its label in this block or an enclosing one"
"""The reason of those that stay."""

_TARGET = re.compile(r"go\s*to\s*0*(\d+)\s*$", re.IGNORECASE)

Body = tuple[s.Stmt, ...]
Instead = Callable[[s.Stmt], Body]
"""What stands in the place of a jump."""


def target(stmt: s.Stmt) -> str:
    """The label that ``GO TO label`` names; empty for all other statements."""
    if not isinstance(stmt, s.Opaque) or stmt.reason != GO_TO:
        return ""
    match = _TARGET.search(stmt.text)
    return match.group(1) if match else ""


def targets(body: Iterable[s.Stmt]) -> Counter[str]:
    """How often each label is jumped to from a body and the bodies inside."""
    return Counter(label for each in walk_statements(body) if (label := target(each)))


def settled(body: Body, outer: frozenset[str] = frozenset()) -> Body:
    """A body in which jumps to no label that they can reach are statements like others that are not modelled."""
    labels = outer | {each.label for each in body}

    def one(stmt: s.Stmt) -> s.Stmt:
        label = target(stmt)
        if label and label not in labels:
            return replace(stmt, reason=NOWHERE_TO_GO)
        return mapped(stmt, lambda inner: settled(inner, labels))

    return tuple(map(one, body))


def replaced(body: Iterable[s.Stmt], label: str, instead: Instead) -> Body:
    """A body with something else in the place of all jumps to a label."""
    found: list[s.Stmt] = []
    for stmt in body:
        if target(stmt) == label:
            found += instead(stmt)
        else:
            found.append(mapped(stmt, lambda inner: replaced(inner, label, instead)))
    return tuple(found)


def leave(kind: type[s.Exit] | type[s.Cycle], name: str) -> Instead:
    """EXIT or CYCLE of the loop of that name."""
    return lambda jump: (kind(span=jump.span, label=jump.label, name=name),)


def ends(stmt: s.Stmt) -> bool:
    """Whether what follows a statement is never reached from it. All EXITs are named."""
    match stmt:
        case s.Stop() | s.Return() | s.Exit() | s.Cycle():
            return True
        case s.If(branches=branches):
            return branches[-1].condition is None and all(never_falls(each.body) for each in branches)
        case s.SelectCase(cases=cases):
            return any(each.values is None for each in cases) and all(never_falls(each.body) for each in cases)
        case s.DoWhile(condition=None, body=body, name=name):
            return not any(isinstance(each, s.Exit) and each.name == name for each in walk_statements(body))
    return bool(target(stmt))


def never_falls(body: Body) -> bool:
    """Whether the end of a body is never reached."""
    return any(ends(each) for each in body)


def alive(items: list[s.Stmt]) -> list[s.Stmt]:
    """`items` without what follows a jump and is not jumped to."""
    wanted = targets(items)
    found: list[s.Stmt] = []
    reached = True
    for each in items:
        reached = reached or each.label in wanted
        if reached:
            found.append(each)
            reached = not ends(each)
    return found if len(found) == len(items) else alive(found)


# --- other spellings ---


def jump(label: str, span: Span) -> s.Opaque:
    """``GO TO label``."""
    return s.Opaque(text=f"go to {label}", reason=GO_TO, span=span)


def computed(labels: list[str], index: e.Expr, place: dict[str, Any]) -> s.SelectCase:
    """``GO TO (labels), index``: the label of that number, or the next statement."""
    span: Span = place["span"]
    numbers: dict[str, list[e.Expr]] = {}
    for number, label in enumerate(labels, 1):
        numbers.setdefault(label, []).append(e.IntLit(number, span=index.span))
    cases = tuple(s.Case(values=tuple(each), body=(jump(label, span),), span=span) for label, each in numbers.items())
    return s.SelectCase(selector=index, cases=cases, **place)


def arithmetic(tested: e.Expr, labels: list[str], place: dict[str, Any]) -> s.If:
    """``IF (tested) negative, zero, positive``, with one comparison where two labels are the same."""
    span: Span = place["span"]
    negative, zero, positive = labels
    if zero == positive:
        choices = [("<", negative)]
    elif negative == zero:
        choices = [("<=", negative)]
    else:
        choices = [("<", negative)] * (negative != positive) + [("==", zero)]
    found = [
        s.Branch(
            condition=e.Binary(op, tested, e.IntLit(0, span=tested.span), span=tested.span),
            body=(jump(label, span),),
            span=span,
        )
        for op, label in choices
    ]
    return s.If(branches=(*found, s.Branch(condition=None, body=(jump(positive, span),), span=span)), **place)


# --- names of loops ---


def named(body: Body, fresh: Callable[[str], str], inside: str = "") -> Body:
    """All loops with a name, and all EXITs and CYCLEs with that of their loop."""
    found: list[s.Stmt] = []
    for stmt in body:
        if isinstance(stmt, s.Exit | s.Cycle) and not stmt.name:
            found.append(replace(stmt, name=inside))
            continue
        if isinstance(stmt, s.Do | s.DoWhile):
            name = stmt.name or fresh("loop")
            found.append(_named_inside(replace(stmt, name=name), fresh, name))
        else:
            found.append(_named_inside(stmt, fresh, inside))
    return tuple(found)


def _named_inside(stmt: s.Stmt, fresh: Callable[[str], str], name: str) -> s.Stmt:
    return mapped(stmt, lambda inner: named(inner, fresh, name))


def unnamed(body: Body, made: frozenset[str], inside: str = "") -> Body:
    """The names that were `made` taken away again where nothing needs them."""
    found: list[s.Stmt] = []
    for stmt in body:
        match stmt:
            case s.Exit(name=name) | s.Cycle(name=name) if name == inside and name in made:
                found.append(replace(stmt, name=""))
            case s.Do(name=name) | s.DoWhile(name=name):
                within = unnamed(stmt.body, made, name)
                uses = (each for each in walk_statements(within) if isinstance(each, s.Exit | s.Cycle))
                needed = any(each.name == name for each in uses)
                found.append(replace(stmt, body=within, name=name if needed or name not in made else ""))
            case _:
                found.append(_unnamed_inside(stmt, made, inside))
    return tuple(found)


def _unnamed_inside(stmt: s.Stmt, made: frozenset[str], inside: str) -> s.Stmt:
    return mapped(stmt, lambda inner: unnamed(inner, made, inside))


def astray(body: Iterable[s.Stmt], loops: tuple[str, ...] = ()) -> Iterator[Diagnostic]:
    """An error for each EXIT and CYCLE that no loop is around. `loops`: the names of those around `body`."""
    for stmt in body:
        match stmt:
            case s.Exit(name=name) | s.Cycle(name=name) if name not in loops and (name or not loops):
                word = type(stmt).__name__.upper()
                message = f"{word} {name} is not inside a loop named {name}" if name else f"{word} is not inside a loop"
                hint = did_you_mean(name, filter(None, loops)) or "remove it, or put it into its loop"
                yield Diagnostic(code="E134", message=message, span=stmt.span, hint=hint)
        around = (*loops, stmt.name) if isinstance(stmt, s.Do | s.DoWhile) else loops
        for inner in bodies(stmt):
            yield from astray(inner, around)


def has_jumps(body: Body) -> bool:
    """Whether there is a jump at all."""
    return any(target(each) for each in body) or any(has_jumps(inner) for each in body for inner in bodies(each))
