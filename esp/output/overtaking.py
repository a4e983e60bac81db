"""Where one of two programs, distributions or machines overtakes the other, as text, JSON and rows."""

from typing import Any

from esp.explore.overtaking import GROWTHS, CrossingPoint, Overtaking, OvertakingRow
from esp.output.columns import Column, TableRow, table
from esp.output.numbers import listed, percent, seconds, significant
from esp.output.screen import Screen, flow, paragraph, printable

_OFTEN = 0.05
"""Share of the scenarios below which nothing is said of them."""


def overtaking_text(found: Overtaking, screen: Screen) -> str:
    """Who is faster from where on, and how sure that is."""
    width = screen.columns
    first, second = printable(found.first), printable(found.second)
    head = screen.paint("strong", flow([first, f"against {second}"], width))
    sentence = screen.paint("strong", flow(_sentence(found).split(), width, " ", "     "))
    columns = [
        Column("procs", width=5),
        Column(found.parameter, width=5),
        Column("first", width=8),
        Column("second", width=8),
        Column("second faster in", width=16),
        Column("", "<"),
    ]
    rows = [
        TableRow(
            (
                f"{each.processors:,}",
                f"{each.size:,}",
                seconds(each.first_s),
                seconds(each.second_s),
                "-" if each.faster is None else percent(each.faster),
                _verdict(each),
            )
        )
        for each in found.rows
    ]
    notes = [paragraph("first", first, width), paragraph("second", second, width)]
    notes.append(paragraph("size", GROWTHS[found.growth], width))
    if sure := _sure(found):
        notes.append(paragraph("sure", sure, width))
    if found.missing:
        numbers = listed([f"{each:,}" for each in found.missing])
        notes.append(paragraph("missing", f"no size was found for {numbers} processors", width))
    return "\n\n".join([f"{head}\n{sentence}", table(columns, rows, screen), "\n".join(notes)]) + "\n"


def _verdict(row: OvertakingRow) -> str:
    if row.ties:
        return "tie"
    return "second" if row.second_s < row.first_s else "first"


def _sentence(found: Overtaking) -> str:
    """Who is faster from where on, or that it never changes."""
    first, second = printable(found.first), printable(found.second)
    low, high = found.rows[0].processors, found.rows[-1].processors
    apart = [each for each in found.rows if not each.ties]
    if not found.crossings:
        if not apart:
            return f"neither is faster on {low:,} to {high:,} processors"
        winner, loser = (second, first) if apart[-1].second_s < apart[-1].first_s else (first, second)
        return f"{loser} never overtakes {winner} on {low:,} to {high:,} processors"
    told = [_changed(each, first, second) for each in found.crossings]
    return f"{told[0]}" + "".join(f", {each}" for each in told[1:])


def _changed(point: CrossingPoint, first: str, second: str) -> str:
    winner = second if point.second else first
    return f"{winner} overtakes between {point.last:,} and {point.first:,} processors, at about {_about(point.about)}"


def _about(processors: float) -> str:
    return significant(processors, 2) if processors < 10 else f"{processors:,.0f}"


def _sure(found: Overtaking) -> str:
    """What the scenarios of the machine's parameters say of the last crossing."""
    apart = [each for each in found.rows if not each.ties]
    if found.inside is None or found.before is None or not apart:
        return ""
    is_second = found.crossings[-1].second if found.crossings else apart[-1].second_s > apart[-1].first_s
    who = "the second" if is_second else "the first"
    parts = []
    if found.low is not None and found.high is not None and found.inside >= _OFTEN:
        where = f"{who} overtakes between {_about(found.low)} and {_about(found.high)} processors"
        often = "" if found.inside > 1.0 - _OFTEN else f" in which it does ({percent(found.inside)})"
        parts.append(f"{where} in 90% of the scenarios{often}")
    if found.before >= _OFTEN:
        parts.append(f"{who} is always ahead in {percent(found.before)} of the scenarios")
    never = 1.0 - found.inside - found.before
    if never >= _OFTEN:
        parts.append(f"{who} never overtakes in {percent(never)} of the scenarios")
    return "; ".join(parts)


def overtaking_rows(found: Overtaking) -> list[dict[str, Any]]:
    """One row for each number of processors."""
    return [
        {
            "processors": each.processors,
            "size": each.size,
            "first_s": each.first_s,
            "second_s": each.second_s,
            "faster": each.faster,
            "ties": each.ties,
        }
        for each in found.rows
    ]


def overtaking_json(found: Overtaking) -> dict[str, Any]:
    """The fields of ``--json``; docs/json_other.md describes them."""
    return {
        "first": found.first,
        "second": found.second,
        "parameter": found.parameter,
        "growth": found.growth,
        "rows": overtaking_rows(found),
        "crossings": [
            {"last": each.last, "first": each.first, "about": each.about, "second": each.second}
            for each in found.crossings
        ],
        "low": found.low,
        "high": found.high,
        "inside": found.inside,
        "before": found.before,
        "missing": list(found.missing),
    }
