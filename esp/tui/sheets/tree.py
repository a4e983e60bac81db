"""The application abstraction graph as a tree, with the time of each AAU, and of each processor inside one."""

import numpy as np
from numpy.typing import NDArray

from esp.output.numbers import count, seconds
from esp.output.screen import printable
from esp.prediction import Prediction, first, four
from esp.tui.lines import Cell, Field, Piece, Sheet, SheetLayout, SheetLine, joined, words, wrapped
from esp.tui.question import ByProcessor, Failure
from esp.tui.sheets.figures import bar, share_pieces, time_cell
from esp.tui.state import State, prediction
from interpreter.metrics import COMMUNICATION, COMPUTATION, OVERHEAD, WAITING
from interpreter.result import AauMetrics

ALL_UP_TO = 64
SHOWN_OF_MANY = 16
"""Processors below an AAU: all of a few, of many those that take longest."""

_WITH_SHARES = 44
_WITH_BAR = 72
_WITH_ALL = 92
_BAR = 10
_ORDER = (COMPUTATION, COMMUNICATION, WAITING, OVERHEAD)


def sheet(state: State, width: int) -> Sheet:
    """The tree; with `state.processor`, what that processor spends instead of means."""
    found = prediction(state)
    if found is None:
        return Sheet(None, ())
    layout = _layout(state, width)
    view = _View(state, found)
    if state.processor is not None and view.detail is None:
        return Sheet(layout.heading(), (*_why_not(state, width),))
    lines: list[SheetLine] = []
    for aau in view.roots:
        view.add(lines, layout, aau, 0, width)
    return Sheet(layout.heading(), tuple(lines))


def _layout(state: State, width: int) -> SheetLayout:
    who = "part, mean of processors" if state.processor is None else f"part, processor {state.processor} alone"
    fields = [Field(who, 0, "<"), Field("time", 8)]
    if width >= _WITH_BAR:
        fields.append(Field("where", _BAR, "<"))
    if width >= _WITH_SHARES:
        fields += [Field("comp", 4), Field("comm", 4)]
    if width >= _WITH_ALL:
        fields += [Field("wait", 4), Field("ovhd", 4), Field("runs", 6), Field("line", 4)]
    return SheetLayout(fields, width)


def _why_not(state: State, width: int) -> list[SheetLine]:
    if isinstance(state.by_processor, Failure):
        return wrapped(words(state.by_processor.text, "bad"), width)
    return [joined([("looking at each processor ...", "faint")])]


def detail_of(state: State) -> ByProcessor | None:
    """What each processor spends, where that is at hand for the selected choice."""
    found = state.by_processor
    current = state.closer_of is not None and state.closer_of[0] == state.selected
    return found if isinstance(found, ByProcessor) and current else None


class _View:
    """A prediction as a tree, with sums over all that is inside."""

    def __init__(self, state: State, found: Prediction) -> None:
        self.state, self.found = state, found
        self.detail = detail_of(state)
        self.total_s = first(found.time_s)
        self.below: dict[int | None, list[AauMetrics]] = {}
        for aau in found.aaus:
            self.below.setdefault(aau.parent, []).append(aau)
        self.roots = self.below.get(None, [])
        self._inside: dict[int, NDArray[np.float64]] = {}

    def inside(self, aau: AauMetrics) -> NDArray[np.float64]:
        """(4,) means, or (4,) of the one processor, all that is inside included, in the order of the screen."""
        known = self._inside.get(aau.id)
        if known is None:
            if self.state.processor is None or self.detail is None:
                known = np.array(four(aau.parts))
            else:
                known = processors_of(self.detail, aau.id)[:, self.state.processor % self.detail.procs]
            for each in self.below.get(aau.id, ()):
                known = known + self.inside(each)
            self._inside[aau.id] = known
        return known

    def everywhere(self, aau: AauMetrics, detail: ByProcessor) -> NDArray[np.float64]:
        """(4, P) of an AAU and all that is inside."""
        total = processors_of(detail, aau.id)
        for each in self.below.get(aau.id, ()):
            total = total + self.everywhere(each, detail)
        return total

    def add(self, lines: list[SheetLine], layout: SheetLayout, aau: AauMetrics, depth: int, width: int) -> None:
        """The line of an AAU and those below it."""
        inner = self.below.get(aau.id, [])
        closed = aau.id in self.state.closed
        sign = ("▸" if closed else "▾") if inner else "·"
        label: list[Piece] = [("  " * depth, ""), (f"{sign} ", "guide"), *_label(aau)]
        cells = self._cells(label, self.inside(aau), width)
        if width >= _WITH_ALL:
            cells += [count(aau.executions) if aau.executions else "", (str(aau.span.line or ""), "number")]
        lines.append(layout.line(cells, aau.id))
        if aau.id in self.state.spread:
            self._add_processors(lines, layout, aau, depth + 1, width)
        if not closed:
            for each in inner:
                self.add(lines, layout, each, depth + 1, width)

    def _cells(self, label: list[Piece], parts: NDArray[np.float64], width: int) -> list[Cell]:
        time_s = float(parts.sum())
        cells: list[Cell] = [label, time_cell(time_s, self.total_s)]
        if width >= _WITH_BAR:
            cells.append(bar([float(each) for each in parts], self.total_s, _BAR))
        shares = share_pieces([float(each) for each in parts])
        if width >= _WITH_SHARES:
            cells += shares[:2]
        if width >= _WITH_ALL:
            cells += shares[2:]
        return cells

    def _add_processors(
        self, lines: list[SheetLine], layout: SheetLayout, aau: AauMetrics, depth: int, width: int
    ) -> None:
        if self.detail is None:
            lines += _why_not(self.state, width)
            return
        table = self.everywhere(aau, self.detail)
        count_of = table.shape[1]
        ranks = np.arange(count_of)
        if count_of > ALL_UP_TO:
            ranks = np.argsort(-table.sum(axis=0), kind="stable")[:SHOWN_OF_MANY]
        for rank in ranks.tolist():
            label: list[Piece] = [("  " * depth, ""), ("· ", "guide"), (f"processor {rank}", "processor")]
            cells = self._cells(label, table[:, rank], width)
            cells += ["", ""] if width >= _WITH_ALL else []
            lines.append(layout.line(cells, (aau.id, rank)))
        if count_of > len(ranks):
            rest = f"{'  ' * (depth + 1)}and {count_of - len(ranks):,} more that take less"
            lines.append(joined([(rest, "faint")]))


def _label(aau: AauMetrics) -> list[Piece]:
    return [(aau.kind, "kind"), (" ", ""), (printable(aau.label), "")]


def processors_of(detail: ByProcessor, aau: int) -> NDArray[np.float64]:
    """(4, P) seconds of an AAU alone, in the order of the screen."""
    table = detail.parts.get(aau)
    return np.zeros((4, detail.procs)) if table is None else table[list(_ORDER)]


def processor_text(state: State, aau: AauMetrics, rank: int) -> str:
    """What one processor spends in one AAU, in a sentence."""
    detail = detail_of(state)
    if detail is None:
        return ""
    parts = processors_of(detail, aau.id)[:, rank]
    names = ("computation", "communication", "waiting", "overhead")
    told = ", ".join(f"{name} {seconds(float(each))}" for name, each in zip(names, parts, strict=True))
    return f"processor {rank} in AAU {aau.id} itself: {told}"
