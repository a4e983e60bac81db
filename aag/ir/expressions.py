"""Expressions of the language: frozen, compared by structure; the span does not take part in comparison.

expr      = IntLit | RealLit | ComplexLit | LogicalLit | StringLit
          | Var(name)                          a scalar or a whole array
          | Element(name, subscripts)          array element, or section where a subscript is a Section
          | Call(name, args, keywords)         intrinsic or user function
          | Unary(op, operand) | Binary(op, left, right)
          | Constructor(values) | ImpliedDo(values, var, lower, upper, step)
          | Component(base, field, subscripts) of a derived type; subscripts where it is an array
          | Substring(base, lower, upper)      characters of a text
          | OpaqueExpr(text)                   what cannot be read
subscript = expr | Section(lower, upper, step)
"""

from dataclasses import dataclass, field

from aag.diagnostics import NOWHERE, Span


@dataclass(frozen=True, slots=True)
class Expr:
    """Base of all expressions."""

    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class IntLit(Expr):
    """An integer literal; `bytes` of its kind, 0 where that is not known."""

    value: int
    bytes: int = 4


@dataclass(frozen=True, slots=True)
class RealLit(Expr):
    """A real literal; `text` as written, `double` for REAL*8 (d exponent or a kind that says so)."""

    value: float
    text: str
    double: bool = False


@dataclass(frozen=True, slots=True)
class ComplexLit(Expr):
    """A complex literal."""

    real: Expr
    imag: Expr


@dataclass(frozen=True, slots=True)
class LogicalLit(Expr):
    """.true. or .false."""

    value: bool


@dataclass(frozen=True, slots=True)
class StringLit(Expr):
    """A character literal without its quotes."""

    value: str


@dataclass(frozen=True, slots=True)
class Var(Expr):
    """A scalar variable, a named constant or a whole array."""

    name: str


@dataclass(frozen=True, slots=True)
class Section(Expr):
    """A subscript triplet; a part that is absent is None."""

    lower: Expr | None
    upper: Expr | None
    step: Expr | None


@dataclass(frozen=True, slots=True)
class Element(Expr):
    """An array element, or an array section where at least one subscript is a `Section`."""

    name: str
    subscripts: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Call(Expr):
    """A function reference, intrinsic or not. Keyword arguments are (keyword, value) pairs."""

    name: str
    args: tuple[Expr, ...]
    keywords: tuple[tuple[str, Expr], ...] = ()


@dataclass(frozen=True, slots=True)
class Unary(Expr):
    """One of ``-``, ``+`` and ``.not.`` before an operand."""

    op: str
    operand: Expr


@dataclass(frozen=True, slots=True)
class Binary(Expr):
    """``+ - * / ** // == /= < <= > >= .and. .or. .eqv. .neqv.`` (relational operators in the modern form)."""

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Constructor(Expr):
    """An array constructor (/ ... /)."""

    values: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class ImpliedDo(Expr):
    """(values, var = lower, upper, step) in a constructor or an I/O list."""

    values: tuple[Expr, ...]
    var: str
    lower: Expr
    upper: Expr
    step: Expr | None


@dataclass(frozen=True, slots=True)
class Component(Expr):
    """A component of a derived type, or elements of one that is an array."""

    base: Expr
    field_name: str
    subscripts: tuple[Expr, ...] = ()


@dataclass(frozen=True, slots=True)
class Substring(Expr):
    """The characters ``base(lower:upper)`` of a CHARACTER variable or array element; None: from its first, to its
    last."""

    base: Var | Element
    lower: Expr | None
    upper: Expr | None


@dataclass(frozen=True, slots=True)
class OpaqueExpr(Expr):
    """An expression that cannot be read; worst-case effects."""

    text: str
