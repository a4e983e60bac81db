"""Nests as references that are looked at one by one, where these have no strides that are the same throughout."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from aag.budget import Budget
from aag.spmd.nodes import Nest
from aag.spmd.stream import Stream
from aag.spmd.touches import AccessSweep
from aag.spmd.vector import TooLarge
from interpreter.models.cache import MAX_CLASSES, ListedNest
from interpreter.models.guarded import shares_in
from interpreter.remembered import remembered
from interpreter.state import Run

Ints = NDArray[np.int64]

LOOKED_AT = 1 << 19
"""References looked at of one execution of a nest on one processor, about, where each is looked at."""
LISTED = 1 << 27
"""References of all executions of all nests on all processors after which no more are looked at one by one."""


@remembered()
def listing(_: Run) -> Budget:
    """How many references may still be looked at one by one."""
    return Budget(LISTED)


def _streams(run: Run, nest: Nest, ranks: Ints) -> Sequence[Stream]:
    """The references of a nest on some processors, as long as the allowance lasts.

    Raises:
        TooLarge: it is used up, or there are too many.
    """
    if listing(run).left < 0:
        raise TooLarge(f"the program makes more than {LISTED:,} references that differ")
    found = run.application.streams(nest, run.env, ranks, LOOKED_AT, shares_in(run, nest))
    listing(run).spend(sum([each.offset.size for each in found]))
    return found


def list_references(run: Run, nest: Nest) -> ListedNest | None:
    """The nest with its references one by one; None: there are too many. Of very many classes of processors some stand
    for the others.

    Raises:
        TooLarge: there are too many in a DO nest.
    """
    ranks = run.application.classes()[1]
    chosen = np.unique(np.linspace(0, ranks.size - 1, min(ranks.size, MAX_CLASSES)).round().astype(np.intp))
    try:
        streams = _streams(run, nest, ranks[chosen])
    except TooLarge:
        if isinstance(nest, AccessSweep):
            raise
        run.books.assume(
            "cache", "cache misses: assuming each reference has the same stride in all iterations", nest.span
        )
        return None
    for name in dict.fromkeys(name for each in streams for name in each.anywhere):
        run.books.assume(
            "cache", f"cache misses: assuming data-dependent subscripts reach any element of {name}", nest.span
        )
    if isinstance(nest, AccessSweep) and any(each.halved for each in streams):
        run.books.assume(
            "cache", "cache misses: assuming data-dependent conditions hold in half of the iterations", nest.span
        )
    stands = np.searchsorted(chosen, np.arange(ranks.size), side="right") - 1
    shared = tuple(streams[at] for at in stands)
    return ListedNest(streams=shared, addresses=run.setting.addresses, sources=statements_of(nest))


def statements_of(nest: Nest) -> int:
    """Statements whose misses are told apart."""
    return len({touch.source for touch in nest.touches}) if isinstance(nest, AccessSweep) else 1
