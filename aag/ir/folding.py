"""Lines that are too long for Fortran, continued on the next."""

from collections.abc import Iterator


def folded(line: str, longest: int, lead: str, least: int) -> Iterator[str]:
    """A line of free form in parts of at most `longest` characters, broken at blanks outside of quotes.

    Args:
        line: one line.
        longest: so long it may be; what has no blank to break at stays longer.
        lead: what each further part begins with.
        least: it is broken behind this column, so that every part has something of the line.
    """
    while len(line) > longest:
        at = _last_blank(line, longest - 2, least)
        if at < 0:
            break
        yield line[:at] + " &"
        line = lead + line[at + 1 :]
    yield line


def _last_blank(line: str, before: int, after: int) -> int:
    found, quote = -1, ""
    for at, char in enumerate(line[:before]):
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char == " " and at > after:
            found = at
    return found
