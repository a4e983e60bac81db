"""Comma-separated values: the one place that writes them."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence

_FORMULA = ("=", "+", "-", "@")


def csv_text(heading: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """A heading and rows. Text that a spreadsheet would take for a formula begins with an apostrophe."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(heading)
    writer.writerows([_cell(each) for each in row] for row in rows)
    return text.getvalue()


def rows_as_csv(rows: Sequence[Mapping[str, object]]) -> str:
    """Rows that share their keys, under them."""
    return csv_text(list(rows[0]), (row.values() for row in rows)) if rows else ""


def told_as_csv(rows: Iterable[Mapping[str, object]]) -> str:
    """Rows of JSON: what an object holds becomes columns, ``changes_s_waiting``; elements of a list have blanks between
    them."""
    return rows_as_csv([dict(_flat(each)) for each in rows])


def _flat(row: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    for name, value in row.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}_")
        else:
            yield prefix + name, " ".join(map(str, value)) if isinstance(value, list | tuple) else value


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str) or not value.startswith(_FORMULA):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value
