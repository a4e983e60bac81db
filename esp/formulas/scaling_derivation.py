"""`esp formula --free n,procs`: counts at sizes and numbers of processors, and solves for expressions."""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import product
from math import log2
from os import PathLike
from typing import Any, NoReturn

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from aag.ir.units import Form
from aag.mapping.layout import Layouts
from esp import api
from esp.calling import in_python
from esp.errors import PredictionError, UsageError
from esp.formulas.formula import FormulaLine
from esp.formulas.paid import outside_of, terms_of
from esp.formulas.scaling_formula import MessageKey, ScalingFormula
from esp.formulas.thresholds import compares
from esp.formulas.trials import Trials, distributed_extents, trials_of
from esp.request import requested
from esp.sources import Name, Source, read_source
from interpreter.symbolic.across import ScaleNames, ScaleSample, across, names_for
from interpreter.symbolic.counting import CELLS, WIDE, sample_of
from interpreter.symbolic.polynomial import Poly
from interpreter.symbolic.sampled import CountSample, Key
from sag.figures import figures_of
from sag.unit import System

MORE_CELLS = (0, 1, 2, 3, 4, 6)
"""Cells of each processor beyond the least ones, with which is counted."""

EXTENTS = {1: (4, 8, 16, 32, 64), 2: (4, 8, 16, 32, 64), 3: (4, 8, 16, 32)}
"""Extents of the grids on which is counted, by their number of dimensions."""

OTHERS = ((WIDE, 1, 1), (CELLS + 1, 2, 1), (WIDE, 2, 1), (WIDE, 1, 4))
"""Least cells, of what they are multiples, and factors of the extents that are tried where some counts have no closed
form: messages bring wider overlap areas, loops have steps, or extents are a few elements more than the size."""

ATTEMPTS = 5
"""How often the least number of cells is doubled where messages change their range."""

MANY_CELLS = CELLS << (ATTEMPTS - 1)
"""The most least cells that are tried."""

MOST_PROCESSORS = 1 << 15
"""On which is counted."""

CLOSE = 1e-9
"""Relative difference of counts that are equal."""

Progress = Callable[[int, int, str], None]
"""Is called with how many counts are made, of how many, and of what the next one is."""


@in_python
def scaling_formula(
    source: Name | Source,
    system: str | PathLike[str] = "ipsc860",
    procs: int | None = None,
    *,
    free: str = "",
    form: Form | None = None,
    cost: str | Sequence[str] | None = None,
    **options: Any,
) -> ScalingFormula:
    """The time of a program as a formula in its size and in the number of processors.

    Args:
        source: as for `esp.predict`.
        system: as for `esp.predict`.
        procs: the number at which the formula is compared with a prediction.
        free: the parameter that is the size; empty: the PARAMETER that sizes the distributed arrays.
        form: as for `esp.predict`.
        cost: as for `esp.predict`.
        **options: all other options of `esp.predict`, each with one value, except ``grid``.

    Examples:
        >>> import esp
        >>> found = esp.scaling_formula("lfk03.hpf")
        >>> str(found.time)
        '9.27e-06 b + 0.0015689 s + 0.00418209'

    Raises:
        UsageError: the program has no such parameter, no distributed dimension depends on it, or its grid is given.
        PredictionError: at some size that the formula needs the program cannot be predicted.
        esp.EspError: a file or an argument prevents it.
    """
    request = requested(procs, **options)
    return scaling_formula_of(read_source(source, form=form, cost=cost), api.load_machine(system), request, free)


