"""Exact message sets of one array: who owns what somebody else needs (design decision D2, Def 8, 10).

`relate` splits a communication into components (`aag.spmd.components`) and tabulates each: one row for each
(destination coordinates, elements) pair, with a bit mask that says which references need it (``need``), which
references already brought it (``held``) and which writes made such a copy stale (``stale``). A row of the whole
relation is one row of each component; its mask is the AND of theirs. Messages follow by summing counts.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from math import prod

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from aag.distinct import distinct, distinct_rows, is_among
from aag.ir.evaluate import Environment, Unknown
from aag.ir.expressions import Call, Expr
from aag.ir.visitors import names_in
from aag.mapping.layout import Layout, Layouts
from aag.spmd.components import Partition, Slot, tie_bounds
from aag.spmd.nodes import Held, Need, Reference
from aag.spmd.ranges import enumerate_ranges, most_rows, united
from aag.spmd.relax import apart, boxed
from aag.spmd.vector import LIMIT, NUMBER, Along, Ints, TooLarge, Vectors, evaluate_vector

_BITS = 62


class RelationComponent(Struct, frozen=True, eq=False):
    """One component, tabulated. Rows are distinct (destination, element) pairs; once counted, those with equal ends
    and mask are one row with their `count`.

    `destination`, `source` (R,): the component's share of the linear ranks (shares add up over components);
    `elements` (R, dims): subscripts of the array dimensions `dims`; `mask` (R,): reference bits;
    `balanced`: destination and source speak of the same grid axes, so a row with equal shares is local.
    """

    dims: tuple[int, ...]
    elements: Ints
    destination: Ints
    source: Ints
    mask: Ints
    count: Ints
    balanced: bool
    low: Ints
    high: Ints
    """(R, dims, 2): the first and the last of the elements of a row, by the number that their owner gives an index,
    and by subscript."""
    axes: frozenset[int]
    """The grid axes of the shares."""
    fixed: int
    """What all shares have of the special axes on which the array is at one coordinate."""

    def taken(self, rows: NDArray[np.intp]) -> "RelationComponent":
        """Some of its rows."""
        columns = ("elements", "destination", "source", "mask", "count", "low", "high")
        return replace(self, **{name: getattr(self, name)[rows] for name in columns})


class Relation(Struct, frozen=True, eq=False):
    """All components, and which bits mean what.

    `held`: for each earlier reference its own bit and the mask of the writes since. `wraps`: for each need and
    grid axis the sign of a circular shift (0: none), which tells the direction of a wrapped message. `bounded`: an
    upper bound, not exact.
    """

    layout: Layout
    components: tuple[RelationComponent, ...]
    needs: int
    held: tuple[tuple[int, int], ...]
    wraps: tuple[tuple[int, ...], ...]
    bounded: bool = False

    def selected(self, mask: Ints) -> NDArray[np.bool_]:
        """Whether a row with this mask must be moved: some reference needs it and no valid copy is there."""
        wanted: NDArray[np.bool_] = (mask & ((1 << self.needs) - 1)) != 0
        for bit, stale in self.held:
            wanted &= ((mask & bit) == 0) | ((mask & stale) != 0)
        return wanted


def relate(
    needs: Sequence[Need],
    held: Sequence[Held],
    layouts: Layouts,
    env: Environment,
    special: frozenset[int] = frozenset(),
    along: Along | None = None,
) -> tuple[Relation, ...]:
    """The relation of all `needs` (one array), less what `held` says is there: for each value of `along`, or once.

    On the `special` grid axes a destination is taken to be where the source is: what remains to be done along
    them is a collective (broadcast, all-gather), not a message to each.

    Where indices are coupled in too many combinations the result for one value is an upper bound (`bounded`, see
    `aag.spmd.relax`).

    Raises:
        Unknown: a scalar has no value, or none for several values at once.
        TooLarge: there are too many combinations for all values at once; for one, even the upper bound has too many.
    """
    try:
        return _relate(needs, held, layouts, env, special, along)
    except TooLarge:
        if along is not None:
            raise
    try:
        found = _relate([boxed(need, env) for need in needs], (), layouts, env, special)
    except TooLarge:
        found = _relate([apart(need, layouts, env) for need in needs], (), layouts, env, special)
    return tuple(replace(each, bounded=True) for each in found)


def _relate(
    needs: Sequence[Need],
    held: Sequence[Held],
    layouts: Layouts,
    env: Environment,
    special: frozenset[int],
    along: Along | None = None,
) -> tuple[Relation, ...]:
    """For each value of `along`, or once."""
    if len(needs) > _BITS:
        raise TooLarge(f"more than {_BITS} references to {needs[0].reference.array} in one statement")
    array = needs[0].reference.array
    layout = layouts.arrays[array]
    held = held[: (_BITS - len(needs)) // 3]
    claims = [_Claim(need, layout, layouts, special) for need in needs]
    claims += [_Claim(each.need, layout, layouts, special) for each in held]
    writes = [_Claim(Need(reference=write, home=None), layout, layouts, None) for each in held for write in each.stale]
    writes = writes[: _BITS - len(claims)]
    partition = Partition()
    for dim in range(layout.rank):
        partition.find(Slot("dim", dim))
    for at, claim in enumerate((*claims, *writes)):
        claim.tie(partition, at)
    tables = [
        [_counted(each) for each in _tabulate(group, claims, writes, layout, env, special, along)]
        for group in partition.sets()
    ]
    bits, stale_bit = [], len(claims)
    for at, each in enumerate(held):
        stale = sum(1 << (stale_bit + k) for k in range(len(each.stale)))
        stale_bit += len(each.stale)
        bits.append((1 << (len(needs) + at), stale))
    if stale_bit > len(claims) + len(writes):
        bits = []
    wraps = tuple(wrap_signs(need, layout) for need in needs)
    return tuple(
        Relation(layout, _merge_unbalanced(list(components)), len(needs), tuple(bits), wraps)
        for components in zip(*tables, strict=True)
    )


class _Claim:
    """One reference with its place of use, prepared for tabulation."""

    def __init__(self, need: Need, layout: Layout, layouts: Layouts, special: frozenset[int] | None) -> None:
        self.reference = need.reference
        self.layout = layout
        self.home: Reference | None = None
        self.home_layout = layout
        axes = range(len(layout.grid.shape))
        self.destinations: frozenset[int] = frozenset() if special is None else frozenset(axes) - special
        """Grid axes on which this claim says where the data go (a write, special None, says nothing)."""
        self.foreign = False
        if need.home is not None and special is not None:
            self.home = need.home
            self.home_layout = layouts.arrays[need.home.array]
            self.foreign = self.home_layout.grid.shape != layout.grid.shape and self.home_layout.is_distributed

    def destination_indices(self, axis: int) -> frozenset[str]:
        """The loop indices that decide the destination coordinate on one axis."""
        if self.home is None:
            return frozenset()
        if self.foreign:
            return names_in(*self.home.subscripts)
        meaning = self.home_layout.axes[axis]
        return names_in(self.home.subscripts[meaning.dim]) if meaning.role == "dim" else frozenset()

    def tie(self, partition: Partition, scope: int) -> None:
        indices = self.reference.indices
        known = {index.name for index in indices}
        tie_bounds(partition, scope, indices)
        for dim, subscript in enumerate(self.reference.subscripts):
            partition.join([Slot("dim", dim), *((scope, name) for name in sorted(names_in(subscript) & known))])
        if self.foreign:
            partition.join([Slot("axis", axis) for axis in sorted(self.destinations)])
        for axis in sorted(self.destinations):
            used = self.destination_indices(axis) & known
            partition.join([Slot("axis", axis), *((scope, name) for name in sorted(used))])

    def tabulate(
        self,
        axes: Sequence[int],
        dims: Sequence[int],
        names: frozenset[str],
        env: Environment,
        along: Along | None = None,
    ) -> tuple[Ints, Ints]:
        """Rows of destination coordinates (R, axes) and elements (R, 1 + dims), not yet distinct. The first column of
        the elements says for which value of `along` a row is."""
        indices = tuple(index for index in self.reference.indices if index.name in names)
        subscripts = [self.reference.subscripts[dim] for dim in dims]
        deciding = frozenset[str]().union(*(self.destination_indices(axis) for axis in axes))
        ranges = enumerate_ranges(indices, subscripts, deciding, env, along)

        def column(expr: Expr, vectors: Vectors) -> Ints:
            value = np.asarray(evaluate_vector(expr, env, vectors), dtype=np.int64)
            return value if value.ndim else value.repeat(ranges.length)

        places = self._places(axes, lambda expr: column(expr, ranges.vectors)) if ranges.length and axes else {}
        runs = np.ones(ranges.length, dtype=np.bool_)
        for axis, place in places.items():
            lower, upper = self.home_layout.bounds[self.home_layout.axes[axis].dim]
            runs &= (place >= lower) & (place <= upper)
        if not runs.all():
            ranges = ranges.where(runs)
            places = {axis: place[runs] for axis, place in places.items()}
        vectors, length = ranges.vectors, ranges.length
        if not length:
            return np.empty((0, len(axes)), dtype=np.int64), np.empty((0, 1 + len(dims)), dtype=np.int64)
        elements = np.empty((length, 1 + len(dims)), dtype=np.int64)
        elements[:, 0] = vectors.get(NUMBER, 0)
        for at, subscript in enumerate(subscripts, 1):
            elements[:, at] = column(subscript, vectors)
        coords = np.zeros((length, len(axes)), dtype=np.int64)
        if self.foreign and axes:
            coords, repeat = self._foreign_coords(axes, places, length)
            elements = np.repeat(elements, repeat, axis=0)
            axes = ()
        for at, axis in enumerate(axes):
            meaning = self.home_layout.axes[axis]
            if self.home is None or meaning.role == "replicated":
                extent = self.layout.grid.shape[axis]
                coords = np.repeat(coords, extent, axis=0)
                coords[:, at] = np.tile(np.arange(extent), len(elements))
                elements = np.repeat(elements, extent, axis=0)
            elif meaning.role == "fixed":
                coords[:, at] = meaning.coordinate
            else:
                owner = self.home_layout.owner_coordinate(axis, places[axis])
                coords[:, at] = owner if len(coords) == length else owner.repeat(len(coords) // length)
        if ranges.at is None or ranges.ends is None:
            return coords, elements
        last = column(subscripts[ranges.at], ranges.ends).repeat(len(elements) // length)
        return united(coords, elements, 1 + ranges.at, last, most_rows(along))

    def _places(self, axes: Sequence[int], column: Callable[[Expr], Ints]) -> dict[int, Ints]:
        """For each axis of the home's grid that matters the subscript which decides the coordinate on it. Where it is
        outside of the home a mask keeps the iteration from running."""
        if self.home is None:
            return {}
        home = self.home_layout
        return {
            axis: column(self.home.subscripts[home.axes[axis].dim])
            for axis in (range(len(home.axes)) if self.foreign else axes)
            if home.axes[axis].role == "dim"
        }

    def _foreign_coords(self, axes: Sequence[int], places: Mapping[int, Ints], length: int) -> tuple[Ints, int]:
        """Destination coordinates in the array's grid where the home lives on a grid of another shape."""
        assert self.home is not None
        home, grid = self.home_layout, self.home_layout.grid
        free = [axis for axis, meaning in enumerate(home.axes) if meaning.role == "replicated"]
        repeat = prod(grid.shape[axis] for axis in free)
        ranks = np.zeros((length, repeat), dtype=np.int64)
        combination = np.arange(repeat)
        for axis, meaning in enumerate(home.axes):
            if meaning.role == "replicated":
                ranks += combination % grid.shape[axis] * grid.strides[axis]
                combination = combination // grid.shape[axis]
            elif meaning.role == "fixed":
                ranks += meaning.coordinate * grid.strides[axis]
            else:
                owner = home.owner_coordinate(axis, places[axis])
                ranks += owner[:, None] * grid.strides[axis]
        return self.layout.grid.coords_of(ranks.ravel())[:, list(axes)], repeat


