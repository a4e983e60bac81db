"""The lines around the panes: what is predicted and its time, the tabs, a slider, the keys."""

from collections.abc import Sequence

from esp.output.figures import grid, main_constants
from esp.output.numbers import percentages, plural
from esp.output.screen import printable, shorten
from esp.prediction import CATEGORIES, first, four
from esp.tui.lines import Piece, SheetLine, fitted, joined
from esp.tui.question import Failure
from esp.tui.sheets.figures import ROLES, bar, change, stale, whole_time
from esp.tui.sliders import PROCS, Slider
from esp.tui.state import SORTS, VIEWS, State, View, base, bounds_only, choice_of, outcome, prediction, sort_of

SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"

NAMES: dict[View, str] = {
    "source": "Source",
    "tree": "Parts",
    "timeline": "Timeline",
    "compare": "Compare",
    "impact": "What matters",
    "calls": "Calls",
    "scaling": "Scaling",
}
_NARROW: dict[View, str] = {**NAMES, "impact": "Impact"}
"""Names where there is little room."""


def heading(state: State, width: int, beat: int = 0) -> tuple[SheetLine, SheetLine]:
    """Two lines: what and how long, where the time goes. `beat` turns the spinner."""
    found = prediction(state)
    left: list[Piece] = [(" esp ", "logo"), (f" {printable(state.file.rsplit('/', 1)[-1])}", "strong")]
    choice = choice_of(state, state.selected)
    if choice is not None:
        left.append((f"  {choice.shown}", ""))
    if PROCS in state.sliders:
        procs = int(state.sliders[PROCS].value) if found is None else found.processors
        shape = f" ({grid(found.grid)})" if found is not None and found.grid else ""
        left.append((f"  {plural(procs, 'processor')}{shape}  {state.system}", ""))
    if found is not None and width >= 100:
        left.append((f"  {main_constants(found, 4)}", "faint"))
    right = _time(state, beat)
    room = width - sum(len(text) for text, _ in right) - 1
    return SheetLine((*fitted(left, room), (" ", ""), *right)), _where(state, width)


def _time(state: State, beat: int) -> list[Piece]:
    found, before = prediction(state), base(state)
    right: list[Piece] = []
    if state.slow:
        right.append((f"{SPINNER[beat % len(SPINNER)]} ", "spinner"))
    if found is None:
        failed = isinstance(outcome(state), Failure)
        right.append(("no prediction ", "bad") if failed else ("predicting ... " * state.busy, "spinner"))
        return right
    old = stale(state)
    right.append((f" {whole_time(found)} ", "old" if old else "time"))
    if before is not None:
        text, role = change(first(found.time_s), first(before.time_s))
        right.append((f" {text} ", "old" if old else role))
    return right


def _where(state: State, width: int) -> SheetLine:
    found = prediction(state)
    if found is None:
        return joined([(f"{shorten(f' {state.progress}', width):<{width}}", "faint")])
    parts = four(found.parts)
    names = CATEGORIES if width >= 76 else ROLES
    old = stale(state)
    pieces: list[Piece] = [(" ", "")]
    for name, role, share in zip(names, ROLES, percentages(parts), strict=True):
        pieces.append((f"{name} {share}%  ", "old" if old else role))
    room = width - sum(len(text) for text, _ in pieces) - 1
    return SheetLine((*pieces, *bar(parts, first(found.time_s), max(0, room)), (" ", "")))


THREE_SLIDERS, SIX_SLIDERS = 100, 160
"""Columns from which so many sliders stand beside each other."""

_INSTEAD = 76
"""Columns below which tabs have no numbers."""

_ROOMY = 104
"""Columns from which tabs with numbers end with a blank."""


def tabs(state: State, width: int) -> SheetLine:
    """What the list on the left holds, then the views at the right end, the current one marked; each piece that is a
    tab has the role ``tab`` or ``tab-on``."""
    names = NAMES if width >= _ROOMY else _NARROW
    labels = [(f" {number} {names[view]}" if width >= _INSTEAD else f" {names[view]}") for number, view in _NUMBERED]
    if not _INSTEAD <= width < _ROOMY:
        labels = [f"{label} " for label in labels]
    found: list[Piece] = [
        (label, "tab-on" if view == state.view else "tab") for label, (_, view) in zip(labels, _NUMBERED, strict=True)
    ]
    room = max(0, width - sum(map(len, labels)))
    number, order = f" {plural(len(state.choices), 'choice')}" if state.choices else " choices", _order(state)
    if len(number) + len(order) > room:
        usual = order == f" by {SORTS['choices'][0]}"
        number, order = (number, "") if usual else (f" {len(state.choices)}", order)
    left: list[Piece] = [(number, "pane"), (order, "faint")]
    if state.wanted.get("choices"):
        left = [(" choices", "pane"), (f" /{state.wanted['choices']}", "marked")]
    return SheetLine((*fitted(left, room), *found))


def _order(state: State) -> str:
    by = sort_of(state, "choices")
    return " not ranked" if by == "time" and bounds_only(state) else f" by {by}"


_NUMBERED = tuple(enumerate(VIEWS, 1))


def tab_at(state: State, width: int, column: int) -> View | None:
    """The view whose tab is at a column."""
    begin = 0
    views = iter(VIEWS)
    for text, role in tabs(state, width).pieces:
        view = next(views) if role in ("tab", "tab-on") else None
        if begin <= column < begin + len(text):
            return view
        begin += len(text)
    return None


