"""What is on the screen, as one frozen value, and the steps from one such value to the next.

Nothing here draws, computes a prediction or knows a key: the app turns keys, mouse and answers into these steps, and
`question` says what has to be asked next.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from aag.ir.evaluate import Value
from esp.explore.ties import ties, timing
from esp.prediction import Prediction, first
from esp.tui.course import Course
from esp.tui.lines import Key
from esp.tui.question import WRITTEN, Aside, ByProcessor, ChoiceRow, Failure, Impact, Outcome, Pinned, Scaled, Settings
from esp.tui.question import Question as Asked
from esp.tui.sliders import (
    BANDWIDTH,
    LATENCY,
    LOAD,
    PROCS,
    SIZE,
    SPEED,
    Slider,
    machine_slider,
    procs_slider,
    scenario_of,
    size_slider,
)
from interpreter.result import Assumption

if TYPE_CHECKING:
    from esp.request import Request

View = Literal["source", "tree", "timeline", "compare", "impact", "calls", "scaling"]
VIEWS: tuple[View, ...] = ("source", "tree", "timeline", "compare", "impact", "calls", "scaling")

SORTS: Mapping[str, tuple[str, ...]] = {
    "choices": ("time", "name", "communication"),
    "source": ("line", "time"),
    "compare": ("time", "line", "change"),
}
"""List -> what it can be sorted by."""

_SHIFT = 8
"""Columns by which the source is shifted at a time."""

Values = tuple[tuple[str, Value], ...]


class State(Struct, frozen=True, kw_only=True):
    """What is shown. Keys of `outcomes`, `home` and `fresh` are those of choices."""

    file: str
    lines: tuple[str, ...]
    system: str
    bundled: bool = False
    command: str = ""
    """The start of the command that predicts the same: program, machine and what no slider or choice changes."""
    assumptions: tuple[Assumption, ...] = ()
    """What the number of processors rests on, where the machine gives it."""
    sliders: Mapping[str, Slider] = field(default_factory=dict)
    """By name; the problem size joins them with the first prediction, which knows the PARAMETERs."""
    values: Values = ()
    """Values that were asked for or given (D8)."""
    size_name: str = ""
    """The PARAMETER that the size slider moves."""
    sizes: Mapping[str, int] = field(default_factory=dict)
    """All PARAMETERs that it could move, with what the program says."""
    number: int = 0
    """Of the newest question."""
    tried: int = 0
    """Of the newest question whose ties are known: the scenarios of its choices are predicted last."""
    busy: bool = False
    """Whether it is still being answered."""
    slow: bool = False
    """Whether that takes so long that a person should see it."""
    choices: tuple[ChoiceRow, ...] = ()
    left_out: int = 0
    sized_by: tuple[str, ...] = ()
    """PARAMETERs that size what is distributed."""
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    """The latest outcome of each choice."""
    fresh: frozenset[str] = frozenset()
    """The choices whose outcome belongs to the newest question."""
    order: tuple[str, ...] = ()
    """Keys of the choices as they are listed; it changes when a question is answered, not in between."""
    home: Mapping[str, Prediction] = field(default_factory=dict)
    """Predictions with all sliders where they started: what a what-if is held against."""
    selected: str = WRITTEN
    pinned: Pinned | None = None
    """What is kept to compare with; None: the next best choice takes its place."""
    alone_s: Mapping[str, float] = field(default_factory=dict)
    """Name of a slider -> the time with only that one moved, where several are."""
    impact: Impact | None = None
    scaled: Scaled | None = None
    progress: str = ""
    """How far the prediction has come that is being made, where it takes long."""
    view: View = "source"
    roomy: bool = False
    """Whether the terminal is so large that it shows the speed-up, the layout and the timeline beside all else."""
    aside: Aside | None = None
    aside_of: tuple[str, Settings] | None = None
    """The choice and settings that `aside` belongs to."""
    wide: bool = False
    """Whether the view has the whole width."""
    cursor: Mapping[str, Key] = field(default_factory=dict)
    """View -> what its cursor stands on."""
    wanted: Mapping[str, str] = field(default_factory=dict)
    """List -> what its lines must contain; lists are the views and ``choices``."""
    sorting: Mapping[str, str] = field(default_factory=dict)
    """List -> what it is sorted by; without an entry the first of `SORTS`."""
    shift: int = 0
    """Columns by which the source is shifted to the left."""
    closed: frozenset[int] = frozenset()
    """AAUs of the tree whose inside is hidden."""
    spread: frozenset[int] = frozenset()
    """AAUs of the tree that show their processors."""
    processor: int | None = None
    """The processor that the tree shows; None: means over all."""
    by_processor: ByProcessor | Failure | None = None
    course: Course | Failure | None = None
    closer_of: tuple[str, Settings] | None = None
    """The choice and settings that the last two belong to."""
    impact_of: tuple[str, Settings] | None = None
    """The choice and settings that `impact` belongs to."""
    scaled_of: tuple[str, Settings] | None = None
    window: tuple[float, float] = (0.0, 1.0)
    """The part of the run that the timeline shows, as shares of it."""
    message: int = -1
    """The message that the timeline points out, counted from 0; -1: none."""


def opened(
    file: str,
    lines: tuple[str, ...],
    system: str,
    procs: int,
    request: "Request",
    *,
    bundled: bool = False,
    command: str = "",
) -> State:
    """The first state for a program on a machine. `procs`: how many processors the first prediction has."""
    scenario = request.scenario
    sliders = (
        machine_slider(LOAD, "load", "network load by others", scenario.load),
        machine_slider(BANDWIDTH, "bandwidth", "bandwidth of the network", scenario.bandwidth),
        machine_slider(LATENCY, "latency", "latency of a message", scenario.latency),
        machine_slider(SPEED, "processor speed", "speed of the processors", scenario.processor_speed),
        procs_slider(procs),
    )
    values = tuple((name.lower(), value) for name, value in request.values.items())
    return State(
        file=file,
        lines=lines,
        system=system,
        bundled=bundled,
        command=command,
        values=values,
        sliders={each.name: each for each in sliders},
    )


def nothing(file: str = "no program", *, busy: bool = False) -> State:
    """The state before a program is opened. `busy`: it is being read."""
    return State(file=file, lines=(), system="", busy=busy)


def unreadable(file: str, lines: tuple[str, ...], why: Failure) -> State:
    """The state for a program that cannot be read: its text, with the cursor on what is wrong."""
    at = why.place.line if why.place.file == file else 0
    return replace(nothing(file), lines=lines, outcomes={WRITTEN: why}, cursor={"source": at} if at else {})


def after(state: State, before: State) -> State:
    """A first state in the place of another one: questions are counted on, the terminal is as large."""
    return replace(state, number=before.number, roomy=before.roomy)


# --- what is known ---


def settings(state: State) -> Settings:
    """Where everything stands that decides a prediction."""
    return _settings(state, state.sliders)


def _settings(state: State, sliders: Mapping[str, Slider]) -> Settings:
    changes = scenario_of(sliders)
    values = dict(state.values)
    size = sliders.get(SIZE)
    if size is not None and size.moved:
        values[state.size_name] = int(size.value)
    procs = int(sliders[PROCS].value) if PROCS in sliders else None
    return Settings(**changes, procs=procs, values=tuple(sorted(values.items())))


def moved_sliders(state: State) -> tuple[Slider, ...]:
    """The sliders that do not stand where they started."""
    return tuple(each for each in state.sliders.values() if each.moved)


def _alone(state: State) -> tuple[tuple[str, Settings], ...]:
    """Where several sliders moved: the settings with only one of them moved."""
    moved = moved_sliders(state)
    if len(moved) < 2:
        return ()
    home = {name: each.to(each.home) for name, each in state.sliders.items()}
    return tuple((each.name, _settings(state, {**home, each.name: each})) for each in moved)


def effect(state: State, name: str) -> tuple[float, float] | None:
    """What a slider does alone: the time with it and the time as asked; None where it stands where it started, or
    that is not predicted yet."""
    slider, before = state.sliders.get(name), base(state)
    if slider is None or before is None or not slider.moved:
        return None
    found = prediction(state)
    if len(moved_sliders(state)) > 1:
        now_s = state.alone_s.get(name)
    else:
        now_s = None if found is None or state.selected not in state.fresh else first(found.time_s)
    return None if now_s is None else (now_s, first(before.time_s))


def question(state: State) -> Asked:
    """What has to be asked for this state."""
    return Asked(
        number=state.number,
        settings=settings(state),
        wanted=state.selected,
        processors=state.view == "tree" or state.processor is not None,
        course=state.view == "timeline",
        alone=_alone(state),
        impact=state.view == "impact",
        scaling=state.view == "scaling",
        aside=state.roomy,
    )


def choice_of(state: State, key: str) -> ChoiceRow | None:
    """The choice of a key."""
    return next((each for each in state.choices if each.key == key), None)


def outcome(state: State) -> Outcome | None:
    """The outcome of the selected choice, perhaps of an older question."""
    return state.outcomes.get(state.selected)


def prediction(state: State) -> Prediction | None:
    """The prediction of the selected choice, where there is one."""
    found = outcome(state)
    return found if isinstance(found, Prediction) else None


def base(state: State) -> Prediction | None:
    """What the selected prediction is held against: the same choice with all sliders at home, else that of the source;
    None while they are at home."""
    if not moved_sliders(state):
        return None
    return state.home.get(state.selected) or state.home.get(WRITTEN)


def time_s(state: State, key: str) -> float | None:
    """Seconds of a choice, where it has a prediction."""
    found = state.outcomes.get(key)
    return first(found.time_s) if isinstance(found, Prediction) else None


def bounds_only(state: State) -> bool:
    """Whether some prediction is incomplete, so that the order of the choices may be wrong."""
    return any(isinstance(each, Prediction) and not each.complete for each in state.outcomes.values())


def tied(state: State) -> Mapping[str, int]:
    """Choices that tie with a faster one -> the row of that, from 1 (Def 19); nothing until all are known."""
    known = state.order if state.tried == state.number else ()
    found = {key: each for key in known if isinstance(each := state.outcomes.get(key), Prediction) and each.fits}
    ranked = sorted(found, key=lambda key: first(found[key].time_s))
    place, leaders = {key: at for at, key in enumerate(state.order, 1)}, ties([timing(found[key]) for key in ranked])
    return {key: place[ranked[at]] for key, at in zip(ranked, leaders, strict=True) if at is not None}


def awaiting_ties(state: State) -> bool:
    """Whether all choices are predicted, but not yet the scenarios that decide which of them tie."""
    return not state.busy and state.tried != state.number and not bounds_only(state)


def failed(state: State) -> Failure | None:
    """Why the selected choice has no prediction, where it has none."""
    found = outcome(state)
    return found if isinstance(found, Failure) else None


def missing(state: State) -> Failure | None:
    """The failure that values would mend, where the selected choice has one."""
    found = outcome(state)
    return found if isinstance(found, Failure) and found.names and state.selected in state.fresh else None


# --- steps ---


def asking(state: State) -> State:
    """The state after a new question is asked: all that is shown is old until it is answered. A program that is not
    open has no questions."""
    if PROCS not in state.sliders:
        return state
    return replace(state, number=state.number + 1, busy=True, slow=False, fresh=frozenset())


def dragging_on(state: State, number: int) -> State:
    """The question of this number takes long, if it is still the newest and unanswered."""
    return replace(state, slow=True) if state.busy and state.number == number else state


def moved(state: State, name: str, at: int) -> State:
    """A slider goes to a notch."""
    slider = state.sliders.get(name)
    if slider is None or slider.to(at).at == slider.at:
        return state
    return asking(replace(state, sliders={**state.sliders, name: slider.to(at)}))


def typed(state: State, name: str, text: str) -> State:
    """A slider gets a value that was typed."""
    return asking(replace(state, sliders={**state.sliders, name: state.sliders[name].on(text)}))


def back_home(state: State) -> State:
    """All sliders go to where they started."""
    if not moved_sliders(state):
        return state
    return asking(replace(state, sliders={name: each.to(each.home) for name, each in state.sliders.items()}))


def sized_by(state: State, name: str) -> State:
    """The size slider moves another PARAMETER."""
    after = replace(state, size_name=name, sliders={**state.sliders, SIZE: size_slider(name, state.sizes[name])})
    return asking(after) if state.sliders[SIZE].moved else after


def given(state: State, values: Values) -> State:
    """Values that the program does not say, or another value for a PARAMETER, for all that follows."""
    after = {**dict(state.values), **{name.lower(): value for name, value in values}}
    # What the size slider stood for was the value before.
    sliders = {name: each for name, each in state.sliders.items() if name != SIZE}
    return asking(replace(state, values=tuple(sorted(after.items())), sliders=sliders, sizes={}, home={}))


def select(state: State, key: str) -> State:
    """Another choice is looked at; what is known of it is shown at once."""
    if key == state.selected or choice_of(state, key) is None:
        return state
    after = replace(state, selected=key, closed=frozenset(), spread=frozenset(), message=-1)
    return _closer_look(after)


def look_at(state: State, view: View) -> State:
    """Another view."""
    return _closer_look(replace(state, view=view))


def with_room(state: State, *, roomy: bool) -> State:
    """The terminal became large, or small."""
    return state if roomy == state.roomy else _closer_look(replace(state, roomy=roomy))


def one_processor(state: State, processor: int | None) -> State:
    """The tree shows one processor, or means over all."""
    if processor is not None and PROCS in state.sliders:
        processor %= int(state.sliders[PROCS].value)
    return _closer_look(replace(state, processor=processor))


def sort_of(state: State, where: str) -> str:
    """What a list is sorted by."""
    return state.sorting.get(where, SORTS[where][0])


def sorted_anew(state: State, where: str) -> State:
    """The list is sorted by the next of what it can be sorted by."""
    if where not in SORTS:
        return state
    names = SORTS[where]
    after = names[(names.index(sort_of(state, where)) + 1) % len(names)]
    return replace(state, sorting={**state.sorting, where: after})


def narrowed(state: State, where: str, text: str) -> State:
    """The list shows only what contains a text."""
    return replace(state, wanted={**state.wanted, where: text})


def widened(state: State) -> State:
    """The view has the whole width, or no longer."""
    return replace(state, wide=not state.wide)


def stepped_out(state: State) -> State:
    """One step back: no message pointed out, all processors instead of one, both panes and whole lists."""
    if state.view == "timeline" and state.message >= 0:
        return replace(state, message=-1)
    if state.processor is not None:
        return replace(state, processor=None)
    return replace(state, wide=False, wanted={})


def sideways(state: State, step: int) -> State:
    """The source is shifted, the timeline moves."""
    if state.view == "timeline":
        return panned(state, 0.25 * step)
    if state.view == "source":
        return replace(state, shift=max(0, state.shift + _SHIFT * step))
    return state


def pointed_at(state: State, message: int) -> State:
    """The timeline points out another message, with the cursor on its sender."""
    after = replace(state, message=message)
    if not isinstance(state.course, Course) or not 0 <= message < state.course.source.size:
        return after
    return put_cursor(after, "timeline", int(state.course.source[message]))


def _closer_look(state: State) -> State:
    """Ask again where the view needs what is not at hand; predictions are kept, so only the closer look is new."""
    current = state.closer_of == (state.selected, settings(state))
    wants_processors = (state.view == "tree" or state.processor is not None) and not (
        current and state.by_processor is not None
    )
    wants_course = state.view == "timeline" and not (current and state.course is not None)
    wants_impact = state.view == "impact" and state.impact_of != (state.selected, settings(state))
    whole = state.scaled_of == (state.selected, settings(state)) and state.scaled is not None and state.scaled.found
    wants_scaling = state.view == "scaling" and not whole
    wants_aside = state.roomy and state.aside_of != (state.selected, settings(state))
    wanted = (wants_processors, wants_course, wants_impact, wants_scaling, wants_aside)
    return asking(state) if any(wanted) else state


def put_cursor(state: State, view: str, key: Key) -> State:
    """The cursor of a view stands on something else."""
    return state if state.cursor.get(view) == key else replace(state, cursor={**state.cursor, view: key})


def fold(state: State, aau: int) -> State:
    """Hide or show the inside of an AAU."""
    return replace(state, closed=state.closed ^ {aau})


def coarser(state: State) -> State:
    """Hide the inside of all loops, then that of the program, then nothing."""
    from aag.graph.cluster import FOLDED

    found = prediction(state)
    if found is None:
        return state
    compound = {each.parent for each in found.aaus}
    levels = [frozenset[int]()]
    for classes in FOLDED.values():
        kinds = {each.__name__ for each in classes}
        levels.append(frozenset(each.id for each in found.aaus if each.kind in kinds and each.id in compound))
    levels = list(dict.fromkeys(levels))
    at = levels.index(state.closed) if state.closed in levels else 0
    return replace(state, closed=levels[(at + 1) % len(levels)])


def spread(state: State, aau: int) -> State:
    """Show or hide the processors of an AAU."""
    return replace(state, spread=state.spread ^ {aau})


def zoomed(state: State, factor: float) -> State:
    """The timeline shows a shorter (factor below 1) or longer part of the run, with the same middle."""
    low, high = state.window
    middle, half = (low + high) / 2, min(0.5, max(1e-6, (high - low) / 2 * factor))
    return replace(state, window=_within(middle - half, middle + half))


def panned(state: State, share: float) -> State:
    """The timeline moves by a share of what it shows."""
    low, high = state.window
    step = share * (high - low)
    return replace(state, window=_within(low + step, high + step))


def _within(low: float, high: float) -> tuple[float, float]:
    length = min(1.0, high - low)
    low = min(max(0.0, low), 1.0 - length)
    return low, low + length


# --- answers ---
