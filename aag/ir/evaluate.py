"""Values of scalar expressions with Fortran's meaning (integer division truncates, and so on).

`evaluate` answers a Python int, float, bool, complex or str, or raises `Unknown` naming the first variable
whose value is not known: functional interpretation (design decision D8) needs to know which one to ask for.
`.and.` and `.or.` are three-valued: a false operand decides `.and.` even when the other is unknown.

Values have the limits of Fortran's own: integers of 64 bits, finite reals; a text has at most `LONGEST_TEXT`
characters. What leaves them is not known, so no value can grow with the number of operations.
"""

import math
from collections.abc import Callable, Mapping

from aag.ir.expressions import (
    Binary,
    Call,
    Element,
    Expr,
    IntLit,
    LogicalLit,
    OpaqueExpr,
    RealLit,
    StringLit,
    Substring,
    Unary,
    Var,
)
from aag.ir.intrinsics import INTRINSICS
from aag.ir.values import ArrayValues, Unknown, Value, divide

__all__ = [
    "LARGEST_INDEX",
    "LONGEST_TEXT",
    "NUMBER_OF_PROCESSORS",
    "Environment",
    "Unknown",
    "Value",
    "as_index",
    "evaluate",
    "evaluate_int",
    "excess",
    "limited",
]

Environment = Mapping[str, Value | ArrayValues]

LARGEST_INDEX = 2**53
"""The largest magnitude of an integer that counts iterations or is part of a subscript: a real holds it exactly, and
sums of several stay inside 64 bits."""
LONGEST_TEXT = 100_000
"""The most characters of a value."""
_BITS = 64
_KINDS = (1, 2, 4, 8, 16)


def evaluate(expr: Expr, env: Environment) -> Value:
    """The value of `expr` where variables have the values of `env`.

    Raises:
        Unknown: a variable or function without a known value decides the result, or the operation is
        undefined
            (division by zero, overflow).
    """
    match expr:
        case IntLit(value=value) | LogicalLit(value=value) | StringLit(value=value) | RealLit(value=value):
            return limited(value, str(value)[:40])
        case Var(name=name):
            known = env.get(name)
            if known is None or isinstance(known, ArrayValues):
                raise Unknown(name)
            return known
        case Unary(op=op, operand=operand):
            return limited(_unary(op, evaluate(operand, env)), op)
        case Binary(op=".and." | ".or." as op, left=left, right=right):
            return _logical(op, left, right, env)
        case Binary(op=op, left=left, right=right):
            return limited(_binary(op, evaluate(left, env), evaluate(right, env)), op)
        case Call(name=name):
            return limited(_call(expr, env), f"{name}()")
        case Substring():
            return _characters(expr, env)
        case Element(name=name, subscripts=subscripts):
            contents = env.get(name)
            if isinstance(contents, ArrayValues):
                return limited(contents.at([evaluate_int(each, env) for each in subscripts]), name)
            raise Unknown(name, "array elements are not evaluated here")
        case OpaqueExpr(text=text):
            raise Unknown(text, "this reference is not modelled")
        case _:
            raise Unknown(type(expr).__name__.lower())


def _characters(expr: Substring, env: Environment) -> str:
    text = evaluate(expr.base, env)
    if not isinstance(text, str):
        raise Unknown(expr.base.name)
    first = 1 if expr.lower is None else evaluate_int(expr.lower, env)
    last = len(text) if expr.upper is None else evaluate_int(expr.upper, env)
    if first < 1 or last > len(text):  # blanks at the end of a value are left out
        raise Unknown(expr.base.name)
    return text[first - 1 : last]


def evaluate_int(expr: Expr, env: Environment) -> int:
    """As `evaluate`, for an integer expression that counts iterations or is part of a subscript.

    Raises:
        Unknown: also where the value is not an integer, or beyond `LARGEST_INDEX`.
    """
    value = evaluate(expr, env)
    if isinstance(value, bool) or not isinstance(value, int):
        raise Unknown(str(value), "expected an integer")
    return as_index(value)


def as_index(value: int) -> int:
    """An integer that counts iterations or is part of a subscript.

    Raises:
        Unknown: its magnitude is beyond `LARGEST_INDEX`.
    """
    if abs(value) > LARGEST_INDEX:
        raise Unknown(str(value), f"bounds, steps and subscripts go up to 2**{LARGEST_INDEX.bit_length() - 1}")
    return value


def excess(value: Value) -> str:
    """Why no Fortran variable can have a value; empty where one can."""
    match value:
        case int() if not -(2 ** (_BITS - 1)) <= value < 2 ** (_BITS - 1):
            return f"it does not fit in an integer of {_BITS} bits"
        case float() if not math.isfinite(value):
            return "it is not a finite number"
        case complex() if not (math.isfinite(value.real) and math.isfinite(value.imag)):
            return "it is not a finite number"
        case str() if len(value) > LONGEST_TEXT:
            return f"it has more than {LONGEST_TEXT:,} characters"
    return ""


