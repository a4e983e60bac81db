"""Kinds of data: each has run-time routines of its own, named by a letter and the bytes of an element (r8, c16)."""

from msgspec import Struct

from aag.ir.spelling import spell_type
from aag.ir.units import Type

_LETTERS = {"real": "r", "integer": "i", "logical": "l", "complex": "c", "character": "s"}
_SIZES = {"real": (4, 8, 16), "integer": (1, 2, 4, 8, 16), "logical": (1, 2, 4, 8, 16), "complex": (8, 16, 32)}
"""Bytes of an element; text may have any length."""

_NUMBERS = {"sum": "values + other", "product": "values * other"}
_ORDERED = {"max": "max(values, other)", "min": "min(values, other)"}
_COMBINED = {
    "real": {**_NUMBERS, **_ORDERED},
    "integer": {**_NUMBERS, **_ORDERED},
    "complex": _NUMBERS,
    "character": _ORDERED,
    "logical": {"all": "values .and. other", "any": "values .or. other"},
}
_MPI = {
    "r4": "MPI_REAL",
    "r8": "MPI_DOUBLE_PRECISION",
    "r16": "MPI_REAL16",
    "i1": "MPI_INTEGER1",
    "i2": "MPI_INTEGER2",
    "i4": "MPI_INTEGER",
    "i8": "MPI_INTEGER8",
    "l4": "MPI_LOGICAL",
    "c8": "MPI_COMPLEX",
    "c16": "MPI_DOUBLE_COMPLEX",
}
"""What MPI can reduce by itself."""


class Kind(Struct, frozen=True):
    """One kind of data."""

    type: Type

    @property
    def name(self) -> str:
        """The suffix of its routines."""
        return f"{_LETTERS[self.type.base]}{self.type.bytes}"

    @property
    def declaration(self) -> str:
        """Its type in Fortran."""
        return spell_type(self.type)

    @property
    def mpi(self) -> str:
        """MPI's name of it; empty where MPI has none."""
        return _MPI.get(self.name, "")

    @property
    def combined(self) -> dict[str, str]:
        """How two vectors of values are combined, for each reduction."""
        return _COMBINED[self.type.base]

    @property
    def poison(self) -> str:
        """A value that spoils every answer that it gets into."""
        size = self.type.bytes
        match self.type.base:
            case "real":
                return f"transfer({_ones(size)}, 0.0_{size})"
            case "complex":
                return f"transfer({_ones(size)}, (0.0_{size // 2}, 0.0_{size // 2}))"
            case "integer":
                return f"-huge(0_{size})"
            case "logical":
                return ".not. a(1)"
            case _:
                return f"repeat(achar(127), {size})"


def _ones(size: int) -> str:
    """All bits of so many bytes, a NaN of every real kind."""
    return "-1" if size == 4 else f"(/ {', '.join(['-1'] * (size // 4))} /)"


def kind_of(of: Type) -> Kind | None:
    """The kind of a type; None where its values cannot be sent."""
    if of.base not in _LETTERS or not (of.bytes in _SIZES[of.base] if of.base in _SIZES else of.bytes > 0):
        return None
    return Kind(of)


def identity(op: str, of: Type, name: str) -> str:
    """The value that changes nothing under a reduction into the variable `name`."""
    match op:
        case "sum" | "count":
            return "0"
        case "product":
            return "1"
        case "max" | "min" if of.base == "character":
            return f"repeat(achar({0 if op == 'max' else 255}), {of.bytes})"
        case "max":
            return f"-huge({name})"
        case "min":
            return f"huge({name})"
        case "all":
            return ".true."
        case _:
            return ".false."
