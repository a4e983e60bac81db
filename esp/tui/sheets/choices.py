"""The list on the left: every choice of a distribution, the fastest first; and the selected one in words."""

from collections.abc import Sequence

from esp.explore.ties import FAR, certainty, timing
from esp.incomplete import reasons
from esp.output.figures import grid
from esp.output.numbers import percentages, seconds
from esp.output.partial import NOT_RANKED, partial_text
from esp.output.sureness import against
from esp.prediction import Prediction, first, four
from esp.tui.lines import Field, Piece, Sheet, SheetLayout, SheetLine, joined, words, wrapped
from esp.tui.pinned import beside
from esp.tui.question import ChoiceRow
from esp.tui.sheets.figures import ROLES, change, whole_time
from esp.tui.state import State, awaiting_ties, bounds_only, choice_of, sort_of, tied, time_s

OWN, OTHER = "◆", "B"
"""Marks of the source's own choice, and of the one that the selected one is compared with."""

_NUMBERS = 17
"""Columns of a row that are no name: rank, mark, time, and blanks; the grid comes on top."""

_DISTANCE = 10
"""Columns of the distance from the best."""

_TIE = 4
"""Columns for the row that a choice ties with, if its distance does not fit."""

_SHARES = 20
"""Columns of the four categories."""

_USUAL = len("(BLOCK,CYCLIC)")

_ROOM_FOR_BOTH = 100
"""Columns from which the list has its distances beside any view."""

_MOST = 0.57
"""The largest part of the screen for the list."""


def pane_width(state: State, columns: int) -> int:
    """Columns that the list needs in a terminal of this width."""
    grids = _grids(state)
    longest = max([len(each.shown) for each in state.choices], default=0)
    needed = _NUMBERS + grids + max(longest, _USUAL)
    if state.view == "source" or columns >= _ROOM_FOR_BOTH:
        needed += _DISTANCE + bounds_only(state)
    else:
        needed += _TIE
    if columns >= 3 * (needed + _SHARES):
        needed += _SHARES
    return min(needed, int(_MOST * columns))


def _grids(state: State) -> int:
    return max([4, *(len(grid(each.grid)) for each in state.choices)])


def sheet(state: State, width: int) -> Sheet:
    """The choices; while a question is being answered, in the order of the one before."""
    grids = _grids(state)
    rest = width - _NUMBERS - grids - _USUAL
    with_distance, with_shares = rest >= _DISTANCE, rest >= _DISTANCE + _SHARES
    with_tie = not with_distance and rest >= _TIE
    fields = [
        Field("#", 2),
        Field("", 1),
        Field("distribution", 0, "<"),
        Field("grid", grids, "<"),
        Field("time", 8, gap=0),
    ]
    if with_distance:
        fields.append(Field("vs best", _DISTANCE - 1) if not bounds_only(state) else Field("", _DISTANCE))
    if with_tie:
        fields.append(Field("tie", _TIE - 1, "<"))
    if with_shares:
        fields += [Field(name, 4) for name in ROLES]
    layout = SheetLayout(fields, width)
    if not state.choices:
        waiting = "predicting ..." if state.busy else ""
        return Sheet(layout.heading(), (joined([(f" {waiting}", "spinner")]),))
    by_key = {each.key: each for each in state.choices}
    ordered = [by_key[key] for key in state.order if key in by_key]
    rank_of = {each.key: rank for rank, each in enumerate(ordered, 1)}
    ordered = _sorted(state, ordered)
    names = told_apart([each.shown for each in ordered], layout.widths[2])
    best, ties, other = best_s(state), tied(state), beside(state)
    lines = []
    for choice, name in zip(ordered, names, strict=True):
        cells = _cells(state, choice, name, is_other=other is not None and other.key == choice.key)
        if not with_distance and _is_incomplete(state, choice):
            cells[-1] = f"{cells[-1]}?"
        if with_distance:
            cells.append(_behind(state, choice, best, ties.get(choice.key)))
        if with_tie:
            cells.append(_mark(state, choice, best, ties.get(choice.key)))
        if with_shares:
            cells += _shares(state, choice)
        old = state.slow and choice.key not in state.fresh
        rank = "-" if bounds_only(state) else str(rank_of[choice.key])
        lines.append(layout.line([rank, *cells], choice.key, "old" if old else ""))
    more = [joined([(f" {state.left_out} more were not tried", "faint")])] if state.left_out else []
    found = Sheet(layout.heading(), tuple(lines)).narrowed(state.wanted.get("choices", ""))
    return Sheet(found.heading, (*found.lines, *more))


def _sorted(state: State, by_time: list[ChoiceRow]) -> list[ChoiceRow]:
    """The choices in the order that was asked for; their numbers stay those of the order by time."""
    match sort_of(state, "choices"):
        case "name":
            return sorted(by_time, key=lambda each: (each.shown, each.grid))
        case "communication":
            return sorted(by_time, key=lambda each: _communication_s(state, each))
        case _:
            return by_time


def _communication_s(state: State, choice: ChoiceRow) -> float:
    found = state.outcomes.get(choice.key)
    return four(found.parts)[1] if isinstance(found, Prediction) else float("inf")


