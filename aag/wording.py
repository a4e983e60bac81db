"""Words of messages."""


def plural(number: int, thing: str) -> str:
    """A number with its thing.

    >>> plural(1, "dimension"), plural(1600, "message")
    ('1 dimension', '1,600 messages')
    """
    return f"{number:,} {thing}" + "s" * (number != 1)
