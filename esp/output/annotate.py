"""The whole source with the time of each line beside it, and single lines or AAUs in detail."""

from collections.abc import Sequence

from esp.errors import UsageError
from esp.output.columns import Column, TableRow, table
from esp.output.figures import grid, messages, missed_by_all, place, uncharged, without_rounding
from esp.output.numbers import count, data, percentages, plural, seconds
from esp.output.profile import line_table
from esp.output.screen import Screen, flow, paragraph, printable
from esp.prediction import CATEGORIES, Prediction, first, four
from interpreter.result import AauMetrics, LineMetrics

_ROOM_FOR_ALL = 100
"""Columns from which all figures leave enough room for the source."""


def annotated(prediction: Prediction, screen: Screen) -> str:
    """Every line of the source with its time, categories and messages; below, what other files add.

    On a narrow screen the source has the room of the bytes, and waiting and overhead share a column.
    A ``?`` beside its number marks a line whose statement could not be charged.
    """
    found = {each.line: each for each in prediction.lines if each.file == prediction.file}
    total_s = first(prediction.time_s)
    blamed = {line for file, line in uncharged(prediction) if file == prediction.file}
    digits = len(str(len(prediction.lines_text))) + bool(blamed)
    narrow = screen.columns < _ROOM_FOR_ALL
    wide = [Column("wait", width=4, gap=1), Column("ovhd", width=4, gap=1), Column("bytes", width=7, gap=1)]
    columns = [
        Column("time", width=7),
        Column("comp", width=4),
        Column("comm", width=4, gap=1),
        *([Column("rest", width=4, gap=1)] if narrow else wide[:2]),
        Column("msgs", width=5),
        *([] if narrow else wide[2:]),
        Column("line", width=digits),
        Column("source", "<"),
    ]
    rows = []
    for number, text in enumerate(prediction.lines_text, 1):
        figures, role = _cells(found.get(number), total_s, narrow=narrow)
        mark = "?" if number in blamed else " " * bool(blamed)
        rows.append(TableRow((*figures, f"{number}{mark}", printable(text)), "warm" if number in blamed else role))
    shown = table(columns, rows, screen, flexible=True)
    strangers = tuple(each for each in prediction.lines if each.file != prediction.file)
    if strangers:
        shown += "\n\n" + line_table(prediction, strangers, screen)
    return shown + "\n"


def _cells(line: LineMetrics | None, total_s: float, *, narrow: bool) -> tuple[list[str], str]:
    time_s = 0.0 if line is None else without_rounding(first(line.parts.time_s), total_s)
    if line is None or (time_s <= 0 and not line.messages):
        return [""] * (5 if narrow else 7), "faint"
    share = time_s / total_s if total_s > 0 else 0.0
    shares = percentages(four(line.parts))
    shares = (*shares[:2], sum(shares[2:])) if narrow else shares
    figures = [seconds(time_s), *(f"{each}%" for each in shares)]
    figures += [count(line.messages), data(line.bytes)] if line.messages else ["", ""]
    figures = figures[:-1] if narrow else figures
    return figures, "hot" if share >= 0.5 else "warm" if share >= 0.1 else ""


