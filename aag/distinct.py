"""Distinct values, by sorting. NumPy's own set functions load its masked arrays first, which takes longer than a
whole prediction of a small program.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Places = NDArray[np.intp]

_ROOM = 1 << 62
_DENSE = 4
"""Numbers up to this many times their count are looked up instead of sorted."""


def distinct(values: Ints) -> Ints:
    """The distinct values, ascending."""
    if ascends(values):
        return values
    ordered = np.sort(values, axis=None)
    return ordered[_starts(ordered)]


def distinct_with_inverse(values: NDArray[np.int64] | NDArray[np.uint64]) -> tuple[Ints, Places, Places]:
    """The distinct values of a vector, ascending; where each occurs first; for each place the number of its value."""
    if values.dtype == np.int64 and values.size and values.min() >= 0 and values.max() <= _DENSE * values.size:
        return _dense(np.asarray(values, np.int64), int(values.max()) + 1)
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    start = _starts(ordered)
    inverse = np.empty(values.size, np.intp)
    inverse[order] = np.cumsum(start) - 1
    first = order[start]
    return np.asarray(values[first], np.int64), first, inverse


def distinct_rows(columns: Sequence[NDArray[np.int64] | NDArray[np.bool_]]) -> tuple[Places, Places]:
    """Rows given by their columns, each (R,): where each distinct row occurs first, in ascending order of the rows
    (the first column decides first), and for each row its number in that order."""
    code = np.zeros(columns[0].size, np.int64)
    size = 1
    for column in columns:
        low = int(column.min(initial=0))
        extent = int(column.max(initial=0)) - low + 1
        if extent == 1:
            continue
        if size * extent > _ROOM:
            code = distinct_with_inverse(code)[2]
            size = int(code.max(initial=0)) + 1
        digits = np.asarray(column, np.int64) - low
        if size * extent > _ROOM:
            digits = distinct_with_inverse(digits)[2]
            extent = int(digits.max(initial=0)) + 1
        code = code * extent + digits
        size *= extent
    _, first, inverse = _dense(code, size) if size <= _DENSE * code.size else distinct_with_inverse(code)
    return first, inverse


def is_among(values: Ints, wanted: Ints) -> NDArray[np.bool_]:
    """Whether each value is one of those wanted."""
    known = distinct(wanted)
    if not known.size:
        return np.zeros(values.shape, np.bool_)
    found: NDArray[np.bool_] = known[np.minimum(np.searchsorted(known, values), known.size - 1)] == values
    return found


def ascends(values: Ints) -> bool:
    """Whether a vector is sorted and without repetitions."""
    return values.ndim == 1 and bool((values[1:] > values[:-1]).all())


def _dense(values: Ints, size: int) -> tuple[Ints, Places, Places]:
    """`distinct_with_inverse` of numbers below a small `size`, without sorting."""
    seen = np.full(size, -1, np.intp)
    seen[values[::-1]] = np.arange(values.size - 1, -1, -1)  # of equal values the first in `values` is written last
    found = np.flatnonzero(seen >= 0)
    number = np.empty(seen.size, np.intp)
    number[found] = np.arange(found.size)
    return found.astype(np.int64), seen[found], number[values]


def _starts(ordered: NDArray[np.int64] | NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Where a new value begins."""
    start = np.ones(ordered.size, np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=start[1:])
    return start
