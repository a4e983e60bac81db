"""A drawing as SVG: one file, no script, no URL but the name of the format."""

from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape, quoteattr

from msgspec import Struct

from esp.inspect.drawing import CHARACTER, LINE, MARGIN, Arrow, Box, Drawing

_FILLS = {
    "Comm": "#cfe3f7",
    "SyncSeq": "#cfe3f7",
    "Start": "#e6e6e6",
    "End": "#e6e6e6",
    "network": "#cfe3f7",
    "link": "#cfe3f7",
    "node": "#dff0d8",
    "host": "#e6e6e6",
}

_STROKES = {"next": "#333333", "contains": "#888888", "communication": "#1f5fa8"}

_LANE = 16.0
"""Distance between the curves of communication edges that pass each other."""


class Curve(Struct, frozen=True):
    """How far to the right an edge swings, and where its label stands."""

    out: float
    label_y: float


def svg(drawing: Drawing, heat: Mapping[str, float] | None = None) -> str:
    """The text of the file. `heat`: share of the time of each box, from 0 to 1, which colours it."""
    by_id = {each.id: each for each in drawing.boxes}
    aside = [arrow for arrow in drawing.arrows if arrow.kind == "communication"]
    curves = _curves(drawing, by_id, aside)
    words = [curve.out + MARGIN + len(arrow.label) * CHARACTER for arrow, curve in curves.items()]
    width = max([drawing.width, *words]) + MARGIN
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{drawing.height:.0f}" '
        f'viewBox="0 0 {width:.0f} {drawing.height:.0f}" font-family="monospace" font-size="12">'
    )
    parts = [
        head,
        "<defs>",
        *(_tip(kind, stroke) for kind, stroke in _STROKES.items()),
        "</defs>",
        f'<rect width="{width:.0f}" height="{drawing.height:.0f}" fill="#ffffff"/>',
    ]
    parts += [_box(each, None if heat is None else heat.get(each.id, 0.0)) for each in drawing.boxes]
    parts += [_arrow(arrow, by_id[arrow.source], by_id[arrow.target], curves.get(arrow)) for arrow in drawing.arrows]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _curves(drawing: Drawing, by_id: Mapping[str, Box], arrows: Sequence[Arrow]) -> dict[Arrow, Curve]:
    """Swings around all boxes that an edge passes; edges side by side get lanes of their own, short ones the inner."""
    leaves = [each for each in drawing.boxes if not each.frame]
    taken: list[list[tuple[float, float]]] = []
    labels: list[float] = []
    found: dict[Arrow, Curve] = {}
    for arrow in sorted(arrows, key=lambda one: abs(by_id[one.source].y - by_id[one.target].y)):
        ends = [by_id[arrow.source], by_id[arrow.target]]
        low, high = min(each.y for each in ends), max(each.y + LINE for each in ends)
        right = max(
            [each.x + each.width for each in leaves if each.y < high and each.y + each.height > low]
            + [each.x + each.width for each in ends]
        )
        lane = next((at for at, spans in enumerate(taken) if all(high < a or low > b for a, b in spans)), len(taken))
        if lane == len(taken):
            taken.append([])
        taken[lane].append((low, high))
        middle = (low + high) / 2
        while any(abs(middle - other) < LINE for other in labels):
            middle += LINE / 2
        labels.append(middle)
        found[arrow] = Curve(right + _LANE * (lane + 1), middle)
    return found


def _tip(kind: str, stroke: str) -> str:
    return (
        f'<marker id="{kind}" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M0,0 L8,4 L0,8 z" fill="{stroke}"/></marker>'
    )


def _box(box: Box, heat: float | None) -> str:
    fill = "none" if box.frame else _FILLS.get(box.kind, "#f7f4e9")
    if heat is not None and not box.frame:
        # White to red: a square root, so that a tenth of the time can be seen.
        pale = round(255 - 170 * max(0.0, min(1.0, heat)) ** 0.5)
        fill = f"#ff{pale:02x}{pale:02x}"
    look = f'fill="{fill}" stroke="#333333" rx="{3 if box.frame else 6}"'
    place = f'x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}"'
    texts = "".join(
        f'<text x="{box.x + MARGIN:.1f}" y="{box.y + LINE * (number + 1):.1f}"'
        f"{' font-weight=' + quoteattr('bold') if number == 0 else ''}>{escape(line)}</text>"
        for number, line in enumerate(box.lines)
    )
    return f"<g id={quoteattr(box.id)}><title>{escape(box.tip)}</title><rect {place} {look}/>{texts}</g>"


def _arrow(arrow: Arrow, source: Box, target: Box, curve: Curve | None) -> str:
    look = f'fill="none" stroke="{_STROKES[arrow.kind]}" marker-end="url(#{arrow.kind})"'
    if curve is not None:
        look += ' stroke-dasharray="5 3"'
        x, y = source.x + source.width, source.y + LINE
        to_x, to_y = target.x + target.width, target.y + LINE + 4
        # A cubic comes to three quarters of the way to its control points.
        bend = max(x, to_x) + (curve.out - max(x, to_x)) / 0.75
        path = f"M{x:.1f},{y:.1f} C{bend:.1f},{y:.1f} {bend:.1f},{to_y:.1f} {to_x:.1f},{to_y:.1f}"
        at = (curve.out + 4, curve.label_y)
    else:
        below = arrow.kind == "contains"
        x, y = source.x + (source.width / 2 if below else 2 * MARGIN), source.y + source.height
        to_x, to_y = target.x + (target.width / 2 if below else 2 * MARGIN), target.y
        path = f"M{x:.1f},{y:.1f} L{to_x:.1f},{to_y:.1f}"
        at = ((x + to_x) / 2 + 4, (y + to_y) / 2)
    text = (
        ""
        if not arrow.label
        else (f'<text x="{at[0]:.1f}" y="{at[1]:.1f}" fill="{_STROKES[arrow.kind]}">{escape(arrow.label)}</text>')
    )
    ends = f'data-source={quoteattr(arrow.source)} data-target={quoteattr(arrow.target)} data-kind="{arrow.kind}"'
    return f'<g {ends}><path d="{path}" {look}/>{text}</g>'
