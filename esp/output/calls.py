"""The time of each procedure, and the tree of calls."""

from collections.abc import Sequence

from esp.inspect.calls import CallRow, ProcedureTime, call_rows, path, procedures
from esp.output.cells import csv_text
from esp.output.columns import Column, TableRow, table
from esp.output.numbers import count, percent, percentages, plural, seconds, significant
from esp.output.screen import Screen, flow, printable
from esp.prediction import CATEGORIES, Prediction, first, four

_WORTH_A_ROW = 0.001
"""Share of the time from which a row is shown rather than counted, beyond the first few."""

_FIRST_FEW = 3

EXCLUSIVE = (
    "incl: with the procedures that it calls. excl: without them; the categories divide it. "
    "calls: mean over processors."
)

_WIDE = 72
"""Columns from which there is room for the categories."""


def procedure_table(prediction: Prediction, screen: Screen) -> str:
    """A row for each procedure, the largest exclusive time first."""
    every = procedures(prediction)
    total_s = first(prediction.time_s)
    shown = [each for at, each in enumerate(every) if at < _FIRST_FEW or each.own_s >= _WORTH_A_ROW * total_s]
    if len(shown) == len(every) - 1:
        shown = list(every)
    columns = [*_times(screen), Column("calls", width=6), Column("procedure", "<")]
    rows = [
        TableRow(
            (
                *_cells(each.time_s, each.own_s, each.parts_s, total_s, screen),
                times_called(each.calls),
                printable(each.name),
            )
        )
        for each in shown
    ]
    text = table(columns, rows, screen, flexible=True)
    if len(shown) < len(every):
        text += f"\nand {_rest(every, shown)} (--csv lists all)"
    return f"{text}\n\n{_note(screen)}\n"


def call_table(prediction: Prediction, screen: Screen) -> str:
    """The tree of calls: a call is below the procedure that makes it."""
    every = call_rows(prediction)
    total_s = first(prediction.time_s)
    shown = shown_calls(every, total_s)
    columns = [*_times(screen), Column("calls", width=6), Column("line", width=4), Column("call", "<")]
    rows = [
        TableRow(
            (
                *_cells(first(each.call.total.time_s), first(own.time_s), four(own), total_s, screen),
                times_called(each.call.calls),
                place_of(each, prediction),
                "  " * each.depth + printable(each.call.procedure),
            )
        )
        for each in shown
        for own in (each.call.parts,)
    ]
    text = table(columns, rows, screen, flexible=True)
    if len(shown) < len(every):
        text += f"\nand {plural(len(every) - len(shown), 'call')} more, each below {percent(_WORTH_A_ROW)} of the time"
        text += " (--csv lists all)"
    return f"{text}\n\n{_note(screen)}\n"


def shown_calls(every: Sequence[CallRow], total_s: float) -> tuple[CallRow, ...]:
    """The calls that are worth a row; none without the calls around it."""
    found = tuple(
        each
        for at, each in enumerate(every)
        if at < _FIRST_FEW or first(each.call.total.time_s) >= _WORTH_A_ROW * total_s
    )
    return tuple(every) if len(found) == len(every) - 1 else found


def place_of(row: CallRow, prediction: Prediction) -> str:
    """The line of a call, with its file where that is not the main one; nothing for the main program."""
    span = row.call.span
    if row.call.parent is None or not span.line:
        return ""
    return str(span.line) if span.file == prediction.file else f"{span.file}:{span.line}"


def times_called(calls: float) -> str:
    """How often, mean over processors.

    >>> [times_called(x) for x in (1.0, 2.5, 327680.0)]
    ['1', '2.50', '328k']
    """
    return count(round(calls)) if abs(calls - round(calls)) < 1e-6 * max(1.0, calls) else significant(calls)


def procedures_csv(prediction: Prediction) -> str:
    """One row for each procedure."""
    heading = ("procedure", "calls", "time_s", "own_s", *(f"{name}_s" for name in CATEGORIES), "messages", "bytes")
    return csv_text(
        heading,
        (
            (each.name, each.calls, each.time_s, each.own_s, *each.parts_s, each.messages, each.bytes)
            for each in procedures(prediction)
        ),
    )


def calls_csv(prediction: Prediction) -> str:
    """One row for each call; `path` names the procedures from the main program to it."""
    head = ("id", "parent", "procedure", "path", "file", "line", "calls", "time_s", "own_s")
    heading = (*head, *(f"{name}_s" for name in CATEGORIES), "messages", "bytes")
    rows = []
    for each in prediction.calls:
        name = (each.id, "" if each.parent is None else each.parent, each.procedure, path(prediction, each.id))
        times = (first(each.total.time_s), first(each.parts.time_s), *four(each.parts))
        rows.append((*name, each.span.file, each.span.line, each.calls, *times, each.messages, each.bytes))
    return csv_text(heading, rows)


def _times(screen: Screen) -> list[Column]:
    columns = [Column("incl", width=7), Column("share", width=5, gap=1), Column("excl", width=7)]
    if screen.columns >= _WIDE:
        columns += [Column("share", width=5, gap=1)]
        columns += [Column(name, width=4, gap=1) for name in ("comp", "comm", "wait", "ovhd")]
    return columns


def _cells(time_s: float, own_s: float, parts_s: Sequence[float], total_s: float, screen: Screen) -> list[str]:
    shares = [percent(each / total_s) if total_s > 0 and each > 0 else "" for each in (time_s, own_s)]
    cells = [seconds(time_s), shares[0], seconds(own_s)]
    if screen.columns >= _WIDE:
        cells += [shares[1], *(f"{each}%" if own_s > 0 else "" for each in percentages(parts_s))]
    return cells


def _rest(every: Sequence[ProcedureTime], shown: Sequence[ProcedureTime]) -> str:
    left_s = sum(each.own_s for each in every) - sum(each.own_s for each in shown)
    return f"{len(every) - len(shown)} more, {seconds(left_s)} together"


def _note(screen: Screen) -> str:
    return flow(EXCLUSIVE.split(), screen.columns, " ")
