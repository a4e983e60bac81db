"""From names to what the interface works on: a program that is read, a machine that is loaded, a first request."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from aag.diagnostics import SourceError
from esp.tui.state import State, opened, unreadable

if TYPE_CHECKING:
    from esp import api
    from sag.unit import System


class Opened(Struct, frozen=True, kw_only=True, eq=False):
    """A program on a machine, and the first state of the screen."""

    source: "api.Source"
    system: "System"
    request: "api.Request"
    state: State


class Opening(Struct, frozen=True, kw_only=True, eq=False):
    """A program that is not read yet. `file`: its name; `open`: reads it and loads the machine, after the first
    frame is drawn; `read_lines`: its text, where `open` fails."""

    file: str
    open: Callable[[], Opened]
    read_lines: Callable[[], tuple[str, ...]] = tuple

    def opened(self) -> Opened | State:
        """The open program; where its text is no program, a state that says why.

        Raises:
            esp.errors.EspError: there is no such file, or an option cannot be used.
            sag.errors.MachineError: the machine or a change of it cannot be used.
        """
        from esp.tui.failures import failure

        try:
            return self.open()
        except SourceError as error:
            lines = self.read_lines()
            return unreadable(self.file, lines, failure(error, lines))


def opening(
    name: str,
    machine: "Callable[[], System]",
    request: "Callable[[], api.Request]",
    source: "Callable[[], api.Source] | None" = None,
    command: str = "",
) -> Opening:
    """What opens a program, by its path or the name of one that comes with esp. `machine`: loads the machine;
    `request`: reads the options; `source`: reads the program, if it is more than a name; `command`: as `State.command`
    has it."""

    def open_it() -> Opened:
        from sag.scenario import export

        system, asked = machine(), request()
        export(system, asked.scenario)  # refuses a change that the machine cannot have
        return open_program(read(name) if source is None else source(), system, asked, command)

    return Opening(file=name, open=open_it, read_lines=lambda: text_of(name))


def open_program(source: "api.Source", system: "System", request: "api.Request", command: str = "") -> Opened:
    """Make the number of processors definite: what is asked for, else what the program says, else the machine's."""
    from esp import api
    from esp.explore.choices import machine_sized
    from interpreter.result import Assumption

    procs, assumptions = request.procs, tuple[Assumption, ...]()
    if procs is None:
        try:
            layouts = api.map_source(source, system, request)
            procs, assumptions = layouts.procs, machine_sized(layouts)
        except SourceError:  # values are missing, or worse: the first prediction says it better
            procs = system.default_processors
    request = replace(request, procs=procs)
    program = source.program
    state = opened(program.file, program.lines, system.name, procs, request, bundled=source.bundled, command=command)
    return Opened(source=source, system=system, request=request, state=replace(state, assumptions=assumptions))


def read(name: str) -> "api.Source":
    """A program by its path or the name of one that comes with esp.

    Raises:
        esp.errors.UnreadableFileError: there is none.
        aag.diagnostics.SourceError: it is no program.
    """
    from esp import api

    return api.read_source(name)


def text_of(name: str) -> tuple[str, ...]:
    """The lines of a program, whatever is in it.

    Raises:
        esp.errors.UnreadableFileError: there is no such file.
    """
    from esp.locate import find_program

    return tuple(find_program(name).read_text(encoding="utf-8", errors="replace").splitlines())
