"""Names at the right ends of curves, moved apart where they would overlap."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from esp.output.plots.style import COLOURS, DASHES, MARKERS, POINTS, SOFT, thin

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LINE = 1.4 * POINTS
"""From one line of text to the next, in points."""

_GAP = 14.0
"""Points between the right end of the axes and the names."""

_SAME = 0.5
"""Points by which curves may differ that cannot be told apart."""

_MOST_MARKERS = 16


class NamedCurve(Struct, frozen=True, eq=False):
    """What is drawn: values over numbers, NaN where there is none, and a name. `colour`, `dash`: positions in the lists
    of `style`."""

    name: str
    over: NDArray[np.float64]
    values: NDArray[np.float64]
    colour: int = 0
    dash: int = 0


def draw(axes: "Axes", curves: Sequence[NamedCurve]) -> None:
    """Draw curves on axes whose scales are set, with markers that differ and names at their ends.

    Curves that lie on each other share a name: ``a and b``.
    """
    most = max(each.over.size for each in curves)
    for number, each in enumerate(curves):
        axes.plot(
            each.over,
            each.values,
            label=each.name,
            color=COLOURS[each.colour % len(COLOURS)],
            linestyle=DASHES[each.dash % len(DASHES)],
            marker=MARKERS[number % len(MARKERS)],
            markevery=max(1, most // _MOST_MARKERS),
            zorder=2 + 0.1 * (each.dash % len(DASHES)),  # what has gaps lies above
            clip_on=False,
        )
    _name(axes, curves)
    thin(axes)


def _name(axes: "Axes", curves: Sequence[NamedCurve]) -> None:
    drawn = [each for each in curves if np.isfinite(each.values).any() and each.name]
    if not drawn:
        return
    beside: Any = {"xycoords": "axes fraction", "textcoords": "offset points", "va": "center", "annotation_clip": False}
    texts = [axes.annotate(each.name, (1.0, 0.5), (_GAP, 0.0), **beside) for each in drawn]
    axes.figure.draw_without_rendering()
    places = [axes.transData.transform(np.column_stack([each.over, each.values])) for each in drawn]
    points = 72.0 / axes.figure.dpi
    groups = _groups([place * points for place in places])
    box = axes.get_window_extent()
    ends = [_last(places[group[0]]) for group in groups]
    order = sorted(range(len(groups)), key=lambda at: -ends[at][1])
    heights = np.array([_LINE * len(groups[at]) for at in order])
    wanted = np.array([(box.y1 - ends[at][1]) * points for at in order])
    placed = spread(wanted, heights, (0.0, box.height * points))
    for text in texts:
        text.set_visible(False)
    for at, down in zip(order, placed.tolist(), strict=True):
        group = groups[at]
        text = texts[group[0]]
        y = 1.0 - down / (box.height * points)
        text.set_visible(True)
        text.set_text("\nand ".join(drawn[each].name for each in group))
        text.xy = (1.0, y)
        leader = {"arrowstyle": "-", "color": SOFT, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 2.5}
        near = 1.0 + (_GAP - 2.0) / (box.width * points)
        end = _last(np.column_stack([drawn[group[0]].over, drawn[group[0]].values]))
        line = axes.annotate("", end, (near, y), "data", "axes fraction", arrowprops=leader, annotation_clip=False)
        line.set_in_layout(False)


def _last(place: NDArray[np.float64]) -> tuple[float, float]:
    """The last point of a curve that is drawn."""
    known = place[np.isfinite(place).all(axis=1)]
    return float(known[-1, 0]), float(known[-1, 1])


def _groups(places: Sequence[NDArray[np.float64]]) -> list[list[int]]:
    """Positions of curves that lie on each other, together."""
    found: list[list[int]] = []
    for number, place in enumerate(places):
        for group in found:
            other = places[group[0]]
            if other.shape == place.shape and np.allclose(other, place, rtol=0, atol=_SAME, equal_nan=True):
                group.append(number)
                break
        else:
            found.append([number])
    return found


def spread(wanted: NDArray[np.float64], heights: NDArray[np.float64], ends: tuple[float, float]) -> NDArray[np.float64]:
    """Centres of labels below each other, each as near to where it is `wanted` (ascending) as the others allow.

    Labels that would touch become a block around the mean of what they want, until no blocks touch; all lie between
    `ends`, where there is room.

    >>> spread(np.array([5.0, 6.0, 40.0]), np.array([10.0, 10.0, 10.0]), (0.0, 100.0)).tolist()
    [5.0, 15.0, 40.0]
    """
    above = np.concatenate([[0.0], np.cumsum(heights)])
    low, high = ends[0], max(ends[1], ends[0] + above[-1])
    blocks: list[tuple[int, float]] = []  # how many labels, and where the first of all would be for them
    for want, top, height in zip(wanted.tolist(), above.tolist(), heights.tolist(), strict=False):
        many, at = 1, want - top - height / 2
        while blocks and blocks[-1][1] >= at:
            before, other = blocks.pop()
            at = (many * at + before * other) / (many + before)
            many += before
        blocks.append((many, at))
    starts = np.repeat([at for _, at in blocks], [many for many, _ in blocks])
    starts = np.clip(starts, low, high - above[-1])
    placed: NDArray[np.float64] = starts + above[:-1] + heights / 2
    return placed
