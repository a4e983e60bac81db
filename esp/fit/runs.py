"""Tables of measured runs: CSV, one row for each run (docs/fit_runs.md)."""

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from aag.wording import plural
from esp.errors import UnreadableFileError
from esp.fit.tables import HEADING, refuse_empty, rows_of
from sag.quantities import QuantityError, parse_quantity

FORM = "Write for example `procs,n,time [s]` and below it `4,256,1.24`."

ALIASES = {**dict.fromkeys(("p", "nprocs", "np", "processors", "nodes"), "procs"), "file": "program"}
_UNITS = {
    **{f"time{mark}{unit}": unit for mark in "_ /" for unit in ("s", "ms", "us", "ns")},
    "seconds": "s",
    "elapsed": "s",
}
"""Columns of times whose names have the unit."""
_WHOLE = re.compile(r"-?\d{1,15}")


class MeasuredRun(Struct, frozen=True, kw_only=True):
    """A run: its program (empty: the only one), processors, values of PARAMETERs, and how long it took."""

    program: str
    processors: int
    values: Mapping[str, int]
    time_s: float
    line: int

    @property
    def label(self) -> str:
        """The run in a few words."""
        given = [f"{name}={value}" for name, value in self.values.items()]
        return " ".join([*filter(None, [self.program]), *given, f"procs={self.processors}"])


def parse_runs(text: str, name: str) -> tuple[MeasuredRun, ...]:
    """The runs in a text; `name` is what errors call it.

    Raises:
        UnreadableFileError: it is not as docs/fit_runs.md says; with the line.
    """
    (where, names), rows = rows_of(text, name, FORM)
    columns = _columns(names, where)
    refuse_empty(rows, name, FORM)
    return tuple(_run(cells, columns, int(where.rpartition(":")[2]), where) for where, cells in rows)


def _columns(cells: Sequence[str], where: str) -> list[tuple[str, str]]:
    """Name and unit (may be empty) of each column."""
    columns = []
    for number, cell in enumerate(cells, 1):
        found = HEADING.fullmatch(cell)
        if found is None:
            raise UnreadableFileError(f"column {number} has no name.", where=where, hint=FORM)
        plain = found.group(1).lower().replace("-", " ")
        name = "time" if plain in _UNITS else ALIASES.get(plain, plain)
        if not name.replace("_", "").isalnum():
            # The heading itself is not shown: perhaps this is another file than a table.
            raise UnreadableFileError(
                f"column {number} is neither time, procs, program nor a PARAMETER.", where=where, hint=FORM
            )
        columns.append((name, found.group(2) or _UNITS.get(plain, "")))
    names = [name for name, _ in columns]
    for name in ("time", "procs"):
        if names.count(name) != 1:
            raise UnreadableFileError(f"a table of runs has one column {name}.", where=where, hint=FORM)
    if len(set(names)) < len(names):
        raise UnreadableFileError("two columns have the same name.", where=where, hint=FORM)
    return columns


def _run(cells: Sequence[str], columns: Sequence[tuple[str, str]], line: int, where: str) -> MeasuredRun:
    if len(cells) != len(columns):
        raise UnreadableFileError(
            f"this row has {plural(len(cells), 'cell')}, and the heading {len(columns)}.",
            where=where,
            hint=f"A comma separates cells, and decimals follow a point. {FORM}",
        )
    program, procs, time_s, values = "", 0, 0.0, {}
    for cell, (name, unit) in zip(cells, columns, strict=True):
        if name == "program":
            program = cell
        elif name == "time":
            time_s = _time(cell, unit, where)
        elif not cell and name != "procs":
            continue  # a PARAMETER that another program of the table has
        elif _WHOLE.fullmatch(cell) is None or (name == "procs" and int(cell) < 1):
            raise UnreadableFileError(f"{name} is not a whole number.", where=where, hint=FORM)
        elif name == "procs":
            procs = int(cell)
        else:
            values[name] = int(cell)
    return MeasuredRun(program=program, processors=procs, values=values, time_s=time_s, line=line)


def _time(cell: str, unit: str, where: str) -> float:
    if not cell:
        raise UnreadableFileError("this run has no time yet.", where=where, hint="Measure it, or leave out its row.")
    try:
        time_s = parse_quantity(f"{cell} {unit}" if unit and not cell[-1:].isalpha() else cell, "time")
    except QuantityError as error:
        hint = error.hint[:1].upper() + error.hint[1:] + "." if error.hint else FORM
        raise UnreadableFileError(f"{error.message}.", where=where, hint=hint) from None
    if not time_s > 0:
        raise UnreadableFileError("a run takes time.", where=where, hint="Leave out what was not measured.")
    return time_s
