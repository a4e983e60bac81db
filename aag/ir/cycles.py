"""Iterations that CYCLE ends, as IF blocks.

if (c) then             if (c) then           if (c) then             if (c) then
  x = 1                   x = 1                 if (d) cycle            if (d) then
  cycle         -->     else                    x = 1         -->       else
end if                    y = 2               end if                      x = 1
y = 2                   end if                                          end if; end if
"""

from collections.abc import Sequence

from msgspec.structs import replace

from aag.ir.statements import Branch, Cycle, Do, DoWhile, If, Stmt


def without_cycle(loop: Do | DoWhile, body: Sequence[Stmt]) -> Sequence[Stmt]:
    """The body of a loop, where an IF of which all branches but one end with CYCLE has the rest of the iteration in
    that one. CYCLE remains where several branches of an IF go on to statements behind it."""
    if body and _ends_iteration(loop, body[-1]):
        return without_cycle(loop, body[:-1])
    for at, each in enumerate(body):
        if isinstance(each, If) and (made := _with_rest(loop, each, body[at + 1 :])) is not each:
            return (*body[:at], made)
    return body


def _with_rest(loop: Do | DoWhile, test: If, rest: Sequence[Stmt]) -> If:
    """An IF with what follows it in the one branch that goes on; itself where several do."""
    branches = test.branches
    if branches[-1].condition is not None:
        branches = (*branches, Branch(condition=None, body=(), span=test.span))
    leaving = [bool(each.body) and _ends_iteration(loop, each.body[-1]) for each in branches]
    if rest and (not any(leaving) or leaving.count(False) > 1):
        return test
    bodies = [(*each.body, *(() if leaves else rest)) for each, leaves in zip(branches, leaving, strict=True)]
    made = [tuple(without_cycle(loop, each)) for each in bodies]
    if not rest and made == bodies:
        return test
    found = [replace(each, body=body) for each, body in zip(branches, made, strict=True)]
    return replace(test, branches=tuple(found if found[-1].body else found[:-1]))


def _ends_iteration(loop: Do | DoWhile, statement: Stmt) -> bool:
    return isinstance(statement, Cycle) and statement.name in ("", loop.name)
