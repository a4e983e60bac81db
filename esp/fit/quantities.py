"""The quantities that a table of runs determines: groups of machine parameters that are scaled together.

They follow the terms of M. Clement: operations, loops, cache misses, copies, start-ups, bytes and
run-time software. A run says nothing of single parameters, such as an addition without its loads.
"""

from collections.abc import Mapping, Sequence

from sag.unit import Figure, System
from sag.values import settable

NODE = ("operations", "loops", "misses", "copies")
NETWORK = ("start-ups", "bytes", "software")
QUANTITIES = (*NODE, *NETWORK)
"""Their names, in the order of tables."""

ABOUT: Mapping[str, str] = {
    "operations": "arithmetic, loads, indices, calls, guards",
    "loops": "loop.setup, loop.iteration",
    "misses": "cache and translation misses",
    "copies": "pack, copy",
    "start-ups": "start-ups, hops, receiving",
    "bytes": "time per byte of messages",
    "software": "stages of collectives",
}
"""Quantity -> what belongs to it."""


def quantity_of(role: str, key: str) -> str:
    """The quantity to which the parameter `key` of a node or of the network belongs; empty: to none."""
    last = key.rpartition(".")[2]
    if role == "network":
        if last in ("startup", "call_overhead", "receive_overhead", "per_hop"):
            return "start-ups"
        return {"per_byte": "bytes", "stage_software": "software"}.get(last, "")
    if last in ("pack", "copy"):
        return "copies"
    if last in ("read_miss", "write_miss", "writeback", "tlb_miss"):
        return "misses"
    if key.startswith("loop."):
        return "loops"
    return "operations"


def quantities_of(system: System) -> Mapping[str, Sequence[str]]:
    """Quantity -> paths of its parameters, for those on which a prediction depends."""
    keys = settable(system)
    found: dict[str, list[str]] = {name: [] for name in QUANTITIES}
    parameters = system.parameters()
    for role in ("node", "network"):
        unit = system.find(role)
        if unit is None:
            continue
        prefix = f"{unit[0]}." if unit[0] else ""
        for path, each in parameters.items():
            if not path.startswith(prefix) or not isinstance(each, Figure) or each.value <= 0:
                continue
            key = path.removeprefix(prefix)
            for component in ("processor.", "memory.", "network."):
                key = key.removeprefix(component)
            is_time = each.dimension in ("time", "per_byte")
            if is_time and keys[path].swept and keys[path].exported and not key.startswith("io."):
                name = quantity_of(role, key)
                if name:
                    found[name].append(path)
    return {name: tuple(paths) for name, paths in found.items() if paths}
