"""Experiments of the paper as text, CSV and JSON."""

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from esp.output.cells import rows_as_csv
from esp.output.columns import Column, TableRow, table
from esp.output.json import text_of
from esp.output.numbers import percentages, plural, seconds
from esp.output.screen import Screen, flow, paragraph
from esp.output.sweep import sweep_rows, sweep_text
from esp.prediction import CATEGORIES
from esp.reproduce.accuracy import Accuracy
from esp.reproduce.experiments import EXPERIMENTS, SUN_ZHU, TABLE3, TABLE3_PROCS
from esp.reproduce.figures import Reproduced
from esp.reproduce.statements import PhaseTimes
from esp.reproduce.sun_zhu import TITLE as SUN_ZHU_TITLE
from esp.reproduce.sun_zhu import PublishedResults

TABLE_TITLE = f"{len(TABLE3)} programs: errors of the prediction against execution on a simulated machine"


class Told(Protocol):
    """A statement, and whether it holds."""

    @property
    def text(self) -> str:
        """The sentence."""

    @property
    def paper(self) -> bool:
        """Whether the paper says so."""

    @property
    def holds(self) -> bool:
        """Whether it is so."""


# --- what there is ---


def list_rows() -> list[dict[str, Any]]:
    """All experiments."""
    table3 = {"name": "table3", "title": TABLE_TITLE, "command": None}
    other = {"name": SUN_ZHU, "title": SUN_ZHU_TITLE, "command": None}
    return [table3, *({"name": e.name, "title": e.title, "command": e.command} for e in EXPERIMENTS), other]


def list_text(screen: Screen) -> str:
    """All experiments, a line each."""
    rows = [TableRow((each["name"], each["title"])) for each in list_rows()]
    shown = table((Column("name", "<"), Column("experiment", "<")), rows, screen, flexible=True)
    notes = [
        paragraph("table3", "takes minutes and needs gfortran, make and SimGrid", screen.columns),
        paragraph("next", "esp reproduce fig18", screen.columns),
    ]
    return "\n".join([shown, "", *notes]) + "\n"


# --- figures ---


def figure_text(found: Reproduced, screen: Screen) -> str:
    """Predictions, then the statements and whether they hold."""
    experiment = found.experiment
    head = screen.paint("strong", flow([experiment.name, experiment.title], screen.columns))
    if found.sweep is not None:
        shown = sweep_text(found.sweep, screen, versus=experiment.versus).rstrip("\n")
    else:
        shown = _phases(found.phases, screen)
    notes = list(_statements(found.checked, screen))
    notes += [paragraph("note", experiment.note, screen.columns)] if experiment.note else []
    notes.append(paragraph("command", experiment.command, screen.columns))
    return "\n".join([head, "", shown, "", *notes]) + "\n"


def _phases(phases: Iterable[PhaseTimes], screen: Screen) -> str:
    columns = [Column("phase", "<"), Column("lines"), Column("time"), *map(Column, ("comp", "comm", "wait", "ovhd"))]
    columns += [Column("messages"), Column("bytes")]
    rows = []
    for each in phases:
        parts = [f"{one}%" for one in percentages([getattr(each, f"{name}_s") for name in CATEGORIES])]
        lines = f"{each.first}-{each.last}"
        counts = (f"{each.messages:,}", f"{each.bytes:,}")
        rows.append(TableRow((each.name, lines, seconds(each.time_s), *parts, *counts)))
    return table(columns, rows, screen)


def _statements(checked: Iterable[Told], screen: Screen, other: str = "prediction") -> Iterator[str]:
    for each in checked:
        source = "paper" if each.paper else other
        yield paragraph("holds" if each.holds else "fails", f"{each.text} ({source})", screen.columns)


def figure_rows(found: Reproduced) -> list[dict[str, Any]]:
    """The data of a figure: a record for each prediction, or for each phase."""
    if found.sweep is not None:
        return list(sweep_rows(found.sweep, found.experiment.versus))
    return [{name: getattr(each, name) for name in each.__struct_fields__} for each in found.phases]


# --- Table 3 ---


