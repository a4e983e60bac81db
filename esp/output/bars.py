"""A sweep as bars in a terminal."""

from math import isnan

import numpy as np

from esp.explore.sweep import Sweep
from esp.output.columns import Column, TableRow, table
from esp.output.numbers import seconds
from esp.output.screen import Screen, printable, shorten

_MOST_BARS = 60


def bars(sweep: Sweep, screen: Screen) -> str:
    """A bar for each cell, the longest as wide as there is room."""
    varied = [at for at, axis in enumerate(sweep.axes) if len(axis) > 1]
    most_s = float(np.nanmax(sweep.time_s)) if sweep.done.any() else 0.0
    columns = [Column(sweep.axes[at].name, ">" if sweep.axes[at].numbers is not None else "<") for at in varied]
    columns += [Column("time", width=8), Column("", "<")]
    widths = [max(len(sweep.axes[at].name), *(min(18, len(each)) for each in sweep.axes[at].labels)) for at in varied]
    room = max(10, screen.columns - sum(width + 2 for width in widths) - 8 - 2)
    rows = []
    for count, at in enumerate(np.ndindex(*sweep.time_s.shape)):
        if count >= _MOST_BARS:
            break
        time_s = float(sweep.time_s[at])
        cells = [shorten(printable(sweep.axes[axis].labels[at[axis]]), 18) for axis in varied]
        length = 0 if isnan(time_s) or most_s <= 0 else max(1, round(room * time_s / most_s))
        rows.append(TableRow((*cells, "-" if isnan(time_s) else seconds(time_s), "#" * length)))
    text = table(columns, rows, screen)
    more = sweep.time_s.size - len(rows)
    return text + (f"\nand {more:,} more (--csv has all)" if more > 0 else "") + "\n"
