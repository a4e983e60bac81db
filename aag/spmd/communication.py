"""What an `Operation` moves once scalar values are known: phases of messages, then collectives.

It rests on the relation of `aag.spmd.relation`.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from aag.distinct import distinct_rows, distinct_with_inverse
from aag.ir.evaluate import Environment
from aag.mapping.grid import Grid
from aag.mapping.layout import Layout, Layouts
from aag.spmd.nodes import Combine, Concatenate, Exchange, Gather, Multicast, Operation
from aag.spmd.partition import executions
from aag.spmd.relation import Relation, RelationComponent, relate
from aag.spmd.sections import strided
from aag.spmd.steps import CollectiveCall, Phase, Step
from aag.spmd.vector import Along, Ints

MANY = 1 << 18
"""Messages from which on they come in the order of their ranks: looking up ranks in another order is slow."""

_EXACT = float(1 << 53)


def steps(
    operation: Operation, layouts: Layouts, env: Environment, along: Along | None = None
) -> tuple[tuple[Step, ...], ...]:
    """The steps of an operation in order, for each value of `along` or once; none where nothing has to move.

    Args:
        operation: What is to be moved.
        layouts: The layouts of the arrays.
        env: The values of scalars, without that of `along`.
        along: A scalar with several values.

    Raises:
        Unknown: a scalar that decides the sets has no value, or none for several values at once.
        TooLarge: indices are coupled in too many combinations to be counted.
    """
    layout = layouts.arrays[operation.array]
    special = special_axes(operation, layout)
    relations = relate(operation.needs, operation.held, layouts, env, special, along)
    return tuple(_steps(each, operation, layout, special) for each in relations)


def _steps(relation: Relation, operation: Operation, layout: Layout, special: frozenset[int]) -> tuple[Step, ...]:
    phases = tuple(_phases(relation, operation, layout))
    if not special or layout.grid.size == 1:
        return phases
    return phases + tuple(_collectives(relation, operation, layout, special))


def special_axes(operation: Operation, layout: Layout) -> frozenset[int]:
    """The grid axes along which a collective does the work."""
    match operation:
        case Multicast(axes=axes) | Concatenate(axes=axes):
            return frozenset(axes)
        case Gather():
            return frozenset(range(len(layout.grid.shape)))
        case Exchange():
            return frozenset()


def combine_call(combine: Combine, layouts: Layouts, env: Environment) -> CollectiveCall | None:
    """The global half of a reduction; None where one processor alone holds everything that is reduced."""
    layout = layouts.arrays[combine.home.array]
    groups = _groups(layout.grid, frozenset(combine.axes))
    if groups.shape[1] < 2:
        return None
    if combine.kept is not None:
        elements = executions(combine.kept, combine.kept.indices, layouts, env)[groups]
        elements = np.broadcast_to(elements.max(axis=1, keepdims=True), groups.shape)
        groups, elements = groups[elements[:, 0] > 0], elements[elements[:, 0] > 0]
    else:
        elements = np.ones_like(groups)
    if not len(groups):
        return None
    if combine.prefix == "down":
        groups, elements = groups[:, ::-1], elements[:, ::-1]
    kind = "scan" if combine.prefix else "reduction"
    return CollectiveCall(
        kind=kind,
        members=np.ascontiguousarray(groups),
        root=np.zeros(len(groups), dtype=np.int64),
        elements=np.ascontiguousarray(elements),
        element_bytes=combine.element_bytes,
        name=f"{kind} {combine.op}",
    )


class _Table:
    """Rows of one component with equal (source, destination, mask) counted together, grouped by direction."""

    def __init__(self, component: RelationComponent, relation: Relation, pattern: str) -> None:
        grid = relation.layout.grid
        keys = [_directions(component, relation, pattern, axis) for axis in range(len(grid.shape))]
        self.groups: dict[tuple[int, ...], tuple[Ints, Ints, Ints, Ints]] = {}
        self.rows: dict[tuple[int, ...], NDArray[np.intp]] = {}
        local = (0,) * len(grid.shape)
        first, number = distinct_rows(keys)
        which = {key: at for at, key in enumerate(zip(*(each[first].tolist() for each in keys), strict=True))}
        for key in sorted({local, *which}):
            rows = self.rows[key] = np.flatnonzero(number == which.get(key, -1))
            ends = component.source[rows], component.destination[rows]
            self.groups[key] = _count(*ends, component.mask[rows], component.count[rows])


def _count(source: Ints, destination: Ints, mask: Ints, count: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Distinct (source, destination) pairs, distinct masks, how many have which: (S, D, M, count (pairs, M))."""
    if source.size == 1:
        return source, destination, mask, count.reshape(1, 1)
    first, pair = distinct_rows((source, destination))
    masks, _, which = distinct_with_inverse(mask)
    counts = np.bincount(pair * len(masks) + which, weights=count, minlength=first.size * len(masks))
    return source[first], destination[first], masks, counts.reshape(first.size, len(masks)).astype(np.int64)


