"""Comm AAUs: what an operation moves, as patterns of messages, and the line it has in the communication table.

The steps of an operation come from `aag`; phases are charged as they are, collectives by the algorithm that the
machine names (Def 8). Everything that does not depend on the clock is computed once for each set of values.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace
from numpy.typing import NDArray

from aag.graph.aau import Comm, Work
from aag.spmd.nodes import Exchange, Operation
from aag.spmd.steps import CollectiveCall, Phase, Step
from interpreter import shared
from interpreter.books import CommEntry
from interpreter.counts import OVERHEAD, CountColumn
from interpreter.metrics import Tally
from interpreter.models.collective import Stage, exchange_steps, stages
from interpreter.models.compute import Cost, Packing, charge, priced
from interpreter.models.law import RECEIVED, SENT
from interpreter.models.message import transfer
from interpreter.models.pattern import Batch, Pattern, batches_of, pattern
from interpreter.reduce import all_of
from interpreter.remembered import by_values, of_aau, remembered
from interpreter.state import Run
from sag.machine import NetworkCosts

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Leg = tuple[Stage, Ints | int]
"""A stage of a collective, and the elements of each message, or of all that are equally long."""

PACKING = (("index.1d", 1.0), ("load", 1.0), ("loop.iteration", 1.0), ("store", 1.0))
"""What gathering one element of a strided section takes on a machine that has no figure for packing."""

_MOST_SIZES = 4
"""Sizes of messages that the table names."""

EQUAL = ("broadcast", "reduction", "scan")
"""Collectives in which every message carries what one processor contributes."""


class PlanPart(Struct):
    """Messages of a communication, with what members of a collective pack before the first of them and unpack after the
    last: cost and ranks."""

    before: list[tuple[Cost, Ints]] = field(default_factory=list)
    batches: list[Batch] = field(default_factory=list)
    after: list[tuple[Cost, Ints]] = field(default_factory=list)


class Plan(Struct, frozen=True):
    """All that a communication does, part by part, and its entry for the table. It is not changed any more."""

    parts: tuple[PlanPart, ...]
    entry: CommEntry


def communicate(run: Run, aau: Comm) -> None:
    """Interpret a Comm AAU that moves data between processors."""
    if aau.operation is not None:
        execute(run, aau.id, _plan(run, aau, aau.operation))


@remembered(of_aau, by_values)
def _plan(run: Run, aau: Comm, operation: Operation) -> Plan:
    """What the operation of an AAU does with the values that hold now."""
    steps = run.application.steps(operation, run.env)
    if any(step.bounded for step in steps):
        run.books.assume(
            "bound",
            f"too many index combinations to count the elements of {operation.array} that move: using an upper bound",
            aau.span,
        )
    network = run.machine.network
    concurrent = isinstance(operation, Exchange) and network is not None and network.exchange == "concurrent"
    return make_plan(run, steps, array=operation.array, pattern_name=operation.pattern, concurrent=concurrent)


def make_plan(
    run: Run,
    steps: Sequence[Step],
    *,
    array: str,
    pattern_name: str,
    concurrent: bool = False,
    combine: Work | None = None,
) -> Plan:
    """Price the steps of an operation. Without a network nothing is charged, which is announced."""
    network = run.machine.network
    if network is None:
        if steps and run.procs > 1:
            run.books.assume(
                "no-network", f"the machine {run.machine.name} describes no network: communication could not be charged"
            )
            run.books.complete = False
        return Plan((), CommEntry(array, pattern_name))
    software = ""
    if pattern_name == "transpose":
        steps = _all_to_all(run, steps, network)
        software = _software(network, "transpose")
    parts = [PlanPart()]
    for joined, group in groupby(steps, lambda step: isinstance(step, Phase)):
        if joined:
            found = [step for step in group if isinstance(step, Phase)]
            at_once = concurrent and len(found) > 1
            count = sum(step.source.size for step in found) if at_once else None
            if parts[-1].after:
                parts.append(PlanPart())
            parts[-1].batches += batches_of(
                (_phase(run, network, each, count, software) for each in found), concurrent=at_once
            )
            continue
        for step in group:
            if isinstance(step, CollectiveCall):
                before, after = _pack_collective(run, network, step)
                if before and parts[-1].batches:  # it packs what the messages before have brought
                    parts.append(PlanPart())
                parts[-1].before += before
                parts[-1].batches += _collective(run, network, step, combine)
                parts[-1].after += after
    entry = _entry(array, pattern_name, [each for part in parts for batch in part.batches for each in batch.patterns])
    return Plan(tuple(parts), entry)


def execute(run: Run, aau: int, plan: Plan) -> None:
    """Let the messages of a plan happen."""
    enter(run, aau, plan.entry)
    run.books.count(aau, Tally.EXECUTIONS, 1.0)
    for part in plan.parts:
        for cost, ranks in part.before:
            charge(run, aau, cost, ranks)
        transfer(run, aau, part.batches)
        for cost, ranks in part.after:
            charge(run, aau, cost, ranks)


def enter(run: Run, aau: int, entry: CommEntry) -> None:
    """Put an execution into the table: a copy of the first that sends anything, and the largest number of hops."""
    known = run.books.table.get(aau)
    if known is None or (entry.messages and not known.messages):
        run.books.table[aau] = replace(entry)
    elif entry.hops > known.hops:
        known.hops = entry.hops


def _all_to_all(run: Run, steps: Sequence[Step], network: NetworkCosts) -> Sequence[Step]:
    """The messages of a transpose in the order of the machine's algorithm."""
    phases = [step for step in steps if isinstance(step, Phase)]
    how = network.collectives.get("transpose")
    if not phases or how is None or len({phase.element_bytes for phase in phases}) > 1:
        return steps
    source, destination, elements = (
        np.concatenate([getattr(phase, part) for phase in phases]) for part in ("source", "destination", "elements")
    )
    given, taken = (np.concatenate([_strided(phase)[end] for phase in phases]) for end in (0, 1))
    if network.library:  # the run-time system packs at both ends what is strided at one
        given = taken = given | taken
    ordered: list[Step] = [
        Phase(
            source=source[pick],
            destination=destination[pick],
            elements=elements[pick],
            element_bytes=phases[0].element_bytes,
            name=f"transpose {number}",
            strided=(given[pick], taken[pick]),
        )
        for number, pick in exchange_steps(source, destination, run.network.node, how.algorithm)
    ]
    return [*ordered, *(step for step in steps if not isinstance(step, Phase))]


