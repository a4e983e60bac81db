"""The specification part of a program unit: who is declared, as what.

Attributes may come in any order and from any statement (``DIMENSION a(10)`` before or after ``REAL a``), so
they are collected by name first and made into `Entity`s at the end.
"""

from collections.abc import Collection, Mapping

from msgspec import Struct, field

from aag.budget import Budget
from aag.diagnostics import Diagnostic, Span
from aag.ir.directives import Bound
from aag.ir.evaluate import Unknown, Value, evaluate, limited
from aag.ir.expressions import Call, Element, Expr
from aag.ir.units import Common, Entity, Equivalence, Record, Type, Unit
from aag.source.concurrent import ConcurrentHead
from aag.source.constant_arrays import Table, element_of, literals, table_of
from aag.source.expressions import Locator
from aag.source.intrinsic_modules import INTRINSIC_CONSTANTS
from aag.source.statement_functions import Definition, expand

INTEGER = Type(base="integer", bytes=4)
REAL = Type(base="real", bytes=4)


class Known(Struct):
    """What is known of one name so far."""

    shown: str
    span: Span
    type: Type | None = None
    shape: tuple[Bound, ...] | None = None
    attributes: set[str] = field(default_factory=set)
    initial: Expr | None = None
    parts: dict[int, Expr] = field(default_factory=dict)
    """Values of elements that DATA gives, by their place in the array."""
    repeated: bool = False
    """A second declaration has been reported."""


