"""Integer expressions over whole index vectors at once: subscripts and loop bounds.

`aag.spmd.formulas` adds the data of arrays. Scalars have an evaluator of their own, `aag.ir.evaluate`: it knows texts,
complex numbers, kinds and unknown operands, and takes half the time of one for vectors of one element.

Beside Fortran's operators two functions made by `aag.spmd.elementwise` are known: ``cshift$(i, s, lo, hi)`` is the
index i + s wrapped into lo..hi, ``eoshift$(i, s, lo, hi)`` is i + s, or a place outside all arrays where that is not
in lo..hi (then nothing is read).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike, NDArray

from aag.ir.evaluate import Environment, Unknown, as_index, evaluate_int
from aag.ir.expressions import Binary, Call, Element, Expr, IntLit, LogicalLit, Unary, Var
from aag.ir.values import ArrayValues
from aag.ir.visitors import names_in
from aag.spmd.nodes import Index

Ints = NDArray[np.int64]
Vectors = Mapping[str, Ints]

OUTSIDE = -(1 << 26)
"""A subscript outside all arrays, also times a small stride; the run-time library has the same."""

LIMIT = 1 << 24
"""The most index combinations that are enumerated jointly (design decision D2)."""

LIMIT_ALONG = 1 << 20
"""The most that are enumerated for several values of a scalar at once: more together take longer than one by one."""

NUMBER = ""
"""The name of the vector that says for which value of `Along` a combination is."""


class TooLarge(Exception):
    """An index space is too large to enumerate."""


def evaluate_vector(expr: Expr, env: Environment, vectors: Vectors) -> Ints | int:
    """The value of an integer expression where some variables are vectors of equal length.

    Raises:
        Unknown: a scalar has no value, or the expression is no integer expression.
    """
    match expr:
        case IntLit(value=value):
            return as_index(value)
        case Var(name=name) if name in vectors:
            return vectors[name]
        case Unary(op=op, operand=operand) if op in "+-":
            value_of = evaluate_vector(operand, env, vectors)
            return -value_of if op == "-" else value_of
        case Binary(op=op, left=left, right=right) if op in _OPERATORS:
            both = evaluate_vector(left, env, vectors), evaluate_vector(right, env, vectors)
            if op == "*":
                as_index(_largest(both[0]) * _largest(both[1]))
            found = _OPERATORS[op](*both)
            return as_index(found) if isinstance(found, int) else found
        case Call(name=name, args=args) if name in FUNCTIONS:
            return FUNCTIONS[name](*(evaluate_vector(arg, env, vectors) for arg in args))
        case Element(name=name, subscripts=subscripts) if isinstance(contents := env.get(name), ArrayValues):
            element: Ints | int = contents.at([evaluate_vector(each, env, vectors) for each in subscripts])
            return element
        case _ if not names_in(expr) & vectors.keys():
            return evaluate_int(expr, env)
        case _:
            raise Unknown(type(expr).__name__.lower(), "this subscript is not an integer expression of the indices")


def is_decided_by_indices(mask: Expr) -> bool:
    """Whether a mask is made of integer expressions of scalars: no data of an array decide it."""
    match mask:
        case LogicalLit():
            return True
        case Unary(op=".not.", operand=operand):
            return is_decided_by_indices(operand)
        case Binary(op=op, left=left, right=right) if op in CONNECTIVES:
            return is_decided_by_indices(left) and is_decided_by_indices(right)
        case Binary(op=op, left=left, right=right) if op in COMPARISONS:
            return is_integer(left) and is_integer(right)
        case _:
            return False


def is_integer(expr: Expr) -> bool:
    """Whether an expression is made of whole numbers and scalars by what `evaluate_vector` computes."""
    match expr:
        case IntLit() | Var():
            return True
        case Unary(op=op, operand=operand):
            return op in "+-" and is_integer(operand)
        case Binary(op=op, left=left, right=right):
            return op in _OPERATORS and is_integer(left) and is_integer(right)
        case Call(name=name, args=args, keywords=keywords):
            return name in FUNCTIONS and not keywords and all(map(is_integer, args))
        case _:
            return False


class Along(Struct, frozen=True, eq=False):
    """A scalar that takes several values: questions about all of them are answered at once."""

    name: str
    values: Ints
    """(K,)"""

    @property
    def vectors(self) -> dict[str, Ints]:
        """The values, and under `NUMBER` which one it is."""
        return {self.name: self.values, NUMBER: np.arange(self.values.size)}

    def without(self, env: Environment) -> Environment:
        """The other scalars: who asks for this one alone is refused, not told one of its values."""
        return {name: value for name, value in env.items() if name != self.name}


def enumerate_indices(indices: Sequence[Index], env: Environment, along: Along | None = None) -> dict[str, Ints]:
    """All combinations of the indices, outermost first; bounds may depend on indices before them.

    Returns equally long vectors, in loop order. No index at all is one combination (vectors of length 1 are
    not needed then: the mapping is empty). The values of `along` are an index around all others.

    Raises:
        TooLarge: there are more than `LIMIT` combinations, or, with `along`, more than `LIMIT_ALONG`.
    """
    vectors: dict[str, Ints] = {} if along is None else along.vectors
    length, limit = (1, LIMIT) if along is None else (along.values.size, LIMIT_ALONG)
    for index in indices:
        lower, step, counts = _values_of(index, env, vectors)
        alike = np.ndim(counts) == 0
        total = int(counts) * length if alike else int(np.sum(counts))
        if total > limit:
            raise TooLarge(f"its indices have {total:,} combinations, more than {limit:,}")
        if vectors:
            vectors = {name: vector.repeat(counts) for name, vector in vectors.items()}
        if alike:
            start, stride = int(lower), int(step)
            one = np.arange(start, start + stride * int(counts), stride)
            vectors[index.name] = one if length == 1 else np.tile(one, length)
        else:
            position = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
            first, apart = (np.repeat(part, counts) if np.ndim(part) else part for part in (lower, step))
            vectors[index.name] = first + apart * position
        length = total
    return vectors


def count_values(index: Index, env: Environment, vectors: Vectors) -> Ints | int:
    """How many values an index takes in each combination of the indices around it."""
    return _values_of(index, env, vectors)[2]


def _values_of(index: Index, env: Environment, vectors: Vectors) -> tuple[Ints | int, Ints | int, Ints | int]:
    """Its first value, its step, and how many values it takes."""
    lower = evaluate_vector(index.lower, env, vectors)
    upper = evaluate_vector(index.upper, env, vectors)
    step = 1 if index.step is None else evaluate_vector(index.step, env, vectors)
    if _some_zero(step):
        raise Unknown(index.name, "its step is zero")
    return lower, step, _values_between(lower, upper, step)


def _values_between(lower: Ints | int, upper: Ints | int, step: Ints | int) -> Ints | int:
    """How many values each range has."""
    found = (upper - lower + step) // step
    return max(0, found) if isinstance(found, int) else np.maximum(0, found)


def _largest(numbers: Ints | int) -> int:
    """The largest magnitude."""
    return abs(numbers) if isinstance(numbers, int) else int(np.abs(numbers).max(initial=0))


def _some_zero(numbers: Ints | int) -> bool:
    return numbers == 0 if isinstance(numbers, int) else not np.all(numbers)


def divide(left: Ints | int, right: Ints | int) -> Ints:
    """The quotients of whole numbers, truncated.

    Raises:
        Unknown: a divisor is zero.
    """
    if _some_zero(right):
        raise Unknown("/", "division by zero")
    quotient = np.abs(left) // np.abs(right)
    return np.where((np.asarray(left) < 0) == (np.asarray(right) < 0), quotient, -quotient)


def _power(left: Ints | int, right: Ints | int) -> Ints:
    if np.any(np.less(right, 0)) or np.any(np.greater(right, 62)):
        raise Unknown("**", "the power is not a small natural number")
    as_index(_largest(left) ** _largest(right))
    return np.asarray(left, dtype=np.int64) ** np.asarray(right, dtype=np.int64)


_OPERATORS: Mapping[str, Callable[[Ints | int, Ints | int], Ints | int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": divide,
    "**": _power,
}

CONNECTIVES: Mapping[str, Callable[..., NDArray[np.bool_]]] = {
    ".and.": np.logical_and,
    ".or.": np.logical_or,
    ".eqv.": np.equal,
    ".neqv.": np.not_equal,
}

COMPARISONS: Mapping[str, Callable[..., NDArray[np.bool_]]] = {
    "==": np.equal,
    "/=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


def alike(left: NDArray[Any], right: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Operands in the type in which Fortran combines them."""
    if {left.dtype.kind, right.dtype.kind} == {"i", "f"}:
        kind = left.dtype if left.dtype.kind == "f" else right.dtype
    else:
        kind = np.result_type(left.dtype, right.dtype)
    return left.astype(kind), right.astype(kind)


def _combined(function: Callable[..., Any], *, divides: bool = False) -> Callable[..., NDArray[Any]]:
    """A function of two numbers for any number of them. `divides`: by the second, which is not 0."""

    def of(first: ArrayLike, *others: ArrayLike) -> NDArray[Any]:
        found = np.asarray(first)
        for other in map(np.asarray, others):
            if divides and not other.all():
                raise Unknown("mod", "division by zero")
            found = np.asarray(function(*alike(found, other)))
        return found

    return of


FUNCTIONS: Mapping[str, Callable[..., NDArray[Any]]] = {
    "mod": _combined(np.fmod, divides=True),
    "modulo": _combined(np.mod, divides=True),
    "min": _combined(np.minimum),
    "max": _combined(np.maximum),
    "abs": np.abs,
    "cshift$": lambda i, s, lo, hi: lo + np.mod(i - lo + s, np.maximum(1, hi - lo + 1)),
    "eoshift$": lambda i, s, lo, hi: np.where((lo <= i + s) & (i + s <= hi), i + s, OUTSIDE),
}
