"""Counting integers by residue without enumerating them."""

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]


def count_in_window(
    n: npt.ArrayLike, stride: int, start: npt.ArrayLike, modulus: int, width: npt.ArrayLike
) -> IntArray:
    """How many j in 0..n-1 have (stride * j + start) mod `modulus` < `width`, for 0 <= width <= modulus.

    Formula: [x mod m < w] = floor(x / m) - floor((x - w) / m), summed by `floor_sum`.
    `n`, `start` and `width` may be arrays (broadcast against each other).
    """
    count, first, wide = _integers(n, start, width)
    first = first % modulus
    step = stride % modulus
    if step == 1:
        return _below(first + count, modulus, wide) - _below(first, modulus, wide)
    below = floor_sum(count, modulus, step, first - wide + modulus)
    return floor_sum(count, modulus, step, first) - below + count


def _integers(*given: npt.ArrayLike) -> tuple[IntArray, ...]:
    return tuple(np.asarray(each, dtype=np.int64) for each in given)


def _below(limit: IntArray, modulus: int, width: IntArray) -> IntArray:
    """How many x in 0..limit-1 have x mod `modulus` < `width`."""
    return limit // modulus * width + np.minimum(limit % modulus, width)


def floor_sum(n: npt.ArrayLike, modulus: int, stride: int, start: npt.ArrayLike) -> IntArray:
    """The sum over j in 0..n-1 of floor((stride * j + start) / modulus), for stride, start >= 0.

    The Euclidean algorithm on (modulus, stride): O(log modulus) array operations. `stride` and `modulus` are
    the same for all elements, so `n` and `start` may be arrays. Intermediate sums may wrap around in 64 bits,
    which their differences undo; what is divided stays below modulus * n.
    """
    count, first = np.broadcast_arrays(*_integers(n, start))
    total: IntArray = np.zeros(count.shape, dtype=np.int64)
    while True:
        quotient, stride = divmod(stride, modulus)
        total = total + quotient * (count * (count - 1) // 2) + count * (first // modulus)
        if stride == 0:
            return total
        first = first % modulus
        reached = stride * count + first
        count, first = reached // modulus, reached % modulus
        modulus, stride = stride, modulus
