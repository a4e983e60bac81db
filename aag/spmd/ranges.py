"""The index combinations that decide which elements a processor needs, without those that say the same again.

In ``do j; do i = j, n; ... = a(i, k)`` the owner of column j needs a(j:n, k). Where the innermost index only ranges
over the elements of one dimension, each combination of the others stands for a range of elements. The ranges of one
destination are united before they become rows: n ranges instead of n**2 / 2 pairs.
"""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from aag.distinct import distinct_rows
from aag.ir.evaluate import Environment
from aag.ir.expressions import Expr, IntLit, Unary
from aag.ir.linear import linear
from aag.ir.visitors import names_in
from aag.spmd.nodes import Index
from aag.spmd.vector import LIMIT, LIMIT_ALONG, Along, Ints, TooLarge, count_values, enumerate_indices, evaluate_vector


class Ranges(Struct, frozen=True, eq=False):
    """Combinations of indices, N of them, each for one value or a range of values of the innermost index.

    `vectors`: (N,) for each index, with the first value of the innermost; `ends`: the same with its last value, where
    it ranges over the elements of dimension `at`, else nothing.
    """

    length: int
    vectors: dict[str, Ints]
    at: int | None = None
    ends: dict[str, Ints] | None = None

    def where(self, taken: NDArray[np.bool_]) -> "Ranges":
        """Only some of the combinations."""

        def some(vectors: dict[str, Ints]) -> dict[str, Ints]:
            return {name: vector[taken] for name, vector in vectors.items()}

        return Ranges(int(taken.sum()), some(self.vectors), self.at, self.ends and some(self.ends))


def enumerate_ranges(
    indices: Sequence[Index],
    subscripts: Sequence[Expr],
    deciding: frozenset[str],
    env: Environment,
    along: Along | None = None,
) -> Ranges:
    """The combinations of some indices.

    Args:
        indices: Outermost first.
        subscripts: Those of the elements.
        deciding: The indices that decide destinations.
        env: The values of scalars.
        along: A scalar with several values.

    Raises:
        TooLarge: as in `enumerate_indices`.
    """
    used = deciding | names_in(*subscripts)
    kept, unused = list(indices), list[Index]()
    while kept and kept[-1].name not in used and not _is_read(kept[-1], unused):
        unused.append(kept.pop())
    around = len(kept) > 1 or along is not None
    at = _ranged(kept[-1], subscripts, deciding) if kept and around and not _is_read(kept[-1], unused) else None
    last = None if at is None else kept.pop()
    vectors = enumerate_indices(kept, env, along)
    length = len(next(iter(vectors.values()))) if vectors else 1
    for index in unused if last is None else (last, *unused):
        some = np.broadcast_to(np.asarray(count_values(index, env, vectors)) > 0, (length,))
        if not some.all():
            vectors = {name: vector[some] for name, vector in vectors.items()}
            length = int(some.sum())
    if last is None or not length:
        return Ranges(length, vectors)
    first, end = (np.broadcast_to(evaluate_vector(each, env, vectors), (length,)) for each in (last.lower, last.upper))
    return Ranges(length, {**vectors, last.name: first}, at, {**vectors, last.name: end})


def united(coords: Ints, elements: Ints, at: int, last: Ints, limit: int) -> tuple[Ints, Ints]:
    """The rows of destination coordinates and elements (R, ...) where element `at` ranges to `last` (R,).

    Raises:
        TooLarge: there are more than `limit` rows.
    """
    low, high = np.minimum(elements[:, at], last), np.maximum(elements[:, at], last)
    base = int(low.min())
    width = int(high.max()) - base + 2  # ranges of different groups do not even touch
    _, group = distinct_rows([*coords.T, *np.delete(elements, at, axis=1).T])
    if (int(group.max()) + 1) * width > 1 << 62:
        raise TooLarge(f"a range of {width:,} elements")
    shift = group.astype(np.int64) * width - base
    order = np.argsort(low + shift, kind="stable")
    start, reach = (low + shift)[order], np.maximum.accumulate((high + shift)[order])
    first = np.flatnonzero(np.concatenate([[True], start[1:] > reach[:-1] + 1]))
    lengths = reach[np.append(first[1:], len(reach)) - 1] - start[first] + 1
    total = int(lengths.sum())
    if total > limit:
        raise TooLarge(f"{total:,} elements, more than {limit:,}")
    rows = order[first].repeat(lengths)
    found = elements[rows]
    found[:, at] = low[rows] + np.arange(total) - (np.cumsum(lengths) - lengths).repeat(lengths)
    return coords[rows], found


def most_rows(along: Along | None) -> int:
    """The most combinations that are worth enumerating."""
    return LIMIT if along is None else LIMIT_ALONG


def _is_read(index: Index, inner: Sequence[Index]) -> bool:
    return any(index.name in each.reads for each in inner)


def _ranged(index: Index, subscripts: Sequence[Expr], deciding: frozenset[str]) -> int | None:
    """The subscript that runs through neighbouring elements with an index that is used nowhere else."""
    places = [at for at, each in enumerate(subscripts) if index.name in names_in(each)]
    if index.name in deciding or len(places) != 1 or index.step not in (None, IntLit(1), Unary("-", IntLit(1))):
        return None
    form = linear(subscripts[places[0]], {})
    if abs(form.coefficient(index.name)) != 1 or index.name in names_in(*form.without(index.name).terms):
        return None
    return places[0]
