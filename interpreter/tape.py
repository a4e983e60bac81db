"""What an iteration of a loop on very many processors does, so that it can be done again on some of them only."""

from typing import Protocol

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from interpreter.shared import Figures

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


class Partners(Protocol):
    """From whom each of very many processors receives in a phase; from itself, if from nobody."""

    @property
    def reach(self) -> int:
        """Partners are in the same block, if blocks have this many processors or a multiple; 0: nothing is known."""
        ...

    def clocks(self, clock: Array, part: slice, out: Array) -> None:
        """The clocks (S, M) of the partners of a block of processors; at most its own clock where it has none."""
        ...

    def sources(self, ranks: Ints) -> Ints:
        """From whom some processors receive."""
        ...

    def destinations(self, ranks: Ints) -> Ints:
        """To whom they send; themselves, if to nobody."""
        ...


class DensePhase(Struct, frozen=True, kw_only=True, eq=False):
    """Messages of a phase in which most of very many processors take part, by processor (P)."""

    partners: Partners
    arrive: Figures
    """How long after its send the message arrives that each receives; -inf where there is none."""
    delayed: Figures | None
    """The same with the wait for links under the load of other programs (Def 11); None: there is none."""
    busy: Figures
    """How long each is busy sending."""
    before: Figures | None
    """Overhead before sending."""
    after: Figures | None
    """Overhead after receiving."""


class Busy(Struct, frozen=True, eq=False):
    """Entry of a tape: all processors are busy for `seconds`, (S or 1, P or 1)."""

    seconds: Figures


class DensePhases(Struct, frozen=True, kw_only=True, eq=False):
    """Entry of a tape: phases, one after the other or, if `together`, all sends before all receives."""

    aau: int
    phases: tuple[DensePhase, ...]
    together: bool


class Tape(Struct, eq=False):
    """What an iteration did, so that it can be done again on some processors only."""

    entries: list[Busy | DensePhases | None] = field(default_factory=list)
    """None: anything else."""
    spent: dict[tuple[int, int], Array] = field(default_factory=dict)
    """(AAU, category) -> (S, P), what each processor waited and received for in all phases of the iteration."""
