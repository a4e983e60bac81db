"""What matters most: the figures whose halving or doubling moves the time furthest come first (a tornado chart)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from esp.output.numbers import percent, seconds
from esp.prediction import Prediction, first
from esp.tui.lines import Cell, Field, Piece, Sheet, SheetLayout, SheetLine, joined, words, wrapped
from esp.tui.sheets.figures import change
from esp.tui.state import State, choice_of, prediction

if TYPE_CHECKING:
    from esp.explore.impact import Swing

_LABEL = 15
_LEAST_SHARE = 0.005
_LEAST_BAR = 9
"""Columns of the bar from which there is one."""


def sheet(state: State, width: int) -> Sheet:
    """A row for each figure: what makes the run faster on the left, what makes it slower on the right."""
    found = prediction(state)
    if found is None:
        return Sheet(None, ())
    shown = state.impact if state.impact is not None and state.impact.key == state.selected else None
    if shown is None:
        return Sheet(None, (joined([(" changing one thing at a time ...", "spinner")]),))
    fields = [Field("change", _LABEL, "<"), Field("faster", 11), Field("slower", 11)]
    bar = width - sum(each.width + each.gap for each in fields)
    if bar >= _LEAST_BAR:
        fields.insert(2, Field("", bar, "<"))
    layout = SheetLayout(fields, width)
    furthest = max((each.reach_s(shown.base_s) for each in shown.swings), default=0.0)
    lines = [_line(layout, each, shown.base_s, furthest, bar) for each in shown.swings]
    decided = _decided(shown.shares, width)
    return Sheet(layout.heading(), (*lines, joined(()), *decided, *_notes(state, found, width)))


def _decided(shares: Mapping[str, float], width: int) -> list[SheetLine]:
    """What each kind of figure decides of the time; these shares add up to all of it."""
    most = sorted((each for each in shares.items() if each[1] >= _LEAST_SHARE), key=lambda each: -each[1])
    if not most:
        return []
    named: list[Piece] = [(f"{kind} {percent(share)}", "strong") for kind, share in most]
    return [*wrapped([("decided by", "faint"), *named], width, 2), joined(())]


def _line(layout: SheetLayout, swing: "Swing", base_s: float, furthest_s: float, bar: int) -> SheetLine:
    ends = [(swing.less, swing.less_s), (swing.more, swing.more_s)]
    known = sorted((time_s, text) for text, time_s in ends if time_s is not None)
    faster = [each for each in known if each[0] < base_s][:1]
    slower = [each for each in known if each[0] > base_s][-1:]
    cells: list[Cell] = [(swing.name, "strong"), _end(faster, base_s)]
    if bar >= _LEAST_BAR:
        least = faster[0][0] if faster else base_s
        most = slower[0][0] if slower else base_s
        cells.append(_bar(base_s - least, most - base_s, furthest_s, bar))
    return layout.line([*cells, _end(slower, base_s)], swing.name)


def _end(found: list[tuple[float, str]], base_s: float) -> list[Piece]:
    if not found:
        return [("", "")]
    time_s, text = found[0]
    by, role = change(time_s, base_s)
    return [(f"{text} ", "faint"), (by, role)] if role != "faint" else [("", "")]


def _bar(faster_s: float, slower_s: float, furthest_s: float, width: int) -> list[Piece]:
    half = (width - 1) // 2
    scale = half / furthest_s if furthest_s > 0 else 0.0
    left, right = round(faster_s * scale), round(slower_s * scale)
    return [
        (" " * (half - left), ""),
        ("█" * left, "good"),
        ("│", "track"),
        ("█" * right, "bad"),
        (" " * (half - right), ""),
    ]


def _notes(state: State, found: Prediction, width: int) -> list[SheetLine]:
    choice = choice_of(state, state.selected)
    name = "" if choice is None else f" of {choice.shown}"
    text = (
        f"Each row changes one thing and leaves all else as it is now; the time{name} is "
        f"{seconds(first(found.time_s))}. load: the share of the network that others use."
    )
    return wrapped(words(text, "faint"), width)
