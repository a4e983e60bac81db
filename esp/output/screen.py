"""Where text is shown: how wide, and whether in colour."""

from collections.abc import Iterable

from msgspec import Struct

from esp.visible import inked, visible

SMALLEST_WIDTH = 60
"""Narrower than this no table fits; such a terminal wraps."""

_UNITS = frozenset(("ns", "us", "ms", "s", "min", "h", "B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB"))

_CODES = {"strong": "1", "faint": "2", "hot": "1;31", "warm": "33", "good": "32", "error": "1;31", "hint": "36"}


class Screen(Struct, frozen=True):
    """A width in columns, and whether roles such as ``hot`` become colours; plain text otherwise.

    `html`: tables are HTML between marks (`esp.visible`), for a page of a notebook.
    """

    width: int = 80
    colour: bool = False
    html: bool = False

    def paint(self, role: str, text: str) -> str:
        """`text` in the colour of its role, or as it is."""
        if not (self.colour and role and text):
            return text
        return inked(_CODES[role], text)

    @property
    def columns(self) -> int:
        """The width that tables are laid out for."""
        return max(self.width, SMALLEST_WIDTH)


def printable(text: str) -> str:
    """A line of a user's file as it will be shown, so that its width is known: tabs are spaces."""
    return visible(text.rstrip("\r\n").expandtabs(8)).replace("\n", "\\u000a")


def shorten(text: str, width: int) -> str:
    """At most `width` columns of `text`, with an ellipsis of dots where something is missing."""
    if len(text) <= width:
        return text
    return text[: max(0, width - 3)].rstrip() + "..."[: max(0, width)]


def flow(pieces: Iterable[str], width: int, gap: str = "  ", indent: str = "") -> str:
    """Pieces side by side, none of them broken; what does not fit goes to a new, indented line."""
    lines: list[str] = []
    for piece in pieces:
        if lines and len(lines[-1]) + len(gap) + len(piece) <= width:
            lines[-1] += gap + piece
        else:
            lines.append((indent if lines else "") + piece)
    return "\n".join(lines)


def paragraph(label: str, text: str, width: int, label_width: int = 9) -> str:
    """A label on the left and words on the right, wrapped beside it."""
    first = f"{label:<{label_width}}"
    first += "" if first.endswith(" ") else "  "
    return first + flow(_words(text), width - len(first), " ").replace("\n", "\n" + " " * len(first))


def _words(text: str) -> list[str]:
    """The words of a text; a number keeps its unit."""
    words: list[str] = []
    for word in text.split():
        if words and word.rstrip(".,;)") in _UNITS and words[-1][-1:].isdecimal():
            words[-1] += " " + word
        else:
            words.append(word)
    return words
