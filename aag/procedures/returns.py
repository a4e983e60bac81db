"""RETURN inside a procedure, as the end of a block: the statements of a procedure then stand where it is called."""

from collections.abc import Sequence

from msgspec.structs import replace

from aag.ir import statements as s
from aag.ir.expressions import IntLit
from aag.ir.visitors import bodies, mapped, walk_statements

Body = tuple[s.Stmt, ...]


def without_returns(body: Body, name: str) -> tuple[Body, bool]:
    """A procedure's statements without RETURN, and whether a loop of one iteration was needed for it.

    What follows an IF that returns goes into the branches that do not; a RETURN in a loop leaves a loop around
    everything.

    Args:
        body: The statements.
        name: The name and the variable of the loop.
    """
    if not _returns(body):
        return body, False
    found = _branched(body)
    if found is not None:
        return found, False
    span = body[0].span
    one = s.Do(
        span=span, var=name, lower=IntLit(1), upper=IntLit(1), step=None, body=_leaving(body, name), name=name, end=span
    )
    return (one,), True


def _returns(body: Sequence[s.Stmt]) -> bool:
    return any(isinstance(each, s.Return) for each in walk_statements(body))


def _branched(body: Body) -> Body | None:
    """The statements where each RETURN ends a branch of an IF; None: that is not so."""
    for at, statement in enumerate(body):
        if isinstance(statement, s.Return):
            return body[:at]
        if not _returns((statement,)):
            continue
        if not isinstance(statement, s.If):
            return None
        branches = list(statement.branches)
        if all(each.condition is not None for each in branches):
            branches.append(s.Branch(condition=None, body=(), span=statement.span))
        rest = body[at + 1 :]
        going = [number for number, each in enumerate(branches) if not _ends(each.body)]
        if rest and len(going) > 1:
            return None
        made = [_branched((*each.body, *(rest if number in going else ()))) for number, each in enumerate(branches)]
        if any(each is None for each in made):
            return None
        whole = [replace(each, body=inside or ()) for each, inside in zip(branches, made, strict=True)]
        if not whole[-1].body:
            whole.pop()
        return (*body[:at], replace(statement, branches=tuple(whole)))
    return body


def _ends(body: Body) -> bool:
    """Whether a statement list always ends with RETURN."""
    last = body[-1] if body else None
    if isinstance(last, s.If) and last.branches[-1].condition is None:
        return all(_ends(each.body) for each in last.branches)
    return isinstance(last, s.Return)


def _leaving(body: Body, name: str) -> Body:
    def one(statement: s.Stmt) -> s.Stmt:
        if isinstance(statement, s.Return):
            return s.Exit(span=statement.span, name=name)
        return mapped(statement, lambda inner: _leaving(inner, name)) if bodies(statement) else statement

    return tuple(map(one, body))
