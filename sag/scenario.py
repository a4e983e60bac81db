"""What-if scenarios, and the flattening of a machine into what the engine consumes (Def 11)."""

from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise
from types import MappingProxyType

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sag.machine import (
    CacheCosts,
    Collective,
    IoCosts,
    Machine,
    MemoryCosts,
    MessageRange,
    NetworkCosts,
    ProcessorCosts,
)
from sag.quantities import Change, QuantityError, make_change
from sag.schema import COLLECTIVES, OPERATIONS
from sag.topology import build_topology
from sag.unit import System
from sag.values import MachineValues, Part, WhatIf, what_if_error

Array = NDArray[np.float64]

ONE: Array = np.ones(1)
NONE: Array = np.zeros(1)

FURTHEST = 1e12
"""How many times better or worse a what-if may make a machine: no figure becomes 0 or infinite by that."""


class Scenario(Struct, frozen=True, kw_only=True, eq=False):
    """What the user changes about a machine (Def 11).

    Each of the what-ifs is text (``x2``, ``30%``, a value with unit), a number, or a sequence with one of
    them for each scenario; all sequences have the same length S. Plain numbers are factors for `bandwidth`,
    `latency` and the speeds, fractions for `load` and `overlap`, and SI values in `sets`.

    A value with unit stands for the factor that gives the machine's headline figure that value: for
    `bandwidth` that of the largest messages, for `latency` the start-up of the smallest, for
    `processor_speed` the clock.
    """

    load: WhatIf | None = None
    bandwidth: WhatIf | None = None
    latency: WhatIf | None = None
    processor_speed: WhatIf | None = None
    memory_speed: WhatIf | None = None
    overlap: WhatIf | None = None
    io: bool = True
    copies: bool | None = None
    """Whether contiguous sections are copied to a message buffer, too; None: as the compiler of the machine does."""
    sets: tuple[tuple[str, WhatIf], ...] = ()
    """Path and change of any parameter, as `sag.values` reads them."""

    @property
    def has_lists(self) -> bool:
        """Whether a what-if is a list of values, one for each scenario."""
        return any(isinstance(each, list | tuple | np.ndarray) for each in _changes(self))


def export(system: System, scenario: Scenario | None = None) -> Machine:
    """Flatten a machine under a scenario. One without sweeps that was asked for lately is the same object again.

    Settings of single parameters come first, then the scenario's factors: `bandwidth` divides the per-byte
    times of every message range, `latency` multiplies their start-up (call overhead included) and per-hop
    times, `load` divides per-byte times by 1 - l; none touches the host link, receive overheads or run-time
    software. `processor_speed` divides the times of P, `memory_speed` those of M.

    Raises:
        MachineError: a path that does not exist, a change that cannot be, or sequences of different lengths.
    """
    wanted = scenario or Scenario()
    plain = all(each is None or isinstance(each, str | float | int) for each in _changes(wanted))
    return _latest(_Asked(system, wanted)) if plain else _flattened(system, wanted)


class _Asked:
    """A question for a machine: that very description, and equal changes, which are plain."""

    def __init__(self, system: System, wanted: Scenario) -> None:
        self.system = system
        self.wanted = wanted
        self.changes = (*_changes(wanted), wanted.io, wanted.copies, *(path for path, _ in wanted.sets))

    def __eq__(self, other: object) -> bool:
        """Whether the answer is the same."""
        return isinstance(other, _Asked) and self.system is other.system and self.changes == other.changes

    def __hash__(self) -> int:
        """Of the changes."""
        return hash(self.changes)


@lru_cache(maxsize=8)
def _latest(asked: _Asked) -> Machine:
    return _flattened(asked.system, asked.wanted)


def _changes(wanted: Scenario) -> tuple[WhatIf | None, ...]:
    options = (wanted.load, wanted.bandwidth, wanted.latency, wanted.processor_speed, wanted.memory_speed)
    return (*options, wanted.overlap, *(change for _, change in wanted.sets))


