"""`esp layout -o x.svg`: one picture for each array, boxes in proportion, colours by processor. No URL in it but the
name of the format, no script. Pages take the drawings one by one (`drawings`)."""

from colorsys import hls_to_rgb
from xml.sax.saxutils import escape

from aag.wording import plural
from esp.inspect.ownership import IndexRun, Picture, Plane, ranks_text
from esp.output.layout import Shown

_SIDE = 320
"""Length of the longer side of a picture in pixels."""

_LEAST = 48
_MARGIN = 70
_LINE = 18
_CHARACTER = 7

_GOLDEN_ANGLE = 137.508
"""Degrees between the hues of neighbouring ranks, so that neighbours never look alike."""


_INK = ' fill="#1d2329"'
"""Of words on a box: boxes are light whatever the page is."""

_QUOTE = {'"': "&quot;"}


def svg(shown: Shown) -> str:
    """The whole page of pictures."""
    parts: list[str] = []
    height = _LINE * 2
    width = _SIDE + 2 * _MARGIN
    parts.append(_text(10, _LINE, f"{shown.program}, {plural(shown.procs, 'processor')} ({shown.grid})", bold=True))
    for picture in shown.pictures:
        for plane in picture.planes:
            title = _title(picture, plane)
            parts.append(_text(10, height + _LINE, title))
            width = max(width, 20 + _CHARACTER * len(title))
            drawn, tall = _plane(picture, plane, height + _LINE)
            parts += drawn
            height += tall + _LINE
    for doubt in shown.doubts:
        words = f"{doubt.kind}: {doubt.text} (line {doubt.line})"
        parts.append(_text(10, height, words))
        width = max(width, 20 + _CHARACTER * len(words))
        height += _LINE
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height + 10}" '
        f'viewBox="0 0 {width} {height + 10}" font-family="sans-serif" font-size="12">'
    )
    return "\n".join([head, f'<rect width="{width}" height="{height + 10}" fill="#ffffff"/>', *parts, "</svg>"]) + "\n"


def drawings(picture: Picture) -> tuple[tuple[str, str], ...]:
    """Each plane of a picture: its title, and an SVG element to stand inside a page."""
    made = []
    for plane in picture.planes:
        parts, tall = _plane(picture, plane, 0)
        size = f'width="{_SIDE + _MARGIN + 10}" height="{tall}" viewBox="0 0 {_SIDE + _MARGIN + 10} {tall}"'
        inside = "\n".join(parts)
        title = _title(picture, plane)
        described = f'role="img" aria-label="{escape(title, _QUOTE)}: {_description(plane)}"'
        made.append((title, f'<svg {described} {size} font-size="12">\n{inside}\n</svg>'))
    return tuple(made)


def _description(plane: Plane) -> str:
    """The owners of the boxes, row by row."""
    return "; ".join(", ".join(ranks_text(box) for box in line) for line in plane.owners)


def _title(picture: Picture, plane: Plane) -> str:
    row = picture.row
    title = f"{', '.join([row.array, *picture.same])}({row.bounds}) is ({row.dimensions}) on {row.grid}"
    title += "".join(f", dimension {dim + 1}: {run.first}:{run.last}" for dim, run in plane.fixed)
    cut = not picture.across.whole or (picture.down is not None and not picture.down.whole)
    return title + (", the beginning" if cut else "")


def _plane(picture: Picture, plane: Plane, top: int) -> tuple[list[str], int]:
    columns = picture.across.runs
    rows = (IndexRun(first=1, last=1, coordinate=None),) if picture.down is None else picture.down.runs
    wide, tall = sum(run.length for run in columns), sum(run.length for run in rows)
    scale = _SIDE / max(wide, tall)
    across = max(_LEAST, scale * wide) / wide
    along = max(_LEAST, scale * tall) / tall
    parts: list[str] = []
    y = top + 1.0 * _LINE + 4
    start = y
    for at, vertical in enumerate(rows):
        x, high = float(_MARGIN), along * vertical.length
        if picture.down is not None and high >= 10:
            parts.append(_text(_MARGIN - 6, y + high / 2 + 4, f"{vertical.first}:{vertical.last}", anchor="end"))
        for number, run in enumerate(columns):
            broad = across * run.length
            if at == 0 and broad >= 8 * len(f"{run.first}:{run.last}"):
                parts.append(_text(x + broad / 2, y - 4, f"{run.first}:{run.last}", anchor="middle"))
            parts += _box(plane.owners[at][number], (x, y, broad, high))
            x += broad
        y += high
    return parts, round(y - start) + 2 * _LINE + 10


def _box(owners: tuple[int, ...], place: tuple[float, float, float, float]) -> list[str]:
    x, y, broad, high = place
    name = ranks_text(owners)
    look = f'fill="{_colour(owners[0])}" stroke="#444444" stroke-width="0.5"'
    box = f'x="{x:.2f}" y="{y:.2f}" width="{broad:.2f}" height="{high:.2f}"'
    parts = [f"<rect {box} {look}><title>processor {name}</title></rect>"]
    if broad >= 8 * len(name) and high >= 12:
        parts.append(_text(x + broad / 2, y + high / 2 + 4, name, anchor="middle", look=_INK))
    return parts


def _colour(rank: int) -> str:
    """A light colour of its own for each rank."""
    parts = hls_to_rgb(rank * _GOLDEN_ANGLE % 360 / 360, 0.78, 0.65)
    return "#" + "".join(f"{round(255 * part):02x}" for part in parts)


def _text(x: float, y: float, words: str, *, anchor: str = "start", bold: bool = False, look: str = "") -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:.2f}" y="{y:.2f}" text-anchor="{anchor}"{weight}{look}>{escape(words)}</text>'
