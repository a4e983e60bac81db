"""Seconds for each unit of what a run does, from the times of a few runs (Sun and Zhu, Equation 16)."""

from collections.abc import Sequence

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
