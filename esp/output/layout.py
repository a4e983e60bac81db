"""`esp layout` as text: boxes, filled with the digit or letter of their owner, or coloured on a terminal."""

from collections.abc import Mapping, Sequence

from msgspec import Struct, structs

from esp.inspect.doubts import Doubt
from esp.inspect.ownership import IndexRun, Picture, Plane, PlaneSide, ranks_text
from esp.output.numbers import memory, plural
from esp.output.screen import Screen, flow, paragraph, shorten
from esp.visible import inked

SYMBOLS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
"""Of the first processors; with more of them boxes carry numbers."""

_TALLEST = 16
"""Rows of characters of a picture."""

_WIDEST = 64

_LABEL = 12
"""Columns of the words in front of the notes."""

_COLOURS = (117, 215, 150, 211, 186, 147, 223, 116, 181, 156, 219, 110)
"""Light backgrounds of a terminal with 256 colours."""


class Shown(Struct, frozen=True, kw_only=True):
    """What `esp layout` shows. `arrangement`: the name that the program gives the grid, if any; `left`: arrays that
    every processor holds, with their bytes; `empty`: distributed arrays of size zero."""

    program: str
    procs: int
    arrangement: str
    grid: tuple[int, ...]
    pictures: tuple[Picture, ...]
    left: tuple[tuple[str, int], ...]
    empty: tuple[str, ...]
    doubts: tuple[Doubt, ...]


def layout(shown: Shown, screen: Screen, *, following: str = "") -> str:
    """The text; `following`: the next command worth typing."""
    shape = "x".join(map(str, shown.grid)) or "scalar"
    head = f"{shown.program}  {plural(shown.procs, 'processor')} ({f'{shown.arrangement} {shape}'.strip()})"
    blocks = [screen.paint("strong", head), *(_picture(each, screen) for each in shown.pictures)]
    if not shown.pictures:
        blocks.append(nothing(shown))
    notes = []
    if shown.left:
        each = ", ".join(f"{name} ({memory(size)})" for name, size in shown.left)
        notes.append(paragraph("everywhere", each, screen.columns, _LABEL))
    if shown.empty:
        each = f"{', '.join(shown.empty)}: no processor holds anything"
        notes.append(paragraph("empty", each, screen.columns, _LABEL))
    for doubt in shown.doubts:
        told = paragraph(doubt.kind, f"{doubt.text} (line {doubt.line}); {doubt.hint}", screen.columns, _LABEL)
        notes.append(told.replace(doubt.kind, screen.paint("warm", doubt.kind), 1))
    if following:
        notes.append(paragraph("next", following, screen.columns, _LABEL))
    return "\n\n".join([*blocks, *(["\n".join(notes)] if notes else [])]) + "\n"


def nothing(shown: Shown) -> str:
    """What is said where there is no picture."""
    return "The distributed arrays have no elements." if shown.empty else "No array is distributed."


def _picture(picture: Picture, screen: Screen) -> str:
    row = picture.row
    pieces = [f"{row.array}({row.bounds})", f"({row.dimensions})", f"on {row.grid}", f"{row.elements} elements each"]
    lines = [screen.paint("strong", line) for line in flow(pieces, screen.columns, "   ", "     ").split("\n")]
    if picture.same:
        others = [*(f"{name}," for name in picture.same[:-1]), picture.same[-1]]
        lines.append(flow(["  also", *others], screen.columns, " ", "     "))
    for plane in picture.planes:
        if plane.fixed:
            lines.append("  " + ", ".join(f"dimension {dim + 1}: {_range(run)}" for dim, run in plane.fixed))
        lines += _plane(picture, plane, screen)
    if picture.more:
        lines.append(f"  and {plural(picture.more, 'plane')} more")
    return "\n".join(lines)


class _Cut(Struct, frozen=True):
    """Runs that are drawn, how many characters each has, and whether some are left out."""

    runs: tuple[IndexRun, ...]
    sizes: tuple[int, ...]
    cut: bool


_ONE_ROW = _Cut((IndexRun(first=0, last=0, coordinate=None),), (1,), False)


