"""Words of messages."""


def plural(number: int, thing: str) -> str:
    """A number with its thing.

    >>> plural(1, "dimension"), plural(1600, "message")
    ('1 dimension', '1,600 messages')
    """
    return f"{number:,} {thing}" + "s" * (number != 1)


def is_name(text: str) -> bool:
    """Whether a text is the name of a variable, perhaps of a component."""
    return text.replace("%", "").isidentifier()
