"""Sweep: predict every combination of programs, sizes, processors, distributions, machines and what-ifs.

plan = Plan(programs, systems, form, base, axes)
for done in run(plan): ...          one walk after the other, each with many scenarios (D4)
sweep = collect(plan, run(plan))    all figures as arrays with one axis for each axis of the plan
"""

import pickle
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from aag.diagnostics import Diagnostic, SourceError, UnresolvedError
from aag.ir.units import Form
from aag.mapping.tables import EVERYTHING
from esp import arguments
from esp.api import (
    Request,
    Source,
    Stages,
    compiled,
    interpret_stages,
    load_machine,
    lower_source,
    read_source,
    requested,
)
from esp.calling import in_python
from esp.errors import UsageError
from esp.explore.axes import Axis, cells_of
from esp.explore.plan import (
    CHUNK,
    DIMENSIONS,
    PARAMETERS,
    SweepPartition,
    SweepPlan,
    SweepWalk,
    lowering_request,
    machine_scenario,
    partition,
)
from esp.explore.workers import Workers
from esp.prediction import Prediction
from esp.shown import Printed
from esp.sources import Name
from interpreter.result import Assumption
from sag.unit import System

if TYPE_CHECKING:
    from concurrent.futures import Executor

MAPPING = ("program", "procs", "grid", "distribute")
"""Axes that change where data lie, and so which values a prediction needs."""

MOST_WALKS = 100_000
"""Walks of one sweep: at a second or so each, more than a day."""

_SWITCHES = ("timed", "unroll", "trust_directives", "budget")
"""What is the same for all predictions of a sweep."""

TIMES = ("time_s", "computation_s", "communication_s", "waiting_s", "overhead_s")
"""The figures in seconds that are kept of each cell."""

Progress = Callable[[int, int, float], None]
"""Called with cells done, cells in all, and the shortest time so far."""


_READING = threading.Lock()


class Sweep(Printed, Struct, frozen=True, kw_only=True, eq=False):
    """The result of `sweep`. Arrays have one axis for each of `axes`; times are NaN where there is no prediction."""

    axes: tuple[Axis, ...]
    times: Mapping[str, NDArray[np.float64]]
    """Each of `TIMES`, in seconds."""
    messages: NDArray[np.int64]
    bytes: NDArray[np.int64]
    processors: NDArray[np.int64]
    grids: NDArray[np.object_]
    """Extents of the processor grids as text, ``4x2``."""
    done: NDArray[np.bool_]
    """Whether there is a prediction."""
    complete: NDArray[np.bool_]
    """Whether it has charged every statement."""
    fits: NDArray[np.bool_]
    """Whether its data fit in the memory of a node."""
    problems: tuple[tuple[int, Diagnostic], ...]
    """Number of a cell (the last axis varying fastest) that is impossible, and why; once for each walk."""
    impossible: NDArray[np.bool_]
    assumptions: tuple[Assumption, ...]
    warnings: tuple[Diagnostic, ...]
    interrupted: bool
    """Whether it was stopped: what is not done is missing."""
    about: tuple[tuple[str, str], ...]
    """What all cells share: what it is -> how it is shown."""

    @property
    def time_s(self) -> NDArray[np.float64]:
        """The predicted times."""
        return self.times["time_s"]

    def change(self, axis: str) -> NDArray[np.float64]:
        """The relative change of the time against the first value of an axis.

        Raises:
            UsageError: there is no such axis.
        """
        names = [each.name for each in self.axes]
        if axis not in names:
            hint = f"The axes are {', '.join(names)}." if names else "This one has none."
            raise UsageError(f"the sweep has no axis {axis!r}.", hint=hint)
        at = names.index(axis)
        first = np.take(self.time_s, [0], axis=at)
        changed: NDArray[np.float64] = self.time_s / first - 1.0
        return changed


