"""The size that keeps a speed from a few runs: rates by least squares, work and messages counted in the graph.

Sun and Zhu fit tau and beta to runs on 2 and 4 processors (Equation 16), beta again to a run on 36, where messages go
over a second ring, and find by Equation 2 the sizes of systems that nobody ran (docs/scalability.md).
"""

from collections.abc import Callable, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from esp.api import Request, Source, interpreted, lower_source, scenario_of
from esp.errors import PredictionError, UsageError
from esp.explore.scaling import TOLERANCE, FittedRate, FittedSize, ScaledRun, Scaling
from esp.explore.sized import SizedPredictions
from esp.prediction import first
from interpreter.engine import interpret
from interpreter.result import Result
from interpreter.scalability import isospeed
from interpreter.scalability.rates import nonnegative_rates
from interpreter.scalability.search import smallest_lasting
from interpreter.setting import Setting
from sag.figures import EXCHANGED, range_name
from sag.machine import Machine
from sag.scenario import export
from sag.unit import System

Execution = Callable[[int, int], float]
"""Number of processors, size -> seconds of a run."""
Progress = Callable[[int, int, str, float], None]

SIZES = (1, 2)
"""Runs have so many times the size of the program, on each number of processors."""


class _Kind(Struct, frozen=True, order=True):
    """Something that a run does at a rate of its own: `what` is ``flop`` or ``message``; `level` tells flops on data
    that fit into the cache (0) from others (1), and messages by how far they go (the nearest: 0)."""

    what: str
    level: int


Amounts = dict[_Kind, float]
"""Flops; seconds that messages and waiting take by the machine file."""


class _Counts:
    """What a program does at a size on some processors, counted without replaying a cache; each is counted once."""

    def __init__(self, source: Source, system: System, request: Request, name: str) -> None:
        self._source, self._system, self._request, self._name = source, system, request, name
        self._machine: Machine = export(system, scenario_of(request))
        self._known: dict[tuple[int, int], Amounts] = {}
        self._level = _levels(self._machine)

    def of(self, procs: int, size: int) -> Amounts:
        """Flops of the processor that does most, and all that is not its computation."""
        if (procs, size) not in self._known:
            self._known[procs, size] = self._counted(procs, size)
        return self._known[procs, size]

    def _counted(self, procs: int, size: int) -> Amounts:
        asked = replace(self._request, procs=procs, values={**self._request.values, self._name: size})
        stages = lower_source(self._source, self._system, asked)

        def attempt(setting: Setting) -> Result:
            without = replace(setting, memory=False, partial=asked.partial)
            return interpret(stages.node_program, stages.graph, self._machine, without)

        made = interpreted(stages, asked, attempt)[0]
        if not made.complete:
            raise PredictionError(f"the prediction for {self._name} = {size} is incomplete.")
        memory = self._machine.memory
        cached = memory is not None and made.memory_bytes <= memory.last.size_bytes
        flops = np.zeros(procs)
        levels: dict[int, float] = {}
        for each in made.counts.of():
            component, _, key = each.name.partition(".")
            if component == "processor" and key[:3] in ("r4.", "r8.") and not key.endswith(".cmp"):
                flops += each.mean if each.each is None else each.each
            elif each.name in self._level:
                level = self._level[each.name]
                levels[level] = levels.get(level, 0.0) + first(each.time_s)
        found = {_Kind("flop", int(not cached)): float(flops.max())}
        busiest = float((made.per_processor.computation_s + made.per_processor.overhead_s)[0].max())
        rest, whole = max(first(made.time_s) - busiest, 0.0), sum(levels.values())
        if whole > 0:
            found |= {_Kind("message", level): rest * part / whole for level, part in levels.items()}
        return {kind: often for kind, often in found.items() if often}


def _levels(machine: Machine) -> dict[str, int]:
    """How far messages go that pay a figure: the nearest 0."""
    if machine.network is None:
        return {}
    distances = sorted({each.upto_hops for each in machine.network.ranges})
    return {
        f"{range_name(law, number)}.{key}{end}": distances.index(law.upto_hops)
        for number, law in enumerate(machine.network.ranges)
        for key in ("startup", "per_byte", "per_hop", "call_overhead", "receive_overhead")
        for end in ("", EXCHANGED)
    }


