"""What a wide terminal shows besides: which processor holds what, and the course of events."""

from collections.abc import Mapping

from esp.output.layout import Shown, layout
from esp.output.screen import Screen
from esp.tui.course import Course
from esp.tui.lines import SheetLine, joined
from esp.tui.question import Aside
from esp.tui.sheets import timeline
from esp.tui.sliders import PROCS
from esp.tui.state import State, choice_of, prediction


def at_hand(state: State) -> Aside | None:
    """What is known of the selected choice, perhaps under older settings."""
    return state.aside if state.aside is not None and state.aside.key == state.selected else None


def speed_up(state: State) -> Mapping[int, float]:
    """Number of processors -> how many times as fast as on the smallest number that is predicted."""
    found = at_hand(state)
    if found is None or not found.times_s:
        return {}
    fewest_s = found.times_s[min(found.times_s)]
    return {procs: fewest_s / time_s for procs, time_s in found.times_s.items()}


def name_and_number(state: State) -> tuple[str, int]:
    """The name of the selected choice, and its number of processors."""
    choice, slider = choice_of(state, state.selected), state.sliders.get(PROCS)
    return "" if choice is None else choice.shown, 0 if slider is None else int(slider.value)


def layout_lines(state: State, width: int, height: int) -> tuple[SheetLine, ...]:
    """The first distributed array, cut into boxes with the number of their processor; boxes are as tall as there is
    room for."""
    title = joined([(" Layout: which processor holds what", "pane")])
    found, shown = at_hand(state), prediction(state)
    if found is None or shown is None:
        return (title, joined([(" ..." * state.roomy, "faint")]))
    # The head and the blank line of `esp layout` say what the heading of the screen does.
    picture = Shown(
        program="",
        procs=shown.processors,
        arrangement="",
        grid=shown.grid,
        pictures=found.pictures[:1],
        left=(),
        empty=(),
        doubts=(),
    )
    lines = layout(picture, Screen(width)).splitlines()[2:]
    return (title, *(joined([(line, "")]) for line in _lower(lines, len(lines) + 1 - height)))


def _lower(lines: list[str], by: int) -> list[str]:
    """A picture with so many lines less, taken from all its boxes alike; the first line of a box has its indices."""
    depths: dict[int, int] = {}
    for at, line in enumerate(lines):
        if line.lstrip().startswith("|"):
            depths[at] = depths.get(at - 1, 0) + 1
    left_out = sorted(depths, key=lambda at: -depths[at])[: max(0, by)]
    return [line for at, line in enumerate(lines) if at not in left_out]


def timeline_lines(state: State, width: int) -> tuple[SheetLine, ...]:
    """The timeline in small."""
    title = joined([(" Timeline: what each processor does", "pane")])
    if not isinstance(state.course, Course):
        return (title, joined([(" ...", "faint")]))
    found = timeline.sheet(state, width)
    return (title, *([found.heading] if found.heading is not None else []), *found.lines)
