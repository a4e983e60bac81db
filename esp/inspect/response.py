"""What the time of each AAU is made of: how often it pays each figure of the machine.

All times of a prediction are sums, differences and maxima of the machine's figures, so they double where all figures
double, and where no maximum is about to change its mind they are linear in each figure x:

    T = sum over x of (dT/dx) * x                      (Euler, for functions of degree 1)

dT/dx is how often x is paid, mean over processors: 403,225 multiplications, 152,400 bytes. It is found by asking the
engine what it would predict with x a little larger; the scenarios of one walk answer for all figures. Where the terms
do not add up, some maximum is about to change its mind: then x is made a little smaller, too, and the mean of both
counts. So the terms hold for whatever the engine charges, waiting included, and add up to the time that is shown.
"""

from collections.abc import Callable, Iterator, Mapping

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from aag.graph.aau import walk
from aag.graph.tally import works
from esp.api import Stages
from esp.inspect.figures import MEMORY, NETWORK, PROCESSOR, MachineFigure, figures_of, scaled
from esp.prediction import CATEGORIES
from interpreter.engine import interpret
from interpreter.result import Prediction
from interpreter.setting import Setting
from sag.machine import Machine

Array = NDArray[np.float64]

STEP = 2.0**-17
"""Relative change of a figure: small, so that no maximum changes its mind, yet far above rounding."""

CELLS = 1_000_000
"""Processors x scenarios of one walk: more figures than that need several walks."""

_NEGLIGIBLE = 1e-8
"""Share of the time of an AAU below which a term is rounding: the difference of sums of many terms."""

_UNSURE = 1e-7
"""Share of the time of an AAU that rounding may make a term wrong by."""

_ROUNDING = 3e-11
"""The same where times are differences of clocks, as a share of the time of the program."""

_ADDS_UP = 1e-9
"""Share of the time of an AAU and of the program by which the terms may miss it: rounding, and no change of mind."""

_FROM_CLOCKS = [CATEGORIES.index("communication"), CATEGORIES.index("waiting")]

_LOOPS = ("loop.setup", "loop.iteration", "index.1d", "load", "store")
"""Operations that the engine charges beside those of the graph."""

_LATENCY = ("call_overhead_s", "startup_s", "per_hop_s")

CHANGES: Mapping[str, Callable[[MachineFigure], float]] = {
    "processor x2": lambda figure: 0.5 if figure.group == PROCESSOR else 1.0,
    "memory x2": lambda figure: 0.5 if figure.group == MEMORY else 1.0,
    "bandwidth x2": lambda figure: 0.5 if figure.group == NETWORK and figure.key[-1] == "per_byte_s" else 1.0,
    "latency x0.5": lambda figure: 0.5 if figure.group == NETWORK and figure.key[-1] in _LATENCY else 1.0,
}
"""What-ifs (Def 11) that are tried beside: name -> by what a figure is multiplied."""


class Term(Struct, frozen=True, kw_only=True):
    """`count` times the figure are `time_s`, mean over processors; both are negative where more of it means less."""

    figure: MachineFigure
    count: float
    time_s: float


class Response(Struct, frozen=True, kw_only=True):
    """The terms of each AAU and category that takes time, and its time with each of `CHANGES`."""

    prediction: Prediction
    """The base, scenario 0 being the machine as it is."""
    terms: Mapping[tuple[int, str], tuple[Term, ...]]
    """(AAU, category) -> terms, the largest first. They add up to the time but for what `rest` says."""
    changed_s: Mapping[str, Mapping[int, float]]
    """Change -> AAU -> its time with it."""
    totals_s: Mapping[str, float]
    """Change -> time of the program with it."""


