"""Counts of a replay: misses, lines written back, and what the cache holds afterwards.

All classes of processors are replayed at once, sorted by cache set (`order`). Which references find their line
is the business of `lru` and `chance`. A line is dirty from the first write that finds or brings it until
it is thrown out; so lines written back = lines that became dirty + dirty lines before - dirty lines after.
"""

import numpy as np
from numpy.typing import NDArray

from interpreter.models.cache import chance, lru
from interpreter.models.cache.order import Chain, Contents, Outcome, Touches, chain_of, joined, runs, with_cached
from interpreter.models.cache.sets import HAD, WROTE, Sorted, order_by_line
from interpreter.models.cache.trace import Policy

FORGOTTEN = 1 / 512
"""A line that is there with less probability is taken to be gone."""


def replay(
    traces: list[Sorted], policy: Policy, contents: Contents, sources: int = 1
) -> tuple[NDArray[np.float64], Contents]:
    """Misses of each trace on caches with the given contents, and the contents afterwards.

    The result is (C, 3) read misses, write misses and lines written back, then the read and the write misses of each
    of the `sources` statements if there are several; and the C caches.
    """
    classes = len(traces)
    touches = with_cached(joined(tuple(traces), policy), contents)
    columns = 3 + (2 * sources if sources > 1 else 0)
    if touches.line.size == 0:
        return np.zeros((classes, columns)), contents
    outcome = (chance if policy.random else lru).outcome(touches, policy)
    asked = touches.asked
    missed = touches.missed(outcome.hit)
    counts = np.empty((classes, columns))
    counts[:, :2] = np.bincount(asked.kind, missed, 2 * classes).reshape(classes, 2)
    if sources > 1:
        source = 0 if asked.source is None else asked.source
        part = asked.kind + 2 * ((asked.kind >> 1) * (sources - 1) + source)
        counts[:, 3:] = np.bincount(part, missed, 2 * sources * classes).reshape(classes, -1)
    soiled, after = _after(touches, policy, outcome, contents.line.shape[2])
    counts[:, 2] = np.maximum(0.0, soiled + _dirty(contents) - _dirty(after))
    if any(each.moved for each in traces):
        after = after.moved(np.array([each.moved for each in traces], np.int64))
    return counts, after


def _dirty(contents: Contents) -> NDArray[np.float64]:
    return np.asarray((contents.dirty * contents.present).sum(axis=(1, 2)), np.float64)


