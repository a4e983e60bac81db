"""Formulas that a user writes, such as ``4*(1 + log2(p))``: start-ups, prices."""

from collections.abc import Mapping
from math import isfinite

from aag.diagnostics import SourceError
from aag.ir.evaluate import Unknown, evaluate
from aag.ir.expressions import Expr, Var
from aag.ir.visitors import walk_expressions
from aag.source.costs import read_cost
from esp.errors import UsageError


class UserFormula:
    """A formula in some variables: called with their values by name it gives its own.

    `text`: what the user wrote; `used`: the variables in it.
    """

    def __init__(self, text: str, read: Expr, where: str, hint: str) -> None:
        self.text = text
        self.used = frozenset(each.name for each in walk_expressions(read) if isinstance(each, Var))
        self._read, self._where, self._hint = read, where, hint

    def __call__(self, values: Mapping[str, float]) -> float:
        """Its value, from 0 on.

        Raises:
            UsageError: it has no such value.
        """
        shown = ", ".join(f"{name} = {value:g}" for name, value in values.items())
        try:
            found = evaluate(self._read, values)
        except Unknown:
            raise UsageError(f"{self.text!r} has no value with {shown}.", where=self._where, hint=self._hint) from None
        if not isinstance(found, int | float) or not isfinite(found) or found < 0:
            value = f"{found:g}" if isinstance(found, float) else str(found)
            message = f"{self.text!r} is {value} with {shown}, not a number from 0 on."
            raise UsageError(message, where=self._where, hint=self._hint)
        return float(found)


def formula_of(text: str, names: tuple[str, ...], where: str, example: str) -> UserFormula:
    """Read a formula in some variables, with the operators and functions of costs (docs/libraries.md).

    >>> formula_of("4*(1 + log2(p))", ("p",), "startups", "4")({"p": 8.0})
    16.0

    Args:
        text: what the user wrote.
        names: the variables that it may have.
        where: the option to blame.
        example: how it is written, for the hint.

    Raises:
        UsageError: it is not a formula.
    """
    hint = f"Write a formula of {', '.join(names)}, such as {example}."
    try:
        read = read_cost(f"formula({', '.join(names)}) = ({text}) flop", (), 1).terms[0].amount
    except SourceError:
        raise UsageError(f"{text!r} is not a formula.", where=where, hint=hint) from None
    found = UserFormula(text, read, where, hint)
    unknown = sorted(found.used.difference(names))
    if unknown:
        raise UsageError(f"{text!r} has no value: {unknown[0]} is not known.", where=where, hint=hint)
    return found