def _directions(component: RelationComponent, relation: Relation, pattern: str, axis: int) -> Ints:
    """For each row the direction on a grid axis: 0 local, +q to a coordinate q higher, -q to one q lower.

    An overlap shift keeps the sign of the difference (a circular one that of its reference, also where it wraps);
    in other patterns the difference is taken modulo the extent, so that all messages of one step form a permutation.
    """
    grid = relation.layout.grid
    extent = grid.shape[axis]
    difference = grid.coordinate_of(component.destination, axis) - grid.coordinate_of(component.source, axis)
    if pattern not in ("overlap_shift", "multicast_shift"):
        wrapped = difference % extent
        return np.where(wrapped > extent // 2, wrapped - extent, wrapped)
    if not any(wraps[axis] for wraps in relation.wraps):
        return difference
    signs = np.array([wraps[axis] for wraps in relation.wraps], dtype=np.int64)
    lowest = component.mask & -component.mask
    first = np.minimum(np.log2(np.maximum(lowest, 1)).astype(np.int64), len(signs) - 1)
    sign = signs[first]
    wrapped = np.where(sign > 0, difference % extent, -(-difference % extent))
    return np.where(sign != 0, wrapped, difference)


def _order(key: tuple[int, ...]) -> tuple[int, ...]:
    """Faces before edges before corners; axis 1, 2, ...; + before -; near before far (Def 7)."""
    moved = [axis for axis, step in enumerate(key) if step]
    return (len(moved), *(part for axis in moved for part in (axis, key[axis] < 0, abs(key[axis]))))


def _phases(relation: Relation, operation: Operation, layout: Layout) -> Iterator[Phase]:
    if all(np.array_equal(each.source, each.destination) for each in relation.components):
        return  # everything is where it is wanted, but for what a collective does
    tables = [_Table(each, relation, operation.pattern) for each in relation.components]
    choices: dict[tuple[int, ...], list[tuple[tuple[int, ...], ...]]] = {}
    for choice in product(*(table.groups for table in tables)):
        key = tuple(sum(parts) for parts in zip(*choice, strict=True))
        if any(key):
            choices.setdefault(key, []).append(choice)
    for key in sorted(choices, key=_order):
        found = [_messages(tables, choice, relation) for choice in choices[key]]
        source, destination, elements = (
            found[0] if len(found) == 1 else (np.concatenate(parts) for parts in zip(*found, strict=True))
        )
        if len(source):
            part = _toward(relation, tables, choices[key])
            ends = strided(relation, operation.pattern, destination, source, part=part, elements=elements)
            yield Phase(
                source=source,
                destination=destination,
                elements=elements,
                element_bytes=layout.element_bytes,
                name=" ".join(f"{step:+d}" for step in key),
                strided=ends,
                bounded=relation.bounded,
            )


def _toward(relation: Relation, tables: Sequence[_Table], chosen: Sequence[tuple[tuple[int, ...], ...]]) -> Relation:
    """What moves in some combinations of directions. Only circular shifts send in several between the same two."""
    if not any(map(any, relation.wraps)):
        return relation
    components = [
        component.taken(np.concatenate([table.rows[key] for key in dict.fromkeys(keys)]))
        for component, table, keys in zip(relation.components, tables, zip(*chosen, strict=True), strict=True)
    ]
    return replace(relation, components=tuple(components))


def _messages(tables: list[_Table], choice: tuple[tuple[int, ...], ...], relation: Relation) -> tuple[Ints, Ints, Ints]:
    """All messages of one combination of directions: source, destination, elements."""
    groups = _folded([table.groups[key] for table, key in zip(tables, choice, strict=True)])
    if prod(group[0].size for group in groups) >= MANY:
        groups.sort(key=lambda group: -int(np.ptp(group[0])))
    total = _total(groups, relation)
    if total.size and total.max() >= _EXACT:
        raise OverflowError("more elements than can be counted exactly")
    source, destination = (_sums([group[side] for group in groups]) for side in (0, 1))
    elements = np.rint(total, out=total).astype(np.int64)
    if elements.all():
        return source.reshape(-1), destination.reshape(-1), elements.reshape(-1)
    some = elements != 0
    return source[some], destination[some], elements[some]


def _folded(groups: list[tuple[Ints, Ints, Ints, Ints]]) -> list[tuple[Ints, Ints, Ints, Ints]]:
    """The same with all groups of one row and one mask made one: many indices that move nothing may be about, and an
    array has an axis for each group."""
    small = [group for group in groups if group[3].size == 1]
    if len(small) < 2:
        return groups
    source, destination = (np.array([sum(int(group[side][0]) for group in small)]) for side in (0, 1))
    mask = np.bitwise_and.reduce([group[2] for group in small])
    count = np.array([[prod(int(group[3][0, 0]) for group in small)]])
    return [(source, destination, mask, count), *(group for group in groups if group[3].size != 1)]


def _total(groups: list[tuple[Ints, Ints, Ints, Ints]], relation: Relation) -> NDArray[np.float64]:
    """How many elements must be moved for each combination of rows, one axis for each group."""
    mask = np.full((), -1, dtype=np.int64)
    for group in groups:
        mask = mask[..., None] & group[2]
    weight = relation.selected(mask).astype(np.float64)
    counts = [group[3].astype(np.float64) for group in groups]
    if len(groups) == 1:
        return counts[0] @ weight
    if len(groups) == 2:
        return counts[0] @ weight @ counts[1].T
    rows = [chr(ord("a") + at) for at in range(len(groups))]
    letters = [chr(ord("A") + at) for at in range(len(groups))]
    spec = ",".join(row + letter for row, letter in zip(rows, letters, strict=True))
    total: NDArray[np.float64] = np.einsum(
        f"{spec},{''.join(letters)}->{''.join(rows)}", *counts, weight, optimize=True
    )
    return total


def _sums(columns: list[Ints]) -> Ints:
    """The sum of one entry of each column, for every combination of entries: one axis for each column."""
    total = np.zeros((), dtype=np.int64)
    for column in columns:
        total = total[..., None] + column
    return total


def _groups(grid: Grid, axes: frozenset[int]) -> Ints:
    """The linear ranks of each line, plane, ... of the grid along `axes`, shape (groups, members)."""
    ranks = np.arange(grid.size, dtype=np.int64).reshape(grid.shape, order="F")
    others = [axis for axis in range(len(grid.shape)) if axis not in axes]
    along = sorted(axes, reverse=True)  # the first axis varies fastest
    members = int(np.prod([grid.shape[axis] for axis in along], dtype=np.int64))
    return np.ascontiguousarray(ranks.transpose([*others, *along]).reshape(-1, members))


def _collectives(
    relation: Relation, operation: Operation, layout: Layout, special: frozenset[int]
) -> Iterator[CollectiveCall]:
    groups = _groups(layout.grid, special)
    if groups.shape[1] < 2:
        return
    present = _present(relation, layout.grid.size)
    here = (_to_replicas(present, layout) if operation.pattern == "scatter" else present)[groups]
    if not isinstance(operation, Multicast):
        wanted = here.any(axis=1)
        if wanted.any():
            root = np.zeros(int(wanted.sum()), dtype=np.int64)
            yield _call(operation, groups[wanted], root, here[wanted], relation)
        return
    for root_column in np.flatnonzero(here.any(axis=0)):
        wanted = here[:, root_column] > 0
        root = np.full(int(wanted.sum()), root_column, dtype=np.int64)
        yield _call(operation, groups[wanted], root, here[wanted], relation, kind="broadcast")


def _to_replicas(present: Ints, layout: Layout) -> Ints:
    """What each rank is to have where every copy of an element gets it: along an axis that holds copies all ranks have
    what the first has."""
    box = present.reshape(layout.grid.shape, order="F")
    copied = tuple(0 if axis.role == "replicated" else slice(None) for axis in layout.axes)
    kept = np.expand_dims(box[copied], [at for at, axis in enumerate(layout.axes) if axis.role == "replicated"])
    return np.broadcast_to(kept, box.shape).reshape(-1, order="F")


def _call(
    operation: Operation, members: Ints, root: Ints, elements: Ints, relation: Relation, kind: str = ""
) -> CollectiveCall:
    given, taken = strided(relation, operation.pattern, members.ravel(), together=members.shape[1])
    return CollectiveCall(
        kind=kind or operation.pattern,
        members=members,
        root=root,
        elements=elements,
        element_bytes=relation.layout.element_bytes,
        name=operation.pattern,
        strided=(given.reshape(members.shape), taken.reshape(members.shape)),
        bounded=relation.bounded,
    )


def _present(relation: Relation, procs: int) -> Ints:
    """How many needed elements each rank has once the messages have arrived, shape (P,)."""
    groups = []
    for each in relation.components:
        zero = np.zeros_like(each.destination)
        groups.append(_count(zero, each.destination, each.mask, each.count))
    groups = _folded(groups)
    total = _total(groups, relation)
    some = total != 0
    here = np.zeros(procs, dtype=np.int64)
    np.add.at(here, _sums([group[1] for group in groups])[some], np.rint(total[some]).astype(np.int64))
    return here
