"""`esp tui`: see and explore a program in the terminal, or in a browser."""

import argparse
import os
import sys
from typing import TYPE_CHECKING

from esp.cli.options import add_output, add_program, add_scenario, console_of, one_of_procs, request_of
from esp.errors import PredictionError, UsageError

if TYPE_CHECKING:
    from sag.unit import System

USAGE = "esp tui [PROG] [options]"

EXAMPLES = """\
examples:
  esp tui laplace.hpf --procs 8         choices, source, graph, timeline
  esp tui                               asks for a program
  esp tui laplace.hpf --serve           in a browser: http://localhost:8000
  esp tui laplace.hpf --procs 8 | cat   no terminal: the table of choices
"""


HOST, PORT = "localhost", "8000"


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_program(parser, "initial number of processors", aligned=False)
    program = next(each for each in parser._actions if each.dest == "program")
    program.nargs = "?"
    program.required = False
    add_scenario(parser)
    group = parser.add_argument_group("browser")
    group.add_argument("--serve", action="store_true", help="serve it to a browser (pip install 'esp-hpf[serve]')")
    group.add_argument("--host", default=HOST, help="address to serve at (default: %(default)s)")
    group.add_argument("--port", default=PORT, help="port to serve at (default: %(default)s)")
    add_output(parser)


def execute(options: argparse.Namespace) -> int:
    """Run the command; the result is its exit code."""
    hint = "A slider changes it; `esp run` takes a list."
    number = one_of_procs(options.procs, "esp tui starts with one processor count.", hint)
    if not options.serve and (options.host, options.port) != (HOST, PORT):
        raise UsageError("--host and --port are for --serve.", hint="Add --serve, or leave them out.")
    if options.serve:
        from esp.tui.serve import serve

        return serve(_words(options), options.host, _port(options.port))
    if not _is_terminal() or options.output is not None:
        return _without_terminal(options, number)
    return _explore(options, number)


def _explore(options: argparse.Namespace, procs: int | None) -> int:
    """The interface, until somebody leaves it."""
    from esp.cli.reading import STANDARD_INPUT, source_of
    from esp.tui.app import Explorer
    from esp.tui.opening import opening

    if options.program == STANDARD_INPUT:
        raise UsageError("the keyboard is standard input here.", hint="Write the program to a file first.")
    wanted = None
    if options.program is not None:
        if options.input is not None:
            source_of(options.program, options)  # its values are part of the request
        # All of this happens once the first frame is drawn.
        wanted = opening(
            options.program,
            lambda: _machine(options.system),
            lambda: request_of(options, procs),
            lambda: source_of(options.program, options),
            _command(options),
        )
    app = Explorer(wanted)
    app.run()
    if app.ended_by is not None:
        raise app.ended_by
    return app.return_code or 0


def _command(options: argparse.Namespace) -> str:
    """The start of the command that predicts the same: what no slider and no choice changes."""
    from esp.cli.again import command

    kept = {"load": None, "bandwidth": None, "latency": None, "processor_speed": None, "procs": None, "grid": None}
    return command("run", argparse.Namespace(**{**vars(options), **kept, "distribute": [], "set": []}))


def _machine(name: str) -> "System":
    from esp.api import load_machine

    return load_machine(name)


def _without_terminal(options: argparse.Namespace, procs: int | None) -> int:
    """Where no terminal is: the table of choices, or the profile where there is nothing to choose."""
    if options.program is None:
        raise UsageError("there is no terminal to ask for a program.", hint="Name one: `esp tui laplace.hpf`.")
    from esp import api
    from esp.cli.reading import asked_of
    from esp.explore.compare import compare_choices
    from esp.output.compare import comparison_text
    from esp.output.profile import profile

    console = console_of(options)
    source, system, request = asked_of(options, procs)
    try:
        found = compare_choices(source, system, request, size="none")
    except PredictionError:  # there is nothing to distribute
        prediction = api.predict_source(source, system, request)
        console.warn(prediction.warnings, source.program.lines)
        console.deliver(profile(prediction, console.screen))
    else:
        console.warn(found.warnings, source.program.lines)
        console.deliver(comparison_text(found, console.screen))
    return 0


def _is_terminal() -> bool:
    """Whether there is a screen to draw on: a terminal, or the browser that textual-serve stands for."""
    if os.environ.get("TEXTUAL_DRIVER"):
        return True
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def _port(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 2**16:
        raise UsageError(f"{text!r} is not a port.", where="--port", hint="Write a number such as 8000.")
    return int(text)


def _words(options: argparse.Namespace) -> str:
    """What follows ``esp`` in the command that is run once for each browser."""
    from esp.cli.again import command

    if options.program is None:
        return "tui"
    return command("tui", options).removeprefix("esp ")
