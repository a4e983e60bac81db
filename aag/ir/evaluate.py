"""Values of scalar expressions with Fortran's meaning (integer division truncates, and so on).

`evaluate` answers a Python int, float, bool, complex or str, or raises `Unknown` naming the first variable
whose value is not known: functional interpretation (design decision D8) needs to know which one to ask for.
`.and.` and `.or.` are three-valued: a false operand decides `.and.` even when the other is unknown.

Values have the limits of Fortran's own: integers of 64 bits, finite reals; a text has at most `LONGEST_TEXT`
characters. What leaves them is not known, so no value can grow with the number of operations.
"""

import math
from collections.abc import Callable, Mapping

from aag.ir.expressions import Binary, Call, Element, Expr, IntLit, LogicalLit, RealLit, StringLit, Unary, Var

Value = int | float | bool | complex | str
Environment = Mapping[str, Value]

LARGEST_INDEX = 2**53
"""The largest magnitude of an integer that counts iterations or is part of a subscript: a real holds it exactly, and
sums of several stay inside 64 bits."""
LONGEST_TEXT = 100_000
"""The most characters of a value."""
_BITS = 64
_DEFAULT_BITS = 32


class Unknown(Exception):
    """The value of `name` is needed and not known."""

    def __init__(self, name: str, why: str = "") -> None:
        self.name = name
        self.why = why
        number = name.lstrip("-").isdigit()
        what = f"{name} cannot be used" if number else f"the value of {name} is not known"
        super().__init__(f"{what}: {why}" if why else what)


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
            if name not in env:
                raise Unknown(name)
            return env[name]
        case Unary(op=op, operand=operand):
            return limited(_unary(op, evaluate(operand, env)), op)
        case Binary(op=".and." | ".or." as op, left=left, right=right):
            return _logical(op, left, right, env)
        case Binary(op=op, left=left, right=right):
            return limited(_binary(op, evaluate(left, env), evaluate(right, env)), op)
        case Call(name=name, args=args, keywords=keywords):
            return limited(_call(name, args, keywords, env), f"{name}()")
        case Element(name=name):
            raise Unknown(name, "array elements are not evaluated here")
        case _:
            raise Unknown(type(expr).__name__.lower())


def evaluate_int(expr: Expr, env: Environment) -> int:
    """As `evaluate`, for an integer expression that counts iterations or is part of a subscript.

    Raises:
        Unknown: also where the value is not an integer, or beyond `LARGEST_INDEX`.
    """
    value = evaluate(expr, env)
    if isinstance(value, bool) or not isinstance(value, int):
        raise Unknown(str(value), "an integer is needed here")
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
                return _divide(left, right)
            case "**":
                return _power(left, right)
    except (ZeroDivisionError, OverflowError, ValueError) as error:
        raise Unknown(op, str(error)) from error
    raise Unknown(op)


def _divide(left: int | float | complex, right: int | float | complex) -> Value:
    if isinstance(left, int) and isinstance(right, int):
        quotient = abs(left) // abs(right)
        return quotient if (left < 0) == (right < 0) else -quotient
    return left / right


def _power(left: int | float | complex, right: int | float | complex) -> Value:
    if isinstance(left, int) and isinstance(right, int):
        if right < 0:
            return 0 if abs(left) > 1 else _divide(1, left) if right % 2 else _divide(1, left * left)
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


def _real(value: Value) -> float:
    if isinstance(value, str | complex):
        raise Unknown("real", "not a real number")
    return float(value)


def _nint(value: Value) -> int:
    real = _real(value)
    return math.floor(abs(real) + 0.5) * (1 if real >= 0 else -1)


def _mod(left: Value, right: Value) -> Value:
    if isinstance(left, int) and isinstance(right, int):
        return left - right * int(_divide(left, right))  # type: ignore[arg-type]  # int / int is an int
    return math.fmod(_real(left), _real(right))


def _modulo(left: Value, right: Value) -> Value:
    if isinstance(left, int) and isinstance(right, int):
        return left % right
    return _real(left) % _real(right)