def _strided(phase: Phase) -> tuple[Bools, Bools]:
    """(M,) each, as in `Phase`."""
    if phase.strided is not None:
        return phase.strided
    none = np.broadcast_to(np.False_, phase.source.shape)
    return none, none


def _phase(run: Run, network: NetworkCosts, phase: Phase, together: int | None, software: str) -> Pattern:
    given, taken = _strided(phase)
    return pattern(
        run,
        network,
        name=phase.name,
        source=phase.source,
        destination=phase.destination,
        size_bytes=phase.elements * phase.element_bytes,
        element_bytes=phase.element_bytes,
        packing=packing_of(run, network, phase.element_bytes),
        packed=given * SENT + taken * RECEIVED,
        software=software,
        together=together,
    )


def packing_of(run: Run, network: NetworkCosts, element_bytes: int) -> Packing:
    """The machine's figure per byte (0 is one, too), by counts where it describes no memory. What is contiguous is
    sent from where it is, unless the compiler of the machine copies it all the same."""
    copied = CountColumn(((OVERHEAD, "memory.copy", 1.0),)) if network.copies else None
    if run.machine.memory is not None or network.pack_per_byte_s.any() or network.copy_per_byte_s.any():
        return Packing(CountColumn(((OVERHEAD, "memory.pack", 1.0),)), copied, 1)
    counted = run.prices.of(Work(overhead=PACKING))
    return Packing(counted, counted if network.copies else None, element_bytes)


def _software(network: NetworkCosts, kind: str) -> str:
    """The collective, if there is run-time software of each participant in its stages."""
    how = network.collectives.get(kind)
    return "" if how is None or not how.stage_software_s.any() else kind


def _collective(run: Run, network: NetworkCosts, call: CollectiveCall, combine: Work | None) -> list[Batch]:
    """Stages as batches; a collective that the machine does not describe is built as suits its topology."""
    how = network.collectives.get(call.kind)
    algorithm = "auto" if how is None else how.algorithm
    if how is None and call.kind != "scan":
        run.books.assume(
            "collective",
            f"the machine {run.machine.name} names no algorithm for {call.kind}: "
            "assuming the usual one for its topology (Def 8)",
        )
    software = _software(network, call.kind)
    legs = _stages(run, network, call, algorithm)
    patterns = [
        (
            stage.together,
            pattern(
                run,
                network,
                name=call.name or call.kind,
                source=stage.source,
                destination=stage.destination,
                size_bytes=elements * call.element_bytes,
                element_bytes=call.element_bytes,
                combining=combine if stage.combines else None,
                software=software,
                together=0 if stage.together else None,
            ),
        )
        for stage, elements in (legs if call.kind == "barrier" else _moving(legs))
    ]
    return [
        batch
        for joined, group in groupby(patterns, lambda each: each[0])
        for batch in batches_of((messages for _, messages in group), concurrent=joined)
    ]


def _moving(legs: Sequence[Leg]) -> Iterator[Leg]:
    """Without messages that have no elements."""
    for stage, elements in legs:
        if elements if isinstance(elements, int) else all_of(elements):
            yield stage, elements
        elif not isinstance(elements, int) and elements.any():
            some = np.flatnonzero(elements)
            yield replace(stage, source=stage.source[some], destination=stage.destination[some]), elements[some]


