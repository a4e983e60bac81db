"""The types of operations and of intrinsic functions, from those of what they are applied to."""

from collections.abc import Sequence

from msgspec.structs import replace

from aag.ir.intrinsics import Typing
from aag.ir.units import Type

INTEGER = Type(base="integer", bytes=4)
REAL = Type(base="real", bytes=4)
DOUBLE = Type(base="real", bytes=8)
LOGICAL = Type(base="logical", bytes=4)

_ORDER = ("logical", "integer", "real", "complex")


def wider(left: Type, right: Type) -> Type:
    """The type of an arithmetic operation on two types."""
    if left == right or left.base not in _ORDER or right.base not in _ORDER:
        return left
    base = max(left.base, right.base, key=_ORDER.index)
    sizes = [each.bytes for each in (left, right) if each.base == base]
    if base == "complex":
        sizes += [2 * each.bytes for each in (left, right) if each.base == "real"]
    return Type(base=base, bytes=max(sizes))


def result_of(rule: Typing, types: Sequence[Type], size: int) -> Type:
    """The type of a function's result, from those of its arguments; `size`: what KIND= says, or 0."""
    first = types[0]
    match rule:
        case "second":
            return types[1]
        case "common":
            return wider(first, types[1]) if len(types) > 1 else first
        case "kind" | "part" if first.base == "complex":
            return Type(base="real", bytes=size or first.bytes // 2)
        case "kind":
            return Type(base="real", bytes=size or REAL.bytes)
        case "complex":
            return Type(base="complex", bytes=2 * (size or REAL.bytes))
        case "double":
            return DOUBLE
        case "double complex":
            return Type(base="complex", bytes=16)
        case "character":
            return Type(base="character", bytes=1)
        case "integer" | "real" | "logical":
            return Type(base=rule, bytes=size or INTEGER.bytes)
        case "first" | "part":
            return replace(first, bytes=size) if size else first
