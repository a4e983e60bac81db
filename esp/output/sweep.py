"""A sweep as a table, CSV, JSON and JSON lines."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from esp.explore.axes import Axis
from esp.explore.sweep import Sweep
from esp.explore.winners import best, chosen, winners
from esp.incomplete import reasons_among
from esp.output.assumptions import assumed_among
from esp.output.cells import rows_as_csv
from esp.output.columns import Column, TableRow, table
from esp.output.figures import NOT_FITTING
from esp.output.numbers import one_of, percent, percentages, plural, seconds, significant
from esp.output.partial import partial_text
from esp.output.profile import assumed_lines
from esp.output.screen import Screen, flow, paragraph, printable, shorten
from esp.stated import ERROR

PREFERRED = ("program", "distribute", "system", "procs", "grid", "opt", "io", "contention")
"""Kinds of axes that make good columns, the best first."""

_MOST_ROWS = 40
_MOST_CHANGES = 6
_FRACTION = re.compile(r"(?<![\w.])\d+\.\d+|(?<=^[xX])\d+\.\d+")
_NOUNS = {"procs": "number of processors", "distribute": "distribution", "opt": "optimisation"}
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
_LONGEST_LABEL = 18


class TableLayout:
    """Which axis a table has as columns; the others make its rows."""

    def __init__(self, sweep: Sweep, screen: Screen, versus: str) -> None:
        self.axes = sweep.axes
        self.rows = [at for at, axis in enumerate(sweep.axes) if len(axis) > 1]
        self.column: int | None = None
        widest = max(map(len, _cells(sweep, versus).ravel().tolist())) + min(2, len(_choices(sweep, versus)))
        labels = sum(2 + max(map(len, map(_short, sweep.axes[at].labels))) for at in self.rows)
        # Of equally good ones the last, which varies fastest.
        for at in sorted(self.rows, key=lambda at: (_rank(sweep.axes[at]), -at)):
            own = max(len(_short(each)) for each in sweep.axes[at].labels)
            room = screen.columns - labels + own + 2
            if len(self.rows) > 1 and len(sweep.axes[at]) * (2 + max(widest, own)) <= room:
                self.column = at
                self.rows.remove(at)
                break


def _rank(axis: Axis) -> int:
    return PREFERRED.index(axis.kind) if axis.kind in PREFERRED else len(PREFERRED)


def _short(label: str) -> str:
    return shorten(printable(rounded(label)), _LONGEST_LABEL)


def rounded(label: str) -> str:
    """A value of an axis, with at most four digits where it is a fraction.

    >>> [rounded(each) for each in ("0.0620689655", "x1.25", "33.33333%", "(BLOCK,*)", "1024")]
    ['0.06207', 'x1.25', '33.33%', '(BLOCK,*)', '1024']
    """
    return _FRACTION.sub(lambda found: f"{float(found[0]):.4g}", label.strip())


def sweep_text(sweep: Sweep, screen: Screen, *, versus: str = "") -> str:
    """The times as a table: one axis as columns where there is room, the others as rows; parts where one axis is left.

    `versus`: an axis; instead of times the changes against its first value are shown.
    """
    blocks = [_heading(sweep, screen, versus)]
    if sweep.done.any():
        layout = TableLayout(sweep, screen, versus)
        shown = _pivot(sweep, layout, screen, versus) if layout.column is not None else _list(sweep, screen, versus)
        blocks.append(shown)
    notes = _notes(sweep, screen)
    notes[:0] = [] if versus else _winners(sweep, screen)
    return "\n\n".join([*blocks, *(["\n".join(notes)] if notes else [])]) + "\n"


def _heading(sweep: Sweep, screen: Screen, versus: str) -> str:
    head = screen.paint("strong", flow(map(printable, shared_by_all(sweep)), screen.columns))
    varied = " x ".join(f"{len(axis)} {axis.name}" for axis in sweep.axes if len(axis) > 1)
    told = [plural(sweep.time_s.size, "prediction")] + ([varied] if varied else [])
    done = int(sweep.done.sum())
    if done:
        least, most = float(np.nanmin(sweep.time_s)), float(np.nanmax(sweep.time_s))
        told.append(seconds(least) if done == 1 else f"{seconds(least)} to {seconds(most)}")
    told += [_shown(sweep, versus)] if done else []
    return head + "\n" + flow(told, screen.columns, "   ", "     ")


def shared_by_all(sweep: Sweep) -> list[str]:
    """What all cells have in common: ``laplace.hpf``, ``ipsc860``, ``n=64``."""
    shared = [each if name in ("program", "system") else f"{name}={each}" for name, each in sweep.about]
    return shared + [f"{axis.name}={axis.labels[0]}" for axis in sweep.axes if len(axis) == 1]


def _shown(sweep: Sweep, versus: str) -> str:
    if versus:
        return f"shown: change against the first {versus}"
    unit = _unit(sweep)
    return "shown: time" + (f" in {unit[1]}" if unit else "")


def _unit(sweep: Sweep) -> tuple[float, str] | None:
    """The unit in which all times of a table can be read; None where they differ by too much."""
    times = sweep.time_s[sweep.done]
    if not times.size:
        return None
    least, most = float(times.min()), float(times.max())
    return next((each for each in _UNITS if least >= 0.1 * each[0] and most < 1e6 * each[0]), None)


def _cells(sweep: Sweep, versus: str) -> "np.ndarray[Any, np.dtype[np.str_]]":
    """What each cell shows."""
    if versus:
        texts = [_change(each) for each in sweep.change(versus).ravel().tolist()]
    else:
        unit = _unit(sweep)
        texts = [_time(each, unit) for each in sweep.time_s.ravel().tolist()]
    impossible, over = sweep.impossible.ravel().tolist(), (sweep.done & ~sweep.fits).ravel().tolist()
    marked = [each + "!" * large for each, large in zip(texts, over, strict=True)]
    return np.array([("-" if no else each) for each, no in zip(marked, impossible, strict=True)]).reshape(
        sweep.time_s.shape
    )


def _time(time_s: float, unit: tuple[float, str] | None) -> str:
    if isnan(time_s):
        return ""
    return seconds(time_s) if unit is None else significant(time_s / unit[0])


def _change(share: float) -> str:
    if isnan(share):
        return ""
    if abs(share) < 0.0005:
        return "0%"
    return f"{100 * share:+.1f}%" if abs(share) < 0.995 else f"{100 * share:+,.0f}%"


def _pivot(sweep: Sweep, layout: TableLayout, screen: Screen, versus: str) -> str:
    column = layout.column
    assert column is not None
    across = sweep.axes[column]
    columns = [Column(sweep.axes[at].name, _align(sweep.axes[at])) for at in layout.rows]
    columns[-1] = Column(f"{columns[-1].title} \\ {across.name}", columns[-1].align)
    columns += [Column(_short(label) + " " * bool(_choices(sweep, versus))) for label in across.labels]
    texts, told = _marked(sweep, layout, versus)
    cells = np.moveaxis(texts, column, -1)
    rows = []
    for at in _shown_rows(cells.shape[:-1]):
        named = zip(layout.rows, _full(at, layout), strict=True)
        rows.append(TableRow((*(_short(sweep.axes[axis].labels[where]) for axis, where in named), *cells[at].tolist())))
    text = table(columns, rows, screen) + (f"\n{flow(told, screen.columns, ' ', '  ')}" if told else "")
    more = cells[..., 0].size - len(rows)
    return text + (f"\nand {plural(more, 'more row')} (--csv has all)" if more > 0 else "")


def _choices(sweep: Sweep, versus: str) -> tuple[int, ...]:
    return () if versus or not sweep.complete[sweep.done].all() else chosen(sweep)


def _marked(sweep: Sweep, layout: TableLayout, versus: str) -> tuple[Any, list[str]]:
    """The texts of cells, with marks for the best of their row and of their column, and what the marks mean."""
    cells, choices = _cells(sweep, versus), _choices(sweep, versus)
    groups = (tuple(at for at in choices if at == layout.column), tuple(at for at in choices if at != layout.column))
    told = []
    # The star is for what is looked for, whether that makes rows or columns: the distribution, if there is a choice.
    ordered = sorted(filter(None, groups), key=lambda axes: not _distributes(sweep, axes))
    for mark, axes in zip("*+", ordered, strict=False):
        cells = np.char.add(cells, np.where(best(sweep, axes), mark, " "))
        nouns = (_NOUNS.get(sweep.axes[at].kind, sweep.axes[at].name) for at in axes)
        told.append(f"{mark} best {' and '.join(nouns)},")
    return cells, [*told, f"ties within {percent(ERROR)} included"] if told else []


def _distributes(sweep: Sweep, axes: Iterable[int]) -> bool:
    return any(sweep.axes[at].kind == "distribute" for at in axes)


def _full(at: tuple[int, ...], layout: TableLayout) -> tuple[int, ...]:
    """The positions of a row on the axes that make rows; axes of one value have none of their own."""
    others = [axis for axis in range(len(layout.axes)) if axis != layout.column]
    return tuple(at[others.index(axis)] for axis in layout.rows)


def _shown_rows(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    for count, at in enumerate(np.ndindex(*shape)):
        if count >= _MOST_ROWS:
            return
        yield at


def _list(sweep: Sweep, screen: Screen, versus: str) -> str:
    """One row for each cell, with the parts of its time."""
    varied = [at for at, axis in enumerate(sweep.axes) if len(axis) > 1]
    columns = [Column(sweep.axes[at].name, _align(sweep.axes[at])) for at in varied]
    choices = _choices(sweep, versus)
    columns += [Column(("change" if versus else "time") + " " * bool(choices), width=8)]
    parts = screen.columns >= sum(2 + len(column.title) for column in columns) + 32
    if parts:
        columns += [Column(name, width=4, gap=2 if name == "comp" else 1) for name in ("comp", "comm", "wait", "ovhd")]
    cells = _cells(sweep, versus)
    if choices:
        cells = np.char.add(cells, np.where(best(sweep, choices), "*", " "))
    rows = []
    for at in _shown_rows(sweep.time_s.shape):
        texts = [_short(sweep.axes[axis].labels[at[axis]]) for axis in varied]
        texts.append(str(cells[at]))
        if parts:
            four = [
                float(sweep.times[name][at]) for name in ("computation_s", "communication_s", "waiting_s", "overhead_s")
            ]
            texts += [f"{share}%" for share in percentages(four)] if sweep.done[at] else [""] * 4
        rows.append(TableRow(tuple(texts)))
    text = table(columns, rows, screen)
    text += f"\n* the fastest, or tied with it (within {percent(ERROR)})" if choices else ""
    more = sweep.time_s.size - len(rows)
    return text + (f"\nand {more:,} more (--csv has all)" if more > 0 else "")


def _align(axis: Axis) -> str:
    return ">" if axis.numbers is not None else "<"


def _notes(sweep: Sweep, screen: Screen) -> list[str]:
    width = screen.columns
    notes = []
    if sweep.interrupted:
        left = int((~sweep.done & ~sweep.impossible).sum())
        notes.append(screen.paint("warm", paragraph("stopped", f"{plural(left, 'prediction')} not made", width)))
    if (sweep.done & ~sweep.fits).any():
        notes.append(screen.paint("warm", paragraph("!", f"{NOT_FITTING} in the memory of a node", width)))
    for why in dict.fromkeys((why.code, why.message) for _, why in sweep.problems):
        notes.append(screen.paint("warm", paragraph("-", f"failed: {why[0]} {why[1]}", width)))
    incomplete = int((sweep.done & ~sweep.complete).sum())
    if incomplete:
        told = reasons_among(sweep.assumptions, sweep.warnings)
        text = partial_text(told, f"{plural(incomplete, 'prediction')} incomplete")
        notes.insert(0, screen.paint("warm", paragraph("partial", text, width)))
    kinds = {axis.kind for axis in sweep.axes}
    if "distribute" in kinds and "grid" not in kinds and any("x" in each for each in sweep.grids.ravel().tolist()):
        notes.append(paragraph("grids", "the squarest for each number of processors; esp compare tries all", width))
    return [*notes, *assumed_lines(assumed_among([each] for each in sweep.assumptions), width)]


def _winners(sweep: Sweep, screen: Screen) -> list[str]:
    """From where to where which choice is the best."""
    found = winners(sweep)
    if found is None:
        return []
    by_text: dict[str, list[str]] = {}
    for change in found.changes:
        others = ", ".join(f"{name} {rounded(value)}" for name, value in change.others)
        by_text.setdefault(_runs(found.over, change.runs), []).append(others)
    lines = [
        (f"{'; '.join(others)}: " if others[0] and len(by_text) > 1 else "") + text for text, others in by_text.items()
    ]
    if len(lines) > _MOST_CHANGES:
        lines[_MOST_CHANGES:] = [f"and {len(lines) - _MOST_CHANGES} more"]
    return [paragraph("" if at else "fastest", printable(line), screen.columns) for at, line in enumerate(lines)]


def _runs(over: str, runs: Sequence[tuple[str, str, Sequence[str]]]) -> str:
    """``a up to n = 32, b from n = 64``."""
    if len(runs) == 1:
        return f"{one_of(runs[0][2])} for every {over}"
    told = []
    for at, (first, last, names) in enumerate(runs):
        name, low, high = one_of(names), rounded(first), rounded(last)
        if at == 0:
            where = f"up to {over} = {high}"
        elif at == len(runs) - 1:
            where = f"from {over} = {low}"
        else:
            where = f"at {over} = {low}" if low == high else f"for {over} = {low} to {high}"
        told.append(f"{name} {where}")
    return ", ".join(told)


# --- for programs ---


def sweep_rows(sweep: Sweep, versus: str = "") -> Iterator[dict[str, Any]]:
    """One flat record for each cell that is done or impossible, the last axis varying fastest."""
    labels = [[(axis.name, _value(axis, at)) for at in range(len(axis))] for axis in sweep.axes]
    flat: dict[str, list[Any]] = {name: row.ravel().tolist() for name, row in sweep.times.items()}
    flat |= {"messages": sweep.messages.ravel().tolist(), "bytes": sweep.bytes.ravel().tolist()}
    processors, grids = sweep.processors.ravel().tolist(), sweep.grids.ravel().tolist()
    complete, fits = sweep.complete.ravel().tolist(), sweep.fits.ravel().tolist()
    change = sweep.change(versus).ravel().tolist() if versus else None
    done, impossible = sweep.done.ravel().tolist(), sweep.impossible.ravel().tolist()
    for number, at in enumerate(np.ndindex(*sweep.time_s.shape)):
        if not (done[number] or impossible[number]):
            continue
        record: dict[str, Any] = dict(labels[axis][where] for axis, where in enumerate(at))
        if done[number]:
            record |= {"processors": processors[number], "grid_used": grids[number]}
            record |= {name: row[number] for name, row in flat.items()}
            record |= {"complete": complete[number], "fits": fits[number]}
            if change is not None:
                record["change"] = None if isnan(change[number]) else change[number]
        else:
            empty = ("processors", "grid_used", *flat, "complete", "fits", *(["change"] if versus else []))
            record |= dict.fromkeys(empty)
        yield record


def _value(axis: Axis, at: int) -> Any:
    """A value of an axis as data: numbers as numbers, all else as it is shown."""
    value = axis.values[at]
    if axis.kind in ("procs", "set") and isinstance(value, bool | int | float):
        return value
    return axis.labels[at]


def sweep_csv(sweep: Sweep, *, versus: str = "") -> str:
    """One row for each cell: its values, then its figures in SI units and full precision; empty where impossible."""
    return rows_as_csv(list(sweep_rows(sweep, versus)))


def sweep_lines(sweep: Sweep, *, versus: str = "") -> str:
    """One JSON object a line for each cell."""
    return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in sweep_rows(sweep, versus))


def sweep_extra_p(sweep: Sweep) -> str:
    """One line of Extra-P's JSON Lines for each metric of each complete cell: numbers of processors and values are the
    parameters; program, machine, distribution and whatever else varies are the call path."""
    params = [at for at, axis in enumerate(sweep.axes) if axis.kind in ("procs", "set") and axis.numbers is not None]
    program = dict(sweep.about).get("program", "")
    named = [at for at, axis in enumerate(sweep.axes) if at not in params and (len(axis) > 1 or axis.kind == "program")]
    metrics: dict[str, NDArray[Any]] = {name.removesuffix("_s"): each for name, each in sweep.times.items()}
    metrics |= {"messages": sweep.messages, "bytes": sweep.bytes}
    lines = []
    for at in np.ndindex(*sweep.time_s.shape):
        if not (sweep.done[at] and sweep.complete[at]):
            continue
        given = {sweep.axes[axis].name: _value(sweep.axes[axis], at[axis]) for axis in params}
        path = "->".join([*([program] if program else []), *(sweep.axes[axis].labels[at[axis]] for axis in named)])
        for name, values in metrics.items():
            record = {"params": given, "callpath": path, "metric": name, "value": values[at].item()}
            lines.append(json.dumps(record, ensure_ascii=False) + "\n")
    return "".join(lines)


def sweep_json(sweep: Sweep, *, versus: str = "") -> str:
    """One JSON object; docs/explore.md describes its fields."""
    from esp.output.json import text_of

    return text_of(
        {
            "about": dict(sweep.about),
            "axes": [
                {"name": axis.name, "kind": axis.kind, "values": [_value(axis, at) for at in range(len(axis))]}
                for axis in sweep.axes
            ],
            "interrupted": sweep.interrupted,
            "cells": list(sweep_rows(sweep, versus)),
            "impossible": [{"cell": cell, "code": why.code, "text": why.message} for cell, why in sweep.problems],
            "assumptions": [
                {"code": each.code, "text": each.text, "line": each.span.line if each.span is not None else None}
                for each in sweep.assumptions
            ],
        }
    )
