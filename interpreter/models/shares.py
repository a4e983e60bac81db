"""Branches that indices decide, for all iterations of a loop at once.

    do i = 1, n                      the condition holds in n - j of n iterations: one iteration with these shares,
      if (i > j) s = s + a(i, j)     n times, costs what n iterations cost one by one
    end do

Only in a loop without messages and without loops inside: then iterations come to nothing but assignments and tests.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from aag.graph.aau import AAU, CondtD, Seq
from aag.ir.evaluate import Unknown
from aag.ir.visitors import names_in
from aag.spmd.formulas import mask_holds
from aag.spmd.vector import LIMIT, TooLarge
from interpreter.evaluate import defined, leave_of
from interpreter.remembered import remembered
from interpreter.state import Run

Shares = Mapping[int, tuple[float, ...]]
"""For each conditional of a loop the share of its executions in which each branch is taken, and at last none."""

Ints = NDArray[np.int64]


@remembered()
def _in_force(_: Run) -> list[Shares]:
    """Of the loops that the walk is in."""
    return [{}]


def shares_of(run: Run, aau: AAU) -> tuple[float, ...] | None:
    """The shares of a conditional; None: each execution is to be looked at."""
    return _in_force(run)[-1].get(aau.id)


def has_shares(run: Run) -> bool:
    """Whether the walk is in a loop whose conditionals have shares."""
    return bool(_in_force(run)[-1])


@contextmanager
def sharing(run: Run, shares: Shares) -> Iterator[None]:
    """The shares that hold inside a loop."""
    _in_force(run).append(shares)
    try:
        yield
    finally:
        _in_force(run).pop()


def count_shares(run: Run, body: tuple[AAU, ...], var: str, values: range) -> Shares | None:
    """The shares of all conditionals in the body of a loop; None where more than its variable decides them, or
    iterations do something else than to assign and to test."""
    if len(values) > LIMIT or not values:
        return None
    found: dict[int, tuple[float, ...]] = {}
    index = np.arange(values.start, values.stop, values.step, dtype=np.int64)
    changed = defined(body)
    try:
        known = all(_count(run, each, var, index, changed, found) for each in body)
    except (Unknown, TooLarge):
        return None
    return found if known else None


def _count(
    run: Run, aau: AAU, var: str, index: Ints, changed: frozenset[str], found: dict[int, tuple[float, ...]]
) -> bool:
    """Count how often each branch of a conditional, and of those inside it, is taken for the values of the loop
    variable with which it is reached."""
    if not isinstance(aau, CondtD):
        return isinstance(aau, Seq) and not leave_of(aau)
    left, weights = index, []
    for branch in aau.branches:
        if branch.condition is None:
            taken, left = left, left[:0]
        elif names_in(branch.condition) & changed:
            return False
        else:
            holds = mask_holds(branch.condition, {}, run.env, {var: left})
            taken, left = left[holds], left[~holds]
        weights.append(taken.size / max(1, index.size))
        if not all(_count(run, each, var, taken, changed, found) for each in branch.body):
            return False
    found[aau.id] = (*weights, left.size / max(1, index.size))
    return True
