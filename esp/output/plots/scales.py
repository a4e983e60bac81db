"""Axes of times and of numbers: logarithmic where values differ by much, with few round ticks that name their unit."""

from collections.abc import Callable, Sequence
from math import ceil, floor, log10
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from esp.explore.axes import Axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Way = Literal["x", "y"]

LOGARITHMIC = 4.0
"""From this ratio of the largest to the smallest value on an axis is logarithmic."""

_FLAT = 1.25
"""Least ratio of the ends of a logarithmic axis: what differs by less is not drawn as if it differed much."""

_MOST_TICKS = 9
_MOST_VALUES = 12
_STEPS = ((1, 2, 5), (1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9))
_LINEAR = [float(f"{step}e{power}") for power in range(-12, 9) for step in (1, 2, 5)]
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def spreads(values: Sequence[float] | NDArray[np.float64]) -> bool:
    """Whether an axis for these values is logarithmic."""
    known = np.asarray(values, float)
    known = known[np.isfinite(known)]
    return bool(known.size) and known.min() > 0 and known.max() / known.min() >= LOGARITHMIC


def time_tick(time_s: float) -> str:
    """A time at a tick: ``200 ms``; hours would not be round, so long times stay seconds.

    >>> [time_tick(x) for x in (0.0, 2e-7, 5e-4, 0.2, 1.0, 1e4)]
    ['0', '200 ns', '500 µs', '200 ms', '1 s', '10,000 s']
    """
    if time_s == 0:
        return "0"
    unit_s, unit = next(((unit_s, unit) for unit_s, unit in _UNITS if abs(time_s) >= unit_s * (1 - 1e-9)), _UNITS[-1])
    number = time_s / unit_s
    return f"{number:,.0f} {unit}" if abs(number) >= 1000 else f"{number:.3g} {unit}"


def number_tick(value: float) -> str:
    """A number at a tick.

    >>> [number_tick(x) for x in (0.001, 0.5, 1.0, 20.0, 1e5, 2e-7)]
    ['0.001', '0.5', '1', '20', '100000', '2e-07']
    """
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def log_ticks(low: float, high: float) -> list[float]:
    """Round values between two positive ones: 1, 2, 5, 10, ..., more or fewer where these are too few or too many.

    >>> log_ticks(0.8, 30), log_ticks(1e-6, 1e4), log_ticks(1.1, 1.3)
    ([1.0, 2.0, 5.0, 10.0, 20.0], [1e-06, 0.0001, 0.01, 1.0, 100.0, 10000.0], [1.1, 1.15, 1.2, 1.25, 1.3])
    """
    powers = range(floor(log10(low)), ceil(log10(high)) + 1)
    for steps in _STEPS:
        found = [float(f"{step}e{power}") for power in powers for step in steps]
        found = [each for each in found if low * (1 - 1e-9) <= each <= high * (1 + 1e-9)]
        if 3 <= len(found) <= _MOST_TICKS:
            return found
    if high / low < 10:
        step = next(each for each in _LINEAR if (high - low) / each < _MOST_TICKS - 2)
        return [float(f"{at * step:.6g}") for at in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]
    inside = [power for power in powers if low * (1 - 1e-9) <= 10.0**power <= high * (1 + 1e-9)]
    return [float(f"1e{power}") for power in inside[:: 1 + (len(inside) - 1) // (_MOST_TICKS - 2)]]


def number_axis(axes: "Axes", which: Way, given: Axis) -> None:
    """Make an axis one of the numbers that a sweep varies, with a tick at each value or, where these are many, at round
    ones, written as the user writes them: ``x2``, ``30%``."""
    from matplotlib.ticker import MaxNLocator, NullLocator

    numbers = np.array(given.numbers)
    label = given.labels[0].strip()
    prefix, unit = label[: label[:1] in "xX"], label.lstrip("xX+-.0123456789eE")
    axis = axes.xaxis if which == "x" else axes.yaxis
    logarithmic = unit != "%" and spreads(numbers)
    ends = limits(numbers) if logarithmic else (float(numbers.min()), float(numbers.max()))
    if logarithmic:
        axes.set(**{f"{which}scale": "log", f"{which}lim": ends})
        axis.set_minor_locator(NullLocator())
    ticks = numbers
    if numbers.size > _MOST_VALUES:
        ticks = np.array(log_ticks(*ends) if logarithmic else MaxNLocator(5).tick_values(*ends))
        rounding = 1e-9 * (ends[1] - ends[0])
        ticks = ticks[(ticks >= ends[0] - rounding) & (ticks <= ends[1] + rounding)]
    axis.set_ticks(ticks, [f"{prefix}{number_tick(each)}{unit}" for each in ticks.tolist()])


def limits(values: NDArray[np.float64]) -> tuple[float, float]:
    """The ends of a logarithmic axis for positive values, a little apart from them."""
    known = values[np.isfinite(values) & (values > 0)]
    low, high = float(known.min()), float(known.max())
    widen = max(1.06 * (high / low) ** 0.03, (_FLAT * low / high) ** 0.5)
    return low / widen, high * widen


def time_axis(axes: "Axes", which: Way, values: NDArray[np.float64], *, logarithmic: bool) -> None:
    """Make an axis one of times: logarithmic, or from 0."""
    if logarithmic:
        log_axis(axes, which, limits(values), time_tick)
        return
    most = float(np.nanmax(values))
    span(axes, 0.0, 1.08 * most if most > 0 else 1.0, which)


def span(axes: "Axes", start_s: float, stop_s: float, which: Way = "x") -> None:
    """Make an axis one of times from one to another."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    unit_s, unit = next((each for each in _UNITS if stop_s >= each[0]), _UNITS[-1])
    axes.set(**{f"{which}lim": (start_s, stop_s)})
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_locator(MaxNLocator(5))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value / unit_s:.6g} {unit}" if value else "0"))


def log_axis(axes: "Axes", which: Way, ends: tuple[float, float], label: Callable[[float], str]) -> None:
    """Make an axis logarithmic, with round ticks."""
    from matplotlib.ticker import NullLocator

    ticks = log_ticks(*ends)
    axes.set(**{f"{which}scale": "log", f"{which}lim": ends})
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_ticks(ticks, [label(each) for each in ticks])
    axis.set_minor_locator(NullLocator())
