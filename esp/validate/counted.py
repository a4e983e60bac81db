"""The node program on a simulated machine where it counts what it does: `esp validate --against counts`.

Nothing comes from the prediction. Operations are counted by counters in the program's own text, and take the time of a
machine that may be another one than the prediction knows (`--truth`); messages are the program's own.
"""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from aag.ir.units import Type
from aag.spmd.emit import Emission
from aag.spmd.emit.kinds import kind_of
from esp import api
from esp.building import build, emitted_of, write
from esp.simulate.execution import RUNTIME, Execution, counts_of, executed
from esp.simulate.figures import Combination, combinations_of, figures_text
from esp.simulate.instrument import Compiler, Instrumented, instrumented
from esp.validate.blocks import Blocks
from esp.validate.given import NOTHING, GivenInput
from esp.validate.measured import source_lines
from esp.validate.simgrid import FLAGS, interconnect, law_of, network_of, place_of
from interpreter.result import Result
from sag.machine import Machine
from sag.scenario import Scenario, export
from sag.unit import System

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Counted(Struct, frozen=True, kw_only=True, eq=False):
    """A node program that ran with counters."""

    execution: Execution
    lines: tuple[Mapping[int, Counter[str]], ...]
    """Of each processor: operations by line of the source."""
    combined: tuple[Counter[str], ...]
    """Of each processor: operations that reductions did between processors."""

    def operations(self, rank: int) -> Counter[str]:
        """All that a processor did."""
        total = Counter(self.combined[rank])
        for each in self.lines[rank].values():
            total.update(each)
        return total


class CountedProgram(Struct, frozen=True, kw_only=True, eq=False):
    """A node program with counters, compiled."""

    stages: api.Stages
    emission: Emission
    text: Instrumented
    combinations: tuple[Combination, ...]
    folder: Path

    def run(
        self, truth: Machine, speed: float = 1.0, limit_s: float = 0.0, given: GivenInput = NOTHING
    ) -> Counted:
        """Run it on a machine. `speed`: the time of the processor is multiplied by it.

        Raises:
            PredictionError: SimGrid cannot express the machine, the machine has no time for an operation, or the
                program does not run.
        """
        procs = self.emission.procs
        network = network_of(truth)
        node, size = place_of(network, self.stages)
        hops = network.topology.hops(np.repeat(node, procs), np.tile(node, procs), size).reshape(procs, procs)
        entry = [each.entry_s for each in law_of(network)]
        figures = figures_text(truth, network, self.text.pieces, self.combinations, entry, hops, speed)
        given.put(self.folder)
        sent = np.zeros((0, 3), np.int64)
        execution = None
        for number in range(2):  # the sizes of all messages, and who sends to whom, are known after a first run
            if number and not len(sent):
                break
            wires = interconnect(truth, self.stages, _blocks(procs, sent if number else _everybody(procs)))
            execution = executed(
                self.folder / self.emission.name,
                procs,
                figures,
                wires.description,
                wires.hosts,
                wires.options,
                limit_s,
                given.text,
            )
            sent = execution.messages
        assert execution is not None
        return self.counted(execution)

    def counted(self, execution: Execution) -> Counted:
        """What a run counted, by line of the source."""
        text = self.emission.files[f"{self.emission.name}.f90"]
        line_of = source_lines(text, self.stages.node_program.lines, conditions=True)
        return Counted(
            execution=execution,
            lines=tuple(counts_of(self.text.pieces, each, line_of) for each in execution.records),
            combined=tuple(self._combined(each.combined) for each in execution.records),
        )

    def _combined(self, often: Ints) -> Counter[str]:
        total: Counter[str] = Counter()
        for each, times in zip(self.combinations, often.tolist(), strict=False):
            for name, number in each.does.items():
                total[name] += number * times
        return total


def counted_program(
    stages: api.Stages, system: System, request: api.Request, folder: Path, like: Path | None = None
) -> CountedProgram:
    """Emit a node program with counters, and compile it.

    Raises:
        PredictionError: a statement cannot be counted, or the program does not compile.
        aag.diagnostics.SourceError: the program cannot be written as Fortran.
    """
    emission = emitted_of(stages, system, request, simulated=True)
    main = f"{emission.name}.f90"
    options = stages.node_program.options
    inner = [unit.name for unit in stages.node_program.unit.contains]
    text = instrumented(
        emission.files[main],
        Compiler(invariant=options.on("invariant"), strength=options.on("strength")),
        file=main,
        only=inner,
    )
    files = {**emission.files, main: text.text, "esp_simulation.f90": _headed(emission, RUNTIME.read_text())}
    write(replace(emission, files=files), folder, like)
    build(folder, FLAGS, compiler="smpif90")
    kinds = sorted({each.name: each for each in map(kind_of, _types(stages)) if each is not None}.items())
    combinations = combinations_of([each.type for _, each in kinds])
    return CountedProgram(stages=stages, emission=emission, text=text, combinations=combinations, folder=folder)


def _types(stages: api.Stages) -> list[Type]:
    program = stages.node_program
    return [*program.types.values(), *(each.type for each in program.unit.entities)]


def machine_of(system: System) -> Machine:
    """A machine as it is described."""
    return export(system, Scenario())


def _headed(emission: Emission, text: str) -> str:
    """A file of the run-time library, marked as written by esp."""
    head, _, _ = emission.files["esp_simulation.f90"].partition("\n")
    return f"{head}\n{text}"


def _blocks(procs: int, sent: Ints) -> Blocks:
    """Messages without times."""
    number = len(sent)
    nothing = np.zeros(number)
    return Blocks(
        procs=procs,
        rank=sent[:, 0],
        before_s=nothing,
        busy_s=nothing,
        sends=np.ones(number, np.bool_),
        partner=sent[:, 1],
        size_bytes=sent[:, 2],
        called_s=nothing,
        rest_s=np.zeros(procs),
    )


def _everybody(procs: int) -> Ints:
    """A message from each processor to each other."""
    one, other = np.nonzero(~np.eye(procs, dtype=np.bool_))
    return np.c_[one, other, np.full(one.size, 8)].astype(np.int64)
