"""The four views of the right-hand side."""

from esp.tui.lines import Sheet
from esp.tui.sheets import compare, source, timeline, tree
from esp.tui.state import State

_SHEETS = {"source": source.sheet, "tree": tree.sheet, "timeline": timeline.sheet, "compare": compare.sheet}


def sheet(state: State, width: int) -> Sheet:
    """The current view."""
    return _SHEETS[state.view](state, width)
