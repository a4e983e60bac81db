"""What each call of a procedure costs: the tree of calls, from the units of work and the calls that lead to them.

A unit belongs to the call that its statement is reached through. A nest of loops with statements of several procedures
is one unit: its operations are those of the statements, its cache misses are divided in proportion to their array
accesses, and all else (loop control, overhead) belongs to the innermost call that all statements are reached through.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from aag.diagnostics import CallSite, Span
from aag.graph.aau import AAU, Call, IterD, IterSync, Seq, Work, walk
from interpreter.counts import COMPUTATION, CountColumn
from interpreter.models.compute import LOOP_STEP, nest_basis
from interpreter.result import CallMetrics, CallShare, CountEntry, Parts
from interpreter.state import Run

Array = NDArray[np.float64]

_ACCESSES = ("load", "store")


class CallTree:
    """The calls of a program. `division`: AAU -> what of it belongs to which call."""

    def __init__(
        self, run: Run, body: tuple[AAU, ...], entries: Iterable[CountEntry], means: Callable[[int], Array]
    ) -> None:
        self._run = run
        self._entries: dict[int, list[CountEntry]] = {}
        for each in entries:
            self._entries.setdefault(each.aau, []).append(each)
        self._numbers: dict[CallSite | None, int] = {None: 0}
        self._places: dict[tuple[int, str, Span], int] = {}
        self._heads: list[tuple[int | None, str, Span]] = [(None, "", Span("", 0))]
        self._often = [1.0]
        self.division: dict[int, tuple[CallShare, ...]] = {}
        for aau in walk(body):
            self.division[aau.id] = tuple(self._divided(aau, means(aau.id)))

    def metrics(self, program: str, span: Span, moved: Mapping[int, tuple[int, int]]) -> tuple[CallMetrics, ...]:
        """The calls, those inside a call after it, in program order. `moved`: messages and bytes of AAUs."""
        own: list[list[Parts]] = [[] for _ in self._heads]
        sent = np.zeros((len(self._heads), 2), np.int64)
        for aau, shares in self.division.items():
            for each in shares:
                own[each.call].append(each.parts)
            if aau in moved and shares:
                sent[shares[0].call] += moved[aau]
        total = [list(each) for each in own]
        for number in range(len(self._heads) - 1, 0, -1):  # a call has a larger number than those around it
            parent = self._heads[number][0]
            assert parent is not None
            total[parent] += total[number]
        heads = [(None, program, span), *self._heads[1:]]
        return tuple(
            CallMetrics(
                id=number,
                parent=heads[number][0],
                procedure=heads[number][1],
                span=heads[number][2],
                calls=float(self._often[number]),
                parts=self._sum(own[number]),
                total=self._sum(total[number]),
                messages=int(sent[number, 0]),
                bytes=int(sent[number, 1]),
            )
            for number in self._preorder()
        )

    def _preorder(self) -> list[int]:
        inside: list[list[int]] = [[] for _ in self._heads]
        for number, (parent, _, _) in enumerate(self._heads):
            if parent is not None:
                inside[parent].append(number)
        found, pending = [], [0]
        while pending:
            found.append(pending.pop())
            pending += reversed(inside[found[-1]])
        return found

    def _number(self, site: CallSite | None) -> int:
        """The number of a call; calls of one procedure in one line are one."""
        if site not in self._numbers:
            assert site is not None
            key = self._number(site.at.call), site.procedure, Span(site.at.file, site.at.line)
            if key not in self._places:
                self._places[key] = len(self._heads)
                self._heads.append((key[0], site.procedure, site.at))
                self._often.append(0.0)
            self._numbers[site] = self._places[key]
        return self._numbers[site]

    def _divided(self, aau: AAU, means: Array) -> Iterator[CallShare]:
        """What of an AAU belongs to which call, its own call first; `means` (4, S)."""
        own = self._number(aau.span.call)
        if not aau.shares:
            yield CallShare(call=own, parts=_parts(means))
            return
        found: dict[int, Array] = {}
        parts, spent, accesses = self._shares(aau)
        rest, every = np.maximum(means[COMPUTATION] - spent, 0.0), sum(accesses.values())
        for call in accesses:
            found[call] = parts[call] + (rest * (accesses[call] / every) if every else 0.0)
        others = sum([each for call, each in found.items() if call != own], start=np.zeros_like(means[0]))
        left = np.array(means)
        left[COMPUTATION] -= others
        yield CallShare(call=own, parts=_parts(left))
        for call, seconds in found.items():
            if call != own:
                alone = np.zeros_like(means)
                alone[COMPUTATION] = seconds
                yield CallShare(call=call, parts=_parts(alone))

    def _shares(self, aau: AAU) -> tuple[dict[int, Array], Array, dict[int, float]]:
        """Call -> (S,) what its operations take; what those of all take; call -> its array accesses."""
        run = self._run
        parts: dict[int, Array] = {}
        accesses: dict[int, float] = {}
        spent = np.zeros(run.scenarios)
        columns, levels = _columns(run, aau)
        often = np.zeros(len(columns))
        for entry in self._entries.get(aau.id, ()):
            if entry.columns == columns:
                often += entry.total(run.procs) / run.procs
        for column, times in zip(columns, often, strict=True):
            spent = spent + times * run.prices.price(column, COMPUTATION)
        for share in aau.shares:
            call = self._number(share.site)
            parts.setdefault(call, np.zeros(run.scenarios))
            accesses.setdefault(call, 0.0)
            for work, calls, level in zip(share.works, share.calls, levels, strict=True):
                times = often[level]
                parts[call] = parts[call] + times * run.prices.price(run.prices.of(work), COMPUTATION)
                accesses[call] += times * sum(many for name, many in work.computation if name in _ACCESSES)
                self._often[call] += times * calls
        return parts, spent, accesses

    def _sum(self, parts: Sequence[Parts]) -> Parts:
        none = np.zeros(self._run.scenarios)
        return Parts(
            computation_s=sum([each.computation_s for each in parts], start=none),
            communication_s=sum([each.communication_s for each in parts], start=none),
            overhead_s=sum([each.overhead_s for each in parts], start=none),
            waiting_s=sum([each.waiting_s for each in parts], start=none),
        )


def _columns(run: Run, aau: AAU) -> tuple[tuple[CountColumn, ...], tuple[int, ...]]:
    """What an AAU with shares pays for its operations, and the column of each level of a share."""
    if isinstance(aau, IterD) and aau.nest is not None:
        depth = len(aau.nest.indices)
        columns = nest_basis(run, aau, depth).columns
        inside = tuple(range(depth + 1)) if depth else (1,)
        paid = accumulate((bool(each.computation) for each in aau.conditional), initial=max(depth, 1))
        return columns, (*inside, *[*paid][1:])  # one that has no column does nothing, so that any will do
    assert isinstance(aau, Seq | IterSync | Call)
    work = aau.work
    if isinstance(aau, IterSync):
        others = Work(overhead=(*work.overhead, *LOOP_STEP.computation))
        return run.prices.basis(run.prices.of(work, LOOP_STEP), run.prices.of(others)).columns, (0,)
    return (run.prices.of(work),), (0,)


def _parts(means: Array) -> Parts:
    return Parts(computation_s=means[0], communication_s=means[1], overhead_s=means[2], waiting_s=means[3])
