"""A sweep of `esp balance` as curves of speedup, or of speed per dollar, over start-ups or miss penalties."""

from typing import TYPE_CHECKING

import numpy as np
from msgspec import structs

from esp.errors import UsageError
from esp.explore.axes import Axis
from esp.inspect.balance.records import Balance, SweepPoint
from esp.output.plots import scales
from esp.output.plots.labels import NamedCurve, draw
from esp.output.plots.style import COLUMN_INCHES, new_figure, title

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_CURVES = 12

_FACTORS = {"G": 1e9, "M": 1e6, "k": 1e3, "": 1.0}

_NAMES = {"startup": "start-up C_c", "miss": "miss penalty C_m", "processors": "processors"}
_SHORT = {"startup": "C_c", "miss": "C_m", "processors": "P"}


def figure(found: Balance) -> "Figure":
    """The picture: speedups, or speed per dollar where a price is given.

    Raises:
        UsageError: there is no sweep, or there are too many curves for one picture.
    """
    if not found.points:
        raise UsageError("without a sweep there is no picture.", where="plot", hint="rows() has the figures.")
    values = {name: sorted({getattr(each, name) for each in found.points}) for name in _NAMES}
    below = max(values, key=lambda name: len(values[name]))
    others = [name for name in _NAMES if name != below]
    keys = sorted({tuple(getattr(each, name) for name in others) for each in found.points})
    if len(keys) > _MOST_CURVES or len(values[below]) < 2:
        told = f"{len(keys)} curves are more than the {_MOST_CURVES} of one picture."
        told = told if len(values[below]) > 1 else "a sweep of one machine is a number, not a picture."
        raise UsageError(told, where="--plot", hint="Give other values, or draw from the --csv.")
    varied = [at for at, name in enumerate(others) if len(values[name]) > 1]
    curves = []
    for number, key in enumerate(keys):
        here = [each for each in found.points if tuple(getattr(each, name) for name in others) == key]
        here.sort(key=lambda each: getattr(each, below))
        name = ", ".join(f"{_SHORT[others[at]]} = {key[at]:.4g}" for at in varied)
        over = np.array([getattr(each, below) for each in here], dtype=float)
        curves.append(NamedCurve(name, over, np.array([_height(each) for each in here]), number, number // 5))
    picture, axes = new_figure(COLUMN_INCHES, 2.4 + 0.1 * max(0, len(curves) - 8))
    axes.grid(visible=True, axis="y")
    labels = tuple(f"{each:.10g}" for each in values[below])
    scales.number_axis(axes, "x", Axis(name=below, kind=below, values=tuple(values[below]), labels=labels))
    axes.set_xlabel(_NAMES[below])
    most = max(float(each.values.max()) for each in curves)
    axes.set_ylabel("speedup")
    if found.points[0].speed_per_dollar is not None:
        unit = next((unit for unit in "GMk" if most >= _FACTORS[unit]), "")
        curves = [structs.replace(each, values=each.values / _FACTORS[unit]) for each in curves]
        most /= _FACTORS[unit]
        axes.set_ylabel(f"{unit}flop/s per dollar")
    axes.set_ylim(0.0, 1.08 * most)
    title(axes, [*([] if found.file is None else [found.file.rsplit("/", 1)[-1]]), found.system])
    draw(axes, curves)
    return picture


def _height(point: SweepPoint) -> float:
    return point.speedup if point.speed_per_dollar is None else point.speed_per_dollar
