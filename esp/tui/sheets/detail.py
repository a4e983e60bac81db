"""What the cursor stands on, in words: a line, an AAU, a processor, a message; or why there is no prediction."""

from esp.incomplete import reasons
from esp.output.assumptions import assumed
from esp.output.figures import hottest_communication, memory_needed, missed_by_all, not_fitting, why
from esp.output.numbers import memory, plural, seconds
from esp.output.partial import partial_text, trusted
from esp.output.screen import printable
from esp.output.sureness import within
from esp.prediction import CATEGORIES, Prediction, assuming, first, four
from esp.tui.course import doing
from esp.tui.lines import Piece, SheetLine, aged, joined, words, wrapped
from esp.tui.question import Failure
from esp.tui.sheets import calls, choices, compare, scaling, timeline
from esp.tui.sheets.figures import ROLES, stale
from esp.tui.sheets.tree import processor_text
from esp.tui.sliders import PROCS
from esp.tui.state import State, outcome, prediction
from interpreter.result import AauMetrics

_WITH_NAMES = 90
"""Columns from which the categories have their full names."""


def lines(state: State, width: int, *, of_choice: bool = False) -> list[SheetLine]:
    """As many lines as there is to say, dimmed where they are of older settings; the widget shows those it has room
    for. `of_choice`: the selected choice comes first."""
    shown = [*(choices.sentences(state, width) if of_choice else ()), *_lines(state, width)]
    return [*aged(shown)] if stale(state) else shown


def _lines(state: State, width: int) -> list[SheetLine]:
    found = outcome(state)
    if isinstance(found, Failure):
        return [joined([(each, "bad")]) for each in printable_lines(found.text)]
    shown = prediction(state)
    if shown is None:
        return []
    match state.view:
        case "source":
            return _line(state, shown, width)
        case "tree":
            return _tree(state, shown, width)
        case "timeline":
            return _timeline(state, width)
        case "compare":
            return _compare(state, shown, width)
        case "impact":
            return _trust(state, shown, width)
        case "calls":
            return [*calls.detail(state, width), *_trust(state, shown, width)]
        case "scaling":
            return [*scaling.detail(state, width), *_trust(state, shown, width)]


def printable_lines(text: str) -> list[str]:
    """The lines of a text, made safe for a terminal."""
    return [printable(each) for each in text.splitlines()]


def _line(state: State, found: Prediction, width: int) -> list[SheetLine]:
    key = state.cursor.get("source")
    number = key if isinstance(key, int) else 1
    line = next((each for each in found.lines if each.line == number and each.file == found.file), None)
    if line is None:
        return [joined([(f"line {number} ", "strong"), ("takes no time", "faint")]), *_trust(state, found, width)]
    told = [(f"line {number}", "strong"), (seconds(first(line.parts.time_s)), "strong")]
    told += _four(four(line.parts), width)
    shown = wrapped(told, width, 2)
    inside = [each for each in found.aaus if each.id in line.aaus]
    talking = hottest_communication(inside)
    if talking is not None:
        shown += wrapped(words(why(talking, found.processors)), width, 2)
    if line.max_s is not None and found.processors > 1:
        longest = f"longest on processor {line.max_processor}: {seconds(first(line.max_s))}"
        shown += wrapped(words(longest), width, 2)
    for each in inside:
        if each.misses > 0:
            missed = f"{missed_by_all(each.misses)} in AAU {each.id}"
            shown += wrapped(words(missed, "faint"), width, 2)
    return [*shown, *_trust(state, found, width)]


def _four(parts: tuple[float, ...], width: int) -> list[Piece]:
    names = CATEGORIES if width >= _WITH_NAMES else ROLES
    return [(f"{name} {seconds(each)}", role) for name, role, each in zip(names, ROLES, parts, strict=True) if each > 0]


