"""A sweep as a picture: curves over its longest axis of numbers, a map of two axes, or a bar for each cell."""

from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from esp.errors import UsageError
from esp.explore.axes import Axis
from esp.explore.sweep import Sweep
from esp.explore.winners import CHOICES
from esp.output.plots import scales
from esp.output.plots.bars import LONG_LABEL, bars, time_text
from esp.output.plots.labels import NamedCurve, draw
from esp.output.plots.style import COLUMN_INCHES, INK, MAP, PAGE_INCHES, SOFT, key, new_figure, thin, title
from esp.output.sweep import rounded, shared_by_all

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Form = Literal["curves", "map", "bars", "speedup"]
FORMS: tuple[Form, ...] = ("curves", "map", "bars", "speedup")

_MOST_CURVES = 12
_MOST_BARS = 40
_MOST_TEXTS = 80
"""Cells of a map that have their values in them."""

_MOST_ACROSS = 5
"""Values beside each other for which a column is wide enough."""

_LONGEST_TITLE = 32


def form_of(axes: Sequence[Axis], wanted: str = "") -> Form:
    """The form of picture that suits axes, or the one that is wanted.

    Raises:
        UsageError: they cannot be drawn so, or not at all.
    """
    varied = [axis for axis in axes if len(axis) > 1]
    below = _below(axes)
    curves = 0 if below is None else int(np.prod([len(axis) for axis in axes])) // len(axes[below])
    cells = int(np.prod([len(axis) for axis in varied]))
    fits: dict[Form, str] = {
        "curves": (
            "curves need an axis of numbers with several values"
            if not curves
            else f"{curves} curves are more than the {_MOST_CURVES} of one picture"
            if curves > _MOST_CURVES
            else ""
        ),
        "map": "" if len(varied) == 2 else f"a map has two axes with several values, not {len(varied)}",
        "speedup": _no_speedup(axes),
        "bars": "" if cells <= _MOST_BARS else f"{cells:,} bars are more than the {_MOST_BARS} of one picture",
    }
    if not varied:
        fits = dict.fromkeys(fits, "a sweep of one prediction is a number, not a picture")
    chosen = next((form for form in FORMS if (form == wanted or not wanted) and not fits[form]), None)
    if chosen is None:
        told = (
            fits[next(form for form in FORMS if form == wanted)] if wanted else "; ".join(dict.fromkeys(fits.values()))
        )
        hint = "Give fewer values, or draw from the --csv."
        raise UsageError(f"{told}.", where="--plot-as" if wanted else "--plot", hint=hint)
    return chosen


def _no_speedup(axes: Sequence[Axis]) -> str:
    below = _below(axes, "speedup")
    if below is None:
        return "a speed-up needs several numbers of processors"
    curves = int(np.prod([len(axis) for axis in axes])) // len(axes[below])
    return f"{curves} curves are more than the {_MOST_CURVES} of one picture" if curves > _MOST_CURVES else ""


def _below(axes: Sequence[Axis], form: str = "curves") -> int | None:
    """The axis that curves have below: the one of numbers with the most values, or processors for a speed-up."""
    numeric = [at for at, axis in enumerate(axes) if axis.numbers is not None and len(axis) > 1]
    numeric = [at for at in numeric if form != "speedup" or axes[at].kind == "procs"]
    return max(numeric, key=lambda at: (len(axes[at]), axes[at].kind == "procs"), default=None)


def figure(sweep: Sweep, *, form: str = "", versus: str = "") -> "Figure":
    """The picture; `versus`: changes against the first value of that axis instead of times.

    Raises:
        UsageError: see `form_of`.
    """
    match form_of(sweep.axes, form):
        case "curves":
            return _curves(sweep, versus)
        case "speedup":
            return _speedup(sweep)
        case "map":
            return _map(sweep, versus)
        case _:
            return _bars(sweep)


