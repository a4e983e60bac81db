"""Who runs which iterations: owner-computes, counted exactly for every processor (hpf.md's lowering; Def 15, 16).

The iterations of a nest run where its home lives. A loop level is shortened by every grid axis whose coordinate is
decided by the indices up to that level, as the generated code would shorten its bounds.
"""

from bisect import bisect_left
from collections.abc import Sequence
from contextlib import suppress

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from aag.distinct import distinct_rows, distinct_with_inverse
from aag.ir.evaluate import LARGEST_INDEX, Environment, Unknown
from aag.ir.expressions import Element, Expr
from aag.ir.visitors import elements_in, names_in
from aag.mapping.layout import Layout, Layouts
from aag.spmd.components import Partition, Slot, tie_bounds
from aag.spmd.formulas import Known, mask_holds
from aag.spmd.nodes import Index, Nest, OwnedLoop, Reference
from aag.spmd.relax import box
from aag.spmd.steps import Phase
from aag.spmd.vector import (
    NUMBER,
    Along,
    Ints,
    TooLarge,
    count_values,
    enumerate_indices,
    evaluate_vector,
    is_decided_by_indices,
)

CLASSED_ABOVE = 1024
"""So many processors are looked at one by one."""


class Trips(Struct, frozen=True, eq=False):
    """How often the loops of a nest run on each processor.

    `level` (P, D): iterations of loop d in total over the whole nest, outermost first; `count` (P,): innermost
    executions (1 or 0 for a nest without indices). `bounded`: an upper bound, because the indices are coupled in too
    many combinations (D2). `masked` (P,): those of the innermost whose mask holds; None: that depends on data, or on
    too many combinations, or there is no mask. `tested`: iterations for which every processor tests whether it is the
    owner, as index arrays decide; None: loop bounds say it.
    """

    level: Ints
    count: Ints
    bounded: bool = False
    masked: Ints | None = None
    tested: int | None = None
    entered: Ints | None = None

    def extents_of(self, ranks: Ints) -> Ints:
        """A representative trip count of each loop on some processors, (C, D): level[d] / level[d-1], rounded up."""
        level = self.level[ranks]
        before = np.concatenate([np.ones_like(level[:, :1]), level[:, :-1]], axis=1)
        return np.where(before > 0, -(-level // np.maximum(before, 1)), 0)


class ShapeClasses(Struct, frozen=True, eq=False):
    """Processors with equal local shapes: `class_of` (P,) and one `representative` rank for each class (C,)."""

    class_of: Ints
    representative: Ints


class Segments(Struct, frozen=True, eq=False):
    """An owned loop as runs of iterations by one owner: `owner` (R,), `count` (R,), and the messages that must
    have arrived before each run (None: nothing). `iterations`: of the whole loop; every processor tests each."""

    owner: Ints
    count: Ints
    messages: tuple[Phase | None, ...]
    iterations: int


def trips(
    nest: Nest, layouts: Layouts, env: Environment, known: Known | None = None, along: Along | None = None
) -> tuple[Trips, ...]:
    """Iterations of each processor at each level: for each value of `along`, or once.

    Args:
        nest: The loops.
        layouts: The layouts of the arrays.
        env: The values of scalars, without that of `along`.
        known: Values of the data that a mask reads.
        along: A scalar with several values.

    Raises:
        Unknown: a bound has no value, or none for several values at once.
        TooLarge: there are too many combinations for all values at once; for one, even an upper bound has too many.
    """
    if along is not None and nest.mask is not None and known:
        raise TooLarge("data are computed for one value after the other")
    levels, bounded = _levels(nest.home, nest.indices, layouts, env, along)
    masked: Sequence[Ints | None] = [None] * len(levels)
    if nest.mask is not None and not bounded and (known or _is_steady(nest, layouts) or _goes_through(nest)):
        with suppress(*(() if along else (Unknown, TooLarge))):
            found = _counted(nest.home, nest.indices, layouts, env, mask=nest.mask, along=along, known=known)
            masked = [np.ascontiguousarray(each[:, -1]) for each in found]
    tested: Sequence[int | None] = [None] * len(levels)
    if nest.home is not None and nest.home.is_scattered:
        around = nest.indices[: _depth(nest, nest.home)]
        tested = [int(each[0, -1]) for each in _levels(None, around, layouts, env, along)[0]]
    return tuple(
        Trips(
            level[:, 1:] if nest.indices else level[:, :0],
            np.ascontiguousarray(level[:, -1]),
            bounded,
            mask,
            tests,
            None if level[:, 0].all() else np.ascontiguousarray(level[:, 0]),
        )
        for level, mask, tests in zip(levels, masked, tested, strict=True)
    )


def levels_along(nest: Nest, layouts: Layouts, env: Environment, along: Along) -> Ints:
    """For each value of `along`, (K, P, D + 1): whether a processor takes part at all, and the iterations of each of
    the D loops of a nest.

    Raises:
        Unknown: a bound has no value, or none for several values at once.
        TooLarge: there are too many combinations for all values at once.
    """
    return np.stack(_counted(nest.home, nest.indices, layouts, env, along=along))


def _is_steady(nest: Nest, layouts: Layouts) -> bool:
    """Whether whole numbers decide the mask, or the indices and constants alone."""
    assert nest.mask is not None
    names = names_in(nest.mask) - {index.name for index in nest.indices} - layouts.constants.keys()
    return not names or is_decided_by_indices(nest.mask)


def _goes_through(nest: Nest) -> bool:
    """Whether the mask reads only index arrays that decide where iterations live: their contents are known."""
    read = elements_in(nest.mask)
    deciding = names_in(*elements_in(*nest.home.subscripts)) if nest.home is not None else frozenset()
    return bool(read) and all(each.name in deciding for each in read)


def _depth(nest: Nest, home: Reference) -> int:
    """The loops of a nest inside of which index arrays decide where an iteration lives."""
    through = names_in(*elements_in(*home.subscripts))
    return max(depth for depth, index in enumerate(nest.indices, start=1) if index.name in through)


def executions(home: Reference | None, indices: Sequence[Index], layouts: Layouts, env: Environment) -> Ints:
    """How many combinations of the indices run on each processor, shape (P,)."""
    return np.ascontiguousarray(_levels(home, indices, layouts, env)[0][0][:, -1])


def shape_classes(layouts: Layouts) -> ShapeClasses:
    """Ranks whose local parts have equal shapes. Up to `CLASSED_ABOVE` processors every rank is a class of its own."""
    procs = layouts.procs
    if procs <= CLASSED_ABOVE:
        every = np.arange(procs, dtype=np.int64)
        return ShapeClasses(every, every)
    class_of = np.zeros(procs, dtype=np.int64)
    for grid in dict.fromkeys(layout.grid for layout in layouts.arrays.values()):
        for axis, extent in enumerate(grid.shape):
            coordinates = np.arange(extent, dtype=np.int64)
            signature = [coordinates == 0, coordinates == extent - 1]
            for layout in layouts.arrays.values():
                if layout.grid == grid and layout.axes[axis].role == "dim":
                    held = layout.held(axis)
                    last = int(np.max(np.flatnonzero(held), initial=0))
                    signature += [held, coordinates == last]
                elif layout.grid == grid and layout.axes[axis].role == "fixed":
                    signature.append(coordinates == layout.axes[axis].coordinate)
            _, kind = distinct_rows(signature)
            class_of = class_of * (int(kind.max()) + 1) + grid.spread(axis, kind.astype(np.int64))
    _, first, inverse = distinct_with_inverse(class_of)
    return ShapeClasses(inverse.astype(np.int64), first.astype(np.int64))


def segments(owned: OwnedLoop, layouts: Layouts, env: Environment) -> Segments:
    """The runs of an owned loop in order, with the elements and scalars that cross between owners (Def 16)."""
    vectors = enumerate_indices((owned.index,), env)
    iterations = len(vectors[owned.index.name])
    layout = layouts.arrays[owned.home.array]
    if not iterations:
        empty = np.zeros(0, dtype=np.int64)
        return Segments(empty, empty, (), 0)
    owner = _ranks(owned.home, layout, env, vectors, iterations)
    arrays = [need.reference.array for need in owned.needs]
    source = np.empty((len(arrays), iterations), dtype=np.int64)
    for at, need in enumerate(owned.needs):
        source[at] = _ranks(need.reference, layouts.arrays[arrays[at]], env, vectors, iterations)
    arrives = source != owner
    for name in dict.fromkeys(arrays):
        rows = [at for at, each in enumerate(arrays) if each == name]
        read = [owned.needs[at].reference.subscripts for at in rows]
        stored = [assign.target for assign in owned.assigns if isinstance(assign.target, Element)]
        write = [target.subscripts for target in stored if target.name == name]
        codes = [_codes(each, layouts.arrays[name], env, vectors, iterations) for each in (*read, *write)]
        arrives[rows] = _fresh(np.stack(codes[: len(read)]), arrives[rows], owner, codes[len(read) :])
    before = np.concatenate([owner[:1], owner[:-1]])
    source = np.vstack([source, *(before for _ in owned.carried)])
    arrives = np.vstack([arrives, *(before != owner for _ in owned.carried)])
    crossing = np.logical_or.reduce(arrives)
    start = np.flatnonzero(np.concatenate([[True], (owner[1:] != owner[:-1]) | crossing[1:]]))
    count = np.diff(np.append(start, iterations))
    needed = (layouts.arrays[need.reference.array].element_bytes for need in owned.needs)
    bytes_of = np.array([*needed, *(each.bytes for each in owned.carried)], dtype=np.int64)
    messages = tuple(
        _arrivals(source[arrives[:, at], at], int(owner[at]), bytes_of[arrives[:, at]]) if crossing[at] else None
        for at in start
    )
    return Segments(owner[start], count, messages, iterations)


def _codes(subscripts: Sequence[Expr], layout: Layout, env: Environment, vectors: dict[str, Ints], length: int) -> Ints:
    """A number for each element that a reference names in each iteration."""
    code = np.zeros(length, dtype=np.int64)
    for subscript, (lower, _), extent in zip(subscripts, layout.bounds, layout.extents, strict=True):
        code = code * max(1, extent) + (evaluate_vector(subscript, env, vectors) - lower)
    return code


def _fresh(element: Ints, wanted: NDArray[np.bool_], owner: Ints, written: Sequence[Ints]) -> NDArray[np.bool_]:
    """Which of the wanted operands (references, iterations) must be sent: the owner has no copy from an earlier
    iteration, or the element was written since (Def 9). Each element is sent once to an iteration (Def 10)."""
    which, iteration = np.nonzero(wanted)
    number = element[which, iteration]
    to = owner[iteration]
    order = np.lexsort((which, iteration, to, number))
    which, iteration, number, to = which[order], iteration[order], number[order], to[order]
    again = np.concatenate([[False], (number[1:] == number[:-1]) & (to[1:] == to[:-1])])[: len(number)]
    received = np.concatenate([[-1], iteration[:-1]])[: len(number)]
    last = np.full(len(number), -1, dtype=np.int64)
    for each in written:
        length = len(each)
        events = np.sort(each * length + np.arange(length))
        place = np.searchsorted(events, number * length + iteration) - 1
        event = events[np.maximum(place, 0)]
        last = np.maximum(last, np.where((place >= 0) & (event // length == number), event % length, -1))
    keep = ~again | ((last >= received) & (received < iteration))
    result = np.zeros_like(wanted)
    result[which[keep], iteration[keep]] = True
    return result


def _arrivals(sources: Ints, owner: int, bytes_of: Ints) -> Phase:
    """One message from each processor that has one of the operands; a source sends its elements together."""
    ranks = np.array(sorted(set(sources.tolist())), dtype=np.int64)
    return Phase(
        source=ranks,
        destination=np.full(len(ranks), owner, dtype=np.int64),
        elements=np.array([bytes_of[sources == rank].sum() for rank in ranks], dtype=np.int64),
        element_bytes=1,
        name="transfer",
    )


def _ranks(reference: Reference, layout: Layout, env: Environment, vectors: dict[str, Ints], length: int) -> Ints:
    """The lowest rank that holds the referenced element, for each value of the index vectors."""
    rank = np.zeros(length, dtype=np.int64)
    for axis, meaning in enumerate(layout.axes):
        stride = layout.grid.strides[axis]
        if meaning.role == "fixed":
            rank += meaning.coordinate * stride
        elif meaning.role == "dim":
            subscript = evaluate_vector(reference.subscripts[meaning.dim], env, vectors)
            rank += layout.owner_coordinate(axis, subscript) * stride
    return rank


def _levels(
    home: Reference | None, indices: Sequence[Index], layouts: Layouts, env: Environment, along: Along | None = None
) -> tuple[Sequence[Ints], bool]:
    """Iterations of each level, and whether they are an upper bound: the box around the indices, at worst without the
    axes whose coordinate depends on more than one of them."""
    try:
        return _counted(home, indices, layouts, env, along=along), False
    except TooLarge:
        if along is not None:
            raise
        indices = box(indices, env)
    try:
        return _counted(home, indices, layouts, env), True
    except TooLarge:
        return _counted(home, indices, layouts, env, single=True), True


def _counted(
    home: Reference | None,
    indices: Sequence[Index],
    layouts: Layouts,
    env: Environment,
    *,
    single: bool = False,
    mask: Expr | None = None,
    along: Along | None = None,
    known: Known | None = None,
) -> Sequence[Ints]:
    """For each value of `along`, or once, (P, D + 1): column 0 is 1 where the processor takes part at all, column
    d + 1 the iterations of loop d.

    `single`: only axes that one index decides shorten a loop. `mask`: only the innermost iterations for which it holds
    count, and only they are counted: the results are (P, 1)."""
    layout = None if home is None else layouts.arrays[home.array]
    grid = layouts.grid if layout is None else layout.grid
    depth = len(indices)
    wanted = range(depth + 1) if mask is None else (depth,)
    flat = (1,) * len(grid.shape)
    columns: list[Ints | int] = [1] * len(wanted)
    names = {index.name: at for at, index in enumerate(indices)}
    partition = Partition()
    tie_bounds(partition, 0, indices)
    tested = names_in(mask) & names.keys()
    partition.join([(0, name) for name in sorted(tested)])
    used: dict[int, frozenset[str]] = {}
    # What indices that are not asked for place (the reduced ones of a SUM with DIM=) restricts nobody.
    others = frozenset(index.name for index in home.indices) - names.keys() if home else frozenset[str]()
    for axis, meaning in enumerate(layout.axes if layout else ()):
        if meaning.role == "replicated":
            continue
        subscript = home.subscripts[meaning.dim] if home and meaning.role == "dim" else None
        reads = names_in(subscript)
        deciding = reads & names.keys()
        if reads & others or (single and len(deciding) > 1):
            continue
        used[axis] = deciding
        partition.join([Slot("axis", axis), *[(0, name) for name in sorted(deciding)]])
    for group in partition.sets():
        axes = sorted(each.number for each in group if isinstance(each, Slot))
        levels = sorted(names[each[1]] for each in group if isinstance(each, tuple))
        shares: dict[int, Ints | int] = {}
        holds = mask if tested & {indices[at].name for at in levels} else None
        for column, level in enumerate(wanted):
            inside = bisect_left(levels, level)
            if inside not in shares:
                prefix = tuple(indices[at] for at in levels[:inside])
                before = {index.name for index in prefix}
                decided = [axis for axis in axes if used[axis] <= before]
                share = _share(home, layout, prefix, decided, env, holds, along, known)
                shares[inside] = share if isinstance(share, int) or share.ndim > 1 else share.reshape(-1, *flat)
            columns[column] = columns[column] * shares[inside]
    if mask is not None and not tested:
        verdict = mask_holds(mask, known or {}, env, {} if along is None else along.vectors)
        columns = [column * verdict.reshape(-1, *flat) for column in columns]
    values = 1 if along is None else along.values.size
    result = np.empty((values, len(wanted), grid.size), dtype=np.int64)
    for column, share in enumerate(columns):
        result[:, column].reshape(values, *grid.shape[::-1])[...] = share
    return [each.T for each in result]


def _share(
    home: Reference | None,
    layout: Layout | None,
    prefix: tuple[Index, ...],
    axes: list[int],
    env: Environment,
    mask: Expr | None = None,
    along: Along | None = None,
    known: Known | None = None,
) -> Ints | int:
    """How many combinations of the prefix indices of one component each processor runs: one number, or an array for
    the values of `along` with the grid's axes in reverse order (so that it ravels to linear ranks), of extent 1 where
    a value or an axis does not matter.

    `mask`: only those for which it holds. A number, or (K,), where no axis is named."""
    if not prefix and not axes and mask is None:
        return 1
    dims = [layout.axes[axis].dim for axis in axes if layout.axes[axis].role == "dim"] if layout else []
    deciding = names_in(*(home.subscripts[dim] for dim in dims), mask) if home else names_in(mask)
    if along is not None and not any(along.name in names for names in (*[index.reads for index in prefix], deciding)):
        along = None
    runs: Ints | int = 1
    if prefix and mask is None and prefix[-1].name not in deciding:
        vectors = enumerate_indices(prefix[:-1], env, along)
        runs = count_values(prefix[-1], env, vectors)
    else:
        vectors = enumerate_indices(prefix, env, along)
    if mask is not None:
        holds = mask_holds(mask, known or {}, env, vectors)
        vectors = {name: vector[holds] for name, vector in vectors.items()}
    length = len(next(iter(vectors.values()))) if vectors else 1
    values = 1 if along is None else along.values.size
    if layout is None or home is None or not axes:
        if along is None:
            return int(_sums(np.zeros(length, np.int64), runs, 1)[0])
        return _sums(vectors[NUMBER], runs, values)
    grid = layout.grid
    code: Ints | int = 0
    size = 1
    for axis in axes:
        meaning = layout.axes[axis]
        if meaning.role == "fixed":
            code += meaning.coordinate * size
        else:
            subscript = evaluate_vector(home.subscripts[meaning.dim], env, vectors)
            code = code + layout.owner_coordinate(axis, subscript) * size
        size *= grid.shape[axis]
    if along is not None:
        code = code + vectors[NUMBER] * size
    places = np.broadcast_to(np.asarray(code, np.int64), (length,))
    counts = _sums(places, runs, size * values)
    shape = [grid.shape[axis] if axis in axes else 1 for axis in range(len(grid.shape))]
    return counts.reshape(values, *shape[::-1])


def _sums(places: Ints, runs: Ints | int, size: int) -> Ints:
    """How much each of `size` places gets where each element of `places` adds its `runs`."""
    if float(np.sum(runs, dtype=np.float64)) * (places.size if np.ndim(runs) == 0 else 1) > LARGEST_INDEX:
        raise TooLarge(f"its indices have more than {LARGEST_INDEX:,} combinations")
    if np.ndim(runs) == 0:
        return np.bincount(places, minlength=size).astype(np.int64) * runs
    found = np.zeros(size, np.int64)
    np.add.at(found, places, runs)
    return found
