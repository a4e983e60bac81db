"""How the program scales: the same size on more processors, and the size that keeps the speed of each."""

from typing import TYPE_CHECKING

from esp.output.numbers import flop_rate, seconds, significant
from esp.tui.lines import Cell, Field, Piece, Sheet, SheetLayout, SheetLine, joined, words, wrapped
from esp.tui.question import Failure
from esp.tui.state import State, prediction

if TYPE_CHECKING:
    from esp.explore.scaling import Scaling

_WITH_EFFICIENCY = 56
_LEAST_BAR = 8
"""Columns of a bar of the efficiency from which there is one."""


def sheet(state: State, width: int) -> Sheet:
    """A row for each number of processors: time and speed-up of this size, and the size that keeps the speed."""
    found, shown = prediction(state), state.scaled
    if found is None:
        return Sheet(None, ())
    if shown is None or shown.key != state.selected or not shown.times_s:
        return Sheet(None, (joined([(" predicting on other numbers of processors ...", "spinner")]),))
    sizes = shown.found if shown.found is not None and not isinstance(shown.found, Failure) else None
    wide = width >= _WITH_EFFICIENCY
    fields = [Field("procs", 5), Field("time", 8), Field("speed-up", 8)]
    fields += [Field("efficiency", 10)] if wide else []
    fields += [Field(sizes.parameter if sizes else "", 11 if wide else 8), Field("psi" if sizes else "", 5)]
    bar = width - sum(each.width + each.gap for each in fields)
    bar = bar if wide and bar >= _LEAST_BAR else 0
    if bar:
        fields.insert(4, Field("", bar, "<"))
    layout = SheetLayout(fields, width)
    runs = {} if sizes is None else {each.processors: each for each in sizes.runs}
    first_procs, first_s = min(shown.times_s.items())
    lines: list[SheetLine] = []
    for procs in sorted({*shown.times_s, *runs}):
        time_s, run = shown.times_s.get(procs), runs.get(procs)
        speedup = None if time_s is None or time_s <= 0 else first_procs * first_s / time_s
        here = "strong" if procs == found.processors else "number"
        cells: list[Cell] = [(str(procs), here), "" if time_s is None else seconds(time_s)]
        cells.append("" if speedup is None else significant(speedup))
        if wide:
            cells.append("" if speedup is None else f"{speedup / procs:.0%}")
        if bar:
            cells.append(("" if speedup is None else "█" * round(bar * min(1.0, speedup / procs)), "good"))
        cells += ["", ""] if run is None else [f"{run.size:,}", f"{run.psi:.3f}"]
        lines.append(layout.line(cells, procs))
    return Sheet(layout.heading(), (*lines, joined(()), *_notes(state, sizes, first_procs, width)))


def _notes(state: State, sizes: "Scaling | None", first_procs: int, width: int) -> list[SheetLine]:
    shown, now = state.scaled, prediction(state)
    assert shown is not None
    assert now is not None
    text = f"time, speed-up{', efficiency' if width >= _WITH_EFFICIENCY else ''}: this size on so many processors"
    text += "." if first_procs == 1 else f", with the speed-up on {first_procs} taken as {first_procs}."
    notes = [*wrapped(words(text, "faint"), width), *_formula(state, width)]
    if isinstance(shown.found, Failure):
        return [*notes, *wrapped([*words("No sizes that keep the speed:", "faint"), *words(shown.found.text)], width)]
    if sizes is None:
        text = "looking for the sizes that keep the speed ..." + (f" {shown.tried} predictions" if shown.tried else "")
        return [*notes, *wrapped(words(text, "spinner"), width)]
    speed = flop_rate(sizes.speed)
    kept: list[Piece] = words(
        f"{sizes.parameter}: the smallest size at which each processor keeps its {speed}, the speed now. psi: the work "
        "of each processor in the first such row over its work here; 1 where it need not grow faster than the system.",
        "faint",
    )
    notes += wrapped(kept, width)
    if sizes.missing:
        never = ", ".join(map(str, sizes.missing))
        notes += wrapped(words(f"On {never} no {sizes.parameter} up to {sizes.most:,} keeps the speed."), width)
    return notes


def _formula(state: State, width: int) -> list[SheetLine]:
    """The time as a formula in the size, or why there is none."""
    found = None if state.scaled is None else state.scaled.formula
    if found is None:
        return []
    if isinstance(found, Failure):
        return wrapped([*words("No formula of the time:", "faint"), *words(found.text)], width)
    smooth = found.relaxed
    sign, time = ("=", found.time) if smooth is None or str(smooth) == str(found.time) else ("about", smooth)
    said = f"seconds, without waiting and cache misses, valid {found.validity}; esp formula has its terms."
    return wrapped([*words(f"T({found.parameter}) {sign} {time}", "strong"), *words(said, "faint")], width)


def detail(state: State, width: int) -> list[SheetLine]:
    """What the row under the cursor says of the run at that size."""
    shown, procs = state.scaled, state.cursor.get("scaling")
    if shown is None or isinstance(shown.found, Failure) or shown.found is None:
        return []
    run = next((each for each in shown.found.runs if each.processors == procs), None)
    if run is None:
        return []
    where = f"{shown.found.parameter} = {run.size:,} on {run.processors}:"
    pieces = words(f"{where} {seconds(run.time_s)}, {significant(run.work)} flop", "strong")
    if run.predicted is not None:
        off = "" if run.predicted.kept else f" ({abs(run.predicted.speed / shown.found.speed - 1):.1%} off the speed)"
        pieces += words(f"by equation 2 of Sun and Zhu {run.predicted.size:,}{off}")
    if run.fits is False:
        pieces += words("does not fit in the memory of a node", "bad")
    return wrapped(pieces, width, 2)
