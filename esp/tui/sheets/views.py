"""The four views of the right-hand side."""

from esp.tui.lines import Sheet, aged
from esp.tui.sheets import compare, source, timeline, tree
from esp.tui.sheets.figures import stale
from esp.tui.state import State, rival

_SHEETS = {"source": source.sheet, "tree": tree.sheet, "timeline": timeline.sheet, "compare": compare.sheet}


def sheet(state: State, width: int) -> Sheet:
    """The current view, dimmed where it is of older settings."""
    found = _SHEETS[state.view](state, width)
    old = stale(state) or (state.view == "compare" and state.slow and rival(state) not in state.fresh)
    return Sheet(found.heading, aged(found.lines)) if old else found
