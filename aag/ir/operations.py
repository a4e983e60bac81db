"""What one operator or one intrinsic function does, in operation classes of the P component.

Complex arithmetic is spelled out in real operations: no machine prices it by itself.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from aag.ir.units import Type

_COMPONENT = {"c8": "r4", "c16": "r8", "logical": "int"}
_COMPLEX: Mapping[str, Mapping[str, int]] = {
    "add": {"add": 2},
    "mul": {"mul": 4, "add": 2},
    "div": {"mul": 6, "add": 3, "div": 2},
    "cmp": {"cmp": 2},
    "sqrt": {"sqrt": 2, "mul": 2, "add": 2},
    "exp": {"exp": 1, "sin": 2, "mul": 2},
    "log": {"log": 1, "sin": 1, "mul": 2, "add": 1},
    "sin": {"sin": 2, "exp": 1, "mul": 2, "add": 2},
    "pow": {"log": 1, "exp": 1, "sin": 3, "mul": 6, "add": 3},
}
_LOOP_POWER = 4
"""Multiplications where an integer exponent is not known: the mean of exponents up to 15, by repeated squaring."""


def component(kind: Type) -> str:
    """The prefix of the classes of a type: int, r4 or r8 (of its parts, where it is complex)."""
    return _COMPONENT.get(kind.operation_kind, kind.operation_kind)


def operations(kind: Type, operation: str, times: int = 1) -> "Counter[str]":
    """What `operation` (add, mul, div, cmp, sqrt, ...) on a type is."""
    parts = _COMPLEX.get(operation, {operation: 1}) if kind.base == "complex" else {operation: 1}
    return Counter({f"{component(kind)}.{name}": number * times for name, number in parts.items()})


def combination(operation_class: str) -> "Counter[str]":
    """What combining two values is, where the class may be that of a complex operation (c8.add)."""
    prefix, _, operation = operation_class.partition(".")
    parts = _COMPLEX.get(operation, {operation: 1}) if prefix in ("c8", "c16") else {}
    spelled = {f"{_COMPONENT[prefix]}.{name}": number for name, number in parts.items()}
    return Counter(spelled or {operation_class: 1})


def converts(one: Type, other: Type) -> bool:
    """Whether a value of one type needs an operation to become one of the other."""
    arithmetic = ("integer", "real", "complex")
    if one == other or one.base not in arithmetic or other.base not in arithmetic:
        return False
    return component(one) != component(other)


def power_operations(result: Type, exponent: Type, value: int | None) -> "Counter[str]":
    """What raising to a power is; `value` is that of an integer exponent the compiler knows."""
    if exponent.base != "integer":
        return operations(result, "pow")
    if value is None:
        return operations(result, "pow") if result.base == "integer" else operations(result, "mul", _LOOP_POWER)
    size = abs(value)
    squarings = max(0, size.bit_length() - 1 + size.bit_count() - 1)
    reciprocal = operations(result, "div") if value < 0 else Counter[str]()
    return operations(result, "mul", squarings) + reciprocal


# --- charges of intrinsic functions: the operations of one call, by the types of its arguments and result ------------

Charge = Callable[[Sequence[Type], Type], "Counter[str]"]


def on_result(operation: str) -> Charge:
    """An operation on the type of the result, spelled out where that is complex."""
    return lambda _, result: operations(result, operation)


def on_first(**parts: int) -> Charge:
    """Operations on the type of the first argument (on its parts, where it is complex)."""
    return lambda arguments, _: Counter({f"{component(arguments[0])}.{each}": number for each, number in parts.items()})


def fixed(**parts: int) -> Charge:
    """The same for all types."""
    return lambda *_: Counter(parts)


def rounding(**parts: int) -> Charge:
    """Operations on a real, and its conversion; an integer is converted only where its size changes."""

    def charge(arguments: Sequence[Type], result: Type) -> "Counter[str]":
        (first, *_) = arguments
        extra = {} if first.base == "integer" else parts
        found = Counter({f"{component(first)}.{each}": number for each, number in extra.items()})
        found["convert"] += converts(first, result)
        return found

    return charge


def conversion(arguments: Sequence[Type], result: Type) -> "Counter[str]":
    """The conversion of a number, or of both parts of a complex one."""
    parts = arguments[: 2 if result.base == "complex" else 1]
    return Counter({"convert": sum(converts(each, result) for each in parts)})


def size(arguments: Sequence[Type], result: Type) -> "Counter[str]":
    """ABS: a comparison, or the length of a complex number."""
    (first, *_) = arguments
    if first.base != "complex":
        return extreme(arguments, result)
    part = component(first)
    return Counter({f"{part}.mul": 2, f"{part}.add": 1, f"{part}.sqrt": 1})


def extreme(arguments: Sequence[Type], _: Type) -> "Counter[str]":
    """MAX and MIN: a comparison for each argument but the first."""
    return operations(arguments[0], "cmp", max(1, len(arguments) - 1))


def remainder(arguments: Sequence[Type], _: Type) -> "Counter[str]":
    """MOD and MODULO: a division; that of reals is followed by a product and a difference."""
    parts = ("div",) if arguments[0].base == "integer" else ("div", "mul", "add")
    return Counter({f"{component(arguments[0])}.{each}": 1 for each in parts})
