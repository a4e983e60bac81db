"""The law walked by hand: what programs of blocking messages take where no two messages ever want one link.

This knows nothing of the simulator. It is what the instrument is checked with, and it explains its clocks.
"""

from collections import defaultdict, deque
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .platform import Law, hops

Operation = tuple[str, int, float]
"""("charge", 0, seconds), ("send", to, bytes) or ("recv", from, bytes)"""


def replay(programs: Sequence[Sequence[Operation]], law: Law, nodes: Sequence[int]) -> NDArray[np.float64]:
    """End times of ranks that walk their operations, each message taking `law` from the call of its send.

    A send occupies its sender until the message has arrived; a receive returns at the arrival or at once.
    ValueError on a deadlock.
    """
    clocks = np.zeros(len(programs))
    left = [deque(program) for program in programs]
    flying: defaultdict[tuple[int, int], deque[float]] = defaultdict(deque)
    moved = True
    while moved:
        moved = False
        for rank, todo in enumerate(left):
            while todo:
                what, partner, amount = todo[0]
                if what == "recv" and not flying[partner, rank]:
                    break
                if what == "recv":
                    clocks[rank] = max(clocks[rank], flying[partner, rank].popleft())
                elif what == "send":
                    clocks[rank] += law.time_s(amount, hops(nodes[rank], nodes[partner]))
                    flying[rank, partner].append(clocks[rank])
                else:
                    clocks[rank] += amount
                todo.popleft()
                moved = True
    if any(left):
        raise ValueError("these programs wait for each other")
    return clocks


def bcast_steps(procs: int, root: int, size_bytes: float) -> list[list[Operation]]:
    """Binomial broadcast on (rank - root) mod procs, written from the top: each holder gives to its half."""
    steps: list[list[Operation]] = [[] for _ in range(procs)]
    half = 1 << max(procs - 1, 0).bit_length() >> 1
    while half:
        for holder in range(0, procs - half, 2 * half):
            source, target = (holder + root) % procs, (holder + half + root) % procs
            steps[source].append(("send", target, size_bytes))
            steps[target].append(("recv", source, size_bytes))
        half >>= 1
    return steps


def allreduce_steps(procs: int, size_bytes: float) -> list[list[Operation]]:
    """Recursive doubling; the ranks beyond the largest power of two go through rank - power (Def 8)."""
    power = 1 << (procs.bit_length() - 1)
    steps: list[list[Operation]] = [[] for _ in range(procs)]
    for rank in range(power, procs):
        steps[rank].append(("send", rank - power, size_bytes))
        steps[rank - power].append(("recv", rank, size_bytes))
    for bit in range(power.bit_length() - 1):
        for rank in range(power):
            partner = rank ^ (1 << bit)
            steps[rank] += [("send", partner, size_bytes), ("recv", partner, size_bytes)]
    for rank in range(power, procs):
        steps[rank - power].append(("send", rank, size_bytes))
        steps[rank].append(("recv", rank - power, size_bytes))
    return steps


def owners(n: int, procs: int) -> NDArray[np.int64]:
    """Owner of each of n elements distributed BLOCK."""
    return np.arange(n) // -(-n // procs)


def laplace_steps(n: int, grid: tuple[int, int], repeat: int, point_s: float = 0.0) -> list[list[Operation]]:
    """The four-point stencil, by enumeration of every element that every rank reads (Def 7, sequential)."""
    procs = grid[0] * grid[1]
    rank_of = owners(n, grid[0])[:, None] + grid[0] * owners(n, grid[1])[None, :]
    inner = rank_of[1:-1, 1:-1]
    once: list[list[Operation]] = [[] for _ in range(procs)]
    for dim in (0, 1):
        for reads in (-1, 1):  # b(i-1): data move up first, then b(i+1): data move down
            rows = slice(1 + reads, n - 1 + reads)
            source = rank_of[rows, 1:-1] if dim == 0 else rank_of[1:-1, rows]
            pairs, counts = np.unique(
                np.stack([source.ravel(), inner.ravel()])[:, (source != inner).ravel()], axis=1, return_counts=True
            )
            moves = [(int(a), int(b), 8.0 * count) for (a, b), count in zip(pairs.T, counts, strict=True)]
            for a, b, size_bytes in moves:
                once[a].append(("send", b, size_bytes))
            for a, b, size_bytes in moves:
                once[b].append(("recv", a, size_bytes))
    for rank, points in enumerate(np.bincount(inner.ravel(), minlength=procs)):
        once[rank].append(("charge", 0, float(points) * point_s))
    return [steps * repeat for steps in once]


def sent(programs: Sequence[Sequence[Operation]]) -> tuple[int, int]:
    """Messages and bytes of these programs."""
    sizes = [amount for program in programs for what, _, amount in program if what == "send"]
    return len(sizes), int(sum(sizes))