def _after(touches: Touches, policy: Policy, outcome: Outcome, places: int) -> tuple[NDArray[np.float64], Contents]:
    """(C,) lines that became dirty, and the contents of the caches after the trace."""
    place, chain, linked = _chains(touches, policy, outcome)
    if not chain.place.size:
        return np.zeros(touches.classes), Contents.empty(touches.classes, policy.sets, places)
    wrote, had, weight, hit = touches.marked(WROTE), touches.marked(HAD), touches.weight, outcome.hit
    key, active = touches.key, outcome.active
    if place is not None:
        wrote, weight = _written(wrote, weight, active, place)
        hit, had, key, active = hit[place], had[place], key[place], active[place]
    writes, finds = wrote[chain.place], hit[chain.place]
    # What a line was makes no difference to a use that brings it.
    asked = finds > 0
    asked |= ~(chain.used | writes)
    if linked:
        use, end, last = _last_of_lines(chain, outcome.lasting)
        telling = writes.copy()
        telling[last] = True
        asked &= telling
    else:
        use = end = np.arange(chain.place.size)
    was = _dirty_before(chain, finds, writes, asked)
    soils = (wrote & ~had & (active | (hit > 0))).nonzero()[0]
    found, before = hit[soils], was[soils]
    became = np.where(active[soils], 1.0 - found * before, found * (1.0 - before)) * weight[soils]
    soiled = np.bincount(key[soils] // policy.sets, became, touches.classes).astype(np.float64)
    dirty = wrote[end] | (np.where(active[end], hit[end] * was[end], was[end]) >= 0.5)
    return soiled, _contents(touches, policy, outcome, use if place is None else place[use], dirty, places)


def _chains(touches: Touches, policy: Policy, outcome: Outcome) -> tuple[NDArray[np.intp] | None, Chain, bool]:
    """Uses of lines (None: all entries), an order in which each follows the one before of its line, and whether lines
    stay together in it.

    With two ways under LRU a line that is found was entered two entries ago: odd and even entries are such an order.
    """
    if outcome.chain is not None:
        return None, outcome.chain, True
    uses = runs(touches.line, outcome.active)
    line, active = touches.line[uses], np.ones(uses.size, np.bool_)
    if policy.ways > 2:
        return uses, chain_of(*order_by_line(line), active), True
    place = np.arange(uses.size)
    order = np.concatenate([place[::2], place[1::2]]) if policy.ways == 2 else place
    return uses, chain_of(order, line[order], active), False


def _written(
    wrote: NDArray[np.bool_], weight: NDArray[np.float64], active: NDArray[np.bool_], place: NDArray[np.intp]
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Whether each use of a line, with those directly after it, writes, and how many misses a write stands for."""
    uses = active.nonzero()[0]
    if uses.size == place.size:
        return wrote[place], weight[place]
    begins = np.zeros(active.size, np.bool_)
    begins[place] = True
    starts = begins[uses].nonzero()[0]
    return np.logical_or.reduceat(wrote[uses], starts), np.maximum.reduceat(weight[uses], starts)


def _dirty_before(
    chain: Chain, finds: NDArray[np.float64], writes: NDArray[np.bool_], asked: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Probability that a line which is there was dirty before each use that is `asked` for (0 for the others): it was
    written, and found at each use since. `finds`, `writes` and `asked` are in the order of the chain."""
    was = np.zeros(chain.place.size)
    writer = writes.nonzero()[0]
    if not writer.size:
        return was
    query = asked.nonzero()[0]
    earlier = writes.cumsum()[query] - writes[query]
    behind = (earlier > 0).nonzero()[0]
    if not behind.size:
        return was
    query, writer = query[behind], writer[earlier[behind] - 1]
    kept = finds[chain.use]
    logs = np.full(kept.size + 1, np.log(1e-12))
    logs[0] = 0.0
    likely = (kept > 1e-12).nonzero()[0]
    logs[likely + 1] = np.log(kept[likely])
    survived = np.cumsum(logs)
    reached = survived[chain.number[query] - chain.used[query]]
    was[chain.place[query]] = np.exp(np.minimum(0.0, reached - survived[chain.number[writer]]))
    return was


def _last_of_lines(
    chain: Chain, lasting: NDArray[np.float64] | None
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Last active use of each line that is still there, in order of place, and the last use of that line; and these
    last uses as places in the chain, in its order."""
    ends = np.ones(chain.line.size, np.bool_)
    np.not_equal(chain.line[1:], chain.line[:-1], out=ends[:-1])
    last = ends.nonzero()[0]
    number = chain.number[last]
    cached = number > 0
    cached[1:] = number[1:] > number[:-1]
    last = last[cached]
    use = chain.place[chain.use[number[cached] - 1]]
    if lasting is not None:
        there = lasting[use] >= FORGOTTEN
        use, last = use[there], last[there]
    # Sorted by counting: each place is used once.
    ends[:] = False
    ends[use] = True
    end = np.empty(ends.size, np.intp)
    end[use] = chain.place[last]
    use = ends.nonzero()[0]
    return use, end[use], last


def _contents(
    touches: Touches, policy: Policy, outcome: Outcome, place: NDArray[np.intp], dirty: NDArray[np.bool_], places: int
) -> Contents:
    """The caches that hold the last lines of each set among the uses at `place`."""
    found = Contents.empty(touches.classes, policy.sets, places)
    key = touches.key[place]
    after = np.bincount(key, minlength=touches.classes * policy.sets).cumsum()
    behind = after[key]
    behind -= np.arange(1, key.size + 1)
    holds = (behind < places).nonzero()[0]
    if holds.size < key.size:
        place, dirty, key, behind = place[holds], dirty[holds], key[holds], behind[holds]
    where = key * places + behind
    line = touches.line[place]
    found.line.reshape(-1)[where] = line if touches.classes == 1 else line // touches.classes
    found.dirty.reshape(-1)[where] = dirty
    found.present.reshape(-1)[where] = 1.0 if outcome.lasting is None else outcome.lasting[place]
    return found
