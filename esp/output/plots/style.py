"""The one style of all pictures: sizes, colours, and the files they are written to.

Pictures are as wide as a column of a journal (or a page, where labels need it), with text of 8 pt. The colours are
those of Okabe and Ito that have contrast on white; colour never carries a meaning alone.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from esp.errors import PredictionError, UnreadableFileError, UsageError, reason
from esp.output.plots.scales import log_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg", ".pdf")

COLUMN_INCHES, PAGE_INCHES = 3.5, 7.0
"""Widths of a picture: a column, and a page of two columns."""

POINTS = 8.0
"""Size of all text."""

INK, SOFT, RULE = "#000000", "#595959", "#d9d9d9"

COLOURS = ("#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7")
"""Of curves: told apart with any kind of colour vision; contrast on white at least 3."""

DASHES: tuple[Any, ...] = ("solid", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (5, 1.5, 1.2, 1.5)))
MARKERS = "os^Dv<>PX*ph"

CATEGORY_COLOURS = ("#0b4f8a", "#e07b39", "#d9d9d9", "#000000")
"""Of the four categories (Def 2) in the order of `esp.prediction.CATEGORIES`; in grey, too, no two are alike."""

MAP = "cividis"
"""Colours of a map: brighter means more, also in grey and for the colour-blind."""

_STYLE: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial", "Helvetica", "sans-serif"],
    "font.size": POINTS,
    "axes.titlesize": POINTS,
    "axes.labelsize": POINTS,
    "xtick.labelsize": POINTS,
    "ytick.labelsize": POINTS,
    "legend.fontsize": POINTS,
    "figure.titlesize": POINTS,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.unicode_minus": True,
    "axes.axisbelow": True,
    "axes.xmargin": 0.03,
    "grid.color": RULE,
    "grid.linewidth": 0.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.size": 0,
    "ytick.minor.size": 0,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.6,
    "lines.markeredgewidth": 0.6,
    "legend.frameon": False,
    "savefig.dpi": 300,
    "figure.constrained_layout.h_pad": 0.03,
    "figure.constrained_layout.w_pad": 0.03,
    "text.parse_math": False,  # a $ in the name of a file is one
    "svg.hashsalt": "esp",  # identifiers do not depend on the moment
    "svg.fonttype": "none",  # text that can be searched; the other fonts above are not wider than the first
    "pdf.fonttype": 42,  # what journals accept
}

_UNDATED: dict[str, dict[str, Any]] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
"""Equal results give equal files: no date goes into them."""


def check_plot(file: str, where: str = "--plot", instead: str = "") -> None:
    """Find out before all the work whether a picture can be drawn; `instead`: what to do without matplotlib.

    Raises:
        UsageError: the suffix is none of `SUFFIXES`.
        UnreadableFileError: there is no such folder.
        PredictionError: matplotlib is not installed.
    """
    path = Path(file)
    if path.suffix.lower() not in SUFFIXES:
        hint = f"Give the file one of the suffixes {', '.join(SUFFIXES)}."
        raise UsageError(f"{file!r} is not the name of a picture.", where=where, hint=hint)
    if not path.parent.is_dir():
        raise UnreadableFileError("there is no such folder.", where=str(path.parent))
    need_matplotlib(where, instead)


def need_matplotlib(where: str, instead: str = "") -> None:
    """Find out whether pictures can be drawn at all.

    Raises:
        PredictionError: matplotlib is not installed.
    """
    from importlib.util import find_spec

    if find_spec("matplotlib") is None:
        hint = f"Install it with pip install 'esp-hpf[plot]'{instead}."
        raise PredictionError("pictures need matplotlib, which is not installed.", where=where, hint=hint)


@contextmanager
def styled() -> Iterator[None]:
    """Within this, pictures are made and written in the style of esp, whatever the user's own settings are."""
    import matplotlib as mpl

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        yield


def new_figure(width: float, height: float) -> "tuple[Figure, Axes]":
    """An empty picture with one pair of axes; inches."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


def save(figure: "Figure", file: str) -> None:
    """Write a picture; equal pictures give equal files.

    Raises:
        UnreadableFileError: the file cannot be written.
    """
    try:
        figure.savefig(file, metadata=_UNDATED.get(Path(file).suffix.lower(), {}))
    except OSError as error:
        raise UnreadableFileError(f"cannot be written: {reason(error)}.", where=file) from None


def title(axes: "Axes", parts: list[str]) -> None:
    """The title: parts beside each other, in as many lines as the picture is wide."""
    most = int(axes.figure.get_figwidth() * 72 / (0.6 * POINTS))
    lines = [""]
    for part in parts:
        if lines[-1] and len(lines[-1]) + 2 + len(part) > most:
            lines.append("")
        lines[-1] += (", " if lines[-1] else "") + part
    axes.set_title("\n".join(lines), loc="left", color=SOFT)


def thin(axes: "Axes") -> None:
    """Label every second, third, ... tick below where labels would touch their neighbours; the last one stays."""
    axes.figure.draw_without_rendering()
    ticks, labels = axes.get_xticks(), axes.get_xticklabels()
    boxes = [each.get_window_extent().padded(2) for each in labels]
    for step in range(1, len(labels) + 1):
        kept = range(len(labels) - 1, -1, -step)
        if not any(boxes[left].overlaps(boxes[right]) for right, left in pairwise(kept)):
            ends = axes.get_xlim()
            axes.set_xticks(ticks, [each.get_text() if at in kept else "" for at, each in enumerate(labels)])
            axes.set_xlim(ends)  # ticks beyond them would move them
            return


def key(picture: "Figure", shown: Any, name: str, label: Callable[[float], str]) -> None:
    """What the colours of a map stand for, beside it."""
    low, high = shown.norm.vmin, shown.norm.vmax
    bar = picture.colorbar(shown, ax=picture.axes[0], label=name, pad=0.02)
    bar.outline.set_visible(False)
    bar.minorticks_off()
    logarithmic = bar.ax.get_yscale() == "log"
    ticks = [each for each in (log_ticks(low, high) if logarithmic else bar.get_ticks()) if low <= each <= high]
    bar.set_ticks(ticks, labels=[label(each) for each in ticks])
