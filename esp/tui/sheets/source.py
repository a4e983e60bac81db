"""The annotated source: every line with its time, as hot as it is."""

from esp.output.figures import uncharged, without_rounding
from esp.output.numbers import count, data
from esp.output.screen import printable
from esp.prediction import Prediction, first, four
from esp.tui.lines import Cell, Field, Sheet, SheetLayout, SheetLine
from esp.tui.sheets.figures import bar, change, level, share_cells, time_cell
from esp.tui.state import State, base, prediction, sort_of
from interpreter.result import LineMetrics

_WITH_LEVEL = 44
_WITH_SHARES = 64
_WITH_ALL = 96
_BAR = 10


def sheet(state: State, width: int) -> Sheet:
    """Every line of the source; where sliders moved and there is room, how much each line changed."""
    found = prediction(state)
    before = base(state)
    digits = max(3, len(str(len(state.lines))))
    narrow = width < _WITH_LEVEL
    fields = [Field("time", 7 if narrow else 8)]
    if before is not None:
        fields.append(Field("change", 6))
    if width >= _WITH_SHARES:
        fields.append(Field("where", _BAR, "<"))
    elif not narrow:
        fields.append(Field("", 1))
    if width >= _WITH_ALL:
        fields += [Field(name, 4) for name in ("comp", "comm", "wait", "ovhd")]
        fields += [Field("msgs", 6), Field("bytes", 7)]
    fields += [Field("line", max(4, digits + 1)), Field("source", 0, "<")]
    layout = SheetLayout(fields, width)
    known = _by_line(found)
    earlier = _by_line(before)
    blamed = {line for file, line in uncharged(found) if file == found.file} if found is not None else set()
    total_s = first(found.time_s) if found is not None else 0.0
    lines: list[SheetLine] = []
    for number, text in enumerate(state.lines, 1):
        metrics = known.get(number)
        time_s = 0.0 if metrics is None else without_rounding(first(metrics.parts.time_s), total_s)
        cells: list[Cell] = [time_cell(time_s, total_s)]
        if before is not None:
            old = earlier.get(number)
            cells.append(change(time_s, 0.0 if old is None else without_rounding(first(old.parts.time_s), total_s)))
        share = time_s / total_s if total_s > 0 else 0.0
        if width >= _WITH_SHARES:
            cells.append("" if metrics is None else bar(four(metrics.parts), total_s, _BAR))
        elif not narrow:
            cells.append(level(share))
        if width >= _WITH_ALL:
            cells += share_cells(metrics.parts) if metrics is not None and time_s > 0 else [""] * 4
            sent = metrics is not None and metrics.messages
            cells += [count(metrics.messages), data(metrics.bytes)] if metrics is not None and sent else ["", ""]
        mark = "?" if number in blamed else ""
        shown = printable(text)[state.shift :]
        cells += [(f"{mark}{number}", "bad" if mark else "number"), (shown, _tone(text))]
        lines.append(layout.line(cells, number))
    if sort_of(state, "source") == "time":
        lines.sort(key=lambda line: -_time_s(known.get(line.key)) if isinstance(line.key, int) else 0.0)
    return Sheet(layout.heading(), tuple(lines))


def _time_s(line: LineMetrics | None) -> float:
    return 0.0 if line is None else first(line.parts.time_s)


def _by_line(found: Prediction | None) -> dict[int, LineMetrics]:
    return {} if found is None else {each.line: each for each in found.lines if each.file == found.file}


def _tone(text: str) -> str:
    """Directives stand out, comments stand back."""
    start = text.lstrip()[:5].upper()
    if start in ("!HPF$", "CHPF$", "*HPF$"):
        return "directive"
    return "comment" if start.startswith("!") or text[:1] in "cC*" else ""
