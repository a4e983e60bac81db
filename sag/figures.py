"""The figures of a machine that are times: what one operation, one miss, one start-up or one byte takes.

The engine counts how often each figure is paid and multiplies (Def 21). It calls a figure by its component and key
(``processor.r8.add``, ``network.long.startup``); a user reads its path in the description of the machine, which a
setting may name, too (``cube.network.long.startup``).
"""

from collections.abc import Iterator, Mapping

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sag.machine import Machine, MessageRange, NetworkCosts

Array = NDArray[np.float64]

EXCHANGED = " x exchange_factor"
"""What the name of a figure of messages ends with where two processors exchange: it is multiplied by that factor."""


class MachineFigure(Struct, frozen=True, kw_only=True, eq=False):
    """One time of a machine. `path`: in its description; `unit`: what takes so long, for people."""

    path: str
    unit: str
    seconds: Array
    """(S or 1,), with all that the scenarios change (Def 11)."""
    estimated: bool


GIVEN_TIME = "given.second"
"""The figure of times that a user gives for the calls of a procedure: no machine changes it."""

CACHE_MISSES = ("cache line read", "write missed", "dirty line written back")
"""What the caches miss, as the units of figures; those of further caches are followed by their names (`cache_of`)."""


def cache_of(unit: str) -> tuple[str, str] | None:
    """Which of `CACHE_MISSES` the unit of a figure is, and the name of the cache; None: it is not a miss."""
    missed, _, name = unit.partition(" in ")
    return (missed, name) if missed in CACHE_MISSES else None


def figures_of(machine: Machine) -> Mapping[str, MachineFigure]:
    """All figures by component and key."""

    def named(name: str, unit: str, seconds: Array, estimated: bool) -> tuple[str, MachineFigure]:
        component, _, key = name.partition(".")
        path = machine.paths.get(component, f"{component}.") + key
        return name, MachineFigure(path=path, unit=unit, seconds=seconds, estimated=estimated)

    costs, memory, network, io = machine.processor, machine.memory, machine.network, machine.io
    found = [
        named(f"processor.{name}", name, seconds, costs.estimated.get(name, False))
        for name, seconds in costs.time_s.items()
    ]
    if memory is not None:
        for each in memory.caches:
            place = f" in {each.name}" if each.name else ""
            found += [
                named(each.figure(key), unit + place, seconds, each.estimated)
                for key, unit, seconds in zip(
                    ("read_miss", "write_miss", "writeback"),
                    CACHE_MISSES,
                    (each.read_miss_s, each.write_miss_s, each.writeback_s),
                    strict=True,
                )
            ]
        found.append(named("memory.tlb_miss", "page translation looked up", memory.tlb_miss_s, memory.tlb_estimated))
    if network is not None:
        found += [named(*each) for each in _of_messages(network)]
        guessed = network.pack_estimated
        found += [
            named("memory.pack", "byte packed or unpacked", network.pack_per_byte_s, guessed),
            named("memory.copy", "byte copied", network.copy_per_byte_s, guessed),
        ]
        found += [
            named(f"network.collectives.{kind}.stage_software", f"run-time stage of a {kind}", each.stage_software_s,
                  each.estimated)
            for kind, each in network.collectives.items()
        ]  # fmt: skip
    if io is not None:
        found += [
            named("link.startup", "transfer on the host link", io.host_latency_s, io.estimated),
            named("link.per_byte", "byte on the host link", io.host_per_byte_s, io.estimated),
            named("io.format_item", "item formatted", io.format_item_s, io.estimated),
        ]
    given = MachineFigure(path="second", unit="second given for a call", seconds=np.ones(1), estimated=False)
    return {**dict(found), GIVEN_TIME: given}


def _of_messages(network: NetworkCosts) -> Iterator[tuple[str, str, Array, bool]]:
    least = 0.0
    for number, law in enumerate(network.ranges):
        name, sizes = range_name(law, number), _sizes(least, law.upto_bytes) + _distances(network, law)
        least = law.upto_bytes if law.upto_bytes < np.inf else 0.0
        whole = {
            "startup": ("message start-up", law.call_overhead_s + law.startup_s),
            "per_byte": ("message byte", law.per_byte_s),
            "per_hop": ("message hop", law.per_hop_s),
        }
        for key, (unit, seconds) in whole.items():
            guessed, factor = key in law.estimated, network.exchange_factor
            yield f"{name}.{key}", unit + sizes, seconds, guessed
            yield f"{name}.{key}{EXCHANGED}", f"{unit}{sizes} of an exchange", seconds * factor, guessed
        for key, unit, seconds in (
            ("call_overhead", "message call", law.call_overhead_s),
            ("receive_overhead", "message received", law.receive_overhead_s),
        ):
            if law.call_apart or key != "call_overhead":
                yield f"{name}.{key}", unit + sizes, seconds, key in law.estimated


def range_name(law: MessageRange, number: int) -> str:
    """By what the figures of the range with this number are called."""
    return f"network.{law.name or number}"


def _sizes(least: float, most: float) -> str:
    if least == 0 and most == np.inf:
        return ""
    return f" (<= {most:,.0f} B)" if most != np.inf else f" (> {least:,.0f} B)"


def _distances(network: NetworkCosts, law: MessageRange) -> str:
    """What tells the messages of a range from nearer and farther ones."""
    nearer = [each.upto_hops for each in network.ranges if each.upto_hops < law.upto_hops]
    if law.upto_hops < np.inf:
        return f" within {law.upto_hops:g} links"
    return f" over more than {max(nearer):g} links" if nearer else ""
