"""Values of intrinsic functions of scalars, with Fortran's meaning.

Each function takes values and returns a value; one that has none for its arguments raises `Unknown`, or what Python
raises (`aag.ir.evaluate` turns that into `Unknown`). The inquiries about a type take its base and its bytes.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

Value = int | float | bool | complex | str


class ArrayValues(Struct, frozen=True, eq=False):
    """The elements of an array, as the value of its name."""

    def at(self, places: Sequence[Any]) -> Any:
        """The element at some subscripts; for subscripts that are vectors, a vector of elements.

        Raises:
            Unknown: it is outside the array.
        """
        raise NotImplementedError


_DEFAULT_BITS = 32
_DIGITS = {4: 24, 8: 53, 16: 113}
_MAX_EXPONENT = {4: 128, 8: 1024, 16: 16384}


class Unknown(Exception):
    """The value of `name` is needed and not known."""

    def __init__(self, name: str, why: str = "") -> None:
        self.name = name
        self.why = why
        number = name.lstrip("-").isdigit()
        what = f"{name} cannot be used" if number else f"the value of {name} is not known"
        super().__init__(f"{what}: {why}" if why else what)


def real(value: Value) -> float:
    """A number that is not complex, as a real."""
    if isinstance(value, str | complex):
        raise Unknown("real", "not a real number")
    return float(value)


def number(value: Value) -> int | float:
    """A number that is not complex, as it is."""
    if isinstance(value, str | complex):
        raise Unknown("number", "not a number")
    return value


def divide(left: int | float | complex, right: int | float | complex) -> int | float | complex:
    """A quotient; that of integers is truncated."""
    if isinstance(left, int) and isinstance(right, int):
        quotient = abs(left) // abs(right)
        return quotient if (left < 0) == (right < 0) else -quotient
    return left / right


def elementary(function: Callable[[float], float]) -> Callable[[Value], Value]:
    """A function of a real number."""
    return lambda x: function(real(x))


def arctangent(x: Value, y: Value | None = None) -> Value:
    """ATAN of a number, or of the quotient of two."""
    return math.atan(real(x)) if y is None else math.atan2(real(x), real(y))


def absolute(value: Value) -> Value:
    """ABS."""
    return number(value) if isinstance(value, str) else abs(value)


def largest(*given: Value) -> Value:
    """MAX."""
    return max(map(number, given))


def least(*given: Value) -> Value:
    """MIN."""
    return min(map(number, given))


def nint(value: Value) -> int:
    """NINT: halves go away from 0."""
    given = real(value)
    return math.floor(abs(given) + 0.5) * (1 if given >= 0 else -1)


def mod(left: Value, right: Value) -> Value:
    """MOD: with the sign of the first argument."""
    if isinstance(left, int) and isinstance(right, int):
        return left - right * int(divide(left, right))  # type: ignore[arg-type]  # int / int is an int
    return math.fmod(real(left), real(right))


def modulo(left: Value, right: Value) -> Value:
    """MODULO: with the sign of the second argument."""
    if isinstance(left, int) and isinstance(right, int):
        return left % right
    return real(left) % real(right)


def dim(left: Value, right: Value) -> Value:
    """DIM: the difference where it is positive, else 0."""
    return max(number(left) - number(right), 0 * number(left))


def sign(left: Value, right: Value) -> Value:
    """SIGN: the size of the first argument with the sign of the second."""
    size = abs(number(left))
    return size if real(right) >= 0 else -size


def whole(value: Value) -> int:
    """A value that must be an integer.

    Raises:
        Unknown: it is none; a truth value is none either.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise Unknown("integer", "not an integer")
    return value


def shifted(value: Value, by: Value) -> int:
    """ISHFT where the result is the same for all kinds of integers: no bit is lost and no sign is moved."""
    bits, count = whole(value), whole(by)
    if (bits < 0 and count < 0) or (bits and bits.bit_length() + count >= _DEFAULT_BITS):
        raise ValueError("its bits depend on the kind of the integer")
    return bits << count if count >= 0 else bits >> -count


def real_kind(p: Value = 0, r: Value = 0) -> int:
    """SELECTED_REAL_KIND."""
    return 4 if int(real(p)) <= 6 and int(real(r)) <= 37 else 8


# --- what is asked about a type: its base, its bytes ----------------------------------------------------------------


def kind(base: str, size: int) -> Value:
    """KIND."""
    return size // 2 if base == "complex" else size


def digits(base: str, size: int) -> Value:
    """DIGITS: of the radix, in the fraction of a real, or in an integer without its sign."""
    return 8 * size - 1 if base == "integer" else _DIGITS[size]


def huge(base: str, size: int) -> Value:
    """HUGE."""
    if base == "integer":
        return (1 << (8 * size - 1)) - 1
    return math.ldexp(1 - 2.0 ** -_DIGITS[size], _MAX_EXPONENT[size] - 1) * 2


def tiny(base: str, size: int) -> Value:  # noqa: ARG001 (all inquiries are called alike)
    """TINY."""
    return math.ldexp(1.0, min_exponent("real", size) - 1)


def epsilon(base: str, size: int) -> Value:  # noqa: ARG001 (all inquiries are called alike)
    """EPSILON."""
    return math.ldexp(1.0, 1 - _DIGITS[size])


def max_exponent(base: str, size: int) -> int:  # noqa: ARG001 (all inquiries are called alike)
    """MAXEXPONENT."""
    return _MAX_EXPONENT[size]


def min_exponent(base: str, size: int) -> int:  # noqa: ARG001 (all inquiries are called alike)
    """MINEXPONENT."""
    return 3 - _MAX_EXPONENT[size]


def precision(base: str, size: int) -> Value:
    """PRECISION: decimal digits."""
    return int((_DIGITS[size // 2 if base == "complex" else size] - 1) * math.log10(2))


def decimal_range(base: str, size: int) -> Value:
    """RANGE: decimal exponent."""
    if base == "integer":
        return int((8 * size - 1) * math.log10(2))
    largest = _MAX_EXPONENT[size // 2 if base == "complex" else size]
    return int(min(largest, largest - 3) * math.log10(2))


def bits(base: str, size: int) -> Value:  # noqa: ARG001 (all inquiries are called alike)
    """BIT_SIZE and STORAGE_SIZE."""
    return 8 * size
