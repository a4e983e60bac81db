"""Program units and declarations.

program = Program(units, source, diagnostics)
unit    = Unit(kind, name, arguments, entities, commons, equivalences, directives, body, contains)
entity  = Entity(name, type, shape, attributes, initial)
"""

from collections.abc import Mapping
from typing import Literal, Protocol

from msgspec import Struct, field

from aag.diagnostics import Diagnostic, Span
from aag.ir.costs import RoutineCost
from aag.ir.directives import Bound, Directive
from aag.ir.expressions import Expr
from aag.ir.statements import Stmt

SIZES: Mapping[str, tuple[int, ...]] = {
    "integer": (1, 2, 4, 8, 16),
    "real": (4, 8, 16),
    "complex": (8, 16, 32),
    "logical": (1, 2, 4, 8, 16),
}
"""Bytes of one element, by base; text may have any length."""


Form = Literal["free", "fixed", "fixed72", "fixed132"]
"""Source form; ``fixed`` with 72 or 132 columns, whichever makes a program."""


class Line(Struct, frozen=True):
    """One physical line and where it stands."""

    file: str
    number: int
    text: str


class Texts(Protocol):
    """What has the lines of a program: those of the main file, and of others."""

    @property
    def file(self) -> str:
        """The main file."""
        ...

    @property
    def lines(self) -> tuple[str, ...]:
        """Its lines."""
        ...

    @property
    def others(self) -> Mapping[str, Mapping[int, str]]:
        """File -> number -> line."""
        ...


def line_in(texts: Texts, file: str, line: int) -> str:
    """A line of one of the files, empty if there is no such line. An empty file name means the main file."""
    if file in ("", texts.file):
        return texts.lines[line - 1] if 0 < line <= len(texts.lines) else ""
    return texts.others.get(file, {}).get(line, "")


class SourceFile(Struct, frozen=True, kw_only=True):
    """A file of a program as compilers read it: INCLUDE lines and macros are expanded."""

    file: str
    form: Form
    """Its source form; ``fixed`` alone does not occur."""
    lines: tuple[Line, ...]


class RecordField(Struct, frozen=True, kw_only=True):
    """A component of a derived type; `initial`: its default."""

    name: str
    shown: str
    type: "Type"
    shape: tuple[Bound, ...] | None
    initial: Expr | None


class Record(Struct, frozen=True, kw_only=True):
    """A derived type. `home`: the unit that defines it; `bound`: its procedures; `problem`: why its variables are not
    modelled."""

    name: str
    home: str
    fields: tuple[RecordField, ...]
    bytes: int = 0
    bound: frozenset[str] = frozenset()
    problem: str = ""

    def component(self, name: str) -> RecordField | None:
        """The component of a name (lower case), or None."""
        return next((each for each in self.fields if each.name == name), None)


class Type(Struct, frozen=True, kw_only=True):
    """A type: base and its size in bytes for one element (complex: both parts). `derived`: name of a derived
    type, `record`: what the source says of it."""

    base: Literal["integer", "real", "complex", "logical", "character", "derived"]
    bytes: int
    derived: str = ""
    record: Record | None = None

    @property
    def operation_kind(self) -> str:
        """Prefix of the operation classes: int, r4, r8, c8, c16, logical."""
        match self.base:
            case "real":
                return "r8" if self.bytes >= 8 else "r4"
            case "complex":
                return "c16" if self.bytes >= 16 else "c8"
            case "logical":
                return "logical"
            case _:
                return "int"


class Entity(Struct, frozen=True, kw_only=True):
    """A declared name. `shape` None: scalar. `attributes`: parameter, allocatable, save, target, pointer,
    optional, external, intrinsic, intent(in|out|inout), implicit (typed by the implicit rules)."""

    name: str
    shown: str
    type: Type
    shape: tuple[Bound, ...] | None
    attributes: frozenset[str]
    initial: Expr | None
    span: Span


