"""Least recently used replacement: a line survives if fewer than `ways` distinct other lines came into its set."""

import numpy as np
from numpy.typing import NDArray

from interpreter.models.cache.order import EMPTY, Outcome, Touches, elements_of, runs
from interpreter.models.cache.sets import ACTIVE, HESITANT, stable_order
from interpreter.models.cache.trace import Policy

ROUNDS = 64
"""Repetitions that settle which writes find their line without write allocation; nearly always 3 are enough."""


def outcome(touches: Touches, policy: Policy) -> Outcome:
    """Which references find their line; without write allocation, repetition settles which writes do."""
    hesitant = touches.marked(HESITANT)
    active = always = touches.marked(ACTIVE)
    rule = _one_or_two_ways if policy.ways <= 2 else _many_ways
    hit = rule(touches, policy, active)
    for _ in range(ROUNDS):
        now = always | hesitant & hit
        if np.array_equal(now, active):
            break
        active = now
        hit = rule(touches, policy, active)
    return Outcome(hit.astype(np.float64), active)


def _one_or_two_ways(touches: Touches, policy: Policy, active: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """LRU with one or two ways: a line is there if it is (among) the last one or two entries of its set.

    Line numbers differ between sets, so an equal one among the last entries is always of the same set.
    """
    entry = runs(touches.line, active)
    entered = np.concatenate([np.full(2, EMPTY), touches.line[entry]])
    mark = np.zeros(touches.line.size, np.intp)
    mark[entry] = 1
    count = np.cumsum(mark) - mark
    hit: NDArray[np.bool_] = touches.line == entered[count + 1]
    if policy.ways == 2:
        hit |= touches.line == entered[count]
    return hit


def _many_ways(touches: Touches, policy: Policy, active: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """LRU: a line is there if fewer than `ways` distinct lines were used since its last use.

    Distinct lines since the last use p are the uses since p, less those whose own last use is also after p.
    """
    elements = elements_of(touches, active)
    previous = elements.previous
    used: NDArray[np.intp] = np.cumsum(elements.active) - elements.active
    since = used - used[previous] - 1
    found = previous >= 0
    if (found & (since >= policy.ways)).any():
        since -= _greater_before(previous, elements.active)
    hit = np.ones(touches.line.size, np.bool_)
    hit[elements.place] = found & (since < policy.ways)
    return hit


def _greater_before(value: NDArray[np.intp], counted: NDArray[np.bool_]) -> NDArray[np.intp]:
    """For each value the number of counted values before it that are greater.

    Two values are compared at the highest bit in which they differ: sorted by the bits above it they are neighbours.
    """
    value = value + 1
    result = np.zeros(value.size, np.intp)
    place = np.arange(value.size)
    order = place
    top = int(value.max()).bit_length()
    for bit in range(top - 1, -1, -1):
        digits = value[order] >> bit
        one = (digits & 1) == 1
        ones = np.cumsum(one & counted[order])
        starts = np.ones(value.size, np.bool_)
        np.not_equal(digits[1:] >> 1, digits[:-1] >> 1, out=starts[1:])
        start = np.maximum.accumulate(np.where(starts, place, 0))
        earlier = np.concatenate([[0], ones])[start]
        result[order] += np.where(one, 0, ones - earlier)
        order = stable_order(value >> bit, 1 << top - bit)
    return result
