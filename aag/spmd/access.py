"""How a nest walks through local memory: for each array reference where it starts and how far each loop moves it.

Local parts are stored column-major, as the node program declares them. What the cache model of the interpreter needs
is asked for a few representative processors only (`aag.spmd.partition.shape_classes`).
"""

from math import gcd

import numpy as np
from msgspec import Struct

from aag.ir.evaluate import Environment, Unknown
from aag.ir.expressions import Element, Expr
from aag.mapping.distinct import distinct_with_inverse
from aag.mapping.layout import Layout, Layouts
from aag.spmd.linear import linear
from aag.spmd.names import elements
from aag.spmd.nodes import Index, Nest, Reference
from aag.spmd.vector import Ints, TooLarge, enumerate_indices, evaluate_vector, names_in


class ArrayAccess(Struct, frozen=True, eq=False):
    """One reference in the innermost loop, in program order (reads of an assignment before its write).

    `start_bytes` (C,): offset of the first access within the local part; `strides_bytes` (C, D): how far one step of
    each loop moves, outermost first; `local_bytes` (C,): size of the local part.
    """

    array: str
    element_bytes: int
    start_bytes: Ints
    strides_bytes: Ints
    write: bool
    local_bytes: Ints


def accesses(nest: Nest, layouts: Layouts, env: Environment, ranks: Ints) -> tuple[ArrayAccess, ...]:
    """The array references of a nest as the processors `ranks` (C,) make them.

    Raises:
        Unknown: a bound or subscript has no value.
    """
    walk = _Walk(nest, layouts, env, ranks)
    found = []
    for reference, write in references(nest):
        layout = layouts.arrays.get(reference.name)
        if layout is not None and layout.rank:
            found.append(walk.access(reference, layout, write=write))
    return tuple(found)


def references(nest: Nest) -> list[tuple[Element, bool]]:
    """Array elements that the innermost loop touches, each distinct read once, with whether it is written.

    An element that the same iteration has just written is still in a register when it is read.
    """
    found: list[tuple[Element, bool]] = []
    written: dict[str, Element] = {}
    for assign in nest.assigns:
        reads = [*elements(assign.value), *(elements(nest.mask) if nest.mask is not None else ())]
        found += [
            (each, False)
            for each in dict.fromkeys(reads)
            if (each, False) not in found and written.get(each.name) != each
        ]
        if isinstance(assign.target, Element):
            if nest.reduce and (assign.target, False) not in found:
                found.append((assign.target, False))
            found.append((assign.target, True))
            written[assign.target.name] = assign.target
    return found


