"""Programs for the commands: from a file, from those that come with esp, or from standard input."""

import sys

from aag.source.joining import Form
from aag.source.read import read_program
from esp.errors import UnreadableFileError
from esp.sources import Source, read_source

STANDARD_INPUT = "-"


def source_of(program: str, form: Form | None) -> Source:
    """Read the program that a command names.

    Raises:
        UnreadableFileError: it cannot be read.
        aag.diagnostics.SourceError: it is no program.
    """
    if not program.strip():
        hint = "`esp examples list` shows those that come with esp."
        raise UnreadableFileError("there is no such program: the name is empty.", hint=hint)
    if program != STANDARD_INPUT:
        return read_source(program, form=form)
    try:
        text = sys.stdin.read()
    except UnicodeDecodeError:
        raise UnreadableFileError("this is not text.", where="standard input") from None
    if not text.strip():
        raise UnreadableFileError("there is nothing to read.", where="standard input")
    return Source(program=read_program(text, "<stdin>", form=form, defer=True))
