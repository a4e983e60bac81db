"""Builds the node programs and simulates them: `simulate(program, procs, ...) -> Result`.

The result is exact and repeatable: simulated clocks know nothing of the host. Several processes may
simulate at the same time; the executable is built once for each state of its sources and put in place in
one step.
"""

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .platform import IPSC860, Duplex, Law, Link, gray_nodes, options, platform_xml
from .programs import Distribution, Value, words

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Send = Literal["blocking", "startup"]
Mapped = Literal["gray", "natural"]
Library = Literal["rank", "node"]
Ties = Literal["rank", "simulator"] | int
Step = tuple[int, str, int, float]

_HERE = Path(__file__).parent
_SOURCES = _HERE / "node"
_FLAGS = ("-O2", "-std=gnu11", "-Wall", "-Wextra")
_LIMIT_S = 300

STAGGER_S = 1e-11
"""By how much sends are made late to break ties (times the rank): more than the simulator's resolution."""


class SimulatorError(RuntimeError):
    """SimGrid is missing, cannot compile a node program, or ends one with an error such as a deadlock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message: ranks, payload, times at which send and receive were called and receive returned."""

    source: int
    target: int
    size_bytes: int
    sent_s: float
    called_s: float
    returned_s: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Result:
    """What the simulated ranks noted. Arrays have one entry for each rank; seconds, all clocks start at 0.

    A receive called at r returns at max(r, a), a being the arrival of a message whose send was called at s
    and which alone in the network would arrive at s + t (t: the law). The time it blocks, `blocked_s`, has
    three parts (Def 6): `partner_s`, waiting for the send to be called, max(0, s - r); `link_s`, waiting
    for links, by which the receive returns later than it would with free links, max(0, a - max(r, s + t));
    `transmission_s`, the rest. `waiting_s` is the sum of the first two. Waiting for the last rank after the
    own end is not in it; that is `idle_s`. So end = compute + send + blocked, and end + idle = `time_s` for
    every rank.
    """

    end_s: Floats
    """When the rank ended its program."""
    compute_s: Floats
    """Time charged as computation."""
    send_s: Floats
    """Time inside csend and isend."""
    partner_s: Floats
    link_s: Floats
    transmission_s: Floats
    sent: Integers
    """Messages each rank sent."""
    sent_bytes: Integers
    """Payload each rank sent."""
    trace: tuple[Message, ...]
    """With ``trace=True`` every message, in the order of their reception."""

    @property
    def time_s(self) -> float:
        """When the last rank ended (Def 1)."""
        return float(self.end_s.max())

    @property
    def waiting_s(self) -> Floats:
        return self.partner_s + self.link_s

    @property
    def blocked_s(self) -> Floats:
        """Time inside crecv."""
        return self.partner_s + self.link_s + self.transmission_s

    @property
    def idle_s(self) -> Floats:
        """From the end of the rank to the end of the last."""
        return self.time_s - self.end_s

    @property
    def messages(self) -> int:
        return int(self.sent.sum())

    @property
    def bytes(self) -> int:
        return int(self.sent_bytes.sum())


