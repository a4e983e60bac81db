"""Where the boxes of a graph go: nested frames for a program, layers for a machine. Pixels, no colours, no format.

A program runs downwards: units in sequence stand below each other, what is inside a compound unit in a frame of it, the
branches of a conditional side by side. A machine is a tree: each layer below the one it refines.
"""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from aag.graph import aau as g
from aag.graph.links import bodies, links
from sag.unit import LETTERS, Compound, System, SystemUnit

CHARACTER = 7.3
"""Width of a character of the drawing's 12 pixel monospace."""

LINE = 16.0
MARGIN = 12.0
GAP = 18.0
LONGEST = 48
"""Characters of a label that are shown; the whole is its tooltip."""


class Box(Struct, frozen=True, kw_only=True):
    """A rectangle with its lines of text; `frame`: others are inside it."""

    id: str
    lines: tuple[str, ...]
    tip: str
    kind: str
    x: float
    y: float
    width: float
    height: float
    frame: bool = False


class Arrow(Struct, frozen=True, kw_only=True):
    """From box to box. `kind`: next, contains or communication."""

    source: str
    target: str
    kind: str
    label: str = ""


class Drawing(Struct, frozen=True, kw_only=True):
    """Boxes, outer ones before those inside them, and the arrows between them."""

    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    width: float
    height: float


def of_graph(graph: g.Graph, notes: Mapping[int, str] | None = None) -> Drawing:
    """The drawing of an application graph; `notes`: a further line for some units."""
    told = notes or {}
    boxes: list[Box] = []
    width, height = _sequence(graph.body, MARGIN, MARGIN, told, boxes)
    arrows = [
        Arrow(source=f"a{each.source}", target=f"a{each.target}", kind=each.kind, label=each.label)
        for each in links(graph)
        if each.kind != "contains"
    ]
    return Drawing(boxes=tuple(boxes), arrows=tuple(arrows), width=width + 2 * MARGIN, height=height + 2 * MARGIN)


def _sequence(
    body: Iterable[g.AAU], x: float, y: float, notes: Mapping[int, str], boxes: list[Box]
) -> tuple[float, float]:
    """Places units below each other; the answer is the room they take."""
    widest, top = 0.0, y
    for aau in body:
        wide, high = _unit(aau, x, y, notes, boxes)
        widest = max(widest, wide)
        y += high + GAP
    return widest, max(0.0, y - GAP - top)


def _unit(aau: g.AAU, x: float, y: float, notes: Mapping[int, str], boxes: list[Box]) -> tuple[float, float]:
    name = type(aau).__name__
    at = f", line {aau.span.line}" if aau.span.line else ""
    lines = (f"{aau.id} {name}{at}", _short(aau.label), *([notes[aau.id]] if aau.id in notes else ()))
    width = max(map(len, lines)) * CHARACTER + 2 * MARGIN
    height = len(lines) * LINE + MARGIN
    place = len(boxes)
    inside = bodies(aau)
    left = x + MARGIN
    tallest = 0.0
    for _, body in inside:
        wide, high = _sequence(body, left, y + height + MARGIN / 2, notes, boxes)
        left += wide + GAP
        tallest = max(tallest, high)
    if inside:
        width = max(width, left - GAP + MARGIN - x)
        height += tallest + 1.5 * MARGIN
    box = Box(
        id=f"a{aau.id}", lines=lines, tip=aau.label, kind=name, x=x, y=y, width=width, height=height, frame=bool(inside)
    )
    boxes.insert(place, box)
    return width, height


def of_system(system: System) -> Drawing:
    """The drawing of a machine."""
    boxes: list[Box] = []
    arrows: list[Arrow] = []
    width, height = _tree(system.root, (), MARGIN, MARGIN, boxes, arrows)
    return Drawing(boxes=tuple(boxes), arrows=tuple(arrows), width=width + 2 * MARGIN, height=height + 2 * MARGIN)


def _tree(
    unit: SystemUnit, path: tuple[str, ...], x: float, y: float, boxes: list[Box], arrows: list[Arrow]
) -> tuple[float, float]:
    """Places a unit above those that refine it; the answer is the room they take."""
    lines = (f"{unit.id} {unit.name}", _short(unit.title), states(unit))
    width = max(map(len, lines)) * CHARACTER + 2 * MARGIN
    height = len(lines) * LINE + MARGIN
    name = path_name(unit, path)
    left, lowest = x, 0.0
    for child in unit.children:
        wide, high = _tree(child, (*path, child.name), left, y + height + 3 * GAP, boxes, arrows)
        left += wide + GAP
        lowest = max(lowest, high + 3 * GAP)
        arrows.append(
            Arrow(
                source=name, target=path_name(child, (*path, child.name)), kind="contains", label=refined(unit, child)
            )
        )
    room = max(width, left - GAP - x)
    boxes.append(
        Box(
            id=name,
            lines=lines,
            tip=unit.title,
            kind=unit.role,
            x=x + (room - width) / 2,
            y=y,
            width=width,
            height=height,
        )
    )
    return room, height + lowest


def path_name(unit: SystemUnit, path: Sequence[str]) -> str:
    """What a unit is called in graphs: its path, the root its name."""
    return ".".join(path) or unit.name


def states(unit: SystemUnit) -> str:
    """The components of a unit: ``P simple  M void ...``."""
    return "  ".join(f"{LETTERS[name]} {type(content).__name__.lower()}" for name, content in unit.components.items())


def refined(unit: SystemUnit, child: SystemUnit) -> str:
    """The components of a unit that a child of it refines, by their letters."""
    return " ".join(
        LETTERS[name]
        for name, content in unit.components.items()
        if isinstance(content, Compound) and child.name in content.units
    )


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 3].rstrip() + "..."
