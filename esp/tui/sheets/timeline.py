"""The timeline: a row for each processor, a column for each stretch of time, and one message pointed out."""

import numpy as np

from esp.output.numbers import data, plural, seconds
from esp.tui.course import Course, Floats, arrivals, painted, seen_messages
from esp.tui.lines import Piece, Sheet, SheetLine, joined, words, wrapped
from esp.tui.question import Failure
from esp.tui.sheets.figures import MARKS, ROLES
from esp.tui.state import State, settings

MOST_ROWS = 256
"""More processors than these are not drawn: nobody scrolls through a million rows."""

_LABEL = 5
_LEAST_SHARE = 0.02
"""Below this a second category is not drawn."""

_LEVELS = " ▁▂▃▄▅▆▇█"


def sheet(state: State, width: int) -> Sheet:
    """Processors over time; the heading is the axis."""
    course = course_at_hand(state)
    if course is None:
        if isinstance(state.course, Failure):
            return Sheet(None, tuple(wrapped(words(state.course.text, "bad"), width)))
        return Sheet(None, (joined([("following every event ...", "faint")]),))
    columns = max(8, width - _LABEL)
    edges = edges_of(state, course, columns)
    shown = min(course.trace.procs, MOST_ROWS)
    rows = [_row(course, rank, edges) for rank in range(shown)]
    _point_out(state, course, rows, edges)
    lines = [SheetLine((((f"{rank:>{_LABEL - 1}} "), "number"), *_runs(row)), rank) for rank, row in enumerate(rows)]
    if course.trace.procs > shown:
        lines.append(joined([(f"and {plural(course.trace.procs - shown, 'more processor')}", "faint")]))
    lines += [_traffic(course, edges), joined(()), _legend(width)]
    return Sheet(_axis(edges), tuple(lines))


def course_at_hand(state: State) -> Course | None:
    """The course of events of the selected choice, where it is at hand."""
    current = state.closer_of is not None and state.closer_of[0] == state.selected
    return state.course if isinstance(state.course, Course) and current else None


def is_current(state: State) -> bool:
    """Whether that belongs to where the sliders stand now."""
    return state.closer_of == (state.selected, settings(state))


def edges_of(state: State, course: Course, columns: int) -> Floats:
    """The times between columns, in seconds."""
    low, high = state.window
    return np.linspace(low * course.end_s, max(high * course.end_s, 1e-12), columns + 1)


def _row(course: Course, rank: int, edges: Floats) -> list[Piece]:
    mostly, beside, share = (each.tolist() for each in painted(course, rank, edges))
    return [_cell(*each) for each in zip(mostly, beside, share, strict=True)]


def _cell(mostly: int, beside: int, share: float) -> Piece:
    """What takes longest as the ground, and what comes next as high as its share."""
    if mostly < 0:
        return " ", ""
    if share < _LEAST_SHARE:
        return MARKS[mostly], f"{ROLES[mostly]}/{ROLES[mostly]}"
    height = min(4, max(1, round(8 * share)))
    return _LEVELS[height], f"{ROLES[beside]}/{ROLES[mostly]}"


def _point_out(state: State, course: Course, rows: list[list[Piece]], edges: Floats) -> None:
    """Draw the message: down or up a column from the row of its sender to that of its receiver."""
    if not 0 <= state.message < course.sent.size:
        return
    source, destination = int(course.source[state.message]), int(course.destination[state.message])
    columns = edges.size - 1
    places = np.searchsorted(edges, [course.sent[state.message], course.received[state.message]], side="right") - 1
    leaves, arrives = (int(each) for each in places)
    if 0 <= leaves < columns and source < len(rows):
        rows[source][leaves] = ("S", "message")
    if not 0 <= arrives < columns:
        return
    low, high = sorted((source, destination))
    for rank in range(low + 1, min(high, len(rows))):
        rows[rank][arrives] = ("│", "message")
    if source < len(rows) and arrives != leaves:
        rows[source][arrives] = ("┐" if destination > source else "┘", "message")
        for column in range(leaves + 1, arrives):
            rows[source][column] = ("─", "message")
    if destination < len(rows):
        rows[destination][arrives] = ("R", "message")


def _runs(row: list[Piece]) -> list[Piece]:
    """Neighbours of one role as one piece."""
    found: list[Piece] = []
    for text, role in row:
        if found and found[-1][1] == role:
            found[-1] = (found[-1][0] + text, role)
        else:
            found.append((text, role))
    return found


def _axis(edges: Floats) -> SheetLine:
    """Times along the top, as many as have room."""
    columns = edges.size - 1
    text = [" "] * columns
    steps = max(1, columns // 16)
    for step in range(steps):
        at = round(step * columns / steps)
        label = f"╷{seconds(float(edges[at]))}"
        if at + len(label) <= columns:
            text[at : at + len(label)] = label
    return joined([("proc ", "title"), ("".join(text), "title")])


def _traffic(course: Course, edges: Floats) -> SheetLine:
    """How many messages arrive in each column."""
    counted = arrivals(course, edges)
    most = max(1, int(counted.max(initial=0)))
    levels = np.where(counted > 0, np.maximum(1, counted * (len(_LEVELS) - 1) // most), 0)
    return joined([("msgs ", "number"), ("".join(_LEVELS[at] for at in levels.tolist()), "traffic")])


def _legend(width: int) -> SheetLine:
    names = ("computation", "communication", "waiting", "overhead") if width >= 64 else ("comp", "comm", "wait", "ovhd")
    pieces: list[Piece] = [("     ", "")]
    for mark, role, name in zip(MARKS, ROLES, names, strict=True):
        pieces += [(mark * 2, f"{role}/{role}"), (f" {name}  ", "faint")]
    return joined(pieces)


def next_message(state: State, step: int) -> int:
    """The next message of those on the screen, or the one before; around at the ends; -1 where there is none."""
    course = course_at_hand(state)
    if course is None:
        return -1
    low, high = state.window
    found = seen_messages(course, low * course.end_s, high * course.end_s)
    if not found.size:
        return -1
    at = int(np.searchsorted(found, state.message, side="left"))
    here = at < found.size and found[at] == state.message
    if step > 0:
        at = at + 1 if here else at
    else:
        at -= 1
    return int(found[at % found.size])


def message_text(state: State) -> str:
    """The message that is pointed out, in a sentence."""
    course = course_at_hand(state)
    if course is None or not 0 <= state.message < course.sent.size:
        return ""
    at = state.message
    took = seconds(float(course.received[at] - course.sent[at]))
    place = next((each for each in course.trace.about.places if each.id == int(course.aau[at])), None)
    where = "" if place is None else f", line {place.line} ({place.label})"
    return (
        f"message {at + 1:,} of {course.sent.size:,}: {data(int(course.size_bytes[at]))} from processor "
        f"{int(course.source[at])} to {int(course.destination[at])}, sent at {seconds(float(course.sent[at]))}, "
        f"there {took} later{where}"
    )


def window_text(state: State) -> str:
    """What part of the run is shown."""
    course = course_at_hand(state)
    if course is None:
        return ""
    low, high = (share * course.end_s for share in state.window)
    found = seen_messages(course, low, high)
    return f"{seconds(low)} to {seconds(high)} of {seconds(course.end_s)}, {plural(int(found.size), 'message')}"
