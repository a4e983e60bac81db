"""Conditions inside a nest: how often each branch is reached, and how often it is taken (`aag.spmd.branches`).

Conditions of loop indices are counted; of those that data decide the shares are computed, or else assumed.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from aag.spmd.branches import GuardedBranch, chains_of, may_change
from aag.spmd.nodes import Nest
from aag.spmd.partition import Trips
from interpreter.models.asking import COMPUTED, name_of_guard, shares_of_chain, wish
from interpreter.state import Run

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


def times_of_branches(run: Run, nest: Nest, trips: Trips) -> Iterator[Array]:
    """(P,) for each branch of each chain: how often it is tested behind others, and how often it is taken.

    Args:
        run: The interpretation.
        nest: The nest.
        trips: Its iterations.
    """
    for level, chain in chains_of(nest):
        reached = trips.level[:, level - 1].astype(np.float64)
        shares, first = shares_of_chain(run, nest, chain), reached
        for branch, share in zip(chain.branches, shares, strict=True):
            counted = None if trips.bounded else _counted(run, nest, branch, level)
            if counted is None:
                _announce(run, nest, branch, share)
            taken = first * share if counted is None else counted.astype(np.float64)
            yield reached
            yield taken
            reached = np.maximum(reached - taken, 0.0)


def _counted(run: Run, nest: Nest, branch: GuardedBranch, level: int) -> Ints | None:
    """(P,) how often a branch is taken; None: data decide it, or what the iterations assign."""
    if may_change(nest, branch.holds):
        return None
    return run.application.holding(nest, branch.holds, level, run.env)


def _announce(run: Run, nest: Nest, branch: GuardedBranch, share: float) -> None:
    span, name = branch.assigns[0].span, name_of_guard(nest, branch)
    if name in run.setting.masks:
        told = f"line {span.line}: the condition depends on data: it holds {share:.0%} of the time, {COMPUTED}"
        run.books.assume("computed" if share in (0.0, 1.0) else "mask", told, span)
        return
    wish(run, name, span)
    told = f"line {span.line}: the condition depends on data: assuming it holds {share:.0%} of the time"
    run.books.assume("mask", told, span)
