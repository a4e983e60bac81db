"""Loop variables that their own loops change."""

from collections.abc import Iterable, Iterator, Mapping

from aag.diagnostics import Diagnostic
from aag.ir import statements as s
from aag.ir.expressions import Var
from aag.ir.visitors import bodies


def redefined(body: Iterable[s.Stmt], loops: Mapping[str, int] | None = None) -> Iterator[Diagnostic]:
    """An error for each statement that changes the variable of a loop around it. `loops`: those around `body`, with
    their lines."""
    around = loops or {}
    for stmt in body:
        match stmt:
            case s.Assign(target=Var(name=name)) | s.Do(var=name) if name in around:
                yield Diagnostic(
                    code="E139",
                    message=f"{name} is the variable of a loop around this statement and cannot be changed",
                    span=stmt.span,
                    hint=f"the loop begins in line {around[name]}: use another variable",
                )
        inside = {**around, stmt.var: stmt.span.line} if isinstance(stmt, s.Do) else around
        for inner in bodies(stmt):
            yield from redefined(inner, inside)
