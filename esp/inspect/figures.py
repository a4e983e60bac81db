"""The figures of a machine that are times, each with its name, and machines in which some of them are changed.

A figure is found in a `Machine` by its group and its name; `charged_for` says in words what one unit of it is.
"""

from collections.abc import Callable, Iterable, Mapping

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from sag.machine import Machine, MessageRange, NetworkCosts

Array = NDArray[np.float64]

PROCESSOR, MEMORY, NETWORK, IO = "processor", "memory", "network", "io"
"""The components P, M, C/S and I/O."""

_MEMORY = {
    "read_miss_s": "cache line read",
    "write_miss_s": "write missed",
    "writeback_s": "dirty line written back",
    "tlb_miss_s": "page translation looked up",
}
_RANGE = {
    "call_overhead_s": "message call",
    "startup_s": "message start-up",
    "per_byte_s": "message byte",
    "per_hop_s": "message hop",
    "receive_overhead_s": "message received",
}
_PACKING = {"pack_per_byte_s": "byte packed or unpacked", "copy_per_byte_s": "byte copied"}
_IO = {
    "host_latency_s": "transfer on the host link",
    "host_per_byte_s": "byte on the host link",
    "format_item_s": "item formatted",
}


class MachineFigure(Struct, frozen=True, kw_only=True):
    """One time of a machine: seconds for one unit of something. `key` finds it, `words` name the unit for people."""

    group: str
    key: tuple[str, ...]
    words: str
    seconds: float
    per_byte: bool
    estimated: bool

    @property
    def name(self) -> str:
        """For programs: ``processor.r8.add``."""
        return ".".join((self.group, *self.key))


def figures_of(machine: Machine, operations: Iterable[str]) -> tuple[MachineFigure, ...]:
    """All times of a machine that are not 0, of P only those of some operation classes. Scenario 0 counts."""
    found = [
        _figure(PROCESSOR, (name,), name, machine.processor.time_s[name], machine.processor.estimated.get(name))
        for name in operations
        if name in machine.processor.time_s
    ]
    memory, network, io = machine.memory, machine.network, machine.io
    if memory is not None:
        found += [
            _figure(MEMORY, (key,), words, getattr(memory, key), memory.estimated) for key, words in _MEMORY.items()
        ]
    if network is not None:
        found += _of_network(network)
    if io is not None:
        found += [_figure(IO, (key,), words, getattr(io, key), io.estimated) for key, words in _IO.items()]
    return tuple(each for each in found if each.seconds)


def _of_network(network: NetworkCosts) -> list[MachineFigure]:
    found = []
    least = 0.0
    for number, law in enumerate(network.ranges):
        size = _sizes(least, law.upto_bytes)
        least = law.upto_bytes
        found += [
            _figure(NETWORK, (str(number), key), f"{words}{size}", getattr(law, key), law.estimated)
            for key, words in _RANGE.items()
        ]
    # What packs is the node's memory: `--memory-speed` changes it, `--bandwidth` does not.
    found += [
        _figure(MEMORY, (key,), words, getattr(network, key), network.pack_estimated) for key, words in _PACKING.items()
    ]
    found += [
        _figure(NETWORK, (kind,), f"run-time stage of a {kind}", how.stage_software_s, how.estimated)
        for kind, how in network.collectives.items()
    ]
    return found


def _sizes(least: float, most: float) -> str:
    if least == 0 and most == np.inf:
        return ""
    return f" (<= {most:,.0f} B)" if most != np.inf else f" (> {least:,.0f} B)"


def _figure(group: str, key: tuple[str, ...], words: str, seconds: Array, estimated: bool | None) -> MachineFigure:
    name = key[-1]
    return MachineFigure(
        group=group,
        key=key,
        words=words,
        seconds=float(seconds.flat[0]),
        per_byte="per_byte" in name,
        estimated=bool(estimated),
    )


def scaled(machine: Machine, factors: Mapping[tuple[str, tuple[str, ...]], Array], scenarios: int) -> Machine:
    """The machine with figures multiplied: (group, key) -> factor in each of the `scenarios`."""

    def changed(group: str, *key: str) -> Callable[[Array], Array]:
        factor = factors.get((group, key))
        return lambda values: values if factor is None else values.flat[0] * factor

    processor = structs.replace(
        machine.processor,
        time_s={name: changed(PROCESSOR, name)(values) for name, values in machine.processor.time_s.items()},
    )
    memory, network, io = machine.memory, machine.network, machine.io
    if memory is not None:
        memory = structs.replace(memory, **_fields(memory, _MEMORY, lambda key: changed(MEMORY, key)))
    if network is not None:
        packing = _fields(network, _PACKING, lambda key: changed(MEMORY, key))
        collectives = {
            kind: structs.replace(how, stage_software_s=changed(NETWORK, kind)(how.stage_software_s))
            for kind, how in network.collectives.items()
        }
        ranges = tuple(_range(law, number, changed) for number, law in enumerate(network.ranges))
        network = structs.replace(network, ranges=ranges, collectives=collectives, **packing)
    if io is not None:
        io = structs.replace(io, **_fields(io, _IO, lambda key: changed(IO, key)))
    return structs.replace(machine, scenarios=scenarios, processor=processor, memory=memory, network=network, io=io)


def _range(law: MessageRange, number: int, changed: Callable[..., Callable[[Array], Array]]) -> MessageRange:
    return structs.replace(law, **_fields(law, _RANGE, lambda key: changed(NETWORK, str(number), key)))


def _fields(of: Struct, keys: Iterable[str], changed: Callable[[str], Callable[[Array], Array]]) -> dict[str, Array]:
    return {key: changed(key)(getattr(of, key)) for key in keys}
