"""What a prediction says: frozen data, no text. `esp.output` turns it into profiles, JSON, CSV.

All times are arrays of shape (S,), one value for each what-if scenario; `esp.predict` makes plain numbers of them where
no what-if was given as a list. Times of lines,
AAUs and totals are means over processors, so parts add up to lines and lines to `time_s` (Def 4); beside them
stand the largest value over processors and its processor.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from aag.diagnostics import Span
from interpreter.counts import CountColumn, Paid
from interpreter.shared import Classes
from sag.figures import MachineFigure

Array = NDArray[np.float64]

Figure = float | Array
"""A figure of a prediction: (S,), one number for each scenario. In a `Prediction` of the Python API that was asked for
no lists it is a plain float."""


class Parts(Struct, frozen=True, kw_only=True):
    """The four categories (Def 2), each (S,), in seconds, means over processors."""

    computation_s: Figure
    communication_s: Figure
    overhead_s: Figure
    waiting_s: Figure

    @property
    def time_s(self) -> Figure:
        """The sum of the four."""
        return self.computation_s + self.communication_s + self.overhead_s + self.waiting_s


class MessageSummary(Struct, frozen=True, kw_only=True):
    """What one Comm or SyncSeq AAU did: for the why-line and `esp explain`.

    `pattern`: overlap_shift, multicast, reduction, ...; `executions`: how often the AAU ran; `messages`, `bytes`:
    in total over all processors and executions; `sizes`: (bytes of a message, how many in one typical execution)
    of the commonest sizes, largest first, where typical is the first that sends anything; `varies`: what is different
    in other executions, nothing, the "sizes" of messages alone, or their number, too ("messages"); `hops`: largest
    number of hops of a message; `contended`: some message waited for a link.
    """

    array: str
    pattern: str
    executions: int
    messages: int
    bytes: int
    sizes: tuple[tuple[int, int], ...]
    varies: Literal["", "sizes", "messages"] = ""
    hops: int
    contended: bool


class CountEntry(Struct, frozen=True, kw_only=True, eq=False):
    """Columns that an AAU pays: what each pays, and how often (C, P), or (C, 1) all processors or in the mean
    (`ordinary`), or by class of processors (C, K)."""

    aau: int
    columns: tuple[CountColumn, ...]
    often: Array
    classes: Classes | None = None
    ordinary: bool = False

    def total(self, procs: int) -> Array:
        """(C,) over all processors."""
        if self.classes is not None:
            return np.asarray(self.often @ self.classes.sizes())
        return np.asarray(self.often.sum(axis=1) * (procs / self.often.shape[1]))

    def each(self) -> Array:
        """(C, P or 1) of each processor."""
        return self.often if self.classes is None else self.often[:, self.classes.number]


class FigureCount(Struct, frozen=True, kw_only=True, eq=False):
    """How often a figure is paid: in the mean over processors, at most by one of them and by each, (P,) or one number
    for all; None where processors x AAUs are too many to keep them (D9). `time_s` (S,): the mean times the figure."""

    name: str
    """The figure by component and key."""
    figure: MachineFigure
    paid: str
    """For what: computation, overhead, sending, receiving."""
    mean: float
    largest: float | None
    each: Array | None
    time_s: Array

    def of_each(self, procs: int) -> Array:
        """(P,) on each processor, where that is kept."""
        return np.broadcast_to(self.each if self.each is not None else np.nan, (procs,))


class CountTable(Struct, frozen=True, kw_only=True, eq=False):
    """How often the figures of the machine are paid, by AAU (Def 21); figures have scenarios, counts have none."""

    entries: tuple[CountEntry, ...]
    figures: Mapping[str, MachineFigure]
    procs: int

    def of(self, aaus: Collection[int] | None = None) -> tuple[FigureCount, ...]:
        """The counts of some AAUs together (None: of all), in the order of the machine's figures."""
        means: dict[tuple[str, int], float] = {}
        sums: dict[tuple[str, int], Array | None] = {}
        for entry in self._of(aaus):
            mean, each = entry.total(self.procs) / self.procs, None if entry.ordinary else entry.each()
            for number, column in enumerate(entry.columns):
                for paid, name, amount in column.fees:
                    key = (name, paid)
                    means[key] = means.get(key, 0.0) + amount * float(mean[number])
                    known = sums.get(key, _NOTHING)
                    sums[key] = None if each is None or known is None else known + amount * each[number]
        order = {name: number for number, name in enumerate(self.figures)}
        return tuple(
            FigureCount(
                name=name,
                figure=self.figures[name],
                paid=Paid(paid).name.lower(),
                mean=means[name, paid],
                largest=None if (found := sums[name, paid]) is None else float(found.max()),
                each=found,
                time_s=means[name, paid] * self.figures[name].seconds,
            )
            for name, paid in sorted(means, key=lambda key: (key[1], order[key[0]]))
            if means[name, paid]
        )

    def seconds(self, aaus: Collection[int] | None, *paid: Paid) -> Array:
        """(S or 1, P) what the counts of some AAUs take on each processor.

        Raises:
            ValueError: the counts of each processor are not kept.
        """
        total = np.zeros((1, self.procs))
        for entry in self._of(aaus):
            if entry.ordinary:
                raise ValueError("the counts of each processor are not kept")
            each = entry.each()
            for number, column in enumerate(entry.columns):
                for kind, name, amount in column.fees:
                    if kind in paid:
                        total = total + self.figures[name].seconds[:, None] * (amount * each[number])
        return total

    def total(self, name: str, aaus: Collection[int] | None = None) -> float:
        """How often all processors together pay a figure, called by its component and key."""
        return sum(
            float(often) * amount
            for entry in self._of(aaus)
            for often, column in zip(entry.total(self.procs), entry.columns, strict=True)
            for _, figure, amount in column.fees
            if figure == name
        )

    def flops(self, aaus: Collection[int] | None = None) -> Mapping[str, float]:
        """Floating-point operations of all processors by kind: r8.add, r4.sqrt, ..."""
        found: dict[str, float] = {}
        for entry in self._of(aaus):
            for often, column in zip(entry.total(self.procs), entry.columns, strict=True):
                for _, name, amount in column.fees:
                    component, _, kind = name.partition(".")
                    if component == "processor" and kind[:3] in ("r4.", "r8.") and not kind.endswith(".cmp"):
                        found[kind] = found.get(kind, 0.0) + amount * float(often)
        return found

    def bytes_moved(self, aaus: Collection[int] | None = None) -> float:
        """Bytes between caches and memory, of all processors: lines read and written back, and writes that miss."""
        return sum(
            float(often) * column.moved
            for entry in self._of(aaus)
            for often, column in zip(entry.total(self.procs), entry.columns, strict=True)
            if column.moved
        )

    def _of(self, aaus: Collection[int] | None) -> Iterator[CountEntry]:
        return (entry for entry in self.entries if aaus is None or entry.aau in aaus)


