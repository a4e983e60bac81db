"""`esp explain`: explain the time of a source line."""

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING

from esp.cli.again import SCENARIO, command
from esp.cli.options import add_forms, add_output, add_partial, add_program, add_scenario, console_of, one_of_procs
from esp.errors import UsageError

if TYPE_CHECKING:  # the API brings NumPy, which `esp explain --help` need not wait for
    from esp.api import Prediction, Request
    from esp.inspect.explain import Explanation

USAGE = "esp explain PROG:LINE [options]"

EXAMPLES = """\
examples:
  esp explain laplace.hpf:36 --procs 8                  the line in detail
  esp explain laplace.hpf 38 --procs 8 --all            every term of it
  esp explain laplace.hpf:36 --procs 8 --bandwidth x2   on another machine
  esp explain laplace.hpf:36 --json                     for other programs
  esp explain grid.f90:12 --file main.f90 --procs 8     a line of another file

Each row of the formula is a product: a count per processor (mean, whole run)
times the machine's time for one. The rows add up to the time of the line
(docs/inspect.md).
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_program(parser, "number of processors")
    parser.add_argument(
        "line", metavar="LINE", nargs="?", help="the line (or FILE:LINE), if PROG does not end in :LINE"
    )
    add_scenario(parser)
    add_partial(parser)
    shown = parser.add_argument_group("what to show")
    shown.add_argument("--all", action="store_true", help="every term and every phase of messages")
    add_forms(shown, "docs/inspect.md")
    add_output(parser)


def execute(options: argparse.Namespace) -> int:
    """Run the command; the result is its exit code."""
    options.program, file, line = program_and_line(options.program, options.line)
    procs = one_of_procs(options.procs, "esp explain takes one processor count.")
    console = console_of(options)
    from esp.cli.prompt import answered, with_answers
    from esp.cli.reading import asked_of
    from esp.inspect.explain import as_json, explain, formula_rows
    from esp.output.cells import rows_as_csv
    from esp.output.explain import explanation
    from esp.output.json import text_of

    source, system, request = asked_of(options, procs)
    if file == options.program and file not in source.program.others:  # else it is a path, or a bundled program
        file = source.program.file
    made: list[Explanation] = []

    def predict(asked: "Request") -> "Prediction":
        made.append(explain(source, system, asked, line, file))
        return made[-1].prediction

    prediction, complete = with_answers(predict, request)
    options.set += answered(complete, request)
    console.warn(prediction.warnings, source.program.lines)
    if options.json:
        console.deliver(text_of(as_json(made[-1])))
        return 0
    if options.csv:
        console.deliver(rows_as_csv(formula_rows(made[-1])))
        return 0
    program = options.program
    following = ""
    if not options.quiet and program != "-":
        asked = {**vars(options), "program": program, "procs": str(prediction.processors)}
        following = command("layout", argparse.Namespace(**asked), without=(*SCENARIO, "timed", "unroll", "partial"))
    console.deliver(explanation(made[-1], console.screen, every=options.all, following=following))
    return 0


_SEVERAL = re.compile(r"(\d+)\s*(?:-|\.\.)\s*(\d+)")
"""Several lines, where one is expected."""


def program_and_line(program: str, line: str | None) -> tuple[str, str, int]:
    """The program, the file of the line, and its number: ``laplace.hpf:36``, or the two of them, or
    ``main.f90 grid.f90:36``.

    Raises:
        UsageError: there is no line, or it is no number.
    """
    if line is not None:
        file, colon, number = line.rpartition(":")
        if not number.isdecimal():
            raise UsageError(f"{line!r} is not a line.", hint=_one_of(program, line))
        return program, file if colon else program, int(number)
    name, colon, text = program.rpartition(":")
    if colon and text and not text.isdecimal() and not Path(program).exists():
        raise UsageError(f"{text!r} is not a line.", where=program, hint=_one_of(name, text))
    if not colon or not text.isdecimal():
        raise UsageError("a line is missing.", where=program, hint=f"Write {program}:12, or {program} 12.")
    return name, name, int(text)


def _one_of(program: str, text: str) -> str:
    """What to write for one line, and for several, those of the text where it names some."""
    first, last = found.groups() if (found := _SEVERAL.fullmatch(text)) else ("12", "18")
    return f"Write {program}:{first}; `esp run {program} --lines {first}-{last}` shows several lines."