def scaling_formula_of(
    source: Source, system: System, request: api.Request, free: str = "", progress: Progress | None = None
) -> ScalingFormula:
    """The formula of a program that is read, on a machine that is loaded.

    Raises:
        UsageError: the program has no such parameter, no distributed dimension depends on it, there are several
            scenarios or a given grid, or the law of messages depends on their distance.
        aag.diagnostics.SourceError: the program or its values prevent a prediction.
        sag.errors.MachineError: the machine or the scenario does.
    """
    if request.grid is not None:
        raise UsageError(
            "a formula in the number of processors has no fixed grid.", where="--grid", hint="Leave it out."
        )
    trials = trials_of(source, system, request, free)
    if trials.machine.network is not None and trials.machine.network.by_distance:
        told = f"on {system.name} messages over more links have another law, and a formula in p has one law."
        raise UsageError(told, where="--free", hint="A formula in the size has one number of processors: --procs 16.")
    return _Maker(trials, progress).make()


class _OtherRanges(PredictionError):
    """Messages are not in the wanted ranges on all grids."""


class _Point(Struct, frozen=True):
    """What the engine counted at a size on a grid, and which processors are looked at."""

    size: int
    extent: int
    sample: CountSample
    ranks: NDArray[np.int64]

    def counts(self, place: int) -> dict[Key, float]:
        """The counts of one of the places."""
        at = self.ranks[place]
        return {key: float(each[at]) for key, each in self.sample.counts.items()}

    def means(self) -> dict[Key, float]:
        """The counts that processors have on average."""
        return {key: float(each.mean()) for key, each in self.sample.counts.items()}


class _Plan(Struct, frozen=True):
    """Where is counted: the extents of grids, the least cells of a processor, and of what they are multiples."""

    rank: int
    extents: tuple[int, ...]
    cells: int
    period: int

    def points(self) -> list[tuple[int, int]]:
        """Sizes and extents."""
        return [(self.size(more, extent), extent) for extent, more in product(self.extents, MORE_CELLS)]

    def checks(self) -> list[tuple[int, int]]:
        """Others: more cells on two of the grids, and a grid that is none of them."""
        pairs = [(self.size(5, self.extents[1]), self.extents[1]), (self.size(7, self.extents[-2]), self.extents[-2])]
        wider = 2 * self.extents[-1]
        return pairs + ([(self.size(1, wider), wider)] if wider**self.rank <= MOST_PROCESSORS else [])

    def size(self, more: int, extent: int) -> int:
        """The size with so many times the period more than the least cells."""
        return (self.cells + more * self.period) * extent


