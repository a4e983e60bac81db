"""The views of the right-hand side."""

from esp.tui.lines import Piece, Sheet, aged, words, wrapped
from esp.tui.pinned import beside
from esp.tui.sheets import calls, compare, impact, scaling, source, timeline, tree
from esp.tui.sheets.figures import stale
from esp.tui.state import State, failed, prediction

_SHEETS = {
    "source": source.sheet,
    "tree": tree.sheet,
    "timeline": timeline.sheet,
    "compare": compare.sheet,
    "impact": impact.sheet,
    "calls": calls.sheet,
    "scaling": scaling.sheet,
}


def sheet(state: State, width: int) -> Sheet:
    """The current view, dimmed where it is of older settings."""
    if state.view != "source" and prediction(state) is None:
        return Sheet(None, tuple(wrapped(_instead(state), width)))
    found = _SHEETS[state.view](state, width).narrowed(state.wanted.get(state.view, ""))
    other = beside(state) if state.view == "compare" and state.slow else None
    old = stale(state) or (other is not None and other is not state.pinned and other.key not in state.fresh)
    return Sheet(found.heading, aged(found.lines)) if old else found


def _instead(state: State) -> list[Piece]:
    """What a view says while there is nothing to show: why, or that it is on its way."""
    if failed(state) is not None:
        return words("There is no prediction to look at; below is why. v sets a value, o opens another program.", "bad")
    return words("predicting ..." if state.busy else "There is no program to look at; o opens one.", "spinner")
