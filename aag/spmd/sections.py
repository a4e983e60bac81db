"""Where the elements of messages lie in memory: one after the other, or strided, so that they are packed.

A section is contiguous if it has all of the first dimensions, consecutive indices of the next and a single one of the
others. A processor stores what it owns in the order of its own indices; what it gets is stored in the order of the
subscripts.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from aag.distinct import distinct, distinct_rows, distinct_with_inverse
from aag.spmd.relation import Relation, RelationComponent
from aag.spmd.vector import Ints

Bools = NDArray[np.bool_]
OWNED, STORED = 0, 1
"""The two numberings of indices: by who owns them, by subscript."""
_MORE = np.iinfo(np.int64).max
"""Indices of a dimension with an overlap area: more than any message has."""
_MOST = 62
"""Different masks of a component that are distinguished."""


def strided(
    relation: Relation,
    pattern: str,
    destination: Ints,
    source: Ints | None = None,
    *,
    part: Relation | None = None,
    elements: Ints | None = None,
    together: int = 1,
) -> tuple[Bools, Bools]:
    """Whether what messages carry is strided where it comes from, and where it arrives.

    Args:
        relation: all that moves.
        pattern: of the operation.
        destination: (M,) the receivers; without `source`, the members of a collective.
        source: (M,) the senders.
        part: what moves in these messages, if that is not all.
        elements: (M,) of the messages, if known: with fewer than their box has, as in an L, they are strided.
        together: of a collective, how many members one after the other are a group.
    """
    moved = relation if part is None else part
    layout = relation.layout
    spans = np.ones((2, destination.size, layout.rank), dtype=np.int64)
    dense = np.ones((2, destination.size, layout.rank), dtype=np.bool_)
    for component in moved.components:
        if component.dims:
            span, full = _found(component, moved, destination, source)
            for side in (OWNED, STORED):
                spans[side][:, component.dims] = span[:, :, side]
                dense[side][:, component.dims] = full[:, side, None] | (span[:, :, side] == 1)
    owned = layout.local_extents(destination if source is None else source)
    if elements is not None:
        dense &= (spans[OWNED].prod(axis=1) == elements)[None, :, None]
    given = ~_contiguous(spans[OWNED], dense[OWNED], owned)
    taken = ~_contiguous(spans[STORED], dense[STORED], _stored(relation, pattern, destination, together))
    if source is None:  # what messages brought to a member of a collective is where it was stored
        given = np.where(_brought(moved, destination), taken, given)
    return given, taken


def _brought(relation: Relation, ranks: Ints) -> Bools:
    """Whether ranks have something that others own."""
    found = np.zeros(ranks.size, dtype=np.bool_)
    for component in relation.components:
        away = component.source != component.destination
        if away.any():
            found |= np.isin(_share(relation, component, ranks), component.destination[away])
    return found


def _stored(relation: Relation, pattern: str, destination: Ints, together: int) -> Ints:
    """How many indices of each dimension there are in what receivers store: their part and its overlap area, the whole
    array where it is for input or output, else a buffer as large as the box of what they need. Members of a
    concatenation need what all of their group contribute."""
    layout = relation.layout
    if pattern == "overlap_shift":
        found = np.array(layout.local_extents(destination))
        for component in relation.components:
            if component.dims and (component.source != component.destination).any():
                found[:, component.dims] = _MORE  # its own part and what overlaps it
        return found
    extents = np.tile(np.array(layout.extents, dtype=np.int64), (destination.size, 1))
    if pattern not in ("gather", "scatter"):
        for component in relation.components:
            if component.dims and pattern == "concatenation":
                extents[:, component.dims] = _hull(component, relation, destination, together)
            elif component.dims:
                extents[:, component.dims] = _found(component, relation, destination, None)[0][:, :, STORED]
    return extents


def _hull(component: RelationComponent, relation: Relation, members: Ints, together: int) -> Ints:
    """The spans (M, dims) of what all members of each group have together in the dimensions of a component."""
    order = np.argsort(component.destination, kind="stable")
    codes, first = np.unique(component.destination[order], return_index=True)
    if not codes.size:
        return np.ones((members.size, len(component.dims)), dtype=np.int64)
    low = np.minimum.reduceat(component.low[order][..., STORED], first)
    high = np.maximum.reduceat(component.high[order][..., STORED], first)
    wanted = _share(relation, component, members)
    at = np.minimum(np.searchsorted(codes, wanted), codes.size - 1)
    known = (codes[at] == wanted)[:, None]
    groups = (-1, together, len(component.dims))
    least = np.where(known, low[at], _MORE).reshape(groups).min(axis=1)
    most = np.where(known, high[at], -_MORE).reshape(groups).max(axis=1)
    return np.repeat(np.maximum(most - least + 1, 1), together, axis=0)


def _contiguous(spans: Ints, dense: Bools, extents: Ints) -> Bools:
    """Whether sections are contiguous: by message and dimension their spans, whether they have all in between, and how
    many indices there are."""
    found = np.ones(len(spans), dtype=np.bool_)
    whole = np.ones(len(spans), dtype=np.bool_)
    for span, all_between, extent in zip(spans.T, dense.T, extents.T, strict=True):
        found &= np.where(whole, all_between, span == 1)
        whole &= all_between & (span == extent)
    return found


def _found(
    component: RelationComponent, relation: Relation, destination: Ints, source: Ints | None
) -> tuple[Ints, Bools]:
    """For each message the spans (M, dims, 2) in the dimensions of a component, and whether all in between moves."""
    wanted = _codes_of(component, relation, destination, source)
    rows = _codes(component.destination, None if source is None else component.source, relation)
    order = np.argsort(rows, kind="stable")
    own, _, number = distinct_with_inverse(component.mask)
    spans = np.ones((wanted.size, len(component.dims), 2), dtype=np.int64)
    dense = np.ones((wanted.size, 2), dtype=np.bool_)
    for here, masks in _beside(component, relation, destination, source):
        moved: Bools = np.any(relation.selected(own[:, None] & masks), axis=1)[number]
        codes, found, counts = _table(component, rows, order[moved[order]])
        at = np.searchsorted(codes, wanted[here])
        known = at < codes.size
        known[known] = codes[at[known]] == wanted[here][known]
        some, at = here[known], at[known]
        spans[some] = found[at]
        dense[some] = found[at].prod(axis=1) == counts[at, None]
    return spans, dense  # of the others nothing moves


def _beside(
    component: RelationComponent, relation: Relation, destination: Ints, source: Ints | None
) -> Iterator[tuple[Ints, Ints]]:
    """What rows of the other components a row of this one is combined with: messages with the same, and the masks of
    these. Of a component with very many different masks, all."""
    kinds, columns = [], []
    for other in relation.components:
        if other is component:
            continue
        masks, _, number = distinct_with_inverse(other.mask)
        if masks.size > _MOST:
            kinds.append(masks)
            continue
        rows = _codes(other.destination, None if source is None else other.source, relation)
        codes, _, at = distinct_with_inverse(rows)
        has = np.zeros(codes.size + 1, dtype=np.int64)
        np.bitwise_or.at(has, at, np.int64(1) << number)
        wanted = _codes_of(other, relation, destination, source)
        place = np.searchsorted(codes, wanted)
        known = place < codes.size
        known[known] = codes[place[known]] == wanted[known]
        columns.append(has[np.where(known, place, codes.size)])
        kinds.append(masks)
    if not columns:
        yield np.arange(destination.size), _products(kinds)
        return
    first, group = distinct_rows(columns)
    for which, at in enumerate(first):
        sets = iter(columns)
        chosen = [
            masks if masks.size > _MOST else masks[(int(next(sets)[at]) >> np.arange(masks.size)) & 1 == 1]
            for masks in kinds
        ]
        yield np.flatnonzero(group == which), _products(chosen)


def _products(kinds: Sequence[Ints]) -> Ints:
    """The distinct masks of rows of all components together."""
    found = np.array([-1], dtype=np.int64)
    for masks in kinds:
        found = distinct((found[:, None] & masks).ravel())
    return found


def _codes_of(component: RelationComponent, relation: Relation, destination: Ints, source: Ints | None) -> Ints:
    """Which messages have the same rows of a component."""
    return _codes(
        _share(relation, component, destination),
        None if source is None else _share(relation, component, source),
        relation,
    )


def _share(relation: Relation, component: RelationComponent, ranks: Ints) -> Ints:
    """The share of a component in ranks."""
    grid = relation.layout.grid
    total = np.full_like(ranks, component.fixed)
    for axis in component.axes:
        total += grid.coordinate_of(ranks, axis) * grid.strides[axis]
    return total


def _codes(destination: Ints, source: Ints | None, relation: Relation) -> Ints:
    return destination if source is None else source * relation.layout.grid.size + destination


def _table(component: RelationComponent, codes: Ints, rows: Ints) -> tuple[Ints, Ints, Ints]:
    """Distinct codes of some rows, which are in their order, with the spans and the number of what is there."""
    if not rows.size:
        return rows, np.zeros((0, len(component.dims), 2), np.int64), rows
    own = codes[rows]
    first = np.flatnonzero(np.concatenate([[True], own[1:] != own[:-1]]))
    low = np.minimum.reduceat(component.low[rows], first)
    high = np.maximum.reduceat(component.high[rows], first)
    return own[first], high - low + 1, np.add.reduceat(component.count[rows], first)