def _over(sweep: Sweep, below: int, values: NDArray[np.float64]) -> tuple[list[NamedCurve], "Figure", "Axes"]:
    """The curves of values whose last dimension is the axis `below`, and an empty picture for them."""
    others = [axis for at, axis in enumerate(sweep.axes) if at != below]
    over = np.array(sweep.axes[below].numbers)
    curves = [
        NamedCurve(_label(others, at), over, values[at], *_look(at, values.shape))
        for at in np.ndindex(*values.shape[:-1])
    ]
    wide = max(len(each.name) for each in curves) > LONG_LABEL
    picture, axes = new_figure(PAGE_INCHES if wide else COLUMN_INCHES, 2.4 + 0.1 * max(0, len(curves) - 8))
    axes.grid(visible=True, axis="y")
    scales.number_axis(axes, "x", sweep.axes[below])
    return curves, picture, axes


def _curves(sweep: Sweep, versus: str) -> "Figure":
    below = _below(sweep.axes)
    assert below is not None
    values = np.moveaxis(100.0 * sweep.change(versus) if versus else sweep.time_s, below, -1)
    curves, picture, axes = _over(sweep, below, values)
    axes.set_xlabel(heading(sweep.axes[below]))
    if versus:
        axes.set_ylabel(fill(_against(sweep, versus), _LONGEST_TITLE))
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:+g}%" if value else "0%")
        axes.axhline(0.0, color=INK, linewidth=0.6)
    else:
        axes.set_ylabel("predicted time")
        scales.time_axis(axes, "y", values, logarithmic=_is_log(values, wanted=axes.get_xscale() == "log"))
    title(axes, _subject(sweep))
    draw(axes, curves)
    return picture


def speedup(sweep: Sweep) -> NDArray[np.float64]:
    """How many times as fast each cell is as the fastest choice on the smallest number of processors, processors last;
    what is no choice (a size, a what-if) is the same for both."""
    below = _below(sweep.axes, "speedup")
    assert below is not None
    values = np.moveaxis(sweep.time_s, below, -1)
    others = [axis for at, axis in enumerate(sweep.axes) if at != below]
    fewest = int(np.argmin(sweep.axes[below].numbers or ()))
    free = tuple(at for at, axis in enumerate(others) if axis.kind in CHOICES)
    base = np.where(np.isfinite(values), values, np.inf)[..., fewest].min(axis=free, keepdims=True)
    found: NDArray[np.float64] = base[..., None] / values
    return found


def _speedup(sweep: Sweep) -> "Figure":
    below = _below(sweep.axes, "speedup")
    assert below is not None
    values = speedup(sweep)
    curves, picture, axes = _over(sweep, below, values)
    over = np.array(sweep.axes[below].numbers)
    ideal = over / over.min()
    scales.log_axis(axes, "y", scales.limits(np.concatenate([values.ravel(), ideal])), scales.number_tick)
    axes.set_xlabel("processors")
    axes.set_ylabel(f"speed-up over P = {over.min():g}")
    order = np.argsort(over)
    axes.plot(over[order], ideal[order], color=SOFT, linewidth=0.6, linestyle=(0, (6, 3)), zorder=1)
    axes.annotate(
        "ideal",
        (over[order][-1], ideal[order][-1]),
        (-6, 0),
        textcoords="offset points",
        ha="right",
        va="center",
        color=SOFT,
    )
    title(axes, _subject(sweep))
    draw(axes, curves)
    return picture


def _subject(sweep: Sweep) -> list[str]:
    """What all cells share, for the title."""
    shared = [each.replace("procs=", "P=").replace("=", " = ") for each in shared_by_all(sweep)]
    return shared if sweep.complete[sweep.done].all() else [*shared, "predictions incomplete"]


def _is_log(values: NDArray[np.float64], *, wanted: bool) -> bool:
    """Whether times are drawn logarithmically: where the numbers below are, or where they differ by much."""
    known = values[np.isfinite(values)]
    return bool((known > 0).all()) and (wanted or scales.spreads(known))


def _look(at: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, int]:
    """Colour and dash of a curve: where it is on the first axis with several values, and on the others."""
    varied = [axis for axis in range(len(at)) if shape[axis] > 1]
    if not varied:
        return 0, 0
    rest = varied[1:]
    if not rest:
        return at[varied[0]], at[varied[0]] // 5
    return at[varied[0]], int(np.ravel_multi_index([at[axis] for axis in rest], [shape[axis] for axis in rest]))


def _label(others: Sequence[Axis], at: Sequence[int]) -> str:
    return ", ".join(value(axis, where) for axis, where in zip(others, at, strict=True) if len(axis) > 1)


