"""Programs as read."""

from os import PathLike
from pathlib import Path

from msgspec import Struct

from aag.ir.units import Form, Program
from aag.source.files import decode
from aag.source.read import read_program
from esp.errors import UnreadableFileError, reason
from esp.locate import benchmarks_dir, find_program, program_names


class Source(Struct, frozen=True, kw_only=True):
    """A program as read. `bundled`: it is one of those that come with esp."""

    program: Program
    bundled: bool = False


def read_source(source: str | PathLike[str], *, form: Form | None = None) -> Source:
    """Read a program: a path, the name of one that comes with esp, or its text (with a line break in it).

    Raises:
        UnreadableFileError: there is no such file, or it cannot be read.
        aag.diagnostics.SourceError: it is no program.
    """
    if isinstance(source, str) and "\n" in source:
        return Source(program=read_program(source, "<text>", form=form, defer=True))
    path = find_program(str(source))
    bundled = path.parent == benchmarks_dir() and path.stem in program_names() and path != Path(source)
    shown = path.name if bundled else str(source)
    text = decode(_bytes_of(path), shown)
    program = read_program(text, shown, form=form, include_dirs=(path.parent,), defer=True)
    return Source(program=program, bundled=bundled)


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UnreadableFileError(f"cannot be read: {reason(error)}.", where=str(path)) from None
