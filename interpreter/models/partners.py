"""Dense phases: messages in which most of very many processors take part, described by processor.

Messages that are alike share their figures (`interpreter.shared`), and partners that are as far apart everywhere
(shifts in a grid, stages of a butterfly) are not looked up one by one.
"""

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from interpreter import shared
from interpreter.models.routes import apart
from interpreter.shared import BLOCK, Classes, Figures, Shared, blocks, classes_of
from interpreter.state import Run
from interpreter.tape import DensePhase, Partners
from sag.machine import NetworkCosts

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

SPARSE = 4
"""A phase is charged by processor where at least one in so many takes part."""


class Flip(Struct, frozen=True):
    """All exchange with rank xor a power of two."""

    bit: int

    @property
    def reach(self) -> int:
        """Twice the power."""
        return 2 * self.bit

    def clocks(self, clock: Array, part: slice, out: Array) -> None:
        """The partners' clocks; blocks are aligned powers of two."""
        length = part.stop - part.start
        if self.reach <= length:
            shape = (len(out), -1, 2, self.bit)
            out.reshape(shape)[...] = clock[:, part].reshape(shape)[:, :, ::-1]
        else:
            first = part.start ^ self.bit
            out[...] = clock[:, first : first + length]

    def sources(self, ranks: Ints) -> Ints:
        """From whom some processors receive."""
        return ranks ^ self.bit

    def destinations(self, ranks: Ints) -> Ints:
        """The same."""
        return ranks ^ self.bit


class Shift(Struct, frozen=True):
    """Who receives does so from the processor whose rank is higher by `by`."""

    by: int
    receives: Classes
    """Class 0: from nobody."""
    sends: Classes
    """Class 0: to nobody."""
    absent: Ints
    """Ranks that receive from nobody, ascending."""

    @property
    def reach(self) -> int:
        """Unknown."""
        return 0

    def clocks(self, clock: Array, part: slice, out: Array) -> None:
        """The partners' clocks; where there is no partner it never sent."""
        first, last = max(0, part.start + self.by), min(clock.shape[1], part.stop + self.by)
        at = first - part.start - self.by
        out[:, at : at + max(0, last - first)] = clock[:, first : max(first, last)]
        low, high = np.searchsorted(self.absent, (part.start, part.stop))
        out[:, self.absent[low:high] - part.start] = -np.inf

    def sources(self, ranks: Ints) -> Ints:
        """From whom some processors receive."""
        return np.where(self.receives.number[ranks] > 0, ranks + self.by, ranks)

    def destinations(self, ranks: Ints) -> Ints:
        """To whom some processors send."""
        return np.where(self.sends.number[ranks] > 0, ranks - self.by, ranks)


class Listed(Struct, frozen=True, eq=False):
    """Any permutation of some processors."""

    source: Ints
    """(P,) from whom each receives; itself where it does not."""
    inverse: list[Ints] = field(default_factory=list)
    """To whom each sends, once it was asked for."""

    @property
    def reach(self) -> int:
        """Unknown."""
        return 0

    def clocks(self, clock: Array, part: slice, out: Array) -> None:
        """The partners' clocks, one by one."""
        for row, times in zip(out, clock, strict=True):
            times.take(self.source[part], out=row, mode="clip")  # they are all in range: other modes use a buffer

    def sources(self, ranks: Ints) -> Ints:
        """From whom some processors receive."""
        return self.source[ranks]

    def destinations(self, ranks: Ints) -> Ints:
        """To whom some processors send."""
        if not self.inverse:
            own = np.arange(self.source.size)
            receivers = np.flatnonzero(self.source != own)
            own[self.source[receivers]] = receivers
            self.inverse.append(own)
        return self.inverse[0][ranks]


def is_dense(run: Run, network: NetworkCosts, messages: int, longest: int, *, together: int | None = None) -> bool:
    """Whether a phase is charged by processor: very many messages that do not meet on links (or are not followed).

    `together`: all messages that are under way at once, where phases are concurrent. Their sends do not block, so
    that one processor has several messages under way, which can meet even on their own links.
    """
    at_once = messages if together is None else together
    if run.procs * run.scenarios < shared.MANY or SPARSE * at_once < run.procs:
        return False
    if run.network.overlap is not None or run.listener:
        return False
    if network.switching != "circuit" or not run.setting.contention or at_once > run.setting.contention_messages:
        return True
    return together is None and longest <= 1 and apart(network) and network.send_model == "blocking"


def dense_phase(
    run: Run,
    source: Ints,
    destination: Ints,
    which: Ints | None,
    *,
    arrive: Array,
    delayed: Array | None,
    busy: Array,
    packing: Array | None,
    unpacking: Array | None,
) -> tuple[DensePhase, Classes | None, Classes | None]:
    """The messages of a phase by processor, and the classes of those who send and who receive: from 1 on those of each
    kind of message; None: all are alike. `which`: (M,) kind of each message; what each kind costs is (S or 1, U)."""
    everybody = source.size == run.procs
    flip = _flip(source, destination) if everybody and run.procs & (run.procs - 1) == 0 else 0
    partners: Partners
    sends = receives = None
    if which is None and everybody:
        partners = Flip(flip) if flip else _listed(run, source, destination)
    else:
        kinds = arrive.shape[1]
        receives, sends = _classes(run, destination, which, kinds), _classes(run, source, which, kinds)
        partners = Flip(flip) if flip else _partners(run, source, destination, receives, sends)
    phase = DensePhase(
        partners=partners,
        arrive=_spread(arrive, receives, -np.inf),
        delayed=None if delayed is None else _spread(delayed, receives, -np.inf),
        busy=_spread(busy, sends, 0.0),
        before=None if packing is None else _spread(packing, sends, 0.0),
        after=None if unpacking is None else _spread(unpacking, receives, 0.0),
    )
    return phase, sends, receives


def _classes(run: Run, ranks: Ints, which: Ints | None, kinds: int) -> Classes:
    """Class 0: who has no message; then those with a message of each kind."""
    classes = classes_of(run.procs, kinds + 1)
    classes.number[ranks] = 1 if which is None else which + 1
    return classes


def _spread(column: Array, classes: Classes | None, otherwise: float) -> Figures:
    if classes is None:
        return column
    values = np.full((column.shape[0], classes.count), otherwise)
    values[:, 1:] = column
    return Shared(values, classes)


def _partners(run: Run, source: Ints, destination: Ints, receives: Classes, sends: Classes) -> Partners:
    by = int(source[0] - destination[0])
    if all((source[part] - destination[part] == by).all() for part in blocks(source.size, BLOCK)):
        absent = np.flatnonzero(receives.number == 0)
        if SPARSE * absent.size < run.procs:
            return Shift(by, receives, sends, absent)
    return _listed(run, source, destination)


def _listed(run: Run, source: Ints, destination: Ints) -> Listed:
    partner = np.arange(run.procs)
    partner[destination] = source
    return Listed(partner)


def _flip(source: Ints, destination: Ints) -> int:
    """The power of two by whose xor all exchange; 0 if they do not."""
    flip = int(source[0] ^ destination[0])
    if not flip or flip & (flip - 1):
        return 0
    return flip if all((source[part] ^ destination[part] == flip).all() for part in blocks(source.size, BLOCK)) else 0
