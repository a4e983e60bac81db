"""Who wants to know what happens during the walk: traces, progress. All calls carry plain data.

A listener sees what the engine walks. Iterations that are added in closed form (D5) are not walked; a trace that
must show them asks for `Setting.force_unroll`.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from aag.graph.aau import AAU

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


class Listener(Protocol):
    """Told of every AAU and every batch of messages, in the order of the walk. Times are (S, P) or (S, M)."""

    def entered(self, aau: AAU, clock: Array) -> None:
        """The walk comes to an AAU; `clock` is when each processor does. The array must not be kept or changed."""

    def left(self, aau: AAU, clock: Array) -> None:
        """The walk is done with an AAU."""

    def messages(
        self, aau: int, name: str, source: Ints, destination: Ints, size_bytes: Ints, sent: Array, received: Array
    ) -> None:
        """Messages of one phase: when each send was called and each receive returned."""

    def skipped(self, aau: AAU, iterations: NDArray[np.int64]) -> None:
        """So many iterations (S,) of a loop were added without being walked."""
