"""Text as it leaves esp: nothing in it is hidden or acts on the terminal.

Text may quote programs, names, options and files of anybody. All of it goes through `visible` (`esp.writing`). Colours
are marks until then, which no text from outside can contain: their characters differ from run to run.
"""

import os
import re
from collections.abc import Callable

from aag.visible import escaped

_FIRST = 0x100000 + 4 * int.from_bytes(os.urandom(2), "little") % 0xFFF0
_BEGIN, _MIDDLE, _END, HTML = (chr(_FIRST + each) for each in range(4))
"""Marks of colours, and what is around HTML in a text for a page."""
_MARKS = re.compile(f"{_BEGIN}([0-9;]*){_MIDDLE}|{_END}")


def inked(code: str, text: str) -> str:
    """`text` with marks that `visible` makes a colour of: an SGR code such as ``1;31``."""
    return f"{_BEGIN}{code}{_MIDDLE}{text}{_END}"


def with_parameters(text: str, spelled: Callable[[str, str], str]) -> str:
    """A text in which diagnostics name parameters (``‹procs›``, ``‹set N=4›``), each spelled from name and value."""
    first, *others = text.split("‹")
    whole = [first]
    for other in others:
        marked, end, rest = other.partition("›")
        name, *values = marked.split(None, 1) or [""]
        known = end and name.isascii() and name.replace("_", "").isalpha() and name.islower()
        if not known:
            whole.append("‹" + other)
            continue
        shown = spelled(name, *values or [""])
        between = marked[len(name) : len(marked) - len("".join(values))]  # a line may end there
        whole.append((shown.replace(" ", between, 1) if "\n" in between else shown) + rest)
    return "".join(whole)


def _option(name: str, value: str) -> str:
    return f"--{name.replace('_', '-')} {value}".rstrip()


def visible(text: str) -> str:
    """Text as it leaves esp: invisible characters as escapes, marks as colours, parameters as options of the command;
    lines and tabs stay."""
    shown = escaped(text)
    if shown.isascii():
        return shown
    shown = with_parameters(shown, _option)
    return _MARKS.sub(lambda found: "\x1b[0m" if found[1] is None else f"\x1b[{found[1]}m", shown)
