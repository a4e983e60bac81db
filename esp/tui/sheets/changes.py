"""Beside the sliders: which lines moved, and which did not."""

from esp.prediction import Prediction, first
from esp.tui.lines import Piece, SheetLine, aged, joined
from esp.tui.sheets.figures import stale
from esp.tui.state import State, base, prediction


def changes(state: State, width: int) -> tuple[SheetLine, ...]:
    """One line: ``moved: 36, 38; the other 5 did not``; dimmed where it is of older settings."""
    shown = _changes(state, width)
    return aged(shown) if stale(state) else shown


def _changes(state: State, width: int) -> tuple[SheetLine, ...]:
    found, before = prediction(state), base(state)
    if found is None or before is None:
        return (joined([(_fitting("w moves the sliders", width), "faint")]),)
    lines, others = moved_lines(found, before)
    if not lines:
        return (joined([(_fitting("no line moved", width), "faint")]),)
    head: Piece = ("moved: ", "moved")
    names = [str(line) for line in lines]
    rest = f"; {others} did not" if others else ""
    room = width - len(head[0]) - len(rest)
    shown = ", ".join(names)
    while len(shown) > room and len(names) > 1:
        names.pop()
        shown = f"{', '.join(names)} and {len(lines) - len(names)} more"
    return (joined([head, (shown, ""), (rest, "faint")]),)


def _fitting(text: str, width: int) -> str:
    return text if len(text) <= width else ""


def moved_lines(found: Prediction, before: Prediction) -> tuple[list[int], int]:
    """The lines whose time changed, as `esp whatif` has it, the largest change first; and how many others take as much
    time as would count as a change."""
    from esp.explore.whatif import MOVED

    now = {each.line: first(each.parts.time_s) for each in found.lines if each.file == found.file}
    then = {each.line: first(each.parts.time_s) for each in before.lines if each.file == before.file}
    least_s = MOVED * first(before.time_s)
    by_change = {line: abs(now.get(line, 0.0) - then.get(line, 0.0)) for line in {*now, *then}}
    moved = [line for line, change_s in by_change.items() if change_s > least_s]
    busy = sum(1 for line in by_change if max(now.get(line, 0.0), then.get(line, 0.0)) > least_s and line not in moved)
    return sorted(moved, key=lambda line: (-by_change[line], line)), busy
