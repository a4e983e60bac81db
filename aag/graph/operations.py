"""What one operator or one intrinsic function does, in operation classes of the P component.

Complex arithmetic is spelled out in real operations: no machine prices it by itself.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

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
_ELEMENTARY = {
    "sqrt": "sqrt",
    "exp": "exp",
    "log": "log",
    "log10": "log",
    **dict.fromkeys(("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh"), "sin"),
}
_ON_KIND: Mapping[str, Mapping[str, int]] = {"sign": {"cmp": 1}, "dim": {"add": 1, "cmp": 1}, "conjg": {"add": 1}}
_ROUNDING: Mapping[str, Mapping[str, int]] = {
    "int": {},
    "ifix": {},
    "nint": {"add": 1},
    "floor": {"cmp": 1},
    "ceiling": {"cmp": 1},
}
_CONVERSION = frozenset(("real", "dble", "float", "sngl", "cmplx", "dcmplx", "logical"))
_BITS = frozenset(("iand", "ior", "ieor", "not", "ishft", "ishftc", "btest", "ibset", "ibclr", "ibits", "merge"))
_SHIFTED = frozenset(("cshift$", "eoshift$", "merge$eoshift"))

FREE = frozenset(
    "aimag allocated associated present size lbound ubound shape kind huge tiny epsilon precision range digits "
    "maxexponent minexponent number_of_processors processors_shape char ichar achar iachar len".split()
)
"""Intrinsic functions that the compiler or the descriptor of an array answers."""

PURE = frozenset(("abs", "min", "max", "mod", "modulo", "aint", "anint")).union(
    _ELEMENTARY, _ON_KIND, _ROUNDING, _CONVERSION, _BITS, _SHIFTED
)
"""Intrinsic functions whose operations are known here; any other function is a call."""

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


def function_operations(name: str, arguments: Sequence[Type], result: Type) -> "Counter[str]":
    """What one call of a function is; a function that is not known is a call of one."""
    first = arguments[0] if arguments else result
    found: Counter[str]
    match name:
        case _ if name in _ELEMENTARY:
            found = operations(result, _ELEMENTARY[name])
        case "abs" if first.base == "complex":
            part = component(first)
            found = Counter({f"{part}.mul": 2, f"{part}.add": 1, f"{part}.sqrt": 1})
        case "abs" | "min" | "max":
            found = operations(first, "cmp", max(1, len(arguments) - 1))
        case "mod" | "modulo":
            rest = ("div",) if first.base == "integer" else ("div", "mul", "add")
            found = Counter({f"{component(first)}.{each}": 1 for each in rest})
        case "aint" | "anint":
            found = Counter({"convert": 2})
        case _ if name in _ON_KIND:
            found = Counter({f"{component(first)}.{each}": number for each, number in _ON_KIND[name].items()})
        case _ if name in _ROUNDING:
            extra = {} if first.base == "integer" else _ROUNDING[name]
            found = Counter({f"{component(first)}.{each}": number for each, number in extra.items()})
            found["convert"] += converts(first, result)
        case _ if name in _CONVERSION:
            parts = arguments[: 2 if result.base == "complex" else 1]  # what follows is a kind
            found = Counter({"convert": sum(converts(each, result) for each in parts)})
        case _ if name in _BITS:
            found = Counter({"logical": 1})
        case _ if name in _SHIFTED:
            found = Counter({"int.add": 1})
        case _ if name in FREE:
            found = Counter()
        case _:
            found = Counter({"call": 1})
    return found
