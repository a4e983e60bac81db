"""What the routing of every topology needs."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ints = NDArray[np.int64]


def bits(count: int) -> int:
    """Bits needed to number `count` things."""
    return (count - 1).bit_length()


def ints(values: ArrayLike) -> Ints:
    """As int64, without copying where they are."""
    return np.asarray(values, dtype=np.int64)


def endpoints(src: ArrayLike, dst: ArrayLike, size: int) -> tuple[Ints, Ints]:
    """Sources and destinations as equally long vectors of their own.

    Raises:
        ValueError: a node outside the instance.
    """
    start, goal = np.broadcast_arrays(np.atleast_1d(ints(src)), np.atleast_1d(ints(dst)))
    for node in (start, goal):
        if node.size and (int(node.min()) < 0 or int(node.max()) >= size):
            raise ValueError(f"node {int(node.max())} is outside an instance of {size} nodes")
    return start.copy(), goal.copy()


def empty_routes(hops: Ints) -> Ints:
    """Routes to be filled: one row a message, as wide as the longest, all -1."""
    return np.full((hops.size, int(hops.max(initial=0))), -1, dtype=np.int64)
