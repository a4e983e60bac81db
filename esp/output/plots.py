"""Sweeps as pictures: curves in a file (matplotlib, an extra, imported only here and only then), bars in a terminal."""

from math import isnan
from pathlib import Path
from typing import Any

import numpy as np

from esp.errors import PredictionError, UnreadableFileError, UsageError
from esp.explore.axes import Axis
from esp.explore.sweep import Sweep
from esp.output.columns import Column, TableRow, table
from esp.output.numbers import seconds
from esp.output.screen import Screen, printable, shorten
from esp.output.sweep import shared_by_all

SUFFIXES = (".png", ".svg", ".pdf")

_MOST_BARS = 60
_MOST_CURVES = 12
_MOST_TICKS = 12
_INCHES = (7.0, 4.5)
_COLOURS = 10
_LINES = ("-", "--", "-.", ":")
_MARKERS = "os^Dv<>P*X"


def check_plot(file: str) -> None:
    """Find out before all the work whether a plot can be drawn.

    Raises:
        UsageError: the suffix says no form of picture.
        UnreadableFileError: there is no such folder.
        PredictionError: matplotlib is not installed.
    """
    path = Path(file)
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(f"{file!r} is no picture.", where="--plot", hint=f"Name a file in {', '.join(SUFFIXES)}.")
    if not path.parent.is_dir():
        raise UnreadableFileError("there is no such folder.", where=str(path.parent))
    from importlib.util import find_spec

    if find_spec("matplotlib") is None:
        hint = "Install it with pip install 'esp-hpf[plot]', or look at --bars."
        raise PredictionError("plots are drawn by matplotlib, which is not installed.", where="--plot", hint=hint)


def curve_axis(sweep: Sweep) -> int:
    """The axis that a plot has below: the one of numbers with the most values.

    Raises:
        UsageError: no axis has two numbers.
    """
    numeric = [at for at, axis in enumerate(sweep.axes) if axis.numbers is not None and len(axis) > 1]
    if not numeric:
        hint = "Give a number such as --procs or --set n= several values, or look at --bars."
        raise UsageError("a curve needs an axis of numbers.", where="--plot", hint=hint)
    return max(numeric, key=lambda at: len(sweep.axes[at]))


def plot(sweep: Sweep, file: str, *, versus: str = "") -> None:
    """Draw the times over one axis, a curve for each combination of the others; `versus`: changes instead of times.

    Equal sweeps give equal files.

    Raises:
        UsageError: see `curve_axis`, or there are too many curves.
        UnreadableFileError: the file cannot be written.
    """
    below = curve_axis(sweep)
    values = np.moveaxis(100.0 * sweep.change(versus) if versus else sweep.time_s, below, -1)
    others = [axis for at, axis in enumerate(sweep.axes) if at != below]
    curves = int(np.prod(values.shape[:-1], dtype=int))
    if curves > _MOST_CURVES:
        hint = "Leave some values out, or draw from the --csv."
        raise UsageError(f"{curves} curves are too many for one plot.", where="--plot", hint=hint)
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "esp"  # identifiers in SVG do not depend on the moment
    mpl.rcParams["svg.fonttype"] = "none"  # text that can be searched, a third of the size
    from matplotlib.figure import Figure

    figure = Figure(figsize=_INCHES, layout="constrained")
    axes = figure.add_subplot()
    numbers = sweep.axes[below].numbers or ()
    for at in np.ndindex(*values.shape[:-1]):
        label = ", ".join(_value(axis, where) for axis, where in zip(others, at, strict=True) if len(axis) > 1)
        axes.plot(numbers, values[at], markersize=3.5, linewidth=1.2, label=label or None, **look(at, values.shape))
    axes.set_xlabel(_title(sweep.axes[below]))
    axes.set_ylabel(f"change of the time against the first {versus} (%)" if versus else "predicted time (s)")
    if min(numbers) > 0 and max(numbers) / min(numbers) >= 16:
        axes.set_xscale("log", base=2)
    if len(numbers) <= _MOST_TICKS:
        axes.set_xticks(numbers, [f"{each:g}" for each in numbers])
    if not versus and float(np.nanmax(values)) / max(float(np.nanmin(values)), 1e-300) >= 50:
        axes.set_yscale("log")
    axes.set_title("  ".join(shared_by_all(sweep)))
    axes.grid(visible=True, linewidth=0.4, alpha=0.6)
    if curves > 1:
        axes.legend(fontsize="small")
    # Equal sweeps give equal files: no date goes into them.
    undated: dict[str, dict[str, Any]] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    metadata = undated.get(Path(file).suffix.lower(), {})
    try:
        figure.savefig(file, dpi=150, metadata=metadata)
    except OSError as error:
        raise UnreadableFileError(f"cannot be written: {error.strerror}.", where=file) from None


def look(at: tuple[int, ...], shape: tuple[int, ...]) -> dict[str, Any]:
    """How the curve at a place is drawn: its colour says where it is on the first axis with several values, line and
    marker say where on the others."""
    varied = [axis for axis in range(len(at)) if shape[axis] > 1]
    first, rest = (at[varied[0]], varied[1:]) if varied else (0, [])
    again, colour = divmod(first, _COLOURS)
    extents = [shape[axis] for axis in rest]
    other = int(np.ravel_multi_index([at[axis] for axis in rest], extents)) if rest else 0
    style = other + again * int(np.prod(extents, dtype=int))
    return {"color": f"C{colour}", "linestyle": _LINES[style % len(_LINES)], "marker": _MARKERS[style % len(_MARKERS)]}


def _value(axis: Axis, at: int) -> str:
    return axis.labels[at] if axis.numbers is None or axis.labels[at][:1] in "xX" else f"{axis.name} {axis.labels[at]}"


def _title(axis: Axis) -> str:
    """The name of an axis with the unit of its values."""
    label = axis.labels[0].strip()
    unit = label.lstrip("xX+-.0123456789eE ").strip()
    told = "factor" if label[:1] in ("x", "X") else unit
    return f"{axis.name.replace('_', ' ')} ({told})" if told else axis.name.replace("_", " ")


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
