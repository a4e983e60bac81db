"""The node program on a simulated machine where it counts what it does: `esp validate --against counts`.

Nothing comes from the prediction. Operations are counted by counters in the program's own text, and take the time of a
machine that may be another one than the prediction knows (`--truth`); messages are the program's own.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from aag.graph.aau import Seq, walk
from aag.ir.units import Type
from aag.spmd.emit import Emission
from aag.spmd.emit.kinds import kind_of
from aag.wording import plural
from esp import api
from esp.building import build, emitted_of, write
from esp.simulate.execution import RUNTIME, SimulatedRun, counts_of, executed
from esp.simulate.figures import Combination, combinations_of, figures_text
from esp.simulate.instrument import BOUND, Compiler, Instrumented, instrumented
from esp.tools import tool
from esp.validate.answer import difference
from esp.validate.blocks import Blocks
from esp.validate.counts import undecided_of
from esp.validate.flow import lines_text
from esp.validate.given import NOTHING, GivenInput
from esp.validate.job import Job, Validation, check_processors
from esp.validate.measured import source_lines
from esp.validate.serial import Serial
from esp.validate.simgrid import FLAGS, MOST, TOOLS, entries_of, interconnect, network_of, place_of
from interpreter.engine import interpret
from interpreter.result import Assumption, Result
from interpreter.setting import Setting
from sag.machine import Machine
from sag.scenario import export
from sag.unit import System

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


PACKED = "packed bytes"
FLOATING = ("r4.", "r8.", "r16.")
"""Operations of these types are the same in every correct program; how others are done is a matter of emission."""
CLOSE = 0.01
"""Error of the time from which on it is a fault."""
_DATA = frozenset(("bound", "branch", "call", "extrapolated", "mask", "unmodelled", "while"))
"""Assumptions about what the program does, not about the machine."""
NEVER_COUNTED = frozenset(("guard",))
"""Operations that are not compared: the emitted program has guards of its own."""


def validate(job: Job) -> Validation:
    """Run the node program for each number of processors, and compare what it counts.

    Raises:
        PredictionError: a tool is missing, SimGrid cannot express the machine, a statement cannot be counted, or a
            program does not compile or run.
    """
    for each in TOOLS:
        tool(each)
    check_processors(job, MOST, "simulating so many takes hours")
    truth = export(job.truth or job.system, job.request(None).scenario)
    random = np.random.default_rng(job.seed)
    made: list[CountedProgram] = []
    for procs in job.procs:
        request = job.request(procs)
        stages = api.lower_source(job.source, job.system, request)
        folder = job.folder / f"{stages.node_program.unit.name or 'main'}-{stages.node_program.layouts.procs}-counted"
        made.append(counted_program(stages, job.system, request, folder, made[-1].folder if made else None))
    serial = Serial(job, [each.emission.procs for each in made])
    found = []
    for program, procs in zip(made, job.procs, strict=True):
        speed = float(np.exp(job.noise * random.standard_normal()))
        run = program.run(truth, speed, job.limit_s, job.given)
        expected = serial.answer(program.emission.procs)
        found.append(compared(program, job.system, job.request(procs), run, expected))
    is_same_machine = job.truth is None and not job.noise
    return Validation(found=tuple(found), faults=faults(found, is_same_machine), remarks=remarks(found))


def compared(
    program: "CountedProgram", system: System, request: api.Request, run: "RunCounts", expected: str | None = None
) -> "CountedRun":
    """A run beside the prediction for a machine as it is known. `expected`: what the program prints."""
    stages = program.stages
    machine = replace(export(system, request.scenario), memory=None)
    walked = replace(request, unroll=True)

    def attempt(setting: Setting) -> Result:
        setting = replace(setting, io=False, timed=False, force_unroll=True)
        return interpret(stages.node_program, stages.graph, machine, setting)

    predicted, computed = api.interpreted(stages, walked, attempt)
    unknown, undecided = undecided_of(stages, walked, predicted, computed)
    procs = program.emission.procs
    wanted: dict[str, float] = defaultdict(float)
    every = tuple(walk(stages.graph.body))
    everywhere = frozenset(each.id for each in every if isinstance(each, Seq))
    others = frozenset(each.id for each in every) - everywhere
    for aaus in (everywhere, others):
        for each in predicted.counts.of(aaus):
            _, _, operation = each.figure.path.rpartition("processor.")
            # Overhead are the parts of reductions, and the steps of iterations that others execute; emitted programs
            # have guards and bounds of their own.
            is_counted = each.paid == "overhead" and (aaus is everywhere or operation == "loop.iteration")
            if (each.paid == "computation" or is_counted) and operation != each.figure.path:
                wanted[operation] += each.mean * procs
    executed: Counter[str] = Counter()
    for rank in range(procs):
        executed.update(run.operations(rank))
    packs = [each.mean for each in predicted.counts.of() if each.figure.path.endswith("memory.pack")]
    wanted[PACKED], executed[PACKED] = sum(packs) * procs, sum(each.packed_bytes for each in run.execution.records)
    names = sorted({*wanted, *executed} - NEVER_COUNTED - {BOUND})
    sent = run.execution.messages
    return CountedRun(
        procs=procs,
        operations=tuple(
            OperationRow(operation=name, predicted=wanted[name], counted=executed[name]) for name in names
        ),
        messages=(int(predicted.messages), len(sent)),
        bytes=(int(predicted.bytes), int(sent[:, 2].sum())),
        predicted_s=float(np.max(predicted.per_processor.end_s)),
        executed_s=run.execution.time_s,
        difference="" if expected is None else difference(expected, run.execution.answer),
        assumes=bool(undecided) or any(each.code in _DATA for each in predicted.assumptions),
        undecided=undecided,
        unknown=unknown,
    )


def faults(found: Sequence["CountedRun"], is_same_machine: bool) -> tuple[str, ...]:
    """What is not as it should be, where nothing is assumed. `is_same_machine`: the prediction knows the machine."""
    problems: list[str] = []
    for each in found:
        where = f"on {plural(each.procs, 'processor')}"
        if each.difference:
            problems.append(f"{where} the answer differs: {each.difference}.")
        for (predicted, counted), what in ((each.messages, "messages"), (each.bytes, "bytes")):
            if predicted != counted and not each.undecided:
                problems.append(f"{where} {counted} {what} are sent, and {predicted} are predicted.")
        wrong = [row.operation for row in each.other if row.operation.startswith(FLOATING)]
        if wrong and not each.assumes:
            problems.append(f"{where} other operations are counted than predicted: {', '.join(wrong)}.")
        if is_same_machine and not each.assumes and abs(each.error) > CLOSE:
            problems.append(f"{where} the time without a cache is {100 * each.error:+.1f} % off.")
    return tuple(problems)


def remarks(found: Sequence["CountedRun"]) -> tuple[str, ...]:
    """What explains differences."""
    told: dict[str, None] = {}
    if any(each.assumes and each.other for each in found):
        told["Operations may differ: data decide what the program does, and the prediction assumes it."] = None
    excused = [each for each in found if each.excused]
    if excused:
        where = lines_text(frozenset[int]().union(*(each.undecided for each in excused)))
        told[f"The messages of {where} may differ from the prediction: the flow depends on data."] = None
    for each in excused:
        told |= dict.fromkeys(f"- {assumption.text}" for assumption in each.unknown)
    return tuple(fill(each, 80, subsequent_indent="  " * each.startswith("-")) for each in told)


class RunCounts(Struct, frozen=True, kw_only=True, eq=False):
    """A node program that ran with counters."""

    execution: SimulatedRun
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


class OperationRow(Struct, frozen=True, kw_only=True):
    """An operation of all processors together."""

    operation: str
    predicted: float
    counted: int

    @property
    def differs(self) -> bool:
        """Whether they are not the same; the prediction adds fractions."""
        return abs(self.predicted - self.counted) > 1e-6 * max(1, self.counted)


class CountedRun(Struct, frozen=True, kw_only=True):
    """A prediction beside what a run counted. Times are without a cache, which no counter sees."""

    procs: int
    operations: tuple[OperationRow, ...]
    messages: tuple[int, int]
    """As predicted, and of the run."""
    bytes: tuple[int, int]
    predicted_s: float
    executed_s: float
    difference: str = ""
    """Of the answer."""
    assumes: bool = False
    """Whether the prediction assumes something that data decide."""
    undecided: frozenset[int] = frozenset()
    """Source lines that run as often as data decide: their messages may be others."""
    unknown: tuple[Assumption, ...] = ()
    """What the prediction assumes of them."""

    @property
    def excused(self) -> bool:
        """Whether other messages are sent than predicted, as they may be."""
        return bool(self.undecided) and (self.messages[0], self.bytes[0]) != (self.messages[1], self.bytes[1])

    @property
    def error(self) -> float:
        """Of the time."""
        return self.predicted_s / self.executed_s - 1.0 if self.executed_s else 0.0

    @property
    def other(self) -> tuple[OperationRow, ...]:
        """The operations that differ."""
        return tuple(each for each in self.operations if each.differs)


class CountedProgram(Struct, frozen=True, kw_only=True, eq=False):
    """A node program with counters, compiled."""

    stages: api.Stages
    emission: Emission
    text: Instrumented
    combinations: tuple[Combination, ...]
    folder: Path

    def run(self, truth: Machine, speed: float = 1.0, limit_s: float = 0.0, given: GivenInput = NOTHING) -> RunCounts:
        """Run it on a machine. `speed`: the time of the processor is multiplied by it.

        Raises:
            PredictionError: SimGrid cannot express the machine, the machine has no time for an operation, or the
                program does not run.
        """
        procs = self.emission.procs
        network = network_of(truth)
        node, size = place_of(network, self.stages)
        hops = network.topology.hops(np.repeat(node, procs), np.tile(node, procs), size).reshape(procs, procs)
        entry = entries_of(network)
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

    def counted(self, execution: SimulatedRun) -> RunCounts:
        """What a run counted, by line of the source."""
        text = self.emission.files[f"{self.emission.name}.f90"]
        line_of = source_lines(text, self.stages.node_program.lines, conditions=True)
        return RunCounts(
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
        helpers=emission.helpers,
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
    return np.stack([one, other, np.full(one.size, 8)], axis=1).astype(np.int64)
