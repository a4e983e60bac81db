"""From the ledger of a finished walk to a `Result`: sums over children, lines and processors (Def 3, 4)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isclose
from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from aag.diagnostics import Span
from aag.graph.aau import AAU, Graph, children, last_line
from aag.ir.evaluate import Value
from interpreter.books import CommEntry
from interpreter.calls import CallTree
from interpreter.counts import RECEIVING, SENDING, CountColumn, Prices
from interpreter.metrics import COMMUNICATION, COMPUTATION, OVERHEAD, WAITING, Category, Ledger, Tally
from interpreter.reduce import largest, mean, means_of
from interpreter.result import (
    AauMetrics,
    CallShare,
    CountEntry,
    CountTable,
    LineMetrics,
    MessageSummary,
    Parts,
    PerProcessor,
    Result,
)
from interpreter.shared import BLOCK, Classes, blocks
from interpreter.state import Run
from sag.figures import figures_of

_ROUNDING = 1e-6
"""Share by which counts may differ that are the same: each is the sum of what many iterations did."""

Array = NDArray[np.float64]

MISSES = ("memory.read_miss", "memory.write_miss")

ROUNDING = 1e-12
"""Times that differ by less than this share of them are equal."""


class About(Struct, frozen=True, kw_only=True):
    """What the prediction says of the program, beside its time. `notes`: (code, text, place)."""

    program: str
    file: str
    lines: tuple[str, ...] = ()
    others: Mapping[str, Mapping[int, str]] = {}
    constants: Mapping[str, Value]
    complete: bool = True
    notes: tuple[tuple[str, str, Span | None], ...] = ()


class _Sums:
    """The ledger, read by AAU: counts are priced."""

    def __init__(self, ledger: Ledger, prices: Prices) -> None:
        self.ledger = ledger
        self.shape = ledger.shape
        self.none = np.zeros((4, ledger.shape.scenarios))
        self.untold = np.zeros((len(Tally), ledger.shape.scenarios))
        self.entries = tuple(_entries(ledger))
        self.prices: dict[tuple[CountColumn, int], Array] = {}
        """CountColumn, kind -> (S or 1,) seconds of one."""
        self.priced = prices
        self.known: dict[int, Array] = {}
        self.gross: dict[int, Array] = {}
        """AAU -> (S,), what its messages take without what is hidden, mean over processors."""
        self.misses: dict[int, float] = {}
        self.estimated = np.zeros(ledger.shape.scenarios)
        self.io = np.zeros(ledger.shape.scenarios)
        for entry in self.entries:
            self._enter(entry)
        for aau, means in ledger.means.items():
            own = self._own(aau)
            own[COMMUNICATION] += means[COMMUNICATION]
            own[WAITING] += means[WAITING]
        for (aau, category, classes), values in ledger.shared.items():
            mean_of = values[:, 0] if classes is None else values @ classes.sizes() / ledger.shape.procs
            self._own(aau)[category] += mean_of
        for (aau, category), wide in ledger.wide.items() if ledger.shape.whole else ():
            if category in (COMMUNICATION, WAITING):
                self._own(aau)[category] += mean(wide)
        self.spent = {aau: means.sum(axis=0) for aau, means in self.known.items()}
        """AAU -> (S,), mean over processors of all categories."""
        self.sums: dict[int, Array] = {}
        """With detail: AAU -> (S, P), all categories."""
        self.alone: dict[int, tuple[Array, int]] = {}
        """With detail: AAU -> the answer of `largest` for it alone."""
        if ledger.shape.detail:
            sums = np.zeros((len(self.known), ledger.shape.scenarios, ledger.shape.procs))
            self.sums = dict(zip(self.known, sums, strict=True))
            for aau, classes, seconds in _spent(self, None, None):
                self.sums[aau] += seconds if classes is None else seconds[:, classes.number]
            self.alone = dict(zip(self.known, _largest_of_each(sums), strict=True))

    def price(self, column: CountColumn, kind: int) -> Array:
        """(S or 1,) seconds of one of a column, of one kind of `Paid`."""
        known = self.prices.get((column, kind))
        if known is None:
            known = self.prices[column, kind] = self.priced.price(column, kind)
        return known

    def _enter(self, entry: CountEntry) -> None:
        """Add what an entry takes in the mean over processors."""
        own, figures = self._own(entry.aau), self.priced.figures
        gross = self.gross.setdefault(entry.aau, np.zeros(self.shape.scenarios))
        procs = self.shape.procs
        for total, column in zip(entry.total(procs).tolist(), entry.columns, strict=True):
            often = total / procs
            own[COMPUTATION] += often * self.price(column, COMPUTATION)
            own[OVERHEAD] += often * self.price(column, OVERHEAD)
            gross += often * self.priced.price(column, SENDING, RECEIVING)
            for paid, name, amount in column.fees:
                if paid in (COMPUTATION, OVERHEAD) and figures[name].estimated:
                    self.estimated += often * amount * figures[name].seconds
                if name in MISSES:
                    self.misses[entry.aau] = self.misses.get(entry.aau, 0.0) + total * amount
                if name.startswith(("io.", "link.")):
                    self.io += often * amount * figures[name].seconds

    def _own(self, aau: int) -> Array:
        if aau not in self.known:
            self.known[aau] = np.zeros_like(self.none)
        return self.known[aau]

    def means(self, aau: int) -> Array:
        """(4, S) mean over processors."""
        return self.known.get(aau, self.none)

    def hidden(self, aaus: Iterable[int]) -> Array:
        """(S,) what counts of messages take beyond the time that they cost, mean over processors (Def 21)."""
        total = np.zeros(self.shape.scenarios)
        for aau in aaus:
            whole = self.gross.get(aau, total)
            rest = whole - self.means(aau)[COMMUNICATION]
            total = total + np.where(np.abs(rest) > ROUNDING * whole, rest, 0.0)
        return total

    def total(self, aaus: Iterable[int]) -> Array:
        """(S,) mean over processors of what some AAUs spend."""
        return sum([self.spent[aau] for aau in aaus if aau in self.spent], start=np.zeros(self.shape.scenarios))

    def totals(self) -> Array:
        """(4, S, P) over all AAUs."""
        total = np.zeros((4, self.shape.scenarios, self.shape.procs))
        for category, target in enumerate(total):
            _Sum(self, None, category).add_to(target)
        return total

    def tally(self, aau: int) -> Array:
        """(tallies, S)."""
        return self.ledger.tallies.get(aau, self.untold)

    def counted(self, aaus: Iterable[int]) -> Array:
        """(tallies, S) over some AAUs."""
        tallies = self.ledger.tallies
        return sum([tallies[aau] for aau in aaus if aau in tallies], start=self.untold)

    def largest(self, aaus: Iterable[int]) -> tuple[Array | None, int | None]:
        """The largest sum of some AAUs on one processor (S,), and that processor in scenario 0."""
        if not self.shape.detail:
            return _Sum(self, frozenset(aaus), None).largest() if self.shape.whole else (None, None)
        found = [aau for aau in aaus if aau in self.sums]
        if not found:
            return np.zeros(self.shape.scenarios), 0
        if len(found) == 1:
            return self.alone[found[0]]
        total = sum([self.sums[aau] for aau in found[1:]], start=self.sums[found[0]])
        return largest(total), first_largest(total[0])


class _Sum:
    """What some AAUs (None: all) spend in a category (None: in all)."""

    def __init__(self, sums: _Sums, aaus: frozenset[int] | None, category: int | None) -> None:
        self.shape = sums.shape
        self.everybody = np.zeros((sums.shape.scenarios, 1))
        self.shared: dict[Classes, Array] = {}
        self.wide: list[Array] = []
        for _, classes, seconds in _spent(sums, aaus, category):
            if classes is None and seconds.shape[1] == 1:
                self.everybody = self.everybody + seconds
            elif classes is None:
                self.wide.append(seconds)
            else:
                known = self.shared.get(classes)
                self.shared[classes] = seconds if known is None else known + seconds

    def add_to(self, target: Array) -> None:
        """Add it to (S, P)."""
        for part in blocks(self.shape.procs, max(1, BLOCK // self.shape.scenarios)):
            target[:, part] += self._part(part)

    def _part(self, part: slice) -> Array:
        total = self.everybody
        for classes, values in self.shared.items():
            total = total + values.take(classes.number[part], axis=1)
        for wide in self.wide:
            total = total + wide[:, part]
        return total

    def largest(self) -> tuple[Array, int]:
        """The largest on one processor (S,), and the first such processor in scenario 0."""
        most, where = np.full(self.shape.scenarios, -np.inf), 0
        if not self.shared and not self.wide:
            return self.everybody[:, 0], 0
        for part in blocks(self.shape.procs, max(1, BLOCK // self.shape.scenarios)):
            some = self._part(part)
            if some[0].max() > most[0] * (1.0 + ROUNDING):
                where = part.start + first_largest(some[0])
            most = np.maximum(most, some.max(axis=1))
        return most, where


def _entries(ledger: Ledger) -> Iterator[CountEntry]:
    """All counts."""
    for (aau, basis, classes), often in ledger.alike.items():
        yield CountEntry(aau=aau, columns=basis.columns, often=often, classes=classes)
    for (aau, basis), often in ledger.counted.items():
        yield CountEntry(aau=aau, columns=basis.columns, often=often)
    for (aau, basis), often in ledger.ordinary.items():
        yield CountEntry(aau=aau, columns=basis.columns, often=often, ordinary=True)


def _spent(
    sums: _Sums, aaus: frozenset[int] | None, category: int | None
) -> Iterator[tuple[int, Classes | None, Array]]:
    """What some AAUs (None: all) spend in a category (None: in all): AAU, classes, and seconds of the classes (S, K),
    or of each processor or of all alike, (S, P or 1)."""
    ledger = sums.ledger
    for entry in sums.entries:
        if entry.ordinary or not (aaus is None or entry.aau in aaus):
            continue
        for kind in {COMPUTATION, OVERHEAD} & ({COMPUTATION, OVERHEAD} if category is None else {category}):
            total = np.zeros((1, 1))
            for column, often in zip(entry.columns, entry.often, strict=True):
                price = sums.price(column, kind)
                if np.count_nonzero(price):
                    total = total + price[:, None] * often
            if np.count_nonzero(total):
                yield entry.aau, entry.classes, total
    for (aau, spent, classes), values in ledger.shared.items():
        if (aaus is None or aau in aaus) and category in (None, spent):
            yield aau, classes, values
    for (aau, spent), wide in ledger.wide.items():
        if (aaus is None or aau in aaus) and category in (None, spent):
            yield aau, None, wide


def first_largest(values: Array) -> int:
    """The first of those that are the largest but for rounding, so that who it is does not depend on the order in which
    equal times were added."""
    return int((values >= values.max() * (1.0 - ROUNDING)).argmax())


def _largest_of_each(sums: Array) -> list[tuple[Array, int]]:
    """The largest of each (N, S, P) by scenario, and the processor that is the first to have it in scenario 0."""
    if not len(sums):
        return []
    most = largest(sums.reshape(-1, sums.shape[2])).reshape(sums.shape[:2])
    where = (sums[:, 0] >= most[:, :1] * (1.0 - ROUNDING)).argmax(axis=1)
    return list(zip(most, where.tolist(), strict=True))


def _extrapolate(run: Run) -> None:
    """Say where the machine is larger than any that was built, or has nodes to spare (Def 14)."""
    machine = run.machine
    if run.procs > machine.largest_built:
        run.books.assume(
            "extrapolated",
            f"the largest {machine.name} built has {machine.largest_built:,} processors: "
            f"{run.procs:,} is an extrapolation",
        )
    if machine.network is not None and run.network.size > run.procs:
        grid = "x".join(map(str, run.application.grid))
        run.books.assume(
            "idle-nodes",
            f"the grid {grid} uses {run.procs:,} of {run.network.size:,} nodes; the others only route messages",
        )


def counts_of(run: Run) -> CountTable:
    """What the ledger of a walk has counted so far."""
    return CountTable(entries=tuple(_entries(run.books.ledger)), figures=figures_of(run.machine), procs=run.procs)


def by_processor(run: Run) -> dict[int, Array]:
    """AAU -> (4, S, P), what it cost each processor in the four categories. Only where that is kept (D9)."""
    sums = _Sums(run.books.ledger, Prices(run.machine, lambda _: None))
    found = {aau: np.zeros((4, run.scenarios, run.procs)) for aau in sums.known}
    for category in Category:
        for aau, classes, seconds in _spent(sums, None, category):
            found[aau][category] += seconds if classes is None else seconds[:, classes.number]
    return found


def summarise(run: Run, graph: Graph, about: About, own_end: Array) -> Result:
    """Read the sums. `own_end` (S, P): when each processor came to its own end."""
    _extrapolate(run)
    sums = _Sums(run.books.ledger, Prices(run.machine, lambda _: None))
    totals = sums.totals()
    calls = CallTree(run, graph.body, sums.entries, sums.means)
    aaus = tuple([_aau(run, sums, *each, calls.division) for each in _families(graph.body, None)])
    tallies = sums.counted(each.id for each in aaus)
    counts = _counts(tallies)
    means = means_of(totals)
    io = run.machine.io
    usable = None if run.machine.memory is None else run.machine.memory.usable_bytes
    held, copied = _memory(run)
    if usable is not None and held + copied > usable:
        run.books.assume(
            "memory", f"a processor needs {held + copied} bytes for data and copies, but a node has {int(usable)}"
        )
    for code, text, span in about.notes:
        run.books.assume(code, text, span)
    for text in run.machine.notes:
        run.books.assume("machine", text)
    computation = totals[COMPUTATION]
    average = mean(computation)
    return Result(
        program=about.program,
        file=about.file,
        lines_text=about.lines,
        others_text=about.others,
        system=run.machine.name,
        processors=run.procs,
        grid=run.application.grid,
        scenarios=run.scenarios,
        constants=dict(about.constants),
        time_s=largest(own_end),
        timed_s=_timed(run),
        load_s=_full(run, None if io is None else io.load_s),
        parts=_parts(means),
        io_s=sums.io,
        hidden_s=sums.hidden(each.id for each in aaus),
        counts=CountTable(entries=sums.entries, figures=sums.priced.figures, procs=run.procs),
        messages=round(counts[Tally.MESSAGES]),
        bytes=round(counts[Tally.BYTES]),
        lines=_lines(sums, aaus, about.file),
        aaus=aaus,
        calls=calls.metrics(about.program, graph.body[0].span, _moved(aaus)),
        per_processor=PerProcessor(
            end_s=own_end, computation_s=totals[0], communication_s=totals[1], overhead_s=totals[2], waiting_s=totals[3]
        ),
        imbalance=np.divide(largest(computation), average, out=np.ones(run.scenarios), where=average > 0),
        memory_bytes=held,
        memory_copies_bytes=copied,
        memory_usable_bytes=usable,
        estimated_share=_estimated(run, aaus, sums.estimated, means),
        iterations=round(counts[Tally.ITERATIONS]),
        iterations_walked=run.books.walked,
        followed=run.network.followed,
        assumptions=tuple(run.books.assumptions.values()),
        complete=run.books.complete,
    )


def _memory(run: Run) -> tuple[int, int]:
    """Bytes of data and of copies on the processor that needs most memory."""
    held, copied = run.application.bytes_held(), run.application.bytes_copied()
    fullest = int((held + copied).argmax()) if held.size else 0
    return int(held[fullest]), int(copied[fullest])


def _families(body: tuple[AAU, ...], parent: int | None) -> list[tuple[AAU, int | None, list[int]]]:
    """All AAUs in program order, with their parents and the numbers of themselves and all inside them."""
    found = []
    for aau in body:
        inside = _families(children(aau), aau.id)
        found.append((aau, parent, [aau.id, *[each.id for each, _, _ in inside]]))
        found += inside
    return found


def _moved(aaus: tuple[AauMetrics, ...]) -> dict[int, tuple[int, int]]:
    return {each.id: (each.comm.messages, each.comm.bytes) for each in aaus if each.comm is not None}


def _aau(
    run: Run,
    sums: _Sums,
    aau: AAU,
    parent: int | None,
    inside: list[int],
    division: Mapping[int, tuple[CallShare, ...]],
) -> AauMetrics:
    own = sums.means(aau.id)
    largest, processor = sums.largest(inside)
    tally = _counts(sums.tally(aau.id))
    entry = run.books.table.get(aau.id)
    return AauMetrics(
        id=aau.id,
        kind=type(aau).__name__,
        label=aau.label,
        span=aau.span,
        parent=parent,
        parts=_parts(own),
        total_s=sums.total(inside),
        max_s=largest,
        max_processor=processor,
        clock_s=run.books.ended.get(aau.id, np.zeros(run.scenarios)),
        executions=round(tally[Tally.EXECUTIONS]),
        comm=None if entry is None else _message_summary(entry, tally),
        hidden_s=sums.hidden((aau.id,)),
        misses=sums.misses.get(aau.id, 0.0),
        division=division[aau.id],
        through=last_line(aau),
    )


def _message_summary(entry: CommEntry, tally: Sequence[float]) -> MessageSummary:
    return MessageSummary(
        array=entry.array,
        pattern=entry.pattern,
        executions=round(tally[Tally.EXECUTIONS]),
        messages=round(tally[Tally.MESSAGES]),
        bytes=round(tally[Tally.BYTES]),
        sizes=entry.sizes,
        varies=_varies(entry, tally),
        hops=entry.hops,
        contended=entry.contended,
    )


def _varies(entry: CommEntry, tally: Sequence[float]) -> Literal["", "sizes", "messages"]:
    """What executions differ in from the typical one. Counts are sums of weights of branches, so they are rounded."""
    executions, messages, volume = tally[Tally.EXECUTIONS], tally[Tally.MESSAGES], tally[Tally.BYTES]
    if not isclose(executions * entry.messages, messages, rel_tol=_ROUNDING):
        return "messages"
    return "" if isclose(executions * entry.volume, volume, rel_tol=_ROUNDING) else "sizes"


def _lines(sums: _Sums, aaus: tuple[AauMetrics, ...], file: str) -> tuple[LineMetrics, ...]:
    """Lines that took time or sent messages, in the order of the files and lines (Def 4)."""
    places: dict[tuple[str, int], list[AauMetrics]] = {}
    for each in aaus:
        places.setdefault((each.span.file or file, each.span.line), []).append(each)
    result = []
    for (name, line), here in sorted(places.items()):
        ids = [each.id for each in here]
        parts = sum([sums.means(each) for each in ids], start=sums.none)
        tally = _counts(sums.counted(ids))
        largest, processor = sums.largest(ids)
        result.append(
            LineMetrics(
                file=name,
                line=line,
                parts=_parts(parts),
                max_s=largest,
                max_processor=processor,
                messages=round(tally[Tally.MESSAGES]),
                bytes=round(tally[Tally.BYTES]),
                hidden_s=sums.hidden(ids),
                aaus=tuple(ids),
                through=max(each.through for each in here),
            )
        )
    return tuple(result)


def _parts(means: Array) -> Parts:
    return Parts(computation_s=means[0], communication_s=means[1], overhead_s=means[2], waiting_s=means[3])


def _timed(run: Run) -> Array | None:
    """Def 5: between the first and the last reading of the clock."""
    if len(run.books.marks) < 2:
        return None
    spent: Array = largest(run.books.marks[-1][0]) - largest(run.books.marks[0][0])
    return spent


def _estimated(run: Run, aaus: tuple[AauMetrics, ...], estimated: Array, means: Array) -> Array:
    """Share of computation, overhead and communication that rests on estimated figures; waiting follows from them."""
    guessed = estimated.copy()
    for each in aaus:
        entry = run.books.table.get(each.id)
        if entry is not None:
            guessed += each.parts.communication_s * entry.estimated
    spent = means[:WAITING].sum(axis=0)
    share: Array = np.clip(np.divide(guessed, spent, out=np.zeros_like(spent), where=spent > 0), 0.0, 1.0)
    return share


def _full(run: Run, figure: Array | None) -> Array:
    return np.zeros(run.scenarios) if figure is None else np.broadcast_to(figure, (run.scenarios,)).copy()


def _counts(tally: Array) -> list[float]:
    """What was counted, in scenario 0."""
    counts: list[float] = tally[:, 0].tolist()
    return counts
