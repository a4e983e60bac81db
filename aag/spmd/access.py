"""How a nest walks through local memory: for each array reference where it starts and how far each loop moves it.

Local parts are stored column-major, as the node program declares them. What comes from afar lies in a buffer apart,
which has the global bounds of what is needed (`aag.spmd.emit.buffers`). What the cache model of the interpreter needs
is asked for a few representative processors only (`aag.spmd.partition.shape_classes`).
"""

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from aag.ir.evaluate import Environment, Unknown
from aag.ir.expressions import Element, Expr, Var
from aag.ir.linear import linear
from aag.ir.visitors import names_in
from aag.mapping.axes import REPLICATED
from aag.mapping.layout import Layout, Layouts
from aag.spmd.beside import beside_home
from aag.spmd.local_parts import AccessParts, pitches
from aag.spmd.needs import classify, need_of
from aag.spmd.nodes import Index, Nest, Reference
from aag.spmd.touches import AccessSweep, Touch, touches_of_memory
from aag.spmd.vector import NUMBER, Along, Ints, TooLarge, enumerate_indices, evaluate_vector
from aag.spmd.wraps import LoopSteps, StraightLine, line_of, wraps

Offset = tuple[Ints, dict[int, Ints], dict[int, Ints]]
"""Where a subscript begins, how far one step of each loop moves it, and how many places a loop reaches."""
EVERYWHERE = 1 << 62
"""Places that a loop reaches where nothing limits them."""


class ArrayAccess(Struct, frozen=True, eq=False):
    """One reference of a nest, in program order (reads of an assignment before its write).

    `array`: whose storage it is; `start_bytes` (C,): offset of the first access within the local part or buffer;
    `strides_bytes` (C, D): how far one step of each loop moves, outermost first; `local_bytes` (C,): size of the local
    part or buffer; `touch`: which reference. Of a subscript that jumps (`aag.spmd.wraps`) start and strides are those
    of the line that touches the same elements, and `places` (C, D) says how many of them each loop reaches.
    """

    array: str
    element_bytes: int
    start_bytes: Ints
    strides_bytes: Ints
    write: bool
    local_bytes: Ints
    touch: Touch
    places: Ints | None = None


def accesses(
    nest: Nest, layouts: Layouts, env: Environment, parts: AccessParts, along: Along | None = None
) -> tuple[tuple[ArrayAccess, ...], ...]:
    """The array references of a nest as some processors make them: for each value of `along`, or once.

    Args:
        nest: The loops.
        layouts: The layouts of the arrays.
        env: The values of scalars, without that of `along`.
        parts: The local parts on the processors.
        along: A scalar with several values.

    Raises:
        Unknown: a bound or subscript has no value, or none for several values at once.
        TooLarge: there are too many combinations for all values at once.
    """
    found = _all(nest, layouts, AccessWalk(nest, layouts, env, parts, along))
    if along is None:
        return (found,)
    procs = parts.ranks.size
    rows = [slice(at * procs, (at + 1) * procs) for at in range(along.values.size)]
    return tuple(
        tuple(
            replace(
                each,
                start_bytes=each.start_bytes[some],
                strides_bytes=each.strides_bytes[some],
                local_bytes=each.local_bytes[some],
                places=None if each.places is None else each.places[some],
            )
            for each in found
        )
        for some in rows
    )


def _all(nest: Nest, layouts: Layouts, walk: "AccessWalk") -> tuple[ArrayAccess, ...]:
    every = [(touch, layouts.arrays[touch.element.name]) for touch in touches_of_memory(nest, layouts)]
    far = with_far(nest, layouts, [layout for _, layout in every])
    buffers = [None if touch.write or far is None else buffer_of(touch.element, nest, far) for touch, _ in every]
    boxes: dict[str, tuple[Ints, Ints]] = {}
    for (touch, layout), buffer in zip(every, buffers, strict=True):
        if buffer is not None:
            low, high = walk.box(touch.element, layout)
            one, other = boxes.get(buffer, (low, high))
            boxes[buffer] = np.minimum(one, low), np.maximum(other, high)
    return tuple(
        walk.access(touch, layout) if buffer is None else walk.access_from_afar(touch, layout, buffer, boxes[buffer])
        for (touch, layout), buffer in zip(every, buffers, strict=True)
    )


