"""Speedup, utilisation and balance of a program on a machine, by Clement's static model."""

from collections.abc import Mapping, Sequence
from math import inf
from os import PathLike
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from aag.ir.units import Form
from esp import arguments
from esp.api import Prediction, Request, Source, interpret_stages, load_machine, lower_source, scenario_of
from esp.calling import in_python
from esp.errors import PredictionError, UsageError
from esp.inspect.balance import counts as counting
from esp.inspect.balance.machine import MachineCosts, costs_of, need
from esp.inspect.balance.neglect import neglected_s
from esp.inspect.balance.records import COUNTED, Balance, BalanceRun, EngineRun
from esp.inspect.balance.request import (
    UTILISATION,
    BalanceRequest,
    GivenCosts,
    GivenCounts,
    check,
    given_counts,
    price_of,
)
from esp.inspect.balance.sweeping import swept
from esp.prediction import first
from esp.request import requested
from esp.sources import Name, read_source
from interpreter.balance import model
from interpreter.balance.limits import grain, grain_of, highest_utilisation, largest_startup, least_grain
from interpreter.balance.model import Costs, Workload
from interpreter.balance.patterns import PATTERNS
from sag.scenario import export
from sag.unit import System


class _Modelled(Struct, frozen=True, kw_only=True):
    """A program on a machine, for the model."""

    work: Workload
    costs: Costs
    t_phi_s: float


@in_python
def balance(
    source: Name | Source | None = None,
    system: str | PathLike[str] = "ipsc860",
    procs: int | Sequence[int] = (2, 4, 8),
    *,
    utilisation: float = UTILISATION,
    pattern: str = "",
    base: int | None = None,
    operations: float | None = None,
    sequential: float | None = None,
    misses: float | None = None,
    loops: float | None = None,
    startups: float | str | None = None,
    t_phi: float | None = None,
    c_phi: float | None = None,
    c_m: float | None = None,
    c_c: float | None = None,
    sweep: Mapping[str, Sequence[float]] | None = None,
    dollars: str = "",
    form: Form | None = None,
    cost: str | Sequence[str] | None = None,
    **options: Any,
) -> Balance:
    """Find speedup, utilisation and the largest start-up that keeps a utilisation, by Clement's static model.

    Without a program and without `operations` the result only has the costs of the machine and the work that it
    needs for each start-up.

    Args:
        source: as for `esp.predict`; input and output are left out. None: the counts are given.
        system: as for `esp.predict`.
        procs: numbers of processors.
        utilisation: the one to keep, between 0 and 1.
        pattern: how start-ups depend on the number of processors: ``neighbours``, ``broadcast`` (1 + log2 p) or
            ``all`` (p). By default those of a program are counted for each number.
        base: the number of processors whose prediction gives the counts of the program; by default the largest.
        operations: X_p, operations that are divided among the processors.
        sequential: X_s, operations that each processor executes.
        misses: X_m, cache misses of all processors.
        loops: X_lambda, operations for loops over virtual processors, on each processor.
        startups: X_c, start-ups of each processor, a number or a formula of p: ``"4*(1 + log2(p))"``.
        t_phi: T_phi in seconds; by default one clock.
        c_phi: C_phi, instead of that of program and machine. As the next ones in units of T_phi.
        c_m: C_m, instead of the machine's.
        c_c: C_c, instead of the machine's.
        sweep: values of C_c and C_m: ``{"startup": [470, 5280], "cache": [10, 100]}``.
        dollars: the price of the machine for the sweep, a formula of p, c_c and c_m.
        form: as for `esp.predict`.
        cost: as for `esp.predict`.
        **options: all other options of `esp.predict`, each with one value, without a grid.

    Examples:
        >>> import esp
        >>> found = esp.balance("laplace_bx.hpf", procs=[2, 8], n=64)
        >>> [(run.processors, round(run.utilisation, 2), run.reached) for run in found.runs]
        [(2, 0.93, True), (8, 0.63, True)]
        >>> esp.balance(operations=1e6, startups=100, procs=64, c_phi=1, c_m=0, c_c=5280).runs[0].largest_startup
        156.25

    Raises:
        TypeError: an argument is unknown to esp and to the program.
        UsageError: an argument cannot be meant.
        PredictionError: the machine lacks a figure, the program has no operations, or a prediction is incomplete.
        esp.SourceError: the program or its values prevent a prediction.
        esp.MachineError: the machine prevents it.
        esp.EspError: a file or an argument prevents it.
    """
    given = (procs,) if isinstance(procs, int) else procs
    wanted = BalanceRequest(
        procs=tuple(dict.fromkeys(number for each in given if (number := arguments.processors(each)) is not None)),
        utilisation=utilisation,
        pattern=pattern,
        base=arguments.processors(base),
        costs=GivenCosts(t_phi_s=t_phi, c_phi=c_phi, c_m=c_m, c_c=c_c),
        sweep=dict(sweep or {}),
        price=price_of(dollars),
    )
    counts = given_counts(operations, sequential, misses, loops, startups)
    machine = load_machine(system)
    if source is None:
        if options or form is not None or cost is not None:
            name = next(iter([*options, "form" if form is not None else "cost"]))
            raise UsageError(f"{name} is an option of a program.", where=name, hint="Give a program, or leave it out.")
        return balanced_counts(counts, machine, wanted)
    if counts is not None:
        raise UsageError("counts are given, and a program as well.", where="operations", hint="Give one of the two.")
    return balanced(read_source(source, form=form, cost=cost), machine, requested(None, **options), wanted)


