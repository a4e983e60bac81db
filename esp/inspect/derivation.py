"""`esp formula`: counts symbolically, and puts the result together with the figures of the machine."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from os import PathLike
from typing import Any

import numpy as np
from msgspec import Struct, structs

from aag.diagnostics import SourceError
from aag.ir.units import Form
from esp import api
from esp.calling import in_python
from esp.errors import PredictionError, UsageError
from esp.inspect.formula import TERMS, Expression, FormulaLine, FormulaTerm, Outside, TimeFormula, term_of
from esp.request import requested
from esp.sources import Name, Source, read_source
from interpreter.counts import Paid, Prices
from interpreter.engine import interpret
from interpreter.result import Result
from interpreter.setting import Setting
from interpreter.symbolic.counting import CELLS, Counting, Subject, counting, counts_by_key, sample_of
from interpreter.symbolic.facts import Facts
from interpreter.symbolic.places import places_of
from interpreter.symbolic.polynomial import Poly, name, poly, weighted
from interpreter.symbolic.sampled import CountSample, Key
from sag.figures import figures_of
from sag.machine import Machine
from sag.scenario import export
from sag.unit import System

MOST_PROCESSORS = 64
"""A formula has an expression for each processor."""

STEPS = (0, 1, 3, 8)
"""From the given size, where the layouts are looked at."""

UNSEEN_S = 1e-12
"""Seconds that are not worth a line."""


@in_python
def formula(
    source: Name | Source,
    system: str | PathLike[str] = "ipsc860",
    procs: int | None = None,
    *,
    free: str = "n",
    form: Form | None = None,
    cost: str | Sequence[str] | None = None,
    **options: Any,
) -> TimeFormula:
    """The time of a program as a formula in its size.

    Args:
        source: as for `esp.predict`.
        system: as for `esp.predict`.
        procs: as for `esp.predict`.
        free: the parameter of the formula: a PARAMETER of the program, or a variable that is given a value.
        form: as for `esp.predict`.
        cost: as for `esp.predict`.
        **options: all other options of `esp.predict`, each with one value.

    Examples:
        >>> import esp
        >>> found = esp.formula("laplace_bb.hpf", procs=4)
        >>> str(found.counts["processor.r8.mul"])
        '50 ceil(n/2)^2 - 100 ceil(n/2) + 50'
        >>> [f"{each:.2f}" for each in found.evaluate(n=[512, 1024])]
        ['3.56', '13.79']

    Raises:
        TypeError: an argument is unknown to esp and to the program.
        UsageError: the program has no such parameter.
        PredictionError: at some size that the formula needs the program cannot be predicted.
        esp.SourceError: the program or its values prevent a prediction.
        esp.MachineError: the machine prevents it.
        esp.EspError: a file or an argument prevents it.
    """
    request = requested(procs, **options)
    return formula_of(read_source(source, form=form, cost=cost), api.load_machine(system), request, free)


def formula_of(source: Source, system: System, request: api.Request, free: str = "n") -> TimeFormula:
    """The formula of a program that is read, on a machine that is loaded.

    Raises:
        UsageError: the program has no such parameter, or there are several scenarios or too many processors.
        aag.diagnostics.SourceError: the program or its values prevent a prediction.
        sag.errors.MachineError: the machine or the scenario does.
    """
    if request.scenario.has_lists:
        raise UsageError("a formula has one scenario.", hint="Give each change one value.")
    return _Maker(source, system, request, free.lower(), export(system, api.scenario_of(request))).make()


class _Maker(Struct, frozen=True):
    """A formula in the making."""

    source: Source
    system: System
    request: api.Request
    free: str
    machine: Machine

    def make(self) -> TimeFormula:
        """The formula."""
        stages = api.lower_source(self.source, self.system, self.request)
        layouts = stages.node_program.layouts
        if layouts.procs > MOST_PROCESSORS:
            told = f"{layouts.procs} processors are too many for a formula with an expression for each."
            raise UsageError(told, where="--procs", hint=f"Give at most {MOST_PROCESSORS}.")
        size = self.size(layouts.constants)
        sizes = [size + each for each in STEPS]
        several = [layouts, *(self.stages(each).node_program.layouts for each in sizes[1:])]
        places = places_of(self.free, sizes, several)
        places = structs.replace(places, constants={**places.constants, self.free: name(self.free)})
        largest = max((extent for each in layouts.arrays.values() for extent in each.grid.shape), default=1)
        subject = Subject(
            graph=stages.graph,
            prices=lambda: Prices(self.machine, lambda _: None),
            places=places,
            facts=Facts(self.free, CELLS * largest + 2, CELLS, places.blocks),
            procs=layouts.procs,
            count=self.count,
            bounds=self.bounds(),
        )
        found = counting(subject, size)
        shown = found.nearest(size, self.bounds())
        return self.formula(found, size, shown)

    def size(self, constants: Mapping[str, object]) -> int:
        """The given value of the parameter.

        Raises:
            UsageError: it has none.
        """
        given = {each.lower(): value for each, value in self.request.values.items()}
        value = given.get(self.free, constants.get(self.free))
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
        known = sorted(each for each, found in constants.items() if isinstance(found, int) and "$" not in each)
        hint = f"Its integer constants: {', '.join(known)}." if known else f"Give it a value: {self.free.upper()}=64."
        raise UsageError(f"{self.free} is not a size of this program.", where="--free", hint=hint)

    def at(self, size: int) -> api.Request:
        """The request at a size."""
        values = {each: value for each, value in self.request.values.items() if each.lower() != self.free}
        return structs.replace(self.request, values={**values, self.free: size})

    def stages(self, size: int) -> api.Stages:
        """The program at a size.

        Raises:
            PredictionError: it cannot be predicted there.
        """
        try:
            return api.lower_source(self.source, self.system, self.at(size))
        except SourceError as problem:
            where = f"{self.free} = {size}, too, where the program cannot be predicted"
            raise PredictionError(
                f"the formula needs counts at {where}: {problem.diagnostics[0].message}."
            ) from problem

    def result(self, size: int) -> Result:
        """What the engine gives at a size, without cache misses."""
        stages = self.stages(size)

        def attempt(setting: Setting) -> Result:
            return interpret(
                stages.node_program, stages.graph, self.machine, structs.replace(setting, memory=False, timed=False)
            )

        return api.interpreted(stages, self.at(size), attempt)[0]

    def count(self, size: int) -> CountSample:
        """What the engine counts at a size."""
        return sample_of(size, self.result(size))

    def formula(self, found: Counting, size: int, shown: int) -> TimeFormula:
        """The result; `shown`: the size at which it is compared with a prediction."""
        prediction = api.interpret_stages(self.stages(shown), self.system, self.at(shown))
        times = _processor_times(found, self.machine, prediction.processors)
        seconds = [float(each.value({self.free: shown})) for each in times]
        slowest = int(np.argmax(seconds))
        places = {each.id: (each.span.file or prediction.file, each.span.line) for each in prediction.aaus}
        lines = []
        keys = sorted(found.counts, key=lambda key: (*places[key[0]], key))
        for (file, line), group in groupby(keys, key=lambda key: places[key[0]]):
            here = list(group)
            derived = all(found.origins[key[0]] == "derived" for key in here)
            lines.append(
                FormulaLine(
                    file=file,
                    line=line,
                    origin="derived" if derived else "interpolated",
                    terms=self.terms(found, here, slowest),
                )
            )
        groups: dict[Poly, list[int]] = {}
        for rank, each in enumerate(times):
            groups.setdefault(each, []).append(rank)
        return TimeFormula(
            prediction=prediction,
            parameter=self.free,
            size=shown,
            given=size,
            least=found.facts.least,
            most=found.most(self.bounds()),
            cells=found.facts.cells,
            samples=found.samples,
            checked=found.checked,
            slowest=slowest,
            groups=tuple(map(tuple, groups.values())),
            terms=self.terms(found, list(found.counts), slowest),
            lines=tuple(lines),
            outside=tuple(self.outside(prediction, self.result(shown), found, slowest, seconds[slowest])),
            facts=found.facts,
        )

    def terms(self, found: Counting, keys: Sequence[Key], slowest: int) -> tuple[FormulaTerm, ...]:
        """What some AAUs pay together."""
        figures = figures_of(self.machine)
        order = {each: number for number, each in enumerate(figures)}
        totals: dict[tuple[str, int], list[Poly]] = {}
        for key in keys:
            counts = found.counts[key]
            known = totals.setdefault(key[1:], [poly(0)] * len(counts))
            totals[key[1:]] = [mine + more for mine, more in zip(known, counts, strict=True)]
        kept = {key: each for key, each in totals.items() if any(one.terms for one in each)}
        return tuple(
            FormulaTerm(
                term=term_of(figure),
                name=figure,
                figure=figures[figure].path,
                unit=figures[figure].unit,
                paid=Paid(paid).name.lower(),
                seconds=float(figures[figure].seconds[0]),
                count=Expression(counts[slowest], self.free),
                counts=tuple(counts),
            )
            for (figure, paid), counts in sorted(
                kept.items(), key=lambda each: ([*TERMS].index(term_of(each[0][0])), each[0][1], order[each[0][0]])
            )
        )

    def bounds(self) -> tuple[float, ...]:
        """The last sizes of the ranges of messages."""
        ranges = self.machine.network.ranges if self.machine.network else ()
        return tuple(each.upto_bytes for each in ranges if np.isfinite(each.upto_bytes))

    def outside(
        self, prediction: api.Prediction, result: Result, found: Counting, slowest: int, time_s: float
    ) -> list[Outside]:
        """What the formula lacks of the time of the slowest processor; `time_s`: what it gives; `result`: without cache
        misses."""
        figures = figures_of(self.machine)
        missing: dict[tuple[int, str, str], float] = {}
        for key, each in counts_by_key(result.counts).items():
            if key in found.missing:
                place = key[0], key[1], found.missing[key]
                missing[place] = missing.get(place, 0.0) + float(each[slowest]) * float(figures[key[1]].seconds[0])
        with_cache, without = prediction.per_processor, result.per_processor
        computed_s = _of(without.computation_s, slowest) + _of(without.overhead_s, slowest)
        cache_s = _of(with_cache.computation_s, slowest) + _of(with_cache.overhead_s, slowest) - computed_s
        spent_s = computed_s + _of(with_cache.communication_s, slowest)
        told = [
            Outside(what="waiting", why="maxima decide who waits", time_s=_of(with_cache.waiting_s, slowest)),
            Outside(what="cache misses", why="their law has no closed form", time_s=cache_s),
            Outside(
                what="hidden",
                why="overlap and exchanges in both directions hide a part of messages",
                time_s=spent_s - time_s - sum(missing.values()),
            ),
        ]
        labels = {each.id: each for each in result.aaus}
        for (aau, figure, why), missing_s in sorted(missing.items()):
            what = f"line {labels[aau].span.line}, {labels[aau].label}: {figures[figure].unit}"
            told.append(Outside(what=what, why=why, time_s=missing_s, line=labels[aau].span.line))
        return [each for each in told if abs(each.time_s) > UNSEEN_S]


def _of(figures: object, processor: int) -> float:
    """The figure of a processor, first scenario."""
    return float(np.atleast_2d(np.asarray(figures, dtype=np.float64))[0, processor])


def _processor_times(found: Counting, machine: Machine, procs: int) -> list[Poly]:
    """Seconds of each processor."""
    figures = figures_of(machine)
    weights = [float(figures[figure].seconds[0]) for _, figure, _ in found.counts]
    return [weighted([each[rank] for each in found.counts.values()], weights) for rank in range(procs)]
