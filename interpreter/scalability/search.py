"""The smallest problem that keeps a speed.

The speed of a parallel program rises with its size, but not from each size to the next: blocks of ceil(n / p) elements
are uneven unless p divides n. So a size counts only if the sizes after it keep the speed as well.
"""

from collections.abc import Callable


def smallest_lasting(keeps: Callable[[int], bool], least: int, guess: int, most: int, lasting: int) -> int | None:
    """The smallest size that keeps a speed, as the `lasting` sizes after it do.

    Args:
        keeps: whether a size keeps the speed; asked once for each size that is needed.
        least: the smallest size that is considered.
        guess: where the search begins.
        most: the largest size that is considered, also as one of those after.
        lasting: how many sizes after it.

    Returns:
        None where no size up to `most` is found. It is the smallest if no size keeps the speed that a size `lasting`
        further on does not keep, as where speed rises but for what repeats itself with a period up to `lasting`.
    """
    known: dict[int, bool] = {}

    def holds(size: int) -> bool:
        if size not in known:
            known[size] = keeps(size)
        return known[size]

    low, high = least - 1, max(least, min(guess, most))
    while not holds(high):
        if high == most:
            return None
        low, high = high, min(2 * high, most)
    while low < least < high:  # the guess was large enough
        lower = max(least, high // 2)
        if holds(lower):
            high = lower
        else:
            low = lower
    while high - low > 1:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle
    return _lasting(holds, high, most, lasting)


def largest_of(holds: Callable[[int], bool], least: int, guess: int, most: int) -> int | None:
    """The largest size for which something holds that holds up to some size only, such as a bound on time or memory.

    Args:
        holds: asked once for each size that is needed.
        least: the smallest size that is considered.
        guess: where the search begins.
        most: the largest size that is considered.

    Returns:
        None where not even the smallest size has it; `most` where all have it.
    """
    low, high = max(least, min(guess, most)), most + 1
    while not holds(low):
        if low == least:
            return None
        low, high = max(least, low // 2), low
    step = low
    while low + step < high:  # up in growing steps until one is too large
        if holds(low + step):
            low, step = low + step, 2 * step
        else:
            high = low + step
    while high - low > 1:
        middle = (low + high) // 2
        if holds(middle):
            low = middle
        else:
            high = middle
    return low


def _lasting(holds: Callable[[int], bool], first: int, most: int, lasting: int) -> int | None:
    """The first size from `first` on with so many after it that hold."""
    size = first
    while size + lasting <= most:
        broken = next((each for each in range(size + lasting, size - 1, -1) if not holds(each)), None)
        if broken is None:
            return size
        size = broken + 1
    return None
