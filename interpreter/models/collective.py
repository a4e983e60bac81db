"""Collectives as phases of point-to-point messages (Def 8), for all groups and members at once.

Algorithms are written in columns of a group, 0 .. p - 1, and mapped to ranks by `members`:

- binomial (broadcast, scatter): relative column v = (column - root) mod p; in the stage of bit b (largest first)
  every multiple v of 2 b sends to v + b. Gather, and a reduction before its broadcast, run the other way.
- recursive doubling (reduction, concatenation, barrier): in the stage of bit b (lowest first) columns exchange with
  column xor b; where p is not 2^k, the last p - 2^k columns first send to column - 2^k and get the result back.
- pairwise (transpose): stage s exchanges with column xor s, or with columns +- s where p is not 2^k.
- ring (concatenation, transpose): stage s sends to the next column, or to column + s, and receives from before.
- linear: the root sends to or receives from each in turn; receives are taken in the order of columns.
"""

from collections.abc import Callable, Iterator

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from aag.mapping.distinct import distinct_with_inverse

Ints = NDArray[np.int64]


class Swap(Struct, frozen=True):
    """The columns 0 .. count - 1, each xor a power of two; `count` is a multiple of twice that power."""

    count: int
    bit: int


Columns = Ints | slice | Swap


class Stage(Struct, frozen=True, kw_only=True, eq=False):
    """Messages of one stage: columns, (N,) or (G, N), and elements (G, N). `together`: joins the stages before it
    that are marked so too: all their sends come before all receives. `combines`: the receiver combines."""

    source: Columns
    destination: Columns
    elements: Ints
    together: bool = False
    combines: bool = False


def power_below(p: int) -> int:
    """The largest power of two that is not above p."""
    return 1 << (p.bit_length() - 1)


def broadcast(elements: Ints, root: Ints, algorithm: str) -> Iterator[Stage]:
    """`elements` (G,) go from the root column (G,) to all p columns; p is carried in the columns."""
    yield from _down(np.broadcast_to(elements[:, :1], elements.shape), root, algorithm, whole=True)


def scatter(elements: Ints, root: Ints, algorithm: str) -> Iterator[Stage]:
    """Column j gets its own `elements` (G, p) from the root."""
    yield from _down(elements, root, algorithm, whole=False)


def _down(elements: Ints, root: Ints, algorithm: str, *, whole: bool) -> Iterator[Stage]:
    p = elements.shape[1]
    relative = _turned(elements, root)
    if algorithm == "binomial":
        bit = power_below(p - 1) if p > 1 else 0
        while bit:
            upper = np.arange(bit, p, 2 * bit)
            amount = relative[:, upper] if whole else _span(relative, upper, bit)
            yield Stage(source=_absolute(upper - bit, root, p), destination=_absolute(upper, root, p), elements=amount)
            bit //= 2
        return
    for child in range(1, p):
        at = np.array([child])
        source = at - child if algorithm == "linear" else at - 1
        yield Stage(source=_absolute(source, root, p), destination=_absolute(at, root, p), elements=relative[:, at])


def gather(elements: Ints, root: Ints, algorithm: str) -> Iterator[Stage]:
    """The root gets the `elements` (G, p) of every column."""
    yield from _up(elements, root, algorithm, whole=False)


def _up(elements: Ints, root: Ints, algorithm: str, *, whole: bool, combines: bool = False) -> Iterator[Stage]:
    p = elements.shape[1]
    relative = _turned(elements, root)
    if algorithm == "linear":
        for child in range(1, p):
            at = np.array([child])
            yield Stage(source=_absolute(at, root, p), destination=_absolute(at - child, root, p),
                        elements=relative[:, at], together=True, combines=combines)
        return
    bit = 1
    while bit < p:
        upper = np.arange(bit, p, 2 * bit)
        amount = relative[:, upper] if whole else _span(relative, upper, bit)
        yield Stage(source=_absolute(upper, root, p), destination=_absolute(upper - bit, root, p), elements=amount,
                    combines=combines)
        bit *= 2


def reduction(elements: Ints, root: Ints, algorithm: str) -> Iterator[Stage]:
    """All columns get the combination of the `elements` (G, p, all equal in a group) of all columns."""
    p = elements.shape[1]
    if algorithm != "recursive_doubling":
        yield from _up(elements, root, algorithm, whole=True, combines=True)
        yield from _down(elements, root, algorithm, whole=True)
        return
    power = power_below(p)
    extra = np.arange(power, p)
    if extra.size:
        yield Stage(source=extra, destination=extra - power, elements=elements[:, extra], combines=True)
    bit = 1
    while bit < power:
        yield Stage(source=slice(power), destination=Swap(power, bit), elements=elements[:, :power], combines=True)
        bit *= 2
    if extra.size:
        yield Stage(source=extra - power, destination=extra, elements=elements[:, extra])


