"""The node program on a simulated machine: SimGrid's SMPI with the interconnect of the machine description.

Messages are the program's own, their order and the time that all of them take are SimGrid's; computation takes the time
that the prediction gives it. So what differs is the model of communication and waiting alone. Input and output are off.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from aag.spmd.emit import Emission
from aag.wording import plural
from esp import api
from esp.building import build, emitted_of, write
from esp.errors import PredictionError
from esp.tools import call, tool
from esp.traces.record import predicted_trace
from esp.validate import platform
from esp.validate.answer import difference
from esp.validate.blocks import Blocks, predicted_blocks
from esp.validate.given import NOTHING, GivenInput
from esp.validate.job import Job, Validation, check_processors
from esp.validate.retimed import retimed
from esp.validate.serial import Serial
from esp.validate.tracing import keep
from interpreter.result import Result
from sag.machine import Machine, MessageRange, NetworkCosts
from sag.scenario import export
from sag.unit import System

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST = 4096
"""Processors that are simulated; the time grows faster than their number (`make bench`)."""

TOOLS = ("gfortran", "smpif90", "smpirun", "make")

FLAGS = "FFLAGS=-O1 -ffp-contract=off"
"""How fast the program runs on the host does not matter."""

LAW = 0.001
"""Error of the point-to-point law, where SimGrid cannot express it, from which on it is told."""


class Interconnect(Struct, frozen=True, kw_only=True):
    """What SimGrid is given of a machine for one program."""

    description: str
    """The platform file."""
    hosts: str
    """The node of each rank."""
    options: tuple[str, ...]
    law: tuple[platform.PlatformRange, ...]
    law_error: float
    """Largest relative error of the law over the messages of the program."""
    ranges: Ints
    """(E,) the number of the range of each message."""


class Simulated(Struct, frozen=True, kw_only=True, eq=False):
    """A prediction beside the simulation."""

    procs: int
    predicted_s: Floats
    """(P,) when each processor ends."""
    simulated_s: Floats
    contended: bool
    """Whether a message waits for a link that another one holds, as predicted."""
    messages: int
    """Those of the program; each is as predicted, or the simulation stops."""
    bytes: int
    law_error: float
    difference: str = ""

    @property
    def error(self) -> float:
        """Of the time: prediction over simulation, less 1."""
        simulated = float(self.simulated_s.max())
        return float(self.predicted_s.max()) / simulated - 1.0 if simulated else 0.0

    @property
    def worst_error(self) -> float:
        """Of the processor whose end differs most, as a fraction of the time."""
        simulated = float(self.simulated_s.max())
        return float(np.abs(self.predicted_s - self.simulated_s).max()) / simulated if simulated else 0.0


def validate(job: Job) -> Validation:
    """Simulate the node program for each number of processors.

    Raises:
        PredictionError: a tool is missing, SimGrid cannot express the machine, or a program does not compile or run.
    """
    for each in TOOLS:
        tool(each)
    check_processors(job, MOST, "simulating so many takes hours")
    # All is lowered and predicted before anything is built, and built before anything runs.
    prepared = [_prepared(job, procs) for procs in job.procs]
    before: Path | None = None
    for made in prepared:
        made.build(before)
        before = made.folder
    serial = Serial(job, [made.procs for made in prepared])
    outcomes = [made.outcome(serial.answer(made.procs), job.traces, job.limit_s, job.given) for made in prepared]
    return Validation(found=tuple(outcomes), faults=faults(outcomes))


def _prepared(job: Job, procs: int | None) -> "Prepared":
    request = job.request(procs)
    stages = api.lower_source(job.source, job.system, request)
    place = job.folder / f"{stages.node_program.unit.name or 'main'}-{stages.node_program.layouts.procs}-simulated"
    return prepared_of(stages, job.system, request, place)


class Prepared(Struct, frozen=True, kw_only=True, eq=False):
    """A program that is predicted, and all that its simulation needs."""

    stages: api.Stages
    system: System
    request: api.Request
    folder: Path
    """For sources and the executable."""
    machine: Machine
    prediction: Result
    blocks: Blocks
    wires: Interconnect
    emission: Emission

    @property
    def procs(self) -> int:
        """How many processors are simulated."""
        return self.emission.procs

    def build(self, like: Path | None = None) -> None:
        """Write and compile it. `like`: a folder with a program that was compiled before.

        Raises:
            PredictionError: it does not compile.
        """
        write(self.emission, self.folder, like)
        build(self.folder, FLAGS, compiler="smpif90")

    def simulated(
        self, limit_s: float = 0.0, given: GivenInput = NOTHING, seed: int | None = None
    ) -> tuple[str, Floats]:
        """What the program prints in the simulation, and when each processor ends (P,).

        Args:
            limit_s: how long the simulation may take; 0: as long as it takes.
            given: what the program reads.
            seed: sends of the same instant come in an order by lot.

        Raises:
            PredictionError: the program does not run.
        """
        after = after_s(self.machine, self.blocks, self.wires)
        return simulate(self.folder / self.emission.name, self.blocks, self.wires, after, limit_s, given, seed)

    def outcome(
        self, expected: str | None = None, traces: Path | None = None, limit_s: float = 0.0, given: GivenInput = NOTHING
    ) -> Simulated:
        """Simulate what is built, and compare.

        Args:
            expected: what the program prints, where that matters.
            traces: a folder for the predicted and the simulated trace.
            limit_s: how long the simulation may take; 0: as long as it takes.
            given: what the program reads.

        Raises:
            PredictionError: the program does not run, or has too many events for a trace.
        """
        blocks = self.blocks
        answer, times = self.simulated(limit_s, given)
        if traces is not None:
            silent = replace(self.request, scenario=replace(self.request.scenario, io=False))
            trace, _ = predicted_trace(self.stages, self.system, silent)
            keep(traces, self.emission, "predicted", trace)
            keep(traces, self.emission, "executed", retimed(trace, *blocks.moments(self.folder / "moments")))
        return Simulated(
            procs=self.procs,
            predicted_s=self.prediction.per_processor.end_s[0],
            simulated_s=times,
            contended=contended(self.prediction, blocks, self.machine, self.stages),
            messages=int(blocks.sends.sum()),
            bytes=int(blocks.size_bytes[blocks.sends].sum()),
            law_error=self.wires.law_error,
            difference="" if expected is None else difference(expected, answer),
        )


def prepared_of(stages: api.Stages, system: System, request: api.Request, folder: Path) -> Prepared:
    """Predict a program that is lowered for a request, and describe its machine to SimGrid.

    Raises:
        PredictionError: SimGrid cannot express the machine.
        aag.diagnostics.SourceError: the program cannot be written as Fortran.
    """
    machine = export(system, request.scenario)
    prediction, blocks = predicted_blocks(stages, machine, request)
    return Prepared(
        stages=stages,
        system=system,
        request=request,
        folder=folder,
        machine=machine,
        prediction=prediction,
        blocks=blocks,
        wires=interconnect(machine, stages, blocks),
        emission=emitted_of(stages, system, request, simulated=True),
    )


# --- the machine ------------------------------------------------------------------------------------------------


def network_of(machine: Machine) -> NetworkCosts:
    """The interconnect, if SimGrid can express it.

    Raises:
        PredictionError: it cannot.
    """
    network = machine.network
    if network is None:
        raise PredictionError(f"the machine {machine.name} describes no network, so nothing can be simulated.")
    for name, value, neutral in (
        ("exchange_factor", network.exchange_factor, 1.0),
        ("overlap", network.overlap, 0.0),
        ("load", network.load, 0.0),
    ):
        if float(value[0]) != neutral:
            raise PredictionError(
                f"SimGrid has no equivalent of {name} = {float(value[0]):g} of {machine.name}.",
                hint=f"Validate on a machine with {name} = {neutral:g}; messages can be counted with --against mpi.",
            )
    return network


def law_of(network: NetworkCosts) -> tuple[platform.PlatformRange, ...]:
    """The point-to-point law. Where sends keep their caller only for the call overhead, the start-up is a latency.

    Raises:
        PredictionError: near and far messages have different ranges of sizes.
    """
    splits = {tuple(each.upto_bytes for each in level) for level in levels_of(network)}
    if len(splits) > 1:
        hint = "Validate on a machine whose ranges end at the same sizes; messages can be counted with --against mpi."
        raise PredictionError("SimGrid has no equivalent of ranges whose sizes depend on the distance.", hint=hint)
    keeps = network.send_model == "blocking" and network.exchange == "sequential"
    return tuple(
        platform.PlatformRange(
            upto_bytes=each.upto_bytes,
            upto_hops=each.upto_hops,
            entry_s=float(each.call_overhead_s[0]) + keeps * float(each.startup_s[0]),
            latency_s=(not keeps) * float(each.startup_s[0]),
            byte_s=float(each.per_byte_s[0]),
            hop_s=float(each.per_hop_s[0]),
        )
        for each in network.ranges
    )


def levels_of(network: NetworkCosts) -> list[list[MessageRange]]:
    """The ranges of each distance, the nearest first."""
    levels: dict[float, list[MessageRange]] = {}
    for each in network.ranges:
        levels.setdefault(each.upto_hops, []).append(each)
    return list(levels.values())


def entries_of(network: NetworkCosts) -> list[float]:
    """How long SMPI keeps the sender of a message of each range by itself: as that of a near one."""
    law, levels = law_of(network), levels_of(network)
    return [each.entry_s for each in law[: len(levels[0])]] * len(levels)


def after_s(machine: Machine, blocks: Blocks, wires: Interconnect) -> Floats:
    """How long each message keeps its caller beyond what SimGrid does by itself: a blocking send until the bytes have
    left, a receive for its overhead."""
    network = network_of(machine)
    entry = np.array(entries_of(network))[wires.ranges]
    receive = np.array([float(each.receive_overhead_s[0]) for each in network.ranges])[wires.ranges]
    return np.where(blocks.sends, np.maximum(blocks.busy_s - entry, 0.0), receive)


def place_of(network: NetworkCosts, stages: api.Stages) -> tuple[Ints, int]:
    """The node of each rank, and how many nodes there are (Def 14)."""
    layouts = stages.node_program.layouts
    grid = layouts.grid.shape or (layouts.procs,)
    return network.topology.place(grid), network.topology.size(grid)


def interconnect(machine: Machine, stages: api.Stages, blocks: Blocks) -> Interconnect:
    """What SimGrid is given.

    Raises:
        PredictionError: it cannot express the machine.
    """
    network = network_of(machine)
    law = law_of(network)
    node, size = place_of(network, stages)
    hops_of = network.topology.hops
    ranges = network.range_of(blocks.size_bytes, hops_of(node[blocks.rank], node[blocks.partner], size))
    often = np.bincount(ranges, minlength=len(law))
    wires = platform.wires_of(law, law[int(often.argmax())])  # exact for the range that most messages belong to
    pairs = blocks.pairs()
    source, target = node[pairs[0]], node[pairs[1]]
    circuit, half = network.switching == "circuit", network.duplex == "half"
    distances = hops_of(node[blocks.rank[blocks.sends]], node[blocks.partner[blocks.sends]], size)
    common = Counter(distances.tolist()).most_common(1)
    hops = float(common[0][0]) if common else 1.0
    ports = platform.ports_of(law, hops_of(source, target, size))
    if network.topology.kind == "hypercube" and circuit and not wires.port_s and ports is None:
        text = platform.hypercube_xml((size - 1).bit_length(), wires, "SHARED" if half else "SPLITDUPLEX")
    else:
        text = platform.routed_xml(
            network.topology,
            size,
            source,
            target,
            wires,
            half=half,
            sharing="SHARED" if circuit else "FATPIPE",
            ports=ports,
        )
    sizes = blocks.sizes().tolist()
    return Interconnect(
        description=text,
        hosts="".join(f"n{each}\n" for each in node.tolist()),
        options=platform.options(law, sizes=sizes, hops=hops, circuit=circuit, wires=wires),
        law=law,
        law_error=platform.law_error(law, sizes, sorted(set(distances.tolist())), hops, wires),
        ranges=ranges,
    )


def contended(prediction: Result, blocks: Blocks, machine: Machine, stages: api.Stages) -> bool:
    """Whether messages meet on a link: one waits for it in the prediction, or two are predicted to hold it at once."""
    network = network_of(machine)
    if network.switching != "circuit" or not blocks.sends.any():
        return False
    if any(aau.comm is not None and aau.comm.contended for aau in prediction.aaus):
        return True
    node, size = place_of(network, stages)
    sends = blocks.sends
    source, target = node[blocks.rank[sends]], node[blocks.partner[sends]]
    links = network.topology.routes(source, target, size)
    if network.duplex == "half":
        links = network.topology.undirected(links, size)
    which = network.range_of(blocks.size_bytes[sends], network.topology.hops(source, target, size))
    entry, byte, hop = (
        np.array([float(getattr(each, name)[0]) for each in network.ranges])[which]
        for name in ("startup_s", "per_byte_s", "per_hop_s")
    )
    entry = entry + np.array([float(each.call_overhead_s[0]) for each in network.ranges])[which]
    begins = blocks.called_s[sends] + entry + hop * network.topology.hops(source, target, size)
    ends = begins + byte * blocks.size_bytes[sends]
    message, position = np.nonzero(links >= 0)
    link = links[message, position]
    order = np.lexsort((begins[message], link))
    message, link = message[order], link[order]
    meets = (link[1:] == link[:-1]) & (begins[message[1:]] < ends[message[:-1]] - 1e-9 * ends[message[:-1]])
    return bool(meets.any())


# --- running ----------------------------------------------------------------------------------------------------


def simulate(
    executable: Path,
    blocks: Blocks,
    wires: Interconnect,
    after: Floats,
    limit_s: float = 0.0,
    given: GivenInput = NOTHING,
    seed: int | None = None,
) -> tuple[str, Floats]:
    """Run a node program under SimGrid: what it prints, and when each processor ends (P,). `seed`: draws the order of
    sends of the same instant; None: the lower rank comes first.

    Raises:
        PredictionError: it fails, or does something else than is predicted.
    """
    folder = executable.parent
    files = {name: folder / name for name in ("platform.xml", "hosts", "events", "times", "moments")}
    files["platform.xml"].write_text(wires.description)
    files["hosts"].write_text(wires.hosts)
    for name in ("times", "moments"):
        files[name].unlink(missing_ok=True)
    blocks.write(files["events"], after, seed)
    words = [
        tool("smpirun"),
        "-np",
        str(blocks.procs),
        "-platform",
        str(files["platform.xml"]),
        "-hostfile",
        str(files["hosts"]),
        "--log=root.thresh:critical",
        *wires.options,
        str(executable),
    ]
    told = {f"ESP_{name.upper()}": str(files[name]) for name in ("events", "times", "moments")}
    given.put(folder)
    try:
        answer = call(
            words,
            f"the simulation fails on {plural(blocks.procs, 'processor')}",
            folder,
            environment=told,
            limit_s=limit_s,
            text=given.text,
        )
    except PredictionError as problem:
        if "predicted: " not in problem.why:
            raise
        why = problem.why.partition("\nSTOP")[0]
        raise PredictionError(
            f"on {plural(blocks.procs, 'processor')} the program differs from the prediction:",
            why=why,
            hint="Give values that decide what moves with --set.",
        ) from None
    times = np.fromfile(files["times"], "<f8") if files["times"].exists() else np.zeros(0)
    if times.size != blocks.procs:
        raise PredictionError(f"the simulation ends early on {plural(blocks.procs, 'processor')}.", why=answer[-500:])
    return answer, times


def faults(outcomes: Sequence[Simulated]) -> tuple[str, ...]:
    """What is not as it should be."""
    return tuple(
        f"on {plural(each.procs, 'processor')} the answer differs: {each.difference}."
        for each in outcomes
        if each.difference
    )
