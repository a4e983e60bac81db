"""Pages whose translation a nest looks up in vain, in closed form: what a table of translations (TLB) holds is little.

The pages that the loops from some level inwards touch are found again as long as the table holds them all. So the
outermost level at which it does is what counts: the loop around it touches each of its pages once, and whatever is
further out does so again in each iteration.

    do j = 1, n          all columns: n pages or more, too many      -> each page of the nest once
      do i = 1, n        one column: a page or two, found again

    do i = 1, n          a row again and again                       -> n pages in each of the n iterations
      do j = 1, n        one row: n pages, too many

A nest all of whose pages fit is taken to find them there. Associativity and the way of replacement do not matter then.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from interpreter.models.cache.nests import CachedAccess, CachedNest

Array = NDArray[np.float64]


def page_misses(nest: CachedNest, entries: int, page_bytes: int) -> Array:
    """(P, R) translations that each of the R references of a nest lacks, on each of P processors."""
    procs, depth = nest.extents.shape
    if not depth:
        return np.zeros((procs, len(nest.accesses)))
    touched = np.stack([_touched(nest, level, page_bytes) for level in range(depth)])
    fits = np.concatenate([touched.sum(axis=2) <= entries, np.ones((1, procs), np.bool_)])
    level = fits.argmax(axis=0)  # the outermost loop, 0 first, whose pages the table holds
    around = np.maximum(level - 1, 0)
    rows = np.arange(procs)
    outside = np.concatenate([np.ones((procs, 1)), nest.extents.cumprod(axis=1)], axis=1)[rows, around]
    lacking: Array = outside[:, None] * touched[around, rows]
    return np.where(((level > 0) & nest.extents.all(axis=1))[:, None], lacking, 0.0)


def _touched(nest: CachedNest, level: int, page_bytes: int) -> Array:
    """(P, R) pages that each reference touches in one execution of the loops from `level` inwards, those that several
    references to an array touch divided among them."""
    groups: dict[tuple[str, bytes], list[int]] = {}
    for number, access in enumerate(nest.accesses):
        groups.setdefault((access.array, access.strides[:, level:].tobytes()), []).append(number)
    found = np.empty((nest.extents.shape[0], len(nest.accesses)))
    for group in groups.values():
        found[:, group] = _pages([nest.accesses[at] for at in group], nest.extents, level, page_bytes)[:, None]
    return found


def _steps(group: Sequence[CachedAccess], extents: NDArray[np.int64]) -> NDArray[np.int64]:
    """(P, D) iterations of each loop that take one of some references to a new place."""
    limits = [access.places for access in group if access.places is not None]
    return extents if len(limits) < len(group) else np.minimum(extents, np.maximum.reduce(limits))


def _pages(group: Sequence[CachedAccess], extents: NDArray[np.int64], level: int, page_bytes: int) -> Array:
    """(P,) pages of each of some references that move together from `level` inwards. Where they begin in a page is not
    known; on average a page more is touched than they fill, less an element."""
    starts, outer = _between([access.start for access in group]), np.zeros(extents.shape[0])
    for loop in range(level):
        outer += _between([access.strides[:, loop] for access in group]) * np.maximum(extents[:, loop] - 1, 0) / 2.0
    apart = (starts + outer) / page_bytes
    strides = np.abs(group[0].strides).astype(np.float64)
    steps = _steps(group, extents)
    span = np.full(extents.shape[0], float(group[0].element_bytes))
    pages = np.ones(extents.shape[0])
    for loop in reversed(range(level, extents.shape[1])):
        span += strides[:, loop] * np.maximum(steps[:, loop] - 1, 0)
        pages = np.minimum(np.where(strides[:, loop] > 0, steps[:, loop], 1) * pages, 1.0 + span / page_bytes)
    together: Array = np.minimum(pages * np.minimum(len(group), 1.0 + apart), 1.0 + span / page_bytes + apart)
    return together / len(group)


def _between(values: Sequence[NDArray[np.int64]]) -> Array:
    """The largest difference between some figures of each processor."""
    stacked = np.stack(values).astype(np.float64)
    found: Array = stacked.max(axis=0) - stacked.min(axis=0)
    return found
