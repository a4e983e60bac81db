"""Nests and operations that are alike: the same loops over arrays that are mapped in the same way, under other names.

A long program does the same to many arrays. How often the loops of a nest run, which memory it walks through, and what
a communication moves depend on the names of indices and arrays only in so far as the answer mentions them.
"""

from collections.abc import Hashable, Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from aag.ir.expressions import Element, Expr, Var
from aag.ir.statements import Assign
from aag.ir.visitors import elements_in, map_expression, names_in
from aag.mapping.layout import Layouts
from aag.spmd.branches import conditions_of
from aag.spmd.course import temporaries
from aag.spmd.formulas import Known
from aag.spmd.nodes import Concatenate, Index, Multicast, Need, Nest, Operation, Reference
from aag.spmd.touches import AccessSweep


class Likeness(Struct, frozen=True):
    """What a nest or operation has in common with those like it, and its own `names`: arrays and temporaries in an
    order that is the same for all of them."""

    shape: Hashable
    names: tuple[str, ...]


def likeness_of_nest(nest: Nest, layouts: Layouts, known: Known) -> Likeness | None:
    """The likeness of a nest; None where it depends on more than its loops: on values of arrays, or `known` ones.

    Values that are assigned do not matter, but the elements in them.
    """
    if isinstance(nest, AccessSweep):
        return None
    every = (*nest.assigns, *(each for level in nest.outer for each in level))
    home = [] if nest.home is None else [nest.home]
    subscripts = [part for each in home for part in each.subscripts]
    subscripts += [part for each in every for element in _elements(each) for part in element.subscripts]
    if not _plain(nest.indices, subscripts):
        return None
    conditions = conditions_of(nest)
    masking = names_in(*conditions)
    if masking & (known.keys() | layouts.contents.keys()):
        return None
    names = _Names(layouts, [nest.indices])
    assigns = tuple(
        tuple((names.expr(each.target), tuple(map(names.expr, _read(each, whole=nest.copies)))) for each in level)
        for level in (nest.assigns, *nest.outer)
    )
    shape = (
        tuple(map(names.index, nest.indices)),
        tuple(map(names.reference, home)),
        assigns,
        nest.leading,
        nest.guarded,
        tuple(map(names.expr, conditions)),
        bool(nest.reduce),
        nest.copies,
        bool(known),
        frozenset(nest.uses - names.own),
    )
    found = names.likeness(shape, nest.uses | masking)
    return replace(found, names=(*found.names, *temporaries(nest)))


def likeness_of_operation(operation: Operation, layouts: Layouts) -> Likeness | None:
    """The likeness of an operation; None where index arrays decide what it moves."""
    needs = [*operation.needs, *(each.need for each in operation.held)]
    references = [each.reference for each in needs] + [each.home for each in needs if each.home is not None]
    references += [write for each in operation.held for write in each.stale]
    if any(not _plain(each.indices, each.subscripts) for each in references):
        return None
    names = _Names(layouts, [each.indices for each in references])
    free = frozenset[str]().union(*(each.reads for each in references))
    if free & names.indices.keys():  # an index of one reference is a scalar in another
        return None
    shape = (
        type(operation),
        tuple(map(names.need, operation.needs)),
        tuple((names.need(each.need), tuple(map(names.reference, each.stale))) for each in operation.held),
        operation.pattern,
        operation.axes if isinstance(operation, Multicast | Concatenate) else (),
        names.array(operation.array),
    )
    return names.likeness(shape, free)


def copy_shape(need: Need, layouts: Layouts) -> Hashable:
    """What all needs have in common that bring the same elements to the same processors."""
    home = need.home
    names = _Names(layouts, [need.reference.indices, () if home is None else home.indices])
    if (need.reference.reads | (home.reads if home else frozenset())) & names.indices.keys():
        return need
    where = None
    if home is not None:
        layout = layouts.arrays[home.array]
        axes = tuple(
            (replace(axis, dim=0), names.expr(home.subscripts[axis.dim])) if axis.role == "dim" else axis
            for axis in layout.axes
        )
        where = layout.grid, axes, tuple(map(names.index, home.indices))
    subscripts = tuple(map(names.expr, need.reference.subscripts))
    indices = tuple(map(names.index, need.reference.indices))
    if names.arrays:  # a subscript goes through one
        return need
    return need.reference.array, subscripts, indices, where


def _mapped(layouts: Layouts, name: str) -> Hashable:
    """How an array is mapped, without its name."""
    found = layouts.arrays[name]
    return found.element_bytes, found.bounds, found.grid, found.axes


def _plain(indices: Sequence[Index], subscripts: Iterable[Expr]) -> bool:
    """Whether no array decides, and no bound reads a scalar that has the name of an index further in."""
    inside = {index.name for index in indices}
    for index in indices:
        if index.reads & inside or elements_in(*index.bounds):
            return False
        inside.remove(index.name)
    return not elements_in(*subscripts)


def _elements(assign: Assign) -> list[Element]:
    return elements_in(assign.target, assign.value)


def _read(assign: Assign, *, whole: bool) -> Sequence[Expr]:
    return [assign.value] if whole else elements_in(assign.value)


class _Names:
    """Names by the order in which they appear."""

    def __init__(self, layouts: Layouts, indices: Iterable[Sequence[Index]]) -> None:
        self.layouts = layouts
        self.indices: dict[str, str] = {}
        for each in indices:
            for index in each:
                self.indices.setdefault(index.name, f"%{len(self.indices)}")
        self.arrays: dict[str, str] = {}

    @property
    def own(self) -> frozenset[str]:
        """All names that others like it may have otherwise."""
        return frozenset((*self.indices, *self.arrays))

    def array(self, name: str) -> str:
        """The number of an array; the name of what is none, as its value may matter."""
        if name not in self.layouts.arrays or not self.layouts.arrays[name].rank:
            return name
        return self.arrays.setdefault(name, f"%a{len(self.arrays)}")

    def expr(self, expr: Expr) -> Expr:
        """An expression with numbers in place of names."""
        return map_expression(expr, self._numbered)

    def _numbered(self, expr: Expr) -> Expr:
        match expr:
            case Var(name=name):
                return Var(self.indices[name]) if name in self.indices else Var(self.array(name))
            case Element(name=name, subscripts=subscripts):
                return Element(self.array(name), subscripts)
            case _:
                return expr

    def index(self, index: Index) -> Hashable:
        """An index with its range."""
        return (self.indices[index.name], *map(self.expr, index.bounds))

    def reference(self, reference: Reference | None) -> Hashable:
        """A reference with its indices."""
        if reference is None:
            return None
        indices = tuple(map(self.index, reference.indices))
        return self.array(reference.array), tuple(map(self.expr, reference.subscripts)), indices

    def need(self, need: Need) -> Hashable:
        """A reference, and where it is needed."""
        return self.reference(need.reference), self.reference(need.home)

    def likeness(self, shape: Hashable, others: Iterable[str]) -> Likeness:
        """With how each array is mapped, and the alphabetical order of names: chance takes indices in it."""
        mapped = tuple(_mapped(self.layouts, name) for name in self.arrays)
        known = self.indices | self.arrays
        order = tuple(known.get(name, name) for name in sorted({*self.indices, *others}))
        return Likeness((shape, mapped, order), tuple(self.arrays))
