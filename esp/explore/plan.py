"""A sweep as data: what it varies, and how its cells fall into walks of the engine.

Axes are of three sorts. Those of *lowering* (program, processors, grid, distribution, values, optimisations) ask for
another node program; those of the *machine* (which one, its cache, input and output) for another machine; those of the
*scenario* (load, bandwidth, latency, speeds, overlap and every figure that may be an array) are walked at once (D4).
"""

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from aag.ir.units import Form
from aag.mapping.formats import split_formats
from aag.mapping.grid import squarest
from esp.api import Request, Source, load_machine, read_source, switched
from esp.explore.axes import Axis
from esp.explore.choices import Distributed, all_formats, distributed_by, shown
from sag.quantities import Change, make_change
from sag.scenario import Scenario, export
from sag.unit import System, component_path
from sag.values import settable

DIMENSIONS: Mapping[str, str] = {
    "load": "fraction",
    "bandwidth": "bandwidth",
    "latency": "time",
    "processor_speed": "frequency",
    "memory_speed": "number",
    "overlap": "fraction",
}
"""What-if of a scenario -> dimension of its values (Def 11)."""

PARAMETERS: Mapping[str, tuple[str, str, str]] = {
    "cache": ("node", "memory", "cache_size"),
    "memory": ("node", "memory", "usable"),
    "contention": ("network", "network", "switching"),
}
"""What-if with a name of its own -> role, component and key of the machine's parameter."""

LOWERING = ("program", "procs", "grid", "distribute", "set", "opt")

CHUNK = 1024
"""Scenarios of one walk: enough to make its own cost small, few enough to see progress and to stop soon."""