def with_far(nest: Nest, layouts: Layouts, concerned: Sequence[Layout]) -> Layouts | None:
    """The layouts that decide what a nest reads from afar; None: nothing."""
    if (
        layouts.procs == 1
        or nest.near
        or isinstance(nest, AccessSweep)
        or not any(each.is_distributed for each in concerned)
    ):
        return None
    deciding = [*concerned, *([] if nest.home is None else [layouts.arrays[nest.home.array]])]
    if not any(1 in each.grid.shape for each in deciding):
        return layouts
    return replace(layouts, arrays={each.array: _spread(each) for each in deciding})


def buffer_of(element: Element, nest: Nest, layouts: Layouts) -> str | None:
    """The buffer in which an element that is read lies, as one communication fills it; None: it is owned, or lies in
    the overlap area."""
    if not layouts.arrays[element.name].is_distributed:
        return None
    # Without the values of scalars: an array is declared once for all of them.
    need = need_of(element, nest.indices, nest.home, layouts)
    found = None if need is None else classify(need, layouts, layouts.environment)
    if found is None or found[0] == "overlap_shift":
        return None
    return f"{element.name}$far{''.join(map(str, found[1]))}{'c' if found[0] == 'concatenation' else ''}"


def _spread(layout: Layout) -> Layout:
    """The layout without the axes of the grid along which there is one processor: nothing is far there."""
    if 1 not in layout.grid.shape:
        return layout
    return replace(
        layout,
        axes=tuple(
            REPLICATED if extent == 1 else axis for axis, extent in zip(layout.axes, layout.grid.shape, strict=True)
        ),
    )


