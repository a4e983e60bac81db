"""The run-time library: lines that only some node programs need end in a mark, and go where nobody wants them."""

from collections.abc import Collection

MARKS = ("trace", "simulated", "native", "pair")
"""What follows the ``!`` at the end of a line: the program can write traces; it runs in SimGrid's SMPI, where
computation takes the time that a prediction gives it; its collectives are MPI's own; the data are
pairs of a value and its place."""


def chosen_lines(text: str, wanted: Collection[str]) -> str:
    """The text of a file of the library with the lines of the marks that are wanted, without their marks."""
    lines = []
    for line in text.splitlines():
        code, _, mark = line.rpartition("!")
        if mark not in MARKS:
            lines.append(line)
        elif mark in wanted:
            lines.append(code.rstrip())
    return "\n".join(lines) + "\n"