def _tree(state: State, found: Prediction, width: int) -> list[SheetLine]:
    key = state.cursor.get("tree")
    number, rank = key if isinstance(key, tuple) else (key if isinstance(key, int) else 0, None)
    aau = next((each for each in found.aaus if each.id == number), None)
    if aau is None:
        return []
    if rank is not None:
        return wrapped(words(processor_text(state, aau, rank)), width, 2) + _aau(aau, found, width)
    return _aau(aau, found, width)


def _aau(aau: AauMetrics, found: Prediction, width: int) -> list[SheetLine]:
    place = f"line {aau.span.line}" if aau.span.line else "no line"
    told: list[Piece] = [(f"AAU {aau.id} {aau.kind}", "strong"), (f"{place},", "")]
    told += [(f"{plural(aau.executions, 'time')},", "")] if aau.executions else []
    told += [(f"itself {seconds(first(aau.parts.time_s))}", "")]
    told += _four(four(aau.parts), width)
    if aau.max_s is not None and found.processors > 1:
        told.append((f"most {seconds(first(aau.max_s))} on processor {aau.max_processor}", ""))
    shown = wrapped(told, width, 2)
    if aau.comm is not None:
        shown += wrapped(words(why(aau, found.processors)), width, 2)
    if aau.misses > 0:
        shown += wrapped(words(missed_by_all(aau.misses), "faint"), width, 2)
    return [*shown, *wrapped(words(printable(aau.label), "faint"), width, 2)]


def _timeline(state: State, width: int) -> list[SheetLine]:
    course = timeline.course_at_hand(state)
    if course is None:
        return []
    shown = wrapped(words(timeline.window_text(state)), width, 2)
    if not timeline.is_current(state):
        shown = wrapped(words("as before the change; following every event ...", "faint"), width, 2) + shown
    message = timeline.message_text(state)
    if message:
        return wrapped(words(message, "strong"), width, 2) + shown
    key = state.cursor.get("timeline")
    rank = key if isinstance(key, int) and key < course.trace.procs else 0
    middle_s = sum(state.window) / 2 * course.end_s
    at = doing(course, rank, middle_s)
    if at is not None:
        place = next((e for e in course.trace.about.places if e.id == int(course.trace.aau[at])), None)
        what = "" if place is None else f", line {place.line}: {place.label}"
        kind = CATEGORIES[int(course.category[at])]
        told = f"processor {rank} in the middle, at {seconds(middle_s)}: {kind}{what}"
        shown += wrapped(words(printable(told)), width, 2)
    return shown


def _compare(state: State, found: Prediction, width: int) -> list[SheetLine]:
    key = state.cursor.get("compare")
    if not isinstance(key, int):
        return _trust(state, found, width)
    shown: list[SheetLine] = []
    for letter, text in compare.messages_text(state, key):
        shown += wrapped([(letter, "marked" if letter == "B" else "own"), *words(text)], width, 2)
    return shown


def _home_procs(state: State) -> int:
    """The number of processors at the start; 0: no slider is there."""
    slider = state.sliders.get(PROCS)
    return 0 if slider is None else int(slider.notches[slider.home])


def _trust(state: State, found: Prediction, width: int) -> list[SheetLine]:
    """What the figures rest on."""
    shown: list[SheetLine] = []
    if not found.complete:
        shown += wrapped(words(f"partial: {partial_text(reasons([found]))}", "bad"), width, 2)
    sized = state.assumptions if found.processors == _home_procs(state) else ()
    for text in assumed([assuming(found, sized)]):
        shown += wrapped([("assumed", "title"), *words(printable(text))], width, 2)
    told = trusted(found) if found.interval is None else f"{within(found.interval)}; {trusted(found)}"
    shown += wrapped([("trust", "title"), *words(told)], width, 2)
    held = memory_needed(found)
    usable = found.memory_usable_bytes
    held = not_fitting([found]) or held + ("" if usable is None else f", {memory(usable)} usable")
    return shown + wrapped([("memory", "title"), *words(held, "" if found.fits else "bad")], width, 2)
