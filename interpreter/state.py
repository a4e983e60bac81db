"""The state of a walk: what is given, and what changes as the walk goes on.

Application, machine, setting, prices and listeners are given. All else changes: clock and origin, the books
(`interpreter.books`), the links of the network and the messages on them (`interpreter.network`), values of scalars, the
contents of caches, what is recorded of an iteration while a period is sought (`recorder`, `tape`), who shows progress,
and what functions of the models remember (`results`).

The clock is one float64 for each scenario and processor (D4), shape (S, P), measured from `origin` (S, 1): loops
move the origin along, so that small differences keep their digits in long programs.
"""

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Protocol

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace
from numpy.typing import NDArray

from aag.graph.aau import AAU
from aag.ir.evaluate import Value
from aag.ir.values import ArrayValues
from interpreter.application import Application
from interpreter.books import Books
from interpreter.counts import Prices
from interpreter.listeners import Listener, Timekeeper, Traffic, Watch
from interpreter.metrics import Index, Ledger
from interpreter.network import Network
from interpreter.reduce import least
from interpreter.setting import Setting
from interpreter.shared import Figures, Shared, add, spread
from interpreter.tape import Busy, Tape
from sag.machine import Machine

Array = NDArray[np.float64]


class Equatable(Protocol):
    """A state that can be compared, such as the contents of the caches."""

    def same_as(self, other: Any, /) -> bool:
        """Whether everything behaves from here as it does from `other`."""
        ...


class Recorder(Struct):
    """The decisions of an iteration: for each comparison how far it was from going the other way.

    `gaps`: arrays with the scenario axis first, and the offsets at which something would be decided differently
    (0 for a maximum of two times whose difference the gap is). `choices`: discrete decisions, (S, ...) each.
    """

    gaps: list[tuple[Array, tuple[Array | float, ...]]] = field(default_factory=list)
    choices: list[NDArray[np.int64]] = field(default_factory=list)

    def nbytes(self) -> int:
        """Memory it holds."""
        return sum(gap.nbytes for gap, _ in self.gaps) + sum(each.nbytes for each in self.choices)


class Run(Struct):
    """All that one interpretation knows: what it is given, and the state of the walk."""

    application: Application
    machine: Machine
    setting: Setting
    visit: Callable[["Run", tuple[AAU, ...]], str]
    """Walks a body; answers "" or how it was left: exit, cycle, stop, return, with a construct name after a colon."""
    prices: Prices
    clock: Array
    origin: Array
    books: Books
    network: Network
    listener: Listener | None = None
    timekeeper: Timekeeper | None = None
    """The listener, where it wants to know of all time that is spent."""
    watch: Watch | None = None
    """Who shows progress."""
    env: dict[str, Value | ArrayValues] = field(default_factory=dict)
    cache: Equatable | None = None
    recorder: Recorder | None = None
    tape: Tape | None = None
    exits: Mapping[int, bool] = field(default_factory=dict)
    """Lines of the EXITs that end loops whose trip count was computed, and whether they do so in this iteration."""
    leaving: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """Line of an EXIT -> lines of the loops that it leaves, the outermost first."""
    entries: dict[int, int] = field(default_factory=dict)
    """Line of a loop that data end -> how often it was entered so far."""
    results: dict[Hashable, dict[Hashable, object]] = field(default_factory=dict)
    """What functions of the models remember (`interpreter.remembered`)."""

    @property
    def scenarios(self) -> int:
        """S."""
        return int(self.clock.shape[0])

    @property
    def procs(self) -> int:
        """P."""
        return int(self.clock.shape[1])

    def aside(self) -> "Run":
        """A run from the same state on that leaves this one as it is, but for what is remembered and assumed."""
        empty = Ledger(self.books.ledger.shape)
        return replace(
            self,
            clock=self.clock.copy(),
            books=Books(
                empty, empty, share=self.books.share, assumptions=self.books.assumptions, walked=self.books.walked
            ),
            network=replace(self.network, links=None, window=None),
            env=dict(self.env),
            entries=dict(self.entries),
            recorder=None,
            tape=None,
            listener=None,
            timekeeper=None,
            watch=None,
        )

    def entered(self, line: int) -> int:
        """Which entry of a loop that data end this is, from 0."""
        entry = self.entries.get(line, 0)
        self.entries[line] = entry + 1
        return entry

    def busy(self, aau: int, category: int, seconds: Figures, ranks: Index = None, of: Traffic | None = None) -> None:
        """Let processors be busy: the clock moves. `of`: what a listener is told besides."""
        if self.books.share is not None:
            seconds = spread(seconds, self.books.share, ranks)
        if self.tape is not None:
            self.tape.entries.append(Busy(seconds) if ranks is None else None)
        if self.timekeeper is not None:
            if isinstance(seconds, Shared):
                seconds = seconds.cut(slice(None))
            self.tell(aau, category, self.take(ranks), seconds, ranks, of)
        add(self.clock, seconds, ranks)

    def spend(self, aau: int, category: int, seconds: Figures, ranks: Index = None, of: Traffic | None = None) -> None:
        """Let processors be busy with what the ledger keeps in seconds."""
        self.busy(aau, category, seconds, ranks, of)
        self.books.note(aau, category, seconds, ranks)

    def tell(
        self, aau: int, category: int, began: Array, seconds: Array, ranks: Index, of: Traffic | None = None
    ) -> None:
        """Tell the listener of time that is spent from the clocks `began` (S, M) on."""
        if self.timekeeper is not None:
            self.timekeeper.spent(aau, category, began + self.origin, seconds, ranks, of, self.books.weight)

    def take(self, ranks: Index) -> Array:
        """The clocks of some processors, (S, M), as a copy."""
        if ranks is None:
            return self.clock.copy()
        if isinstance(ranks, slice):
            return self.clock[:, ranks].copy()
        return self.clock.take(ranks, axis=1)

    def put(self, ranks: Index, times: Array) -> None:
        """Set the clocks of some processors."""
        if ranks is None:
            self.clock[...] = times
        elif self.scenarios == 1:
            self.clock[0][ranks] = times[0]
        else:
            self.clock[:, ranks] = times

    def decide(self, gap: Array, *offsets: Array | float) -> None:
        """Remember a decision, while a period is sought. The array must not be changed afterwards."""
        if self.recorder is not None:
            self.recorder.gaps.append((gap, offsets or (0.0,)))

    def rebase(self, origin: Array | None = None) -> None:
        """Measure the clock from another origin (S, 1): by default from the earliest clock of each scenario."""
        by = least(self.clock)[:, None] if origin is None else origin - self.origin
        self.clock -= by
        self.origin = self.origin + by
        self.network.move(-by)