class _Maker(Struct, frozen=True):
    """A formula in the making."""

    trials: Trials
    progress: Progress | None

    def make(self) -> ScalingFormula:
        """The formula."""
        stages = api.lower_source(self.trials.source, self.trials.system, self.trials.request)
        layouts = stages.node_program.layouts
        size = self.trials.size(layouts.constants)
        if not self.shared(self.trials, size, layouts):
            self.refuse(layouts)
        rank = max((len(each.grid.shape) for each in layouts.arrays.values() if each.is_distributed), default=1)
        names, extent = names_for(self.trials.free, rank), _nearest(layouts.procs, rank, EXTENTS[rank][0])
        plan = _Plan(rank, EXTENTS[rank], CELLS, 1)
        wanted = self.ranges(self.point(max(-(-size // extent), CELLS) * extent, extent, rank).sample)
        try:
            found = self.solved(names, plan, wanted)
        except _OtherRanges:  # messages of the given size are shorter than those of other numbers of processors
            wanted = self.ranges(self.point(MANY_CELLS * extent, extent, rank).sample)
            found = self.solved(names, plan, wanted)
        for cells, period, times in OTHERS:
            extents = tuple(times * each for each in EXTENTS[rank])
            if found.missing and extents[-1] ** rank <= MOST_PROCESSORS:
                with suppress(_OtherRanges):
                    other = self.solved(names, _Plan(rank, extents, cells, period), wanted)
                    found = other if len(other.missing) < len(found.missing) else found
        return self.formula(found, names, (size, layouts.procs))

    def shared(self, trials: Trials, size: int, layouts: Layouts) -> bool:
        """Whether the extent of some distributed dimension, if there is one, grows with the parameter of the trials."""
        extents = distributed_extents(layouts)
        return not extents or trials.sizes_some(size, extents)

    def refuse(self, layouts: Layouts) -> NoReturn:
        """Say which parameters there are instead.

        Raises:
            UsageError: always.
        """
        free, others = self.trials.free, []
        for each, value in layouts.constants.items():
            if (
                isinstance(value, int)
                and not isinstance(value, bool)
                and value > 0
                and each != free
                and "$" not in each
            ):
                with suppress(PredictionError):
                    if self.shared(structs.replace(self.trials, free=each), value, layouts):
                        others.append(each)
        hint = f"Write --free {free} --procs {layouts.procs} for a formula on {layouts.procs} processors"
        raise UsageError(
            f"no distributed dimension depends on {free}, so that {free} and p together give no closed form.",
            where="--free",
            hint=f"{hint}, or --free {others[0]},procs." if others else f"{hint}.",
        )

    def solved(self, names: ScaleNames, plan: _Plan, wanted: Mapping[MessageKey, int]) -> "_Solved":
        """Counts as expressions."""
        plan, points = self.points(plan, wanted)
        keys = list(dict.fromkeys(key for each in points for key in each.sample.counts))
        ways = [
            across(keys, [self.as_sample(each, each.counts(place), names.rank) for each in points], names)
            for place in range(len(_places(names.rank)))
        ]
        means = across(keys, [self.as_sample(each, each.means(), names.rank) for each in points], names)
        checks = [self.point(size, extent, names.rank) for size, extent in plan.checks()]
        counts: dict[Key, list[Poly]] = {}
        missing: dict[Key, str] = {}
        averaged: list[Key] = []
        for key in keys:
            polys = [one for each in ways if (one := each[key]) is not None]
            mean = means[key]
            if len(polys) == len(ways) and all(_agree(each, key, polys, names) for each in checks):
                counts[key] = polys
            elif mean is not None and all(_agree(each, key, [mean], names) for each in checks):
                counts[key] = [mean] * len(ways)
                averaged.append(key)
            else:
                missing[key] = "its counts have no closed form"
        return _Solved(plan, points, checks, counts, missing, frozenset(averaged))

    def points(self, plan: _Plan, wanted: Mapping[MessageKey, int]) -> tuple[_Plan, list[_Point]]:
        """The counts with which messages are in the `wanted` ranges everywhere, and with how many cells.

        Raises:
            _OtherRanges: there are none.
        """
        for _ in range(ATTEMPTS):
            found: list[_Point] = []
            for size, extent in plan.points():
                found.append(self.point(size, extent, plan.rank, (len(found), len(plan.points()))))
                if self.ranges(found[-1].sample) != wanted:
                    break
            else:
                return plan, found
            plan = structs.replace(plan, cells=2 * plan.cells)
        name = self.trials.system.name
        told = f"{name} has other costs for longer messages, and which ones are sent differs among processors and sizes"
        hint = (
            f"Write --free {self.trials.free} with a number of processors; there the formula ends where costs change."
        )
        raise _OtherRanges(f"{told}, so that no one formula in p was found.", where="--free", hint=hint)

    def ranges(self, sample: CountSample) -> dict[MessageKey, int]:
        """The number of the range in which the longest and the shortest message of each communication are."""
        bounds = self.trials.bounds()
        return {key: bisect_left(bounds, each) for key, each in _messages(sample).items()}

    def point(self, size: int, extent: int, rank: int, done: tuple[int, int] | None = None) -> _Point:
        """What the engine counts.

        Raises:
            PredictionError: the program is lowered to another grid.
        """
        procs = extent**rank
        if self.progress and done:
            self.progress(*done, f"{self.trials.free} = {size}, p = {procs}")
        trials = structs.replace(self.trials, request=structs.replace(self.trials.request, procs=procs))
        stages = trials.stages(size)
        grids = {each.grid for each in stages.node_program.layouts.arrays.values() if each.is_distributed}
        wrong = [each for each in grids if each.shape != (extent,) * rank]
        if wrong:
            told = f"{procs} processors form a grid of {wrong[0]}, not of {'x'.join([str(extent)] * rank)}"
            raise PredictionError(f"a formula in p needs a grid of equal extents: {told}.", where="--free")
        ranks = np.zeros(len(_places(rank)), dtype=np.int64)
        for grid in grids:
            ranks = np.array([np.dot(place, grid.strides) for place in product(_positions(extent), repeat=rank)])
        return _Point(size, extent, sample_of(size, trials.result_of(stages, size)), ranks)

    def as_sample(self, point: _Point, counts: Mapping[Key, float], rank: int) -> ScaleSample:
        """Counts at a point."""
        return ScaleSample(point.size, point.extent, point.extent**rank, counts)

    def messages(self, points: Sequence[_Point], names: ScaleNames) -> dict[MessageKey, Poly | None]:
        """Bytes of the longest and the shortest message of each communication, as expressions."""

        def key(of: MessageKey) -> Key:
            return of[0], of[1], 0

        samples = [
            self.as_sample(each, {key(of): float(size) for of, size in _messages(each.sample).items()}, names.rank)
            for each in points
        ]
        found = across([key(of) for of in _messages(points[0].sample)], samples, names)
        return {(aau, which): each for (aau, which, _), each in found.items()}

    def formula(self, found: "_Solved", names: ScaleNames, given: tuple[int, int]) -> ScalingFormula:
        """The result."""
        plan = found.plan
        extent = _nearest(given[1], names.rank, plan.extents[0])
        size = max(-(-given[0] // (extent * plan.period)) * plan.period, plan.cells) * extent
        procs, ranges = extent**names.rank, self.ranges(found.points[0].sample)
        shown = self.point(size, extent, names.rank)
        if self.ranges(shown.sample) != ranges:
            size = plan.cells * extent
            shown = self.point(size, extent, names.rank)
        found = _agreeing(found, shown, names)
        trials = structs.replace(self.trials, request=structs.replace(self.trials.request, procs=procs))
        prediction = api.interpret_stages(trials.stages(size), trials.system, trials.at(size))
        figures, values = figures_of(trials.machine), _at(names, size, procs)
        places = _places(names.rank)
        seconds = [
            sum(float(each[at].value(values)) * float(figures[key[1]].seconds[0]) for key, each in found.counts.items())
            for at in range(len(places))
        ]
        slowest = int(np.argmax(seconds))
        spans = {each.id: (each.span.file or prediction.file, each.span.line) for each in prediction.aaus}
        lines: dict[tuple[str, int], list[Key]] = {}
        for key in sorted(found.counts, key=lambda key: (*spans[key[0]], key)):
            lines.setdefault(spans[key[0]], []).append(key)
        rank = int(shown.ranks[slowest])
        return ScalingFormula(
            prediction=prediction,
            names=names,
            given=given,
            size=size,
            procs=procs,
            least=plan.extents[0],
            cells=plan.cells,
            period=plan.period,
            samples=tuple((each.size, each.extent**names.rank) for each in found.points),
            checked=tuple((each.size, each.extent**names.rank) for each in found.checks),
            places=places,
            slowest=slowest,
            short=max(self.short(found, each, names) for each in [*found.checks, shown]),
            terms=terms_of(trials, found.counts, slowest, names),
            lines=tuple(
                FormulaLine(
                    file=file,
                    line=line,
                    origin="averaged" if found.averaged.intersection(here) else "interpolated",
                    terms=terms_of(trials, {key: found.counts[key] for key in here}, slowest, names),
                )
                for (file, line), here in lines.items()
            ),
            outside=outside_of(trials, prediction, trials.result(size), found.missing, rank, seconds[slowest]),
            limit=self.limit([*found.points, *found.checks, shown]),
            messages=self.messages(found.points, names),
            bounds=trials.bounds(),
            ranges=ranges,
        )

    def limit(self, points: Sequence[_Point]) -> int | None:
        """The largest size at which was counted, if the program may do something else beyond it."""
        if not compares(self.trials.source.program, self.trials.free):
            return None
        return max(each.size for each in points)

    def short(self, found: "_Solved", point: _Point, names: ScaleNames) -> float:
        """What the slowest processor pays more than the expressions say, in relation to it."""
        figures = figures_of(self.trials.machine)
        procs = point.extent**names.rank
        values = _at(names, point.size, procs)
        times, paid = np.zeros(len(point.ranks)), np.zeros(procs)
        for key, polys in found.counts.items():
            each_s = float(figures[key[1]].seconds[0])
            times += each_s * np.array([float(one.value(values)) for one in polys])
            paid += each_s * point.sample.counts.get(key, np.zeros(procs))
        return float(paid.max() / times.max() - 1.0) if times.max() > 0 else 0.0


class _Solved(Struct, frozen=True):
    """Counts as expressions.

    Attributes:
        plan: Where is counted.
        points: What the engine counted.
        checks: The same at sizes that were not used.
        counts: The expression of each place.
        missing: Counts without one, and why.
        averaged: Counts that are the mean over all processors.
    """

    plan: _Plan
    points: list[_Point]
    checks: list[_Point]
    counts: dict[Key, list[Poly]]
    missing: dict[Key, str]
    averaged: frozenset[Key]


WORDS = ("first", "second", "middle", "last but one", "last")


def _positions(extent: int) -> tuple[int, ...]:
    """The places that are looked at in a dimension of the grid: its ends, where less is sent, those beside them, and
    one in the middle."""
    return 0, 1, extent // 2, extent - 2, extent - 1


def _places(rank: int) -> tuple[tuple[str, ...], ...]:
    return tuple(product(WORDS, repeat=rank))


def _messages(sample: CountSample) -> dict[MessageKey, int]:
    """Bytes of the longest and the shortest message of each communication."""
    longest = {(aau, "longest"): size for aau, size in sample.messages.items()}
    return longest | {(aau, "shortest"): size for aau, size in sample.shortest.items()}


def _agreeing(found: _Solved, shown: _Point, names: ScaleNames) -> _Solved:
    """Without what differs from the counts at the given size."""
    why = "its counts differ from those of the engine at the given size"
    wrong = [key for key, polys in found.counts.items() if not _agree_at(found, shown, key, polys, names)]
    others = [key for key in shown.sample.counts if key not in found.counts and key not in found.missing]
    kept = {key: polys for key, polys in found.counts.items() if key not in wrong}
    return structs.replace(found, counts=kept, missing={**found.missing, **dict.fromkeys([*wrong, *others], why)})


def _agree_at(found: _Solved, shown: _Point, key: Key, polys: Sequence[Poly], names: ScaleNames) -> bool:
    return _agree(shown, key, polys[:1] if key in found.averaged else polys, names)


def _nearest(procs: int, rank: int, least: int) -> int:
    """The extent of the grid of equal extents that has about so many processors."""
    return max(least, int(2 ** round(log2(max(1, procs)) / rank)))


def _at(names: ScaleNames, size: int, procs: int) -> dict[str, float]:
    found = names.values(np.array([float(size)]), np.array([float(procs)]))
    return {name: float(each[0]) for name, each in found.items()}


def _agree(point: _Point, key: Key, polys: Sequence[Poly], names: ScaleNames) -> bool:
    """Whether expressions have the counts of the engine: those of each place, or of the mean."""
    procs = point.extent**names.rank
    values = _at(names, point.size, procs)
    each = point.sample.counts.get(key, np.zeros(procs))
    counts = each[point.ranks] if len(polys) > 1 else np.array([each.mean()])
    found = np.array([float(one.value(values)) for one in polys])
    return bool(np.all(np.abs(found - counts) <= CLOSE * np.maximum(1.0, np.abs(counts))))
