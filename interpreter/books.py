"""The books of a walk: what was spent, counted and assumed so far, and with what weight the next entries count."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace
from numpy.typing import NDArray

from aag.diagnostics import Span
from interpreter.counts import Counts
from interpreter.metrics import Index, Ledger, Tally
from interpreter.result import Assumption
from interpreter.shared import Figures, spread

Array = NDArray[np.float64]


class CommEntry(Struct):
    """The line of the communication table that an AAU has (its counts are in the ledger's tallies). What it says of a
    typical execution is that of the first one that sends anything."""

    array: str
    pattern: str
    sizes: tuple[tuple[int, int], ...] = ()
    messages: int = 0
    """Of that execution, and the bytes that they carry; `sizes` are theirs."""
    volume: int = 0
    hops: int = 0
    """The largest number over all executions."""
    contended: bool = False
    estimated: float = 0.0
    """Share of the uncontended time of its messages that rests on estimated figures."""


class Books(Struct):
    """All that is entered while a program is interpreted."""

    whole: Ledger
    """That of the program."""
    ledger: Ledger
    """Where entries go: while a loop is walked, the ledger of the iteration."""
    weight: float = 1.0
    """Probability of the branch that is being walked."""
    share: Array | None = None
    """(P,) of what is entered, by processor: each runs its share of the iterations of a loop; None: all run all."""
    times: float = 1.0
    """Iterations for which the one that is walked stands; `share` has it, too."""
    active: NDArray[np.bool_] | None = None
    """(S,) scenarios that still run; None: all."""
    table: dict[int, CommEntry] = field(default_factory=dict)
    marks: list[tuple[Array, Ledger | None]] = field(default_factory=list)
    """Readings of the clock: (S, P) with the ledger until then, or only the latest clock, (S, 1)."""
    ended: dict[int, Array] = field(default_factory=dict)
    """AAU -> largest clock when it last ended, (S,)."""
    assumptions: dict[tuple[str, str], Assumption] = field(default_factory=dict)
    wishes: dict[str, Span] = field(default_factory=dict)
    """What would make the prediction more exact, by name, and its first place (`interpreter.models.asking`)."""
    complete: bool = True
    walked: int = 0
    """Iterations of synchronised loops that were walked."""

    def pay(self, aau: int, counts: Counts, ranks: Index = None) -> None:
        """Enter counts in the ledger; what they take moves no clock."""
        if self.share is not None:
            counts = replace(counts, often=spread(counts.often, self.share, ranks))
        self.ledger.pay(aau, counts, ranks, factor=self._factor())

    def note(self, aau: int, category: int, seconds: Figures, ranks: Index = None, *, give: bool = False) -> None:
        """Enter seconds in the ledger only. `give`: nobody else changes the array afterwards."""
        if self.share is not None:
            seconds = spread(seconds, self.share, ranks)
        self.ledger.charge(aau, category, seconds, ranks, factor=self._factor(), give=give)

    def count(self, aau: int, tally: Tally | slice, amount: float | Array) -> None:
        """Count something, or several things (T, S or 1), weighted as time is."""
        weight = self.weight * self.times
        if self.active is None:
            self.ledger.count(aau, tally, amount if weight == 1.0 else amount * weight)
        else:
            self.ledger.count(aau, tally, np.asarray(amount * self.active * weight, dtype=np.float64))

    def assume(self, code: str, text: str, span: Span | None = None) -> None:
        """Say once what the prediction rests on."""
        self.assumptions.setdefault((code, text), Assumption(code=code, text=text, span=span))

    @contextmanager
    def repeated(self, times: int, procs: int) -> Iterator[None]:
        """What is entered stands for so many iterations of a loop, on all processors."""
        share, before = self.share, self.times
        if times != 1:
            self.share = np.full(procs, float(times)) if share is None else share * times
            self.times = before * times
        try:
            yield
        finally:
            self.share, self.times = share, before

    def _factor(self) -> Array | None:
        """(S, 1) by which all is multiplied that enters the ledger; None: by 1."""
        if self.active is not None:
            return np.asarray(self.active * self.weight, dtype=np.float64)[:, None]
        return None if self.weight == 1.0 else np.full((1, 1), self.weight)