class SweepPlan(Struct, frozen=True, kw_only=True):
    """A sweep: every combination of the values of its axes, the last axis varying fastest."""

    programs: tuple[str | Source, ...]
    """Names, paths, texts or programs, as `esp.api.read_source` takes them."""
    systems: tuple[str, ...]
    form: Form | None
    base: Request
    """What all cells share."""
    axes: tuple[Axis, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of values of each axis."""
        return tuple(len(axis) for axis in self.axes)


class SweepWalk(Struct, frozen=True, kw_only=True):
    """One walk of the engine: values of the lowering and machine axes by position, and a range of scenarios."""

    lowering: tuple[int, ...]
    machine: tuple[int, ...]
    start: int
    stop: int


class SweepPartition(Struct, frozen=True, kw_only=True):
    """The axes of a plan by sort, and where the cells of each combination lie in the result."""

    lowering: tuple[Axis, ...]
    machine: tuple[Axis, ...]
    scenario: tuple[Axis, ...]
    changes: tuple[Change, ...]
    """Of the scenario axes, one value for each of theirs."""
    cells: NDArray[np.int64]
    """(lowering axes ..., machine axes ..., scenarios) -> number of the cell."""

    @property
    def scenarios(self) -> int:
        """Combinations of the scenario axes."""
        return prod(len(axis) for axis in self.scenario)

    @property
    def number(self) -> int:
        """How many `walks` there are."""
        node_programs = prod(len(axis) for axis in (*self.lowering, *self.machine))
        return node_programs * -(-self.scenarios // CHUNK)

    def walks(self) -> Iterator[SweepWalk]:
        """All walks; those that share a node program one after the other."""
        for lowering in np.ndindex(*(len(axis) for axis in self.lowering)):
            for machine in np.ndindex(*(len(axis) for axis in self.machine)):
                for start in range(0, self.scenarios, CHUNK):
                    stop = min(start + CHUNK, self.scenarios)
                    yield SweepWalk(lowering=lowering, machine=machine, start=start, stop=stop)

    def cells_of(self, walk: SweepWalk) -> NDArray[np.int64]:
        """The numbers of the cells that a walk fills."""
        found: NDArray[np.int64] = self.cells[walk.lowering + walk.machine][walk.start : walk.stop]
        return found

    def scenario_of(self, walk: SweepWalk) -> dict[str, Change]:
        """Name or path -> changes of the scenarios of a walk."""
        if not self.scenario:
            return {}
        at = np.unravel_index(np.arange(walk.start, walk.stop), tuple(len(axis) for axis in self.scenario))
        return {
            axis.key or axis.kind: Change(is_factor=each.is_factor, amount=each.amount[where], text=each.text)
            for axis, each, where in zip(self.scenario, self.changes, at, strict=True)
        }


def partition(plan: SweepPlan, systems: Sequence[System]) -> SweepPartition:
    """Sort the axes of a plan.

    Raises:
        sag.errors.MachineError: a value of an axis is none for the machine.
    """
    swept = [axis for axis in plan.axes if _is_scenario(axis, systems)]
    lowering = [axis for axis in plan.axes if axis.kind in LOWERING]
    machine = [axis for axis in plan.axes if axis not in swept and axis not in lowering]
    order = [plan.axes.index(axis) for axis in (*lowering, *machine, *swept)]
    cells = np.arange(prod(plan.shape)).reshape(plan.shape).transpose(order)
    kept = cells.shape[: len(lowering) + len(machine)]
    for axis in swept:
        for system in systems:
            export(system, _with_all(plan.base.scenario, axis))
    changes = tuple(_change(axis, systems[0]) for axis in swept)
    return SweepPartition(
        lowering=tuple(lowering),
        machine=tuple(machine),
        scenario=tuple(swept),
        changes=changes,
        cells=cells.reshape(*kept, -1),
    )


def _is_scenario(axis: Axis, systems: Sequence[System]) -> bool:
    if axis.kind != "system_set":
        return axis.kind in DIMENSIONS
    keys = [settable(system).get(axis.key) for system in systems]
    return all(key is not None and key.swept and not key.words for key in keys)


def _with_all(scenario: Scenario, axis: Axis) -> Scenario:
    """A scenario with all values of an axis at once, which finds out whether they are any."""
    if axis.kind == "system_set":
        return replace(scenario, sets=(*scenario.sets, (axis.key, list(axis.values))))
    return replace(scenario, **{axis.kind: list(axis.values)})


def _change(axis: Axis, system: System) -> Change:
    if axis.kind == "system_set":
        return make_change(list(axis.values), settable(system)[axis.key].dimension, plain_is_factor=False)
    dimension = DIMENSIONS[axis.kind]
    return make_change(list(axis.values), dimension, plain_is_factor=dimension != "fraction")


def lowering_request(base: Request, axes: Sequence[Axis], at: Sequence[int]) -> Request:
    """The request of a combination of values of the lowering axes."""
    values: dict[str, Any] = {}
    distribute = dict(base.distribute)
    known = dict(base.values)
    opt = {}
    for axis, where in zip(axes, at, strict=True):
        given = axis.values[where]
        match axis.kind:
            case "procs" | "grid":
                values[axis.kind] = given
            case "distribute":
                distribute |= given if isinstance(given, Mapping) else {axis.key: given}
            case "set":
                known[axis.key] = given
            case "opt":
                opt[axis.key] = given
    return switched(replace(base, **values, distribute=distribute, values=known), opt)


def machine_scenario(base: Scenario, system: System, given: Mapping[str, Any]) -> Scenario:
    """A scenario with changes by name: of `DIMENSIONS`, of `PARAMETERS`, ``io``, or paths of parameters."""
    fields: dict[str, Any] = {}
    sets = dict(base.sets)
    for name, value in given.items():
        if name in DIMENSIONS or name == "io":
            fields[name] = value
        elif name == "contention":
            if not value:
                sets[path_of(system, name)] = "none"
        else:
            sets[path_of(system, name) if name in PARAMETERS else name] = value
    return replace(base, **fields, sets=tuple(sets.items()))


def path_of(system: System, name: str) -> str:
    """The path of a parameter of `PARAMETERS`; where the machine has no such part, a path that says so."""
    role, component, key = PARAMETERS[name]
    found = system.find(role)
    if found is None:
        return f"{role}.{component}.{key}"
    path, unit = found
    return ".".join(filter(None, (path, *component_path(unit, component), key)))


def _is_another(formats: Mapping[str, str], plan: SweepPlan, distributed: Distributed) -> bool:
    """Whether formats are those with a `*` more on every processor count: on a prime number of processors the second of
    two distributed dimensions has one processor (Def 13)."""
    if plan.base.grid is not None or any(axis.kind == "grid" for axis in plan.axes):
        return False
    rank = max((sum(part != "*" for part in split_formats(each)) for each in formats.values()), default=0)
    numbers = next((axis.values for axis in plan.axes if axis.kind == "procs"), (distributed.procs,))
    return rank > 1 and all(1 in squarest(number, rank) for number in numbers)


def all_distributions(plan: SweepPlan) -> Axis:
    """An axis with BLOCK, CYCLIC and * in every dimension of what the first program distributes.

    Raises:
        aag.diagnostics.SourceError: it has no mapping under the first values of the axes.
        PredictionError: it has nothing to distribute.
    """
    first = [axis for axis in plan.axes if axis.kind in LOWERING]
    request = lowering_request(plan.base, first, [0] * len(first))
    distributed = distributed_by(read_source(plan.programs[0], form=plan.form), load_machine(plan.systems[0]), request)
    formats = [each for each in all_formats(distributed.targets) if not _is_another(each, plan, distributed)]
    labels = tuple(shown(each, distributed.targets) for each in formats)
    return Axis(name="distribute", kind="distribute", values=tuple(formats), labels=labels)
