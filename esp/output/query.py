"""`esp query` as a table, JSON or comma-separated values."""

from collections.abc import Mapping, Sequence
from typing import Any

from esp.inspect.query import QueryPart, total
from esp.output.cells import csv_text
from esp.output.columns import Column, TableRow, table
from esp.output.numbers import count, data, percent, percentages, plural, seconds
from esp.output.partial import partial_lines, reasons_said
from esp.output.screen import Screen, printable
from esp.prediction import CATEGORIES

_FIELDS = (
    "name",
    "lines",
    "aaus",
    "executions",
    "time_s",
    *(f"{name}_s" for name in CATEGORIES),
    "messages",
    "bytes",
    "misses",
)


def rows(said: Mapping[str, Any], parts: Sequence[QueryPart], screen: Screen, notes: Sequence[str] = ()) -> str:
    """The table, with what they take together below, and `notes` on the prediction."""
    head = "".join(f"{each}\n" for each in partial_lines(reasons_said(said), screen))
    if not parts:
        return f"{head}No part of {said['file']} meets all conditions.\n"
    wide, widest = screen.columns >= 72, screen.columns >= 100
    columns = [
        Column("aau", width=3),
        Column("line", width=4),
        Column("time", width=7),
        Column("comp", width=4),
        Column("comm", width=4, gap=1),
        Column("wait", width=4, gap=1),
        Column("ovhd", width=4, gap=1),
        *([Column("msgs", width=5), Column("bytes", width=7, gap=1)] if wide else []),
        *([Column("misses", width=6)] if widest else []),
        Column("what", "<"),
    ]
    body = [_row(each, wide, widest) for each in parts]
    whole = total(parts)
    if len(parts) > 1:
        body.append(_row(whole, wide, widest, role="strong", every=True))
    share = whole.time_s / said["time_s"] if said["time_s"] else 0.0
    units = plural(len(whole.aaus), "unit")
    least = "" if said.get("complete", True) else "at least "
    note = f"{units}, {percent(share)} of the {least}{seconds(said['time_s'])} that the program takes"
    below = "".join(f"{each}\n" for each in (note, *notes))
    return f"{head}{table(columns, body, screen, flexible=True)}\n\n{below}"


def _row(part: QueryPart, wide: bool, widest: bool, *, role: str = "", every: bool = False) -> TableRow:
    shares = [f"{each}%" if part.time_s > 0 else "" for each in percentages(part.parts_s)]
    moved = [count(part.messages), data(part.bytes)] if part.messages else ["", ""]
    aaus = "" if every else str(part.aaus[0]) if len(part.aaus) == 1 else f"{part.aaus[0]}.."
    lines = "" if every or not part.lines else str(part.lines[0]) + (".." if len(part.lines) > 1 else "")
    cells = [
        aaus,
        lines,
        seconds(part.time_s),
        *shares,
        *(moved if wide else []),
        *([count(round(part.misses)) if part.misses else ""] if widest else []),
        printable(part.name),
    ]
    return TableRow(tuple(cells), role)


def as_json(said: Mapping[str, Any], parts: Sequence[QueryPart]) -> Mapping[str, object]:
    """What `--json` says; docs/inspect.md describes the fields."""
    whole = total(parts)
    return {
        "file": said["file"],
        "system": said["system"],
        "processors": said["processors"],
        "time_s": said["time_s"],
        "share": whole.time_s / said["time_s"] if said["time_s"] else 0.0,
        "complete": said["complete"],
        "partial": list(reasons_said(said)),
        "together": _fields(whole),
        "parts": [_fields(each) for each in parts],
    }


def _fields(part: QueryPart) -> Mapping[str, object]:
    values = (
        part.name,
        list(part.lines),
        list(part.aaus),
        part.executions,
        part.time_s,
        *part.parts_s,
        part.messages,
        part.bytes,
        part.misses,
    )
    return dict(zip(_FIELDS, values, strict=True))


def as_csv(parts: Sequence[QueryPart]) -> str:
    """One row for each part; lines and units are joined by blanks."""
    return csv_text(
        _FIELDS,
        (
            [" ".join(map(str, value)) if isinstance(value, list) else value for value in _fields(each).values()]
            for each in parts
        ),
    )
