"""A machine's interconnect as SimGrid takes it: a platform file, and the options of SMPI that make its messages obey
the point-to-point law of a machine description.

    t(m, h) = entry + latency + hop * h + byte * m          by range of size

`entry` occupies the sender and stands in ``smpi/os``; latencies stand on links and are scaled by ``smpi/lat-factor``,
the byte time by ``smpi/bw-factor``. SMPI adds 16 bytes to every message on the wire. Where the sizes of all messages
are known beforehand, ``smpi/bw-factor`` has a section for each of them that takes this back, to the last digit. All
limits mean "larger than".

Where far messages have a law of their own, factors and ``smpi/os`` are those of the nearest, and each route begins with
a port that has the latency and the rate of its distance: exact where bytes take the same multiple at all sizes.

Circuit switching is ``maxmin/concurrency-limit:1``: a message takes all links of its route at once, as soon as they are
free, and holds them for its byte time; without contention links are "fat pipes".
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from sag.topology import Topology

Ints = NDArray[np.int64]

ENVELOPE_BYTES = 16
"""What SMPI adds to every message on the wire."""

_FOREVER_BYTES = 2_000_000_000
_NO_TIME = 1e-15
"""Seconds that a byte takes where it takes none."""


class PlatformRange(Struct, frozen=True, kw_only=True):
    """The law, in seconds, of messages of at most `upto_bytes` over at most `upto_hops` links. `latency_s` is what a
    message needs besides hops and bytes while its sender is free."""

    upto_bytes: float
    entry_s: float
    byte_s: float
    hop_s: float
    latency_s: float = 0.0
    upto_hops: float = np.inf

    def time_s(self, size_bytes: float, hops: float) -> float:
        """Time of one message that meets no other."""
        return self.entry_s + self.latency_s + self.byte_s * size_bytes + self.hop_s * hops


class Wires(Struct, frozen=True, kw_only=True):
    """What all links have in common: rate, latency of a link, and latency of the port of a node (0: it has none)."""

    byte_s: float
    link_s: float
    port_s: float = 0.0


class Ports(Struct, frozen=True, kw_only=True, eq=False):
    """What the first link of each route adds to the wires, where near and far messages have laws of their own: (R,)."""

    latency_s: NDArray[np.float64]
    byte_s: NDArray[np.float64]


def wires_of(law: Sequence[PlatformRange], main: PlatformRange | None = None) -> Wires:
    """Links in the figures of one range, the first if none is named; factors give those of the others."""
    near = nearest(law)
    main = main or near[0]
    hop_s = max(each.hop_s for each in near)
    if len(near) < len(law):  # the ports of routes have all latencies
        return Wires(byte_s=near[0].byte_s or _NO_TIME, link_s=0.0)
    return Wires(byte_s=law[0].byte_s or _NO_TIME, link_s=main.hop_s or hop_s, port_s=main.latency_s)


def nearest(law: Sequence[PlatformRange]) -> Sequence[PlatformRange]:
    """The ranges of the nearest messages, by size."""
    return [each for each in law if each.upto_hops == law[0].upto_hops]


def ports_of(law: Sequence[PlatformRange], hops: Ints) -> Ports | None:
    """The ports of routes over so many links (R,); None where distance does not decide the law."""
    near = nearest(law)
    if len(near) == len(law):
        return None
    first = [next(each for each in law if far <= each.upto_hops) for far in hops.tolist()]
    entries = [each.entry_s - near[0].entry_s + each.latency_s for each in first]
    return Ports(
        latency_s=np.maximum(entries + np.array([each.hop_s for each in first]) * hops, 0.0),
        byte_s=np.maximum([each.byte_s for each in first], _NO_TIME),
    )


# --- the platform file ------------------------------------------------------------------------------------------


def hypercube_xml(dimension: int, wires: Wires, sharing: str) -> str:
    """A hypercube of 2**dimension nodes n0, n1, ...: a torus of extent 2 in each direction, which SimGrid routes along
    the lowest differing bit first. `sharing`: ``SPLITDUPLEX`` (a link for each direction) or ``SHARED``.
    """
    if dimension == 0:
        return document(['<zone id="cube" routing="Full"><host id="n0" speed="1Gf"/></zone>'])
    cluster = (
        f'<cluster id="cube" prefix="n" suffix="" radical="0-{2**dimension - 1}" speed="1Gf" '
        f'bw="{1 / wires.byte_s!r}Bps" lat="{wires.link_s!r}s" sharing_policy="{sharing}" '
        f'topology="TORUS" topo_parameters="{",".join(["2"] * dimension)}" '
        f'loopback_bw="{1 / wires.byte_s!r}Bps" loopback_lat="0s"/>'
    )
    return document([cluster])


def routed_xml(
    topology: Topology,
    size: int,
    source: Ints,
    target: Ints,
    wires: Wires,
    *,
    half: bool,
    sharing: str,
    ports: Ports | None = None,
) -> str:
    """Any topology: the nodes n0, n1, ..., and the route of each pair source[i] -> target[i] link by link."""
    links = topology.routes(source, target, size)
    if half:
        links = topology.undirected(links, size)
    used = sorted(set(links[links >= 0].tolist()))
    lines = ['<zone id="net" routing="Full">']
    lines += [f'  <host id="n{node}" speed="1Gf"/>' for node in range(size)]
    rate = f'bandwidth="{1 / wires.byte_s!r}Bps"'
    lines += [f'  <link id="l{link}" {rate} latency="{wires.link_s!r}s" sharing_policy="{sharing}"/>' for link in used]
    routes = []
    if ports is None:
        ports = Ports(latency_s=np.full(source.size, wires.port_s), byte_s=np.full(source.size, wires.byte_s))
    for row, start, end, latency, byte in zip(
        *(each.tolist() for each in (links, source, target, ports.latency_s, ports.byte_s)), strict=True
    ):
        way = [f"l{link}" for link in row if link >= 0]
        # One for each pair: also a fat pipe takes one message at a time where circuits are switched.
        if latency or byte != wires.byte_s:
            way = [port := f"p{start}-{end}", *way]
            own = f'bandwidth="{1 / byte!r}Bps" latency="{latency!r}s"'
            lines.append(f'  <link id="{port}" {own} sharing_policy="FATPIPE"/>')
        told = "".join(f'<link_ctn id="{link}"/>' for link in way)
        routes.append(f'  <route src="n{start}" dst="n{end}" symmetrical="NO">{told}</route>')
    return document([*lines, *routes, "</zone>"])


def document(lines: Sequence[str]) -> str:
    """The file around a zone."""
    body = "".join(f"  {line}\n" for line in lines)
    return (
        '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
        f'<platform version="4.1">\n{body}</platform>\n'
    )


# --- options ----------------------------------------------------------------------------------------------------


def options(
    law: Sequence[PlatformRange],
    *,
    sizes: Iterable[int] | None = None,
    hops: float = 1.0,
    circuit: bool = True,
    wires: Wires | None = None,
) -> tuple[str, ...]:
    """Options of smpirun that make messages obey a law.

    Args:
        law: ascending by size, the last for all that are larger.
        sizes: of all messages, in bytes. None: they are not known, and programs hand SMPI `ENVELOPE_BYTES` less than a
            message has (nothing where it has fewer), so that it has its own size on the wire.
        hops: of most messages; where a port and links both have latency, the law is exact for these.
        circuit: messages hold their routes.
        wires: as in the platform file; by default `wires_of` the law.
    """
    wires, law = wires or wires_of(law), nearest(law)
    settings = {
        "network/model": "SMPI",
        "network/crosstraffic": "no",
        "network/TCP-gamma": "0",
        "network/weight-S": "0",
        **(_shortened(law, hops, wires) if sizes is None else _known(law, sizes, hops, wires)),
        "smpi/async-small-thresh": str(_FOREVER_BYTES),
        "smpi/send-is-detached-thresh": str(_FOREVER_BYTES),
        "smpi/simulate-computation": "no",
        "smpi/cpu-threshold": "0",
        "smpi/host-speed": "1Gf",
        "smpi/wtime": "0",
        "smpi/init": "0",
        "smpi/iprobe": "0",
        "smpi/test": "0",
        "surf/precision": "1e-12",
    }
    if circuit:
        settings["maxmin/concurrency-limit"] = "1"
    return tuple(f"--cfg={name}:{value}" for name, value in settings.items())


def law_error(
    law: Sequence[PlatformRange], sizes: Iterable[int], distances: Iterable[int], hops: float, wires: Wires
) -> float:
    """Largest relative difference between the law and what `options` make of it, over sizes and distances."""
    worst = 0.0
    near, lengths = nearest(law), list(sizes)
    for far in distances:
        ports = ports_of(law, np.array([far]))
        for size in lengths:
            each, here = range_of(law, size, far), range_of(near, size)
            if ports is None:
                got = each.entry_s + _latency(each, hops, wires) * (wires.port_s + wires.link_s * far)
                got += each.byte_s * size
            else:
                byte = max(float(ports.byte_s[0]), wires.byte_s) * max(here.byte_s, _NO_TIME) / wires.byte_s
                got = here.entry_s + float(ports.latency_s[0]) + byte * size
            apart, whole = abs(got - each.time_s(size, far)), each.time_s(size, far)
            worst = max(worst, apart / whole if whole else float(apart > 0))
    return worst


def range_of(law: Sequence[PlatformRange], size_bytes: float, hops: float = 0.0) -> PlatformRange:
    """The range that a size and a distance belong to."""
    return next(each for each in law if size_bytes <= each.upto_bytes and hops <= each.upto_hops)


def _known(law: Sequence[PlatformRange], sizes: Iterable[int], hops: float, wires: Wires) -> Mapping[str, str]:
    ordered = sorted(set(sizes)) or [0]
    limits = [0, *(int(each.upto_bytes) for each in law[:-1])]
    bandwidth = []
    for size in ordered:
        byte_s = range_of(law, size).byte_s or _NO_TIME
        took = (size + ENVELOPE_BYTES) * wires.byte_s
        bandwidth.append((size + ENVELOPE_BYTES - 1, took / max(size * byte_s, _NO_TIME)))
    bandwidth[0] = (0, bandwidth[0][1])
    overhead = _overhead(limits, [each.entry_s for each in law])
    return {
        "smpi/lat-factor": _steps(
            [limit + ENVELOPE_BYTES * (limit > 0) for limit in limits], [_latency(each, hops, wires) for each in law]
        ),
        "smpi/bw-factor": _steps(*zip(*bandwidth, strict=True)),
        "smpi/os": overhead,
        "smpi/ois": overhead,
        "smpi/or": "0:0:0",
    }


def _shortened(law: Sequence[PlatformRange], hops: float, wires: Wires) -> Mapping[str, str]:
    limits = [0, *(int(each.upto_bytes) for each in law[:-1])]
    given = [max(0, limit - ENVELOPE_BYTES) for limit in limits]
    overhead = _overhead(given, [each.entry_s - ENVELOPE_BYTES * each.byte_s for each in law])
    return {
        "smpi/lat-factor": _steps(limits, [_latency(each, hops, wires) for each in law]),
        "smpi/bw-factor": _steps(limits, [wires.byte_s / (each.byte_s or _NO_TIME) for each in law]),
        "smpi/os": overhead,
        "smpi/ois": overhead,
        "smpi/or": "0:0:0",
    }


def _latency(each: PlatformRange, hops: float, wires: Wires) -> float:
    """The factor of latencies."""
    if each.upto_hops < np.inf:  # all of it is in the ports
        return 1.0
    base = wires.port_s + wires.link_s * hops
    return (each.latency_s + each.hop_s * hops) / base if base else 1.0


def _steps(limits: Sequence[float], values: Sequence[float]) -> str:
    return ";".join(f"{limit}:{value!r}" for limit, value in zip(limits, values, strict=True))


def _overhead(limits: Sequence[float], seconds: Sequence[float]) -> str:
    return ";".join(f"{limit}:{value!r}:0" for limit, value in zip(limits, seconds, strict=True))
