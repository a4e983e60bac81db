"""Loop variables that their own loops change."""

from collections.abc import Iterable, Iterator, Mapping

from aag.diagnostics import Diagnostic
from aag.ir import statements as s
from aag.ir.expressions import Var
from aag.ir.visitors import bodies


def redefined(
    body: Iterable[s.Stmt], loops: Mapping[str, int] | None = None, indices: frozenset[str] = frozenset()
) -> Iterator[Diagnostic]:
    """An error for each statement that changes the variable of a loop around it, and for each index that a FORALL has
    twice or that one around it has. `loops`: those around `body`, with their lines; `indices`: those of FORALLs."""
    around = loops or {}
    for stmt in body:
        for name in sorted(_changed(stmt) & around.keys()):
            yield Diagnostic(
                code="E139",
                message=f"{name} is the variable of a loop around this statement and cannot be changed",
                span=stmt.span,
                hint=f"the loop begins in line {around[name]}: use another variable",
            )
        inside = {**around, stmt.var: stmt.span.line} if isinstance(stmt, s.Do) else around
        own = indices
        for index in stmt.indices if isinstance(stmt, s.Forall) else ():
            if index.name in own:
                yield Diagnostic(
                    code="E139",
                    message=f"{index.name} is an index of this FORALL already, or of one around it",
                    span=stmt.span,
                    hint="use another name",
                )
            own |= {index.name}
        for inner in bodies(stmt):
            yield from redefined(inner, inside, own)


def _changed(stmt: s.Stmt) -> frozenset[str]:
    """The scalars that a statement itself changes."""
    match stmt:
        case s.Assign(target=Var(name=name)) | s.Do(var=name):
            return frozenset((name,))
        case s.Io(kind="read", items=items):
            return frozenset(each.name for each in items if isinstance(each, Var))
    return frozenset()
