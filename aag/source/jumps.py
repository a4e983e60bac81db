"""GO TO where it spells a loop: the jumps of FORTRAN 77 that have a name today.

    10 ...                    do
       ...                      ...
       if (c) go to 10          if (.not. (c)) exit
                              end do

    do ...                    do ...
      if (c) go to 20           if (c) exit
    end do                    end do
    20 ...                    20 ...

    do ...                    do ...
      if (c) go to 30           if (c) cycle
      ...                       ...
    30 continue               30 continue
    end do                    end do

A loop of the first kind is made only where all jumps to its label are at its end; anything else stays `Opaque`.
"""

import re
from collections.abc import Iterable

from msgspec.structs import replace

from aag.ir import expressions as e
from aag.ir import statements as s
from aag.ir.visitors import bodies, walk_statements

GO_TO = "GO TO is not modelled"
"""The reason of the `Opaque` statements that are looked at here."""

_TARGET = re.compile(r"go\s*to\s*0*(\d+)\s*$", re.IGNORECASE)

Body = tuple[s.Stmt, ...]


def structured(body: Body) -> Body:
    """`body` with jumps made into loops, EXIT and CYCLE where they are that."""
    jumps = _jumps(body)
    while jumps:
        body = _body(body, jumps)
        left = _jumps(body)
        if sum(left.values()) == sum(jumps.values()):
            break
        jumps = left
    return body


def _jumps(body: Body) -> dict[str, int]:
    """How often each label is jumped to."""
    counts: dict[str, int] = {}
    for stmt in walk_statements(body):
        label = _target(stmt)
        if label:
            counts[label] = counts.get(label, 0) + 1
    return counts


def _body(body: Body, counts: dict[str, int]) -> Body:
    found = [_inside(stmt, counts) for stmt in body]
    after = [*(stmt.label for stmt in found), ""][1:]
    looped = [_loop(stmt, label, counts) for stmt, label in zip(found, after, strict=True)]
    return _repeats(looped, counts)


def _loop(stmt: s.Stmt, after: str, counts: dict[str, int]) -> s.Stmt:
    """A loop without jumps to `after`, the label that follows it, or to its own last CONTINUE."""
    if isinstance(stmt, s.Do | s.DoWhile) and after in counts:
        stmt = _without_jumps(stmt, after, s.Exit)
    if isinstance(stmt, s.Do | s.DoWhile) and stmt.body and isinstance(stmt.body[-1], s.Continue):
        last = stmt.body[-1].label
        stmt = _without_jumps(stmt, last, s.Cycle) if last in counts else stmt
    return stmt


def _inside(stmt: s.Stmt, counts: dict[str, int]) -> s.Stmt:
    match stmt:
        case s.Do(body=body) | s.DoWhile(body=body):
            return replace(stmt, body=_body(body, counts))
        case s.If(branches=branches):
            return replace(stmt, branches=tuple(replace(b, body=_body(b.body, counts)) for b in branches))
        case s.SelectCase(cases=cases):
            return replace(stmt, cases=tuple(replace(c, body=_body(c.body, counts)) for c in cases))
    return stmt


def _without_jumps(loop: s.Do | s.DoWhile, label: str, instead: type[s.Exit] | type[s.Cycle]) -> s.Do | s.DoWhile:
    """`loop` with EXIT or CYCLE instead of jumps to `label`; from inside of inner loops it is named."""
    name = loop.name or f"loop_{label}"
    body = _replaced(loop.body, label, instead, "", name)
    named = any(isinstance(stmt, instead) and stmt.name == name for stmt in walk_statements(body))
    return replace(loop, body=body, name=name if named else loop.name)


def _replaced(body: Body, label: str, instead: type[s.Exit] | type[s.Cycle], here: str, deeper: str) -> Body:
    """`here` is the name to give at this level of loops, `deeper` that below it."""
    found: list[s.Stmt] = []
    for stmt in body:
        match stmt:
            case s.Opaque() if _target(stmt) == label:
                found.append(instead(span=stmt.span, label=stmt.label, name=here))
            case s.Do(body=inner) | s.DoWhile(body=inner):
                found.append(replace(stmt, body=_replaced(inner, label, instead, deeper, deeper)))
            case s.If(branches=branches):
                parts = tuple(replace(b, body=_replaced(b.body, label, instead, here, deeper)) for b in branches)
                found.append(replace(stmt, branches=parts))
            case s.SelectCase(cases=cases):
                kept = tuple(replace(c, body=_replaced(c.body, label, instead, here, deeper)) for c in cases)
                found.append(replace(stmt, cases=kept))
            case _:
                found.append(stmt)
    return tuple(found)


def _repeats(body: list[s.Stmt], counts: dict[str, int]) -> Body:
    """Loops for conditional jumps back to a label of the same body, the innermost first."""
    at = 0
    while at < len(body):
        label, condition = _jump(body[at])
        start = next((i for i in range(at + 1) if label and body[i].label == label), -1)
        if start < 0 or counts.get(label) != 1 or _leaves(body[start:at]):
            at += 1
            continue
        last = body[at]
        test = s.If(
            branches=(
                s.Branch(
                    condition=e.Unary(".not.", condition, span=condition.span) if condition else None,
                    body=(s.Exit(span=last.span),),
                    span=last.span,
                ),
            ),
            span=last.span,
        )
        inner = (*body[start:at], test) if condition else tuple(body[start:at])
        loop = s.DoWhile(condition=None, body=inner, end=last.span, span=body[start].span)
        body[start : at + 1] = [loop]
        at = start + 1
    return tuple(body)


def _leaves(body: Iterable[s.Stmt]) -> bool:
    """Whether EXIT or CYCLE in `body` belongs to a loop around it: inside a new loop it would mean that one."""
    for stmt in body:
        if isinstance(stmt, s.Exit | s.Cycle) and not stmt.name:
            return True
        if not isinstance(stmt, s.Do | s.DoWhile) and any(_leaves(inner) for inner in bodies(stmt)):
            return True
    return False


def _jump(stmt: s.Stmt) -> tuple[str, e.Expr | None]:
    """The label that ``IF (c) GO TO label`` or ``GO TO label`` names, and the condition."""
    if isinstance(stmt, s.If) and len(stmt.branches) == 1 and len(stmt.branches[0].body) == 1:
        return _target(stmt.branches[0].body[0]), stmt.branches[0].condition
    return _target(stmt), None


def _target(stmt: s.Stmt) -> str:
    if not isinstance(stmt, s.Opaque) or stmt.reason != GO_TO:
        return ""
    match = _TARGET.search(stmt.text)
    return match.group(1) if match else ""
