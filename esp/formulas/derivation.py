"""`esp formula`: counts symbolically, and puts the result together with the figures of the machine."""

from collections.abc import Sequence
from itertools import groupby
from os import PathLike
from typing import Any

import numpy as np
from msgspec import Struct, structs

from aag.ir.units import Form
from esp import api
from esp.calling import in_python
from esp.errors import UsageError
from esp.formulas.formula import FormulaLine, TimeFormula
from esp.formulas.paid import outside_of, terms_of
from esp.formulas.thresholds import compares
from esp.formulas.trials import Trials, distributed_extents, trials_of
from esp.request import requested
from esp.sources import Name, Source, read_source
from interpreter.counts import Prices
from interpreter.listeners import Watch
from interpreter.symbolic.counting import CELLS, Counting, Subject, counting
from interpreter.symbolic.facts import Facts
from interpreter.symbolic.places import places_of
from interpreter.symbolic.polynomial import Poly, name, weighted
from sag.figures import figures_of
from sag.machine import Machine
from sag.unit import System

MOST_PROCESSORS = 64
"""A formula has an expression for each processor."""

STEPS = (0, 1, 3, 8)
"""From the given size, where the layouts are looked at."""


@in_python
def formula(
    source: Name | Source,
    system: str | PathLike[str] = "ipsc860",
    procs: int | None = None,
    *,
    free: str = "",
    form: Form | None = None,
    cost: str | Sequence[str] | None = None,
    **options: Any,
) -> TimeFormula:
    """The time of a program as a formula in its size.

    Args:
        source: as for `esp.predict`.
        system: as for `esp.predict`.
        procs: as for `esp.predict`.
        free: the parameter of the formula: a PARAMETER of the program, or a variable that is given a value; empty: the
            PARAMETER that sizes the distributed arrays.
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


def formula_of(
    source: Source, system: System, request: api.Request, free: str = "", watch: Watch | None = None
) -> TimeFormula:
    """The formula of a program that is read, on a machine that is loaded. `watch`: called at each iteration of a loop
    that is walked for it; what it raises ends the work.

    Raises:
        UsageError: the program has no such parameter, or there are several scenarios or too many processors.
        aag.diagnostics.SourceError: the program or its values prevent a prediction.
        sag.errors.MachineError: the machine or the scenario does.
    """
    return _Maker(trials_of(source, system, request, free, watch)).make()


class _Maker(Struct, frozen=True):
    """A formula in the making."""

    trials: Trials

    def make(self) -> TimeFormula:
        """The formula."""
        trials = self.trials
        stages = api.lower_source(trials.source, trials.system, trials.request)
        layouts = stages.node_program.layouts
        if layouts.procs > MOST_PROCESSORS:
            told = f"{layouts.procs} processors are too many for a formula with an expression for each."
            raise UsageError(told, where="--procs", hint=f"Give at most {MOST_PROCESSORS}.")
        size = trials.size(layouts.constants)
        sizes = [size + each for each in STEPS]
        several = [layouts, *(trials.stages(each).node_program.layouts for each in sizes[1:])]
        places = places_of(trials.free, sizes, several)
        places = structs.replace(places, constants={**places.constants, trials.free: name(trials.free)})
        extents = distributed_extents(layouts)
        largest = max((extent for each in layouts.arrays.values() for extent in each.grid.shape), default=1)
        least = CELLS * largest + 2
        if not trials.sizes_some(size, extents):  # a number of steps, say: from the given one on, however small
            least = min(least, max(2, size))
        subject = Subject(
            graph=stages.graph,
            prices=lambda: Prices(trials.machine, lambda _: None),
            places=places,
            facts=Facts(trials.free, least, CELLS, places.blocks),
            procs=layouts.procs,
            count=trials.count,
            bounds=trials.bounds(),
        )
        found = counting(subject, size)
        shown = found.nearest(size, trials.bounds())
        return self.formula(found, size, shown)

    def formula(self, found: Counting, size: int, shown: int) -> TimeFormula:
        """The result; `shown`: the size at which it is compared with a prediction."""
        trials = self.trials
        prediction = api.interpret_stages(trials.stages(shown), trials.system, trials.at(shown), watch=trials.watch)
        times = _processor_times(found, trials.machine, prediction.processors)
        seconds = [float(each.value({trials.free: shown})) for each in times]
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
                    terms=terms_of(trials, {key: found.counts[key] for key in here}, slowest),
                )
            )
        groups: dict[Poly, list[int]] = {}
        for rank, each in enumerate(times):
            groups.setdefault(each, []).append(rank)
        return TimeFormula(
            prediction=prediction,
            parameter=trials.free,
            size=shown,
            given=size,
            least=found.facts.least,
            most=self.most(found, shown),
            cells=found.facts.cells,
            samples=found.samples,
            checked=found.checked,
            slowest=slowest,
            groups=tuple(map(tuple, groups.values())),
            terms=terms_of(trials, found.counts, slowest),
            lines=tuple(lines),
            outside=outside_of(trials, prediction, trials.result(shown), found.missing, slowest, seconds[slowest]),
            facts=found.facts,
        )

    def most(self, found: Counting, shown: int) -> int | None:
        """The largest size for which the formula holds: that up to which was counted, if the program compares the size
        with something and not all counts are derived."""
        trials = self.trials
        most = found.most(trials.bounds())
        if "interpolated" not in found.origins.values() or not compares(trials.source.program, trials.free):
            return most
        counted = max(shown, *found.samples, *found.checked)
        return counted if most is None else min(most, counted)


def _processor_times(found: Counting, machine: Machine, procs: int) -> list[Poly]:
    """Seconds of each processor."""
    figures = figures_of(machine)
    weights = [float(figures[figure].seconds[0]) for _, figure, _ in found.counts]
    return [weighted([each[rank] for each in found.counts.values()], weights) for rank in range(procs)]