def value(axis: Axis, at: int) -> str:
    """A value of an axis with what it is a value of, where it does not say so itself."""
    label = axis.labels[at].strip()
    if axis.kind == "procs":
        return f"P = {label}"
    if axis.numbers is not None or axis.kind in ("opt", "io", "contention", "system_set"):
        gap = " " if label[:1] in "xX" or not axis.numbers else " = "
        return f"{heading(axis)}{gap}{label}"
    return label


def heading(axis: Axis) -> str:
    """The name of an axis."""
    return "processors" if axis.kind == "procs" else axis.name.replace("_", " ")


def _against(sweep: Sweep, versus: str) -> str:
    """What changes are drawn."""
    return "change against " + next(value(axis, 0) for axis in sweep.axes if axis.name == versus)


def _map(sweep: Sweep, versus: str) -> "Figure":
    """A cell for each combination of two axes, numbers and the longer one below."""
    from matplotlib.colors import LogNorm, Normalize

    varied = [at for at, axis in enumerate(sweep.axes) if len(axis) > 1]
    varied.sort(key=lambda at: (sweep.axes[at].numbers is not None, len(sweep.axes[at])))
    beside, below = (sweep.axes[at] for at in varied)
    values = np.moveaxis(100.0 * sweep.change(versus) if versus else sweep.time_s, varied, (0, 1))
    values = values.reshape(len(beside), len(below))
    known = values[np.isfinite(values)]
    logarithmic = not versus and scales.spreads(known)
    norm = (LogNorm if logarithmic else Normalize)(float(known.min()), float(known.max()))
    name = _against(sweep, versus) if versus else "predicted time"
    few = values.size <= _MOST_TEXTS
    wide = (few and len(below) > _MOST_ACROSS) or max(map(len, beside.labels)) > LONG_LABEL
    picture, axes = new_figure(PAGE_INCHES if wide else COLUMN_INCHES, 1.0 + 0.18 * len(beside) if few else 2.6)
    if few or below.numbers is None or beside.numbers is None:
        shown = axes.pcolormesh(np.ma.masked_invalid(values), cmap=MAP, norm=norm, rasterized=not few)
        axes.set_xticks(np.arange(len(below)) + 0.5, [rounded(each) for each in below.labels])
        step = 1 if few else 1 + (len(beside) - 1) // 12
        axes.set_yticks(np.arange(0, len(beside), step) + 0.5, [rounded(each) for each in beside.labels[::step]])
        if beside.numbers is None:
            axes.invert_yaxis()
    else:
        across, up = np.array(below.numbers), np.array(beside.numbers)
        rows, columns = np.argsort(up), np.argsort(across)
        ordered = np.ma.masked_invalid(values[np.ix_(rows, columns)])
        shown = axes.pcolormesh(
            across[columns], up[rows], ordered, cmap=MAP, norm=norm, shading="nearest", rasterized=True
        )
        scales.number_axis(axes, "x", below)
        scales.number_axis(axes, "y", beside)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_xlabel(heading(below))
    axes.set_ylabel("" if beside.numbers is None else heading(beside))
    if few:
        for at in np.ndindex(*values.shape):
            if np.isfinite(values[at]):
                ink = "white" if _dark(shown, norm, float(values[at])) else INK
                text = f"{values[at]:+.1f}%" if versus else time_text(float(values[at]))
                axes.text(at[1] + 0.5, at[0] + 0.5, text, ha="center", va="center", color=ink)
        title(axes, [*_subject(sweep), name])
    else:
        key(picture, shown, name, (lambda value: f"{value:+g}%") if versus else scales.time_tick)
        title(axes, _subject(sweep))
    thin(axes)
    return picture


def _dark(shown: Any, norm: Any, value: float) -> bool:
    red, green, blue, _ = shown.cmap(norm(value))
    return bool(0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2 < 0.18)


def _bars(sweep: Sweep) -> "Figure":
    """A bar for each cell."""
    cells = [at for at in np.ndindex(*sweep.time_s.shape) if sweep.done[at]]
    names = [_label(sweep.axes, at) for at in cells]
    return bars(names, [{name: float(each[at]) for name, each in sweep.times.items()} for at in cells], _subject(sweep))
