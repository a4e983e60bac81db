"""The list on the left: every choice of a distribution, the fastest first."""

from esp.output.figures import grid
from esp.output.numbers import percentages
from esp.output.partial import INCOMPLETE
from esp.prediction import Prediction, four
from esp.tui.lines import Field, Piece, Sheet, SheetLayout, SheetLine, joined, words, wrapped
from esp.tui.question import ChoiceRow
from esp.tui.sheets.figures import ROLES, change, whole_time
from esp.tui.state import State, bounds_only, choice_of, rival, tied, time_s

_WITH_DIFFERENCE = 42
_WITH_SHARES = 58

OWN, OTHER = "◆", "B"
"""Marks of the source's own choice, and of the one that the selected one is compared with."""


def sheet(state: State, width: int) -> Sheet:
    """The choices; while a question is being answered, in the order of the one before."""
    shapes = max([4, *(len(grid(each.grid)) for each in state.choices)])
    fields = [
        Field("#", 2),
        Field("", 1),
        Field("distribute", 0, "<"),
        Field("grid", shapes, "<"),
        Field("time", 8 + (len(INCOMPLETE) if bounds_only(state) else 0), gap=0),
    ]
    if width >= _WITH_DIFFERENCE:
        fields.append(Field("vs best", 8))
    if width >= _WITH_SHARES:
        fields += [Field(name, 4) for name in ROLES]
    layout = SheetLayout(fields, width)
    by_key = {each.key: each for each in state.choices}
    ordered = [by_key[key] for key in state.order if key in by_key]
    best_s = min((found for each in ordered if (found := time_s(state, each.key)) is not None), default=None)
    ties, other = tied(state), rival(state)
    lines = []
    for rank, choice in enumerate(ordered, 1):
        cells = _cells(state, choice, other)
        if width >= _WITH_DIFFERENCE:
            cells.append(_behind(state, choice, best_s, ties))
        if width >= _WITH_SHARES:
            cells += _shares(state, choice)
        old = state.slow and choice.key not in state.fresh
        lines.append(layout.line([str(rank), *cells], choice.key, "old" if old else ""))
    return Sheet(layout.heading(), (*lines, *_legend(state, ordered, ties, width), *_to_paste(state, width)))


def _cells(state: State, choice: ChoiceRow, other: str | None) -> list[Piece | str]:
    mark: Piece = (OTHER, "marked") if choice.key == other else (OWN, "own") if choice.written else ("", "")
    outcome = state.outcomes.get(choice.key)
    time: Piece | str = "" if outcome is None else ("no", "bad")
    if isinstance(outcome, Prediction):
        time = whole_time(outcome)
    return [mark, choice.shown, grid(choice.grid) or "-", time]


def _behind(state: State, choice: ChoiceRow, best_s: float | None, ties: dict[str, int] | object) -> Piece:
    found = time_s(state, choice.key)
    if found is None or best_s is None:
        return "", ""
    if found == best_s:
        return "best", "good"
    if isinstance(ties, dict) and choice.key in ties:
        return f"tie {ties[choice.key]}", "faint"
    return change(found, best_s)[0], ""


def _shares(state: State, choice: ChoiceRow) -> list[Piece]:
    found = state.outcomes.get(choice.key)
    if not isinstance(found, Prediction):
        return [("", "")] * 4
    return [
        (f"{share}%", role if share else "faint")
        for share, role in zip(percentages(four(found.parts)), ROLES, strict=True)
    ]


def _legend(state: State, ordered: list[ChoiceRow], ties: object, width: int) -> list[SheetLine]:
    """What the marks mean, as far as there are any; below the list, where nothing else stands."""
    told: list[list[Piece]] = []
    told += [[(OWN, "own"), (f" {each.origin}", "faint")] for each in ordered if each.written and each.origin]
    if rival(state) is not None:
        told.append([(OTHER, "marked"), (" compared with (m marks it)", "faint")])
    if ties and width >= _WITH_DIFFERENCE:
        told.append([("tie", "faint"), (" too close to call", "faint")])
    if state.left_out:
        told.append([(f"{state.left_out} more were not tried", "faint")])
    return [joined(()), *(joined([(" ", ""), *each]) for each in told)] if told else []


def _to_paste(state: State, width: int) -> list[SheetLine]:
    """The directives that make the source have the selected choice; none where all predictions are incomplete, as
    `esp compare` has it."""
    if bounds_only(state):
        told = "the predictions are incomplete, so their order may be wrong: nothing to paste"
        return [joined(()), *(joined([(" ", ""), *line.pieces]) for line in wrapped(words(told, "bad"), width - 1))]
    choice = choice_of(state, state.selected)
    if choice is None or not choice.directives:
        return []
    lines = [line for each in choice.directives for line in wrapped(words(each, "directive"), width - 1, 8)]
    shown = [joined([(" ", ""), *line.pieces]) for line in lines]
    return [joined(()), joined([(" to paste into the source:", "faint")]), *shown]