def _sign(left: Value, right: Value) -> Value:
    size = abs(_number(left))
    return size if _real(right) >= 0 else -size


def _number(value: Value) -> int | float:
    if isinstance(value, str | complex):
        raise Unknown("number", "not a number")
    return value


def _shifted(value: Value, by: Value) -> int:
    """ISHFT where the result is the same for all kinds of integers: no bit is lost and no sign is moved."""
    if not isinstance(value, int) or not isinstance(by, int):
        raise TypeError("not integers")
    if (value < 0 and by < 0) or (value and value.bit_length() + by >= _DEFAULT_BITS):
        raise ValueError("its bits depend on the kind of the integer")
    return value << by if by >= 0 else value >> -by


def _elementary(function: Callable[[float], float]) -> Callable[..., Value]:
    return lambda x: function(_real(x))


_FUNCTIONS: Mapping[str, Callable[..., Value]] = {
    "abs": lambda x: abs(x) if not isinstance(x, str) else _number(x),
    "int": lambda x: int(_real(x)),
    "ifix": lambda x: int(_real(x)),
    "floor": lambda x: math.floor(_real(x)),
    "ceiling": lambda x: math.ceil(_real(x)),
    "nint": _nint,
    "real": _real,
    "float": _real,
    "dble": _real,
    "mod": _mod,
    "modulo": _modulo,
    "sign": _sign,
    "min": lambda *xs: min(_number(x) for x in xs),
    "max": lambda *xs: max(_number(x) for x in xs),
    "sqrt": _elementary(math.sqrt),
    "exp": _elementary(math.exp),
    "log": _elementary(math.log),
    "log10": _elementary(math.log10),
    "sin": _elementary(math.sin),
    "cos": _elementary(math.cos),
    "tan": _elementary(math.tan),
    "asin": _elementary(math.asin),
    "acos": _elementary(math.acos),
    "atan": _elementary(math.atan),
    "atan2": lambda y, x: math.atan2(_real(y), _real(x)),
    "ishft": _shifted,
    "iand": lambda i, j: int(i) & int(j),
    "ior": lambda i, j: int(i) | int(j),
    "ieor": lambda i, j: int(i) ^ int(j),
    "kind": lambda x: 8 if isinstance(x, float) else 4,
    "selected_real_kind": lambda p=0, r=0: 4 if int(p) <= 6 and int(r) <= 37 else 8,
    "selected_int_kind": lambda r: 4 if int(r) <= 9 else 8,
    "huge": lambda x: 2**31 - 1 if isinstance(x, int) else 1.7976931348623157e308,
    "epsilon": lambda x: 2.220446049250313e-16,
    "tiny": lambda x: 2.2250738585072014e-308,
}

NUMBER_OF_PROCESSORS = "number_of_processors()"
"""Key in an environment under which the number of processors of the run stands."""


def _call(name: str, args: tuple[Expr, ...], keywords: tuple[tuple[str, Expr], ...], env: Environment) -> Value:
    if name == "number_of_processors" and not args:
        if NUMBER_OF_PROCESSORS not in env:
            raise Unknown(NUMBER_OF_PROCESSORS)
        return env[NUMBER_OF_PROCESSORS]
    if name == "kind" and len(args) == 1 and isinstance(args[0], RealLit):
        return 8 if args[0].double else 4
    function = _FUNCTIONS.get(name)
    if function is None:
        raise Unknown(f"{name}()")
    values = [evaluate(arg, env) for arg in args]
    if keywords and keywords[0][0] not in ("kind", "p", "r"):
        raise Unknown(f"{name}()", f"keyword {keywords[0][0]} is not evaluated")
    if name in ("selected_real_kind", "selected_int_kind"):
        values += [evaluate(value, env) for _, value in keywords]
    try:
        return function(*values)
    except (TypeError, ValueError, OverflowError, ZeroDivisionError) as error:
        raise Unknown(f"{name}()", str(error)) from error
