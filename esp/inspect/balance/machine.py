"""The normalised costs of a machine, from its description."""

from math import isfinite

from msgspec import Struct

from esp.errors import PredictionError
from esp.inspect.balance.records import StartupCost
from sag.machine import Array, Machine
from sag.unit import Figure, Simple, System

_OPERATIONS = ("r8.add", "r8.mul")
"""What an operation is without a program: the mean of these."""


class MachineCosts(Struct, frozen=True, kw_only=True):
    """Costs in units of `t_phi_s`; None where the machine has no such figure."""

    t_phi_s: float
    operation: float | None
    miss: float | None
    ranges: tuple[StartupCost, ...]

    @property
    def startup(self) -> float | None:
        """Of the longest messages, the farthest ones where distance matters."""
        return self.ranges[-1].cost if self.ranges else None


def costs_of(system: System, machine: Machine, t_phi_s: float | None) -> MachineCosts:
    """Read the costs of a machine.

    Args:
        system: its description, whose clock is T_phi.
        machine: its figures.
        t_phi_s: T_phi, instead of one clock of the processor.

    Raises:
        PredictionError: the description has no clock.
    """
    unit_s = clock_s(system) if t_phi_s is None else t_phi_s
    times = machine.processor.time_s
    known = [_first(times[name]) for name in _OPERATIONS if name in times and _first(times[name]) > 0]
    memory, network = machine.memory, machine.network
    cache = None if memory is None else memory.last  # the cache whose misses go to memory
    misses = [] if cache is None else [cache.read_miss_s, cache.write_miss_s, cache.writeback_s]
    penalties = [_first(each) for each in misses]
    ranges = [] if network is None else list(network.ranges)
    return MachineCosts(
        t_phi_s=unit_s,
        operation=sum(known) / len(known) / unit_s if known else None,
        miss=None if memory is None else next((each for each in penalties if each > 0), 0.0) / unit_s,
        ranges=tuple(
            StartupCost(
                upto_bytes=each.upto_bytes if isfinite(each.upto_bytes) else None,
                upto_hops=each.upto_hops if isfinite(each.upto_hops) else None,
                cost=(_first(each.call_overhead_s) + _first(each.startup_s)) / unit_s,
            )
            for each in ranges
        ),
    )


def clock_s(system: System) -> float:
    """One clock of the processor of a node, in seconds.

    Raises:
        PredictionError: the description has none.
    """
    found = system.find("node")
    processor = None if found is None else found[1].components.get("processor")
    clock = processor.figures.get("clock") if isinstance(processor, Simple) else None
    if isinstance(clock, Figure) and clock.value > 0:
        return 1.0 / clock.value
    hint = "Give the time of a floating-point instruction: --t-phi 25ns."
    raise PredictionError(f"{system.name} has no clock of a processor.", where="--system", hint=hint)


def need(value: float | None, system: str, what: str, option: str, example: str) -> float:
    """A cost that the model needs.

    Raises:
        PredictionError: the machine has none.
    """
    if value is None:
        raise PredictionError(f"{system} has no {what}.", where="--system", hint=f"Give it: {option} {example}.")
    return value


def _first(figure: Array) -> float:
    """The value of the only scenario."""
    return float(figure[0])
