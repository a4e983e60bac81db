"""Which choices of a sweep are the fastest, and where along an axis of numbers that changes."""

from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from esp.explore.axes import Axis
from esp.explore.sweep import Sweep
from esp.explore.ties import runs
from esp.stated import ERROR

CHOICES = ("program", "distribute", "grid", "opt", "procs")
"""Kinds of axes of which one would choose the fastest."""


class WinnerChange(Struct, frozen=True, kw_only=True):
    """How the best choice changes over an axis where all other axes have these values."""

    others: tuple[tuple[str, str], ...]
    """Name -> value of the other axes."""
    runs: tuple[tuple[str, str, tuple[str, ...]], ...]
    """First and last value of the axis, and the choices that are the fastest from there to there, or tied with it."""


class Winners(Struct, frozen=True, kw_only=True):
    """The best choices over an axis."""

    choice: str
    over: str
    changes: tuple[WinnerChange, ...]


def chosen(sweep: Sweep) -> tuple[int, ...]:
    """Positions of the axes with several values of which one would choose."""
    return tuple(at for at, axis in enumerate(sweep.axes) if axis.kind in CHOICES and len(axis) > 1)


def best(sweep: Sweep, axes: tuple[int, ...]) -> NDArray[np.bool_]:
    """Cells for which no other value of these axes is faster by more than a tie, among what fits in memory; no cell
    where one of them is missing or incomplete, as incomplete predictions rank nothing (Def 20)."""
    counts = sweep.done & sweep.fits
    times = np.where(counts, sweep.time_s, np.inf)
    ranked = np.where(sweep.done, sweep.complete, sweep.impossible).all(axis=axes, keepdims=True)
    found: NDArray[np.bool_] = (times <= times.min(axis=axes, keepdims=True) * (1 + ERROR)) & counts & ranked
    return found


def winners(sweep: Sweep) -> Winners | None:
    """How the best choice changes over sizes or, without sizes, over another axis of numbers; None where nothing is
    chosen, or there is no such axis, or something is missing or incomplete."""
    choices = chosen(sweep)
    choices = tuple(at for at in choices if sweep.axes[at].kind != "procs") or choices
    numeric = [at for at, axis in enumerate(sweep.axes) if axis.numbers and len(axis) > 1 and at not in choices]
    if not choices or not numeric or not (sweep.done | sweep.impossible).all() or not sweep.complete[sweep.done].all():
        return None
    over = max(numeric, key=lambda at: (sweep.axes[at].kind == "set", len(sweep.axes[at])))
    others = [at for at, axis in enumerate(sweep.axes) if at != over and at not in choices]
    axis = sweep.axes[over]
    order = np.argsort(np.array(axis.numbers), kind="stable")
    times = np.where(sweep.done & sweep.fits, sweep.time_s, np.inf).transpose([*others, over, *choices])
    times = times.reshape(*times.shape[: len(others) + 1], -1)[..., order, :]
    names = list(_names([sweep.axes[at] for at in choices]))
    labels = [axis.labels[at] for at in order]
    changes = tuple(
        WinnerChange(
            others=tuple(
                (sweep.axes[other].name, sweep.axes[other].labels[where])
                for other, where in zip(others, at, strict=True)
                if len(sweep.axes[other]) > 1
            ),
            runs=tuple(
                (labels[first], labels[last], tuple(names[each] for each in tied))
                for first, last, tied in runs(times[at])
            ),
        )
        for at in np.ndindex(*times.shape[:-2])
    )
    return Winners(choice=" and ".join(sweep.axes[at].name for at in choices), over=axis.name, changes=changes)


def _names(axes: Sequence[Axis]) -> Iterator[str]:
    for at in np.ndindex(*(len(axis) for axis in axes)):
        yield " ".join(_name(axis, where) for axis, where in zip(axes, at, strict=True))


def _name(axis: Axis, at: int) -> str:
    label = axis.labels[at]
    match axis.kind:
        case "program" | "distribute":
            return label
        case "procs":
            return f"{label} processors"
        case _:
            return f"{axis.name} {label}"