def limited(value: Value, name: str) -> Value:
    """A value, of which an error speaks as `name`.

    Raises:
        Unknown: no Fortran variable can have it.
    """
    why = excess(value)
    if why:
        raise Unknown(name, why)
    return value


def _unary(op: str, value: Value) -> Value:
    if op == ".not." and isinstance(value, bool):
        return not value
    if isinstance(value, str | bool):
        raise Unknown(op, "not a number")
    return -value if op == "-" else value


def _logical(op: str, left: Expr, right: Expr, env: Environment) -> bool:
    decides = op == ".or."
    unknown: Unknown | None = None
    for operand in (left, right):
        try:
            if bool(evaluate(operand, env)) is decides:
                return decides
        except Unknown as error:
            unknown = unknown or error
    if unknown is not None:
        raise unknown
    return not decides


def _binary(op: str, left: Value, right: Value) -> Value:
    if op in _COMPARE:
        return _COMPARE[op](left, right)
    if isinstance(left, str) or isinstance(right, str):
        if op == "//" and isinstance(left, str) and isinstance(right, str):
            return left + right
        raise Unknown(op, "not a number")
    try:
        match op:
            case "+":
                return left + right
            case "-":
                return left - right
            case "*":
                return left * right
            case "/":
                return divide(left, right)
            case "**":
                return _power(left, right)
    except (ZeroDivisionError, OverflowError, ValueError) as error:
        raise Unknown(op, str(error)) from error
    raise Unknown(op)


def _power(left: int | float | complex, right: int | float | complex) -> Value:
    if isinstance(left, int) and isinstance(right, int):
        if right < 0:
            return 0 if abs(left) > 1 else divide(1, left) if right % 2 else divide(1, left * left)
        if abs(left) > 1 and (left.bit_length() - 1) * right > _BITS:
            raise OverflowError(f"it does not fit in an integer of {_BITS} bits")
    result: Value = left**right
    return result


def _equal(left: Value, right: Value) -> bool:
    return left == right


def _less(left: Value, right: Value) -> bool:
    mixed = isinstance(left, str) != isinstance(right, str)
    if mixed or isinstance(left, complex) or isinstance(right, complex):
        raise Unknown("<", "these values have no order")
    return bool(left < right)  # type: ignore[operator]  # both str or both numbers: checked above


_COMPARE: Mapping[str, Callable[[Value, Value], bool]] = {
    "==": _equal,
    "/=": lambda a, b: not _equal(a, b),
    "<": _less,
    ">=": lambda a, b: not _less(a, b),
    ">": lambda a, b: _less(b, a),
    "<=": lambda a, b: not _less(b, a),
    ".eqv.": _equal,
    ".neqv.": lambda a, b: not _equal(a, b),
}


NUMBER_OF_PROCESSORS = "number_of_processors()"
"""Key in an environment under which the number of processors of the run stands."""


def _call(call: Call, env: Environment) -> Value:
    name, args = call.name, call.args
    if name == "number_of_processors" and not args:
        procs = env.get(NUMBER_OF_PROCESSORS)
        if procs is None or isinstance(procs, ArrayValues):
            raise Unknown(NUMBER_OF_PROCESSORS)
        return procs
    intrinsic = INTRINSICS.get(name)
    if intrinsic is None or intrinsic.value is None:
        raise Unknown(f"{name}()")
    given = intrinsic.bound(call)
    kind = given.pop("kind", None)
    if kind is not None and evaluate(kind, env) not in _KINDS:
        raise Unknown(f"{name}()", "its kind is not known")
    try:
        if intrinsic.form == "type":
            (asked,) = given.values()
            return intrinsic.value(*_type(asked, env))
        known = {key: evaluate(value, env) for key, value in given.items()}
        leading = [known.pop(key) for key in intrinsic.arguments[: intrinsic.required]]
        more = [known.pop(key) for key in tuple(known) if key.isdigit()]
        return intrinsic.value(*leading, *more, **known)
    except (TypeError, ValueError, OverflowError, ZeroDivisionError, KeyError) as error:
        raise Unknown(f"{name}()", str(error)) from error


def _type(expr: Expr, env: Environment) -> tuple[str, int]:
    """The base and the bytes of the type of an expression; a variable has a default integer or double precision."""
    match expr:
        case RealLit(double=double):
            return "real", 8 if double else 4
        case IntLit(bytes=size):
            return "integer", size or 4
        case Call(name="real" | "int" as name, args=(_, IntLit(value=size))):
            return {"int": "integer"}.get(name, name), size
    match evaluate(expr, env):
        case bool():
            return "logical", 4
        case int():
            return "integer", 4
        case float():
            return "real", 8
        case complex():
            return "complex", 16
        case str() as text:
            return "character", len(text)
