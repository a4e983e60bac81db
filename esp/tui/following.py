"""From what is chosen in one view to the same thing in another."""

from msgspec.structs import replace

from esp.tui.lines import Key
from esp.tui.state import State, look_at, prediction, put_cursor


def follow(state: State, key: Key) -> State:
    """From a line of the source to its first AAU, from a line that is compared or a call to the source."""
    match state.view, key:
        case "source", int(line):
            return _into_graph(state, line)
        case "compare", int(line):
            return look_at(put_cursor(state, "source", line), "source")
        case "calls", int(call):
            return _into_source(state, call)
        case _:
            return state


def _into_graph(state: State, line: int) -> State:
    found = prediction(state)
    if found is None:
        return state
    aaus = next((each.aaus for each in found.lines if each.line == line and each.file == found.file), ())
    if not aaus:
        return state
    return look_at(put_cursor(replace(state, closed=frozenset()), "tree", min(aaus)), "tree")


def _into_source(state: State, call: int) -> State:
    found = prediction(state)
    if found is None:
        return state
    at = next((each.span.line for each in found.calls if each.id == call and each.span.file == found.file), 0)
    return look_at(put_cursor(state, "source", at), "source") if at else state
