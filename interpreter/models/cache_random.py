"""Random replacement: the probability that a line survived since its last use.

With two ways it follows exactly. After each use of a set one of its two lines is the one just used. The next use, of
another line, either finds that line in the other place, or misses and throws out one of the two by chance: the line
used before it stays with probability (1 + h) / 2, h being the probability of a hit. From then on each further use of
another line halves its probability, as that use either finds its line in the other place or misses. A set with a free
place throws nothing out.

With more ways each miss spares a line with probability 1 - 1/ways, so that it survives m misses with (1 - 1/ways)^m,
m being the expected number of misses since its last use. That m is not conditional on the survival of the line, which
makes the result a few percent optimistic.
"""

import numpy as np
from numpy.typing import NDArray

from interpreter.models.cache_order import Elements, Outcome, Touches, elements_of
from interpreter.models.cache_trace import Policy

ROUNDS = 16
"""Repetitions that settle the probabilities; each depends on those before it only, by a factor of less than 1."""
SETTLED = 1e-3


def outcome(touches: Touches, policy: Policy) -> Outcome:
    """How likely references find their line; a write without allocation changes nothing and is only asked for."""
    active = touches.allocates(policy)
    elements = elements_of(touches, active)
    chance, lasting = (_two_ways if policy.ways == 2 else _many_ways)(touches, policy, elements)
    hit, stays = np.ones(active.size), np.zeros(active.size)
    hit[elements.place] = chance
    stays[elements.place] = lasting
    return Outcome(hit, active, elements, stays)


def _segments(touches: Touches, elements: Elements) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """First element of the set of each element, and the first one after it."""
    key = touches.key[elements.place]
    border = np.empty(key.size + 1, np.bool_)
    border[0] = border[-1] = True
    np.not_equal(key[1:], key[:-1], out=border[1:-1])
    place = border.nonzero()[0]
    length = place[1:] - place[:-1]
    return np.repeat(place[:-1], length), np.repeat(place[1:], length)


def _two_ways(touches: Touches, policy: Policy, elements: Elements) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(E,) probability that elements find their line, and that it is there at the end if they use it last."""
    del policy
    begin, end = _segments(touches, elements)
    before = touches.before[elements.place]
    old = before >= 0
    uses = np.zeros(old.size + 1, np.intp)
    elements.active.cumsum(out=uses[1:])
    number = uses[:-1]
    use_of = np.append(elements.active.nonzero()[0], -1)
    following = use_of[np.minimum(number + 1, use_of.size - 1)]
    first = elements.active & (number == uses[begin])
    olds = np.zeros(old.size + 1, np.intp)
    old.cumsum(out=olds[1:])
    last_old = uses[begin] + olds[end] - olds[begin] - 1
    stale = old & (number < last_old)
    since = np.where(stale, last_old + 1, number + 2)
    previous = elements.previous
    found = previous >= 0
    passed = number - since[previous]
    fresh, halved = passed < 0, _halved(passed)
    chance = np.where(found, 0.5, 0.0)
    level = chance
    for _ in range(ROUNDS):
        level = np.where(stale, before, np.where(first, 1.0, (1.0 + chance[following]) / 2))
        new = np.where(fresh, 1.0, level[previous] * halved) * found
        moved = np.abs(new - chance).max(initial=0.0)
        chance = new
        if moved < SETTLED:
            break
    passed = uses[end] - since
    return chance, np.where(passed < 0, 1.0, level * _halved(passed)) * elements.active


def _halved(times: NDArray[np.intp]) -> NDArray[np.float64]:
    """What is left of 1 that is halved so many times."""
    return np.exp2(-np.minimum(np.maximum(times, 0), 64).astype(np.float64))


def _many_ways(touches: Touches, policy: Policy, elements: Elements) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """As `_two_ways`; misses that find a free place in the set throw nothing out."""
    begin, end = _segments(touches, elements)
    before = touches.before[elements.place]
    held = np.concatenate([[0.0], np.cumsum(np.maximum(before, 0.0))])
    free = np.round(np.maximum(0.0, policy.ways - (held[end] - held[begin])))
    fills = elements.active & (before < 0)
    previous, found = elements.previous, elements.previous >= 0
    present = np.where(before < 0, 1.0, before)
    keep = np.log(1.0 - 1.0 / policy.ways)
    chance = present[previous] * found
    thrown = end_thrown = np.zeros(chance.size)
    for _ in range(ROUNDS):
        total = np.concatenate([[0.0], np.cumsum(fills * (1.0 - chance))])
        base = total[begin] + free
        after, thrown = np.maximum(0.0, total[1:] - base), np.maximum(0.0, total[:-1] - base)
        new = present[previous] * np.exp(keep * (thrown - after[previous])) * found
        end_thrown = np.maximum(0.0, total[end] - base) - after
        moved = float(np.abs(new - chance).max(initial=0.0))
        chance = new
        if moved < SETTLED:
            break
    return chance, present * np.exp(keep * end_thrown) * elements.active
