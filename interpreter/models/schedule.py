"""Who exchanges with whom in a collective, stage by stage: the algorithms of Def 8, without sizes.

Members of a group are ordered by physical node; a *column* is a place in that order. A position is group * p + column.

- binomial (trees): relative column v = (column - root) mod p; in the stage of bit b (largest first) every multiple v
  of 2 b sends to v + b.
- recursive doubling (exchanges): in the stage of bit b (lowest first) columns exchange with column xor b; where p is
  not 2^k, the last p - 2^k columns first send to column - 2^k and get the result back.
- linear (trees): the root sends to each in turn.
- auto, on a hypercube, mesh or torus: nodes have coordinates in a box (2 x 2 x ... for a hypercube). The largest box
  of a group, its *core*, works dimension by dimension. Exchanges do recursive doubling along each line of the first
  dimension, then of the second, and so on. Trees go from the last dimension to the first and halve each line: who has
  the data sends to the place in the other half that corresponds to its own. On a hypercube that is node xor 2^d, and
  trees are those of node xor root. A member outside the core sends to the nearest one in it before an exchange, and
  gets the result back; in a tree it hangs on that one.
- auto elsewhere (ring, bus, crossbar, fat tree): binomial.

Source: Def 8; collectives of hypercubes as in Fox et al., "Solving Problems on Concurrent Processors" (1988).
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import groupby, zip_longest
from math import prod

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from aag.distinct import distinct_with_inverse

Ints = NDArray[np.int64]


class Level(Struct, frozen=True, eq=False):
    """Messages of one stage, all at once: positions of senders and receivers, (N,) each. `adds`: the receiver adds what
    comes to what it has; otherwise that replaces it."""

    source: Ints
    destination: Ints
    adds: bool = True


class Core(Struct, frozen=True, eq=False):
    """The largest box of a group, and who is outside it."""

    extents: tuple[int, ...]
    columns: Ints
    """Of the core, column-major in `extents`."""
    place: Ints
    """(p,) where each column is in the core; of one outside it, its substitute."""
    folds: tuple[Ints, ...]
    """Columns outside the core; those of one entry have different substitutes."""


class AlikeGroups(Struct, frozen=True, eq=False):
    """Groups whose members lie alike in the machine: their numbers, (g,)."""

    numbers: Ints
    core: Core


def power_below(p: int) -> int:
    """The largest power of two that is not above p."""
    return 1 << (p.bit_length() - 1)


# --- trees --------------------------------------------------------------------------------------------------------


def tree(algorithm: str, procs: int, root: Ints, groups: Sequence[AlikeGroups] | None) -> list[Level]:
    """The stages in which the root column of each group (G,) reaches all of its `procs` columns.

    `groups`: for ``auto`` where the machine has dimensions.
    """
    if algorithm == "auto" and groups is not None:
        return _together([list(_halved(procs, each, root[each.numbers])) for each in groups])
    if algorithm == "linear":
        steps = [(0, np.array([child])) for child in range(1, procs)]
    else:
        bits = [1 << bit for bit in range((procs - 1).bit_length())][::-1]
        steps = [(bit, np.arange(bit, procs, 2 * bit)) for bit in bits]
    first = procs * np.arange(root.size)[:, None]
    return [
        Level(
            (first + (upper - (bit or upper) + root[:, None]) % procs).ravel(),
            (first + (upper + root[:, None]) % procs).ravel(),
        )
        for bit, upper in steps
    ]


def _halved(procs: int, group: AlikeGroups, root: Ints) -> Iterator[Level]:
    """The tree of groups that lie alike, dimension by dimension."""
    core, first = group.core, procs * group.numbers
    inside = core.place[root]
    outside = np.flatnonzero(core.columns[inside] != root)
    if outside.size:
        yield Level((first + root)[outside], (first + core.columns[inside])[outside])
    stride = prod(core.extents)
    for extent in core.extents[::-1]:
        beyond = np.arange(0, core.columns.size, stride)
        stride //= extent
        below, holder = inside % stride, inside // stride % extent
        for source, destination in line(extent, holder):
            yield Level(
                *(
                    (
                        first[:, None, None] + core.columns[below[:, None, None] + stride * at[:, :, None] + beyond]
                    ).ravel()
                    for at in (source, destination)
                )
            )
    for fold in core.folds:
        position, source = first[:, None] + fold, first[:, None] + core.columns[core.place[fold]]
        others = fold != root[:, None]
        yield Level(source[others], position[others])


def line(length: int, holder: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Recursive halving of a line: the holder (g,) of each part sends into its other half. Yields senders and receivers
    (g, M)."""
    parts = [(0, length, holder)]
    while any(high - low > 1 for low, high, _ in parts):
        halves, pairs = [], []
        for low, high, has in parts:
            if high - low < 2:
                continue
            half = (high - low + 1) // 2
            left = has < low + half
            other = np.where(left, np.minimum(has + half, high - 1), has - half)
            pairs.append((has, other))
            halves += [(low, low + half, np.where(left, has, other)), (low + half, high, np.where(left, other, has))]
        yield np.stack([has for has, _ in pairs], axis=1), np.stack([other for _, other in pairs], axis=1)
        parts = halves


# --- exchanges ----------------------------------------------------------------------------------------------------


def butterfly(algorithm: str, procs: int, count: int, groups: Sequence[AlikeGroups] | None) -> Iterable[Level]:
    """The stages after which all columns of each of `count` groups have what all of them had."""
    if algorithm == "auto" and groups is not None:
        parts = [_doubled(procs, each) for each in groups]
        return parts[0] if len(parts) == 1 else _together([list(each) for each in parts])
    whole = Core((procs,), np.arange(procs), np.arange(procs), ())
    return _doubled(procs, AlikeGroups(np.arange(count), whole))


