"""The types that arguments of intrinsic functions may have, whatever their kinds."""

from collections.abc import Mapping
from types import MappingProxyType

from aag.ir.intrinsics import INTRINSICS

FORMS_WITH_ARGUMENTS = frozenset(
    ("elemental", "reduction", "location", "expanded", "shift", "transpose", "matmul", "spread", "bounds")
)
"""Forms of functions whose row names all arguments that they have."""

_I, _R, _Z, _L, _C = ("integer",), ("real",), ("complex",), ("logical",), ("character",)
_N = ("integer", "real", "complex")

_FIRST: Mapping[tuple[str, ...], str] = {
    (*_R, *_Z): "sqrt exp log sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh",
    _R: "log10 aint anint nint floor ceiling atan2 hypot erf erfc erfc_scaled gamma log_gamma bessel_j0 bessel_j1"
    " bessel_y0 bessel_y1 exponent fraction rrspacing spacing nearest scale set_exponent",
    _Z: "aimag conjg",
    _N: "abs int real dble cmplx sum product",
    (*_I, *_R): "mod modulo sign dim",
    (*_I, *_R, *_C): "max min maxval minval maxloc minloc",
    _I: "iand ior ieor not ishft ishftc shiftl shiftr shifta ibset ibclr ibits btest popcnt poppar leadz trailz float"
    " achar char iall iany iparity",
    _L: "any all parity count",
    _C: "index scan verify len_trim adjustl adjustr ichar iachar lge lgt lle llt",
}
_BY_FUNCTION = MappingProxyType({name: types for types, names in _FIRST.items() for name in names.split()})
"""Function -> types of its first argument."""

_OTHERS: Mapping[str, str] = {
    "iand": "j",
    "ior": "j",
    "ieor": "j",
    "ishft": "shift",
    "shiftl": "shift",
    "shiftr": "shift",
    "shifta": "shift",
    "btest": "pos",
    "ibset": "pos",
    "ibclr": "pos",
    "atan2": "x",
    "hypot": "y",
    "index": "substring",
    "scan": "set",
    "verify": "set",
    "max": "a2",
    "min": "a2",
    "mod": "p",
    "modulo": "p",
    "sign": "b",
    "dim": "y",
}
"""Function -> another argument with the types of the first."""

_KEYS = MappingProxyType({"dim": _I, "kind": _I, "mask": _L, "ncopies": _I, "back": _L})
"""Arguments that have these types in all functions but MERGE_BITS."""

SAME = frozenset("max min mod modulo sign dim merge atan2".split())
"""Functions whose first two arguments are of one type."""


def accepted(function: str, argument: str) -> tuple[str, ...]:
    """The types that an argument may have; empty where that is not known."""
    if argument in _KEYS and function != "merge_bits":
        return _KEYS[argument]
    if argument == "shift" and function in ("cshift", "eoshift"):
        return _I
    if _OTHERS.get(function) == argument:
        return _BY_FUNCTION[function]
    row = INTRINSICS.get(function)
    first = row is not None and row.arguments[:1] == (argument,)
    return _BY_FUNCTION.get(function, ()) if first else ()
