"""Two choices side by side: the totals, then every line that takes time in either."""

from collections.abc import Sequence

from esp.explore.ties import FAR, certainty, timing
from esp.output.figures import grid, hottest_communication, source_text, why
from esp.output.numbers import count, data, seconds
from esp.output.partial import INCOMPLETE
from esp.output.screen import printable
from esp.output.sureness import against
from esp.prediction import CATEGORIES, Prediction, first, four
from esp.tui.lines import Cell, Field, Piece, Sheet, SheetLayout, SheetLine, joined, words, wrapped
from esp.tui.pinned import beside
from esp.tui.sheets.figures import ROLES, change, share_cells, time_cell, whole_time
from esp.tui.state import State, awaiting_ties, choice_of, moved_sliders, prediction, sort_of
from interpreter.result import LineMetrics

_WITH_SHARES = 88
_WITH_NAMES = 48


def sheet(state: State, width: int) -> Sheet:
    """A is the selected choice, B what `beside` says."""
    one, pinned = prediction(state), beside(state)
    if one is None or pinned is None:
        return Sheet(
            None, tuple(wrapped(words("There is no second predicted choice to compare with.", "faint"), width))
        )
    other = pinned.prediction
    shares = width >= _WITH_SHARES
    time = 8 if one.complete and other.complete else 8 + len(INCOMPLETE)
    fields = [Field("line", 4), Field("A", time), Field("B", time), Field("A to B", 7)]
    if shares:
        fields += [Field("A comp", 6, gap=2), Field("comm", 4), Field("B comp", 6, gap=2), Field("comm", 4)]
    fields.append(Field("source", 0, "<", 2))
    layout = SheetLayout(fields, width)
    names = [*_name("A", _selected(state), width), *_name("B", pinned.name, width)]
    times = [whole_time(one), whole_time(other)]
    categories = CATEGORIES if width >= _WITH_NAMES else ROLES
    lines = [
        *names,
        *_verdict(state, one, other, width),
        joined(()),
        *_totals(layout, one, other, times, categories, shares=shares),
        joined(()),
    ]
    lines += _lines(state, layout, one, other, shares=shares)
    return Sheet(layout.heading(), tuple(lines))


def _name(letter: str, text: str, width: int) -> list[SheetLine]:
    return wrapped([(letter, "marked" if letter == "B" else "own"), *words(text, "strong")], width, 2)


def _verdict(state: State, one: Prediction, other: Prediction, width: int) -> list[SheetLine]:
    """Which of the two is faster, by how much, and whether they tie (Def 19)."""
    if not (one.complete and other.complete and one.fits and other.fits):
        return []
    sides = sorted((("A", one), ("B", other)), key=lambda each: (first(each[1].time_s), each[0]))
    (quick, fast), (late, slow) = sides
    distance, role = change(first(slow.time_s), first(fast.time_s))
    apart = f"{late} takes as long as {quick}" if role == "faint" else f"{late} against {quick}: {distance}"
    if awaiting_ties(state) and first(slow.time_s) <= FAR * first(fast.time_s):
        return wrapped(words(f"{apart}; ties are not known yet", "faint"), width, 2)
    why = against(certainty([timing(fast), timing(slow)]), quick)
    return wrapped(words(f"{apart}, a tie: {why}" if why else apart, "faint"), width, 2)


def _selected(state: State) -> str:
    choice = choice_of(state, state.selected)
    if choice is None:
        return ""
    name = f"{choice.shown} {grid(choice.grid)}".rstrip() + (f", {choice.origin}" if choice.origin else "")
    return name + "".join(f", {each.described}" for each in moved_sliders(state))


def _totals(
    layout: SheetLayout, one: Prediction, other: Prediction, times: Sequence[str], names: Sequence[str], *, shares: bool
) -> list[SheetLine]:
    blank: list[Cell] = [""] * 4 if shares else []
    rows: list[tuple[str, str, float, float, str, str]] = [
        ("time", "strong", first(one.time_s), first(other.time_s), times[0], times[1])
    ]
    for name, role, a, b in zip(names, ROLES, four(one.parts), four(other.parts), strict=True):
        rows.append((name, role, a, b, "", ""))
    rows.append(("messages", "", one.messages, other.messages, count(one.messages), count(other.messages)))
    rows.append(("bytes", "", one.bytes, other.bytes, data(one.bytes), data(other.bytes)))
    return [
        layout.line(["", text_a or seconds(a), text_b or seconds(b), change(b, a), *blank, (name, role)], name)
        for name, role, a, b, text_a, text_b in rows
    ]


def _lines(state: State, layout: SheetLayout, one: Prediction, other: Prediction, *, shares: bool) -> list[SheetLine]:
    """Every line of the source that takes time in either."""
    left = {each.line: each for each in one.lines if each.file == one.file}
    right = {each.line: each for each in other.lines if each.file == other.file}
    totals = first(one.time_s), first(other.time_s)

    def longest(line: int) -> float:
        return max(_time(left.get(line)), _time(right.get(line)))

    found = []

    def place(line: int) -> tuple[float, int]:
        match sort_of(state, "compare"):
            case "line":
                return 0.0, line
            case "change":
                return -abs(_time(left.get(line)) - _time(right.get(line))), line
            case _:
                return -longest(line), line

    for line in sorted({*left, *right}, key=place):
        if longest(line) <= 1e-12 * max(totals):
            continue
        a, b = left.get(line), right.get(line)
        cells: list[Cell] = [
            (str(line), "number"),
            time_cell(_time(a), totals[0]),
            time_cell(_time(b), totals[1]),
            change(_time(b), _time(a)),
        ]
        if shares:
            cells += [*_two(a), *_two(b)]
        cells.append(printable(source_text(one, one.file, line)).strip())
        found.append(layout.line(cells, line))
    return found


def messages_text(state: State, line: int) -> list[tuple[str, str]]:
    """What each of the two choices sends for a line: letter and sentence; nothing for one that sends nothing."""
    found = []
    pinned = beside(state)
    for letter, outcome in (("A", prediction(state)), ("B", None if pinned is None else pinned.prediction)):
        if outcome is None:
            continue
        aaus = next((e.aaus for e in outcome.lines if e.line == line and e.file == outcome.file), ())
        talking = hottest_communication(each for each in outcome.aaus if each.id in aaus)
        found.append((letter, why(talking, outcome.processors) if talking is not None else "no message"))
    return found


def _time(line: LineMetrics | None) -> float:
    return 0.0 if line is None else max(0.0, first(line.parts.time_s))


def _two(line: LineMetrics | None) -> list[Piece]:
    return [("", ""), ("", "")] if line is None else share_cells(line.parts)[:2]
