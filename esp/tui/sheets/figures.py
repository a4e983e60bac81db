"""Figures that several sheets show: heat, stacked bars, differences."""

from collections.abc import Sequence

from esp.output.numbers import percentages, seconds, significant
from esp.output.partial import time_shown
from esp.prediction import CATEGORIES, Prediction, first, four
from esp.tui.lines import Piece
from esp.tui.state import State
from interpreter.result import Parts

ROLES = ("comp", "comm", "wait", "ovhd")
"""Role of each of `CATEGORIES`, and their names where there is little room."""

MARKS = "█▓░▒"
"""How each of `CATEGORIES` looks in a bar, so that bars can be read without colours."""

_HEAT = ((0.5, "heat4"), (0.2, "heat3"), (0.05, "heat2"), (0.005, "heat1"))
_LEVELS = "▁▂▃▄▅▆▇█"

assert len(CATEGORIES) == len(ROLES) == len(MARKS)


def heat(share: float) -> str:
    """The role of a share of the time."""
    return next((role for least, role in _HEAT if share >= least), "")


def level(share: float) -> Piece:
    """A share of the time as the height of one character."""
    if share < 0.005:
        return " ", ""
    return _LEVELS[min(len(_LEVELS) - 1, int(share * len(_LEVELS)))], "heat"


def bar(parts: Sequence[float], total: float, width: int) -> list[Piece]:
    """Parts in the order of `CATEGORIES` as stretches of a bar whose whole width is `total`."""
    if total <= 0:
        return [(" " * width, "")]
    ends = [round(width * min(1.0, sum(parts[: at + 1]) / total)) for at in range(4)]
    starts = [0, *ends[:3]]
    pieces = [
        (mark * (end - start), f"{role}/{role}")
        for mark, role, start, end in zip(MARKS, ROLES, starts, ends, strict=True)
        if end > start
    ]
    return [*pieces, (" " * (width - ends[3]), "")] if ends[3] < width else pieces


def share_cells(parts: Parts) -> list[Piece]:
    """The four categories in per cent, each with its role; nothing where there is no time."""
    return share_pieces(four(parts))


def share_pieces(four_s: Sequence[float]) -> list[Piece]:
    """As `share_cells`, of seconds in the order of `CATEGORIES`."""
    if sum(four_s) <= 0:
        return [("", "")] * 4
    return [(f"{share}%", role if share else "faint") for share, role in zip(percentages(four_s), ROLES, strict=True)]


def change(now_s: float, before_s: float) -> Piece:
    """How much longer or shorter: ``-12%``, ``x5.4``; blank where nothing changed."""
    if before_s <= 0 or now_s <= 0:
        return ("", "") if now_s == before_s else (("gone", "good") if now_s <= 0 else ("new", "bad"))
    ratio = now_s / before_s
    if abs(ratio - 1) < 0.0005:
        return "same", "faint"
    role = "good" if ratio < 1 else "bad"
    if ratio >= 10:
        return f"x{significant(ratio)}", role
    percent = 100 * (ratio - 1)
    return (f"{percent:+.1f}%" if abs(percent) < 1 else f"{percent:+.0f}%"), role


def time_cell(time_s: float, total_s: float) -> Piece:
    """A time on the ground of its heat; blank where there is none."""
    if time_s <= 0:
        return "", ""
    return seconds(time_s), heat(time_s / total_s if total_s > 0 else 0.0)


def whole_time(found: Prediction) -> str:
    """The time of a prediction, which may be incomplete."""
    return time_shown(found, seconds(first(found.time_s)))


def stale(state: State) -> bool:
    """Whether what is shown of the selected choice is of older settings, for so long that a person should see it."""
    return state.slow and state.selected not in state.fresh
