"""Integer expressions as linear forms: constant + sum of coefficient * atom, for comparisons before anything runs.

An atom is a variable or any sub-expression that is not linear; two forms are compared by their atoms.
"""

from collections.abc import Mapping

from msgspec import Struct

from aag.ir.evaluate import LARGEST_INDEX, Environment, Unknown, evaluate_int
from aag.ir.expressions import Binary, Expr, IntLit, Unary, Var


class Linear(Struct, frozen=True):
    """constant + sum(coefficient * atom), atoms without a zero coefficient."""

    constant: int
    terms: Mapping[Expr, int]

    def plus(self, other: "Linear", factor: int = 1) -> "Linear":
        """self + factor * other."""
        constant = self.constant + factor * other.constant
        if not other.terms:
            return Linear(constant, self.terms)
        if not self.terms and factor == 1:
            return Linear(constant, other.terms)
        terms = dict(self.terms)
        for atom, coefficient in other.terms.items():
            terms[atom] = terms.get(atom, 0) + factor * coefficient
        return Linear(constant, {atom: c for atom, c in terms.items() if c})

    def times(self, factor: int) -> "Linear":
        """factor * self."""
        return Linear(0, {}).plus(self, factor)

    def coefficient(self, name: str) -> int:
        """The coefficient of a variable."""
        return self.terms.get(Var(name), 0)

    def without(self, name: str) -> "Linear":
        """The form less the term of a variable."""
        return Linear(self.constant, {atom: c for atom, c in self.terms.items() if atom != Var(name)})

    @property
    def is_constant(self) -> bool:
        """Whether no atom is left."""
        return not self.terms


def linear(expr: Expr, env: Environment) -> Linear:
    """The linear form of an integer expression; names in `env` count with their values. An expression whose form has
    numbers that are no indices is an atom."""
    form = _linear(expr, env)
    large = any(abs(number) > LARGEST_INDEX for number in (form.constant, *form.terms.values()))
    return Linear(0, {expr: 1}) if large else form


def _linear(expr: Expr, env: Environment) -> Linear:
    match expr:
        case IntLit(value=value):
            return Linear(value, {})
        case Var(name=name) if name not in env:
            return Linear(0, {expr: 1})
        case Unary(op="-", operand=operand):
            return _linear(operand, env).times(-1)
        case Unary(op="+", operand=operand):
            return _linear(operand, env)
        case Binary(op="+", left=left, right=right):
            return _linear(left, env).plus(_linear(right, env))
        case Binary(op="-", left=left, right=right):
            return _linear(left, env).plus(_linear(right, env), -1)
        case Binary(op="*", left=left, right=right):
            first, second = _linear(left, env), _linear(right, env)
            if first.is_constant:
                return second.times(first.constant)
            if second.is_constant:
                return first.times(second.constant)
    try:
        return Linear(evaluate_int(expr, env), {})
    except Unknown:
        return Linear(0, {expr: 1})


def add(expr: Expr, amount: Expr | int) -> Expr:
    """expr + amount, folded where both are literals and left out where nothing is added."""
    other = IntLit(amount) if isinstance(amount, int) else amount
    match expr, other:
        case IntLit(value=a, bytes=size), IntLit(value=b, bytes=wide):
            return IntLit(a + b, max(size, wide))
        case _, IntLit(value=0):
            return expr
        case IntLit(value=0), _:
            return other
        case _, IntLit(value=b) if b < 0:
            return Binary("-", expr, IntLit(-b))
        case _:
            return Binary("+", expr, other)


def subtract(left: Expr, right: Expr) -> Expr:
    """left - right, folded where it is obvious."""
    match left, right:
        case _ if left == right:
            return IntLit(0)
        case IntLit(value=a, bytes=size), IntLit(value=b, bytes=wide):
            return IntLit(a - b, max(size, wide))
        case _, IntLit(value=0):
            return left
        case _:
            return Binary("-", left, right)


def multiply(left: Expr, right: Expr) -> Expr:
    """left * right, folded where it is obvious."""
    match left, right:
        case IntLit(value=a, bytes=size), IntLit(value=b, bytes=wide):
            return IntLit(a * b, max(size, wide))
        case IntLit(value=1), _:
            return right
        case _, IntLit(value=1):
            return left
        case (IntLit(value=0), _) | (_, IntLit(value=0)):
            return IntLit(0)
        case _:
            return Binary("*", left, right)
