"""What a machine exports to the interpretation engine: plain SI numbers, nothing else.

`sag.scenario.export` flattens a System Abstraction Graph (SAG) into a `Machine` after the user's what-if
changes have been applied. Every figure is a float64 array with a leading *scenario* axis of length S (or
length 1 where no scenario touches it), so one walk of the engine serves a whole sweep. Beside each figure
stands whether it is only estimated, so that a prediction can say how much of its time rests on guesses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike, NDArray

from sag.topology import Topology

Array = NDArray[np.float64]
"""Shape (S,) or (1,): one value for each scenario."""


NONE: Array = np.zeros(1)


class ProcessorCosts(Struct, frozen=True, kw_only=True):
    """The P component: seconds for one operation of each class.

    Operation classes are strings such as ``"r8.add"``, ``"int.mul"``, ``"load"``, ``"index.2d"``,
    ``"loop.setup"``, ``"loop.iteration"``, ``"call"``; `sag.schema.OPERATIONS` lists them all.
    """

    time_s: Mapping[str, Array]
    estimated: Mapping[str, bool]

    def of(self, operation: str) -> Array:
        """Seconds of one operation, shape (S,) or (1,).

        Raises:
            KeyError: the machine does not price this class.
        """
        return self.time_s[operation]


class CacheCosts(Struct, frozen=True, kw_only=True):
    """One data cache, in front of the next or of main memory.

    `read_miss_s` is the time to fill a line from there, `write_miss_s` what a store that misses costs (per store where
    the cache does not allocate on writes, per line where it does), `writeback_s` the eviction of a dirty
    line, on top of the fill that evicts it. All come on top of what nearer caches miss.
    """

    name: str = ""
    """Its key in the description; empty for the nearest cache."""
    size_bytes: int
    line_bytes: int
    associativity: int
    replacement: str
    write_allocate: bool
    read_miss_s: Array
    write_miss_s: Array
    writeback_s: Array
    estimated: bool

    def figure(self, key: str) -> str:
        """What one of its figures is called."""
        return f"memory.{self.name}.{key}" if self.name else f"memory.{key}"


class MemoryCosts(Struct, frozen=True, kw_only=True):
    """The M component: data caches in front of main memory, the nearest to the processor first."""

    caches: tuple[CacheCosts, ...]
    usable_bytes: float
    page_bytes: int
    tlb_entries: int = 0
    """Pages whose translation is kept; 0: looking them up is not charged."""
    tlb_miss_s: Array = NONE
    tlb_estimated: bool = False

    @property
    def nearest(self) -> CacheCosts:
        """The cache that each reference asks first."""
        return self.caches[0]

    @property
    def last(self) -> CacheCosts:
        """The cache whose misses go to main memory."""
        return self.caches[-1]


class MessageRange(Struct, frozen=True, kw_only=True):
    """The point-to-point law for messages of at most `upto_bytes` bytes over at most `upto_hops` links (inf in the last
    ranges).

    A message of m bytes over h hops takes ``call_overhead + startup + per_byte * m + per_hop * h`` when
    nothing is in its way, and `receive_overhead` more on the processor that receives it. `call_overhead_s` is
    what the sending processor is busy with in every send model.
    """

    upto_bytes: float
    call_overhead_s: Array
    startup_s: Array
    per_byte_s: Array
    per_hop_s: Array
    receive_overhead_s: Array
    estimated: frozenset[str]
    """The figures, by their keys, that are only estimated."""
    upto_hops: float = np.inf
    name: str = ""
    """Its key in the description."""
    call_apart: bool = True
    """Whether the call overhead is a figure of its own; else all of the start-up is."""


class Collective(Struct, frozen=True, kw_only=True):
    """How one collective is built from point-to-point messages.

    `algorithm` is one of ``auto``, ``binomial``, ``recursive_doubling``, ``ring``, ``pairwise``, ``linear``;
    `stage_software_s` is run-time software charged to each participant in each stage.
    """

    algorithm: str
    stage_software_s: Array
    estimated: bool


class NetworkCosts(Struct, frozen=True, kw_only=True):
    """The C/S component: message law, link behaviour and collectives (Def 6, 7, 8, 11)."""

    ranges: tuple[MessageRange, ...]
    """The nearest first, and of these the smallest messages first: a message belongs to the first that takes it."""
    topology: Topology
    send_model: str
    """``blocking``: the sender is busy until its bytes have left; ``startup``: call overhead only."""
    duplex: str
    """``full``: one message per link and direction; ``half``: one per link."""
    switching: str
    """``circuit``: a route is held for the byte time once all its links are free; ``none``: no contention."""
    exchange: str
    """``sequential``: one direction after the other; ``concurrent``: all directions in flight."""
    exchange_factor: Array
    """Time of a two-way exchange in units of a one-way message (1 where links are full duplex)."""
    load: Array
    """Network load l of Def 11, 0 <= l < 1; already applied to `per_byte_s`, kept for the link waiting."""
    overlap: Array
    """The overlap factor f: transmission is multiplied by 1 - f."""
    pack_per_byte_s: Array
    """Gathering a strided section into a message buffer, or scattering it: a figure of M, so `memory_speed` of a
    scenario scales it and `bandwidth` does not."""
    copy_per_byte_s: Array
    """The same for a contiguous section, where a run time copies it at all."""
    pack_estimated: bool
    copies: bool = False
    """Whether contiguous sections are copied to a message buffer, too."""
    library: bool = False
    """Whether a run-time library transposes, which is called with descriptors: it takes elements one by one at both
    ends (times published for TRANSPOSE of Fortran 90D)."""
    collectives: Mapping[str, Collective]
    """Keys: broadcast, reduction, concatenation, transpose, gather, scatter, barrier."""

    @property
    def by_distance(self) -> bool:
        """Whether near and far messages have laws of their own, as in a machine of several levels."""
        return any(each.upto_hops < np.inf for each in self.ranges)

    def range_of(self, sizes: ArrayLike, hops: ArrayLike) -> NDArray[np.int64]:
        """The number of the range of each message, broadcast over bytes and links."""
        long, far = np.broadcast_arrays(np.asarray(sizes), np.asarray(hops))
        found = np.full(long.shape, len(self.ranges) - 1, np.int64)
        for number in range(len(self.ranges) - 2, -1, -1):
            each = self.ranges[number]
            found[(long <= each.upto_bytes) & (far <= each.upto_hops)] = number
        return found


class IoCosts(Struct, frozen=True, kw_only=True):
    """The I/O components: the link to the host and formatting (Def 2)."""

    host_latency_s: Array
    host_per_byte_s: Array
    format_item_s: Array
    """Formatting one item of a PRINT or READ list, on the node that does it."""
    load_s: Array
    """Allocating the machine and loading the node program; reported as load_s, never in time_s (Def 1)."""
    estimated: bool


class Machine(Struct, frozen=True, kw_only=True):
    """All that a machine exports, for `scenarios` what-if scenarios at once.

    A component that the description does not have is None: the engine then says what it could not charge.
    """

    name: str
    scenarios: int
    default_processors: int
    largest_built: int
    processor: ProcessorCosts
    memory: MemoryCosts | None
    network: NetworkCosts | None
    io: IoCosts | None
    notes: tuple[str, ...]
    """What the description or a what-if wants said with every prediction, such as a missing component."""
    paths: Mapping[str, str] = {}
    """Component (processor, memory, network, io, link) -> what stands before its keys in the path of a parameter."""

    def arrays(self) -> tuple[Array, ...]:
        """Every figure that may vary between scenarios, always in the same order: P, M, C/S, I/O."""
        return tuple(_arrays_in((self.processor, self.memory, self.network, self.io)))


def _arrays_in(value: object) -> Iterator[Array]:
    """The arrays of a record, and of records in it, in the order of its fields."""
    match value:
        case np.ndarray():
            yield value
        case Struct():
            yield from _arrays_in(tuple(getattr(value, name) for name in value.__struct_fields__))
        case Mapping():
            yield from _arrays_in(tuple(value.values()))
        case tuple():
            for each in value:
                yield from _arrays_in(each)
