"""Fortran text character by character: quotes and parentheses."""

from collections.abc import Iterator


def scanned(text: str, start: int = 0) -> Iterator[tuple[int, str, int, str]]:
    """Each character with its offset, how many parentheses are open after it, and the quotation mark that is."""
    depth, quote = 0, ""
    for at in range(start, len(text)):
        char = text[at]
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        else:
            depth += (char == "(") - (char == ")")
        yield at, char, depth, quote