def fitted(
    found: Scaling,
    source: Source,
    system: System,
    request: Request,
    on: Sequence[int],
    executed: Execution | None,
    *,
    work: str = "",
    tol: float = TOLERANCE,
    progress: Progress | None = None,
) -> Scaling:
    """Fit rates to runs on a few numbers of processors, and find the sizes on all others from counts.

    Args:
        found: the sizes that are computed.
        source: the program.
        system: the machine as it is described.
        request: as for `found`.
        on: on how many processors it is run, ascending.
        executed: runs the program; None: the predicted times are those of the runs.
        work: the flops of the best sequential program, as for `found`.
        tol: the share of the speed by which the speed at a size may differ.
        progress: called before each run with the runs made, processors and size of the next, and the share done.

    Raises:
        UsageError: the runs do not determine the rates.
        PredictionError: a prediction is incomplete.
    """
    counts = _Counts(source, system, request, found.parameter)
    tries = SizedPredictions(source, system, request, found.parameter, work, None)
    runs = [(procs, times * found.current) for procs in on for times in SIZES]
    seconds = []
    for made, (procs, size) in enumerate(runs):
        if progress is not None:
            progress(made, procs, f"{found.parameter} = {size:,}", made / len(runs))
        seconds.append(executed(procs, size) if executed else tries.time_s(tries.prediction(procs, size)))
    rates = _rates([counts.of(*each) for each in runs], seconds)
    fits = [
        time / at_rates - 1
        for time, (at_rates, _) in zip(seconds, (_time(counts.of(*each), rates) for each in runs), strict=True)
    ]
    sizes: list[ScaledRun] = []
    base: FittedSize | None = None
    for each in found.runs:
        one = _size(each, found, counts, tries, rates, tol)
        if one is not None:
            base = base or one
            one = replace(one, psi=isospeed.scalability(base.processors, base.work, one.processors, one.work))
        sizes.append(replace(each, fitted=one))
    told = tuple(FittedRate(what=kind.what, level=kind.level, value=rate) for kind, rate in sorted(rates.items()))
    worst = max(map(abs, fits))
    return replace(found, runs=tuple(sizes), tol=tol, rates=told, fitted_on=tuple(on), misfit=worst)


def _rates(amounts: Sequence[Amounts], seconds: Sequence[float]) -> dict[_Kind, float]:
    """Seconds of a flop, and by which factor messages take longer than by the machine file, of each kind."""
    kinds = sorted({kind for each in amounts for kind in each})
    if not kinds:
        raise PredictionError("the program has no floating-point operations and no messages.")
    try:
        rates = nonnegative_rates([[each.get(kind, 0.0) for kind in kinds] for each in amounts], seconds)
    except ValueError as error:
        raise UsageError(f"{error}.", where="--fit-on", hint="Give more numbers of processors: 2,4,8.") from error
    return dict(zip(kinds, rates.tolist(), strict=True))


def _time(amounts: Amounts, rates: dict[_Kind, float]) -> tuple[float, bool]:
    """Seconds of a run, and whether the runs did all that it does. A level that was not in the runs has the rate of the
    nearest level that was. Without messages in the runs, they take what the machine file says."""
    total = 0.0
    for kind, often in amounts.items():
        apart = {abs(each.level - kind.level): rate for each, rate in rates.items() if each.what == kind.what}
        total += often * (apart[min(apart)] if apart else float(kind.what == "message"))
    return total, amounts.keys() <= rates.keys()


def _size(
    each: ScaledRun, found: Scaling, counts: _Counts, tries: SizedPredictions, rates: dict[_Kind, float], tol: float
) -> FittedSize | None:
    """The size at which the fitted time gives the speed; None where none does."""
    procs, kept = each.processors, found.speed

    def speed(size: int) -> float:
        time_s = _time(counts.of(procs, size), rates)[0]
        return isospeed.average_speed(tries.work(size), procs, time_s) if time_s else 0.0

    size = smallest_lasting(lambda size: speed(size) >= kept, 1, each.size, found.most, 0)
    if size is None:
        return None
    if size > 1 and abs(speed(size - 1) / kept - 1) < abs(speed(size) / kept - 1):
        size -= 1
    time_s, known = _time(counts.of(procs, size), rates)
    tau = max((rate for kind, rate in rates.items() if kind.what == "flop"), default=0.0)
    return FittedSize(
        processors=procs,
        size=size,
        work=tries.work(size),
        time_s=time_s,
        overhead_s=isospeed.overhead(tries.work(size), procs, time_s, tau),
        speed=speed(size),
        kept=abs(speed(size) / kept - 1) <= tol,
        known=known,
        psi=1.0,
    )
