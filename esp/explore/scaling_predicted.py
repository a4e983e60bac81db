"""The size that keeps a speed by Equation 2 of Sun and Zhu, from work and overhead of a few predictions.

X.-H. Sun and J. Zhu call such a scalability *predicted* (docs/scalability.md).
"""

from math import inf

from msgspec import Struct

from esp.explore.sized import SizedPredictions
from interpreter.scalability.growth import balanced_size, required_share
from interpreter.scalability.isospeed import overhead
from interpreter.scalability.rates import fitted_rates

TRIES = 8
"""So many predictions at most for each number of processors."""
NEAREST = 3
"""So many of them, the nearest to the speed, give the next size."""
STEP = 8
"""The next size is at most so many times a tried one."""


class PredictedRun(Struct, frozen=True, kw_only=True):
    """The size at which work and overhead satisfy Equation 2."""

    size: int
    work: float
    """Flops of the sequential program."""
    overhead_s: float
    """The degradation of parallelism T0 at this size."""
    speed: float
    """Average speed of a processor, flop/s."""
    kept: bool
    """Whether it is within the tolerance of the speed to keep."""
    predictions: int
    """How many were made on this number of processors."""
    psi: float = 1.0
    """Scalability from the first number of processors with such a size."""


def rate_of(tries: SizedPredictions, sizes: tuple[int, ...]) -> float:
    """Tau: seconds for each flop of the sequential program on one processor, fitted to the predictions for some sizes
    (Equation 16 without messages).

    Raises:
        ValueError: no work is done.
    """
    times = [tries.time_s(tries.prediction(1, size)) for size in sizes]
    return float(fitted_rates([[tries.work(size)] for size in sizes], times)[0])


def predicted_run(
    tries: SizedPredictions, processors: int, guess: int, most: int, speed: float, rate: float, tol: float
) -> PredictedRun | None:
    """Find the size at which work and overhead satisfy Equation 2.

    Args:
        tries: the predictions.
        processors: how many.
        guess: the first size.
        most: the largest size that is considered.
        speed: the average speed to keep, flop/s.
        rate: tau, as `rate_of` finds it.
        tol: the share of the speed by which the speed at the size may differ.

    Returns:
        The nearest of the sizes that were tried; `kept` tells whether it is near enough. None where Equation 2 gives no
        size: the speed of one processor alone is at most the speed to keep, there is no overhead, or work does not grow
        faster than overhead.
    """
    if speed * rate >= 1:
        return None
    shares: dict[int, float] = {}
    size = max(1, min(guess, most))
    while len(shares) < TRIES and size not in shares:
        time_s, work = tries.time_s(tries.prediction(processors, size)), tries.work(size)
        shares[size] = required_share(speed, work, processors, time_s, rate) if work > 0 else inf
        if abs(tries.speed(processors, size) / speed - 1) <= tol:
            break
        following = _next_size(shares, size)
        if following is None:
            return None
        size = max(1, min(following, most))
        if size in shares:
            size = max(1, min(size + (1 if shares[size] > 1 else -1), most))
    found = min(shares, key=lambda each: abs(tries.speed(processors, each) / speed - 1))
    reached = tries.speed(processors, found)
    time_s = tries.time_s(tries.prediction(processors, found))
    return PredictedRun(
        size=found,
        work=tries.work(found),
        overhead_s=overhead(tries.work(found), processors, time_s, rate),
        speed=reached,
        kept=abs(reached / speed - 1) <= tol,
        predictions=len(shares),
    )


def _next_size(shares: dict[int, float], latest: int) -> int | None:
    """The size to try after the latest; without overhead there, a smaller one."""
    if shares[latest] <= 0:
        return latest // 2 or None
    positive = [each for each in shares if 0 < shares[each] < inf]
    if len(positive) < 2:
        return 2 * latest if shares[latest] > 1 else max(1, latest // 2)
    near = sorted(positive, key=lambda each: max(shares[each], 1 / shares[each]))[:NEAREST]
    found = balanced_size(near, [shares[each] for each in near])
    if found is None:
        return None
    return round(max(min(near) / STEP, min(found, STEP * max(near))))
