"""The references of one trace, sorted by cache set: only what happens in its own set matters to a line.

A trace is sorted once, and replayed from each state of the cache in which its nest is met.
"""

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from interpreter.models.cache_trace import Policy, Trace


class Sorted(Struct, frozen=True, eq=False):
    """T references sorted by set, in order of time within a set.

    Left out is what follows directly on a reference that leaves the same line in the cache: it finds it, and changes
    nothing but whether the line is written.
    """

    line: NDArray[np.int64]
    slot: NDArray[np.int64]
    """The set."""
    write: NDArray[np.bool_]
    wrote: NDArray[np.bool_]
    """Whether the reference, or one left out behind it, writes."""
    weight: NDArray[np.float64]
    """Number of lines for which these writes stand; 0: there are none."""
    charge: NDArray[np.float64]
    certain: NDArray[np.bool_]
    first: NDArray[np.intp]
    """Places of the first reference to each set that may leave its line there; sets without one have none."""
    source: NDArray[np.int64] | None = None
    moved: int = 0


def allocates(certain: NDArray[np.bool_], write: NDArray[np.bool_], policy: Policy) -> NDArray[np.bool_]:
    """Whether the line is in the cache after each reference in any case."""
    return certain if policy.write_allocate else certain & ~write


def by_set(trace: Trace, policy: Policy) -> Sorted:
    """The references of a trace as its sets see them."""
    slot = trace.line & policy.sets - 1 if policy.sets & policy.sets - 1 == 0 else trace.line % policy.sets
    order = stable_order(slot, policy.sets)
    line = trace.line[order]
    sure = allocates(trace.certain, trace.write, policy)[order]
    moves = sure if policy.random else trace.certain[order]
    uses, again = _repetitions(line, moves, sure)
    kept = np.ones(line.size, np.bool_)
    kept[uses[again]] = False
    place = order[kept]
    slot, write = slot[place], trace.write[place]
    wrote, weight = write, trace.weight[place] * write
    uses = order[uses]
    if trace.write[uses[again]].any():
        written, head = trace.write[uses], (~again).nonzero()[0]
        wrote, number = write.copy(), moves[kept].nonzero()[0]
        wrote[number] = np.logical_or.reduceat(written, head)
        weight[number] = np.maximum.reduceat(trace.weight[uses] * written, head)
    may = moves[kept].nonzero()[0]
    begins = np.ones(may.size, np.bool_)
    np.not_equal(slot[may[1:]], slot[may[:-1]], out=begins[1:])
    return Sorted(line[kept], slot, write, wrote, weight, trace.charge[place], trace.certain[place], may[begins],
                  None if trace.source is None else trace.source[place], trace.moved)


def _repetitions(line: NDArray[np.int64], moves: NDArray[np.bool_], sure: NDArray[np.bool_]
                 ) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Places of references that may leave their line in the cache (`moves`), and which of them follow on one of the
    same line that does in any case (`sure`)."""
    uses = moves.nonzero()[0]
    chosen = line[uses]
    again = np.zeros(uses.size, np.bool_)
    np.equal(chosen[1:], chosen[:-1], out=again[1:])
    if moves is not sure:
        number, certain = np.arange(uses.size), sure[uses]
        begin = np.maximum.accumulate(np.where(again, 0, number))
        last = np.maximum.accumulate(np.where(certain, number, -1))
        again[1:] &= last[:-1] >= begin[1:]
    return uses, again


def stable_order(key: NDArray[np.int64], bound: int) -> NDArray[np.intp]:
    """Stable order of keys below `bound`; NumPy sorts 16-bit numbers by radix, several times faster than others."""
    if bound <= 1 << 16:
        return np.argsort(key.astype(np.uint16), kind="stable")
    order = np.argsort((key & 0xFFFF).astype(np.uint16), kind="stable")
    while bound > 1 << 16:
        key, bound = key >> 16, (bound - 1 >> 16) + 1
        order = order[np.argsort((key[order] & 0xFFFF).astype(np.uint16), kind="stable")]
    return order
