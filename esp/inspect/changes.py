"""What-ifs that are tried beside an explanation: one walk for all of them."""

from collections.abc import Callable, Mapping

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from sag.machine import Machine

Array = NDArray[np.float64]

CHANGES = ("processor x2", "memory x2", "bandwidth x2", "latency x0.5")
"""Names of the what-ifs (Def 11): each halves the figures of one kind."""


def changed(machine: Machine) -> Machine:
    """The machine as it is in scenario 0, and with each of `CHANGES` in those that follow."""
    scenarios = 1 + len(CHANGES)

    def halved(change: str) -> Callable[[Array], Array]:
        factor = np.ones(scenarios)
        factor[1 + CHANGES.index(change)] = 0.5
        return lambda values: values[:1] * factor

    processor, memory, bandwidth, latency = map(halved, CHANGES)
    costs, network = machine.memory, machine.network
    if costs is not None:
        misses = dict.fromkeys(("read_miss_s", "write_miss_s", "writeback_s"), memory)
        caches = tuple(structs.replace(each, **_fields(each, misses)) for each in costs.caches)
        costs = structs.replace(costs, caches=caches, tlb_miss_s=memory(costs.tlb_miss_s))
    if network is not None:
        law = {"call_overhead_s": latency, "startup_s": latency, "per_hop_s": latency, "per_byte_s": bandwidth}
        ranges = tuple(structs.replace(each, **_fields(each, law)) for each in network.ranges)
        packing = _fields(network, {"pack_per_byte_s": memory, "copy_per_byte_s": memory})
        network = structs.replace(network, ranges=ranges, **packing)
    times = {name: processor(values) for name, values in machine.processor.time_s.items()}
    return structs.replace(
        machine,
        scenarios=scenarios,
        processor=structs.replace(machine.processor, time_s=times),
        memory=costs,
        network=network,
    )


def _fields(of: object, how: Mapping[str, Callable[[Array], Array]]) -> dict[str, Array]:
    return {name: change(getattr(of, name)) for name, change in how.items()}
