"""References to variables of derived types and to their components."""

from msgspec import Struct

from aag.diagnostics import Span
from aag.ir import expressions as e
from aag.ir.units import Entity, Type
from aag.records.leaves import ComponentPath, leaf_name

WHOLE = e.Section(None, None, None)
"""All elements of a dimension."""

Subscripts = tuple[e.Expr, ...]


class NamePart(Struct, frozen=True):
    """One name of a reference: how many dimensions it has, and its subscripts, where it has some."""

    rank: int
    subscripts: Subscripts | None


class Designator(Struct, frozen=True):
    """``a(i)%b%c(j)``: the variable, the components behind it, and the type of the whole."""

    entity: Entity
    path: tuple[str, ...]
    parts: tuple[NamePart, ...]
    type: Type
    span: Span

    @property
    def is_whole(self) -> bool:
        """Whether no part has subscripts."""
        return all(each.subscripts is None for each in self.parts)

    def reference(self, leaf: ComponentPath | None = None) -> e.Expr:
        """The same of the variable that holds the component. `leaf`: a component of the whole, where it has some."""
        rest = () if leaf is None else leaf.path
        name = leaf_name(self.entity.name, (*self.path, *rest))
        parts = (*self.parts, *(NamePart(len(each), None) for each in (() if leaf is None else leaf.parts)))
        if all(each.subscripts is None for each in parts):
            return e.Var(name, span=self.span)
        return e.Element(name, _subscripts(parts), span=self.span)

    def section(self) -> e.Expr:
        """As `reference`, but never a whole array: its lower bounds are 1."""
        return e.Element(leaf_name(self.entity.name, self.path), _subscripts(self.parts), span=self.span)

    @property
    def sections(self) -> Subscripts:
        """The subscripts of all dimensions."""
        return _subscripts(self.parts)


def _subscripts(parts: tuple[NamePart, ...]) -> Subscripts:
    found: list[e.Expr] = []
    for each in parts:
        found += (WHOLE,) * each.rank if each.subscripts is None else each.subscripts
    return tuple(found)
