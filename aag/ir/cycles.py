"""Iterations that CYCLE ends, as IF blocks.

if (c) then             if (c) then
  x = 1                   x = 1
  cycle         -->     else
end if                    y = 2
y = 2                   end if
"""

from collections.abc import Sequence

from msgspec.structs import replace

from aag.ir.statements import Branch, Cycle, Do, DoWhile, If, Stmt


def without_cycle(loop: Do | DoWhile, body: Sequence[Stmt]) -> Sequence[Stmt]:
    """The body of a loop, where an IF that ends with CYCLE has the rest of the iteration in its ELSE."""
    for at, each in enumerate(body):
        match each:
            case If(branches=(Branch(body=(*before, Cycle(name=name))) as branch,)) if (
                branch.condition is not None and name in ("", loop.name)
            ):
                rest = Branch(condition=None, body=tuple(without_cycle(loop, body[at + 1 :])), span=branch.span)
                return (*body[:at], replace(each, branches=(replace(branch, body=tuple(before)), rest)))
            case _:
                continue
    return body
