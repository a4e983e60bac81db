"""Where one of two programs overtakes the other as the system grows."""

from collections.abc import Callable

TimeOf = Callable[[float], float]
"""Number of processors -> seconds."""


def crossing(first: TimeOf, second: TimeOf, low: float, high: float) -> float | None:
    """The number of processors, between `low` and `high` and not whole in general, from which on the second is no
    slower than the first. None: it never is, or it always is.

    The second must overtake the first once at most in between.
    """
    if second(low) <= first(low) or second(high) > first(high):
        return None
    while True:
        middle = (low + high) / 2
        if not low < middle < high:
            return high
        if second(middle) <= first(middle):
            high = middle
        else:
            low = middle


def first_power(first: TimeOf, second: TimeOf, most: int) -> int | None:
    """The first power of two, up to `most`, at which the second is faster than the first; None if there is none."""
    processors = 1
    while processors <= most:
        if second(processors) < first(processors):
            return processors
        processors *= 2
    return None