def concatenation(elements: Ints, _root: Ints, algorithm: str) -> Iterator[Stage]:
    """All columns get the `elements` (G, p) of all columns."""
    p = elements.shape[1]
    column = np.arange(p)
    if algorithm == "recursive_doubling":
        power = power_below(p)
        extra = np.arange(power, p)
        held = elements[:, :power].copy()
        if extra.size:
            yield Stage(source=extra, destination=extra - power, elements=elements[:, extra])
            held[:, extra - power] += elements[:, extra]
        bit = 1
        while bit < power:
            other = Swap(power, bit)
            yield Stage(source=slice(power), destination=other, elements=held)
            held = held + _ranks(held, other)
            bit *= 2
        if extra.size:
            yield Stage(source=extra - power, destination=extra, elements=held[:, extra - power])
        return
    if algorithm == "ring":
        for step in range(p - 1):
            yield Stage(source=column, destination=(column + 1) % p, elements=elements[:, (column - step) % p])
        return
    for partner in _partners(p, algorithm):
        yield Stage(source=column, destination=partner, elements=elements, together=algorithm == "linear")


def transpose(elements: Ints, _root: Ints, algorithm: str) -> Iterator[Stage]:
    """Every column sends an equal share of its `elements` (G, p) to every column, itself included."""
    p = elements.shape[1]
    column = np.arange(p)
    share = -(-elements // p)
    for partner in _partners(p, algorithm):
        yield Stage(source=column, destination=partner, elements=share, together=algorithm == "linear")


def exchange_steps(source: Ints, destination: Ints, procs: int, algorithm: str) -> Iterator[tuple[int, Ints]]:
    """The messages of a complete exchange by the step of `algorithm` in which each is sent: step, positions.

    As `transpose`, but for messages that are known one by one: each pair of ranks has at most one.
    """
    by_xor = algorithm == "pairwise" and power_below(procs) == procs
    step = source ^ destination if by_xor else (destination - source) % procs
    order = np.argsort(step, kind="stable")
    steps, first, _ = distinct_with_inverse(step[order])
    yield from zip(steps.tolist(), np.split(order, first[1:]), strict=True)


def barrier(elements: Ints, root: Ints, algorithm: str) -> Iterator[Stage]:
    """Empty messages until everybody knows that everybody came."""
    yield from reduction(np.zeros_like(elements), root, algorithm)


def _partners(p: int, algorithm: str) -> Iterator[Ints]:
    column = np.arange(p)
    by_xor = algorithm == "pairwise" and power_below(p) == p
    for step in range(1, p):
        yield column ^ step if by_xor else (column + step) % p


def _turned(elements: Ints, root: Ints) -> Ints:
    """Elements by relative column."""
    p = elements.shape[1]
    if not root.any():
        return elements
    return np.take_along_axis(elements, (np.arange(p)[None, :] + root[:, None]) % p, axis=1)


def _absolute(v: Ints, root: Ints, p: int) -> Ints:
    return v if not root.any() else (v[None, :] + root[:, None]) % p


def _span(relative: Ints, first: Ints, length: int) -> Ints:
    """Sum of the elements of relative columns first .. first + length - 1."""
    p = relative.shape[1]
    total = np.concatenate([np.zeros((relative.shape[0], 1), np.int64), np.cumsum(relative, axis=1)], axis=1)
    result: Ints = total[:, np.minimum(first + length, p)] - total[:, first]
    return result


ALGORITHMS: dict[str, Callable[[Ints, Ints, str], Iterator[Stage]]] = {
    "broadcast": broadcast,
    "reduction": reduction,
    "concatenation": concatenation,
    "transpose": transpose,
    "gather": gather,
    "scatter": scatter,
    "barrier": barrier,
}


def stages(kind: str, members: Ints, root: Ints, elements: Ints, algorithm: str) -> Iterator[tuple[Stage, Ints, Ints]]:
    """The stages of a collective with the ranks of their sources and destinations, (G, N) each.

    Messages without elements are left out by the caller where the collective moves data.
    """
    if kind == "broadcast":
        elements = np.broadcast_to(np.take_along_axis(elements, root[:, None], axis=1), members.shape)
    for stage in ALGORITHMS[kind](elements, root, algorithm):
        yield stage, _ranks(members, stage.source), _ranks(members, stage.destination)


def _ranks(members: Ints, columns: Columns) -> Ints:
    if isinstance(columns, Swap):
        pairs = members[:, : columns.count].reshape(len(members), -1, 2, columns.bit)
        return pairs[:, :, ::-1].reshape(len(members), columns.count)
    if isinstance(columns, slice) or columns.ndim == 1:
        return members[:, columns]
    return np.take_along_axis(members, columns, axis=1)
