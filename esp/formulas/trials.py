"""A program at several sizes: what it becomes there, and what the engine counts."""

from collections.abc import Mapping
from contextlib import suppress

import numpy as np
from msgspec import Struct, structs

from aag.diagnostics import SourceError
from aag.ir.visitors import names_in
from aag.mapping.layout import Layouts
from esp import api
from esp.computed import Computed
from esp.conditions import Shares, has_conditions
from esp.errors import PredictionError, UsageError
from esp.sizing import default_size
from esp.sources import Source
from interpreter.engine import interpret
from interpreter.listeners import Watch
from interpreter.result import Result
from interpreter.setting import Setting
from interpreter.symbolic.counting import sample_of
from interpreter.symbolic.sampled import CountSample
from sag.machine import Machine
from sag.scenario import export
from sag.unit import System

_FASTER = 3
"""How many times larger an extent may be with twice the size, as it is to be counted at many sizes."""


class Trials(Struct, frozen=True):
    """A program on a machine, whose parameter `free` is to have several values."""

    source: Source
    system: System
    request: api.Request
    free: str
    machine: Machine
    shares: Shares
    """How often conditions hold that data decide, at the given size: the same at all sizes."""
    watch: Watch | None = None
    """Called at each iteration of a loop that is walked; what it raises ends the work."""

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
        known = [each for each in known if each in self.sizes] or known
        if self.free == "procs":
            hint = f"Write --free {known[0] if known else 'n'},procs."
            raise UsageError("the number of processors is not a size.", where="--free", hint=hint)
        told = f"Its integer constants: {', '.join(known)}. Write --free {known[0]}." if known else ""
        hint = told or f"Give it a value: {self.free.upper()}=64."
        raise UsageError(f"{self.free} is not a size of this program.", where="--free", hint=hint)

    @property
    def sizes(self) -> frozenset[str]:
        """The names in the bounds of arrays: sizes, and not kinds of numbers."""
        units = self.source.program.units
        shapes = (each.shape for unit in units for each in unit.entities if each.shape is not None)
        return frozenset().union(*(names_in(bound.lower, bound.upper) for shape in shapes for bound in shape))

    def sizes_some(self, size: int, extents: Mapping[tuple[str, int], int]) -> bool:
        """Whether some of the extents of distributed dimensions at a size grow with it, and at most a little faster."""
        larger = distributed_extents(self.stages(2 * size).node_program.layouts)
        return any(each < larger.get(key, 0) <= _FASTER * each for key, each in extents.items())

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
            stages = api.lower_source(self.source, self.system, self.at(size))
        except SourceError as problem:
            where = f"{self.free} = {size}, too, where the program cannot be predicted"
            raise PredictionError(
                f"the formula needs counts at {where}: {problem.diagnostics[0].message}."
            ) from problem
        return structs.replace(stages, computed=stages.computed.joined(Computed(shares=self.shares)))

    def result(self, size: int) -> Result:
        """What the engine gives at a size, without cache misses."""
        return self.result_of(self.stages(size), size)

    def result_of(self, stages: api.Stages, size: int) -> Result:
        """The same of a program that is lowered."""

        def attempt(setting: Setting) -> Result:
            return interpret(
                stages.node_program,
                stages.graph,
                self.machine,
                structs.replace(setting, memory=False, timed=False),
                watch=self.watch,
            )

        return api.interpreted(stages, self.at(size), attempt)[0]

    def count(self, size: int) -> CountSample:
        """What the engine counts at a size."""
        return sample_of(size, self.result(size))

    def bounds(self) -> tuple[float, ...]:
        """The last sizes of the ranges of messages."""
        ranges = self.machine.network.ranges if self.machine.network else ()
        return tuple(sorted({each.upto_bytes for each in ranges if np.isfinite(each.upto_bytes)}))


def trials_of(source: Source, system: System, request: api.Request, free: str, watch: Watch | None = None) -> Trials:
    """A program that is read, on a machine that is loaded. `free`: empty for `default_size`; `watch`: see `Trials`.

    Raises:
        UsageError: there are several scenarios.
        sag.errors.MachineError: the machine or the scenario prevents it.
    """
    if request.scenario.has_lists:
        raise UsageError("a formula has one scenario.", hint="Give each change one value.")
    machine = export(system, api.scenario_of(request))
    shares = _shares(source, system, request, machine, watch)
    free = free or default_size(source, system, request)
    return Trials(source, system, request, free.lower(), machine, shares, watch)


def _shares(source: Source, system: System, request: api.Request, machine: Machine, watch: Watch | None) -> Shares:
    """How often conditions hold at the given size; nothing where no prediction says it."""
    if not has_conditions(source.program):
        return Shares()

    def attempt(setting: Setting) -> Result:
        setting = structs.replace(setting, memory=False)
        return interpret(stages.node_program, stages.graph, machine, setting, watch=watch)

    with suppress(SourceError):  # who uses the trials finds it, too, and says where
        stages = api.lower_source(source, system, request)
        return api.interpreted(stages, request, attempt)[1].shares
    return Shares()


def distributed_extents(layouts: Layouts) -> dict[tuple[str, int], int]:
    """The extents of all distributed dimensions."""
    return {
        (name, dim): extent
        for name, each in layouts.arrays.items()
        if each.is_distributed
        for dim, extent in enumerate(each.extents)
        if each.axis_of_dim(dim) is not None
    }