def simulate(
    program: str,
    procs: int,
    *,
    law: Law = IPSC860,
    link: Link = "circuit",
    duplex: Duplex = "full",
    send: Send = "blocking",
    grid: Sequence[int] | None = None,
    mapping: Mapped | Sequence[int] = "gray",
    distribution: Distribution | None = None,
    ties: Ties = "rank",
    trace: bool = False,
    library: Library = "rank",
    **parameters: Value,
) -> Result:
    """Simulate a node program on `procs` ranks of a hypercube just large enough.

    program, parameters: a name and the parameters of `programs.PROGRAMS`; ValueError if they do not fit.
    law, link, duplex: the machine; circuit: a message holds all its links for the time of its bytes, first
        come, first served; fluid: messages share links (not equally). Both directions of a full duplex link
        are independent.
    send: how long csend occupies its caller (Def 6): blocking = start-up and uncontended transfer,
        startup = start-up only.
    grid: extents whose Gray codes place the ranks (Def 14, column-major, first dimension lowest bits);
        default (procs,), for laplace as Def 13 and `distribution` (bb, bx, xb) have it.
    mapping: natural places rank i on node i instead; a sequence names the node of each rank.
    ties: who enters first when messages enter the network at the same instant: "rank", the lower rank (each
        send of rank r is late by r * STAGGER_S); a seed, by lot (each send is late by chance, up to procs *
        STAGGER_S); "simulator", whoever SimGrid takes, with no delay at all. It matters where many messages
        want the same links at once, see README.md.
    trace: keep every message in `Result.trace`.
    library: collectives work in the order of ranks, or, as a hypercube's own library (`node/cube.c`), on nodes that
        differ in one bit; complete exchanges then go in the order of nodes.

    Raises SimulatorError if SimGrid is missing or ends with an error.
    """
    if program == "laplace":
        grid = _laplace_grid(procs, grid, distribution)
        parameters = {**parameters, "p1": grid[0], "p2": grid[1]}
    elif distribution is not None:
        raise ValueError(f"{program} has no distribution to choose")
    shape = tuple(grid) if grid is not None else (procs,)
    if procs < 1 or int(np.prod(shape)) != procs:
        raise ValueError(f"{shape} is no grid of {procs} processors")
    if isinstance(ties, int) and ties < 0:
        raise ValueError("a seed is not negative")
    nodes = _nodes(shape, mapping)
    arguments = {
        "program": program,
        "nodes": ",".join(map(str, nodes)),
        "send": send,
        "library": library,
        "stagger_s": 0.0 if ties == "simulator" else STAGGER_S,
        "seed": ties if isinstance(ties, int) else -1,
        "trace": "yes" if trace else "no",
        **_law_words(law),
        **words(program, parameters),
    }
    return _result(_run(nodes, law, link, duplex, arguments))


def simulate_script(procs: int, steps: Iterable[Step], **settings: Any) -> Result:
    """Simulate a program written as steps (rank, operation, partner, amount); rank -1 is every rank.

    Operations: ``(rank, "charge", 0, seconds)``, ``(rank, "send", to, bytes)``, ``"isend"``, ``(rank,
    "recv", from, bytes)``, ``(-1, "bcast", root, bytes)``, ``(-1, "allreduce", 0, bytes)``. Each rank takes
    its steps in the order given. `settings` are those of `simulate`.
    """
    with tempfile.TemporaryDirectory(prefix="smpi-script-") as folder:
        path = Path(folder, "steps")
        path.write_text("".join(f"{rank} {what} {who} {amount!r}\n" for rank, what, who, amount in steps))
        return simulate("script", procs, steps=str(path), **settings)


def available() -> bool:
    """Is SimGrid with SMPI installed?"""
    return shutil.which("smpicc") is not None and shutil.which("smpirun") is not None


def near_square(procs: int) -> tuple[int, int]:
    """Two extents as equal as possible, the larger first (Def 13)."""
    low = max(p for p in range(1, int(procs**0.5) + 1) if procs % p == 0)
    return procs // low, low


@cache
def build() -> Path:
    """The executable of the node programs, compiled if there is none for these sources yet.

    It is kept in ``build/`` beside this file, or in the folder named by the variable ESP_TRUTH_BUILD.

    """
    compiler = shutil.which("smpicc")
    if compiler is None or not available():
        raise SimulatorError("no smpicc and smpirun: install SimGrid with SMPI (Debian: libsimgrid-dev)")
    sources = sorted(_SOURCES.glob("*.[ch]"))
    digest = hashlib.sha256(" ".join((compiler, _version(compiler), *_FLAGS)).encode())
    for source in sources:
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    folder = Path(os.environ.get("ESP_TRUTH_BUILD", _HERE / "build"))
    target = folder / f"node-{digest.hexdigest()[:16]}"
    if target.exists():
        return target
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        fresh = Path(scratch, "node")
        command = [compiler, *_FLAGS, "-o", str(fresh), *(str(s) for s in sources if s.suffix == ".c")]
        _checked(command, "smpicc did not compile the node programs")
        fresh.replace(target)
    return target


