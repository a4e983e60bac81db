"""What the prediction on the screen is compared with (B), and the steps that pin it."""

from msgspec.structs import replace

from esp.prediction import Prediction
from esp.tui.question import Pinned
from esp.tui.state import State, choice_of, moved_sliders, settings


def beside(state: State) -> Pinned | None:
    """What the selected choice is compared with: what was pinned, else the fastest of the others."""
    pinned = state.pinned
    if pinned is not None and (pinned.key, pinned.settings) != (state.selected, settings(state)):
        return pinned
    others = (_as_it_is(state, key) for key in state.order if key != state.selected)
    return next((each for each in others if each is not None), None)


def _as_it_is(state: State, key: str) -> Pinned | None:
    """A choice under the settings of now."""
    choice, found = choice_of(state, key), state.outcomes.get(key)
    if choice is None or not isinstance(found, Prediction):
        return None
    grid = "x".join(map(str, choice.grid))
    name = " ".join(filter(None, (choice.shown, grid))) + (f", {choice.origin}" if choice.origin else "")
    changes = "".join(f", {each.described}" for each in moved_sliders(state))
    return Pinned(key=key, settings=settings(state), name=f"{name}{changes}", prediction=found)


def pin(state: State) -> State:
    """Keep the prediction on the screen to compare with, or keep it no longer."""
    kept = _as_it_is(state, state.selected)
    if kept is None:
        return state
    same = state.pinned is not None and (state.pinned.key, state.pinned.settings) == (kept.key, kept.settings)
    return replace(state, pinned=None if same else kept)


def pin_choice(state: State, key: str) -> State:
    """Keep a choice as it is now to compare with."""
    return replace(state, pinned=_as_it_is(state, key))
