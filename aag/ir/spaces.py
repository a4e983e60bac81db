"""Sections that array expressions run over, and new arrays with an element beside each of theirs."""

from collections.abc import Sequence

from msgspec import Struct

from aag.ir import statements as s
from aag.ir.directives import Align, Bound, Distribute, Star
from aag.ir.expressions import Binary, Call, Element, Expr, IntLit, Section, Unary, Var
from aag.ir.intrinsics import INTRINSICS
from aag.ir.linear import add, multiply, subtract
from aag.ir.ranks import rank_of
from aag.ir.result_types import type_of
from aag.ir.storage import allocations
from aag.ir.units import Entity, Type, Unit
from aag.ir.visitors import children, map_operands, names_in

_WHOLE = Section(None, None, None)


class NoPlacesError(Exception):
    """An array expression with elements whose places are not known."""


class Range(Struct, frozen=True):
    """One dimension of a section."""

    lower: Expr
    upper: Expr
    step: Expr | None

    @property
    def count(self) -> Expr:
        """How many elements it has."""
        last = subtract(self.upper, self.lower)
        return add(last, 1) if self.step is None else Binary("/", add(last, self.step), self.step)

    def place(self, number: Expr) -> Expr:
        """The subscript of the element of this number, from 1."""
        return add(self.lower, multiply(self.step or IntLit(1), subtract(number, IntLit(1))))


class Conformable(Struct, frozen=True):
    """The elements of a section of an array: whatever conforms to it has one element beside each."""

    leader: Element
    ranges: tuple[Range, ...]

    def at(self, section: Element, places: Sequence[Expr]) -> Element:
        """The element of a section at some places."""
        left = iter(places)
        subscripts = (next(left) if isinstance(each, Section) else each for each in section.subscripts)
        return Element(section.name, tuple(subscripts), span=section.span)