_NOTHING: Array = np.zeros(1)


class CallShare(Struct, frozen=True, kw_only=True):
    """What of an AAU belongs to a call, the number of a `CallMetrics`."""

    call: int
    parts: Parts


class CallMetrics(Struct, frozen=True, kw_only=True):
    """Metrics of a call of a procedure, those that it makes not included (`parts`) and included (`total`).

    Call 0 is the main program, `parent` the call around, `span` the place of the call. Calls of one procedure in one
    line of one call are one. `calls`: how often it is called, mean over processors.
    """

    id: int
    parent: int | None
    procedure: str
    span: Span
    calls: float
    parts: Parts
    total: Parts
    messages: int
    """Messages and bytes of the statements themselves, over all processors."""
    bytes: int


class AauMetrics(Struct, frozen=True, kw_only=True):
    """Metrics of one AAU, the AAUs inside it not included (`parts`) and included (`total_s`).

    `max_s` (S,) is the largest total of a processor, `max_processor` that processor in scenario 0; both are None
    where processors x AAUs is too large to keep them (D9). `clock_s` is the largest clock when it last ended.
    """

    id: int
    kind: str
    label: str
    span: Span
    parent: int | None
    parts: Parts
    total_s: Figure
    max_s: Figure | None
    max_processor: int | None
    clock_s: Figure
    executions: int
    comm: MessageSummary | None
    hidden_s: Figure
    """What overlap and maxima take away from its communication, mean over processors (Def 21)."""
    misses: float
    """Cache lines missed, total over processors and executions (scenario 0)."""
    division: tuple[CallShare, ...]
    """What of `parts` belongs to which call, first to that which its statement is reached through."""
    through: int = 0
    """Line of the last of its statements, where it has several: a nest of loops is one AAU."""


class LineMetrics(Struct, frozen=True, kw_only=True):
    """Metrics of one source line (Def 4)."""

    file: str
    line: int
    parts: Parts
    max_s: Figure | None
    max_processor: int | None
    messages: int
    bytes: int
    hidden_s: Figure
    aaus: tuple[int, ...]
    through: int = 0
    """The last line of statements that are counted here: those of a nest are, at the first one."""

    @property
    def time_s(self) -> Figure:
        """The sum of the parts."""
        return self.parts.time_s


class PerProcessor(Struct, frozen=True, kw_only=True):
    """Per processor, shape (S, P): the clock at its own end and the four categories (they add up to time_s)."""

    end_s: Array
    computation_s: Array
    communication_s: Array
    overhead_s: Array
    waiting_s: Array


class Assumption(Struct, frozen=True, kw_only=True):
    """Something the prediction rests on that neither source nor machine description settles."""

    code: str
    text: str
    span: Span | None = None


class Result(Struct, frozen=True, kw_only=True):
    """The result of interpreting a program on a machine."""

    program: str
    file: str
    lines_text: tuple[str, ...]
    """The lines of `file`."""
    others_text: Mapping[str, Mapping[int, str]] = {}
    """Those of other files, by file and number."""
    system: str
    processors: int
    grid: tuple[int, ...]
    scenarios: int
    constants: Mapping[str, object]
    """PARAMETER values used."""
    time_s: Figure
    timed_s: Figure | None
    load_s: Figure
    parts: Parts
    io_s: Figure
    hidden_s: Figure
    """What overlap and maxima take away from communication, mean over processors (Def 21)."""
    counts: CountTable
    messages: int
    bytes: int
    lines: tuple[LineMetrics, ...]
    aaus: tuple[AauMetrics, ...]
    calls: tuple[CallMetrics, ...]
    """The main program and the calls inside it, each before those inside it."""
    per_processor: PerProcessor
    imbalance: Figure
    """Largest / mean computation over processors (1 is perfect balance)."""
    memory_bytes: int
    """Data of the fullest processor: the one that needs most memory for data and copies."""
    memory_copies_bytes: int
    """What it needs besides for overlap areas, and for buffers of what messages bring."""
    memory_usable_bytes: float | None
    estimated_share: Figure
    """Share of time_s that rests on figures which are only estimated (Def 19), between 0 and 1."""
    iterations: int
    """Iterations of synchronised loops the program makes."""
    iterations_walked: int
    followed: int = 0
    """The most messages of one operation whose events were followed one by one, which takes as long again for each
    scenario; 0: none."""
    """How many of them the engine walked (the others were added in closed form, D5)."""
    assumptions: tuple[Assumption, ...]
    complete: bool
