"""Pictures of the report beside its curves: what-ifs as a tornado, messages, the timeline, memory."""

from collections.abc import Mapping, Sequence
from html import escape
from math import floor, log10

import numpy as np
from numpy.typing import NDArray

from esp.explore.impact import Swing
from esp.output.html import variables
from esp.output.numbers import data, memory, percentages, plural, seconds
from esp.output.plots.scales import time_tick
from esp.output.plots.timeline import categories, shares
from esp.output.report_charts import WIDTH, rule, svg, text
from esp.prediction import CATEGORIES
from esp.traces.trace import Trace

Ints = NDArray[np.int64]

MOST_PROCESSORS = 64
"""Processors up to which each has a place in pictures."""

_ROWS = 16
"""Processors in the timeline."""

_ROW, _GAP = 16, 4
_COLUMNS = 240
_FAINTEST = 0.3


def tornado(base_s: float, swings: Sequence[Swing]) -> str:
    """A bar for each figure from the time with less of it to the time with more, the furthest first."""
    ordered = sorted(swings, key=lambda each: -each.reach_s(base_s))
    times = [time_s for each in ordered for time_s in (each.less_s, each.more_s) if time_s is not None]
    low, high = min(base_s, *times), max(base_s, *times)
    left, right, top = 130, WIDTH - 20, 26
    scale = (right - left - 70) / (high - low) if high > low else 0.0

    def at(time_s: float) -> float:
        return left + 50 + scale * (time_s - low)

    parts, said = [], []
    for place, each in enumerate(ordered):
        y = top + place * (_ROW + 10)
        parts.append(text(left + 14, y + 12, each.name, anchor="end"))
        for change, time_s in ((each.less, each.less_s), (each.more, each.more_s)):
            if time_s is None:
                continue
            kind = "slower" if time_s > base_s else "faster"
            start, end = sorted((at(base_s), at(time_s)))
            told = f"{each.name} {change}: {seconds(time_s)}"
            said.append(told)
            box = f'x="{start:.1f}" y="{y}" width="{end - start:.1f}" height="{_ROW}"'
            parts.append(f'<rect class="{kind}" {box}><title>{escape(told)}</title></rect>')
            aside = time_s > base_s or (time_s == base_s and change == each.more)
            parts.append(text(end + 4 if aside else start - 4, y + 12, change, anchor="start" if aside else "end"))
    bottom = top + len(ordered) * (_ROW + 10)
    x = at(base_s)
    parts.append(f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="{top - 6}" y2="{bottom}"/>')
    parts.append(text(x, 14, seconds(base_s), anchor="middle"))
    if low < base_s:
        parts.append(text(at(low), bottom + 12, seconds(low), anchor="middle"))
    if high > base_s:
        parts.append(text(at(high), bottom + 12, seconds(high), anchor="middle"))
    return svg(f"Time with one figure changed; unchanged {seconds(base_s)}. {'; '.join(said)}", parts, bottom + 20)


def traffic(sent: Ints) -> str:
    """A cell for each pair of processors (sender, receiver), at least one of which sends bytes: fuller is more."""
    procs = sent.shape[0]
    most, least = int(sent.max()), int(sent[sent > 0].min())
    side, left, top = 360 / procs, 60, 40
    parts = [text(left, 12, "receiver"), text(4, top - 6, "sender")]
    step = 1 + (procs - 1) // 16
    for rank in range(0, procs, step):
        middle = (rank + 0.5) * side
        parts.append(text(left + middle, top - 6, str(rank), anchor="middle"))
        parts.append(text(left - 6, top + middle + 4, str(rank), anchor="end"))
    for edge in (0, procs):
        parts.append(rule(left, left + 360, top + edge * side))
    for sender, receiver in np.argwhere(sent > 0).tolist():
        size = int(sent[sender, receiver])
        dark = 1.0 if most == least else np.log(size / least) / np.log(most / least)
        box = f'x="{left + receiver * side:.1f}" y="{top + sender * side:.1f}" width="{side:.1f}" height="{side:.1f}"'
        told = f"{sender} sends {data(size)} to {receiver}"
        look = f'fill-opacity="{_FAINTEST + (1 - _FAINTEST) * dark:.2f}"'
        parts.append(f'<rect class="cell" {box} {look}><title>{told}</title></rect>')
    return svg(sentence(sent), parts, top + 370, left + 380)


def sentence(sent: Ints) -> str:
    """How many pairs send bytes, and how many."""
    procs, most, least = sent.shape[0], int(sent.max()), int(sent[sent > 0].min())
    sender, receiver = divmod(int(sent.argmax()), procs)
    pairs = f"{int((sent > 0).sum())} of {procs * (procs - 1)} pairs of processors"
    if most == least:
        return f"{pairs} send messages, {data(most)} each in total"
    return f"{pairs} send messages, {data(least)} to {data(most)} each in total, most from {sender} to {receiver}"


def timeline(trace: Trace) -> str:
    """A row for each of some processors: the height of a colour is the share of its category at that time. Something
    takes time in the trace."""
    ranks = np.unique(np.linspace(0, trace.procs - 1, min(trace.procs, _ROWS)).round().astype(int))
    row_of = np.full(trace.procs, -1)
    row_of[ranks] = np.arange(ranks.size)
    inside = np.flatnonzero(row_of[trace.rank] >= 0)
    rows, category = row_of[trace.rank[inside]], categories(trace)[inside]
    begin, end = trace.begin[inside], trace.end[inside]
    until = float(trace.end.max())
    edges = np.linspace(0.0, until, _COLUMNS + 1)
    found = shares((rows, category, begin, end), ranks.size, edges)
    left, wide = 60, 1260
    across = (wide - left - 20) / _COLUMNS
    parts = [text(4, 12, "processor")]
    said = []
    for row, rank in enumerate(ranks.tolist()):
        bottom = 20 + row * (_ROW + _GAP) + _ROW
        parts.append(text(left - 6, bottom - 4, str(rank), anchor="end"))
        tops = np.rint(_ROW * np.cumsum(found[row], axis=0)).astype(int)
        below = np.zeros(_COLUMNS, int)
        for number, colour in enumerate(variables()):
            path = _area(below, tops[number], bottom, (left, across))
            if path:
                parts.append(f'<path d="{path}" style="fill:{colour}"/>')
            below = tops[number]
        part = percentages(found[row].sum(axis=1).tolist())
        said.append(f"{rank}: " + ", ".join(f"{name} {each}%" for name, each in zip(CATEGORIES, part, strict=True)))
    bottom = 20 + ranks.size * (_ROW + _GAP)
    power = 10.0 ** floor(log10(until / 4))
    apart = next(step * power for step in (1, 2, 5, 10) if until / (step * power) <= 6)
    for tick in range(int(until / apart) + 1):
        x = left + tick * apart / until * (wide - left - 20)
        parts.append(f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="{bottom}" y2="{bottom + 4}"/>')
        parts.append(text(x, bottom + 17, time_tick(tick * apart), anchor="middle"))
    return svg(f"What processors do over time. {'; '.join(said)}", parts, bottom + 24, wide)


def _area(below: NDArray[np.int_], above: NDArray[np.int_], bottom: int, place: tuple[int, float]) -> str:
    """The path between two lines of steps; equal columns together."""
    left, across = place
    changes = np.flatnonzero((np.diff(below) != 0) | (np.diff(above) != 0)) + 1
    path = ""
    for start, stop in zip([0, *changes.tolist()], [*changes.tolist(), below.size], strict=True):
        tall = int(above[start] - below[start])
        if tall:
            wide = across * (stop - start)
            path += f"M{left + across * start:.1f} {bottom - int(above[start])}h{wide:.1f}v{tall}h-{wide:.1f}z"
    return path


def held(arrays: Mapping[str, Ints]) -> str:
    """A column for each processor: the bytes of data that it holds."""
    total = sum(arrays.values())
    assert isinstance(total, np.ndarray)
    most = int(total.max())
    left, top, bottom = 76, 16, 200
    room = (WIDTH - left - 10) / total.size
    parts = [text(WIDTH - 10, bottom + 32, "processor", anchor="end")]
    for share in (0.0, 0.5, 1.0):
        y = bottom - share * (bottom - top)
        parts += [rule(left, WIDTH - 10, y), text(left - 6, y + 4, memory(share * most), anchor="end")]
    step = 1 + (total.size - 1) // 16
    for rank, size in enumerate(total.tolist()):
        tall = (bottom - top) * size / most
        box = (
            f'x="{left + room * (rank + 0.1):.1f}" y="{bottom - tall:.1f}" width="{room * 0.8:.1f}" height="{tall:.1f}"'
        )
        parts.append(f'<rect class="cell" {box}><title>processor {rank}: {memory(size)}</title></rect>')
        if rank % step == 0:
            parts.append(text(left + room * (rank + 0.5), bottom + 16, str(rank), anchor="middle"))
    words = f"{memory(int(total.min()))} to {memory(most)} on {plural(total.size, 'processor')}"
    return svg(f"Data that each processor holds: {words}", parts, bottom + 40)