def _stages(run: Run, network: NetworkCosts, call: CollectiveCall, algorithm: str) -> list[Leg]:
    """The stages of a collective. Where all messages are equally long, those that were worked out for others of
    another length are taken."""
    counted = call.elements
    if call.kind == "broadcast":
        counted = counted[np.arange(call.root.size), call.root]
    value = counted.item(0)
    alike = all_of(counted == value)
    box = network.topology.box(run.network.size)

    def found(elements: Ints) -> Iterator[Stage]:
        return stages(call.kind, call.members, call.root, elements, algorithm, node=run.network.node, box=box)

    if not alike or call.kind not in EQUAL:
        return [(stage, _equal(stage.elements)) for stage in found(call.elements)]
    if run.procs >= shared.MANY:
        return [(stage, value) for stage in found(np.broadcast_to(value, call.elements.shape))]
    key = (
        "stages",
        call.kind,
        algorithm,
        network.topology,
        call.members.shape,
        call.members.tobytes(),
        call.root.tobytes(),
    )
    known = run.application.answers.find(key)
    if not isinstance(known, list):
        known = list(found(np.broadcast_to(value, call.elements.shape)))
        nbytes = sum(2 * each.source.nbytes + 1000 for each in known) + 2 * call.members.nbytes
        run.application.answers.keep(key, known, nbytes)
    return [(stage, value) for stage in known]


def _equal(elements: Ints) -> Ints | int:
    """The elements of each message of a stage; one number where all are equal."""
    return int(elements[0]) if elements.size and all_of(elements == elements[:1]) else elements


def _pack_collective(
    run: Run, network: NetworkCosts, call: CollectiveCall
) -> tuple[list[tuple[Cost, Ints]], list[tuple[Cost, Ints]]]:
    """Each member packs what it contributes and unpacks what it gets."""
    result: tuple[list[tuple[Cost, Ints]], list[tuple[Cost, Ints]]] = ([], [])
    if call.kind in ("reduction", "barrier", "scan") or call.members.shape[1] < 2:
        return result
    none = np.zeros(call.members.shape, dtype=np.bool_)
    ends = (none, none) if call.strided is None else call.strided
    packing = packing_of(run, network, call.element_bytes)
    for strided, some in ((True, ends), (False, (~ends[0], ~ends[1]))):
        for side, elements in zip(result, _packed(call, *some), strict=True):
            counts = packing.of(run, elements.ravel() * call.element_bytes, np.array([strided]))
            if counts is not None:
                side.append((priced(counts), call.members.ravel()))
    return result


def _packed(call: CollectiveCall, given: Bools, taken: Bools) -> tuple[Ints, Ints]:
    """How many elements members of a collective put into messages, and take out, if those are meant that some members
    contribute: `given` where they come from, `taken` where they arrive."""
    gives, takes = call.elements * given, call.elements * taken
    total = takes.sum(axis=1, keepdims=True)
    root = np.arange(call.members.shape[1])[None, :] == call.root[:, None]
    match call.kind:
        case "broadcast":
            return gives * root, np.where(root, 0, (takes * root).sum(axis=1, keepdims=True))
        case "gather":
            return gives * ~root, np.where(root, total - takes, 0)
        case "scatter":  # what members get is where they keep their own
            return np.where(root, total - takes, 0), gives * ~root
        case _:
            return gives, total - takes


def _entry(array: str, name: str, patterns: Sequence[Pattern]) -> CommEntry:
    if not patterns:
        return CommEntry(array, name)
    counts = Counter[int]()
    for each in patterns:
        for size, often in each.sizes:
            counts[size] += often
    common = sorted(counts.most_common(_MOST_SIZES), reverse=True)
    total = sum(each.whole_s for each in patterns)
    share = sum(each.whole_s * each.estimated for each in patterns) / total if total else 0.0
    return CommEntry(
        array,
        name,
        sizes=tuple(common),
        messages=sum(each.messages for each in patterns),
        volume=sum(each.volume for each in patterns),
        hops=max(each.longest for each in patterns),
        estimated=share,
    )


def entry_of(parts: Sequence[CommEntry]) -> CommEntry | None:
    """One execution that does all of `parts`; None without any."""
    if not parts:
        return None
    counts = Counter[int]()
    for each in parts:
        for size, often in each.sizes:
            counts[size] += often
    volume = sum(each.volume for each in parts)
    return CommEntry(
        parts[0].array,
        parts[0].pattern,
        sizes=tuple(sorted(counts.most_common(_MOST_SIZES), reverse=True)),
        messages=sum(each.messages for each in parts),
        volume=volume,
        hops=max(each.hops for each in parts),
        estimated=sum(each.estimated * each.volume for each in parts) / volume if volume else 0.0,
    )
