"""What each processor does and when, and who sends how much to whom: pictures of a trace."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from esp.errors import PredictionError
from esp.output.numbers import data, plural
from esp.output.plots import scales
from esp.output.plots.style import CATEGORY_COLOURS, COLUMN_INCHES, INK, MAP, PAGE_INCHES, key, new_figure, thin, title
from esp.prediction import CATEGORIES
from esp.traces.record import CATEGORY
from esp.traces.trace import SEND, Trace, messages

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ORDER = ("COMPUTATION", "COMMUNICATION", "WAITING", "OVERHEAD")

_MOST_ROWS = 64
_MOST_EVENTS = 4000
"""Events that are drawn one by one; of more, the shares of the categories in each of `_COLUMNS` columns."""

_COLUMNS = 700
_MOST_LINES = 200
"""Messages that are drawn."""


def _subject(trace: Trace) -> list[str]:
    about = trace.about
    return [about.file.rsplit("/", 1)[-1], about.system, plural(trace.procs, "processor")]


def timeline(trace: Trace, *, start_s: float = 0.0, stop_s: float | None = None) -> "Figure":
    """A row for each processor, with the category of its time; few messages are lines from send to receive.

    Args:
        trace: predicted or executed.
        start_s: when the picture begins.
        stop_s: when it ends; None: with the trace.

    Raises:
        PredictionError: nothing happens in between.
    """
    end = trace.end
    stop_s = float(end.max()) if stop_s is None and end.size else stop_s
    inside = np.flatnonzero((end > start_s) & (trace.begin < (stop_s or 0.0)))
    if stop_s is None or not inside.size:
        raise PredictionError("nothing happens in this part of the trace.", where="--from, --to")
    ranks = np.unique(np.linspace(0, trace.procs - 1, min(trace.procs, _MOST_ROWS)).round().astype(int))
    row_of = np.full(trace.procs, -1)
    row_of[ranks] = np.arange(ranks.size)
    shown = inside[row_of[trace.rank[inside]] >= 0]
    category = categories(trace)[shown]
    rows = row_of[trace.rank[shown]]
    begin, until = np.maximum(trace.begin[shown], start_s), np.minimum(end[shown], stop_s)
    picture, axes = new_figure(PAGE_INCHES, 1.1 + min(5.0, max(0.14 * ranks.size, 0.4)))
    if shown.size <= _MOST_EVENTS:
        _events(axes, rows, category, begin, until)
        _lines(axes, trace, row_of, (start_s, stop_s))
    else:
        _shares(axes, (rows, category, begin, until), ranks.size, (start_s, stop_s))
    axes.set_xlim(start_s, stop_s)
    axes.set_ylim(ranks.size - 0.4, -0.6)
    step = 1 + (ranks.size - 1) // max(1, int(20 * (axes.figure.get_figheight() - 1.1) / 2.8))
    axes.set_yticks(np.arange(0, ranks.size, step), [str(each) for each in ranks[::step]])
    axes.tick_params(axis="y", length=0)
    axes.set_ylabel("processor")
    scales.span(axes, start_s, stop_s)
    some = [] if ranks.size == trace.procs else [f"{ranks.size} of them shown"]
    title(axes, [*_subject(trace), *some, trace.about.origin])
    picture.legend(handles=_key(), loc="outside lower left", ncols=4, handlelength=1.0, columnspacing=1.2)
    return picture


def categories(trace: Trace) -> NDArray[np.int64]:
    """The category of each event, a position in `esp.prediction.CATEGORIES`."""
    return np.array([_ORDER.index(CATEGORY[kind].name) for kind in range(len(CATEGORY))])[trace.kind]


def _key() -> list[Any]:
    from matplotlib.patches import Patch

    return [
        Patch(facecolor=colour, edgecolor=INK, linewidth=0.4, label=name)
        for name, colour in zip(CATEGORIES, CATEGORY_COLOURS, strict=True)
    ]


def _events(axes: Any, rows: Any, category: Any, begin: Any, until: Any) -> None:
    """A rectangle for each event."""
    for number, colour in enumerate(CATEGORY_COLOURS):
        for row in np.unique(rows):
            of = (rows == row) & (category == number) & (until > begin)
            if of.any():
                pieces = list(zip(begin[of].tolist(), (until - begin)[of].tolist(), strict=True))
                axes.broken_barh(pieces, (row - 0.4, 0.8), facecolors=colour, linewidth=0)


def _lines(axes: Any, trace: Trace, row_of: Any, ends: tuple[float, float]) -> None:
    """A line for each message that begins and ends in the picture, from its sender to its receiver."""
    from matplotlib.collections import LineCollection

    sends, receives = messages(trace)
    known = (row_of[trace.rank[sends]] >= 0) & (row_of[trace.rank[receives]] >= 0)
    known &= (trace.begin[sends] >= ends[0]) & (trace.end[receives] <= ends[1])
    if known.sum() > _MOST_LINES:
        return
    sends, receives = sends[known], receives[known]
    start = np.column_stack([trace.begin[sends], row_of[trace.rank[sends]]])
    stop = np.column_stack([trace.end[receives], row_of[trace.rank[receives]]])
    axes.add_collection(LineCollection(np.stack([start, stop], axis=1), colors=INK, linewidths=0.5), autolim=False)


def shares(events: tuple[Any, Any, Any, Any], rows: int, edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """(row, category, column) the part of the time between two edges that a row spends on a category.

    Args:
        events: row, category, begin and end of each; those of a row in the order of time, none overlapping.
        rows: how many.
        edges: ends of the columns, ascending.
    """
    row, category, begin, until = events
    found = np.zeros((rows, len(CATEGORIES), edges.size - 1))
    for at in np.ndindex(rows, len(CATEGORIES)):
        of = (row == at[0]) & (category == at[1])
        if of.any():
            moments = np.column_stack([begin[of], until[of]]).ravel()
            spent = np.column_stack([np.zeros(of.sum()), (until - begin)[of]]).ravel().cumsum()
            found[at] = np.diff(np.interp(edges, moments, spent)) / np.diff(edges)
    return found


def _shares(axes: Any, events: Any, rows: int, ends: tuple[float, float]) -> None:
    """Columns in which the height of a colour is the share of its category."""
    edges = np.linspace(*ends, _COLUMNS + 1)
    parts = shares(events, rows, edges)
    for row in range(rows):
        top = np.full(_COLUMNS, row + 0.4)
        for number, colour in enumerate(CATEGORY_COLOURS):
            bottom = top - 0.8 * parts[row, number]
            if parts[row, number].any():
                axes.fill_between(
                    edges,
                    np.append(top, top[-1]),
                    np.append(bottom, bottom[-1]),
                    step="post",
                    color=colour,
                    linewidth=0,
                    rasterized=rows > 16,
                )
            top = bottom


def matrix(trace: Trace) -> NDArray[np.int64]:
    """(P, P) bytes that each processor (row) sends to each other one (column)."""
    found = np.zeros((trace.procs, trace.procs), np.int64)
    sends = trace.is_kind(SEND)
    np.add.at(found, (trace.rank[sends], trace.partner[sends]), trace.size_bytes[sends])
    return found


def traffic(trace: Trace) -> "Figure":
    """Who sends how much to whom.

    Raises:
        PredictionError: nobody sends anything.
    """
    from matplotlib.colors import LogNorm

    sent = matrix(trace)
    if not sent.any():
        raise PredictionError("no processor sends a message.", where=trace.about.file)
    some = sent[sent > 0]
    norm = LogNorm(*scales.limits(some.astype(float)))
    picture, axes = new_figure(COLUMN_INCHES, 2.9)
    places = np.arange(trace.procs + 1) - 0.5
    shown = axes.pcolormesh(
        places, places, np.ma.masked_equal(sent, 0), cmap=MAP, norm=norm, rasterized=sent.size > 4096
    )
    axes.invert_yaxis()
    axes.spines[:].set_visible(True)
    step = 1 + (trace.procs - 1) // 16
    ticks = range(0, trace.procs, step)
    axes.set_xticks(ticks, [str(each) for each in ticks])
    axes.set_yticks(ticks, [str(each) for each in ticks])
    axes.tick_params(length=0)
    axes.set_xlabel("receiver")
    axes.set_ylabel("sender")
    key(picture, shown, "sent in total", data)
    title(axes, [*_subject(trace), trace.about.origin])
    thin(axes)
    return picture