def _plane(picture: Picture, plane: Plane, screen: Screen) -> list[str]:
    down, across = picture.down, picture.across
    margin = 2 + max((len(_range(run)) for run in down.runs), default=0) if down is not None else 2
    label = max(len(_label(box, picture.procs)) for line in plane.owners for box in line)
    room = min(_WIDEST, screen.columns - margin - 6)
    columns = _cut(across, room, label, 1)
    rows = _ONE_ROW if down is None else _cut(down, _TALLEST, 1, 0)
    border = " " * margin + " +" + "".join("-" * size + "+" for size in columns.sizes)
    lines = [_heading(columns, margin), border]
    for at, (run, height) in enumerate(zip(rows.runs, rows.sizes, strict=True)):
        boxes = plane.owners[at][: len(columns.runs)]
        for line in range(height):
            head = _range(run) if line == 0 and down is not None else ""
            inside = "|".join(
                _box(box, size, picture.procs, screen, labelled=line == (height - 1) // 2)
                for box, size in zip(boxes, columns.sizes, strict=True)
            )
            lines.append(f"{head:>{margin}} |{inside}|" + (" ..." if columns.cut and line == 0 else ""))
        lines.append(border)
    if rows.cut:
        lines.append(f"{'...':>{margin}}")
    return [line.rstrip() for line in lines]


def _cut(side: PlaneSide, room: int, least: int, gap: int) -> _Cut:
    """Shares the room between the runs in proportion to their lengths; runs that do not fit are left out."""
    many = max(1, min(len(side.runs), (room + gap) // (least + gap)))
    runs = side.runs[:many]
    spare = room - many * (least + gap)
    total = sum(run.length for run in runs)
    sizes = tuple(least + spare * run.length // total for run in runs)
    if gap == 0:  # rows of characters are twice as tall as wide: no more of them than show what is there
        tallest = 4 if many <= 4 else 2
        sizes = tuple(min(size, run.length, tallest) for size, run in zip(sizes, runs, strict=True))
    return _Cut(runs, sizes, many < len(side.runs) or not side.whole)


def _heading(columns: _Cut, margin: int) -> str:
    """The indices of each column of boxes above it, as far as there is room."""
    text = " " * (margin + 2)
    for run, size in zip(columns.runs, columns.sizes, strict=True):
        told = next((each for each in (_range(run), str(run.first)) if len(each) <= size), "")
        text += f"{told:<{size}} "
    return text + ("..." if columns.cut else "")


def _range(run: IndexRun) -> str:
    return str(run.first) if run.length == 1 else f"{run.first}:{run.last}"


def _label(box: tuple[int, ...], procs: int) -> str:
    if len(box) == 1 and procs <= len(SYMBOLS):
        return SYMBOLS[box[0]]
    return ranks_text(box)


def _box(box: tuple[int, ...], size: int, procs: int, screen: Screen, *, labelled: bool) -> str:
    label = _label(box, procs)
    if screen.colour:
        text = f"{shorten(label, size) if labelled else '':^{size}}"
        return inked(f"30;48;5;{_COLOURS[box[0] % len(_COLOURS)]}", text)
    if len(label) == 1 and procs <= len(SYMBOLS):
        return label * size
    return f"{label if labelled else '':^{size}}"


def as_json(shown: Shown) -> Mapping[str, object]:
    """What `--json` says; docs/inspect.md describes the fields."""
    return {
        "program": shown.program,
        "processors": shown.procs,
        "arrangement": shown.arrangement or None,
        "grid": list(shown.grid),
        "everywhere": [{"array": name, "bytes": size} for name, size in shown.left],
        "empty": list(shown.empty),
        "arrays": [_array(each) for each in shown.pictures],
        "doubts": [{**structs.asdict(each), "arrays": list(each.arrays)} for each in shown.doubts],
    }


def _array(picture: Picture) -> Mapping[str, object]:
    sides: Sequence[PlaneSide] = [side for side in (picture.down, picture.across) if side is not None]
    return {
        **structs.asdict(picture.row),
        "same": list(picture.same),
        "sides": [
            {
                "dimension": side.dim + 1,
                "whole": side.whole,
                "runs": [{"first": run.first, "last": run.last} for run in side.runs],
            }
            for side in sides
        ],
        "planes": [
            {
                "fixed": [{"dimension": dim + 1, "first": run.first, "last": run.last} for dim, run in plane.fixed],
                "owners": [[list(box) for box in row] for row in plane.owners],
            }
            for plane in picture.planes
        ],
        "more_planes": picture.more,
    }
