"""Pictures of problems that grow with the machine: sizes and scalability, two contestants, shares of parameters."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from esp.errors import UsageError
from esp.explore.axes import Axis
from esp.explore.overtaking import Overtaking
from esp.explore.scaling import Scaling
from esp.explore.sensitivity import Sensitivity
from esp.output.plots import scales
from esp.output.plots.labels import NamedCurve, draw
from esp.output.plots.style import COLUMN_INCHES, INK, RULE, SOFT, new_figure, title
from esp.quantities import ABOUT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_HEIGHT = 2.4
_TALL = 4.2
_SEEN = 0.005
"""Share from which a group has an area of its own."""
_NAMED = 0.08
"""Share from which there is room for its name."""
_DARK = 0.55
"""Grey up to which text is white."""


def scaling_figure(found: Scaling) -> "Figure":
    """The sizes that keep the speed, and the scalability from the first number of processors, over processors.

    Raises:
        UsageError: there are fewer than two numbers of processors with a size.
    """
    if len(found.runs) < 2:
        raise UsageError("one size is a number, not a picture.", where="--plot", hint="Give more processors.")
    picture, above = new_figure(COLUMN_INCHES, _TALL)
    picture.delaxes(above)
    above, below = picture.subplots(2, 1)
    procs = [each.processors for each in found.runs]
    sizes = [NamedCurve("kept", *_over(procs, [each.size for each in found.runs]))]
    psi = [NamedCurve("kept", *_over(procs, [each.psi for each in found.runs]))]
    known = [(each.processors, one.size, one.psi) for each in found.runs if (one := each.predicted) is not None]
    if len(known) > 1:
        numbers, by_size, by_psi = zip(*known, strict=True)
        sizes.append(NamedCurve("eq. 2", *_over(numbers, by_size), 1, 1))
        psi.append(NamedCurve("eq. 2", *_over(numbers, by_psi), 1, 1))
    for axes, curves in ((above, sizes), (below, psi)):
        _processors(axes, procs)
        values = np.concatenate([each.values for each in curves])
        scales.log_axis(axes, "y", scales.limits(values), scales.number_tick)
    above.set_ylabel(found.parameter)
    below.set_ylabel(f"psi({procs[0]}, p)")
    below.set_xlabel("processors")
    title(above, [found.file.rsplit("/", 1)[-1], found.system])
    draw(above, sizes)
    draw(below, psi)
    return picture


def overtaking_figure(found: Overtaking) -> "Figure":
    """Both times over processors; where the last crossing is in 90 % of the scenarios, the ground is grey."""
    picture, axes = new_figure(COLUMN_INCHES, _HEIGHT)
    procs = [each.processors for each in found.rows]
    _processors(axes, procs)
    curves = [
        NamedCurve(found.first, *_over(procs, [each.first_s for each in found.rows])),
        NamedCurve(found.second, *_over(procs, [each.second_s for each in found.rows]), 1, 1),
    ]
    scales.time_axis(axes, "y", np.concatenate([each.values for each in curves]), logarithmic=True)
    if found.low is not None and found.high is not None:
        axes.axvspan(found.low, found.high, color=RULE, linewidth=0, zorder=0)
    for each in found.crossings:
        axes.axvline(each.about, color=SOFT, linewidth=0.6, linestyle=(0, (6, 3)), zorder=1)
    axes.set_xlabel("processors")
    axes.set_ylabel("predicted time")
    title(axes, [f"the size {found.growth}" if found.growth == "fixed" else f"each keeps its {found.growth}"])
    draw(axes, curves)
    return picture


def sensitivity_figure(found: Sensitivity) -> "Figure":
    """The shares of the time that groups of parameters decide, one on the other, over processors or sizes.

    Raises:
        UsageError: there is one run, or both processors and sizes differ.
    """
    procs, sizes = {each.processors for each in found.runs}, {each.size for each in found.runs}
    if len(found.runs) < 2 or (len(procs) > 1 and len(sizes) > 1):
        hint = "Give several processors with one size, or several sizes on some processors."
        raise UsageError("areas need several processors or several sizes.", where="--plot", hint=hint)
    over = [float(each.size or 0) if len(sizes) > 1 else float(each.processors) for each in found.runs]
    picture, axes = new_figure(COLUMN_INCHES, _HEIGHT)
    name = found.parameter if len(sizes) > 1 else "processors"
    _numbers(axes, name, over)
    groups = [each for each in ABOUT if any(run.quantities.get(each, 0.0) >= _SEEN for run in found.runs)]
    shares = np.array([[max(0.0, run.quantities.get(each, 0.0)) for run in found.runs] for each in groups])
    colours = [f"{0.35 + 0.6 * at / max(1, len(groups) - 1):.2f}" for at in range(len(groups))]
    axes.stackplot(over, shares, colors=colours, edgecolor=INK, linewidth=0.4)
    middles = np.cumsum(shares, axis=0) - shares / 2
    for group, own, middle, colour in zip(groups, shares, middles, colours, strict=True):
        at = int(own.argmax())
        if own[at] >= _NAMED:
            side = ("left", 4) if at == 0 else ("right", -4) if at == len(over) - 1 else ("center", 0)
            axes.annotate(
                group,
                (over[at], middle[at]),
                (side[1], 0),
                textcoords="offset points",
                ha=side[0],
                va="center",
                color=INK if float(colour) > _DARK else "#ffffff",
            )
    axes.set_ylim(0.0, 1.0)
    axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g}%")
    axes.margins(x=0)
    axes.set_xlabel(name)
    axes.set_ylabel("share of the time")
    title(axes, [found.file.rsplit("/", 1)[-1], found.system])
    return picture


def _over(numbers: Sequence[int], values: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    return np.array(numbers, dtype=np.float64), np.array(values, dtype=np.float64)


def _processors(axes: "Axes", procs: Sequence[int]) -> None:
    _numbers(axes, "procs", [float(each) for each in procs])


def _numbers(axes: "Axes", name: str, values: Sequence[float]) -> None:
    axes.grid(visible=True, axis="y")
    labels = tuple(f"{each:,.0f}" for each in values)
    scales.number_axis(axes, "x", Axis(name=name, kind=name, values=tuple(values), labels=labels))