class AccessWalk:
    """The first and the second local value of each loop index on each of the processors asked for; with `along` on
    all of them for its first value, then on all of them for the next."""

    def __init__(
        self, nest: Nest, layouts: Layouts, env: Environment, parts: AccessParts, along: Along | None = None
    ) -> None:
        self.nest, self.env, self.layouts = nest, env, layouts
        home = nest.home
        self.layout = None if home is None else layouts.arrays[home.array]
        self.whole = isinstance(nest, AccessSweep) and nest.home is None
        self.along = along
        self.values = 1 if along is None else along.values.size
        self.parts = parts
        ranks = parts.ranks
        self.ranks = ranks if along is None else np.tile(ranks, self.values)
        self.names = frozenset(index.name for index in nest.indices)
        self.first: dict[str, Ints] = {} if along is None else {along.name: np.repeat(along.values, ranks.size)}
        self.step: dict[str, Ints] = {}
        self.spread: dict[str, tuple[Expr, int, dict[str, Ints]]] = {}
        self.pairs: dict[str, tuple[Ints, Ints]] = {}
        self.known_ranges: dict[str, tuple[Ints, Ints]] = {}
        self.offsets: dict[tuple[str, int, Expr], Offset] = {}
        self.nexts: dict[int, dict[str, Ints]] = {}
        self.loops = {index.name: loop for loop, index in enumerate(nest.indices)}
        self.swept: LoopSteps | None = None
        for index in nest.indices:
            self._place(index, home)

    def _place(self, index: Index, home: Reference | None) -> None:
        lower = self._on_each(evaluate_vector(index.lower, self.env, self.first))
        own = self._on_each(1 if index.step is None else evaluate_vector(index.step, self.env, self.first))
        self.first[index.name], self.step[index.name] = lower, own
        if home is None or self.layout is None:
            return
        for axis, meaning in enumerate(self.layout.axes):
            if meaning.role != "dim" or meaning.distribution is None:
                continue
            subscript = home.subscripts[meaning.dim]
            if names_in(subscript) & self.names != {index.name}:
                continue
            try:
                vectors = enumerate_indices((index,), self.env, self.along)
            except (Unknown, TooLarge):
                if self.along is not None:
                    raise
                return
            self.first[index.name] = self._first(index.name, subscript, axis, vectors)
            self.spread[index.name] = subscript, axis, vectors
            if meaning.distribution.kind == "cyclic" and meaning.distribution.block > 1:
                self.pairs[index.name] = self._neighbours(index.name, subscript, axis, vectors)
            elif meaning.distribution.kind == "cyclic":
                factor = self._factor(subscript, index.name) * meaning.stride
                moved = np.abs(factor * own.reshape(self.values, -1)).max(axis=1, initial=1)
                turns = meaning.distribution.procs // np.gcd(meaning.distribution.procs, moved)
                self.step[index.name] = self.step[index.name] * np.repeat(turns, len(self.ranks) // self.values)

    def _first(self, name: str, subscript: Expr, axis: int, vectors: dict[str, Ints]) -> Ints:
        """The first value in `vectors` of an index on each processor: that which it owns, or the first of all."""
        assert self.layout is not None
        values, extent = vectors[name], self.layout.grid.shape[axis]
        place = self.layout.owner_coordinate(axis, evaluate_vector(subscript, self.env, vectors))
        first = values[:1] if len(values) else np.zeros(1, dtype=np.int64)
        if self.along is not None:
            number = vectors[NUMBER]
            place = place + number * extent
            first = np.zeros(self.values, dtype=np.int64)
            first[number[::-1]] = values[::-1]
        start = first.repeat(extent)
        start[place[::-1]] = values[::-1]  # of the values at one place the first is written last
        here = self.parts.coordinate(self.layout.grid, axis)
        return start[here] if self.along is None else start.reshape(-1, extent)[:, here].ravel()

    def _neighbours(self, name: str, subscript: Expr, axis: int, vectors: dict[str, Ints]) -> tuple[Ints, Ints]:
        """Two values of an index that follow each other on each processor, neighbours if it has such: in the blocks of
        a cyclic distribution the first of all may be the last of its block."""
        assert self.layout is not None
        layout: Layout = self.layout
        values, first, step = vectors[name], self.first[name], self.step[name]
        place = layout.owner_coordinate(axis, evaluate_vector(subscript, self.env, vectors))
        number = vectors[NUMBER] if self.along is not None else np.zeros_like(values)
        here = self._on_all(self.parts.coordinate(layout.grid, axis))

        def first_of(some: NDArray[np.bool_]) -> tuple[Ints, NDArray[np.bool_]]:
            """The first of some values on each processor, and whether it has one."""
            kept = {each: vector[some] for each, vector in vectors.items()}
            found = self._first(name, subscript, axis, kept)
            owner = layout.owner_coordinate(axis, evaluate_vector(subscript, self.env, {**self.first, name: found}))
            return found, (owner == here) & bool(some.any())

        stays = np.zeros(values.size, np.bool_)
        stays[:-1] = (place[1:] == place[:-1]) & (number[1:] == number[:-1])
        begin, has_pair = first_of(stays)
        _, earliest = np.unique(number * layout.grid.shape[axis] + place, return_index=True)
        later = np.ones(values.size, np.bool_)
        later[earliest] = False
        second, has_second = first_of(later)
        return np.where(has_pair, begin, first), np.where(
            has_pair, begin + step, np.where(has_second, second, first + step)
        )

    def _factor(self, subscript: Expr, name: str) -> int:
        """What the subscript moves where the index moves by 1."""
        form = linear(subscript, self.env)
        if self.along is not None and any(
            not isinstance(atom, Var) and self.along.name in names_in(atom) for atom in form.terms
        ):
            raise Unknown(self.along.name, "it multiplies an index")
        return form.coefficient(name)

    def access(self, touch: Touch, layout: Layout) -> ArrayAccess:
        """One reference: its start and strides in bytes of the local part."""
        element = touch.element
        pitch = self._on_all(self.parts.pitch(layout, whole=self.whole))
        offsets = [self._offset(each, dim, layout, pitch) for dim, each in enumerate(element.subscripts)]
        return self._added(element.name, layout, touch, offsets, pitch[:, -1])

    def _added(
        self, array: str, layout: Layout, touch: Touch, offsets: Sequence[Offset], local_bytes: Ints
    ) -> ArrayAccess:
        """A reference whose subscripts move it so."""
        start = np.zeros(len(self.ranks), dtype=np.int64)
        strides = np.zeros((len(self.ranks), len(self.nest.indices)), dtype=np.int64)
        places = np.full_like(strides, EVERYWHERE)
        for offset, moves, reached in offsets:
            start += offset
            for loop, moved in moves.items():
                strides[:, loop] += moved
            for loop, reach in reached.items():
                places[:, loop] = np.minimum(places[:, loop], reach)
        limited = places if any(reached for _, _, reached in offsets) else None
        return ArrayAccess(array, layout.element_bytes, start, strides, touch.write, local_bytes, touch, limited)

    def access_from_afar(self, touch: Touch, layout: Layout, buffer: str, box: tuple[Ints, Ints]) -> ArrayAccess:
        """One reference to a buffer that holds the indices of the box, (C, rank) from `box[0]` to `box[1]`."""
        low, high = box
        pitch = pitches(np.maximum(high - low + 1, 0), layout.element_bytes)
        offsets: list[Offset] = []
        for dim, subscript in enumerate(touch.element.subscripts):
            names = names_in(subscript)
            line = self._line(subscript, layout.bounds[dim])
            if line is not None:
                steps = {self.loops[name]: moved * pitch[:, dim] for name, moved in line.moves.items()}
                reached = {self.loops[name]: count for name, count in line.places.items()}
                offsets.append(((line.begin - low[:, dim]) * pitch[:, dim], steps, reached))
                continue
            first = self._global(subscript, self.first)
            if first is None:
                continue
            moved_to = {}
            for loop, index in enumerate(self.nest.indices):
                after = self._global(subscript, self._next(loop)) if index.name in names else None
                if after is not None:
                    moved_to[loop] = (after - first) * pitch[:, dim]
            offsets.append(((first - low[:, dim]) * pitch[:, dim], moved_to, {}))
        return self._added(buffer, layout, touch, offsets, pitch[:, -1])

    def box(self, element: Element, layout: Layout) -> tuple[Ints, Ints]:
        """First and last index of each dimension that a reference reads on each processor, each (C, rank)."""
        low = np.empty((len(self.ranks), layout.rank), dtype=np.int64)
        high = np.empty_like(low)
        ranges = self._ranges()
        for dim, subscript in enumerate(element.subscripts):
            first, last = layout.bounds[dim]
            form = linear(subscript, self.env)
            inner = {atom.name: factor for atom, factor in form.terms.items() if isinstance(atom, Var)}
            if len(inner) == len(form.terms) and inner.keys() <= ranges.keys():
                below = above = np.full(len(self.ranks), form.constant)
                for name, factor in inner.items():
                    one, other = ranges[name]
                    below = below + np.minimum(factor * one, factor * other)
                    above = above + np.maximum(factor * one, factor * other)
                low[:, dim], high[:, dim] = np.maximum(below, first), np.minimum(above, last)
            elif self.along is not None and self.along.name in names_in(subscript):
                raise Unknown(self.along.name, "what is read is not linear in it")
            else:
                low[:, dim], high[:, dim] = first, last
        return low, high

    def _ranges(self) -> dict[str, tuple[Ints, Ints]]:
        """The smallest and the largest value of each index on each processor; of the scalar `along` its value."""
        if self.known_ranges:
            return self.known_ranges
        ranges = self.known_ranges
        if self.along is not None:
            ranges[self.along.name] = (self.first[self.along.name],) * 2
        for index in self.nest.indices:
            if index.name in self.spread:
                subscript, axis, vectors = self.spread[index.name]
                backwards = {name: vector[::-1] for name, vector in vectors.items()}
                ends = [self.first[index.name], self._first(index.name, subscript, axis, backwards)]
            else:
                corners = [{name: pair[side] for name, pair in ranges.items()} for side in (0, 1)]
                ends = [
                    self._on_each(evaluate_vector(bound, self.env, corner))
                    for bound in (index.lower, index.upper)
                    for corner in corners
                ]
            ranges[index.name] = np.minimum.reduce(ends), np.maximum.reduce(ends)
        return ranges

    def _global(self, subscript: Expr, values: dict[str, Ints]) -> Ints | None:
        """The subscript on each processor; None: data decide it."""
        try:
            return self._on_each(evaluate_vector(subscript, self.env, values))
        except Unknown:
            if self.along is not None:
                raise
            return None

    def _on_each(self, value: Ints | int) -> Ints:
        """A value, or one for each processor, as one for each."""
        if isinstance(value, int):
            return np.full(self.ranks.size, value, dtype=np.int64)
        return value if value.shape == self.ranks.shape else np.broadcast_to(value, self.ranks.shape)

    def _on_all(self, own: Ints) -> Ints:
        """What is known of each processor, for each value of `along`."""
        return own if self.along is None else np.concatenate([own] * self.values)

    def _offset(self, subscript: Expr, dim: int, layout: Layout, pitch: Ints) -> Offset:
        """Bytes from the begin of the local part to the first subscript, how far one step of each loop in it moves, and
        how many places a loop reaches where these are limited."""
        key = (layout.array, dim, subscript)
        if key in self.offsets:
            return self.offsets[key]
        subscript, shift = beside_home(self.nest, self.layouts, layout, dim, subscript, self.env)
        axis = layout.axis_of_dim(dim)
        complete = axis is None or self.whole or layout.grid.shape[axis] == 1
        low, high = layout.bounds[dim]
        line = self._line(subscript, (low, high) if complete else None)
        moves, reached = dict[int, Ints](), dict[int, Ints]()
        if line is None:
            at = self._local(self._global(subscript, self.first), dim, layout)
            for loop, index in enumerate(self.nest.indices):
                if index.name in names_in(subscript):
                    moves[loop] = self._moved_by(subscript, index.name, dim, layout)
        else:
            at = self._local(line.begin, dim, layout)
            for name, step in line.moves.items():
                inside = np.clip(line.begin, low + np.maximum(-step, 0), high - np.maximum(step, 0))
                moves[self.loops[name]] = self._local(inside + step, dim, layout) - self._local(inside, dim, layout)
            reached = {self.loops[name]: count for name, count in line.places.items()}
        steps = {loop: moved * pitch[:, dim] for loop, moved in moves.items()}
        self.offsets[key] = found = (at + shift) * pitch[:, dim], steps, reached
        return found

    def _line(self, subscript: Expr, bounds: tuple[int, int] | None) -> StraightLine | None:
        """The line of a subscript that jumps; None: it does not jump, or data decide it. With `bounds` all that it
        reaches lies between them."""
        if not wraps(subscript, self.names):
            return None
        try:
            return line_of(subscript, self._sweep(), self._moved, bounds)
        except Unknown:
            if self.along is not None:
                raise
            return None

    def _sweep(self) -> LoopSteps:
        """The loops, for subscripts that jump."""
        if self.swept is None:
            ranges = self._ranges()
            count = {
                name: np.maximum((ranges[name][1] - ranges[name][0]) // np.maximum(np.abs(self.step[name]), 1), 0) + 1
                for name in self.loops
            }
            self.swept = LoopSteps(self.first, self.step, count)
        return self.swept

    def _moved(self, expr: Expr, values: Mapping[str, Ints]) -> Ints:
        return self._on_each(evaluate_vector(expr, self.env, values))

    def _moved_by(self, subscript: Expr, name: str, dim: int, layout: Layout) -> Ints:
        """How far a step of a loop moves a subscript in the local part, inside of a block where it can."""
        pair = self.pairs.get(name, (self.first[name], self.first[name] + self.step[name]))
        values = ({**self.first, name: each} for each in pair)
        before, behind = (self._local(self._global(subscript, each), dim, layout) for each in values)
        return behind - before

    def _next(self, loop: int) -> dict[str, Ints]:
        """The first local values of all indices, but the second of one loop."""
        if loop not in self.nexts:
            name = self.nest.indices[loop].name
            self.nexts[loop] = {**self.first, name: self.first[name] + self.step[name]}
        return self.nexts[loop]

    def _local(self, index: Ints | None, dim: int, layout: Layout) -> Ints:
        """The local position of a subscript on the executing processor (beyond its block: in the overlap area)."""
        if index is None:
            return np.zeros_like(self.ranks)
        axis = layout.axis_of_dim(dim)
        if axis is None or self.whole:
            return index - layout.bounds[dim][0]
        distribution = layout.axes[axis].distribution
        if distribution is not None and distribution.kind == "block":
            return index - self._on_all(self.parts.first(layout, axis))
        return layout.local_index(dim, index)