_LABELS = (15, 10)
"""Columns for the name of a slider: where there is room, and where there is little."""
_SHORT = {"processor speed": "proc speed"}
"""Names where there is little room."""
_EFFECT = 6
"""Columns for what a slider does: ``+453%``."""
_LEAST_TRACK = 6
"""Columns of a track beside which names are written in full."""


def slider(each: Slider, width: int, *, focused: bool, effect: Piece = ("", "")) -> SheetLine:
    """A slider: its name, a track with a knob, its value and what that does; a tick where it stood at the start."""
    length = _track(each, width)
    knob, home = _place(each, each.at, length), _place(each, each.home, length)
    track: list[Piece] = []
    for column in range(length):
        if column == knob:
            track.append(("●", "knob-on" if focused else "knob"))
        elif column == home:
            track.append(("┼", "track"))
        else:
            track.append(("━" if column < knob else "─", "passed" if column < knob else "track"))
    room = _label(each, width)
    name = each.label if room >= len(each.label) else _SHORT.get(each.label, each.label)
    label = f"{name[:room]:<{room}}"
    value = f" {each.value:<{_value(each)}}"
    name_role = "label-on" if focused else "label"
    shown = (value, "moved" if each.moved else "")
    return SheetLine(((label, name_role), (" ", ""), *track, shown, *fitted([effect], _EFFECT, ">")), each.name)


def notch_at(each: Slider, width: int, column: int) -> int | None:
    """The notch below a column; None beside the track."""
    length = _track(each, width)
    at = column - _label(each, width) - 1
    if not 0 <= at < length:
        return None
    return round(at * (len(each.notches) - 1) / max(1, length - 1))


def _track(each: Slider, width: int) -> int:
    return max(4, width - _label(each, width) - 1 - _value(each) - 1 - _EFFECT)


def _label(each: Slider, width: int) -> int:
    """Columns for the name."""
    full, short = _LABELS
    return full if width - full - 1 - _value(each) - 1 - _EFFECT >= _LEAST_TRACK else short


def _value(each: Slider) -> int:
    """Room for the longest value, so that the track does not jump."""
    return max(len(notch) for notch in each.notches)


def _place(each: Slider, notch: int, length: int) -> int:
    return round(notch * (length - 1) / max(1, len(each.notches) - 1))


GLOBAL_KEYS = (("ctrl+p", "^p", "commands"), ("question_mark", "?", "help"), ("q", "q", "quit"))
"""Key, how it is written, what it does."""

KEYS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "choices": (
        ("enter", "⏎", "look at"),
        ("b", "b", "pin as B"),
        ("w", "w", "what if"),
        ("y", "y", "copy"),
        ("slash", "/", "find"),
    ),
    "source": (
        ("left", "←→", "shift"),
        ("z", "z", "wide"),
        ("w", "w", "what if"),
        ("slash", "/", "find"),
        ("t", "t", "sort"),
    ),
    "tree": (
        ("enter", "⏎ f", "fold"),
        ("p", "p", "procs"),
        ("right_square_bracket", "[ ]", "one"),
        ("z", "z", "wide"),
        ("w", "w", "what if"),
    ),
    "timeline": (
        ("plus", "+-", "zoom"),
        ("left", "←→", "move"),
        ("n", "n", "message"),
        ("z", "z", "wide"),
        ("w", "w", "what if"),
    ),
    "compare": (("b", "b", "pin as B"), ("z", "z", "wide"), ("w", "w", "what if"), ("e", "e", "export")),
    "what-if": (
        ("left", "←→", "move"),
        ("enter", "⏎", "type"),
        ("r", "r", "reset"),
        ("b", "b", "pin B"),
        ("5", "5", "what matters"),
    ),
    "impact": (
        ("w", "w", "what if"),
        ("b", "b", "pin as B"),
        ("z", "z", "wide"),
        ("e", "e", "export"),
        ("o", "o", "open"),
    ),
    "calls": (("enter", "⏎", "source"), ("z", "z", "wide"), ("w", "w", "what if"), ("slash", "/", "find")),
    "scaling": (("w", "w", "what if"), ("b", "b", "pin as B"), ("z", "z", "wide"), ("e", "e", "export")),
}
"""Where the focus is -> the keys worth a place in the footer."""


def keys(where: str, width: int) -> tuple[SheetLine, tuple[tuple[int, int, str], ...]]:
    """The footer for where the focus is, and for a mouse: from column, to column, key."""
    pieces: list[Piece] = []
    places: list[tuple[int, int, str]] = []
    at = 0

    def add(group: Sequence[tuple[str, str, str]], room: int) -> None:
        nonlocal at
        for key, written, what in group:
            text = f" {written} {what} "
            if at + len(text) > room:
                continue
            pieces.extend(((f" {written}", "key"), (f" {what} ", "key-text")))
            places.append((at, at + len(text), key))
            at += len(text)

    last = sum(len(f" {written} {what} ") for _, written, what in GLOBAL_KEYS)
    add(KEYS.get(where, ()), width - last)
    pieces.append((" " * max(0, width - last - at), "key-text"))
    at = max(at, width - last)
    add(GLOBAL_KEYS, width)
    return SheetLine(tuple(pieces)), tuple(places)
