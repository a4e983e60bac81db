"""Who wants to know what happens during the walk: traces, progress. All calls carry plain data.

A listener sees what the engine walks. Iterations that are added in closed form (D5) are not walked; a trace that
must show them asks for `Setting.force_unroll`.
"""

from collections.abc import Callable
from typing import Generic, Literal, TypeVar

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from aag.graph.aau import AAU
from interpreter.metrics import Index

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


class Listener:
    """Called for every AAU and every batch of messages, in the order of the walk. Times are (S, P) or (S, M).

    A derived class defines only the calls that it needs: the others do nothing.
    """

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


Watch = Callable[[int, float], None]
"""Told often how far the walk has come, so it must not take long: the line of the outermost loop that is being walked,
and how much of its iterations is done, 0 to 1."""


def begin(watch: Watch | None, walk: str) -> None:
    """Name the walk that begins, where the watch shows names (`esp.cli.progress.ProgressLine.begin`)."""
    named = getattr(watch, "begin", None)
    if named is not None:
        named(walk)


class Traffic(Struct, frozen=True, eq=False):
    """What communication time was spent on, one entry for each processor that spent it.

    `partner`: rank at the other end, `size_bytes`: of the message; both None where the other end is the host.
    """

    kind: Literal["send", "receive", "host"]
    partner: Ints | None = None
    size_bytes: Ints | None = None


class Timekeeper(Listener):
    """A listener that is also told of every piece of time that enters the ledger."""

    def spent(
        self,
        aau: int,
        category: int,
        began: Array,
        seconds: Array,
        ranks: Index,
        traffic: Traffic | None,
        weight: float,
    ) -> None:
        """Processors were busy or waited: for each processor in the order of time, without gaps or overlap.

        Args:
            aau: id of the AAU.
            category: a `Category` (Def 2).
            began: (S, M) when each began.
            seconds: (S or 1, M or 1) for how long.
            ranks: which M processors; None: all.
            traffic: with whom, in COMMUNICATION and WAITING; None there: run-time software, or waiting for all.
            weight: probability of the branch that is walked; times of branches that are weighted follow on no axis.
        """


class Correctable(Timekeeper):
    """A timekeeper that needs to know for how long processors are busy, but not when.

    Where a processor runs ahead, messages that it sends may delay those of operations that others were told of before.
    What they wait for is corrected later. A timekeeper that wants all times to be final is spared such corrections, and
    the messages of each operation are then decided about without those of later ones.
    """

    def corrected(self) -> None:
        """Some times that were told have changed."""


Made = TypeVar("Made")


class Latest(Generic[Made]):
    """Makes a listener each time that a walk begins. `made` is the latest, which has heard the whole walk."""

    made: Made

    def __init__(self, make: Callable[[], Made]) -> None:
        self._make = make

    def __call__(self) -> Made:
        """Make one."""
        self.made = self._make()
        return self.made
