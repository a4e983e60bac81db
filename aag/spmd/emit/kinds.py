"""Kinds of data: each has run-time routines of its own, named by a letter and the bytes of an element (r8, c16)."""

from typing import Literal

from msgspec import Struct

from aag.ir.expressions import Var
from aag.ir.intrinsics import REDUCTIONS
from aag.ir.spelling import spell, spell_type
from aag.ir.units import SIZES, Type

_LETTERS = {"real": "r", "integer": "i", "logical": "l", "complex": "c", "character": "s"}
_COMPARED: tuple[Literal["real", "integer"], ...] = ("real", "integer")
"""What MAXLOC and MINLOC look at."""
_BETTER = """\
merge(other, values, other%place /= 0 .and. (values%place == 0 .or. &
          other%value {sign} values%value .or. (other%value == values%value .and. other%place < values%place)))"""
"""The better ones of two vectors of pairs of a value and its place, the earlier ones where they are equal."""
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
        if self.is_pair:
            return self.type.derived.removeprefix("esp_")
        return f"{_LETTERS[self.type.base]}{self.type.bytes}"

    @property
    def compared(self) -> Type:
        """The type of what decides which of two values is kept: of the value in a pair, else of itself."""
        if not self.is_pair:
            return self.type
        name = self.name.removeprefix("pair_")
        return next(Type(base=base, bytes=int(name[1:])) for base in _COMPARED if _LETTERS[base] == name[0])

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
        found = {op: each for op, each in REDUCTIONS.items() if self.type.base in each.bases}
        if self.is_pair:
            return {op: _BETTER.format(sign=">" if op == "maxloc" else "<") for op in found}
        return {op: spell(each.combined(Var("values"), Var("other"))) for op, each in found.items()}

    @property
    def value(self) -> str:
        """The type of the value of a pair; empty where it is none."""
        return f"{'real' if self.name[5] == 'r' else 'integer'}({self.name[6:]})" if self.is_pair else ""

    @property
    def is_pair(self) -> bool:
        """Whether it holds a value and its place."""
        return self.type.base == "derived"

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
            case "derived":
                return f"esp_{self.name}(0, -1)"
            case _:
                return f"repeat(achar(127), {size})"


def _ones(size: int) -> str:
    """All bits of so many bytes, a NaN of every real kind."""
    return "-1" if size == 4 else f"(/ {', '.join(['-1'] * (size // 4))} /)"


def kind_of(of: Type) -> Kind | None:
    """The kind of a type; None where its values cannot be sent."""
    if of.base == "derived" and of.derived.startswith("esp_pair_"):
        return Kind(of)
    if of.base not in _LETTERS or not (of.bytes in SIZES[of.base] if of.base in SIZES else of.bytes > 0):
        return None
    return Kind(of)