def lines_in_detail(prediction: Prediction, ranges: Sequence[tuple[int, int]], screen: Screen) -> str:
    """The lines of `ranges` (first and last of each) with all AAUs on them.

    Raises:
        UsageError: the source has no such line.
    """
    last = len(prediction.lines_text)
    texts = [f"{start}-{end}" if end != start else str(start) for start, end in ranges]
    for (start, end), text in zip(ranges, texts, strict=True):
        if not 1 <= start <= last or end < start:
            raise UsageError(f"{prediction.file} has lines 1 to {last}.", where=f"--lines {text}")
    numbers = {line for start, end in ranges for line in range(start, min(end, last) + 1)}
    chosen = tuple(each for each in prediction.lines if each.line in numbers and each.file == prediction.file)
    if not chosen:
        one = len(numbers) == 1
        named = f"Line {texts[0]} takes" if one else f"Lines {', '.join(texts)} take"
        return f"{named} no time of {'its' if one else 'their'} own; esp explain gives the reason.\n"
    blocks = [line_table(prediction, chosen, screen)]
    by_id = {each.id: each for each in prediction.aaus}
    for line in chosen:
        inside = [by_id[number] for number in line.aaus if number in by_id]
        lines = [screen.paint("strong", _line_heading(prediction, line, screen))]
        lines += ["", aau_table(inside, screen)] if inside else []
        lines += [_details(each, prediction.processors, screen) for each in inside]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def _line_heading(prediction: Prediction, line: LineMetrics, screen: Screen) -> str:
    pieces = [f"line {place(line, prediction.file)}", f"mean {seconds(first(line.parts.time_s))}"]
    pieces += [f"{name} {seconds(each)}" for name, each in zip(CATEGORIES, four(line.parts), strict=True)]
    if line.messages:
        pieces.append(f"messages {count(line.messages)} ({data(line.bytes)})")
    if line.max_s is not None:
        pieces.append(f"most {seconds(first(line.max_s))} (processor {line.max_processor})")
    return flow(pieces, screen.columns, "   ", "     ")


def aau_table(aaus: Sequence[AauMetrics], screen: Screen) -> str:
    """AAUs with their own time, and with all that is inside them."""
    columns = [
        Column("aau", width=3),
        Column("kind", "<", 9),
        Column("total", width=7),
        Column("own", width=7, gap=1),
        Column("comp", width=4),
        Column("comm", width=4, gap=1),
        Column("wait", width=4, gap=1),
        Column("ovhd", width=4, gap=1),
        Column("runs", width=5),
        Column("what", "<"),
    ]
    rows = []
    longest_s = max((first(each.total_s) for each in aaus), default=0.0)
    for aau in aaus:
        own_s = without_rounding(first(aau.parts.time_s), longest_s)
        shares = [f"{each}%" if own_s > 0 else "" for each in percentages(four(aau.parts))]
        times = [seconds(first(aau.total_s)), seconds(own_s)]
        rows.append(TableRow((str(aau.id), aau.kind, *times, *shares, count(aau.executions), printable(aau.label))))
    return table(columns, rows, screen, flexible=True)


def _details(aau: AauMetrics, processors: int, screen: Screen) -> str:
    pieces = []
    if aau.comm is not None:
        pieces.append(messages(aau.comm, processors))
    if aau.max_s is not None:
        pieces.append(f"most {seconds(first(aau.max_s))} (processor {aau.max_processor})")
    if aau.misses > 0:
        pieces.append(missed_by_all(aau.misses))
    pieces.append(f"last ended at {seconds(first(aau.clock_s))}")
    return paragraph(f"aau {aau.id}", "; ".join(pieces), screen.columns)


def aau_in_detail(prediction: Prediction, number: int, screen: Screen) -> str:
    """One AAU: where it stands, its time, and the AAUs inside it.

    Raises:
        UsageError: the graph has no AAU of that number.
    """
    by_id = {each.id: each for each in prediction.aaus}
    if number not in by_id:
        known = f"The AAUs of this program are 0 to {max(by_id)}." if by_id else "This program has none."
        raise UsageError(known, where=f"--aau {number}", hint="--aau all lists them.")
    aau = by_id[number]
    place_of = f"{aau.span.file}:{aau.span.line}" if aau.span.line else "no line"
    above = "" if aau.parent is None else f"   inside AAU {aau.parent}"
    head = f"AAU {aau.id} {aau.kind}   {printable(aau.label)}   {place_of}{above}"
    inside = [each for each in prediction.aaus if each.parent == number]
    blocks = [screen.paint("strong", head), aau_table([aau, *inside], screen)]
    blocks.append(_details(aau, prediction.processors, screen))
    return "\n\n".join(blocks) + "\n"


def all_aaus(prediction: Prediction, screen: Screen) -> str:
    """All AAUs in program order."""
    head = f"{plural(len(prediction.aaus), 'AAU')} on {plural(prediction.processors, 'processor')}"
    shape = f" ({grid(prediction.grid)})" if prediction.grid else ""
    return f"{head}{shape}\n\n{aau_table(prediction.aaus, screen)}\n"
