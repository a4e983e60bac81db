"""The views of the right-hand side."""

from esp.tui.lines import Sheet, aged
from esp.tui.pinned import beside
from esp.tui.sheets import compare, impact, source, timeline, tree
from esp.tui.sheets.figures import stale
from esp.tui.state import State

_SHEETS = {
    "source": source.sheet,
    "tree": tree.sheet,
    "timeline": timeline.sheet,
    "compare": compare.sheet,
    "impact": impact.sheet,
}


def sheet(state: State, width: int) -> Sheet:
    """The current view, dimmed where it is of older settings."""
    found = _SHEETS[state.view](state, width).narrowed(state.wanted.get(state.view, ""))
    other = beside(state) if state.view == "compare" and state.slow else None
    old = stale(state) or (other is not None and other is not state.pinned and other.key not in state.fresh)
    return Sheet(found.heading, aged(found.lines)) if old else found