def _flattened(system: System, wanted: Scenario) -> Machine:
    scenarios = _scenarios(wanted)
    values = MachineValues(system, wanted.sets)
    notes = [*system.notes, *values.notes()]
    if system.fit is not None:
        notes.append(f"{system.title}: runs differ from their fitted times by {100 * system.fit.error:.2g}%")
    memory = values.part("node", "memory")
    return Machine(
        name=system.name,
        scenarios=scenarios,
        default_processors=system.default_processors,
        largest_built=system.largest_built,
        processor=_processor(values.part("node", "processor"), wanted, notes),
        memory=_memory(memory, wanted, notes),
        network=_network(
            values.part("network", "network"),
            memory,
            wanted,
            notes,
            copies=_copies(system, wanted),
            library=_does(system, "library"),
        ),
        io=_io(values, wanted, notes),
        paths=_paths(values),
        notes=tuple(notes),  # last: what could not be charged has been noted by now
    )


def _scenarios(wanted: Scenario) -> int:
    """Length of the scenario axis: that of the sequences given, which must agree."""
    lengths = sorted({_length(each) for each in _changes(wanted)} - {1})
    if len(lengths) > 1:
        message = f"the what-ifs have {' and '.join(str(each) for each in lengths)} scenarios"
        raise what_if_error("M122", message, "give each the same number of values, or one")
    return lengths[0] if lengths else 1


def _length(given: WhatIf | None) -> int:
    if isinstance(given, Change):
        return given.scenarios
    if isinstance(given, (list, tuple)):
        return max(1, len(given))
    return max(1, given.size) if isinstance(given, np.ndarray) else 1


def _change(option: str, given: WhatIf | None, dimension: str) -> Change | None:
    if given is None:
        return None
    try:
        return make_change(given, dimension, plain_is_factor=dimension != "fraction")
    except QuantityError as error:
        # A plain number has nothing it could be the value of, so only factors change it.
        hint = "write for example x2 or 30%" if dimension == "number" else error.hint
        raise what_if_error("M121", f"‹{option}›: {error.message}", hint) from None


def _factor(option: str, given: WhatIf | None, dimension: str, headline: Array, *, may_be_zero: bool = False) -> Array:
    """The factor that a what-if stands for, given the figure that a value would replace."""
    change = _change(option, given, dimension)
    if change is None:
        return ONE
    factor = change.amount
    if not change.is_factor:
        possible = change.amount >= 0 if may_be_zero else change.amount > 0
        if dimension == "number" or not possible.all() or not (headline > 0).all():
            raise what_if_error("M121", f"‹{option}›: '{change.text}' is not possible", "write for example x2 or 30%")
        factor = change.amount / headline
    sound = (factor >= 1.0 / FURTHEST) & (factor <= FURTHEST)
    if not (sound | (factor == 0.0) if may_be_zero else sound).all():
        hint = f"a factor is at least {1.0 / FURTHEST:g} and at most {FURTHEST:g}"
        raise what_if_error("M121", f"‹{option}›: '{change.text}' is out of range", hint)
    return factor


def _fraction(option: str, given: WhatIf | None, nominal: Array, *, below_one: bool) -> Array:
    change = _change(option, given, "fraction")
    fraction = nominal if change is None else change.apply(nominal)
    if change is not None and change.is_factor and not nominal.any() and (change.amount != 1.0).any():
        told = f"‹{option}›: '{change.text}' changes nothing, because the machine has 0"
        raise what_if_error("M121", told, "write for example 30%")
    too_large = fraction >= 1.0 if below_one else fraction > 1.0
    if (fraction < 0).any() or too_large.any():
        bound = "below 100 %" if below_one else "at most 100 %"
        text = "" if change is None else f" '{change.text}'"
        hint = f"it is at least 0 and {bound}"
        if change is not None and not change.is_factor and (change.amount > 1).any() and change.text.isdecimal():
            hint += f"; did you mean {change.text}%?" if int(change.text) < 100 else ""
        raise what_if_error("M121", f"‹{option}›:{text} is out of range", hint)
    return fraction


