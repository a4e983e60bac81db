"""Text with roles: what a part of the screen says, without a word about colours or widgets."""

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

Piece = tuple[str, str]
"""Text and its role: a name such as ``faint`` or ``comp``, or nothing."""

Key = int | str | tuple[int, int] | None
"""What a line stands for: a choice, a source line, an AAU, a processor, an AAU on a processor."""


class SheetLine(Struct, frozen=True):
    """One line, and what a cursor on it means."""

    pieces: tuple[Piece, ...] = ()
    key: Key = None
    whole: str = ""
    """All of its cells, uncut: what a search looks at."""

    @property
    def text(self) -> str:
        """The line without its roles."""
        return "".join(text for text, _ in self.pieces).rstrip()


def aged(lines: Iterable[SheetLine]) -> tuple[SheetLine, ...]:
    """Lines as they are, dimmed: what they say is of older settings."""
    return tuple(replace(line, pieces=tuple((text, "old") for text, _ in line.pieces)) for line in lines)


class Sheet(Struct, frozen=True):
    """What a list shows: a heading that stays, and lines that scroll."""

    heading: SheetLine | None
    lines: tuple[SheetLine, ...]

    def row_of(self, key: Key) -> int:
        """Where a key stands; the first line where it stands nowhere."""
        return next((row for row, line in enumerate(self.lines) if line.key == key), 0)

    def narrowed(self, text: str) -> "Sheet":
        """The lines that contain a text, in whatever case; all of them without one."""
        if not text:
            return self
        found = tuple(line for line in self.lines if line.key is not None and text.lower() in line.whole.lower())
        return Sheet(self.heading, found or (joined([(f" no line contains {text!r} (Escape shows all)", "faint")]),))

    @property
    def text(self) -> str:
        """All of it as plain text."""
        shown = (self.heading, *self.lines) if self.heading is not None else self.lines
        return "".join(f"{line.text}\n" for line in shown)


class Field(Struct, frozen=True):
    """A column. `width` 0: what the others leave; `gap`: blanks before it."""

    title: str
    width: int = 0
    align: str = ">"
    gap: int = 1


Cell = str | Piece | Sequence[Piece]
"""Text, text with a role, or several of these, which together are as wide as the column at most."""


class SheetLayout:
    """Columns side by side in a given width; numbers are never cut, the one flexible column is."""

    def __init__(self, fields: Sequence[Field], width: int) -> None:
        taken = sum(field.width + field.gap for field in fields) - (fields[0].gap if fields else 0)
        self.fields = tuple(fields)
        self.widths = tuple(field.width or max(len(field.title), width - taken) for field in fields)

    def heading(self) -> SheetLine:
        """The titles."""
        return self.line([(field.title, "title") for field in self.fields])

    def line(self, cells: Sequence[Cell], key: Key = None, role: str = "") -> SheetLine:
        """A line of cells; `role` is that of the cells without one."""
        pieces: list[Piece] = []
        for at, (cell, field, width) in enumerate(zip(cells, self.fields, self.widths, strict=True)):
            if at and field.gap:
                pieces.append((" " * field.gap, role))
            pieces += fitted(_pieces(cell, role), width, field.align)
        whole = " ".join(text for cell in cells for text, _ in _pieces(cell, "")) if key is not None else ""
        return SheetLine(tuple(pieces), key, whole)


def _pieces(cell: Cell, role: str) -> list[Piece]:
    if isinstance(cell, str):
        return [(cell, role)]
    if isinstance(cell, tuple) and len(cell) == 2 and isinstance(cell[0], str) and isinstance(cell[1], str):
        return [(cell[0], cell[1])]
    return [(str(text), str(own)) for text, own in cell]


def fitted(pieces: Iterable[Piece], width: int, align: str = "<") -> list[Piece]:
    """Pieces filled with blanks, or cut with dots, to exactly `width` columns."""
    found = list(pieces)
    length = sum(len(text) for text, _ in found)
    if length > width:
        return _cut(found, width)
    blank = " " * (width - length)
    if not blank:
        return found
    # The blanks take the role of the text, so that a coloured cell is coloured as a whole.
    role = found[0][1] if len(found) == 1 else ""
    return [(blank, role), *found] if align == ">" else [*found, (blank, role)]


def _cut(pieces: list[Piece], width: int) -> list[Piece]:
    dots = ".." if width >= 4 else ""
    room = width - len(dots)
    kept: list[Piece] = []
    role = ""
    for text, role in pieces:
        if len(text) >= room:
            kept.append((text[:room], role))
            break
        kept.append((text, role))
        room -= len(text)
    return [*kept, (dots, role)] if dots else kept


def joined(pieces: Iterable[Piece]) -> SheetLine:
    """A line of pieces that stands for nothing."""
    return SheetLine(tuple(pieces))


def wrapped(words: Iterable[Piece], width: int, indent: int = 0) -> list[SheetLine]:
    """Pieces, each kept whole where it fits, on as many lines as they need; blanks go between them."""
    lines: list[list[Piece]] = [[]]
    used = 0
    for text, role in words:
        gap = 1 if used > (indent if len(lines) > 1 else 0) else 0
        if used and used + gap + len(text) > width:
            lines.append([(" " * indent, "")] if indent else [])
            used, gap = indent, 0
        if gap:
            lines[-1].append((" ", role))
        lines[-1].append((text[: max(1, width - used - gap)], role))
        used += gap + len(text)
    return [SheetLine(tuple(each)) for each in lines if each]


def words(text: str, role: str = "") -> list[Piece]:
    """The words of a text as pieces."""
    return [(word, role) for word in text.split()]
