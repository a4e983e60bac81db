"""Bars that are made of the four categories of time (Def 2)."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from esp.output.numbers import seconds
from esp.output.plots import scales
from esp.output.plots.style import CATEGORY_COLOURS, COLUMN_INCHES, INK, PAGE_INCHES, new_figure, title
from esp.prediction import CATEGORIES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LONG_LABEL = 22
"""Letters from which a picture is as wide as a page."""


def time_text(time_s: float) -> str:
    """A time in a picture."""
    return seconds(time_s).replace("us", "µs")


def bars(names: Sequence[str], rows: Sequence[Mapping[str, float]], subject: list[str]) -> "Figure":
    """A bar for each name; its row has the seconds of each category and in all, ``time_s``."""
    wide = max(map(len, names)) > LONG_LABEL
    picture, axes = new_figure(PAGE_INCHES if wide else COLUMN_INCHES, 1.15 + 0.17 * len(names))
    places = np.arange(len(names))
    left = np.zeros(len(names))
    for name, colour in zip(CATEGORIES, CATEGORY_COLOURS, strict=True):
        part = np.array([row[f"{name}_s"] for row in rows])
        axes.barh(places, part, 0.7, left=left, color=colour, edgecolor=INK, linewidth=0.4, label=name)
        left = left + part
    for place, row in zip(places.tolist(), rows, strict=True):
        text = time_text(row["time_s"])
        axes.annotate(text, (row["time_s"], place), (3, 0), textcoords="offset points", va="center")
    axes.set_yticks(places, names)
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0)
    longest_s = max(row["time_s"] for row in rows)
    scales.time_axis(axes, "x", np.array([1.2 * longest_s]), logarithmic=False)
    axes.set_xlabel("predicted time")
    title(axes, subject)
    picture.legend(loc="outside lower left", ncols=4 if wide else 2, handlelength=1.0, columnspacing=1.0)
    return picture
