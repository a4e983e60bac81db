"""The network during a walk: where processors are, and what is on its links."""

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from interpreter.events import Window
from sag.machine import Machine

Array = NDArray[np.float64]


class Network(Struct, kw_only=True):
    """Where processors are, what is hidden, and which messages are under way. `links`, `window` and `followed`
    change, the rest does not."""

    node: NDArray[np.int64]
    """(P,) node of each rank (Def 14)."""
    size: int
    """Nodes of the instance of the machine."""
    overlap: Array | None
    """(S or 1, 1) the overlap factor; None where it is 0 everywhere."""
    links: Array | None = None
    """(S, 4, L + 1) end of the latest message on each directed link, idle since, readiness and start of that message;
    the last link is nobody's. None until messages can meet."""
    window: Window | None = None
    """Operations whose messages may meet those that are sent next."""
    followed: int = 0
    """The most messages of such an operation so far."""
    overtaken: bool = False
    """Whether a message took a link before one of an earlier operation that would then have had to wait for it."""

    def move(self, by: Array) -> None:
        """Let everything on the links be later by (S, 1)."""
        if self.links is not None:
            self.links += by[:, :, None]

    def times(self, since: Array) -> Array | None:
        """The links, later by (S, 1), as a copy (S, 2, 2 (L + 1)): when they are free, and when they were taken."""
        return None if self.links is None else self.links.reshape(len(since), 2, -1) + since[:, :, None]


def network_of(machine: Machine, procs: int, grid: tuple[int, ...], overlap: float | None) -> Network:
    """The network of a machine with nothing on it. `overlap`: the overlap factor, if it is not the machine's."""
    costs = machine.network
    if costs is None:
        return Network(node=np.arange(procs), size=procs, overlap=None)
    factor = costs.overlap if overlap is None else np.array([overlap])
    return Network(
        node=costs.topology.place(grid),
        size=costs.topology.size(grid),
        overlap=factor[:, None] if factor.any() else None,
    )
