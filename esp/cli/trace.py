"""`esp trace`: what each processor does and when, for programs that draw timelines or simulate networks."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from aag.wording import plural
from esp.cli.options import add_output, add_partial, add_program, add_scenario, console_of, one_of_procs
from esp.errors import UnreadableFileError, UsageError

if TYPE_CHECKING:  # NumPy, which `esp trace --help` need not wait for
    from collections.abc import Iterator, Mapping

    from esp.api import Prediction, Request, Source
    from esp.cli.console import Console
    from esp.traces.trace import Trace
    from sag.unit import System

USAGE = "esp trace PROG|TRACE [FILE ...] --procs P --format FORMAT -o FILE [options]"

EXAMPLES = """\
examples:
  esp trace laplace.hpf --procs 8 --format chrome -o laplace.json
  esp trace laplace.hpf --procs 8 --format paraver -o laplace.prv
  esp trace laplace.hpf --procs 8 --latency x10 --format goal -o laplace.goal
  esp trace run.trace --format picl -o run.trf          what a node program wrote
"""

FORMATS = {
    "esp": "docs/trace.md describes it",
    "chrome": "for ui.perfetto.dev and chrome://tracing",
    "picl": "for ParaGraph",
    "paraver": "for Paraver, three files",
    "goal": "for LogGOPSim",
    "otf2": "for Vampir, a folder",
}
"""Format -> what it is for."""

NEEDS_A_PLACE = ("paraver", "otf2")
"""Formats of several files."""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_program(parser, "number of processors", files=True)
    add_scenario(parser)
    add_partial(parser)
    group = parser.add_argument_group("trace")
    known = "; ".join(f"{name}: {what}" for name, what in FORMATS.items())
    group.add_argument("--format", choices=tuple(FORMATS), default="esp", help=f"default: %(default)s. {known}")
    group.add_argument("--events", metavar="N", type=_events, help="events that the trace may have (default: 5000000)")
    add_output(parser)


def _events(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of events")
    return int(text)


def execute(options: argparse.Namespace) -> int:
    """Run the command; the result is its exit code."""
    if options.format in NEEDS_A_PLACE and options.output in (None, "-"):
        raise UsageError(f"{options.format} is more than one file.", where="--format", hint="Give the output with -o.")
    if options.format == "paraver":
        _check_several(Path(options.output))
    console = console_of(options)
    written = options.output
    trace = read(options) if is_trace(options.program) else _predicted(options, console)
    if options.format == "otf2":
        from esp.output.traces_otf2 import write_otf2

        write_otf2(trace, Path(options.output))
    elif options.format == "paraver":
        from esp.output.traces_paraver import paraver

        written = _write_all(paraver(trace), Path(options.output))
    else:
        _write(_pieces(trace, options.format), options.output)
    if options.output not in (None, "-"):
        processors = plural(trace.procs, "processor")
        console.note(f"{written}: {plural(trace.rank.size, 'event')} of {processors}")
    return 0


def is_trace(program: str) -> bool:
    """Whether a file is a trace already, by its first word."""
    from esp.traces.text import MAGIC

    path = Path(program)
    if program == "-" or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len("esp-trace ")) == MAGIC[: len("esp-trace ")].encode()


def read(options: argparse.Namespace) -> "Trace":
    """A trace that exists.

    Raises:
        UsageError: options that only a prediction has.
        UnreadableFileError: it is not as docs/trace.md says.
    """
    from esp.traces.read import read_trace
    from esp.traces.trace import UnmatchedError, messages

    for given in ("procs", "grid", "form", "events", "set", "distribute", "load", "bandwidth", "latency", "overlap"):
        if getattr(options, given, None):
            raise UsageError(f"{options.program} is a trace already.", where=f"--{given}", hint="Leave it out.")
    trace = read_trace(options.program)
    try:
        messages(trace)
    except UnmatchedError as fault:
        raise UnreadableFileError(f"{fault}.", where=options.program) from None
    return trace


def _predicted(options: argparse.Namespace, console: "Console") -> "Trace":
    """The trace of a prediction."""
    procs = one_of_procs(options.procs, "a trace takes one processor count.")
    from esp.cli.reading import asked_of

    source, system, request = asked_of(options, procs)
    trace, prediction, _ = predicted(source, system, request, console, options.events)
    console.warn(prediction.warnings, source.program.lines)
    return trace


def predicted(
    source: "Source", system: "System", request: "Request", console: "Console", most: int | None = None
) -> "tuple[Trace, Prediction, Request]":
    """Trace and prediction of a program, and the request with all values that were asked for; `most`: events."""
    from esp import api
    from esp.cli.progress import ProgressLine
    from esp.cli.prompt import with_answers
    from esp.traces.record import MOST, predicted_trace

    def made(asked: "Request") -> "tuple[Trace, Prediction]":
        stages = api.lower_source(source, system, asked)
        with ProgressLine(console) as watch:
            return predicted_trace(stages, system, asked, most=most or MOST, watch=watch)

    (trace, prediction), complete = with_answers(made, request)
    return trace, prediction, complete


def _pieces(trace: "Trace", name: str) -> "Iterator[str]":
    """The text of a format that is one file."""
    match name:
        case "chrome":
            from esp.output.traces_chrome import chrome

            return chrome(trace)
        case "picl":
            from esp.output.traces_picl import picl

            return picl(trace)
        case "goal":
            from esp.output.traces_goal import goal

            return goal(trace)
        case _:
            from esp.traces.text import text_of

            return text_of(trace)


def _write(pieces: "Iterator[str]", output: str | None) -> None:
    """Write a file, or standard output; the text may be too long to be held as a whole."""
    from esp.writing import put, write_whole

    if output in (None, "-"):
        for each in pieces:
            put(sys.stdout, each)
    else:
        write_whole(Path(str(output)), pieces)


def _check_several(target: Path) -> None:
    """Refuse what cannot become several files beside each other, before anything is predicted.

    Raises:
        UnreadableFileError: it is a folder or a device.
    """
    if target.exists() and not target.is_file():
        what = "a folder" if target.is_dir() else "a device or a pipe"
        raise UnreadableFileError(
            f"cannot be written: it is {what}, and paraver is three files.",
            where=str(target),
            hint="Give the name of the first: -o x.prv.",
        )


def _write_all(files: "Mapping[str, Iterator[str]]", target: Path) -> str:
    """Write files that differ in their suffix; the answer names them."""
    from esp.writing import write_whole

    stem = target.with_suffix("") if target.suffix in files else target
    names = [stem.with_name(stem.name + suffix) for suffix in files]
    for name, pieces in zip(names, files.values(), strict=True):
        write_whole(name, pieces)
    return ", ".join(map(str, names))