def _doubled(procs: int, group: AlikeGroups) -> Iterator[Level]:
    """The exchange of groups that lie alike, dimension by dimension."""
    core, first = group.core, procs * group.numbers[:, None]

    def level(source: Ints, destination: Ints, *, adds: bool = True) -> Level:
        return Level((first + source).ravel(), (first + destination).ravel(), adds)

    for fold in core.folds:
        yield level(fold, core.columns[core.place[fold]])
    place = np.arange(core.columns.size)
    stride = 1
    for extent in core.extents:
        at = place // stride % extent
        power = power_below(extent)
        lower, upper = place[at < power], place[at >= power]
        if upper.size:
            yield level(core.columns[upper], core.columns[upper - power * stride])
        for bit in (1 << each for each in range(power.bit_length() - 1)):
            other = lower + stride * bit * (1 - 2 * ((lower // stride % extent) // bit % 2))
            yield level(core.columns[lower], core.columns[other])
        if upper.size:
            yield level(core.columns[upper - power * stride], core.columns[upper], adds=False)
        stride *= extent
    for fold in core.folds:
        yield level(core.columns[core.place[fold]], fold, adds=False)


def _together(parts: Sequence[list[Level]]) -> list[Level]:
    """Stages of groups that lie differently, side by side."""
    if len(parts) == 1:
        return parts[0]
    result = []
    for levels in zip_longest(*parts):
        some = sorted((each for each in levels if each is not None), key=lambda each: each.adds)
        for adds, alike in groupby(some, key=lambda each: each.adds):
            chosen = list(alike)
            result.append(
                Level(
                    np.concatenate([each.source for each in chosen]),
                    np.concatenate([each.destination for each in chosen]),
                    adds,
                )
            )
    return result


# --- groups in the machine ----------------------------------------------------------------------------------------


def by_node(members: Ints, node: Ints) -> Ints | None:
    """The columns of each group (G, p) in the order of their nodes; None where they are in it."""
    nodes = node[members]
    if (nodes[:, 1:] > nodes[:, :-1]).all():
        return None
    return np.argsort(nodes, axis=1, kind="stable")


class _Same:
    """An array that counts as equal to another one with the same content."""

    def __init__(self, array: Ints) -> None:
        self.array = array
        self._content = array.shape, blake2b(np.ascontiguousarray(array).data).digest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self._content == other._content

    def __hash__(self) -> int:
        return hash(self._content)


def groups_of(nodes: Ints, box: tuple[int, ...]) -> list[AlikeGroups]:
    """The groups (G, p) of nodes in ascending order, by how they lie in a box."""
    return _groups_of(_Same(nodes), box)


@lru_cache(maxsize=8)
def _groups_of(wanted: _Same, box: tuple[int, ...]) -> list[AlikeGroups]:
    """Most steps of a loop ask for the groups of the step before, which may have a million members."""
    nodes = wanted.array
    coordinates: list[Ints] = []
    stride = 1
    for extent in box:
        each = nodes // stride % extent
        if (each != each[:, :1]).any():
            coordinates.append(each - each.min(axis=1, keepdims=True))
        stride *= extent
    if not coordinates:
        return [AlikeGroups(np.arange(len(nodes)), Core((), np.zeros(1, np.int64), np.zeros(1, np.int64), ()))]
    lie = np.stack(coordinates, axis=1)
    if len(lie) == 1 or (lie == lie[:1]).all():
        return [AlikeGroups(np.arange(len(nodes)), core_of(lie[0]))]
    alike: dict[bytes, list[int]] = {}
    for number, shape in enumerate(lie):
        alike.setdefault(shape.tobytes(), []).append(number)
    return [AlikeGroups(np.array(numbers), core_of(lie[numbers[0]])) for numbers in alike.values()]


def core_of(coordinates: Ints) -> Core:
    """The core of members with these coordinates (K, p), which ascend with the last dimension first.

    While the members are not all of a box, the slab (a value of a coordinate) with the smallest share of its places
    taken is left out; of equal ones, the last.
    """
    inside = np.ones(coordinates.shape[1], np.bool_)
    while True:
        counts = [np.bincount(each[inside]) for each in coordinates]
        extents = [np.count_nonzero(each) for each in counts]
        full = prod(extents)
        if full == np.count_nonzero(inside):
            break
        fill = [
            (count * extent, -dimension, -value)
            for dimension, (each, extent) in enumerate(zip(counts, extents, strict=True))
            if extent > 1
            for value, count in enumerate(each.tolist())
            if count
        ]
        _, dimension, value = min(fill)
        inside &= coordinates[-dimension] != -value
    place = np.zeros(coordinates.shape[1], np.int64)
    stride = 1
    for each, extent in zip(coordinates, extents, strict=True):
        values = np.flatnonzero(np.bincount(each[inside]))
        place += stride * _nearest(values, each)
        stride *= int(extent)
    folds = []
    left = np.flatnonzero(~inside)
    while left.size:
        _, first, _ = distinct_with_inverse(place[left])
        folds.append(np.sort(left[first]))
        later = np.ones(left.size, np.bool_)
        later[first] = False
        left = left[later]
    return Core(tuple(int(each) for each in extents if each > 1), np.flatnonzero(inside), place, tuple(folds))


def _nearest(values: Ints, each: Ints) -> Ints:
    """The index of the value that is nearest to each, of two the lower."""
    above = np.searchsorted(values, each).clip(0, values.size - 1)
    below = (above - 1).clip(0)
    return np.where(each - values[below] <= values[above] - each, below, above)
