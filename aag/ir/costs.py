"""What calls of procedures without source cost, as the user or a table says.

A cost is a sum of terms: an amount, which is an expression of the arguments or of variables at the call, times a unit.
"""

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from aag.ir.expressions import Element, Expr, Var

SECOND = "second"
"""The unit of times; no operation class has this name."""
BYTE = "byte"
"""The unit of memory traffic."""
RELATIVE = ("add", "mul", "div", "sqrt", "pow", "exp", "log", "sin", "cmp")
"""Units that are operations on the kind of numbers that a routine works with."""
FLOP = "flop"
"""Half an addition, half a multiplication."""


class CostTerm(Struct, frozen=True, kw_only=True):
    """`factor` * `amount` of a unit: FLOP, one of RELATIVE, an operation class (``r8.add``), SECOND or BYTE."""

    unit: str
    amount: Expr
    factor: float = 1.0


class RoutineCost(Struct, frozen=True, kw_only=True):
    """What one call of a procedure costs, in the names of its `dummies`, or of variables at the call where it lists
    none. `text`: its terms as written, `written`: all that the user wrote; `origin`: who says so, `source`: of an entry
    of the table.

    `kind`: the numbers that it works with (r4, r8, c8, c16); empty: as its arguments.
    """

    name: str
    terms: tuple[CostTerm, ...]
    text: str
    origin: Literal["option", "table"]
    written: str = ""
    dummies: tuple[str, ...] | None = None
    changes: tuple[str, ...] | None = None
    """The dummies that a call changes; None: all its arguments."""
    source: str = ""
    kind: str = ""
    has_sequence: bool = False
    """Whether each call continues what earlier ones began, as random numbers do."""


class CallCost(Struct, frozen=True, kw_only=True):
    """The cost of one call, in its own variables. `changes`: the arguments that it changes, by position; `effect` says
    it in words."""

    terms: tuple[CostTerm, ...]
    changes: tuple[int, ...]
    effect: str
    text: str
    origin: Literal["option", "table"]
    source: str = ""
    kind: str = ""
    has_sequence: bool = False


def changed_by(args: tuple[Expr, ...], cost: CallCost) -> Iterator[str]:
    """The variables among the arguments of a call that it changes."""
    for at in cost.changes:
        each = args[at]
        if isinstance(each, Var | Element):
            yield each.name
