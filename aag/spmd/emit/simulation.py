"""Node programs for a simulated machine (SimGrid SMPI): computation takes the time that a prediction gives it."""

MARK = "!simulated"
"""At the end of the lines of the run-time library that only such a program has."""


def library(text: str, *, simulated: bool) -> str:
    """The text of a file of the run-time library, with or without the lines that a simulation needs."""
    if simulated:
        return "".join(line.removesuffix(MARK).rstrip() + "\n" for line in text.splitlines())
    return "".join(f"{line}\n" for line in text.splitlines() if not line.endswith(MARK))