def balanced_counts(counts: GivenCounts | None, system: System, wanted: BalanceRequest) -> Balance:
    """The answer for counts that are given, or for a machine alone.

    Raises:
        UsageError: the request cannot be meant.
        PredictionError: the machine lacks a figure.
    """
    check(wanted)
    machine = costs_of(system, export(system), wanted.costs.t_phi_s)
    misses = 0.0 if counts is None else counts.misses
    costs = _costs(machine, system.name, wanted.costs, machine.operation, misses)
    if counts is None:
        if wanted.sweep or wanted.pattern or wanted.base:
            hint = "Name a program, or give --operations and --startups."
            raise UsageError("there is no work to predict.", where="PROG", hint=hint)
        return _answer(system, machine, costs, wanted)
    if wanted.base is not None:
        raise UsageError("only a program has a base.", where="--base", hint="Leave it out.")
    pattern = PATTERNS[wanted.pattern or "neighbours"]
    work = Workload(
        sequential=counts.sequential,
        parallel=counts.operations,
        misses=counts.misses,
        loops=counts.loops,
        startups=lambda processors: counts.startups({"p": float(processors)}) * pattern.factor(processors),
    )
    law = f"{counts.law} x ({pattern.law})" if wanted.pattern else counts.law
    return _answer(system, machine, costs, wanted, work, law)


def balanced(source: Source, system: System, request: Request, wanted: BalanceRequest) -> Balance:
    """The answer for a program.

    Raises:
        UsageError: the request cannot be meant, or does not fit the program.
        PredictionError: the machine lacks a figure, there are no operations, or a prediction is incomplete.
        aag.diagnostics.SourceError: the program or its values prevent a prediction.
        sag.errors.MachineError: the machine does.
    """
    check(wanted)
    if request.grid is not None:
        raise UsageError("a grid is for one number of processors.", where="--grid", hint="Leave it out.")
    if request.timed:
        raise UsageError("the model counts the whole program.", where="--timed", hint="Leave it out.")
    if request.scenario.has_lists:
        raise UsageError("the model has one scenario.", hint="Give each change one value.")
    base = wanted.base or max(wanted.procs)
    if base == 1:
        hint = "Give one that communicates, such as --procs 1,2,4,8."
        raise UsageError("one processor alone does not communicate.", where="--procs", hint=hint)
    request = replace(request, scenario=replace(request.scenario, io=False))
    machine = costs_of(system, export(system, scenario_of(request)), wanted.costs.t_phi_s)
    if machine.startup is None:
        hint = "Describe its network (docs/machines.md), or give --operations, --startups and --c-c instead."
        raise PredictionError(f"{system.name} has no network, and so no message start-up.", where="--system", hint=hint)
    made = {
        number: _predicted(source, system, replace(request, procs=number))
        for number in sorted({1, base, *wanted.procs})
    }
    counts = counting.counts_of(made[1], made[base], machine)
    paths = {number: counting.path_of(each) for number, each in made.items()}
    on_each = {number: counting.startups_of(each, machine) for number, each in paths.items()}
    pattern = PATTERNS.get(wanted.pattern)
    one = on_each[base] / pattern.factor(base) if pattern is not None else 0.0
    work = Workload(
        sequential=counts.sequential,
        parallel=counts.parallel,
        misses=counts.misses,
        loops=counts.loops,
        startups=lambda p: on_each[int(p)] if pattern is None else one * pattern.factor(p),
    )
    costs = _costs(machine, system.name, wanted.costs, counts.operation, counts.misses)
    law = COUNTED if pattern is None else f"X_c x ({pattern.law})"
    found = _answer(system, machine, costs, wanted, work, law)
    runs = found.runs
    if not wanted.costs.names:  # else it is another machine than the engine's
        program = _Modelled(work=work, costs=costs, t_phi_s=machine.t_phi_s)
        runs = tuple(_compared(each, made[each.processors], made[1], paths[each.processors], program) for each in runs)
    return replace(found, file=source.program.file, base=base, runs=runs, warnings=made[base].warnings)