def _processor(part: Part | None, wanted: Scenario, notes: list[str]) -> ProcessorCosts:
    if part is None:
        notes.append("The machine describes no processing: computation is not charged.")
        nothing = dict.fromkeys(OPERATIONS, NONE)
        return ProcessorCosts(time_s=nothing, estimated=dict.fromkeys(OPERATIONS, False))
    speed = _factor("processor_speed", wanted.processor_speed, "frequency", part.arrays["clock"])
    time_s = {name: part.arrays[name] / speed for name in OPERATIONS if name in part.arrays}
    estimated = {name: part.estimated(name) for name in time_s}
    return ProcessorCosts(time_s=MappingProxyType(time_s), estimated=MappingProxyType(estimated))


def _memory(part: Part | None, wanted: Scenario, notes: list[str]) -> MemoryCosts | None:
    if part is None:
        notes.append("The machine describes no memory: cache misses and packing are not charged.")
        return None
    speed = _memory_speed(wanted)
    caches = tuple(_cache(part, name, speed) for name in ("", *part.named))
    for nearer, further in pairwise(caches):
        if further.size_bytes <= nearer.size_bytes:
            message = f"the cache '{further.name}' is not larger than a nearer one"
            raise what_if_error("M121", message, f"{nearer.size_bytes:,} B are nearer to the processor")
    entries = int(part.number("tlb_entries")) if "tlb_miss" in part.arrays else 0
    return MemoryCosts(
        caches=caches,
        usable_bytes=part.number("usable"),
        page_bytes=int(part.number("page")),
        tlb_estimated=part.estimated("tlb_miss"),
        tlb_entries=entries,
        tlb_miss_s=part.arrays["tlb_miss"] / speed if entries else NONE,
    )


def _cache(part: Part, name: str, speed: Array) -> CacheCosts:
    """One cache; the name of the nearest is empty."""
    prefix = f"{name}." if name else ""
    size, line, ways = (int(part.number(prefix + key)) for key in ("cache_size", "line", "associativity"))
    if size % (line * ways):
        message = f"a cache of {size} B does not divide into sets of {ways} lines of {line} B"
        raise what_if_error("M121", message, "cache_size must be a multiple of line x associativity")
    return CacheCosts(
        name=name,
        size_bytes=size,
        line_bytes=line,
        associativity=ways,
        replacement=part.words[f"{prefix}replacement"],
        write_allocate=part.words[f"{prefix}write_allocate"] == "true",
        read_miss_s=part.arrays[f"{prefix}read_miss"] / speed,
        write_miss_s=part.arrays[f"{prefix}write_miss"] / speed,
        writeback_s=part.arrays[f"{prefix}writeback"] / speed,
        estimated=part.estimated(*(prefix + key for key in ("read_miss", "write_miss", "writeback"))),
    )


def _memory_speed(wanted: Scenario) -> Array:
    return _factor("memory_speed", wanted.memory_speed, "number", ONE)


def _network(
    part: Part | None, memory: Part | None, wanted: Scenario, notes: list[str], *, copies: bool, library: bool
) -> NetworkCosts | None:
    if part is None:
        notes.append("The machine describes no network: communication is not charged.")
        return None
    load = _fraction("load", wanted.load, part.arrays["load"], below_one=True)
    first = part.named[0]
    last = [name for name in part.named if _within(part, name) == _within(part, first)][-1]  # of the nearest
    per_byte = part.arrays[f"{last}.per_byte"]
    headline = 1.0 / np.where(per_byte > 0, per_byte, np.inf)
    bandwidth = _factor("bandwidth", wanted.bandwidth, "bandwidth", headline)
    latency = _factor("latency", wanted.latency, "time", part.arrays[f"{first}.startup"], may_be_zero=True)
    speed = _memory_speed(wanted)
    return NetworkCosts(
        ranges=tuple(_range(part, name, latency, 1.0 / (bandwidth * (1.0 - load))) for name in part.named),
        topology=build_topology(
            part.words["topology.kind"],
            dimensions=int(part.number("topology.dimensions", 2.0)),
            arity=int(part.number("topology.arity", 2.0)),
            taper=int(part.number("topology.taper", 1.0)),
            embedding=part.words.get("embedding", "gray"),
        ),
        send_model=part.words["send_model"],
        duplex=part.words["duplex"],
        switching=part.words["switching"],
        exchange=part.words["exchange"],
        exchange_factor=part.arrays["exchange_factor"],
        load=load,
        overlap=_fraction("overlap", wanted.overlap, part.arrays["overlap"], below_one=False),
        pack_per_byte_s=memory.arrays["pack"] / speed if memory else NONE,
        copy_per_byte_s=memory.arrays["copy"] / speed if memory else NONE,
        pack_estimated=memory.estimated("pack", "copy") if memory else False,
        copies=copies,
        library=library,
        collectives=MappingProxyType({name: _collective(part, name) for name in COLLECTIVES}),
    )