def _nodes(shape: tuple[int, ...], mapping: Mapped | Sequence[int]) -> tuple[int, ...]:
    procs = int(np.prod(shape))
    if mapping == "gray":
        return gray_nodes(shape)
    if mapping == "natural":
        return tuple(range(procs))
    nodes = tuple(int(node) for node in mapping)
    if len(nodes) != procs or len(set(nodes)) != procs or min(nodes) < 0:
        raise ValueError(f"{procs} ranks need as many different nodes, not {nodes}")
    return nodes


def _laplace_grid(procs: int, grid: Sequence[int] | None, distribution: Distribution | None) -> tuple[int, int]:
    chosen = {"bx": (procs, 1), "xb": (1, procs)}.get(distribution or "bb")
    if grid is None:
        return chosen or near_square(procs)
    if len(grid) != 2 or (chosen is not None and tuple(grid) != chosen):
        raise ValueError(f"{tuple(grid)} does not suit {procs} processors and distribution {distribution}")
    return grid[0], grid[1]


def _law_words(law: Law) -> dict[str, Value]:
    result: dict[str, Value] = {"threshold": law.threshold_bytes}
    for name, protocol in (("short", law.short), ("long", law.long)):
        result[f"{name}_startup_s"] = protocol.startup_s
        result[f"{name}_byte_s"] = protocol.byte_s
        result[f"{name}_hop_s"] = protocol.hop_s
    return result


def _run(nodes: Sequence[int], law: Law, link: Link, duplex: Duplex, arguments: Mapping[str, Value]) -> Any:
    executable = build()
    with tempfile.TemporaryDirectory(prefix="smpi-") as folder:
        platform, hosts = Path(folder, "platform.xml"), Path(folder, "hosts")
        platform.write_text(platform_xml(law, max(nodes).bit_length(), duplex=duplex))
        hosts.write_text("".join(f"n{node}\n" for node in nodes))
        command = ["smpirun", "-np", str(len(nodes)), "-platform", str(platform), "-hostfile", str(hosts)]
        command += ["-no-privatize", "--log=xbt_cfg.thresh:warning", *options(law, link=link)]
        command += [str(executable), *(f"{name}={value}" for name, value in arguments.items())]
        output, said = _checked(command, f"the simulation of {arguments['program']} on {len(nodes)} ranks failed")
    lines = [line for line in output.splitlines() if line.startswith("{")]
    if len(lines) != 1:
        raise SimulatorError(f"{arguments['program']} on {len(nodes)} ranks had no result:\n{said[-3000:]}")
    return json.loads(lines[0])


def _result(noted: Mapping[str, Any]) -> Result:
    names = ("end_s", "compute_s", "send_s", "partner_s", "link_s", "transmission_s")
    return Result(
        **{name: np.array(noted[name], dtype=np.float64) for name in names},
        sent=np.array(noted["messages"], dtype=np.int64),
        sent_bytes=np.array(noted["bytes"], dtype=np.int64),
        trace=tuple(_message(entry) for entry in noted.get("trace", ())),
    )


def _message(entry: Sequence[Any]) -> Message:
    source, target, size_bytes, sent_s, called_s, returned_s = entry
    return Message(
        source=source, target=target, size_bytes=size_bytes, sent_s=sent_s, called_s=called_s, returned_s=returned_s
    )


@cache
def _version(compiler: str) -> str:
    return _checked([compiler, "-version"], "smpicc does not tell its version")[0].strip()


def _checked(command: Sequence[str], complaint: str) -> tuple[str, str]:
    """What a command printed on standard output and on standard error."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_LIMIT_S, check=False)
    except subprocess.TimeoutExpired as late:
        raise SimulatorError(f"{complaint}: it took more than {_LIMIT_S} s") from late
    if done.returncode != 0:
        raise SimulatorError(f"{complaint} (exit code {done.returncode}):\n{done.stderr[-3000:]}")
    return done.stdout, done.stderr
