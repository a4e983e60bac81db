"""References to statement functions, replaced by what these stand for."""

from collections import Counter
from dataclasses import replace

from aag.budget import TALLEST, Budget
from aag.diagnostics import Diagnostic, SourceError, Span
from aag.ir.expressions import Call, Expr, Var
from aag.ir.visitors import children, map_expression, walk_expressions

Definition = tuple[tuple[str, ...], Expr]
"""The dummies, and the expression of them."""


def height(expr: Expr) -> int:
    """Levels of an expression, found without recursion."""
    levels, level = 0, [expr]
    while level:
        levels += 1
        level = [child for each in level for child in children(each)]
    return levels


def expand(call: Call, definition: Definition, budget: Budget) -> Expr:
    """What a reference stands for. Its size is known, and paid, before it is made.

    Raises:
        SourceError: it is larger than what is left, or has too many levels.
    """
    dummies, body = definition
    values = dict(zip(dummies, call.args, strict=True))
    used = Counter(each.name for each in walk_expressions(body) if isinstance(each, Var) and each.name in values)
    size = _size(body) + sum(count * _size(values[name]) for name, count in used.items())
    if not budget.spend(size):
        raise _refused(call.span, f"statement functions expand to more than {budget.limit:,} operands")
    if height(body) + max([0, *(height(values[name]) for name in used)]) > TALLEST:
        raise _refused(call.span, f"statement functions expand to an expression of more than {TALLEST} levels")

    def one(node: Expr) -> Expr:
        return values.get(node.name, node) if isinstance(node, Var) else node

    return replace(map_expression(body, one), span=call.span)


def _size(expr: Expr) -> int:
    return sum(1 for _ in walk_expressions(expr))


def _refused(span: Span, message: str) -> SourceError:
    return SourceError(
        [Diagnostic(code="E116", message=f"{message} here", span=span, hint="make some of them functions with a body")]
    )