def respond(stages: Stages, machine: Machine, setting: Setting) -> Response:
    """Walk the graph as often as it takes to know all terms.

    Raises:
        aag.diagnostics.SourceError: values prevent a prediction.
    """
    figures = figures_of(machine, _operations(stages))
    base, slopes = _slopes(stages, machine, setting, figures, STEP)
    changes, totals = _changes(stages, machine, setting, figures)
    terms: dict[tuple[int, str], list[Term]] = {}
    procs = base.processors
    times = _times(base)[..., 0]
    faint = _NEGLIGIBLE * times
    faint[:, _FROM_CLOCKS] += _ROUNDING * float(base.time_s[0])
    if np.any(np.abs(sum(slopes) - times) > _ADDS_UP * (times + float(base.time_s[0]))):
        _, downwards = _slopes(stages, machine, setting, figures, -STEP)
        slopes = [0.5 * (each + other) for each, other in zip(slopes, downwards, strict=True)]
    for figure, slope in zip(figures, slopes, strict=True):
        for at, category in zip(*np.nonzero(np.abs(slope) > faint), strict=True):
            unsure = _UNSURE * float(times[at, category]) / figure.seconds
            count = _tidy(float(slope[at, category]) / figure.seconds, procs, unsure)
            key = (base.aaus[at].id, CATEGORIES[category])
            terms.setdefault(key, []).append(Term(figure=figure, count=count, time_s=count * figure.seconds))
    return Response(
        prediction=base, terms={key: _ordered(each) for key, each in terms.items()}, changed_s=changes, totals_s=totals
    )


def _operations(stages: Stages) -> tuple[str, ...]:
    """The operation classes that the program needs, sorted."""
    found = set(_LOOPS)
    for aau in walk(stages.graph.body):
        for _, work in works(aau):
            found.update(name for name, _ in (*work.computation, *work.overhead))
    return tuple(sorted(found))


def _slopes(
    stages: Stages, machine: Machine, setting: Setting, figures: tuple[MachineFigure, ...], step: float
) -> tuple[Prediction, list[Array]]:
    """The base, and for each figure x what it has of the times (AAUs, categories), (dT/dx) x."""
    at_once = max(1, min(len(figures), CELLS // stages.node_program.layouts.procs))
    base: Prediction | None = None
    found: list[Array] = []
    for first in range(0, max(1, len(figures)), at_once):
        part = figures[first : first + at_once]
        scenarios = 1 + len(part)
        factors = {(each.group, each.key): _step(number, scenarios, step) for number, each in enumerate(part)}
        made = interpret(stages.node_program, stages.graph, scaled(machine, factors, scenarios), setting)
        base = base or made
        times = _times(made)
        found += [(times[..., 1 + number] - times[..., 0]) / step for number in range(len(part))]
    assert base is not None
    return base, found


def _step(number: int, scenarios: int, step: float) -> Array:
    factor = np.ones(scenarios)
    factor[1 + number] += step
    return factor


def _changes(
    stages: Stages, machine: Machine, setting: Setting, figures: tuple[MachineFigure, ...]
) -> tuple[Mapping[str, Mapping[int, float]], Mapping[str, float]]:
    scenarios = 1 + len(CHANGES)
    factors = {
        (each.group, each.key): np.array([1.0, *(change(each) for change in CHANGES.values())]) for each in figures
    }
    made = interpret(stages.node_program, stages.graph, scaled(machine, factors, scenarios), setting)
    times = _times(made).sum(axis=1)
    changed = {
        name: {aau.id: float(times[at, number]) for at, aau in enumerate(made.aaus)}
        for number, name in enumerate(CHANGES, start=1)
    }
    return changed, {name: float(made.time_s[number]) for number, name in enumerate(CHANGES, start=1)}


def _times(prediction: Prediction) -> Array:
    """(AAUs, categories, S)."""
    return np.array([list(_four(each.parts)) for each in prediction.aaus])


def _four(parts: object) -> Iterator[Array]:
    return (getattr(parts, f"{category}_s") for category in CATEGORIES)


def _tidy(count: float, procs: int, unsure: float) -> float:
    """The count without the rounding of the difference it comes from, which is `unsure`: a whole number over all
    processors, if it can be."""
    whole = round(count * procs)
    if whole and abs(count * procs - whole) <= 1e-7 * abs(whole) + min(0.01, unsure * procs):
        return whole / procs
    return float(f"{count:.8g}")


def _ordered(terms: list[Term]) -> tuple[Term, ...]:
    return tuple(sorted((each for each in terms if each.count), key=lambda each: (-abs(each.time_s), each.figure.name)))
