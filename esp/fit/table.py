"""Ping-pong tables: CSV with units, one row for each measured message (docs/fit.md)."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from esp.errors import UnreadableFileError
from esp.fit.tables import HEADING, refuse_empty, rows_of, text_of
from sag.quantities import QuantityError, parse_quantity

Floats = NDArray[np.float64]

_DIMENSIONS = {"size": "size", "hops": "count", "time": "time", "round trip": "time"}
"""Column -> dimension of its values."""

_ALIASES = {
    "bytes": "size",
    "message size": "size",
    "distance": "hops",
    "one way": "time",
    "latency": "time",
    "roundtrip": "round trip",
    "rtt": "round trip",
}

_FORM = "Write for example `size [B],hops,time [us]` and below it `1024,1,577`."


class PingPong(Struct, frozen=True, kw_only=True, eq=False):
    """One-way times of messages in SI units, by size and distance: `rows` rows by their medians.

    `size_bytes`, `hops` and `time_s` have one entry for each pair of size and distance, sizes ascending. `hops` are all
    1 where the table does not tell them (`has_hops`).
    """

    name: str
    rows: int
    size_bytes: Floats
    hops: Floats
    time_s: Floats
    has_hops: bool

    @property
    def sizes_bytes(self) -> Floats:
        """The sizes, each once, ascending."""
        return np.array(sorted(set(self.size_bytes.tolist())))


def read_table(file: str | Path) -> PingPong:
    """Read a table.

    Raises:
        UnreadableFileError: it cannot be read, or is not as docs/fit.md says; with the line.
    """
    return parse_table(text_of(file, "ping-pong table"), str(file))


def parse_table(text: str, name: str) -> PingPong:
    """The table in a text; `name` is what errors call it.

    Raises:
        UnreadableFileError: see `read_table`.
    """
    (where, names), rows = rows_of(text, name, _FORM)
    columns = _columns(names, where)
    refuse_empty(rows, name, _FORM)
    values: dict[tuple[float, float], list[float]] = {}
    for where, cells in rows:
        size_bytes, hops, time_s = _row(cells, columns, where)
        values.setdefault((size_bytes, hops), []).append(time_s)
    # The median, as an operating system that interferes makes some times far too long and none too short.
    points = np.array([(*key, float(np.median(times))) for key, times in sorted(values.items())])
    has_hops = any(column == "hops" for column, _ in columns)
    return PingPong(
        name=name, rows=len(rows), size_bytes=points[:, 0], hops=points[:, 1], time_s=points[:, 2], has_hops=has_hops
    )


def _columns(cells: Sequence[str], where: str) -> list[tuple[str, str]]:
    """Name and unit (may be empty) of each column."""
    columns = []
    for number, cell in enumerate(cells, 1):
        found = HEADING.fullmatch(cell)
        told = found.group(1).lower().replace("_", " ").replace("-", " ") if found else cell
        name = _ALIASES.get(told, told)
        if found is None or name not in _DIMENSIONS:
            known = ", ".join(_DIMENSIONS)
            # The heading itself is not shown: perhaps this is another file than a table.
            raise UnreadableFileError(f"column {number} is not one of {known}.", where=where, hint=_FORM)
        columns.append((name, found.group(2) or ""))
    names = [name for name, _ in columns]
    if len(set(names)) < len(names) or "size" not in names or ("time" in names) == ("round trip" in names):
        what = "a table has one column for the size and one for the time or round trip."
        raise UnreadableFileError(what, where=where, hint=_FORM)
    return columns


def _row(cells: Sequence[str], columns: Sequence[tuple[str, str]], where: str) -> tuple[float, float, float]:
    """Size (B), hops and one-way time (s) of a row."""
    if len(cells) != len(columns):
        raise UnreadableFileError(f"{len(cells)} cells, but {len(columns)} columns.", where=where, hint=_FORM)
    found = {"hops": 1.0}
    for cell, (name, unit) in zip(cells, columns, strict=True):
        text = f"{cell} {unit}" if unit and not cell[-1:].isalpha() else cell
        try:
            found[name] = parse_quantity(text, _DIMENSIONS[name])
        except QuantityError as error:
            hint = error.hint[:1].upper() + error.hint[1:] + "." if error.hint else _FORM
            raise UnreadableFileError(f"{error.message}.", where=where, hint=hint) from None
    size_bytes, hops = found["size"], found["hops"]
    time_s = found["time"] if "time" in found else found["round trip"] / 2.0
    if size_bytes < 0 or size_bytes != int(size_bytes):
        raise UnreadableFileError(f"{size_bytes:g} B is not a message size.", where=where)
    if hops < 0:
        raise UnreadableFileError(f"a message cannot travel {hops:g} hops.", where=where)
    if not time_s > 0:
        raise UnreadableFileError("a message takes time.", where=where, hint="Leave out what was not measured.")
    return size_bytes, hops, time_s
