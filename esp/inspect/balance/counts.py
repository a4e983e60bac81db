"""The counts of Clement's model from predictions of a program (docs/balance.md).

The start-ups of X(p) are those of the critical path: of the processor that sends or receives most, and of all stages
of a tree. Counts of different prices become one count by their times: a short message is the part of a long one that
its start-up takes, and an operation is the mean of the flops with all that belongs to them.
"""

from math import log2

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from esp.errors import PredictionError
from esp.inspect.balance.machine import MachineCosts
from esp.prediction import Prediction, first
from interpreter.balance.shares import undivided
from interpreter.result import AauMetrics, FigureCount

LOOPS = "processor.loop.setup"

_TREES = ("multicast", "multicast_shift")
"""Patterns whose root may be another processor each time."""

Array = NDArray[np.float64]

_PAID = ("sending", "receiving")


class ProgramCounts(Struct, frozen=True, kw_only=True):
    """Counts of a program, and the cost of one of its operations in units of T_phi."""

    sequential: float
    parallel: float
    misses: float
    loops: float
    operation: float


def kind_of(figure: str) -> str:
    """What a figure of the machine, called by component and key, is for the model.

    >>> [kind_of(each) for each in ("processor.r8.add", "network.long.startup", "network.long.per_byte", "memory.pack")]
    ['operations', 'startups', 'bytes', 'packing']
    """
    component, _, key = figure.partition(".")
    last = key.partition(" ")[0].rpartition(".")[2]
    match component, last:
        case "memory", "pack" | "copy":
            return "packing"
        case "memory", _:
            return "cache"
        case "network", "per_byte":
            return "bytes"
        case "network", "per_hop":
            return "hops"
        case "network", _:
            return "startups"
        case _:
            return "operations"


def counts_of(alone: Prediction, together: Prediction, machine: MachineCosts) -> ProgramCounts:
    """The counts of a program.

    Args:
        alone: its prediction on one processor.
        together: its prediction on several.
        machine: the costs of the machine.

    Raises:
        PredictionError: there are no floating-point operations.
    """
    flops = sum(alone.counts.flops().values())
    if not flops > 0:
        hint = "Give counts instead of the program, with --operations and --startups."
        raise PredictionError("there are no floating-point operations, which the model counts.", hint=hint)
    procs = together.processors
    on_all = {(each.name, each.paid): each.mean * procs for each in together.counts.of()}
    whole_s = full_s = loops_s = misses_s = 0.0
    for each in alone.counts.of():
        price, kind = first(each.figure.seconds), kind_of(each.name)
        if kind == "cache":
            misses_s += each.mean * price
        elif kind == "operations":
            on_each = undivided(each.mean, on_all.get((each.name, each.paid), 0.0), procs)
            if each.name == LOOPS:
                loops_s += on_each * price
                whole_s += (each.mean - on_each) * price
            else:
                full_s += on_each * price
                whole_s += each.mean * price
    loops_s += sum(
        each.mean * first(each.figure.seconds)
        for each in together.counts.of()
        if each.paid == "overhead" and kind_of(each.name) == "operations"
    )
    operation_s = whole_s / flops
    miss_s = (machine.miss or 0.0) * machine.t_phi_s
    return ProgramCounts(
        sequential=full_s / operation_s,
        parallel=flops - full_s / operation_s,
        misses=misses_s / miss_s if miss_s else 0.0,
        loops=loops_s / operation_s,
        operation=operation_s / machine.t_phi_s,
    )


class CriticalPath(Struct, frozen=True):
    """Seconds of messages on the processors that send or receive most, one communication after the other.

    `number`: start-ups, each counted once whatever it takes.
    """

    startups_s: float
    bytes_s: float
    hops_s: float
    number: float


def path_of(prediction: Prediction) -> CriticalPath:
    """The messages of a prediction on their critical path."""
    named = {
        entry.aau
        for entry in prediction.counts.entries
        if any(name.startswith("network.") for column in entry.columns for _, name, _ in column.fees)
    }
    total = np.zeros(4)
    for aau in prediction.aaus:
        if aau.id in named:
            total += _path(prediction, aau)
    return CriticalPath(*total.tolist())


def _path(prediction: Prediction, aau: AauMetrics) -> Array:
    """The four figures of one AAU: those of the processor that sends most, or receives most, or of the stages of a
    tree."""
    procs = prediction.processors
    found = {each: np.zeros((4, procs)) for each in _PAID}
    for each in prediction.counts.of((aau.id,)):
        kind = kind_of(each.name)
        if each.paid in found and kind in ("startups", "bytes", "hops"):
            row = ("startups", "bytes", "hops").index(kind)
            on_each = _on_each(each, procs)
            found[each.paid][row] += on_each * first(each.figure.seconds)
            if kind == "startups" and not each.name.endswith(("stage_software", "receive_overhead")):
                found[each.paid][3] += on_each
    most: Array = np.maximum(*(each.max(axis=1) for each in found.values()))
    if aau.comm is None or aau.comm.pattern not in _TREES or not aau.comm.messages:
        return most
    stages = aau.comm.executions * tree_stages(procs, aau.comm.messages / aau.comm.executions)
    mean: Array = np.maximum(*(each.sum(axis=1) for each in found.values())) / aau.comm.messages
    return np.maximum(most, stages * mean)


def tree_stages(processors: int, messages: float) -> float:
    """The least number of stages of trees that send so many messages among so many processors.

    k trees of g processors send k (g - 1) messages in log2 g stages. With k g = p, g = p / (p - messages); where fewer
    processors take part, g is larger.

    >>> tree_stages(8, 7), tree_stages(16, 12)
    (3.0, 2.0)
    """
    return log2(processors / (processors - messages)) if messages < processors else 0.0


def _on_each(count: FigureCount, procs: int) -> Array:
    """How often each processor pays; the mean where that is not kept."""
    return np.full(procs, count.mean) if count.each is None else count.of_each(procs)


def startups_of(path: CriticalPath, machine: MachineCosts) -> float:
    """X(p): start-ups of the longest messages that take as long as those of the path."""
    unit_s = (machine.startup or 0.0) * machine.t_phi_s
    return path.startups_s / unit_s if unit_s else path.number
