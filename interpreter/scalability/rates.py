"""Seconds for each unit of what a run does, from the times of a few runs (Sun and Zhu, Equation 16)."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def fitted_rates(amounts: Sequence[Sequence[float]], times_s: Sequence[float]) -> Floats:
    """The rates (R,) with which sums of amount x rate come closest to measured times, by least squares.

    Args:
        amounts: (K, R) what each run does of each kind, such as flops of one processor and elements that it fetches.
        times_s: (K,) how long it took.

    Raises:
        ValueError: the runs do not tell the kinds apart, as there are too few or their amounts are proportional.
    """
    matrix = np.asarray(amounts, dtype=np.float64)
    scale = np.abs(matrix).max(axis=0)
    if not scale.all():
        raise ValueError("no run does anything of one of the kinds")
    found, _, rank, _ = np.linalg.lstsq(matrix / scale, np.asarray(times_s, dtype=np.float64), rcond=None)
    if rank < matrix.shape[1]:
        raise ValueError("the amounts of the runs are proportional to each other: more different runs are needed")
    return np.asarray(found / scale, dtype=np.float64)


def nonnegative_rates(amounts: Sequence[Sequence[float]], times_s: Sequence[float]) -> Floats:
    """The same with no rate below 0, and with relative errors: runs of any length count alike.

    A kind that makes the times of runs no better is free. All choices of kinds are tried, as there are few.

    Args:
        amounts: (K, R) what each run does of each kind.
        times_s: (K,) how long it took, above 0.

    Raises:
        ValueError: no choice of kinds is determined by the runs.
    """
    times = np.asarray(times_s, dtype=np.float64)
    matrix = np.asarray(amounts, dtype=np.float64) / times[:, None]
    kinds = matrix.shape[1]
    best, least = None, np.inf
    for number in range(kinds, 0, -1):
        for chosen in combinations(range(kinds), number):
            try:
                some = fitted_rates(matrix[:, chosen].tolist(), [1.0] * len(times))
            except ValueError:
                continue
            error = float(np.square(matrix[:, chosen] @ some - 1.0).sum())
            if (some >= 0).all() and error < least * (1 - 1e-9) - 1e-24:
                best, least = np.zeros(kinds), error
                best[list(chosen)] = some
    if best is None:
        raise ValueError("the runs do not determine what anything takes")
    return best
