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
"""What they are, in the order of tables; start-ups and bytes are followed by the name of a range of messages."""

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


def kind_of(quantity: str) -> str:
    """What a quantity is, without the range of message sizes that it is of."""
    return quantity.partition(" ")[0]


def quantity_of(role: str, key: str) -> str:
    """The quantity to which the parameter `key` of a node or of the network belongs; empty: to none. Each range of
    message sizes has its own."""
    first, _, last = key.rpartition(".")
    if role == "network":
        if last in ("startup", "call_overhead", "receive_overhead", "per_hop"):
            return f"start-ups {first}"
        return {"per_byte": f"bytes {first}", "stage_software": "software"}.get(last, "")
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
    found: dict[str, list[str]] = {}
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
                    found.setdefault(name, []).append(path)
    ordered = sorted(found, key=lambda name: QUANTITIES.index(kind_of(name)))
    return {name: tuple(found[name]) for name in ordered if found[name]}