class Common(Struct, frozen=True, kw_only=True):
    """COMMON /block/ names, in storage order."""

    block: str
    names: tuple[str, ...]


class Equivalence(Struct, frozen=True, kw_only=True):
    """One EQUIVALENCE set: variables, elements and substrings that begin at the same place of memory."""

    members: tuple[Expr, ...]
    span: Span


class Concurrent(Struct, frozen=True, kw_only=True):
    """A DO CONCURRENT whose head only compilers of Fortran 2018 read: its head and its end, the controls in their
    parenthesis, and what it declares. `typed`: its indices, where it gives their type; `local`, `initial`: the
    variables in LOCAL and in LOCAL_INIT."""

    head: Span
    end: Span
    controls: str
    typed: tuple["Entity", ...] = ()
    local: tuple["Entity", ...] = ()
    initial: tuple["Entity", ...] = ()


class Unit(Struct, frozen=True, kw_only=True, eq=False):
    """A program unit. `directives` are the mapping directives of its specification part. `repeated`: directives of
    other units, in the names of this one, that map again what these map: arrays of common blocks and equal templates.
    """

    kind: Literal["program", "subroutine", "function", "module", "block_data"]
    name: str
    arguments: tuple[str, ...]
    result: str
    prefixes: frozenset[str]
    uses: tuple[str, ...]
    entities: tuple[Entity, ...]
    commons: tuple[Common, ...]
    directives: tuple[Directive, ...]
    body: tuple[Stmt, ...]
    contains: tuple["Unit", ...]
    span: Span
    end: Span
    equivalences: tuple[Equivalence, ...] = ()
    repeated: tuple[Directive, ...] = ()
    records: Mapping[str, Record] = field(default_factory=dict)
    """The derived types that the unit knows, until their variables are split."""
    refusals: Mapping[str, str] = field(default_factory=dict)
    """Functions that it calls and whose bodies cannot take the place of these calls, and why."""

    def entity(self, name: str) -> Entity | None:
        """The declaration of a name (lower case), or None."""
        return next((each for each in self.entities if each.name == name), None)


def shown_procedure(name: str) -> str:
    """How texts name a procedure: ``work$one``, which others share their name with, is ``one:work``."""
    return ":".join(reversed(name.split("$")))


class Program(Struct, frozen=True, kw_only=True, eq=False):
    """A whole program. `file` is the file with the main program, `lines` are its physical lines as read, for annotated
    output, `others` those of its other files by their number; `complete` is False where an `Opaque` statement had to
    stand for something."""

    file: str
    lines: tuple[str, ...]
    others: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    units: tuple[Unit, ...]
    diagnostics: tuple[Diagnostic, ...]
    complete: bool
    form: Form = "free"
    """How `file` is read; ``fixed`` alone does not occur."""
    sources: tuple[SourceFile, ...] = ()
    """All files, those with modules before those that use them."""
    unrecognised: Mapping[str, int] = field(default_factory=dict)
    """Templates and processor arrangements that only a comment would declare, with its line (W108)."""
    concurrent: tuple[Concurrent, ...] = ()
    costs: tuple[RoutineCost, ...] = ()
    """What procedures cost that the source lacks, as the user says."""
    elements: tuple[tuple[str, Expr], ...] = ()
    """Values that the user gives elements of arrays, such as ``gp(1)``."""
    given: tuple[tuple[str, Expr], ...] = ()
    """Values that the user gives scalars that the program computes: they hold instead."""

    def lines_of(self, file: str) -> tuple[str, ...]:
        """The lines of one of the files, empty if there is no such file."""
        if file == self.file:
            return self.lines
        found = self.others.get(file, {})
        return tuple(found.get(number, "") for number in range(1, max(found, default=0) + 1))

    @property
    def main(self) -> Unit | None:
        """The main program, or None where the source has none."""
        return next((unit for unit in self.units if unit.kind == "program"), None)
