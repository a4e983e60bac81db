"""Who owns what, as pictures can show it: each array cut into boxes that one processor, or one set of them, holds.

A dimension falls into runs: indices next to each other that live at one coordinate of a grid axis. Two dimensions of
runs make a plane of boxes; further distributed dimensions make several planes.
"""

from itertools import product
from math import prod

import numpy as np
from msgspec import Struct

from aag.mapping.describe import LayoutRow, layout_rows
from aag.mapping.layout import Layout, Layouts

MOST_RUNS = 64
"""Runs of a dimension that are worked out: more than any picture shows."""

MOST_PLANES = 4

_ENUMERATED = 1_000_000
"""Indices of a dimension that are looked at; runs further on are not shown."""

_NAMED = 8
"""Processors of a box that are named one by one."""


class IndexRun(Struct, frozen=True, kw_only=True):
    """Indices `first` to `last` of a dimension; `coordinate` on its grid axis, None where it is collapsed."""

    first: int
    last: int
    coordinate: int | None

    @property
    def length(self) -> int:
        """Number of indices."""
        return self.last - self.first + 1


class PlaneSide(Struct, frozen=True, kw_only=True):
    """One dimension (from 0) of a picture: its runs, ascending, and whether there are more than those."""

    dim: int
    runs: tuple[IndexRun, ...]
    whole: bool


class Plane(Struct, frozen=True, kw_only=True):
    """Boxes of one plane: `owners[row][column]` are ranks, ascending. `fixed`: the run of each dimension that is
    neither down nor across."""

    fixed: tuple[tuple[int, IndexRun], ...]
    owners: tuple[tuple[tuple[int, ...], ...], ...]


class Picture(Struct, frozen=True, kw_only=True):
    """One array. `down` is None for an array of one dimension; `planes` are all there are, unless `more` are left out.
    `same` are other arrays that are mapped element by element as this one."""

    array: str
    row: LayoutRow
    same: tuple[str, ...]
    down: PlaneSide | None
    across: PlaneSide
    planes: tuple[Plane, ...]
    more: int
    procs: int


def pictures(layouts: Layouts, names: tuple[str, ...]) -> tuple[Picture, ...]:
    """A picture of each distributed array among `names`; arrays that are mapped alike share one."""
    alike: dict[object, list[str]] = {}
    for name in names:
        layout = layouts.arrays[name]
        if layout.is_distributed and layout.elements:
            axes = tuple(
                (axis.role, axis.dim, axis.stride, axis.offset, axis.coordinate, str(axis.distribution))
                for axis in layout.axes
            )
            alike.setdefault((layout.bounds, layout.grid, axes), []).append(name)
    rows = {row.array: row for row in layout_rows(layouts)}
    return tuple(_picture(layouts.arrays[first], rows[first], tuple(same)) for first, *same in alike.values())


def _picture(layout: Layout, row: LayoutRow, same: tuple[str, ...]) -> Picture:
    spread = [dim for dim in range(layout.rank) if layout.axis_of_dim(dim) is not None]
    shown = sorted([*spread, *(dim for dim in range(layout.rank) if dim not in spread)][:2])
    down = _side(layout, shown[0]) if len(shown) > 1 else None
    across = _side(layout, shown[-1])
    others = [_side(layout, dim) for dim in range(layout.rank) if dim not in shown]
    combinations = product(*(side.runs for side in others))
    planes = [
        _plane(layout, tuple((side.dim, run) for side, run in zip(others, runs, strict=True)), down, across)
        for runs, _ in zip(combinations, range(MOST_PLANES), strict=False)
    ]
    every = prod(len(side.runs) for side in others)
    return Picture(
        array=layout.array,
        row=row,
        same=same,
        down=down,
        across=across,
        planes=tuple(planes),
        more=every - len(planes),
        procs=layout.grid.size,
    )


def _side(layout: Layout, dim: int) -> PlaneSide:
    lower, upper = layout.bounds[dim]
    axis = layout.axis_of_dim(dim)
    if axis is None:
        return PlaneSide(dim=dim, runs=(IndexRun(first=lower, last=upper, coordinate=None),), whole=True)
    distribution = layout.axes[axis].distribution
    if distribution is not None and distribution.kind == "block":
        first, last = layout.held_interval(axis)
        found = [
            IndexRun(first=int(first[at]), last=int(last[at]), coordinate=int(at))
            for at in np.flatnonzero(last >= first).tolist()
        ]
        found.sort(key=lambda run: run.first)
        return PlaneSide(dim=dim, runs=tuple(found[:MOST_RUNS]), whole=len(found) <= MOST_RUNS)
    until = min(upper, lower + _ENUMERATED - 1)
    owner = layout.owner_coordinate(axis, np.arange(lower, until + 1))
    starts = np.concatenate([np.zeros(1, np.int64), np.flatnonzero(np.diff(owner)) + 1])
    ends = np.concatenate([starts[1:], np.array([owner.size])])
    runs = tuple(
        IndexRun(first=lower + int(s), last=lower + int(e) - 1, coordinate=int(owner[s]))
        for s, e in zip(starts[:MOST_RUNS], ends[:MOST_RUNS], strict=True)
    )
    return PlaneSide(dim=dim, runs=runs, whole=starts.size <= MOST_RUNS and until == upper)


def _plane(layout: Layout, fixed: tuple[tuple[int, IndexRun], ...], down: PlaneSide | None, across: PlaneSide) -> Plane:
    place = dict(fixed)
    rows = []
    for row in (None,) if down is None else down.runs:
        boxes = []
        for column in across.runs:
            here = {**place, across.dim: column}
            if down is not None and row is not None:
                here[down.dim] = row
            boxes.append(_owners(layout, here))
        rows.append(tuple(boxes))
    return Plane(fixed=fixed, owners=tuple(rows))


def _owners(layout: Layout, here: dict[int, IndexRun]) -> tuple[int, ...]:
    """The ranks that hold a box: along a replicated axis all of them."""
    ranks = np.zeros(1, np.int64)
    for at, axis in enumerate(layout.axes):
        if axis.role == "dim":
            coordinate = here[axis.dim].coordinate
            steps = np.array([0 if coordinate is None else coordinate])
        else:
            steps = np.array([axis.coordinate]) if axis.role == "fixed" else np.arange(layout.grid.shape[at])
        ranks = (steps[:, None] * layout.grid.strides[at] + ranks[None, :]).ravel()
    return tuple(sorted(ranks.tolist()))


def ranks_text(ranks: tuple[int, ...]) -> str:
    """Ranks in words: ``3``, ``0-7``, ``0,2,4,6``, ``0,2,..,62``."""
    if len(ranks) == 1:
        return str(ranks[0])
    if ranks[-1] - ranks[0] == len(ranks) - 1:
        return f"{ranks[0]}-{ranks[-1]}"
    if len(ranks) <= _NAMED:
        return ",".join(map(str, ranks))
    return f"{ranks[0]},{ranks[1]},..,{ranks[-1]}"
