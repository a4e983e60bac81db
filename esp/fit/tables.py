"""Tables of measurements as text: CSV with a heading, comments, and units in brackets."""

import csv
import re
from pathlib import Path

from esp.errors import UnreadableFileError, reason

HEADING = re.compile(r"\s*([^\[\]()]+?)\s*(?:[\[(]\s*([^\[\]()]+?)\s*[\])])?\s*")
"""A column: its name, and its unit in brackets."""

_SEPARATORS = ",;\t"
_MOST_BYTES = 10_000_000

Row = tuple[str, list[str]]
"""Where a row stands (file and line), and its cells."""


def text_of(file: str | Path, what: str) -> str:
    """The text of a file; `what`: what it should be, such as ``ping-pong table``.

    Raises:
        UnreadableFileError: it cannot be read.
    """
    path = Path(file)
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise UnreadableFileError(f"this is too large for a {what}.", where=str(file))
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UnreadableFileError(f"cannot be read: {reason(error)}.", where=str(file)) from None
    except UnicodeDecodeError:
        raise UnreadableFileError("this is not text in UTF-8.", where=str(file)) from None


def rows_of(text: str, name: str, form: str) -> tuple[Row, list[Row]]:
    """The heading and the rows of a table, without comments and empty lines; `name` is what errors call it, `form`: how
    such a table is written.

    Raises:
        UnreadableFileError: the text has no table.
    """
    lines = [
        (number, line)
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not lines:
        raise UnreadableFileError("found no table.", where=name, hint=form)
    separator = max(_SEPARATORS, key=lines[0][1].count)
    heading, *rows = [
        (f"{name}:{number}", [cell.strip() for cell in next(csv.reader([line], delimiter=separator))])
        for number, line in lines
    ]
    return heading, rows


def refuse_empty(rows: list[Row], name: str, form: str) -> None:
    """Refuse a table without rows, once its heading is known to be right.

    Raises:
        UnreadableFileError: there are none.
    """
    if not rows:
        raise UnreadableFileError("the table has a heading, but no rows.", where=name, hint=form)
