"""Below the sliders: what they do together, which lines move and which do not, and how that compares with B."""

from esp.output.numbers import seconds
from esp.prediction import Prediction, first
from esp.tui.lines import Piece, SheetLine, aged, fitted, joined
from esp.tui.sheets.figures import change, stale
from esp.tui.state import State, base, prediction


def changes(state: State, width: int) -> tuple[SheetLine, ...]:
    """One line, such as ``1.04 s instead of 1.03 s (+1%)  moved: line 36; 6 others did not``; that figures are of older
    settings, where they are."""
    old = stale(state)
    pieces: list[Piece] = [("predicting ...  the figures are those of before", "")] if old else _changes(state, width)
    shown = (joined(fitted(pieces, width) if sum(len(text) for text, _ in pieces) > width else pieces),)
    return aged(shown) if old else shown


def _first_hint(state: State) -> str:
    if state.assumptions:
        return f"{state.assumptions[0].text}; w goes to the sliders"
    return "what if: w goes to the sliders, 5 shows what matters most"


def _changes(state: State, width: int) -> list[Piece]:
    found, before = prediction(state), base(state)
    if found is None:
        return []
    pinned = _against_b(state, found)
    if before is None:
        return [*pinned, ("  " if pinned else "", ""), (_first_hint(state), "faint")]
    lines, others = moved_lines(found, before)
    now_s, then_s = first(found.time_s), first(before.time_s)
    head: list[Piece] = [
        (f"{seconds(now_s)} ", "strong"),
        (f"instead of {seconds(then_s)}", ""),
        *_in_brackets(change(now_s, then_s)),
        *([("  ", ""), *pinned] if pinned else []),
    ]
    if not lines:
        return [*head, ("  no line moved", "faint")]
    label: Piece = ("  moved: line ", "moved") if len(lines) == 1 else ("  moved: lines ", "moved")
    names = [str(line) for line in lines]
    rest = f"; {others} did not" if others else ""
    room = width - sum(len(text) for text, _ in (*head, label)) - len(rest)
    shown = ", ".join(names)
    while len(shown) > room and len(names) > 1:
        names.pop()
        shown = f"{', '.join(names)} and {len(lines) - len(names)} more"
    return [*head, label, (shown, ""), (rest, "faint")]


def _against_b(state: State, found: Prediction) -> list[Piece]:
    """How the prediction on the screen compares with what is pinned."""
    if state.pinned is None:
        return []
    then_s = first(state.pinned.prediction.time_s)
    by = change(first(found.time_s), then_s)
    return [("B ", "marked"), (seconds(then_s), ""), *_in_brackets((f"now {by[0]}", by[1]))]


def _in_brackets(by: Piece) -> list[Piece]:
    return [(" (", ""), by, (")", "")]


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