class WalkResult(Struct, frozen=True, kw_only=True, eq=False):
    """What one walk found: times (figures, scenarios), or why there are none."""

    walk: SweepWalk
    times: NDArray[np.float64] | None
    messages: int = 0
    bytes: int = 0
    processors: int = 0
    grid: str = ""
    complete: bool = True
    fits: bool = True
    problem: Diagnostic | None = None
    missing: tuple[tuple[str, Diagnostic], ...] = ()
    """Variables without a value, where these are the problem."""
    assumptions: tuple[Assumption, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()


class Runner:
    """Does the walks of a plan: programs and machines are read once, a node program serves as long as it fits."""

    def __init__(self, plan: SweepPlan) -> None:
        self.plan = plan
        self.systems = tuple(load_machine(each) for each in plan.systems)
        self.parts: SweepPartition = partition(plan, self.systems)
        self._sources: dict[int, Source] = {}
        self._last: tuple[object, Stages | SourceError] | None = None
        self._maps = any(axis.kind in MAPPING for axis in plan.axes)

    def work(self, walk: SweepWalk) -> WalkResult:
        """The figures of one walk.

        Raises:
            UnresolvedError: values are missing, and so they are under any other values of the axes.
            sag.errors.MachineError: the machine does not allow a what-if.
        """
        parts = self.parts
        given = {axis.key or axis.kind: axis.values[at] for axis, at in zip(parts.machine, walk.machine, strict=True)}
        system = self.systems[given.pop("system", 0)]
        request = lowering_request(self.plan.base, parts.lowering, walk.lowering)
        scenario = machine_scenario(request.scenario, system, {**given, **parts.scenario_of(walk)})
        request = replace(request, scenario=scenario)
        stages = self._lowered(walk, system, request)
        if isinstance(stages, SourceError):
            return self._failed(walk, stages)
        try:
            found = interpret_stages(stages, system, request)
        except SourceError as error:
            return self._failed(walk, error)
        return WalkResult(
            walk=walk,
            times=_times(found, walk.stop - walk.start, timed=request.timed),
            messages=found.messages,
            bytes=found.bytes,
            processors=found.processors,
            grid="x".join(map(str, found.grid)),
            complete=found.complete,
            fits=found.fits,
            assumptions=found.assumptions,
            warnings=found.warnings,
        )

    def _failed(self, walk: SweepWalk, error: SourceError) -> WalkResult:
        missing = tuple(error.missing.items()) if isinstance(error, UnresolvedError) else ()
        if missing and not self._maps:
            raise error
        return WalkResult(walk=walk, times=None, problem=error.diagnostics[0], missing=missing)

    def source(self, at: int) -> Source:
        """A program, read when it is first asked for; one at a time, as the parser keeps tables of its own."""
        with _READING:
            if at not in self._sources:
                self._sources[at] = read_source(self.plan.programs[at], form=self.plan.form)
            return self._sources[at]

    def _lowered(self, walk: SweepWalk, system: System, request: Request) -> Stages | SourceError:
        """The node program, kept for the walks that share it: machines with one compiler do."""
        key = (walk.lowering, system.default_processors, compiled(system, request))
        last = self._last  # several threads may be at work
        if last is not None and last[0] == key:
            return last[1]
        which = {axis.kind: axis.values[at] for axis, at in zip(self.parts.lowering, walk.lowering, strict=True)}
        try:
            stages: Stages | SourceError = lower_source(self.source(which.get("program", 0)), system, request)
        except SourceError as error:
            stages = error
        self._last = key, stages
        return stages


def _times(found: Prediction, scenarios: int, *, timed: bool) -> NDArray[np.float64]:
    parts = found.parts
    whole = found.timed_s if timed and found.timed_s is not None else found.time_s
    rows = (whole, parts.computation_s, parts.communication_s, parts.waiting_s, parts.overhead_s)
    return np.stack([np.broadcast_to(row, (scenarios,)) for row in rows])


@in_python
def sweep(
    source: Name | Source | Sequence[Name | Source],
    system: str | PathLike[str] | Sequence[str | PathLike[str]] = "ipsc860",
    procs: int | Sequence[int] | None = None,
    *,
    form: Form | None = None,
    cost: str | Sequence[str] | None = None,
    jobs: int = 1,
    executor: "Executor | None" = None,
    progress: Progress | None = None,
    **options: Any,
) -> Sweep:
    """Predict every combination of the values that are given as lists.

    Args:
        source: a program, as for `esp.predict`, or a list of them.
        system: a machine or a list of them.
        procs: a number of processors or a list of them; by default as for `esp.predict`.
        form: as for `esp.predict`.
        jobs: processes on this computer; results do not change. With more than one, a script needs
            ``if __name__ == "__main__":`` around its calls.
        executor: runs the walks instead: anything like `concurrent.futures.Executor`, such as that of a Dask
            client (``client.get_executor()``) whose workers see the same files.
        progress: called with the number of cells done, of all cells, and the shortest time so far.
        **options: those of `esp.predict`, where each value may be a list, tuple, range or array of values: an axis.
            So may the values in `set`, `distribute`, `opt` and `system_set`. Besides: `cache` and `memory` (sizes:
            ``"16KB"``, ``"x2"``) and `contention` (True, False). A tuple of numbers is one `grid`.

    The axes have the order of the arguments. Ctrl-C ends the sweep and keeps finished cells: `interrupted`
    is true then.

    Examples:
        >>> import esp
        >>> table = esp.sweep("laplace.hpf", procs=[4, 8], n=[32, 64, 128])
        >>> table.time_s.shape
        (2, 3)

    Raises:
        TypeError: an argument is unknown to esp and to the program.
        esp.SourceError: no cell can be predicted, or values are missing.
        esp.MachineError: a machine or a what-if prevents it.
        esp.EspError: a file or an argument prevents it.
    """
    arguments.jobs(jobs)
    axes: list[Axis] = []
    programs = _many("program", source, axes)
    systems = _many("system", system, axes)
    if procs is None or isinstance(procs, int):
        number: int | None = arguments.processors(procs)
    else:
        numbers = [arguments.processors(_python_value(each)) for each in procs]
        number, kept = None, [each for each in numbers if each is not None]
        axes.append(Axis(name="procs", kind="procs", values=tuple(kept), labels=tuple(map(str, kept))))
    fixed, sets = _axes_of(options, axes)
    base = requested(number, **fixed)
    read = tuple(each if isinstance(each, Source) else str(each) for each in programs)
    read = tuple(read_source(each, form=form, cost=cost) for each in read) if cost else read
    plan = SweepPlan(programs=read, systems=tuple(map(str, systems)), form=form, base=base, axes=tuple(axes))
    return collect(_with_parameters(plan, sets), jobs=jobs, executor=executor, progress=progress)


def _with_parameters(plan: SweepPlan, given: Mapping[str, Any]) -> SweepPlan:
    """A plan whose cells share `cache`, `memory` or `contention`: axes of one value, as paths depend on the machine."""
    axes = tuple(Axis(name=name, kind=name, values=(value,), labels=(_label(value),)) for name, value in given.items())
    return replace(plan, axes=plan.axes + axes)


def _many(kind: str, given: Any, axes: list[Axis]) -> list[Any]:
    """One or several programs or machines; several are an axis of positions."""
    if isinstance(given, str | PathLike | Source):
        return [given]
    listed = list(given)
    if not listed:
        raise UsageError(f"there is no {kind} to predict.")
    if len(listed) > 1:
        labels = tuple(_file_label(each) for each in listed)
        axes.append(Axis(name=kind, kind=kind, values=tuple(range(len(listed))), labels=labels))
    return listed


def _file_label(given: object) -> str:
    name = given.program.file if isinstance(given, Source) else str(given)
    return "<text>" if "\n" in name else name.rsplit("/", 1)[-1]


def _axes_of(options: Mapping[str, Any], axes: list[Axis]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Options with one value as they are, those of `PARAMETERS` apart; the others become axes."""
    fixed: dict[str, Any] = {}
    sets: dict[str, Any] = {}
    for name, given in options.items():
        if name == "distribute" and given is not None and not isinstance(given, Mapping):
            if _is_list(given):
                axes.append(_axis(name, name, EVERYTHING, given))
            else:
                fixed[name] = given
        elif name in ("set", "distribute", "opt", "system_set"):
            fixed[name] = {}
            for key, value in given.items():
                if _is_list(value):
                    axes.append(_axis(key, name, key, value))
                else:
                    fixed[name][key] = value
        elif name == "grid" and given is not None and not isinstance(given, str) and not _is_list(next(iter(given), 0)):
            fixed[name] = given  # extents, not several grids
        elif _is_list(given):
            known = name in DIMENSIONS or name in PARAMETERS or name in ("grid", "io", *_SWITCHES)
            axes.append(_axis(name, name if known else "set", "" if known else name, given))
        elif name in PARAMETERS:
            sets[name] = given
        else:
            fixed[name] = given
    return fixed, sets


def _axis(name: str, kind: str, key: str, given: Any) -> Axis:
    values = [_python_value(each) for each in given]
    if kind in _SWITCHES:
        raise UsageError(f"{name} is the same for all of a sweep.", hint="Give it True or False.")
    if not values:
        raise UsageError(f"{name} has no value.", hint="Leave it out, or give it at least one.")
    if kind == "grid":
        values = [arguments.grid(each) for each in values]
    elif kind in ("opt", "io", "contention"):
        values = [arguments.switch(name, each) for each in values]
    labels = tuple(_label(each) for each in values)
    return Axis(
        name=name,
        kind=kind,
        key=key.lower() if kind in ("set", "distribute") else key,
        values=tuple(values),
        labels=labels,
    )


def _is_list(given: Any) -> bool:
    return isinstance(given, list | tuple | range | np.ndarray)


def _python_value(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _label(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple):
        return "x".join(map(str, value))
    return f"{value:.10g}" if isinstance(value, float) else str(value)


# --- running ---


def run(plan: SweepPlan, *, jobs: int = 1, executor: "Executor | None" = None) -> Iterator[tuple[Runner, WalkResult]]:
    """All walks of a plan, in order; by an executor, or with `jobs` above 1 in so many processes.

    Raises:
        UsageError: they are more than anybody waits for.
    """
    cells_of(plan.axes)
    runner = Runner(plan)
    if runner.parts.number > MOST_WALKS:
        hint = (
            "Take fewer values, such as 1:1024:x2, or make several sweeps. Values of the network and the "
            f"processors (loads, bandwidths, speeds) cost little: {CHUNK:,} of them are one walk."
        )
        told = f"{runner.parts.number:,} walks of a program are too many: a sweep has at most {MOST_WALKS:,}."
        raise UsageError(told, hint=hint)
    walks = list(runner.parts.walks())
    if executor is not None:
        yield from _by(executor, plan, runner, walks)
    elif jobs <= 1 or len(walks) < 2:
        for walk in walks:
            yield runner, runner.work(walk)
    else:
        with Workers(partial(_work, pickle.dumps(plan)), jobs) as work:
            work.ahead(walks)
            for walk in walks:
                yield runner, work(walk)


def _by(
    executor: "Executor", plan: SweepPlan, runner: Runner, walks: Sequence[SweepWalk]
) -> Iterator[tuple[Runner, WalkResult]]:
    """Walks done elsewhere, in order; what has not begun when this ends is called off."""
    told = pickle.dumps(plan)
    pending = [executor.submit(_work, told, walk) for walk in walks]
    try:
        for each in pending:
            yield runner, each.result()
    finally:
        for each in pending:
            each.cancel()


@lru_cache(maxsize=4)
def _runner_of(told: bytes) -> Runner:
    """The runner of this process for a plan."""
    plan: SweepPlan = pickle.loads(told)  # noqa: S301 (our own plan, from the process that asks for it)
    return Runner(plan)


def _work(told: bytes, walk: SweepWalk) -> WalkResult:
    return _runner_of(told).work(walk)


def collect(
    plan: SweepPlan, *, jobs: int = 1, executor: "Executor | None" = None, progress: Progress | None = None
) -> Sweep:
    """Run a plan to its end, or until Ctrl-C, and put the figures where they belong.

    Raises:
        SourceError: there is not a single prediction, or values are missing.
    """
    total = cells_of(plan.axes)
    times = np.full((len(TIMES), total), np.nan)
    messages, sizes, processors = (np.zeros(total, np.int64) for _ in range(3))
    grids = np.full(total, "", dtype=object)
    complete, fits, impossible = (np.zeros(total, np.bool_) for _ in range(3))
    problems: list[tuple[int, Diagnostic]] = []
    missing: dict[str, Diagnostic] = {}
    assumptions: dict[object, Assumption] = {}
    warnings: dict[Diagnostic, None] = {}
    finished, shortest_s, interrupted = 0, float("inf"), False
    try:
        for runner, done in run(plan, jobs=jobs, executor=executor):
            cells = runner.parts.cells_of(done.walk)
            if done.times is None:
                assert done.problem is not None
                impossible[cells] = True
                problems.append((int(cells[0]), done.problem))
                missing = dict(done.missing) | missing
            else:
                times[:, cells] = done.times
                messages[cells], sizes[cells], processors[cells] = done.messages, done.bytes, done.processors
                grids[cells], complete[cells], fits[cells] = done.grid, done.complete, done.fits
                shortest_s = min(shortest_s, float(done.times[0].min()))
                assumptions |= {(each.code, each.text, each.span): each for each in done.assumptions}
                warnings |= dict.fromkeys(done.warnings)
            finished += cells.size
            if progress is not None:
                progress(finished, total, shortest_s)
    except KeyboardInterrupt:
        interrupted = True
    if missing and np.isnan(times[0]).all():
        raise UnresolvedError(missing.values(), missing)
    if problems and np.isnan(times[0]).all() and not interrupted:
        raise SourceError([problems[0][1]])
    shape = plan.shape
    return Sweep(
        axes=plan.axes,
        times={name: row.reshape(shape) for name, row in zip(TIMES, times, strict=True)},
        messages=messages.reshape(shape),
        bytes=sizes.reshape(shape),
        processors=processors.reshape(shape),
        grids=grids.reshape(shape),
        done=~np.isnan(times[0]).reshape(shape),
        complete=complete.reshape(shape),
        fits=fits.reshape(shape),
        problems=tuple(problems),
        impossible=impossible.reshape(shape),
        assumptions=tuple(assumptions.values()),
        warnings=tuple(warnings),
        interrupted=interrupted,
        about=_about(plan),
    )


def _about(plan: SweepPlan) -> tuple[tuple[str, str], ...]:
    """What all cells share, for the heading."""
    kinds = {axis.kind for axis in plan.axes}
    told = [] if "program" in kinds else [("program", _file_label(plan.programs[0]))]
    told += [] if "system" in kinds else [("system", _file_label(plan.systems[0]).removesuffix(".yaml"))]
    if plan.base.procs is not None and "procs" not in kinds:
        told.append(("procs", str(plan.base.procs)))
    return (*told, *((name, _label(value)) for name, value in plan.base.values.items()))
