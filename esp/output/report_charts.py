"""Charts of the report as SVG elements: time over processors, and what it is made of. They load nothing."""

from collections.abc import Iterable, Sequence
from html import escape
from math import ceil, floor, log2, log10

from esp.output.html import COLOURS
from esp.output.numbers import percent, seconds
from esp.output.table import speed_up
from esp.prediction import CATEGORIES, Prediction, first, four

_WIDTH, _HEIGHT = 440, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 30, 24, 40
_FLAT = 1.3
"""Smallest ratio of the ends of an axis of times: what differs by less is not drawn as if it differed much."""

_STEPS = (1, 2, 5)
_MOST_TICKS = 6
_ROUNDING = 1e-9


def times(predictions: Sequence[Prediction]) -> str:
    """Time over the number of processors, both logarithmic, beside the line of perfect speed-up.

    A time of 0 has no place on such an axis; where fewer than two others are left, there is no curve.
    """
    shown = [
        (each.processors, first(each.time_s), *ratios)
        for each, ratios in zip(predictions, speed_up(predictions), strict=True)
        if first(each.time_s) > 0
    ]
    if len(shown) < 2:
        return _svg("Time", [_text(_LEFT, _HEIGHT / 2, "too few numbers of processors take any time")])
    points = [(number, time_s) for number, time_s, _, _ in shown]
    most = max(number for number, _ in points)
    fewest, fewest_s = min(points)
    ideal = [(fewest, fewest_s), (most, fewest_s * fewest / most)]
    ticks = _ticks(min(time_s for _, time_s in (*points, *ideal)), max(time_s for _, time_s in (*points, *ideal)))
    low, high = log10(ticks[0]), log10(ticks[-1])

    def at(number: float, time_s: float) -> tuple[float, float]:
        along = (log2(number) - log2(fewest)) / (log2(most) - log2(fewest))
        up = (log10(time_s) - low) / (high - low)
        return _LEFT + 14 + along * (_WIDTH - _LEFT - _RIGHT - 58), _HEIGHT - _BOTTOM - up * (_HEIGHT - _TOP - _BOTTOM)

    parts = [_text(_LEFT - 52, 12, "time"), _text(_WIDTH - _RIGHT, _HEIGHT - 6, "processors", anchor="end")]
    for tick in ticks:
        y = at(fewest, tick)[1]
        parts.append(f'<line class="rule" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(_text(_LEFT - 6, y + 4, seconds(tick), anchor="end"))
    last = None
    for number, _ in points:
        x = at(number, ticks[0])[0]
        if last is None or x - last > 9 * len(str(number)):
            parts.append(_text(x, _HEIGHT - _BOTTOM + 16, str(number), anchor="middle"))
            last = x
    parts.append(f'<polyline class="ideal" points="{_points(at(*each) for each in ideal)}"/>')
    parts.append(f'<polyline class="curve" points="{_points(at(*each) for each in points)}"/>')
    for number, time_s, ratio, efficiency in shown:
        x, y = at(number, time_s)
        told = f"{number} processors: {seconds(time_s)}, {ratio:.3g} times as fast, efficiency {percent(efficiency)}"
        parts.append(f'<circle class="point" cx="{x:.1f}" cy="{y:.1f}" r="4"><title>{escape(told)}</title></circle>')
    for number, time_s in (points[0], points[-1]):  # right of the point, where a falling curve is not
        x, y = at(number, time_s)
        parts.append(_text(x + 8, y - 3, seconds(time_s)))
    return _svg(f"Time on {fewest} to {most} processors", parts)


def shares(predictions: Sequence[Prediction]) -> str:
    """A column for each number of processors: the four categories as shares of its time."""
    room = (_WIDTH - _LEFT - _RIGHT) / len(predictions)
    tall = _HEIGHT - _TOP - _BOTTOM
    parts = [
        _text(_LEFT - 52, 12, "share of the time"),
        _text(_WIDTH - _RIGHT, _HEIGHT - 6, "processors", anchor="end"),
    ]
    for mark in (0, 50, 100):
        y = _HEIGHT - _BOTTOM - tall * mark / 100
        parts.append(f'<line class="rule" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(_text(_LEFT - 6, y + 4, f"{mark}%", anchor="end"))
    for place, each in enumerate(predictions):
        x, y = _LEFT + room * place + room * 0.15, float(_HEIGHT - _BOTTOM)
        total_s = first(each.time_s)
        for name, colour, part_s in zip(CATEGORIES, COLOURS, four(each.parts), strict=True):
            share = part_s / total_s if total_s > 0 else 0.0
            if share <= 0:
                continue
            y -= tall * share
            told = f"{each.processors} processors: {name} {percent(share)}, {seconds(part_s)}"
            parts.append(
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{room * 0.7:.1f}" height="{tall * share:.1f}" '
                f'fill="{colour}"><title>{escape(told)}</title></rect>'
            )
        parts.append(_text(x + room * 0.35, _HEIGHT - _BOTTOM + 16, str(each.processors), anchor="middle"))
    return _svg("What the time is made of", parts)


def _ticks(low: float, high: float) -> list[float]:
    """Round values from below `low` to above `high`, at most `_MOST_TICKS`."""
    if high < low * _FLAT:
        low, high = low / _FLAT, high * _FLAT
    every = [step * 10.0**power for power in range(floor(log10(low)), ceil(log10(high)) + 1) for step in _STEPS]
    below = max(each for each in every if each <= low * (1 + 1e-9))
    above = min(each for each in (*every, 10.0 ** (ceil(log10(high)) + 1)) if each >= high * (1 - 1e-9))
    ticks = [each for each in every if below <= each <= above]
    if len(ticks) > _MOST_TICKS:  # the ends, and powers of ten in between
        inside = [each for each in ticks[1:-1] if abs(log10(each) - round(log10(each))) < _ROUNDING]
        ticks = [ticks[0], *inside[:: 1 + len(inside) // _MOST_TICKS], ticks[-1]]
    return ticks


def _points(places: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def _svg(title: str, parts: Sequence[str]) -> str:
    inside = "\n".join(parts)
    size = f'width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}"'
    return f'<svg class="chart" role="img" {size}>\n<title>{escape(title)}</title>\n{inside}\n</svg>'


def _text(x: float, y: float, words: str, *, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'
