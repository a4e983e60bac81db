"""Branches that indices decide, for all iterations of a loop at once.

    do i = 1, n                      the condition holds in n - j of n iterations: one iteration with these shares,
      if (i > j) s = s + a(i, j)     n times, costs what n iterations cost one by one
    end do

Only in a loop without messages and without loops inside: then iterations come to nothing but assignments and tests.
Conditions on data of which nothing is known are no hindrance: a branch is taken with the same weight in each iteration.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from aag.graph.aau import AAU, CondtD, Seq
from aag.ir.evaluate import Unknown
from aag.ir.expressions import Binary, Expr, Unary
from aag.ir.visitors import elements_in, names_in
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
    """The shares of the conditionals in the body of a loop that its variable decides; None where more than that and
    data decide them, or iterations do something else than to assign and to test."""
    if len(values) > LIMIT or not values:
        return None
    found: dict[int, tuple[float, ...]] = {}
    index = np.arange(values.start, values.stop, values.step, dtype=np.int64)
    changed = decided(run, body)
    try:
        known = all(_count(run, each, var, index, changed, found) for each in body)
    except (Unknown, TooLarge):
        return None
    return found if known else None


def decided(run: Run, body: tuple[AAU, ...]) -> frozenset[str]:
    """The names that a body changes, without arrays of which no contents are known: those decide nothing."""
    return frozenset(name for name in defined(body) if name in run.env or not run.application.is_array(name))


def _count(
    run: Run, aau: AAU, var: str, index: Ints, changed: frozenset[str], found: dict[int, tuple[float, ...]]
) -> bool:
    """Count how often each branch of a conditional, and of those inside it, is taken for the values of the loop
    variable with which it is reached."""
    if not isinstance(aau, CondtD):
        return isinstance(aau, Seq) and not leave_of(aau)
    left, weights = index, []
    if any(each.condition is not None and _is_unknown(each.condition, run) for each in aau.branches):
        conditions = [each.condition for each in aau.branches if each.condition is not None]
        return (
            all(_is_unknown(each, run) for each in conditions)
            and not names_in(*conditions) & changed
            and all(_count(run, each, var, index, changed, found) for branch in aau.branches for each in branch.body)
        )
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


def _is_unknown(condition: Expr, run: Run) -> bool:
    """Whether a condition has no value in any iteration, as each of its comparisons reads an array of which no contents
    are known."""
    match condition:
        case Binary(op=".and." | ".or.", left=left, right=right):
            return _is_unknown(left, run) and _is_unknown(right, run)
        case Unary(op=".not.", operand=operand):
            return _is_unknown(operand, run)
        case _:
            return any(each.name not in run.env for each in elements_in(condition))
