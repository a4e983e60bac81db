"""Tables of fixed columns: numbers never wrap and are never cut, only the last, flexible column shrinks."""

from collections.abc import Sequence
from html import escape

from msgspec import Struct

from esp.output.screen import Screen, flow, shorten
from esp.visible import HTML


class Column(Struct, frozen=True):
    """A column: its title, `align` (``>`` numbers, ``<`` words), least width and the gap in front of it."""

    title: str
    align: str = ">"
    width: int = 0
    gap: int = 2


class TableRow(Struct, frozen=True):
    """The cells of a row, and the role that colours it."""

    cells: tuple[str, ...]
    role: str = ""


def table(
    columns: Sequence[Column],
    rows: Sequence[TableRow],
    screen: Screen,
    *,
    flexible: bool = False,
    wrapped: bool = False,
) -> str:
    """Lay out rows below a heading. With `flexible` the last column gets what is left of the width and is shortened to
    it; with `wrapped` its words continue on lines below.

    Lines never end in spaces, so that text is the same wherever it is copied from.
    """
    if screen.html:
        return _as_html(columns, rows)
    widths = [
        max(column.width, len(column.title), *(len(row.cells[i]) for row in rows), 0)
        for i, column in enumerate(columns)
    ]
    taken = sum(widths[:-1]) + sum(column.gap for column in columns[1:])
    if flexible:
        widths[-1] = max(len(columns[-1].title), screen.columns - taken)
    heading = _line([column.title for column in columns], columns, widths)
    lines = [screen.paint("strong", heading)]
    for row in rows:
        cells = [*row.cells[:-1], shorten(row.cells[-1], widths[-1])] if flexible else row.cells
        if wrapped:
            first, *more = flow(cells[-1].split(), screen.columns - taken, " ").split("\n")
            lines.append(screen.paint(row.role, _line([*cells[:-1], first], columns, widths)))
            lines += [screen.paint(row.role, " " * taken + each) for each in more]
            continue
        lines.append(screen.paint(row.role, _line(cells, columns, widths)))
    return "\n".join(lines)


def _as_html(columns: Sequence[Column], rows: Sequence[TableRow]) -> str:
    kinds = [' class="text"' if column.align == "<" else "" for column in columns]
    titles = "".join(
        f'<th scope="col"{kind}>{escape(column.title)}</th>' for kind, column in zip(kinds, columns, strict=True)
    )
    lines = [f"<table><thead><tr>{titles}</tr></thead><tbody>"]
    for row in rows:
        cells = "".join(f"<td{kind}>{escape(cell)}</td>" for kind, cell in zip(kinds, row.cells, strict=True))
        lines.append(f'<tr class="{row.role}">{cells}</tr>' if row.role else f"<tr>{cells}</tr>")
    return HTML + "\n".join([*lines, "</tbody></table>"]) + HTML


def _line(cells: Sequence[str], columns: Sequence[Column], widths: Sequence[int]) -> str:
    text = ""
    for i, (cell, column, width) in enumerate(zip(cells, columns, widths, strict=True)):
        text += " " * (column.gap if i else 0) + f"{cell:{column.align}{width}}"
    return text.rstrip()
