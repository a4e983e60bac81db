"""The walk's mutable things: clock, ledger, links, communication table, environment. There are no others.

The clock is one float64 for each scenario and processor (D4), shape (S, P), measured from `origin` (S, 1): loops
move the origin along, so that small differences keep their digits in long programs.
"""

from collections.abc import Callable, Hashable
from typing import Any, Protocol

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace
from numpy.typing import NDArray

from aag.diagnostics import Span
from aag.graph.aau import AAU
from aag.ir.evaluate import Value
from interpreter.application import Application
from interpreter.counts import Counts, Prices
from interpreter.listeners import Listener, Timekeeper, Traffic, Watch
from interpreter.metrics import Index, Ledger, Tally
from interpreter.reduce import least
from interpreter.result import Assumption
from interpreter.setting import Setting
from interpreter.shared import Figures, Shared, add
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


class Links(Struct):
    """When each directed link was last taken and is free again; None until messages can meet.

    `table`: (S, 4, L + 1): end of its latest message, idle since, readiness and start of that message; the last link
    is nobody's. `free` and `taken`: the first and the last two rows of it, (S, 2 (L + 1)), to be changed in place.
    """

    table: Array | None = None
    taken: Array | None = None
    free: Array | None = None
    followed: bool = False


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


class Run(Struct):
    """All that one interpretation knows: what it is given, and the state of the walk."""

    application: Application
    machine: Machine
    setting: Setting
    visit: Callable[["Run", tuple[AAU, ...]], str]
    """Walks a body; answers "" or how it was left: exit, cycle, stop, return, with a construct name after a colon."""
    clock: Array
    origin: Array
    ledger: Ledger
    prices: Prices
    node: NDArray[np.int64]
    """(P,) node of each rank (Def 14)."""
    size: int
    """Nodes of the instance of the machine."""
    overlap: Array | None
    """(S or 1, 1) the overlap factor; None where it is 0 everywhere."""
    critical: frozenset[str] = frozenset()
    listener: Listener | None = None
    timekeeper: Timekeeper | None = None
    """The listener, where it wants to know of all time that is spent."""
    watch: Watch | None = None
    """Who shows progress."""
    env: dict[str, Value] = field(default_factory=dict)
    cache: Equatable | None = None
    links: Links = field(default_factory=Links)
    window: object = None
    """Operations whose messages may meet those that are sent next (`models.circuits`)."""
    table: dict[int, CommEntry] = field(default_factory=dict)
    marks: list[tuple[Array, Ledger | None]] = field(default_factory=list)
    """Readings of the clock: (S, P) with the ledger until then, or only the latest clock, (S, 1)."""
    weight: float = 1.0
    """Probability of the branch that is being walked."""
    active: NDArray[np.bool_] | None = None
    """(S,) scenarios that still run; None: all."""
    recorder: Recorder | None = None
    results: dict[Hashable, dict[Hashable, object]] = field(default_factory=dict)
    """What functions of the models remember (`interpreter.remembered`)."""
    ended: dict[int, Array] = field(default_factory=dict)
    """AAU -> largest clock when it last ended, (S,)."""
    assumptions: dict[tuple[str, str], Assumption] = field(default_factory=dict)
    complete: bool = True
    tape: Tape | None = None
    walked: int = 0
    """Iterations of synchronised loops that were walked."""

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
        return replace(
            self,
            clock=self.clock.copy(),
            ledger=Ledger(self.ledger.shape),
            env=dict(self.env),
            links=Links(),
            window=None,
            table={},
            marks=[],
            ended={},
            recorder=None,
            tape=None,
            listener=None,
            timekeeper=None,
            watch=None,
        )

    def busy(self, aau: int, category: int, seconds: Figures, ranks: Index = None, of: Traffic | None = None) -> None:
        """Let processors be busy: the clock moves. `of`: what a listener is told besides."""
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
        self.note(aau, category, seconds, ranks)

    def pay(self, aau: int, counts: Counts, ranks: Index = None) -> None:
        """Enter counts in the ledger; what they take moves no clock."""
        self.ledger.pay(aau, counts, ranks, factor=self._factor())

    def _factor(self) -> Array | None:
        """(S, 1) by which all is multiplied that enters the ledger; None: by 1."""
        if self.active is not None:
            return np.asarray(self.active * self.weight, dtype=np.float64)[:, None]
        return None if self.weight == 1.0 else np.full((1, 1), self.weight)

    def note(self, aau: int, category: int, seconds: Figures, ranks: Index = None, *, give: bool = False) -> None:
        """Enter seconds in the ledger only. `give`: nobody else changes the array afterwards."""
        self.ledger.charge(aau, category, seconds, ranks, factor=self._factor(), give=give)

    def tell(
        self, aau: int, category: int, began: Array, seconds: Array, ranks: Index, of: Traffic | None = None
    ) -> None:
        """Tell the listener of time that is spent from the clocks `began` (S, M) on."""
        if self.timekeeper is not None:
            self.timekeeper.spent(aau, category, began + self.origin, seconds, ranks, of, self.weight)

    def count(self, aau: int, tally: Tally | slice, amount: float | Array) -> None:
        """Count something, or several things (T, S or 1), weighted as time is."""
        if self.active is None:
            self.ledger.count(aau, tally, amount if self.weight == 1.0 else amount * self.weight)
        else:
            self.ledger.count(aau, tally, np.asarray(amount * self.active * self.weight, dtype=np.float64))

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

    def assume(self, code: str, text: str, span: Span | None = None) -> None:
        """Say once what the prediction rests on."""
        self.assumptions.setdefault((code, text), Assumption(code=code, text=text, span=span))

    def rebase(self, origin: Array | None = None) -> None:
        """Measure the clock from another origin (S, 1): by default from the earliest clock of each scenario."""
        by = least(self.clock)[:, None] if origin is None else origin - self.origin
        self.clock -= by
        self.origin = self.origin + by
        if self.links.free is not None and self.links.taken is not None:
            self.links.free -= by
            self.links.taken -= by
