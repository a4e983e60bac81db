"""What-ifs as a table, JSON and CSV."""

from typing import Any

from aag.wording import plural
from esp.explore.whatif import WhatIf, WhatIfOutcome
from esp.incomplete import lines
from esp.output.cells import rows_as_csv
from esp.output.columns import Column, TableRow, table
from esp.output.figures import placed
from esp.output.numbers import percentages, seconds
from esp.output.partial import partial_notes
from esp.output.profile import asked_for, heading, result_notes
from esp.output.screen import Screen, paragraph
from esp.prediction import CATEGORIES, first, of_scenario
from interpreter.result import Parts

_ROOM_FOR_SHARES = 72
"""Columns from which the categories are shown."""


def what_if_text(found: WhatIf, screen: Screen, *, following: str = "") -> str:
    """The base and each change: time, categories, and which lines moved by how much."""
    base = found.base
    columns = [
        Column("what if", "<"),
        Column("time", width=8),
        Column("vs base", width=7, gap=1),
        Column("comp", width=4),
        Column("comm", width=4, gap=1),
        Column("wait", width=4, gap=1),
        Column("ovhd", width=4, gap=1),
        Column("lines that moved", "<"),
    ]
    narrow = screen.columns < _ROOM_FOR_SHARES
    labels = max(len("what if"), *(len(each.label) for each in found.outcomes))
    room = screen.columns - labels - 2 - 8 - 1 - 7 - (0 if narrow else 21) - 2
    rows = [TableRow(("base", seconds(first(base.time_s)), "", *_shares(base.parts, 0), ""))]
    for each in found.outcomes:
        shares = _shares(each.prediction.parts, each.scenario)
        change = _change(each.time_s, first(base.time_s))
        cells = (each.label, seconds(each.time_s), change, *shares, _moved(each, base.file, room))
        rows.append(TableRow(cells, "good" if each.time_s < first(base.time_s) * 0.995 else ""))
    if narrow:
        columns = [*columns[:3], columns[-1]]
        rows = [TableRow((*row.cells[:3], row.cells[-1]), row.role) for row in rows]
    told = partial_notes([base, *(each.prediction for each in found.outcomes)], screen)
    head = "\n".join([heading(base, screen).split("\n")[0], *asked_for(base, screen), *told])
    notes = []
    unmoved = found.unmoved()
    if unmoved:
        verb = "moves" if len(unmoved) == 1 else "move"
        where = [placed(file, line, base.file) for file, line in unmoved]
        text = f"{lines(where)} {verb} by less than {seconds(found.hardly_s)}"
        notes.append(paragraph("unmoved", text, screen.columns))
    notes += [paragraph(each.label, text, screen.columns) for each in found.outcomes if (text := _does_not_fit(each))]
    notes += result_notes(base, screen)
    if following:
        notes.append(paragraph("next", following, screen.columns))
    return "\n\n".join([head, table(columns, rows, screen, flexible=True), "\n".join(notes)]) + "\n"


def _shares(parts: Parts, scenario: int) -> list[str]:
    return [f"{share}%" for share in percentages(_four(parts, scenario))]


def _four(parts: Parts, scenario: int) -> list[float]:
    rows = (getattr(parts, f"{name}_s") for name in CATEGORIES)
    return [of_scenario(row, scenario) for row in rows]


def _change(time_s: float, base_s: float) -> str:
    share = time_s / base_s - 1.0 if base_s > 0 else 0.0
    if abs(share) < 0.0005:
        return "0%"
    return f"{100 * share:+.1f}%" if abs(share) < 0.995 else f"{100 * share:+,.0f}%"


def _moved(outcome: WhatIfOutcome, main_file: str, room: int) -> str:
    """``36 -43 ms, 38 -2 ms``, as many as there is room for; the others are counted."""
    told = [
        f"{placed(each.file, each.line, main_file)} {'+' if each.by_s > 0 else '-'}{seconds(abs(each.by_s))}"
        for each in outcome.moved
    ]
    for kept in range(len(told), 0, -1):
        more = len(told) - kept
        text = ", ".join(told[:kept]) + (f", +{more} more" if more else "")
        if len(text) <= room:
            return text
    return plural(len(told), "line") if told else "none"


def _does_not_fit(outcome: WhatIfOutcome) -> str:
    return "" if outcome.prediction.fits else "data and copies would not fit in the memory of a node"


def what_if_json(found: WhatIf) -> str:
    """The JSON text; docs/explore.md describes its fields."""
    from esp.output.json import text_of

    base = found.base
    told: dict[str, Any] = {
        "file": base.file,
        "system": base.system,
        "processors": base.processors,
        "grid": list(base.grid),
        "base": {"time_s": first(base.time_s), **_parts(base.parts, 0)},
        "changes": [
            {
                "change": each.label,
                "time_s": each.time_s,
                **_parts(each.prediction.parts, each.scenario),
                "moved": [
                    {"file": line.file, "line": line.line, "before_s": line.before_s, "after_s": line.after_s}
                    for line in each.moved
                ],
            }
            for each in found.outcomes
        ],
        "unmoved": [line for file, line in found.unmoved() if file == found.base.file],
    }
    return text_of(told)


def _parts(parts: Parts, scenario: int) -> dict[str, float]:
    return {f"{name}_s": each for name, each in zip(CATEGORIES, _four(parts, scenario), strict=True)}


def what_if_rows(found: WhatIf) -> list[dict[str, object]]:
    """One row for the base and each change; `moved`: the lines that a change moves."""
    base = found.base
    rows: list[dict[str, object]] = [
        {"change": "base", "time_s": first(base.time_s), **_parts(base.parts, 0), "moved": ""}
    ]
    for each in found.outcomes:
        moved = " ".join(placed(line.file, line.line, found.base.file) for line in each.moved)
        parts = _parts(each.prediction.parts, each.scenario)
        rows.append({"change": each.label, "time_s": each.time_s, **parts, "moved": moved})
    return rows


def what_if_csv(found: WhatIf) -> str:
    """One row for the base and each change: SI units, full precision."""
    return rows_as_csv(what_if_rows(found))
