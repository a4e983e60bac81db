"""Predictions as comma-separated values with a heading: SI units, full precision."""

from collections.abc import Sequence

from esp.output.cells import csv_text, rows_as_csv
from esp.output.figures import grid, source_text, uncharged
from esp.output.table import speed_up
from esp.prediction import Prediction, first
from interpreter.result import Parts

_PARTS = ("time_s", "computation_s", "communication_s", "overhead_s", "waiting_s")


def lines(prediction: Prediction) -> str:
    """One row for each source line."""
    return rows_as_csv(line_rows(prediction))


def line_rows(prediction: Prediction) -> list[dict[str, object]]:
    """One row for each source line; `complete` is false where its statement could not be charged."""
    heading = ("file", "line", *_PARTS, "max_s", "max_processor", "messages", "bytes", "complete", "source")
    rows: list[dict[str, object]] = []
    blamed = uncharged(prediction)
    for each in prediction.lines:
        # Where no single line is to blame, time may be missing from any of them.
        complete = prediction.complete or (bool(blamed) and (each.file, each.line) not in blamed)
        most = None if each.max_s is None else first(each.max_s)
        text = source_text(prediction, each.file, each.line).strip()
        sent = (each.messages, each.bytes)
        row = (each.file, each.line, *_five(each.parts), most, each.max_processor, *sent, complete, text)
        rows.append(dict(zip(heading, row, strict=True)))
    return rows


def aaus(prediction: Prediction, chosen: frozenset[int] | None) -> str:
    """One row for each AAU, or for the chosen ones."""
    heading = ("aau", "kind", "label", "file", "line", "parent", *_PARTS, "total_s", "executions", "misses")
    rows = []
    for each in prediction.aaus:
        if chosen is None or each.id in chosen:
            parent = "" if each.parent is None else each.parent
            head = (each.id, each.kind, each.label, each.span.file, each.span.line, parent)
            rows.append((*head, *_five(each.parts), first(each.total_s), each.executions, each.misses))
    return csv_text(heading, rows)


def processors(prediction: Prediction) -> str:
    """One row for each processor."""
    data = prediction.per_processor
    columns = (data.end_s, data.computation_s, data.communication_s, data.overhead_s, data.waiting_s)
    rows = zip(range(prediction.processors), *(column[0].tolist() for column in columns), strict=True)
    return csv_text(("processor", "end_s", *_PARTS[1:]), rows)


def scaling(predictions: Sequence[Prediction], one: Prediction | None = None) -> str:
    """One row for each number of processors."""
    heading = ("processors", "grid", *_PARTS, "speed_up", "efficiency", "messages", "bytes", "complete")
    rows = []
    for each, (ratio, efficiency) in zip(predictions, speed_up(predictions, one), strict=True):
        shape = grid(each.grid)
        told = (each.processors, shape, *_total(each), ratio, efficiency, each.messages, each.bytes)
        rows.append((*told, each.complete))
    return csv_text(heading, rows)


def _total(prediction: Prediction) -> tuple[float, ...]:
    return (first(prediction.time_s), *_five(prediction.parts)[1:])


def _five(parts: Parts) -> tuple[float, ...]:
    four = (parts.computation_s, parts.communication_s, parts.overhead_s, parts.waiting_s)
    return (first(parts.time_s), *(first(each) for each in four))
