"""`esp diff`: where two predictions differ."""

import argparse
import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from esp.cli.again import KEPT
from esp.cli.options import (
    add_forms,
    add_output,
    add_partial,
    add_program,
    add_scenario,
    add_timed,
    console_of,
    one_of_procs,
    refuse_without_effect,
    request_of,
)
from esp.errors import UnreadableFileError, reason

if TYPE_CHECKING:  # the API brings NumPy, which `esp diff --help` need not wait for
    from esp.cli.console import Console

USAGE = "esp diff A B [options]"

EXAMPLES = """\
examples:
  esp diff laplace_bb laplace_bx --procs 8              two programs
  esp diff laplace 'laplace --procs 16' --procs 8       options of one side
  esp diff laplace 'laplace --bandwidth x2' --procs 8   a what-if, part by part
  esp run laplace --procs 8 --json --aau all -o old.json
  esp diff old.json 'laplace --procs 8'                 a saved and a new one

Without `--aau all` a saved prediction is compared line by line.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    _sides(parser)
    shown = parser.add_argument_group("what to show")
    shown.add_argument("--all", action="store_true", help="also parts that take the same time")
    add_forms(shown, "docs/inspect.md")
    add_output(parser)


def _sides(parser: argparse.ArgumentParser) -> None:
    add_program(parser, "number of processors")
    parser.add_argument("other", metavar="B", help="the other side, as A")
    add_scenario(parser)
    add_timed(parser)
    add_partial(parser)
    for action in parser._actions:  # the shared options call it PROG
        if action.dest == "program":
            action.metavar = "A"
            action.help = "a program, with options of its own if in quotes, or a file of `esp run --json`"


def execute(options: argparse.Namespace) -> int:
    """Run the command; the result is its exit code."""
    console = console_of(options)
    if all(each.endswith(".json") for each in (options.program, options.other)):
        changes = (*KEPT, "procs", "timed", "trust_directives", "partial")
        refuse_without_effect(options, changes, "on two saved predictions")
    from esp.inspect.difference import as_json, difference, rows
    from esp.output.cells import told_as_csv
    from esp.output.diff import diff
    from esp.output.json import text_of

    a, b = (_predicted(side, options, console) for side in (options.program, options.other))
    found = difference(a, b)
    if options.json:
        console.deliver(text_of(as_json(found)))
    elif options.csv:
        console.deliver(told_as_csv(rows(found.pairs)))
    else:
        console.deliver(diff(found, console.screen, every=options.all))
    return 0


def _predicted(side: str, options: argparse.Namespace, console: "Console") -> dict[str, Any]:
    """One side as docs/json.md describes it."""
    if side.endswith(".json"):
        return _saved(side)
    from esp import api
    from esp.cli.parser import CommandParser
    from esp.cli.prompt import with_answers
    from esp.cli.reading import source_of
    from esp.output.json import Sections, content

    words = [side] if Path(side).is_file() else shlex.split(side)
    parser = CommandParser(prog="esp diff", add_help=False, allow_abbrev=False)
    _sides(parser)
    common = argparse.Namespace(**vars(options))
    own = parser.parse_args([*words, "-"], common)
    procs = one_of_procs(own.procs, "each side takes one processor count.")
    source = source_of(own.program, own)
    system = api.load_machine(own.system)
    made, _ = with_answers(lambda asked: api.predict_source(source, system, asked), request_of(own, procs))
    console.warn(made.warnings, source.program.lines)
    return content(made, Sections(aaus=None))


def _saved(name: str) -> dict[str, Any]:
    """A saved prediction.

    Raises:
        UnreadableFileError: the file cannot be read, or holds something else.
    """
    from esp.output.json import SCHEMA

    try:
        said = json.loads(Path(name).read_text(encoding="utf-8"))
    except OSError as error:
        raise UnreadableFileError(f"cannot be read: {reason(error)}.", where=name) from None
    except ValueError:
        raise UnreadableFileError("this is not JSON.", where=name, hint="`esp run PROG --json` writes it.") from None
    if isinstance(said, dict) and "runs" in said:
        hint = "Save each with --procs of one number."
        raise UnreadableFileError("this file has several predictions.", where=name, hint=hint)
    if not (isinstance(said, dict) and said.get("schema") == SCHEMA and "time_s" in said and "lines" in said):
        raise UnreadableFileError("this is not a prediction of `esp run --json`.", where=name)
    return said
