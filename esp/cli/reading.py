"""Programs for the commands: from a file, from those that come with esp, or from standard input."""

import argparse
import sys
from typing import TYPE_CHECKING

from aag.ir.units import Form
from aag.source.read import read_program
from esp.cli.options import request_of
from esp.errors import UnreadableFileError
from esp.sources import Source, read_source

if TYPE_CHECKING:  # the API brings NumPy, which a command need not wait for that only reads a program
    from esp.api import Request
    from sag.unit import System

STANDARD_INPUT = "-"


def asked_of(options: argparse.Namespace, procs: int | None) -> "tuple[Source, System, Request]":
    """The program, the machine and the request that the shared options stand for.

    Raises:
        UnreadableFileError: program or machine cannot be read.
        UsageError: an option cannot be read.
        aag.diagnostics.SourceError: the program is none.
        sag.errors.MachineError: the machine is none.
    """
    from esp.api import load_machine

    source = source_of(options.program, options.form)
    return source, load_machine(options.system), request_of(options, procs)


def source_of(program: str, form: Form | None) -> Source:
    """Read the program that a command names.

    Raises:
        UnreadableFileError: it cannot be read.
        aag.diagnostics.SourceError: it is no program.
    """
    if not program.strip():
        hint = "`esp examples list` shows the bundled programs."
        raise UnreadableFileError("the program name is empty.", hint=hint)
    if program != STANDARD_INPUT:
        return read_source(program, form=form)
    try:
        text = sys.stdin.read()
    except UnicodeDecodeError:
        raise UnreadableFileError("this is not text.", where="standard input") from None
    if not text.strip():
        raise UnreadableFileError("there is nothing to read.", where="standard input")
    return Source(program=read_program(text, "<stdin>", form=form, defer=True))