class Spaces:
    """The arrays of a unit; makes new ones, and the statements that use them, in `made`."""

    def __init__(self, unit: Unit) -> None:
        self.known = {each.name: each for each in unit.entities}
        placed = [each for each in unit.directives if isinstance(each, Align | Distribute)]
        self.placed = {each.alignee if isinstance(each, Align) else each.distributee for each in placed}
        self.shared = frozenset[str]().union(*(names_in(*each.members) for each in unit.equivalences))
        self.allocated = allocations(unit)
        self.span = unit.span
        self.made: list[s.Stmt] = []
        self.entities: list[Entity] = []
        self.directives: list[Align] = []

    @property
    def types(self) -> dict[str, Type]:
        """The types of variables."""
        return {name: each.type for name, each in self.known.items()}

    # --- statements -----------------------------------------------------------------------------------------

    def assign(self, target: Element, value: Expr) -> None:
        """Make an assignment, unless it changes nothing."""
        if self.plain(value) != target:
            self.made.append(s.Assign(span=self.span, target=target, value=value))

    def forall(self, indices: Sequence[s.ForallIndex], mask: Expr | None, target: Element, value: Expr) -> None:
        """Make a FORALL of one assignment."""
        assign = s.Assign(span=self.span, target=target, value=value)
        self.made.append(s.Forall(span=self.span, indices=tuple(indices), mask=mask, body=(assign,)))

    def indices(self, space: Conformable) -> tuple[list[s.ForallIndex], list[Expr]]:
        """Indices that run over a space, and the places that they stand for."""
        names = [f"i${len(self.entities) + 1}${at}" for at in range(1, len(space.ranges) + 1)]
        indices = [
            s.ForallIndex(name=name, lower=each.lower, upper=each.upper, step=each.step)
            for name, each in zip(names, space.ranges, strict=True)
        ]
        return indices, [Var(name) for name in names]

    # --- arrays ---------------------------------------------------------------------------------------------

    def plain(self, value: Expr) -> Element | None:
        """An array or a section of one, as a section; None: it is something else, or has vector subscripts."""
        match value:
            case Var(name=name) if name in self.known and self.known[name].shape:
                return Element(name, (_WHOLE,) * len(self.known[name].shape or ()), span=value.span)
            case Element(name=name, subscripts=subscripts) if name in self.known:
                sections = [each for each in subscripts if isinstance(each, Section)]
                plain = not any(rank_of(each, self.known) for each in subscripts if not isinstance(each, Section))
                return value if sections and plain else None
        return None

    def space(self, value: Expr) -> Conformable:
        """The space of the first array in an expression of arrays.

        Raises:
            NoPlacesError: there is none, or its bounds are not known.
        """
        plain = self.plain(value)
        if plain is not None:
            return Conformable(plain, self._ranges(plain))
        shifted = isinstance(value, Call) and value.name in ("cshift", "eoshift")
        for each in children(value) if shifted or _is_elemental(value) else ():
            if rank_of(each, self.known):
                return self.space(each)
        raise NoPlacesError

    def _ranges(self, section: Element) -> tuple[Range, ...]:
        return tuple(
            Range(each.lower or bound.lower or IntLit(1), each.upper or bound.upper or IntLit(0), each.step)
            for each, bound in zip(section.subscripts, self._bounds(section.name), strict=True)
            if isinstance(each, Section)
        )

    def _bounds(self, name: str) -> tuple[Bound, ...]:
        shape = self.known[name].shape or ()
        if any(each.upper is None for each in shape):
            shape = self.allocated.get(name, ())
        if not shape:
            raise NoPlacesError
        return shape

    def element(self, value: Expr, space: Conformable, at: Sequence[Expr]) -> Expr:
        """The element of an expression at places of a space; what has other places is copied there before."""
        if not rank_of(value, self.known):
            return value
        plain = self.plain(value)
        if plain is not None and self._ranges(plain) == space.ranges:
            return space.at(plain, at)
        if _is_elemental(value):
            return map_operands(value, lambda each: self.element(each, space, at))
        return space.at(self.copied(value, space), at)

    def copied(self, value: Expr, space: Conformable) -> Element:
        """A value in a new array beside a space."""
        copy = self.new(space, type_of(value, self.types)).leader
        self.made.append(s.Assign(span=self.span, target=copy, value=value))
        return copy

    def new(self, space: Conformable, of: Type, name: str = "part", *, without: int = 0) -> Conformable:
        """A new array, each element beside the one of a space; `without` its first dimensions."""
        array = f"{name}$of{len(self.entities) + 1}"
        leader, dims = (
            space.leader,
            [at for at, each in enumerate(space.leader.subscripts) if isinstance(each, Section)],
        )
        kept = dims[without:]
        bounds = self._bounds(leader.name)
        self.declare(array, of, tuple(bounds[at] for at in kept))
        if leader.name in self.placed:
            axes = tuple(f"i{at + 1}" for at in kept)
            where = Align(
                span=self.span,
                alignee=array,
                axes=axes,
                target=leader.name,
                subscripts=tuple(
                    Var(f"i{at + 1}") if at in kept else Star() if at in dims or self._varies(each) else each
                    for at, each in enumerate(leader.subscripts)
                ),
            )
            self.directives.append(where)
            self.placed.add(array)
        section = Element(array, tuple(leader.subscripts[at] for at in kept))
        return Conformable(section, space.ranges[without:])

    def declare(self, name: str, of: Type, shape: tuple[Bound, ...] | None) -> None:
        """Declare a new variable."""
        shown = name.partition("$")[0]
        entity = Entity(
            name=name, shown=shown, type=of, shape=shape, attributes=frozenset(), initial=None, span=self.span
        )
        self.entities.append(entity)
        self.known[name] = entity

    def _varies(self, expr: Expr) -> bool:
        return any(name not in self.known or "parameter" not in self.known[name].attributes for name in names_in(expr))


def _is_elemental(value: Expr) -> bool:
    return isinstance(value, Unary | Binary) or (
        isinstance(value, Call) and value.name in INTRINSICS and INTRINSICS[value.name].form == "elemental"
    )