def _paths(values: MachineValues) -> Mapping[str, str]:
    places = {
        "processor": ("node", "processor"),
        "memory": ("node", "memory"),
        "network": ("network", "network"),
        "io": ("node", "io"),
        "link": ("link", "network"),
    }
    parts = {name: values.part(*place) for name, place in places.items()}
    return {name: part.prefix for name, part in parts.items() if part is not None}


def _copies(system: System, wanted: Scenario) -> bool:
    if wanted.copies is not None:
        return wanted.copies
    return _does(system, "pack")


def _does(system: System, transformation: str) -> bool:
    """Whether the compiler of a machine certainly does this to a program."""
    said = system.compiler.get(transformation)
    return said is not None and said.value == "yes"


def _range(part: Part, name: str, latency: Array, stretch: Array) -> MessageRange:
    """One range of the law; `call_overhead` is a part of the start-up, all of it where it is not given."""
    whole = part.arrays[f"{name}.startup"]
    call = np.minimum(part.arrays.get(f"{name}.call_overhead", whole), whole)
    keys = ("startup", "call_overhead", "per_byte", "per_hop", "receive_overhead")
    return MessageRange(
        upto_bytes=part.number(f"{name}.upto", float("inf")),
        upto_hops=_within(part, name),
        call_overhead_s=call * latency,
        startup_s=(whole - call) * latency,
        per_byte_s=part.arrays[f"{name}.per_byte"] * stretch,
        per_hop_s=part.arrays[f"{name}.per_hop"] * latency,
        receive_overhead_s=part.arrays[f"{name}.receive_overhead"],
        estimated=frozenset(key for key in keys if part.estimated(f"{name}.{key}")),
        name=name,
        call_apart=f"{name}.call_overhead" in part.arrays,
    )


def _within(part: Part, name: str) -> float:
    return part.number(f"{name}.within", float("inf"))


def _collective(part: Part, name: str) -> Collective:
    keys = (f"collectives.{name}.algorithm", f"collectives.{name}.stage_software")
    return Collective(
        algorithm=part.words[keys[0]], stage_software_s=part.arrays[keys[1]], estimated=part.estimated(*keys)
    )


def _io(values: MachineValues, wanted: Scenario, notes: list[str]) -> IoCosts | None:
    node, link, host = values.part("node", "io"), values.part("link", "network"), values.part("host", "io")
    if node is None and link is None and host is None:
        notes.append("The machine describes no input and output: they are not charged.")
        return None
    for part, what in ((node, "formatting"), (link, "the link to the host"), (host, "loading")):
        if part is None:
            notes.append(f"The machine does not describe {what}: it is not charged.")
    if not wanted.io:
        notes.append("Input and output are left out.")
    charged = 1.0 if wanted.io else 0.0
    return IoCosts(
        host_latency_s=link.arrays["startup"] * charged if link else NONE,
        host_per_byte_s=link.arrays["per_byte"] * charged if link else NONE,
        format_item_s=node.arrays["format_item"] * charged if node else NONE,
        load_s=host.arrays["load"] if host else NONE,
        estimated=any(
            part.estimated(*keys) for part, keys in ((node, ("format_item",)), (link, ("startup", "per_byte"))) if part
        ),
    )
