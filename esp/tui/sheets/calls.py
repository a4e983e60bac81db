"""The tree of calls, with the time of each call, the procedures that it calls included and not."""

from esp.inspect.calls import CallRow, call_rows, path
from esp.output.calls import place_of, times_called
from esp.output.numbers import seconds
from esp.output.screen import printable
from esp.prediction import first, four
from esp.tui.lines import Cell, Field, Piece, Sheet, SheetLayout, SheetLine, wrapped
from esp.tui.sheets.figures import bar, share_cells, time_cell
from esp.tui.state import State, prediction

_WITH_CALLS = 44
_WITH_BAR = 72
_WITH_ALL = 92
_BAR = 10


def sheet(state: State, width: int) -> Sheet:
    """A row for each call, below the procedure that makes it."""
    found = prediction(state)
    if found is None:
        return Sheet(None, ())
    fields = [Field("call", 0, "<"), Field("incl", 8), Field("excl", 8)]
    if width >= _WITH_BAR:
        fields.append(Field("where", _BAR, "<"))
    if width >= _WITH_ALL:
        fields += [Field(name, 4) for name in ("comp", "comm", "wait", "ovhd")]
    if width >= _WITH_CALLS:
        fields += [Field("calls", 6), Field("line", 4)]
    layout = SheetLayout(fields, width)
    total_s = first(found.time_s)
    lines: list[SheetLine] = []
    for each in call_rows(found):
        call = each.call
        label: list[Piece] = [("  " * each.depth, ""), (printable(call.procedure), "" if each.depth else "strong")]
        cells: list[Cell] = [label, time_cell(first(call.total.time_s), total_s)]
        cells.append(time_cell(first(call.parts.time_s), total_s))
        if width >= _WITH_BAR:
            cells.append(bar(four(call.parts), total_s, _BAR))
        if width >= _WITH_ALL:
            cells += share_cells(call.parts)
        if width >= _WITH_CALLS:
            cells += [times_called(call.calls), (place_of(each, found), "number")]
        lines.append(layout.line(cells, call.id))
    return Sheet(layout.heading(), tuple(lines))


def pointed(state: State) -> CallRow | None:
    """The call that the cursor is on."""
    found, key = prediction(state), state.cursor.get("calls")
    rows = () if found is None else call_rows(found)
    return next((each for each in rows if each.call.id == (key if isinstance(key, int) else 0)), None)


def detail(state: State, width: int) -> list[SheetLine]:
    """How the call under the cursor is reached, and what it takes."""
    found, row = prediction(state), pointed(state)
    if found is None or row is None:
        return []
    call = row.call
    told: list[Piece] = [(printable(path(found, call.id)), "strong")]
    told += [(f"called {times_called(call.calls)}x,", "")] if row.depth else []
    told += [(f"inclusive {seconds(first(call.total.time_s))},", "")]
    told += [(f"exclusive {seconds(first(call.parts.time_s))}", "")]
    return wrapped(told, width, 2)
