"""Which part of a count is divided among the processors, from two predictions."""


def undivided(on_one: float, on_all: float, processors: int) -> float:
    """The part of a count that each processor has in full.

    One processor counts s + d, and p processors together p s + d.

    >>> undivided(110.0, 130.0, 3)
    10.0

    Args:
        on_one: the count on one processor.
        on_all: the count on all of p processors together.
        processors: p, at least 2.

    Returns:
        s, between 0 and `on_one`.
    """
    return min(max((on_all - on_one) / (processors - 1), 0.0), on_one)
