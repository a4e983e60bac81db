"""From names to what the interface works on: a program that is read, a machine that is loaded, a first request."""

from msgspec import Struct
from msgspec.structs import replace

from aag.diagnostics import SourceError
from aag.source.joining import Form
from esp import api
from esp.tui.state import State, opened
from sag.unit import System


class Opened(Struct, frozen=True, kw_only=True, eq=False):
    """A program on a machine, and the first state of the screen."""

    source: api.Source
    system: System
    request: api.Request
    state: State


def open_program(source: api.Source, system: System, request: api.Request) -> Opened:
    """Make the number of processors definite: what is asked for, else what the program says, else the machine's."""
    procs = request.procs
    if procs is None:
        try:
            procs = api.map_source(source, system, request).procs
        except SourceError:  # values are missing, or worse: the first prediction says it better
            procs = system.default_processors
    request = replace(request, procs=procs)
    program = source.program
    state = opened(program.file, program.lines, system.name, procs, request, bundled=source.bundled)
    return Opened(source=source, system=system, request=request, state=state)


def read(name: str, form: Form | None = None) -> api.Source:
    """A program by its path or the name of one that comes with esp.

    Raises:
        esp.errors.UnreadableFileError: there is none.
        aag.diagnostics.SourceError: it is no program.
    """
    return api.read_source(name, form=form)
