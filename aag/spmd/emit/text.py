"""Lines of Fortran: indentation, comments, and lines that are too long."""

from collections.abc import Iterable, Iterator

from aag.ir.folding import folded as continued

STEP = "  "
LONGEST = 116


def indented(lines: Iterable[str], times: int = 1) -> Iterator[str]:
    """The lines, further in."""
    return (STEP * times + line if line else line for line in lines)


def folded(lines: Iterable[str]) -> str:
    """The text of a source file, every line short enough for every compiler."""
    return "\n".join(short(lines)) + "\n"


def short(lines: Iterable[str]) -> Iterator[str]:
    """The lines, those that are too long for some compiler continued."""
    return (part for line in lines for part in _fold(line))


def comment(text: str) -> str:
    """A comment line, cut where it is too long to be read."""
    return f"! {text}"[:LONGEST]


def _fold(line: str) -> Iterator[str]:
    if line.lstrip().startswith("!"):
        yield line[:LONGEST]
        return
    indent = line[: len(line) - len(line.lstrip())]
    yield from continued(line, LONGEST, indent + STEP * 2, len(indent) + 6)
