"""Groups of machine parameters on which a time depends.

They follow the terms of M. Clement: operations, loops, cache misses, copies, start-ups, bytes and
run-time software. What a table of runs determines are factors of these: a run says nothing of single parameters, such
as an addition without its loads.
"""

from collections.abc import Mapping, Sequence

from sag.quantities import Change, make_change
from sag.unit import Figure, System
from sag.values import WhatIf, settable

Sets = tuple[tuple[str, WhatIf], ...]
"""Paths of parameters with their changes."""

NODE = ("operations", "loops", "misses", "copies")
NETWORK = ("start-ups", "bytes", "software")
QUANTITIES = (*NODE, *NETWORK)
"""What they are, in the order of tables; start-ups and bytes are followed by the name of a range of messages."""

IO = "I/O"
"""The quantity of all other times."""

_ROLES = ("node", "network")
_COMPONENTS = ("processor.", "memory.", "network.")
_TIMES = ("time", "per_byte", "bandwidth")

ABOUT: Mapping[str, str] = {
    "operations": "arithmetic, loads, indices, calls, guards",
    "loops": "loop.setup, loop.iteration",
    "misses": "cache and translation misses",
    "copies": "pack, copy",
    "start-ups": "start-ups, hops, receiving",
    "bytes": "time per byte of messages",
    "software": "stages of collectives",
    IO: "input, output, host",
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
    """Quantity -> paths of its parameters, for those on which a prediction depends, without input and output."""
    found: dict[str, list[str]] = {}
    for path, name in timed_parameters(system).items():
        if name != IO:
            found.setdefault(name, []).append(path)
    ordered = sorted(found, key=lambda name: QUANTITIES.index(kind_of(name)))
    return {name: tuple(found[name]) for name in ordered}


def timed_parameters(system: System) -> Mapping[str, str]:
    """Paths of all parameters that are times, times per byte or rates, and on which a prediction depends -> their
    quantity. If all of them become twice as slow, so does every program."""
    keys = settable(system)
    prefixes = {role: f"{unit[0]}." if unit[0] else "" for role in _ROLES if (unit := system.find(role)) is not None}
    found: dict[str, str] = {}
    for path, each in system.parameters().items():
        is_time = isinstance(each, Figure) and each.value > 0 and each.dimension in _TIMES
        if is_time and keys[path].swept and keys[path].exported:
            role = next((role for role, prefix in prefixes.items() if path.startswith(prefix)), "")
            key = path.removeprefix(prefixes.get(role, ""))
            for component in _COMPONENTS:
                key = key.removeprefix(component)
            found[path] = IO if not role or key.startswith("io.") else quantity_of(role, key) or IO
    return found


def scaled(system: System, sets: Sequence[tuple[str, WhatIf]], factors: Sequence[tuple[str, Change]]) -> Sets:
    """Given changes of parameters, and factors on some: a parameter with both has the factor on what is given."""
    figures = system.parameters()
    found: dict[str, WhatIf] = dict(factors)
    for path, given in sets:
        factor, figure = found.get(path), figures.get(path)
        if isinstance(factor, Change) and isinstance(figure, Figure):
            made = make_change(given, figure.dimension, plain_is_factor=False)
            found[path] = Change(is_factor=made.is_factor, amount=made.amount * factor.amount, text=factor.text)
        else:
            found[path] = given
    return tuple(found.items())
