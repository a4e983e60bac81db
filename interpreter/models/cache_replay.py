"""Counts of a replay: misses, lines written back, and what the cache holds afterwards.

All classes of processors are replayed at once, sorted by cache set (`cache_order`). Which references find their line
is the business of `cache_lru` and `cache_random`. A line is dirty from the first write that finds or brings it until
it is thrown out; so lines written back = lines that became dirty + dirty lines before - dirty lines after.
"""

import numpy as np
from numpy.typing import NDArray

from interpreter.models import cache_lru, cache_random
from interpreter.models.cache_order import EMPTY, Contents, Outcome, Touches, runs, sort_by_set, stable_order
from interpreter.models.cache_trace import Policy, Trace

FORGOTTEN = 1 / 512
"""A line that is there with less probability is taken to be gone."""


def replay(traces: list[Trace], policy: Policy, contents: Contents, sources: int = 1
           ) -> tuple[NDArray[np.float64], Contents]:
    """Misses of each trace on caches with the given contents, and the contents afterwards.

    The result is (C, 3) read misses, write misses and lines written back, then the read and the write misses of each
    of the `sources` statements if there are several; and the C caches.
    """
    classes = len(traces)
    touches = sort_by_set(traces, policy, contents)
    columns = 3 + (2 * sources if sources > 1 else 0)
    if touches.line.size == 0:
        return np.zeros((classes, columns)), contents
    outcome = (cache_random if policy.random else cache_lru).outcome(touches, policy)
    missed = touches.charge * (1.0 - outcome.hit)
    owner = touches.key // policy.sets
    counts = np.empty((classes, columns))
    counts[:, :2] = np.bincount(2 * owner + touches.write, missed, 2 * classes).reshape(classes, 2)
    if sources > 1:
        source = 0 if touches.source is None else touches.source
        counts[:, 3:] = np.bincount(
            2 * (owner * sources + source) + touches.write, missed, 2 * sources * classes).reshape(classes, -1)
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
    if not place.size:
        return np.zeros(touches.classes), Contents.empty(touches.classes, policy.sets, places)
    active, old = outcome.active[place], touches.before[place] >= 0
    wrote, weight = _written(touches, outcome.active, place)
    hit = np.where(old, 0.0, outcome.hit[place])
    was = _dirty_before(np.where(active, hit, 1.0), wrote, chain)
    became = np.where(active, 1.0 - hit * was, hit * (1.0 - was)) * weight * (wrote & ~(old & touches.write[place]))
    soiled = np.bincount(touches.key[place] // policy.sets, became, touches.classes).astype(np.float64)
    dirty = np.where(wrote, 1.0, np.where(active, hit * was, was)) >= 0.5
    if linked:
        use, end = _last_of_lines(touches.line[place], active, chain)
        place, dirty = place[use], dirty[end]
    return soiled, _contents(touches, policy, outcome, place, dirty, places)


def _chains(touches: Touches, policy: Policy, outcome: Outcome
            ) -> tuple[NDArray[np.intp], NDArray[np.intp], bool]:
    """Uses of lines, an order in which each follows the one before of its line, and whether lines stay together in it.

    With two ways under LRU a line that is found was entered two entries ago: odd and even entries are such an order.
    """
    if outcome.elements is not None:
        return outcome.elements.place, outcome.elements.by_line, True
    uses = runs(touches.line, outcome.active)
    if policy.ways <= 2:
        place = np.arange(uses.size)
        return uses, np.concatenate([place[::2], place[1::2]]) if policy.ways == 2 else place, False
    line = touches.line[uses]
    low = int(line.min(initial=0))
    return uses, stable_order(line - low, int(line.max(initial=low)) - low + 1), True


def _written(touches: Touches, active: NDArray[np.bool_], place: NDArray[np.intp]
             ) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Whether each use of a line, with those directly after it, writes, and how many misses a write stands for."""
    uses = active.nonzero()[0]
    begins = np.zeros(active.size, np.bool_)
    begins[place] = True
    starts = begins[uses].nonzero()[0]
    wrote, weight = touches.write.copy(), touches.weight * touches.write
    if starts.size:
        wrote[uses[starts]] = np.logical_or.reduceat(wrote[uses], starts)
        weight[uses[starts]] = np.maximum.reduceat(weight[uses], starts)
    return wrote[place], weight[place]


def _dirty_before(keeps: NDArray[np.float64], wrote: NDArray[np.bool_], chain: NDArray[np.intp]
                  ) -> NDArray[np.float64]:
    """Probability that a line which is there was dirty before each use: it was written, and found at each use since."""
    survived = np.cumsum(np.log(np.maximum(keeps[chain], 1e-12)))
    writer = np.maximum.accumulate(np.where(wrote[chain], np.arange(chain.size), -1))
    before = np.concatenate([[-1], writer[:-1]])
    reached = np.concatenate([[0.0], survived[:-1]])
    was = np.empty(chain.size)
    was[chain] = np.where(before >= 0, np.exp(np.minimum(0.0, reached - survived[before])), 0.0)
    return was


def _last_of_lines(line: NDArray[np.int64], active: NDArray[np.bool_], chain: NDArray[np.intp]
                   ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Last active use of each line that has one, in order of place, and the last use of that line."""
    ordered = line[chain]
    end = np.flatnonzero(np.concatenate([ordered[1:] != ordered[:-1], [True]]))
    begin = np.concatenate([[0], end[:-1] + 1])
    use = np.maximum.accumulate(np.where(active[chain], np.arange(chain.size), -1))[end]
    cached = use >= begin
    used, ended = chain[use[cached]], chain[end[cached]]
    order = np.argsort(used)
    return used[order], ended[order]


def _contents(touches: Touches, policy: Policy, outcome: Outcome, place: NDArray[np.intp],
              dirty: NDArray[np.bool_], places: int) -> Contents:
    """The caches that hold the last lines of each set among the uses at `place`."""
    present = np.ones(place.size)
    if outcome.lasting is not None:
        present = outcome.lasting[place]
        kept = present >= FORGOTTEN
        place, dirty, present = place[kept], dirty[kept], present[kept]
    key = touches.key[place]
    number = np.arange(touches.classes * policy.sets)
    end = np.searchsorted(key, number, side="right")[:, None] - 1 - np.arange(places)
    begin = np.searchsorted(key, number, side="left")[:, None]
    holds = end >= begin
    shape = (touches.classes, policy.sets, places)
    if not place.size:
        return Contents.empty(*shape)
    end = np.where(holds, end, 0)
    line = touches.line[place]
    line = line if touches.classes == 1 else line // touches.classes
    return Contents(np.where(holds, line[end], EMPTY).reshape(shape), (holds & dirty[end]).reshape(shape),
                    np.where(holds, present[end], 0.0).astype(np.float32).reshape(shape))