class Declarations(Struct):
    """The declarations of one unit under construction. `outside`: values of the constants of the host and of
    the modules in use; `outer_arrays`: the arrays of these, `outer_texts`: variables of type CHARACTER."""

    operands: Budget
    """The budget of statement functions, one for the whole program."""
    outside: Mapping[str, Value] = field(default_factory=dict)
    outer_arrays: frozenset[str] = frozenset()
    outer_texts: frozenset[str] = frozenset()
    names: dict[str, Known] = field(default_factory=dict)
    constants: dict[str, Value] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)
    implicit: dict[str, Type] = field(default_factory=dict)
    implicit_none: bool = False
    namelists: dict[str, tuple[str, ...]] = field(default_factory=dict)
    commons: list[Common] = field(default_factory=list)
    equivalences: list[Equivalence] = field(default_factory=list)
    uses: list[str] = field(default_factory=list)
    procedures: set[str] = field(default_factory=set)
    generics: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Generic names and operators of its interfaces, with the procedures behind them."""
    interfaces: dict[str, Unit] = field(default_factory=dict)
    """Procedures that its interfaces describe, without statements."""
    operators: set[str] = field(default_factory=set)
    """Operators with names of their own, such as ``.dot.``, that are known here."""
    entries: list[str] = field(default_factory=list)
    """Names of ENTRY statements."""
    derived: dict[str, Record] = field(default_factory=dict)
    unit: str = ""
    """The name of the unit."""
    ranges: dict[str, Span] = field(default_factory=dict)
    """The derived types that it defines, each with its first and last line."""
    statement_functions: dict[str, Definition] = field(default_factory=dict)
    aliases: dict[str, Expr] = field(default_factory=dict)
    """Constants that USE gives another name, and those of intrinsic modules: what they stand for."""
    callees: dict[str, str] = field(default_factory=dict)
    """Procedures that USE gives another name: what they are called in their module."""
    contained: dict[str, str] = field(default_factory=dict)
    """Procedures that it contains and whose name others have, too: the names that each has alone."""
    access: dict[str, str] = field(default_factory=dict)
    """What PUBLIC and PRIVATE say of names; of "" what they say of all others."""
    open: bool = False
    """Whether USE brings names that are not known."""
    diagnostics: list[Diagnostic] = field(default_factory=list)
    incomplete: bool = False
    made: set[str] = field(default_factory=set)
    opened: dict[Span, ConcurrentHead] = field(default_factory=dict)
    """Each DO CONCURRENT of its statements."""

    def __post_init__(self) -> None:
        for kinds in INTRINSIC_CONSTANTS.values():
            self.constants.update(kinds)
        self.constants.update(self.outside)

    def entry(self, name: str, at: Locator | None = None) -> Known:
        """The record of `name`, made on first sight at the place of its next occurrence."""
        name = name.lower()
        found = self.names.get(name)
        if found is None:
            shown = at.shown(name) if at else name
            span = at.span(name) if at else Span("", 0)
            found = self.names[name] = Known(shown, span)
        elif at is not None:
            at.find(name)
        return found

    def is_array(self, name: str) -> bool:
        """Whether `name` has a shape here or in the host."""
        found = self.names.get(name)
        if found is None:
            return name in self.outer_arrays
        return found.shape is not None

    def is_text(self, name: str) -> bool:
        """Whether `name` is of type CHARACTER here or in the host."""
        return self.type_of(name).base == "character" or (name in self.outer_texts and name not in self.names)

    def constant(self, name: str) -> Expr | None:
        """What a name from USE stands for, where that is a constant of another name."""
        return None if name in self.names else self.aliases.get(name)

    def callee(self, name: str) -> str:
        """The name that the procedure has alone which is called by this one here."""
        return name if name in self.names or name in self.procedures else self.specific(name)

    def specific(self, name: str) -> str:
        """As `callee`, where no generic name is meant."""
        return self.contained.get(name) or self.callees.get(name, name)

    def element(self, element: Element) -> Expr:
        """What an element of a named integer constant stands for; any other element as it is."""
        table, own = self.tables.get(element.name), self.names.get(element.name)
        hidden = own is not None and "parameter" not in own.attributes
        return element if table is None or hidden else element_of(table, element)

    def listed(self, name: str) -> tuple[Expr, ...]:
        """The elements of a named integer constant in array element order; none of anything else."""
        own = self.names.get(name)
        hidden = own is not None and "parameter" not in own.attributes
        return () if hidden else tuple(self.tables.get(name, {}).values())

    def adopt_host(self, host: "Declarations") -> None:
        """Take over what a host makes known."""
        self.adopt(host)
        self.callees |= {name: own for name, own in host.contained.items() if name not in host.procedures}

    def adopt_module(self, module: "Declarations", only: Collection[str] | None) -> None:
        """Take over what a module makes known, of its procedures those that are public and listed by ONLY."""
        before = self.callees
        self.adopt(module)
        usual = module.access.get("", "public")
        self.callees = before | {
            name: module.callee(name)
            for name in (*module.callees, *module.contained)
            if name not in module.generics
            and module.access.get(name, usual) == "public"
            and (only is None or name in only)
        }

    def adopt(self, other: "Declarations") -> None:
        """Take over what a host or a module makes known; of tables of constants, those whose names it does not hide."""
        self.constants |= other.constants
        self.aliases |= {name: value for name, value in other.aliases.items() if name not in other.names}
        self.callees |= {new: old for new, old in other.callees.items() if new not in other.names}
        self.derived |= other.derived
        self.namelists |= other.namelists
        self.open = self.open or other.open
        self.operators |= other.operators
        self.tables |= {name: literals(table) for name, table in other.tables.items()}
        self.outer_arrays |= other.outer_arrays | {
            name for name, known in other.names.items() if known.shape is not None
        }
        self.outer_texts |= other.outer_texts | {name for name in other.names if other.is_text(name)}

    def is_operator(self, word: str) -> bool:
        """Whether an interface declares an operator of this name."""
        return word in self.operators

    def expanded(self, call: Call) -> Expr:
        """What a reference to a statement function stands for; any other call as it is."""
        found = self.statement_functions.get(call.name)
        if found is None or len(found[0]) != len(call.args):
            return call
        return expand(call, found, self.operands)

    def fresh(self, prefix: str) -> str:
        """Reserve a name that nothing in the unit has."""
        number = 1
        while (name := f"{prefix}_{number}") in self.names or name in self.made:
            number += 1
        self.made.add(name)
        return name

    def declare_integer(self, name: str) -> None:
        """Make a name a default integer."""
        self.names[name] = Known(name, Span("", 0), INTEGER)

    def kind_bytes(self, kind: str) -> int:
        """Bytes of a numeric literal of this kind, 0 where it is not known."""
        value = int(kind) if kind.isdigit() else self.constants.get(kind)
        return value if isinstance(value, int) else 0

    def type_of(self, name: str) -> Type:
        """The type of `name` by declaration or by the implicit rules."""
        found = self.names.get(name)
        if found is not None and found.type is not None:
            return found.type
        return self.implicit_type(name)

    def implicit_type(self, name: str) -> Type:
        """The type that the first letter of `name` gives."""
        letter = name[0]
        return self.implicit.get(letter) or (INTEGER if letter in "ijklmn" else REAL)

    def entities(self) -> tuple[Entity, ...]:
        """All names, in the order of their first appearance."""
        return tuple(
            Entity(
                name=name,
                shown=known.shown,
                type=known.type or self.implicit_type(name),
                shape=known.shape,
                attributes=frozenset(known.attributes | (set() if known.type else {"implicit"})),
                initial=known.initial,
                span=known.span,
            )
            for name, known in self.names.items()
            if name not in self.procedures
        )

    def define_constant(self, name: str, value: Expr) -> None:
        """Give a PARAMETER its value, converted to its type, if it can be told now."""
        known = self.names[name]
        known.attributes.add("parameter")
        known.initial = value
        if known.shape is not None:
            self.tables.pop(name, None)
            if self.type_of(name).base == "integer":
                arrays = self.outer_arrays | {each for each, found in self.names.items() if found.shape is not None}
                self.tables[name] = table_of(known.shape, value, self.constants, arrays)
            return
        try:
            self.constants[name] = _converted(evaluate(value, self.constants), self.type_of(name))
        except Unknown:
            self.constants.pop(name, None)


def _converted(value: Value, to: Type) -> Value:
    if isinstance(value, bool | str):
        return value
    if to.base == "integer" and isinstance(value, float):
        return limited(int(value), str(value))
    if to.base == "real" and isinstance(value, int):
        return float(value)
    return value
