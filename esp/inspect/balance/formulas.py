"""Start-ups and prices that a user writes as formulas, such as ``4*(1 + log2(p))``."""

from collections.abc import Callable, Mapping
from math import isfinite

from aag.diagnostics import SourceError
from aag.ir.evaluate import Unknown, evaluate
from aag.ir.expressions import Var
from aag.ir.visitors import walk_expressions
from aag.source.costs import read_cost
from esp.errors import UsageError

Formula = Callable[[Mapping[str, float]], float]
"""Values by name -> its value."""


def formula_of(text: str, names: tuple[str, ...], where: str, example: str) -> Formula:
    """Read a formula in some variables, with the operators and functions of costs (docs/libraries.md).

    >>> formula_of("4*(1 + log2(p))", ("p",), "startups", "4")({"p": 8.0})
    16.0

    Args:
        text: what the user wrote.
        names: the variables that it may have.
        where: the option to blame.
        example: how it is written, for the hint.

    Raises:
        UsageError: it is not a formula. Its result raises the same where it has no value from 0 on.
    """
    hint = f"Write a formula of {', '.join(names)}, such as {example}."
    try:
        read = read_cost(f"formula({', '.join(names)}) = ({text}) flop", (), 1).terms[0].amount
    except SourceError:
        raise UsageError(f"{text!r} is not a formula.", where=where, hint=hint) from None

    unknown = [each.name for each in walk_expressions(read) if isinstance(each, Var) and each.name not in names]
    if unknown:
        raise UsageError(f"{text!r} has no value: {unknown[0]} is not known.", where=where, hint=hint)

    def value_at(values: Mapping[str, float]) -> float:
        shown = ", ".join(f"{name} = {value:g}" for name, value in values.items())
        try:
            found = evaluate(read, values)
        except Unknown:
            raise UsageError(f"{text!r} has no value with {shown}.", where=where, hint=hint) from None
        if not isinstance(found, int | float) or not isfinite(found) or found < 0:
            value = f"{found:g}" if isinstance(found, float) else str(found)
            raise UsageError(f"{text!r} is {value} with {shown}, not a number from 0 on.", where=where, hint=hint)
        return float(found)

    return value_at