class _Walk:
    """The first and the second local value of each loop index on each of the processors asked for."""

    def __init__(self, nest: Nest, layouts: Layouts, env: Environment, ranks: Ints) -> None:
        self.nest = nest
        self.env = env
        home = nest.home
        self.layout = None if home is None else layouts.arrays[home.array]
        self.ranks = ranks
        self.first: dict[str, Ints] = {}
        self.step: dict[str, Ints] = {}
        self.pitches: dict[str, Ints] = {}
        self.lows: dict[tuple[str, int], Ints] = {}
        self.places: dict[tuple[str, int, Expr], tuple[Ints, dict[int, Ints]]] = {}
        for index in nest.indices:
            self._place(index, home)

    def _place(self, index: Index, home: Reference | None) -> None:
        length = len(self.ranks)
        lower = np.broadcast_to(np.asarray(evaluate_vector(index.lower, self.env, self.first)), (length,))
        step = 1 if index.step is None else evaluate_vector(index.step, self.env, self.first)
        self.first[index.name] = np.asarray(lower, dtype=np.int64)
        self.step[index.name] = np.broadcast_to(np.asarray(step, dtype=np.int64), (length,))
        if home is None or self.layout is None:
            return
        for axis, meaning in enumerate(self.layout.axes):
            if meaning.role != "dim" or meaning.distribution is None:
                continue
            subscript = home.subscripts[meaning.dim]
            if names_in(subscript) & {each.name for each in self.nest.indices} != {index.name}:
                continue
            try:
                values = enumerate_indices((index,), self.env)[index.name]
            except (Unknown, TooLarge):
                return
            owner = self.layout.owner_coordinate(axis, evaluate_vector(subscript, self.env, {index.name: values}))
            owners, at, _ = distinct_with_inverse(np.broadcast_to(owner, values.shape))
            start = np.full(self.layout.grid.shape[axis], values[0] if len(values) else 0, dtype=np.int64)
            start[owners] = values[at]
            self.first[index.name] = start[self.layout.grid.coordinate_of(self.ranks, axis)]
            if meaning.distribution.kind == "cyclic" and meaning.distribution.block == 1:
                factor = linear(subscript, self.env).coefficient(index.name) * meaning.stride
                moved = int(np.abs(factor * np.asarray(step)).max()) or 1
                self.step[index.name] = self.step[index.name] * (
                    meaning.distribution.procs // gcd(meaning.distribution.procs, moved)
                )

    def access(self, element: Element, layout: Layout, *, write: bool) -> ArrayAccess:
        """One reference: its start and strides in bytes of the local part."""
        pitch = self.pitches.get(layout.array)
        if pitch is None:
            pitch = self.pitches[layout.array] = self._pitch(layout)
        start = np.zeros(len(self.ranks), dtype=np.int64)
        strides = np.zeros((len(self.ranks), len(self.nest.indices)), dtype=np.int64)
        for dim, subscript in enumerate(element.subscripts):
            at, moves = self._place_of(subscript, dim, layout)
            start += at * pitch[:, dim]
            for loop, moved in moves.items():
                strides[:, loop] += moved * pitch[:, dim]
        return ArrayAccess(element.name, layout.element_bytes, start, strides, write, pitch[:, -1])

    def _pitch(self, layout: Layout) -> Ints:
        """Bytes from one index of each dimension to the next in the local part, (C, rank); last its size."""
        pitch = np.empty((len(self.ranks), layout.rank + 1), dtype=np.int64)
        pitch[:, 0] = layout.element_bytes
        np.cumprod(layout.local_extents(self.ranks), axis=1, out=pitch[:, 1:])
        pitch[:, 1:] *= layout.element_bytes
        return pitch

    def _place_of(self, subscript: Expr, dim: int, layout: Layout) -> tuple[Ints, dict[int, Ints]]:
        """The local position of the first subscript, and how far one step of each loop in it moves."""
        known = self.places.get((layout.array, dim, subscript))
        if known is not None:
            return known
        at = self._local(subscript, dim, layout, self.first)
        moves = {}
        names = names_in(subscript)
        for loop, index in enumerate(self.nest.indices):
            if index.name in names:
                next_values = {**self.first, index.name: self.first[index.name] + self.step[index.name]}
                moves[loop] = self._local(subscript, dim, layout, next_values) - at
        self.places[layout.array, dim, subscript] = at, moves
        return at, moves

    def _local(self, subscript: Expr, dim: int, layout: Layout, values: dict[str, Ints]) -> Ints:
        """The local position of a subscript on the executing processor (beyond its block: in the overlap area)."""
        try:
            index = np.broadcast_to(np.asarray(evaluate_vector(subscript, self.env, values)), self.ranks.shape)
        except Unknown:
            return np.zeros_like(self.ranks)
        axis = layout.axis_of_dim(dim)
        if axis is None:
            return index - layout.bounds[dim][0]
        distribution = layout.axes[axis].distribution
        if distribution is not None and distribution.kind == "block":
            low = self.lows.get((layout.array, axis))
            if low is None:
                first, _ = layout.held_interval(axis)
                low = self.lows[layout.array, axis] = first[layout.grid.coordinate_of(self.ranks, axis)]
            return index - low
        return layout.local_index(dim, index)

