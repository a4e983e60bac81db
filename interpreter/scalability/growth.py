"""The size at which Equation 2 of Sun and Zhu holds, from the overhead at a few sizes."""

from collections.abc import Sequence
from math import exp, inf, log

import numpy as np

from interpreter.scalability.isospeed import overhead, scaled_work


def required_share(speed: float, work: float, processors: float, time_s: float, rate: float) -> float:
    """The work that Equation 2 requires for the overhead of a run, over the work of the run.

    Above 1 the run is slower than `speed`, below 1 it is faster; at 1 it keeps the speed.

    Args:
        speed: the average speed to keep, flop/s.
        work: of the run, flop.
        processors: of the run.
        time_s: of the run.
        rate: tau, seconds for each flop of one processor.

    Raises:
        ValueError: one processor without overhead is not faster than `speed`.
    """
    return scaled_work(speed, processors, overhead(work, processors, time_s, rate), rate) / work


def balanced_size(sizes: Sequence[float], shares: Sequence[float]) -> float | None:
    """The size at which a required share of 1 is expected.

    The share is taken as a power of the size, fitted to its logarithms by least squares: overhead grows with some power
    of the size, and work with another one.

    >>> round(balanced_size([10, 20], [8.0, 4.0]))
    80

    Args:
        sizes: two or more different sizes.
        shares: (same length) the required share at each; all positive.

    Returns:
        None where the share does not fall as the size grows: overhead grows at least as fast as work.
    """
    power, factor = np.polyfit(np.log(sizes), np.log(shares), 1)
    exponent = -float(factor) / float(power) if power < 0 else inf
    return exp(exponent) if exponent < log(float(np.finfo(np.float64).max)) else None
