"""Programs that are read while a command imports what else it needs.

The parser takes as long to import as NumPy and all that works with it.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from esp.explore.workers import Workers

if TYPE_CHECKING:
    from aag.source.joining import Form
    from esp.sources import Source


def reading(programs: Sequence[str], form: "Form | None", jobs: int) -> "Workers[str, Source]":
    """What reads the programs that a command names (`esp.cli.reading.source_of`), as a context; with several `jobs` it
    has begun with those that can be read again, should the other process fail: files, but no pipes.
    """

    def source(program: str) -> "Source":
        from esp.cli.reading import source_of

        return source_of(program, form)

    begun = Workers(source, jobs, meanwhile=True)
    begun.ahead(each for each in programs if each != "-" and _can_be_read_again(each))
    return begun


def _can_be_read_again(program: str) -> bool:
    path = Path(program)
    try:
        return path.is_file() or not path.exists()  # the name of a program that comes with esp
    except OSError:  # a name too long, a loop of links
        return False
