"""What bounds the lines of a program: a roofline with roofs for arithmetic, memory and messages."""

from math import inf
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from esp.errors import PredictionError
from esp.output.figures import hottest_first, place
from esp.output.numbers import percent, plural, significant
from esp.output.plots import scales
from esp.output.plots.labels import NamedCurve, draw
from esp.output.plots.style import COLUMN_INCHES, SOFT, new_figure, title
from esp.prediction import Prediction, first
from sag.figures import cache_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_LINES = 8
_LEAST_SHARE = 0.01

ARITHMETIC = ("r8.add", "r8.mul", "r4.add", "r4.mul")
"""Operations of which the fastest is the roof of arithmetic."""


class LineBalance(Struct, frozen=True, kw_only=True):
    """What a line does on a processor, in the mean: rates per second, and floating-point operations for each byte
    between cache and memory and for each byte sent; None where it moves none."""

    name: str
    flops_per_s: float
    per_memory_byte: float | None
    per_message_byte: float | None


class Roofs(Struct, frozen=True, kw_only=True):
    """What a processor can do at most, per second; None where the machine has no figure for it, or nothing pays it."""

    flops: float
    memory_bytes: float | None
    message_bytes: float | None


def balances(prediction: Prediction) -> tuple[LineBalance, ...]:
    """The lines that take a share of the time and calculate, the longest first."""
    found = []
    whole_s = first(prediction.time_s)
    for line in hottest_first(prediction.lines):
        time_s, aaus = first(line.parts.time_s), frozenset(line.aaus)
        flops = sum(prediction.counts.flops(aaus).values())
        if not flops or time_s < _LEAST_SHARE * whole_s:
            continue
        moved = prediction.counts.bytes_moved(aaus)
        found.append(
            LineBalance(
                name=f"line {place(line, prediction.file)} ({percent(time_s / whole_s)})",
                flops_per_s=flops / prediction.processors / time_s,
                per_memory_byte=flops / moved if moved else None,
                per_message_byte=flops / line.bytes if line.bytes else None,
            )
        )
    return tuple(found[:_MOST_LINES])


def roofs(prediction: Prediction) -> Roofs:
    """The fastest addition or multiplication, bytes over the time of what moves them between cache and memory, and the
    bandwidth of the longest messages."""
    figures = prediction.counts.figures
    paid = [first(figures[f"processor.{name}"].seconds) for name in ARITHMETIC if f"processor.{name}" in figures]
    times = [
        prediction.counts.total(name) * first(figure.seconds)
        for name, figure in figures.items()
        if cache_of(figure.unit)
    ]
    per_byte = [
        first(figure.seconds)
        for name, figure in figures.items()
        if name.startswith("network.") and name.endswith(".per_byte") and first(figure.seconds) > 0
    ]
    moved = prediction.counts.bytes_moved()
    return Roofs(
        flops=1.0 / min(paid, default=inf),
        memory_bytes=moved / sum(times) if moved and sum(times) else None,
        message_bytes=1.0 / min(per_byte) if per_byte else None,
    )


def figure(prediction: Prediction) -> "Figure":
    """A roofline: each line has a filled marker at its operations for each byte of memory and an open one at those for
    each byte of messages, both as high as its rate. The roof that is nearest bounds it.

    Raises:
        PredictionError: no line calculates and moves anything.
    """
    lines = [each for each in balances(prediction) if each.per_memory_byte or each.per_message_byte]
    if not lines:
        raise PredictionError("no line with floating-point operations moves any data.", where=prediction.file)
    top = roofs(prediction)
    ratios = [x for each in lines for x in (each.per_memory_byte, each.per_message_byte) if x]
    bandwidths = [("memory", top.memory_bytes, "solid"), ("messages", top.message_bytes, (0, (4, 2)))]
    ridges = [top.flops / each for _, each, _ in bandwidths if each]
    left, right = scales.limits(np.array([*ratios, *ridges]))
    left, right = left / 2, right * 2
    rates = np.array([each.flops_per_s for each in lines])
    picture, axes = new_figure(COLUMN_INCHES, 3.0)
    scales.log_axis(axes, "x", (left, right), scales.number_tick)
    scales.log_axis(axes, "y", scales.limits(np.array([*rates, rates.min() / 2, 2 * top.flops])), _rate)
    axes.grid(visible=True)
    for name, bandwidth, dash in bandwidths:
        if bandwidth:
            over = np.array([left, top.flops / bandwidth, right])
            label = f"{name}: {significant(bandwidth / 1e6)} MB/s"
            axes.plot(
                over, np.minimum(over * bandwidth, top.flops), color=SOFT, linestyle=dash, linewidth=0.9, label=label
            )
    axes.axhline(top.flops, color=SOFT, linewidth=1.4, label=f"arithmetic: {_rate(top.flops)}")
    picture.legend(loc="outside lower left", ncols=1, handlelength=2.0)
    axes.set_xlabel("operations for each byte\nof memory (filled) or messages (open)")
    axes.set_ylabel("rate of each processor")
    title(axes, [prediction.file.rsplit("/", 1)[-1], prediction.system, plural(prediction.processors, "processor")])
    curves = [_curve(each, number) for number, each in enumerate(lines)]
    draw(axes, curves)
    for each, line in zip(lines, axes.get_lines()[-len(lines) :], strict=True):
        if each.per_message_byte:
            face = {"marker": line.get_marker(), "color": line.get_color(), "markerfacecolor": "white"}
            axes.plot([each.per_message_byte], [each.flops_per_s], zorder=4, **face)
    return picture


def _curve(line: LineBalance, number: int) -> NamedCurve:
    over = np.array(sorted(each for each in (line.per_memory_byte, line.per_message_byte) if each))
    return NamedCurve(line.name, over, np.full(over.size, line.flops_per_s), number, number // 5)


def _rate(per_second: float) -> str:
    """A rate of operations: ``20 Mflop/s``."""
    unit, name = next(((u, n) for u, n in ((1e9, "G"), (1e6, "M"), (1e3, "k")) if per_second >= u), (1.0, ""))
    return f"{per_second / unit:.3g} {name}flop/s"
