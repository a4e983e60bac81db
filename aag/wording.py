"""Words of messages."""

import re

_OWN = re.compile(r"([A-Za-z]\w*)(?:\$\w+)+")
"""A name with what tells it apart from others in the node program: ``i$smooth``, ``a$2``."""


def as_written(text: str) -> str:
    """Text with names as the source has them, without what esp appends to tell them apart.

    >>> as_written("p(i$smooth, j$smooth + 1)")
    'p(i, j + 1)'
    """
    return _OWN.sub(r"\1", text)


def plural(number: int, thing: str) -> str:
    """A number with its thing.

    >>> plural(1, "dimension"), plural(1600, "message")
    ('1 dimension', '1,600 messages')
    """
    return f"{number:,} {thing}" + "s" * (number != 1)


def is_name(text: str) -> bool:
    """Whether a text is the name of a variable, perhaps of a component."""
    return text.replace("%", "").isidentifier()
