"""What an answer of the engine changes in the state."""

from msgspec.structs import replace

from esp.prediction import Prediction, first
from esp.tui.question import (
    Alone,
    Answer,
    Aside,
    Closer,
    Finished,
    Impact,
    ListedProgram,
    PredictedAnswer,
    Progress,
    Scaled,
    TiesKnown,
)
from esp.tui.sliders import SIZE, size_slider
from esp.tui.state import State, bounds_only, put_cursor, settings, time_s


def answered(state: State, answer: Answer) -> State:
    """The state after an answer; one to an older question changes nothing."""
    if answer.number != state.number:
        return state
    match answer:
        case ListedProgram():
            return _listed(state, answer)
        case PredictedAnswer():
            return _predicted(replace(state, progress=""), answer)
        case Progress():
            text = f"{answer.shown}: {answer.done:.0%} of the iterations of line {answer.line} predicted"
            return replace(state, progress=text)
        case Closer():
            return _looked_at(state, answer)
        case Alone():
            return replace(state, alone_s=answer.times_s)
        case Impact():
            return replace(state, impact=answer, impact_of=(answer.key, settings(state)))
        case Scaled():
            return replace(state, scaled=answer, scaled_of=(answer.key, settings(state)))
        case Aside():
            return replace(state, aside=answer, aside_of=(answer.key, settings(state)))
        case Finished():
            return _done(state)
        case TiesKnown():
            return replace(state, tried=answer.number)


def _looked_at(state: State, answer: Closer) -> State:
    """What a question did not ask for stays where it belongs to the same choice and settings."""
    now = (answer.key, settings(state))
    same = state.closer_of == now
    processors = state.by_processor if answer.processors is None and same else answer.processors
    course = state.course if answer.course is None and same else answer.course
    message = state.message if same else -1
    return replace(state, by_processor=processors, course=course, closer_of=now, message=message)


def _listed(state: State, answer: ListedProgram) -> State:
    known = {each.key for each in answer.choices}
    kept = [key for key in state.order if key in known]
    order = (*kept, *(each.key for each in answer.choices if each.key not in kept))
    outcomes = {key: each for key, each in state.outcomes.items() if key in known}
    return replace(
        state,
        choices=answer.choices,
        left_out=answer.left_out,
        selected=answer.wanted,
        order=order,
        outcomes=outcomes,
        sized_by=answer.sized_by,
    )


def _predicted(state: State, answer: PredictedAnswer) -> State:
    after = replace(state, outcomes={**state.outcomes, answer.key: answer.outcome}, fresh=state.fresh | {answer.key})
    if answer.key not in state.outcomes:  # nobody has looked for it yet
        after = _sorted(after)
    found = answer.outcome
    if not isinstance(found, Prediction):
        wrong = found.place
        return put_cursor(after, "source", wrong.line) if wrong.line and wrong.file == after.file else after
    if not after.sizes:
        after = _with_size(after, found)
    if "source" not in after.cursor and answer.key == after.selected:
        after = put_cursor(after, "source", _hottest(found))
    if not any(each.moved for each in after.sliders.values()):
        after = replace(after, home={**after.home, answer.key: found})
    return after


def _hottest(found: Prediction) -> int:
    """The line of the main file that takes longest: where a look at the source begins."""
    times = {each.line: first(each.parts.time_s) for each in found.lines if each.file == found.file}
    return max(times, key=lambda line: (times[line], -line), default=1)


def _with_size(state: State, found: Prediction) -> State:
    """The slider of the problem size: the PARAMETER that the program's arrays are made with, as far as one can tell."""
    sizes = {
        name: value
        for name, value in {**dict(state.values), **found.constants}.items()
        if isinstance(value, int) and not isinstance(value, bool) and value > 1
    }
    if not sizes:
        return state
    likely = (state.size_name, *state.sized_by, "n", max(sizes, key=lambda each: sizes[each]))
    name = next(each for each in likely if each in sizes)
    slider = size_slider(name, sizes[name])
    return replace(state, sizes=sizes, size_name=name, sliders={**state.sliders, SIZE: slider})


def _done(state: State) -> State:
    """All is answered; what has no answer now has none at all, whatever it was under other settings."""
    answers = {key: each for key, each in state.outcomes.items() if key in state.fresh}
    return _sorted(replace(state, outcomes=answers, busy=False, slow=False, progress=""))


def _sorted(state: State) -> State:
    """The choices by time, what does not fit in memory last; as they are listed where some prediction is incomplete."""
    ranks = {each.key: each.rank for each in state.choices}
    if bounds_only(state):
        return replace(state, order=tuple(sorted(ranks, key=lambda key: ranks[key])))

    def place(key: str) -> tuple[bool, float, int]:
        seconds, made = time_s(state, key), state.outcomes.get(key)
        over = isinstance(made, Prediction) and not made.fits
        return over, (float("inf") if seconds is None else seconds), ranks.get(key, 0)

    return replace(state, order=tuple(sorted(ranks, key=place)))
