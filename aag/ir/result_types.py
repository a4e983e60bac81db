"""The types of operations and of intrinsic functions, from those of what they are applied to."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from aag.ir import expressions as e
from aag.ir.intrinsics import INTRINSICS, Typing
from aag.ir.units import Type

INTEGER = Type(base="integer", bytes=4)
REAL = Type(base="real", bytes=4)
DOUBLE = Type(base="real", bytes=8)
LOGICAL = Type(base="logical", bytes=4)

COMPARING = frozenset((".and.", ".or.", ".eqv.", ".neqv.", "==", "/=", "<", "<=", ">", ">="))
"""Operators whose result is logical."""
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


def type_of(expr: e.Expr, types: Mapping[str, Type]) -> Type:
    """The type of an expression (of an element, where it is an array), from the types of variables."""
    match expr:
        case e.IntLit(bytes=size):
            return Type(base="integer", bytes=size or INTEGER.bytes)
        case e.RealLit(double=double):
            return DOUBLE if double else REAL
        case e.LogicalLit():
            return LOGICAL
        case e.ComplexLit():
            return Type(base="complex", bytes=8)
        case e.Var(name=name) | e.Element(name=name):
            return types.get(name, INTEGER if name[:1] in "ijklmn" else REAL)
        case e.Unary(operand=operand):
            return type_of(operand, types)
        case e.Binary(op=op) if op in COMPARING:
            return LOGICAL
        case e.Binary(left=left, right=right):
            return wider(type_of(left, types), type_of(right, types))
        case e.Call(name=name) if name in INTRINSICS:
            given = INTRINSICS[name].bound(expr)
            kind = given.pop("kind", None)
            found = [type_of(each, types) for each in given.values()]
            return result_of(INTRINSICS[name].type, found or [REAL], kind.value if isinstance(kind, e.IntLit) else 0)
        case _:
            return REAL


def constant_of(value: int, of: Type) -> e.Expr:
    """A small number as a constant of just that type; of LOGICAL, whether it is not 0."""
    match of.base:
        case "real" if of.bytes in (REAL.bytes, DOUBLE.bytes):
            return e.RealLit(float(value), f"{value}.0{'d0' if of == DOUBLE else ''}", double=of == DOUBLE)
        case "complex":
            return e.Call("cmplx", (e.IntLit(value), e.IntLit(0), e.IntLit(of.bytes // 2)))
        case "logical":
            literal = e.LogicalLit(bool(value))
            return literal if of == LOGICAL else e.Call("logical", (literal, e.IntLit(of.bytes)))
        case "integer":
            return e.IntLit(value) if of == INTEGER else e.Call("int", (e.IntLit(value), e.IntLit(of.bytes)))
        case _:
            return e.Call("real", (e.IntLit(value), e.IntLit(of.bytes)))
