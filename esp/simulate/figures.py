"""What each count takes on the simulated machine, as the program reads it (`esp_counting.f90`)."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from aag.ir.intrinsics import REDUCTIONS
from aag.ir.operations import combination
from aag.ir.units import Type
from aag.spmd.emit.kinds import Kind
from esp.errors import PredictionError
from esp.simulate.instrument import BOUND, Piece
from sag.machine import Machine, NetworkCosts

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


_BOUNDS = {"int.add": 4, "int.cmp": 2}
"""Local bounds of a loop: offset by the coordinate, clipped at both ends."""


class Combination(Struct, frozen=True):
    """Combining two values in a reduction: the type as the run-time library names it, the operation, and what it
    does."""

    type: str
    operation: str
    does: Mapping[str, int]


def combinations_of(kinds: Iterable[Type]) -> tuple[Combination, ...]:
    """All combinations of values of some types."""
    return tuple(
        Combination(Kind(kind).name, name, combination(how.step_class(Kind(kind).compared)))
        for kind in kinds
        for name, how in REDUCTIONS.items()
        if kind.base in how.bases
    )


def seconds_of(machine: Machine, does: Mapping[str, int], speed: float) -> float:
    """What operations take.

    Raises:
        PredictionError: the machine has no time for one of them.
    """
    total = 0.0
    if BOUND in does:
        rest = {name: often for name, often in does.items() if name != BOUND}
        bounds = {name: often * does[BOUND] for name, often in _BOUNDS.items()}
        return seconds_of(machine, rest, speed) + seconds_of(machine, bounds, speed)
    for name, often in does.items():
        if name not in machine.processor.time_s:
            raise PredictionError(f"the machine {machine.name} has no time for {name}.")
        total += often * float(machine.processor.time_s[name][0])
    return total * speed


def figures_text(
    machine: Machine,
    network: NetworkCosts,
    pieces: Sequence[Piece],
    combinations: Sequence[Combination],
    entry_s: Sequence[float],
    hops: Ints,
    speed: float = 1.0,
) -> str:
    """The file of figures.

    Args:
        machine: without scenarios.
        network: its interconnect.
        pieces: what the counters of the text count.
        combinations: what reductions may do.
        entry_s: by range of messages, what the simulator does with the caller by itself.
        hops: (P, P) distances.
        speed: the time of the processor is multiplied by it.

    Raises:
        PredictionError: the machine has no time for something, or does what programs here do not count.
    """
    for name, how in network.collectives.items():
        if name not in ("reduction", "barrier") and how.stage_software_s.any():
            raise PredictionError(f"the software of {name} on {machine.name} is not counted.")
    reduction = network.collectives.get("reduction")
    software = 0.0 if reduction is None else float(reduction.stage_software_s[0])
    lines = [str(len(pieces)), " ".join(repr(seconds_of(machine, each.operations, speed)) for each in pieces) or "0"]
    lines.append(f"{float(network.pack_per_byte_s[0])!r} {int(network.copies)} {float(network.copy_per_byte_s[0])!r}")
    lines.append(str(len(combinations) + 1))
    lines += [f"'{each.type}' '{each.operation}' {_or_never(machine, each.does, speed)!r}" for each in combinations]
    lines.append(f"'stage' 'reduction' {software!r}")
    lines.append(str(len(network.ranges)))
    keeps = network.send_model == "blocking"
    for each, entry in zip(network.ranges, entry_s, strict=True):
        limit, farthest = min(each.upto_bytes, 1e18), min(each.upto_hops, 1e18)
        own = float(each.call_overhead_s[0]) + keeps * float(each.startup_s[0])
        kept = (max(own - entry, 0.0), keeps * float(each.per_byte_s[0]), keeps * float(each.per_hop_s[0]))
        lines.append(" ".join(map(repr, (limit, farthest, *kept, float(each.receive_overhead_s[0])))))
    lines += [" ".join(map(str, row)) for row in hops.tolist()]
    return "\n".join(lines) + "\n"


def _or_never(machine: Machine, does: Mapping[str, int], speed: float) -> float:
    """What operations take; those that the machine has no time for are those that no program has (here)."""
    try:
        return seconds_of(machine, does, speed)
    except PredictionError:
        return 0.0
