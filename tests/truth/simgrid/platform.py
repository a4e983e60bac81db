"""The simulated machine: a hypercube whose messages obey a given point-to-point law.

The law is ``t(m, h) = startup + byte * m + hop * h`` for m bytes over h hops, with one set of figures up to
a threshold and another above it. SimGrid SMPI is made to obey it exactly by its options (`esp.validate.platform`, which
also serves `esp validate --against simgrid`); README.md beside this file explains why each option is needed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import inf
from typing import Literal

from esp.validate import platform

Link = Literal["circuit", "fluid"]
Duplex = Literal["full", "half"]

ENVELOPE_BYTES = 16
"""What SMPI adds to every message on the wire. The programs give it as much less, so that a message of at least 16
bytes has its own size there, with which the thresholds of links are compared; a smaller one has 16."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """Seconds of start-up, for each byte and for each hop (the first hop included)."""

    startup_s: float
    byte_s: float
    hop_s: float

    def time_s(self, size_bytes: float, hops: int) -> float:
        """Time of one message that meets no other."""
        return self.startup_s + self.byte_s * size_bytes + self.hop_s * hops


@dataclass(frozen=True, slots=True, kw_only=True)
class Law:
    """Point-to-point law: `short` up to and including `threshold_bytes`, `long` above."""

    short: Protocol
    long: Protocol
    threshold_bytes: int

    def __post_init__(self) -> None:
        for protocol in (self.short, self.long):
            if protocol.byte_s <= 0 or protocol.hop_s < 0:
                raise ValueError("a byte must cost more than nothing and a hop must not cost less")
            if protocol.startup_s < ENVELOPE_BYTES * protocol.byte_s:
                raise ValueError(f"the start-up must cover the {ENVELOPE_BYTES} bytes SMPI adds to a message")
        if self.threshold_bytes < ENVELOPE_BYTES:
            raise ValueError(f"the threshold must be at least {ENVELOPE_BYTES} bytes, the smallest size on the wire")

    def protocol(self, size_bytes: float) -> Protocol:
        return self.long if size_bytes > self.threshold_bytes else self.short

    def time_s(self, size_bytes: float, hops: int) -> float:
        """Time of one message of `size_bytes` over `hops` links that meets no other."""
        return self.protocol(size_bytes).time_s(size_bytes, hops)


IPSC860 = Law(
    short=Protocol(startup_s=65e-6, byte_s=0.425e-6, hop_s=10e-6),
    long=Protocol(startup_s=147e-6, byte_s=0.390e-6, hop_s=30.5e-6),
    threshold_bytes=100,
)
"""The iPSC/860 as Bokhari gives it (75 us for an empty message to a neighbour, 0.425 us a byte, 10 us a
further hop; above 100 bytes 177.5 us, 0.39 us, 30.5 us)."""


def gray(number: int) -> int:
    """Reflected Gray code of `number`."""
    return number ^ (number >> 1)


def bits(extent: int) -> int:
    """Hypercube dimensions that `extent` coordinates take (Def 14): the ceiling of log2."""
    return (extent - 1).bit_length()


def gray_nodes(grid: Sequence[int]) -> tuple[int, ...]:
    """Node of each rank of a processor grid (Def 14).

    Each coordinate is Gray coded; the first dimension of the grid takes the lowest bits, the next one the
    bits above, and so on. Ranks are column-major: the first coordinate runs fastest.
    """
    if not grid or min(grid) < 1:
        raise ValueError(f"{tuple(grid)} is not a processor grid")
    shifts = (0, *accumulate(bits(extent) for extent in grid))
    nodes = [0]
    for extent, shift in zip(grid, shifts, strict=False):
        nodes = [node | gray(i) << shift for i in range(extent) for node in nodes]
    return tuple(nodes)


def hops(node: int, other: int) -> int:
    """Links between two nodes of a hypercube."""
    return (node ^ other).bit_count()


def ranges_of(law: Law) -> tuple[platform.PlatformRange, ...]:
    """The law as the platform of esp takes it. All of the start-up is charged to the sender."""
    return tuple(
        platform.PlatformRange(upto_bytes=upto, entry_s=p.startup_s, byte_s=p.byte_s, hop_s=p.hop_s)
        for upto, p in ((law.threshold_bytes, law.short), (inf, law.long))
    )


def platform_xml(law: Law, dimension: int, *, duplex: Duplex = "full") -> str:
    """SimGrid platform file of a hypercube of 2**dimension nodes named n0, n1, ...

    A full duplex link is two links, one for each direction; a half duplex link is one.
    """
    sharing = {"full": "SPLITDUPLEX", "half": "SHARED"}[duplex]
    return platform.hypercube_xml(dimension, platform.wires_of(ranges_of(law)), sharing)


def options(law: Law, *, link: Link = "circuit") -> tuple[str, ...]:
    """Options of smpirun that make its messages obey `law`; the programs give it 16 bytes less."""
    if link not in ("circuit", "fluid"):
        raise ValueError(f"a link is 'circuit' or 'fluid', not {link!r}")
    return platform.options(ranges_of(law), circuit=link == "circuit")
