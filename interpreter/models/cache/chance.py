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
from msgspec import Struct
from numpy.typing import NDArray

from interpreter.models.cache.order import Chain, Outcome, Touches, chain_of
from interpreter.models.cache.sets import ACTIVE, order_by_line
from interpreter.models.cache.trace import Policy

ROUNDS = 16
"""Repetitions that settle the probabilities; each depends on those before it only, by a factor of less than 1."""
SETTLED = 1e-3
GONE = 20
"""Uses of a set after which a line of two ways is taken to be gone: less than 2**-10 is left, as at most 10 do no
harm, and that is less than `replay.FORGOTTEN`."""
HALVED = np.exp2(-np.arange(65.0))
"""What is left of 1 that is halved so many times."""

Places = NDArray[np.intp]
Shares = NDArray[np.float64]


def outcome(touches: Touches, policy: Policy) -> Outcome:
    """How likely references find their line; a write without allocation changes nothing and is only asked for."""
    active = touches.marked(ACTIVE)
    chain = chain_of(*order_by_line(touches.line), active)
    again = _repeated(chain)
    hit, lasting = _two_ways(touches, active, again) if policy.ways == 2 else _many_ways(touches, policy, active, again)
    return Outcome(hit, active, chain, lasting)


class _Again(Struct, frozen=True):
    """References to lines used before."""

    place: Places
    previous: Places
    """The last active entry before with the same line."""


def _repeated(chain: Chain) -> _Again:
    if not chain.use.size:
        return _Again(chain.use, chain.use)
    line = chain.line
    found = (line[1:] == line[:-1]).nonzero()[0] + 1
    earlier = chain.number[found] - chain.used[found]
    last = chain.use[earlier - 1]
    known = ((earlier > 0) & (line[last] == line[found])).nonzero()[0]
    return _Again(chain.place[found[known]], chain.place[last[known]])


class _Uses(Struct, frozen=True):
    """The active entries, counted through all sets."""

    number: Places
    """(T + 1,) how many come before an entry."""
    of_set: Places
    """(classes * sets + 1,) how many come before a set."""
    new: Places
    """(classes * sets,) number of the first one that was not cached before the nest."""

    def since(self, number: Places, key: Places) -> tuple[Places, NDArray[np.bool_]]:
        """From which use on the lines of some uses are at risk; and which are cached before but not as the last one of
        their set, so that they are there with the probability of then when the first use comes."""
        new = self.new[key]
        stale = number < new - 1
        return np.where(stale, new, number + 2), stale


def _two_ways(touches: Touches, active: NDArray[np.bool_], again: _Again) -> tuple[Shares, Shares]:
    """(T,) probability that references find their line, and that it is there at the end if they use it last."""
    number = np.zeros(active.size + 1, np.intp)
    active.cumsum(out=number[1:])
    of_set = number[touches.border]
    uses = _Uses(number, of_set, of_set[:-1] + touches.held)
    use, place, previous = active.nonzero()[0], again.place, again.previous
    chance = np.zeros(active.size)
    if not place.size:
        return chance, _lasting(touches, active, again, uses, use, chance)
    origin, key = number[previous], touches.key[previous]
    since, stale = uses.since(origin, key)
    passed = number[place] - since
    chance[place] = 0.5
    safe, risky = place[passed < 0], (passed >= 0).nonzero()[0]
    place, previous, origin, stale = place[risky], previous[risky], origin[risky], stale[risky]
    halved = HALVED[np.minimum(passed[risky], 64)]
    following = use[origin + 1]
    known = (stale | (origin == of_set[key[risky]])).nonzero()[0]
    level_known = np.where(stale[known], touches.before[previous[known]], 1.0)
    earlier = level = chance[place]
    for turn in range(ROUNDS):
        earlier, level = level, chance[following]
        level += 1.0
        level /= 2
        level[known] = level_known
        level *= halved
        chance[place] = level
        if not turn and safe.size:
            # That these are there was not known yet to those that depend on them.
            chance[safe] = 1.0
        elif np.abs(level - earlier).max(initial=0.0) < SETTLED:
            break
    found = chance.copy()
    chance[place] = earlier
    return found, _lasting(touches, active, again, uses, use, chance)


def _lasting(
    touches: Touches, active: NDArray[np.bool_], again: _Again, uses: _Uses, use: Places, chance: Shares
) -> Shares:
    """(T,) probability that a line is there at the end, for its last use; 0 for the others."""
    last = np.ones(use.size, np.bool_)
    last[uses.number[again.previous[active[again.place]]]] = False
    number = last.nonzero()[0]
    key = touches.key[use[number]]
    near = (number + GONE >= uses.of_set[1:][key]).nonzero()[0]
    number, key = number[near], key[near]
    since, stale = uses.since(number, key)
    passed = uses.of_set[1:][key] - since
    # Behind the last use of all there is nothing that could follow, nor is any line at risk.
    level = chance[use[np.minimum(number + 1, use.size - 1)]]
    level += 1.0
    level /= 2
    level[number == uses.of_set[key]] = 1.0
    entry = use[number]
    np.copyto(level, touches.before[entry], where=stale)
    level *= HALVED[np.maximum(passed, 0)]
    level[passed < 0] = 1.0
    lasting = np.zeros(active.size)
    lasting[entry] = level
    return lasting


def _many_ways(touches: Touches, policy: Policy, active: NDArray[np.bool_], again: _Again) -> tuple[Shares, Shares]:
    """As `_two_ways`; misses that find a free place in the set throw nothing out."""
    border, key, before = touches.border, touches.key, touches.before
    held = np.concatenate([[0.0], np.cumsum(np.maximum(before, 0.0))])[border]
    free = np.round(np.maximum(0.0, policy.ways - (held[1:] - held[:-1])))
    fills = active & (before < 0)
    place, previous = again.place, again.previous
    present = np.where(before < 0, 1.0, before)
    there = present[previous]
    keep = np.log(1.0 - 1.0 / policy.ways)
    chance = np.zeros(active.size)
    chance[place] = there
    end_thrown = np.zeros(active.size)
    for _ in range(ROUNDS):
        total = np.concatenate([[0.0], np.cumsum(fills * (1.0 - chance))])
        spare = total[border[:-1]] + free
        base = spare[key]
        after, thrown = np.maximum(0.0, total[1:] - base), np.maximum(0.0, total[:-1] - base)
        new = there * np.exp(keep * (thrown[place] - after[previous]))
        end_thrown = np.maximum(0.0, total[border[1:]] - spare)[key] - after
        moved = float(np.abs(new - chance[place]).max(initial=0.0))
        chance[place] = new
        if moved < SETTLED:
            break
    return chance, present * np.exp(keep * end_thrown) * active