def accuracy_text(found: Accuracy, screen: Screen) -> str:
    """The rows beside those of the paper, then the statements."""
    columns = (
        Column("program", "<"),
        Column("sizes", "<"),
        Column("runs"),
        Column("least"),
        Column("most"),
        Column("paper: least"),
        Column("most"),
    )
    rows = [
        TableRow(
            (
                each.row.name,
                " ".join(each.row.sizes),
                str(len(each.executions)),
                _percent(each.least),
                _percent(each.most),
                f"{each.row.least:g} %",
                f"{each.row.most:g} %",
            )
        )
        for each in found.rows
    ]
    procs = ", ".join(map(str, TABLE3_PROCS))
    head = screen.paint("strong", flow(["table3", "absolute error of the predicted time"], screen.columns))
    what = (
        f"Node programs run on {procs} processors of a simulated iPSC/860. Computation takes the predicted time, so "
        "the errors are of communication and waiting. On one processor there is none. The paper compares with "
        "measured times, so its errors include those of machine parameters."
    )
    notes = [*_statements(found.checked, screen), paragraph("note", what, screen.columns)]
    if found.rows:
        worst = max((each.worst for each in found.rows), key=lambda each: each.error)
        told = f"{worst.program}, {worst.size}, {plural(worst.procs, 'processor')}: {_percent(worst.error)}"
        notes.append(paragraph("worst", told, screen.columns))
    return "\n".join([head, "", table(columns, rows, screen), "", *notes]) + "\n"


def _percent(value: float) -> str:
    """Never a plain 0 for what is not."""
    return f"{value:.2f} %" if value >= 0.005 else "< 0.01 %" if value else "0 %"


def accuracy_rows(found: Accuracy) -> list[dict[str, Any]]:
    """A record for each execution."""
    return [
        {
            "name": each.row.name,
            "program": one.program,
            "size": one.size,
            "procs": one.procs,
            "predicted_s": one.predicted_s,
            "executed_s": one.executed_s,
            "error_percent": one.error,
            "paper_least_percent": each.row.least,
            "paper_most_percent": each.row.most,
        }
        for each in found.rows
        for one in each.executions
    ]


# --- another article ---


def published_text(found: PublishedResults, screen: Screen) -> str:
    """The tables, then the statements and whether they hold."""
    blocks = [screen.paint("strong", flow([SUN_ZHU, SUN_ZHU_TITLE], screen.columns))]
    for each in found.tables:
        rows = [TableRow(tuple(_cell(cell, each.digits) for cell in row)) for row in each.rows]
        blocks.append(paragraph(each.name, each.title, screen.columns))
        blocks.append(table([Column(name) for name in each.columns], rows, screen))
    blocks.append("\n".join(_statements(found.checked, screen, "computed")))
    return "\n\n".join(blocks) + "\n"


def _cell(value: str | float | None, digits: int) -> str:
    match value:
        case None:
            return ""
        case int():
            return f"{value:,}"
        case float():
            return f"{value:,.{digits}f}"
        case _:
            return value


def published_rows(found: PublishedResults) -> list[dict[str, Any]]:
    """A record for each cell: its table, its row (by the first cell), its column."""
    return [
        {"table": each.name, "row": row[0], "column": column, "value": cell}
        for each in found.tables
        for row in each.rows
        for column, cell in zip(each.columns[1:], row[1:], strict=True)
    ]


# --- for programs ---


def as_csv(rows: list[dict[str, Any]]) -> str:
    """A line for each record."""
    return rows_as_csv(rows)


def list_json() -> str:
    """One JSON object; docs/json_other.md describes the fields of all of them."""
    return text_of({"experiments": list_rows()})


def figure_json(found: Reproduced) -> str:
    """One JSON object."""
    experiment = found.experiment
    told: dict[str, Any] = {"name": experiment.name, "title": experiment.title, "command": experiment.command}
    return text_of(told | {"rows": figure_rows(found), "statements": _records(found.checked), "note": experiment.note})


def accuracy_json(found: Accuracy) -> str:
    """One JSON object."""
    told: dict[str, Any] = {"name": "table3", "title": TABLE_TITLE, "command": None}
    return text_of(told | {"rows": accuracy_rows(found), "statements": _records(found.checked), "note": ""})


def published_json(found: PublishedResults) -> str:
    """One JSON object."""
    told: dict[str, Any] = {"name": SUN_ZHU, "title": SUN_ZHU_TITLE, "command": None}
    return text_of(told | {"rows": published_rows(found), "statements": _records(found.checked), "note": ""})


def _records(checked: Iterable[Told]) -> list[dict[str, Any]]:
    return [{"text": each.text, "paper": each.paper, "holds": each.holds} for each in checked]