def _tabulate(
    group: Sequence[object],
    claims: Sequence[_Claim],
    writes: Sequence[_Claim],
    layout: Layout,
    env: Environment,
    special: frozenset[int],
    along: Along | None = None,
) -> list[RelationComponent]:
    """One component for each value of `along`, or one."""
    axes = [each.number for each in group if isinstance(each, Slot) and each.kind == "axis"]
    dims = [each.number for each in group if isinstance(each, Slot) and each.kind == "dim"]
    shape = [layout.grid.shape[axis] for axis in axes]
    per_element = max(1, prod(shape))
    values = 1 if along is None else along.values.size
    extents = [values, *(layout.extents[dim] for dim in dims)]
    lower = np.array([0, *(layout.bounds[dim][0] for dim in dims)], dtype=np.int64)
    beyond = np.array(extents, dtype=np.int64)
    codes: list[Ints] = []
    bits: list[Ints] = []
    stale: list[tuple[int, Ints]] = []
    for at, claim in enumerate((*claims, *writes)):
        names = frozenset(each[1] for each in group if isinstance(each, tuple) and each[0] == at)
        is_write = at >= len(claims)
        coords, elements = claim.tabulate([] if is_write else axes, dims, names, env, along)
        elements -= lower
        inside = ((elements >= 0) & (elements < beyond)).all(axis=1)
        element_code = _encode(elements, extents)
        if is_write:
            stale.append((at, element_code[inside]))
            continue
        code = element_code * per_element + _encode(coords, shape)
        code = distinct(code if inside.all() else code[inside])
        codes.append(code)
        bits.append(np.full(len(code), 1 << at, dtype=np.int64))
    code, mask = _union(codes, bits)
    for at, written in stale:
        mask[is_among(code // per_element, written)] |= 1 << at
    elements = _decode(code // per_element, extents) + lower
    coords = _decode(code % per_element, shape)
    whole = _with_sources(axes, dims, coords, elements[:, 1:], mask, layout, special)
    if along is None:
        return [whole]
    border = np.searchsorted(elements[:, 0], np.arange(values + 1)).tolist()
    return [_part(whole, slice(first, last)) for first, last in pairwise(border)]


def _part(component: RelationComponent, rows: slice) -> RelationComponent:
    return RelationComponent(
        component.dims,
        component.elements[rows],
        component.destination[rows],
        component.source[rows],
        component.mask[rows],
        component.count[rows],
        component.balanced,
        component.low[rows],
        component.high[rows],
        component.axes,
        component.fixed,
    )


def _with_sources(
    axes: list[int], dims: list[int], coords: Ints, elements: Ints, mask: Ints, layout: Layout, special: frozenset[int]
) -> RelationComponent:
    """Add each row's share of source and destination rank (Def 8: replicated data come from the owner with the
    receiver's coordinates in the replicated dimension)."""
    strides = layout.grid.strides
    destination = np.zeros(len(mask), dtype=np.int64)
    source = np.zeros(len(mask), dtype=np.int64)
    sources, fixed = set(), 0
    for at, axis in enumerate(axes):
        destination += coords[:, at] * strides[axis]
        if layout.axes[axis].role == "replicated":
            source += coords[:, at] * strides[axis]
            sources.add(axis)
        elif layout.axes[axis].role == "fixed":
            source += layout.axes[axis].coordinate * strides[axis]
            sources.add(axis)
    targets = set(axes)
    for axis, meaning in enumerate(layout.axes):
        if meaning.role == "dim" and meaning.dim in dims:
            owner = layout.owner_coordinate(axis, elements[:, dims.index(meaning.dim)]) * strides[axis]
            source += owner
            sources.add(axis)
            if axis in special:
                destination += owner
                targets.add(axis)
        elif meaning.role == "fixed" and axis in special and 0 in dims:
            fixed += meaning.coordinate * strides[axis]
    count = np.ones(len(mask), dtype=np.int64)
    places = np.empty((*elements.shape, 2), dtype=np.int64)
    for at, dim in enumerate(dims):
        places[:, at, 0] = layout.local_index(dim, elements[:, at])
        places[:, at, 1] = elements[:, at]
    return RelationComponent(
        tuple(dims),
        elements,
        destination + fixed,
        source + fixed,
        mask,
        count,
        sources == targets,
        places,
        places,
        frozenset(sources | targets),
        fixed,
    )


def _counted(component: RelationComponent) -> RelationComponent:
    """The component without its elements: rows with equal ends and mask are counted together."""
    rows = len(component.mask)
    if rows and all((ends == ends[0]).all() for ends in (component.destination, component.source, component.mask)):
        first, number = np.zeros(1, np.intp), np.zeros(rows, np.intp)
    else:
        first, number = distinct_rows((component.destination, component.source, component.mask))
    count = np.bincount(number, minlength=len(first)).astype(np.int64)
    low, high = component.low, component.high
    if rows and len(first) < rows:
        order = np.argsort(number, kind="stable")
        border = np.concatenate([[0], np.cumsum(count)[:-1]])
        low, high = np.minimum.reduceat(low[order], border), np.maximum.reduceat(high[order], border)
    else:
        low, high = low[first], high[first]
    return replace(component.taken(first), count=count, low=low, high=high)


def _merge_unbalanced(components: list[RelationComponent]) -> tuple[RelationComponent, ...]:
    """Components whose sources and destinations lie on different axes only make sense together: their product."""
    loose = [each for each in components if not each.balanced]
    if not loose:
        return tuple(components)
    merged = loose[0]
    for each in loose[1:]:
        if len(merged.mask) * len(each.mask) > LIMIT:
            raise TooLarge(f"{len(merged.mask):,} times {len(each.mask):,} places and elements depend on each other")
        mine = np.repeat(np.arange(len(merged.mask)), len(each.mask))
        theirs = np.tile(np.arange(len(each.mask)), len(merged.mask))
        mask = merged.mask[mine] & each.mask[theirs]
        keep = mask != 0
        mine, theirs, mask = mine[keep], theirs[keep], mask[keep]
        merged = RelationComponent(
            merged.dims + each.dims,
            np.concatenate([merged.elements[mine], each.elements[theirs]], axis=1),
            merged.destination[mine] + each.destination[theirs],
            merged.source[mine] + each.source[theirs],
            mask,
            merged.count[mine] * each.count[theirs],
            True,
            np.concatenate([merged.low[mine], each.low[theirs]], axis=1),
            np.concatenate([merged.high[mine], each.high[theirs]], axis=1),
            merged.axes | each.axes,
            merged.fixed + each.fixed,
        )
    return (*(each for each in components if each.balanced), replace(merged, balanced=True))


def _encode(columns: Ints, extents: Sequence[int]) -> Ints:
    if not extents:
        return np.zeros(len(columns), dtype=np.int64)
    code = columns[:, 0]
    for at, extent in enumerate(extents[1:], 1):
        code = code * max(1, extent) + columns[:, at]
    return code


def _decode(code: Ints, extents: Sequence[int]) -> Ints:
    columns = np.empty((len(code), len(extents)), dtype=np.int64)
    for at in range(len(extents) - 1, -1, -1):
        columns[:, at] = code % max(1, extents[at])
        code = code // max(1, extents[at])
    return columns


def _union(codes: list[Ints], bits: list[Ints]) -> tuple[Ints, Ints]:
    """Distinct codes with the OR of their bits."""
    if len(codes) == 1:
        return codes[0], bits[0]
    code = np.concatenate(codes)
    order = np.argsort(code, kind="stable")
    code, bit = code[order], np.concatenate(bits)[order]
    first = np.flatnonzero(np.concatenate([[True], code[1:] != code[:-1]])[: len(code)])
    return code[first], np.bitwise_or.reduceat(bit, first) if len(first) else bit


def wrap_signs(need: Need, layout: Layout) -> tuple[int, ...]:
    """For each grid axis where a circular shift moves data to: 1 higher, -1 lower coordinates; 0: it is none."""
    signs = []
    for meaning in layout.axes:
        sign = 0
        if meaning.role == "dim":
            sign = _wrap_sign(need.reference.subscripts[meaning.dim])
        signs.append(sign)
    return tuple(signs)


def _wrap_sign(subscript: Expr) -> int:
    """-1 where a circular shift reads ahead (data move to lower coordinates), 1 where it reads back, else 0."""
    match subscript:
        case Call(name="cshift$", args=(_, shift, _, _)):
            try:
                amount = evaluate_vector(shift, {}, {})
            except Unknown:
                return -1
            return int(np.sign(-int(amount)))
        case _:
            return 0
