"""Lines of Fortran: indentation, comments, and lines that are too long."""

from collections.abc import Iterable, Iterator

STEP = "  "
LONGEST = 116


def indented(lines: Iterable[str], times: int = 1) -> Iterator[str]:
    """The lines, further in."""
    return (STEP * times + line if line else line for line in lines)


def folded(lines: Iterable[str]) -> str:
    """The text of a source file, every line short enough for every compiler."""
    return "\n".join(part for line in lines for part in _fold(line)) + "\n"


def comment(text: str) -> str:
    """A comment line, cut where it is too long to be read."""
    return f"! {text}"[:LONGEST]


def _fold(line: str) -> Iterator[str]:
    indent = line[: len(line) - len(line.lstrip())]
    if line.lstrip().startswith("!"):
        yield line[:LONGEST]
        return
    while len(line) > LONGEST:
        at = _blank(line, LONGEST - 2, len(indent) + 6)
        if at < 0:
            break
        yield line[:at] + " &"
        line = indent + STEP * 2 + line[at + 1 :]
    yield line


def _blank(line: str, before: int, after: int) -> int:
    found, quote = -1, ""
    for at, char in enumerate(line[:before]):
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char == " " and at > after:
            found = at
    return found