def told_apart(names: Sequence[str], width: int) -> list[str]:
    """The names in so many columns, no two different ones looking alike: with B for BLOCK and C for CYCLIC where one
    is too long; then without what all have in common; then cut in the middle or numbered."""
    found = list(names)
    if max(map(len, found), default=0) > width:
        found = [each.replace("BLOCK", "B").replace("CYCLIC", "C") for each in found]
    if max(map(len, found), default=0) > width:
        parts = [each.split(" ") for each in found]
        if len({len(each) for each in parts}) == 1:
            differ = [len(set(column)) > 1 for column in zip(*parts, strict=True)]
            found = [" ".join(part for part, own in zip(each, differ, strict=True) if own) for each in parts]
    shown = [each if len(each) <= width else f"{each[: width - 2]}.." for each in found]
    if len(set(shown)) < len(set(names)):
        shown = [each if len(each) <= width else f"..{each[len(each) - width + 2 :]}" for each in found]
    if len(set(shown)) < len(set(names)):
        numbers = {each: str(number) for number, each in enumerate(dict.fromkeys(found), 1)}
        shown = [f"{each[: width - 2 - len(numbers[each])]}..{numbers[each]}" for each in found]
    return shown


def _cells(state: State, choice: ChoiceRow, name: str, *, is_other: bool) -> list[Piece | str]:
    mark: Piece = (OTHER, "marked") if is_other else (OWN, "own") if choice.written else ("", "")
    outcome = state.outcomes.get(choice.key)
    time: Piece | str = "" if outcome is None else ("no", "bad")
    if isinstance(outcome, Prediction):
        time = seconds(first(outcome.time_s))
    return [mark, name, grid(choice.grid) or "-", time]


def _is_incomplete(state: State, choice: ChoiceRow) -> bool:
    outcome = state.outcomes.get(choice.key)
    return isinstance(outcome, Prediction) and not outcome.complete


def best_s(state: State) -> float | None:
    """The shortest time of all choices that fit in memory, where there is any."""
    made = (each for each in state.outcomes.values() if isinstance(each, Prediction) and each.fits)
    return min((first(each.time_s) for each in made), default=None)


def _behind(state: State, choice: ChoiceRow, best: float | None, tie: int | None) -> Piece:
    """How far behind the best, and with which row it ties; nothing where predictions are incomplete."""
    found = time_s(state, choice.key)
    if _is_incomplete(state, choice):
        return "incomplete", "bad"
    outcome = state.outcomes.get(choice.key)
    if isinstance(outcome, Prediction) and not outcome.fits:
        return "too large", "bad"
    if found is None or best is None or bounds_only(state):
        return "", ""
    if found == best and tie is None:
        return ("", "") if state.busy else ("best", "good")
    distance, mark = change(found, best)[0], _mark(state, choice, best, tie)[0]
    return (f"{distance} {mark}", "faint") if mark else (distance, "")


def _mark(state: State, choice: ChoiceRow, best: float | None, tie: int | None) -> Piece:
    """With which row a choice ties; a question mark while that is being tried."""
    if tie is not None:
        return f"={tie}", "faint"
    found = time_s(state, choice.key)
    open_yet = awaiting_ties(state) and found is not None and best is not None and best < found <= FAR * best
    return ("?", "faint") if open_yet else ("", "")


def _shares(state: State, choice: ChoiceRow) -> list[Piece]:
    found = state.outcomes.get(choice.key)
    if not isinstance(found, Prediction):
        return [("", "")] * 4
    return [
        (f"{share}%", role if share else "faint")
        for share, role in zip(percentages(four(found.parts)), ROLES, strict=True)
    ]


def sentences(state: State, width: int) -> list[SheetLine]:
    """The selected choice in words: its name in full, its distance from the best, ties, what to paste."""
    choice, found = choice_of(state, state.selected), state.outcomes.get(state.selected)
    if choice is None or not isinstance(found, Prediction):
        return []
    told: list[Piece] = [(f"{choice.shown} {grid(choice.grid)}".rstrip(), "strong")]
    if choice.origin:
        told += words(f"{OWN} {choice.origin}", "own")
    standing = _standing(state, found)
    told += [(f"{whole_time(found)}{',' if standing else ''}", ""), *standing]
    shown = wrapped(told, width, 2)
    if bounds_only(state):
        why = "" if found.complete else f"{partial_text(reasons([found]))}; "
        return [*shown, *wrapped(words(f"{why}{NOT_RANKED}", "bad"), width, 2)]
    if choice.directives and found.fits:
        paste = [(each, "directive") for each in choice.directives]
        shown += wrapped([*words("to paste (y copies):", "faint"), *paste], width, 2)
    return shown


def _tie(state: State, found: Prediction, leader: int) -> str:
    other = state.outcomes[state.order[leader - 1]]
    assert isinstance(other, Prediction)  # what has none ties with nothing
    return against(certainty([timing(other), timing(found)]), f"choice {leader}")


def _standing(state: State, found: Prediction) -> list[Piece]:
    if bounds_only(state):
        return []
    tie, best = tied(state).get(state.selected), best_s(state)
    same = [] if tie is None else words(f"a tie (={tie}), {_tie(state, found, tie)}", "faint")
    if not found.fits:
        return words("its data do not fit in memory", "bad")
    if state.busy:
        return words("comparing ...", "faint")
    if awaiting_ties(state) and best is not None and first(found.time_s) <= FAR * best:
        same = words("ties are not known yet", "faint")
    if best is None or first(found.time_s) <= best:
        return same or [("fastest", "good")]
    return [*words(f"{_apart(first(found.time_s), best)}{';' if same else ''}"), *same]


def _apart(time_s: float, best_s: float) -> str:
    """How far a choice is behind the fastest."""
    behind, role = change(time_s, best_s)
    if role == "faint":
        return "as fast as the fastest"
    if behind.startswith("x"):
        return f"{behind.removeprefix('x')} times as long as the fastest"
    return f"{behind.removeprefix('+')} slower than the fastest"
