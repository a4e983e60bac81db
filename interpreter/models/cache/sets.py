"""The references of one trace, sorted by cache set: only what happens in its own set matters to a line.

A trace is sorted once, and replayed from each state of the cache in which its nest is met.
"""

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from interpreter.models.cache.trace import AddressTrace, Policy

ACTIVE = 1
"""In the marks of a reference: its line is in the cache after it in any case."""
HESITANT = 2
"""It uses its line if that is there, but does not bring it: a write without allocation."""
WROTE = 4
"""It writes, or one left out behind it does."""
HAD = 8
"""It stands for a line that was cached before, and dirty."""

Marks = NDArray[np.uint8]


class Sorted(Struct, frozen=True, eq=False):
    """T references sorted by set, in order of time within a set.

    Left out is what follows directly on a reference that leaves the same line in the cache: it finds it, and changes
    nothing but whether the line is written.
    """

    line: NDArray[np.int64]
    slot: NDArray[np.int64]
    """The set."""
    write: NDArray[np.bool_]
    marks: Marks
    weight: NDArray[np.float64]
    """Number of lines for which these writes stand; 0: there are none."""
    charge: NDArray[np.float64]
    first: NDArray[np.intp]
    """Places of the first reference to each set that may leave its line there; sets without one have none."""
    source: NDArray[np.int64] | None = None
    moved: int = 0


def by_set(trace: AddressTrace, policy: Policy) -> Sorted:
    """The references of a trace as its sets see them."""
    order = stable_order(_slots(trace.line, policy), policy.sets)
    line, write = trace.line[order], trace.write[order]
    certain = np.ones(order.size, np.bool_) if trace.certain is None else trace.certain[order]
    sure = certain if policy.write_allocate else certain & ~write
    moves = sure if policy.random else certain
    uses, again = _repetitions(line, moves, sure)
    every, touched, written, repeats = order, uses, write[uses], bool(again.any())
    if repeats:
        others = np.ones(order.size, np.bool_)
        others[uses] = ~again
        kept = others.nonzero()[0]
        order, line, write, certain, sure = order[kept], line[kept], write[kept], certain[kept], sure[kept]
        uses = (sure if policy.random else certain).nonzero()[0]
    charge = trace.charge[order]
    weight = (charge if trace.weight is trace.charge else trace.weight[order]) * write
    wrote = write
    if repeats and (written & again).any():
        wrote = write.copy()
        head = (~again).nonzero()[0]
        wrote[uses] = np.logical_or.reduceat(written, head)
        weight[uses] = np.maximum.reduceat(trace.weight[every[touched]] * written, head)
    slot = _slots(line, policy)
    used = slot[uses]
    begins = np.ones(uses.size, np.bool_)
    np.not_equal(used[1:], used[:-1], out=begins[1:])
    marks = wrote.view(np.uint8) * np.uint8(WROTE)
    marks |= sure.view(np.uint8) * np.uint8(ACTIVE)
    if not policy.write_allocate:
        marks |= (certain & ~sure).view(np.uint8) * np.uint8(HESITANT)
    return Sorted(
        line,
        slot,
        write,
        marks,
        weight,
        charge,
        uses[begins],
        None if trace.source is None else trace.source[order],
        trace.moved,
    )


def _slots(line: NDArray[np.int64], policy: Policy) -> NDArray[np.int64]:
    """The sets of lines."""
    slot: NDArray[np.int64] = line & policy.sets - 1 if policy.sets & policy.sets - 1 == 0 else line % policy.sets
    return slot


def _repetitions(
    line: NDArray[np.int64], moves: NDArray[np.bool_], sure: NDArray[np.bool_]
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


def order_by_line(line: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Stable order by line, and the lines in it. Numbers that hold their places, too, are sorted several times faster
    than places."""
    if not line.size:
        return np.zeros(0, np.intp), line
    low, bits = int(line.min()), line.size.bit_length()
    bound = int(line.max()) - low + 1
    if bound.bit_length() + bits > 63:
        order = stable_order(line - low, bound)
        return order, line[order]
    packed = line - low
    packed <<= bits
    packed |= np.arange(line.size)
    packed.sort()
    ordered = packed >> bits
    ordered += low
    packed &= (1 << bits) - 1
    return packed, ordered