def _predicted(source: Source, system: System, request: Request) -> Prediction:
    made = interpret_stages(lower_source(source, system, request), system, request)
    if not made.complete:
        hint = "`esp run` lists what cannot be predicted."
        raise PredictionError(f"the prediction for {made.processors} processors is incomplete.", hint=hint)
    return made


def _costs(machine: MachineCosts, system: str, given: GivenCosts, operation: float | None, misses: float) -> Costs:
    """The costs, those of the user first. A machine without cache needs none where there are no misses."""
    operation = operation if given.c_phi is None else given.c_phi
    miss = machine.miss if given.c_m is None else given.c_m
    miss = 0.0 if miss is None and not misses else miss
    startup = machine.startup if given.c_c is None else given.c_c
    return Costs(
        operation=need(operation, system, "time of an addition or multiplication", "--c-phi", "4"),
        miss=need(miss, system, "cache, and so no miss penalty", "--c-m", "0"),
        startup=need(startup, system, "network, and so no message start-up", "--c-c", "470"),
    )


def _answer(
    system: System,
    machine: MachineCosts,
    costs: Costs,
    wanted: BalanceRequest,
    work: Workload | None = None,
    law: str = "",
) -> Balance:
    runs, points = [], []
    if work is not None:
        runs = [_run(work, costs, number, wanted.utilisation) for number in wanted.procs]
        if wanted.sweep:
            points = list(swept(work, costs, machine.t_phi_s, wanted.procs, wanted.sweep, wanted.price))
    return Balance(
        file=None,
        system=system.name,
        utilisation=wanted.utilisation,
        t_phi_s=machine.t_phi_s,
        c_phi=costs.operation,
        c_m=costs.miss,
        c_c=costs.startup,
        ranges=machine.ranges,
        given=wanted.costs.names,
        x_s=None if work is None else work.sequential,
        x_p=None if work is None else work.parallel,
        x_m=None if work is None else work.misses,
        x_lambda=None if work is None else work.loops,
        law=law,
        base=None,
        least_grain=grain_of(costs.operation, costs.startup, wanted.utilisation),
        runs=tuple(runs),
        points=tuple(points),
    )


def _run(work: Workload, costs: Costs, number: int, least: float) -> BalanceRun:
    reached = model.utilisation(work, costs, number)
    return BalanceRun(
        processors=number,
        startups=model.startups_on(work, number),
        speedup=model.speedup(work, costs, number),
        utilisation=reached,
        reached=reached >= least,
        highest=highest_utilisation(work, costs, number),
        largest_startup=_finite(largest_startup(work, costs, number, least)),
        grain=_finite(grain(work, number)),
        least_grain=_finite(least_grain(work, costs, number, least)) or None,
        engine=None,
    )


def _compared(
    run: BalanceRun, made: Prediction, alone: Prediction, path: counting.CriticalPath, program: _Modelled
) -> BalanceRun:
    """A run beside the prediction of the engine."""
    time_s = first(made.time_s)
    actual = first(alone.time_s) / time_s
    engine = EngineRun(
        time_s=time_s,
        model_time_s=model.time_on(program.work, program.costs, run.processors) * program.t_phi_s,
        speedup=actual,
        deviation=model.deviation(run.speedup, actual),
        neglected_s=neglected_s(made, path, program.work, program.costs, program.t_phi_s),
    )
    return replace(run, engine=engine)


def _finite(value: float) -> float | None:
    return value if abs(value) < inf else None
