"""Conditions inside a nest: how often each branch is reached, and how often it is taken (`aag.spmd.branches`).

Conditions of loop indices are counted; of those that data decide the shares are computed, or else assumed.
"""

from collections.abc import Iterator, Mapping

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from aag.spmd.branches import GuardedBranch, GuardedChain, chains_of, kept_of, may_change, tests_of
from aag.spmd.nodes import IfNode, Nest
from aag.spmd.partition import Trips
from aag.spmd.touches import AccessSweep
from interpreter.models.asking import WAY_OUT, how_known, name_of_guard, share_of_mask, span_of, wish
from interpreter.state import Run

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


class BranchTimes(Struct, frozen=True, eq=False):
    """How often a branch is reached and taken on each processor (P,), and how that is known."""

    branch: GuardedBranch
    reached: Array
    taken: Array
    how: str
    """``counted``, ``computed`` or ``assumed``."""


def times_of_branches(run: Run, nest: Nest, trips: Trips) -> Iterator[Array]:
    """(P,) for each branch of each chain: how often it is tested behind others, and how often it is taken."""
    for times in _chains(run, nest, trips):
        first = max(1.0, float(times[0].reached.sum()))
        for each in times:
            if each.how != "counted":
                _announce(run, nest, each, float(each.taken.sum()) / first)
            yield each.reached
            yield each.taken


def shares_in(run: Run, nest: Nest) -> tuple[float | None, ...]:
    """For each condition of a nest (`conditions_of`) the share of the iterations up to which it holds that are numbered
    at random: of a later branch of a chain also what the branches before it take that are not counted. Of the IFs of a
    DO nest (`tests_of`) what they take of the iterations that reach them; None where that is not known."""
    if isinstance(nest, AccessSweep):
        return tuple(share for each in tests_of(nest.loop) for share in _reached_shares(run.setting.branches, each))
    found = [] if nest.mask is None else [share_of_mask(run, nest)]
    for times in _chains(run, nest, run.application.trips(nest, run.env)) if nest.guarded else ():
        left, up_to = float(times[0].reached.sum()), 0.0
        for each in times:
            taken = float(each.taken.sum())
            if each.how == "counted":
                left -= taken
            else:
                up_to = min(1.0, up_to + taken / max(1.0, left))
            found.append(up_to)
    return tuple(found)


def _reached_shares(known: Mapping[int, tuple[float, ...]], node: IfNode) -> Iterator[float | None]:
    """What each condition of an IF takes of the executions that come to it; None where that is not known."""
    shares, left = known.get(node.span.line, ()), 1.0
    for at, branch in enumerate(node.branches):
        if branch.condition is not None:
            yield min(1.0, shares[at] / left) if at < len(shares) and left > 0.0 else None
        left -= shares[at] if at < len(shares) else 0.0


def _chains(run: Run, nest: Nest, trips: Trips) -> Iterator[list[BranchTimes]]:
    for level, chain in chains_of(nest):
        yield _chain(run, nest, chain, level, trips)


def _chain(run: Run, nest: Nest, chain: GuardedChain, level: int, trips: Trips) -> list[BranchTimes]:
    """The branches of a chain. What nobody knows of is the same for all ways that are left to an iteration."""
    first = trips.level[:, level - 1].astype(np.float64)
    known: list[tuple[str, Array] | None] = []
    for branch in chain.branches:
        counted = None if trips.bounded else _counted(run, nest, branch, level)
        share = run.setting.masks.get(name_of_guard(nest, branch))
        if counted is not None:
            known.append(("counted", counted.astype(np.float64)))
        else:
            known.append(None if share is None else ("computed", first * share))
    found: list[BranchTimes] = []
    reached = first
    for at, (branch, own) in enumerate(zip(chain.branches, known, strict=True)):
        how, taken = own or ("assumed", None)
        if taken is None:
            others = [each for each in known[at:] if each is not None]
            ways = len(known) - at - len(others) + (chain.branches[-1].test is not None)
            taken = np.maximum(reached - sum(each for _, each in others), 0.0) / ways
        taken = np.minimum(taken, reached)
        found.append(BranchTimes(branch, reached, taken, how))
        reached = reached - taken
    return found


def _counted(run: Run, nest: Nest, branch: GuardedBranch, level: int) -> Ints | None:
    """(P,) how often a branch is taken; None: data decide it, or what the iterations assign."""
    if may_change(nest, branch.holds):
        return None
    return run.application.holding(nest, branch.holds, level, run.env)


def _announce(run: Run, nest: Nest, times: BranchTimes, share: float) -> None:
    if kept_of(times.branch) or times.branch.test is None:
        # It keeps the condition of an IF, which is announced with what that IF guards, or has what the others leave.
        if times.how != "computed":
            wish(run, name_of_guard(nest, times.branch), times.branch.assigns[0].span)
        return
    span = span_of(times.branch.holds, times.branch.assigns[0].span)
    if times.how == "computed":
        how = how_known(run, name_of_guard(nest, times.branch))
        told = f"line {span.line}: the condition depends on data: it holds {share:.0%} of the time, {how}"
        run.books.assume("computed" if share in (0.0, 1.0) else "mask", told, span)
        return
    wish(run, name_of_guard(nest, times.branch), span)
    told = f"line {span.line}: the condition depends on data: assuming it holds {share:.0%} of the time{WAY_OUT}"
    run.books.assume("mask", told, span)
