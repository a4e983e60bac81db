"""Does a write certainly touch none of the elements that a communication copied, or certainly all of them?

Decided one dimension at a time from the values that its subscript takes, where these are known before the program
runs; anything else is answered with no.
"""

from collections.abc import Sequence
from functools import cached_property, lru_cache

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from aag.distinct import distinct, distinct_rows, is_among
from aag.ir.evaluate import Environment, Unknown
from aag.ir.expressions import Expr
from aag.ir.visitors import names_in
from aag.mapping.layout import Layout, Layouts
from aag.spmd.components import Partition, tie_bounds
from aag.spmd.nodes import Index, Need, Reference
from aag.spmd.vector import Ints, TooLarge, enumerate_indices, evaluate_vector

_MOST = 1 << 20


Box = tuple[Ints | None, ...]
"""A product of subscript values, one set for each dimension; None: not known."""


class Touched:
    """The elements that a write touches."""

    def __init__(self, reference: Reference, env: Environment) -> None:
        self.reference = reference
        self._env = env

    @cached_property
    def values(self) -> Box:
        """The distinct values of each subscript."""
        rows = [_values((each,), self.reference.indices, self._env) for each in self.reference.subscripts]
        return tuple([None if each is None else each[:, 0] for each in rows])

    @cached_property
    def is_product(self) -> bool:
        """Whether all combinations of the values of its subscripts are touched."""
        return _independent(self.reference)


class Moved:
    """What a need brings to processors that do not own it, as boxes that hold at least these elements.

    The others of the reference are where they are needed, whoever writes them: no write to them makes a copy stale.
    """

    def __init__(self, need: Need, layouts: Layouts) -> None:
        self._need = need
        self._layouts = layouts
        self._env = layouts.environment

    @cached_property
    def boxes(self) -> tuple[Box, ...]:
        """One for each grid axis along which data move."""
        need, arrays = self._need, self._layouts.arrays
        layout, whole = arrays[need.reference.array], Touched(need.reference, self._env).values
        if need.home is None:
            return (whole,)
        home = arrays[need.home.array]
        if home.grid.shape != layout.grid.shape:
            return (whole,)
        found: list[Box] = []
        for axis, (source, target) in enumerate(zip(layout.axes, home.axes, strict=True)):
            if source.role == "replicated" or (source == target and source.role == "fixed"):
                continue
            if source.role == target.role == "dim":
                values = self._crossing(layout, home, axis)
                if values is None or values.size:
                    found.append((*whole[: source.dim], values, *whole[source.dim + 1 :]))
            else:
                found.append(whole)
        return tuple(found)

    def _crossing(self, layout: Layout, home: Layout, axis: int) -> Ints | None:
        """The subscripts of the dimension along one axis whose owner is not where they are needed."""
        assert self._need.home is not None
        source, target = layout.axes[axis], home.axes[axis]
        read, place = self._need.reference.subscripts[source.dim], self._need.home.subscripts[target.dim]
        if read == place and replace(source, dim=target.dim) == target:
            return np.empty(0, np.int64)
        pairs = _values((read, place), self._need.reference.indices, self._env)
        if pairs is None:
            return None
        inside = _within(pairs[:, 0], layout.bounds[source.dim]) & _within(pairs[:, 1], home.bounds[target.dim])
        reads, places = pairs[inside].T
        return distinct(reads[layout.owner_coordinate(axis, reads) != home.owner_coordinate(axis, places)])


def disjoint(write: Touched, copies: Moved) -> bool:
    """Whether no copied element is written: in some dimension of each box the values differ throughout."""
    return all(
        any(
            first is not None and second is not None and not is_among(first, second).any()
            for first, second in zip(write.values, box, strict=True)
        )
        for box in copies.boxes
    )


def covers(write: Touched, copies: Moved) -> bool:
    """Whether each copied element is written: the dimensions of the write are independent and each is covered."""
    return write.is_product and all(
        first is not None and second is not None and is_among(second, first).all()
        for box in copies.boxes
        for first, second in zip(write.values, box, strict=True)
    )


def _within(values: Ints, bounds: tuple[int, int]) -> NDArray[np.bool_]:
    lower, upper = bounds
    return (values >= lower) & (values <= upper)


def _independent(reference: Reference) -> bool:
    """Whether the reference touches the full product of the values of its dimensions."""
    known = {index.name for index in reference.indices}
    partition = Partition()
    tie_bounds(partition, 0, reference.indices)
    used: list[object] = []
    for subscript in reference.subscripts:
        roots = {partition.find((0, name)) for name in names_in(subscript) & known}
        used += roots
    return len(used) == len(set(used))


def _values(exprs: tuple[Expr, ...], indices: Sequence[Index], env: Environment) -> Ints | None:
    """The distinct combinations (R, expressions) of the values that some expressions take over an index space, None
    where they are not known."""
    known = {index.name: index for index in indices}
    names = names_in(*exprs) & known.keys()
    pending = list(names)
    while pending:
        more = known[pending.pop()].reads & known.keys() - names
        names |= more
        pending += more
    used = tuple(index for index in indices if index.name in names)
    try:
        return _enumerated(exprs, used, tuple(sorted(env.items(), key=lambda item: item[0])))
    except (Unknown, TooLarge):
        return None


@lru_cache(maxsize=256)
def _enumerated(exprs: tuple[Expr, ...], indices: tuple[Index, ...], env: tuple[tuple[str, object], ...]) -> Ints:
    values = dict(env)
    vectors = enumerate_indices(indices, values)  # type: ignore[arg-type]  # values came from an Environment
    columns = [np.atleast_1d(np.asarray(evaluate_vector(each, values, vectors), np.int64)) for each in exprs]  # type: ignore[arg-type]  # as above
    rows = np.stack(np.broadcast_arrays(*columns), axis=1)
    found = distinct(rows[:, 0])[:, None] if len(exprs) == 1 else rows[distinct_rows(list(rows.T))[0]]
    if len(found) > _MOST:
        raise TooLarge(", ".join(map(str, exprs)))
    return found
