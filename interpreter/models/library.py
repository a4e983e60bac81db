"""Calls of procedures without source: the operations, bytes and seconds that a table or the user says (Def 2).

An amount is an expression of scalars at the call. Bytes are those of cache lines that are read from memory. Seconds do
not depend on the machine. All of it is computation, as the serial program does it, too.
"""

import numpy as np

from aag.diagnostics import Diagnostic
from aag.graph.aau import Call
from aag.ir.costs import BYTE, SECOND
from aag.ir.evaluate import Unknown, evaluate
from aag.ir.expressions import Expr
from interpreter.counts import COMPUTATION, CountColumn, Counts
from interpreter.errors import InterpretationError
from interpreter.models.compute import charge, priced
from interpreter.state import Run
from sag.figures import GIVEN_TIME

TIME = CountColumn(((COMPUTATION, GIVEN_TIME, 1.0),))


def charge_library(run: Run, aau: Call) -> None:
    """Let all processors pay for one call."""
    if not aau.charges:
        return
    often: dict[CountColumn, float] = {}
    for each in aau.charges:
        column = _column(run, each.operation)
        if column is not None:
            often[column] = often.get(column, 0.0) + each.times * _amount(run, aau, each.amount)
    amounts = np.maximum(np.array(list(often.values())), 0.0)[:, None]
    charge(run, aau.id, priced(Counts(run.prices.basis(*often), amounts)))


def _column(run: Run, operation: str) -> CountColumn | None:
    """What one of a unit pays; None: the machine has no figure for it."""
    if operation == SECOND:
        return TIME
    if operation != BYTE:
        return run.prices.operation(operation)
    memory = run.machine.memory
    if memory is None:
        run.prices.unpriced("memory traffic")
        return None
    return CountColumn(tuple((COMPUTATION, each.figure("read_miss"), 1.0 / each.line_bytes) for each in memory.caches))


def _amount(run: Run, aau: Call, amount: Expr) -> float:
    """The value of an amount.

    Raises:
        Unknown: it needs a variable whose value is not known.
        InterpretationError: no value of a variable would help.
    """
    try:
        value = evaluate(amount, run.env)
    except Unknown as unknown:
        if not unknown.why:
            raise
        raise _refused(aau, unknown.why) from unknown
    if isinstance(value, bool | complex | str):
        raise _refused(aau, "it is not a real number")
    return float(value)


def _refused(aau: Call, why: str) -> InterpretationError:
    return InterpretationError(
        (
            Diagnostic(
                code="E688",
                message=f"the cost of this call of {aau.name} cannot be computed: {why}",
                span=aau.span,
                hint=f"give another cost: ‹cost {aau.name}='2*n flop'›",
            ),
        )
    )
