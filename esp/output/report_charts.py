"""Charts of the report as SVG elements. They load nothing, have a text for who cannot see them, and take their colours
from the page, light or dark."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from math import log2, log10

import numpy as np

from esp.output.html import variables
from esp.output.numbers import percent, percentages, plural, seconds
from esp.output.plots.labels import spread
from esp.output.plots.scales import limits, log_ticks, time_tick
from esp.output.screen import shorten
from esp.prediction import CATEGORIES, Prediction, first, four

WIDTH, _HEIGHT = 560, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 66, 20, 24, 40
_NAME = 16
"""Letters of the name of a curve."""

_NAMED = 150
"""Room for the names at the ends of curves."""

_LINE = 19.0


def times(curves: Mapping[str, Sequence[Prediction]]) -> str:
    """Time over the number of processors, both logarithmic: a curve for each name, beside the line of perfect speed-up
    of the first one.

    A time of 0 has no place on such an axis; where fewer than two others are left, there is no curve.
    """
    drawn = {
        name: points
        for name, many in curves.items()
        if len(points := [(each.processors, first(each.time_s)) for each in many if first(each.time_s) > 0]) > 1
    }
    if not drawn:
        words = "too few numbers of processors take any time"
        return svg("Time", [text(_LEFT, _HEIGHT / 2, words)], _HEIGHT)
    numbers = sorted({number for points in drawn.values() for number, _ in points})
    fewest, most = numbers[0], numbers[-1]
    start, start_s = next(iter(drawn.values()))[0]
    ideal = [(start, start_s), (most, start_s * start / most)]
    low, high = limits(np.array([time_s for points in (*drawn.values(), ideal) for _, time_s in points]))
    right = WIDTH - _RIGHT - _NAMED

    def at(number: float, time_s: float) -> tuple[float, float]:
        along = (log2(number) - log2(fewest)) / (log2(most) - log2(fewest))
        up = (log10(time_s) - log10(low)) / (log10(high) - log10(low))
        return _LEFT + 14 + along * (right - _LEFT - 14), _HEIGHT - _BOTTOM - up * (_HEIGHT - _TOP - _BOTTOM)

    parts = [text(8, 12, "time"), text(right, _HEIGHT - 6, "processors", anchor="end")]
    for tick in log_ticks(low, high):
        y = at(fewest, tick)[1]
        parts += [rule(_LEFT, right, y), text(_LEFT - 6, y + 4, time_tick(tick), anchor="end")]
    last = None
    for number in numbers:
        x = at(number, low)[0]
        if last is None or x - last > 9 * len(str(number)):
            parts.append(text(x, _HEIGHT - _BOTTOM + 16, str(number), anchor="middle"))
            last = x
    parts.append(f'<polyline class="ideal" points="{_points(at(*each) for each in ideal)}"/>')
    said = []
    for look, (name, points) in zip(("", " other"), drawn.items(), strict=False):
        parts.append(f'<polyline class="curve{look}" points="{_points(at(*each) for each in points)}"/>')
        told = [f"{number}: {seconds(time_s)}" for number, time_s in points]
        said.append(f"{name}: {', '.join(told)}")
        for (number, time_s), words in zip(points, told, strict=True):
            inside = f"<title>{escape(f'{name}, {words}')}</title>"
            parts.append(_mark(at(number, time_s), look, inside))
    ends = [("ideal", at(*ideal[-1])[1]), *((name, at(*points[-1])[1]) for name, points in drawn.items())]
    ends.sort(key=lambda each: each[1])
    wanted = np.array([y for _, y in ends])
    placed = spread(wanted, np.full(len(ends), _LINE), (_TOP - _LINE, _HEIGHT - _BOTTOM + 0.0))
    for (name, _), y in zip(ends, placed.tolist(), strict=True):
        parts.append(text(right + 12, y + 4, shorten(name, _NAME)))
    return svg(f"Time over the number of processors. {'. '.join(said)}", parts, _HEIGHT)


def _mark(place: tuple[float, float], look: str, inside: str) -> str:
    x, y = place
    if look:
        return f'<rect class="point{look}" x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8">{inside}</rect>'
    return f'<circle class="point" cx="{x:.1f}" cy="{y:.1f}" r="4">{inside}</circle>'


def shares(predictions: Sequence[Prediction]) -> str:
    """A column for each number of processors: the four categories as shares of its time."""
    room = (WIDTH - _LEFT - _RIGHT) / len(predictions)
    tall = _HEIGHT - _TOP - _BOTTOM
    parts = [text(8, 12, "share of the time"), text(WIDTH - _RIGHT, _HEIGHT - 6, "processors", anchor="end")]
    for mark in (0, 50, 100):
        y = _HEIGHT - _BOTTOM - tall * mark / 100
        parts += [rule(_LEFT, WIDTH - _RIGHT, y), text(_LEFT - 6, y + 4, f"{mark}%", anchor="end")]
    said = []
    for place, each in enumerate(predictions):
        shown = zip(CATEGORIES, percentages(four(each.parts)), strict=True)
        said.append(f"{each.processors}: " + ", ".join(f"{name} {share}%" for name, share in shown))
        x, y = _LEFT + room * place + room * 0.15, float(_HEIGHT - _BOTTOM)
        total_s = first(each.time_s)
        for name, colour, part_s in zip(CATEGORIES, variables(), four(each.parts), strict=True):
            share = part_s / total_s if total_s > 0 else 0.0
            if share <= 0:
                continue
            y -= tall * share
            told = f"{plural(each.processors, 'processor')}: {name} {percent(share)}, {seconds(part_s)}"
            parts.append(
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{room * 0.7:.1f}" height="{tall * share:.1f}" '
                f'style="fill:{colour}"><title>{escape(told)}</title></rect>'
            )
        parts.append(text(x + room * 0.35, _HEIGHT - _BOTTOM + 16, str(each.processors), anchor="middle"))
    return svg(f"What the time is made of. {'. '.join(said)}", parts, _HEIGHT)


def _points(places: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def svg(words: str, parts: Sequence[str], height: float, width: float = WIDTH) -> str:
    """A picture; `words` say what it shows."""
    inside = "\n".join(parts)
    size = f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}"'
    return f'<svg class="chart" role="img" aria-label="{escape(words)}" {size}>\n{inside}\n</svg>'


def rule(left: float, right: float, y: float) -> str:
    """A thin line from left to right."""
    return f'<line class="rule" x1="{left:.1f}" x2="{right:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'


def text(x: float, y: float, words: str, *, anchor: str = "start") -> str:
    """Words in a picture."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'
