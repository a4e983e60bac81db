"""`esp query`: total cost of selected lines, units or procedures."""

import argparse

from esp.cli.options import (
    add_forms,
    add_granularity,
    add_output,
    add_partial,
    add_program,
    add_scenario,
    add_timed,
    console_of,
    one_of_procs,
)
from esp.errors import UsageError

USAGE = "esp query PROG [FILE ...] [options]"

EXAMPLES = """\
examples:
  esp query laplace.hpf --procs 8 --lines 35-40         some lines
  esp query laplace.hpf --procs 8 --below 9 --by kind   unit 9 and all inside it
  esp query laplace.hpf --kind Comm,SyncSeq --csv       all that communicates
  esp query laplace.hpf --array a                       all that moves array a
  esp query heat.hpf --by procedure                     each procedure

Conditions of different kinds must all hold. The time of a unit excludes the
units inside it, so rows add up. `esp show aag PROG` numbers the units.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_program(parser, "number of processors", files=True)
    chosen = parser.add_argument_group("which parts", "Lists are 1,5 or 10-20; all options are repeatable.")
    for name, metavar, what in (
        ("--lines", "N-M", "source lines"),
        ("--aau", "ID", "application abstraction units"),
        ("--below", "ID", "sub-graphs: units and all inside them"),
        ("--procedure", "NAME", "statements of these procedures; the program's name: its own"),
        ("--kind", "KIND", "classes of units: IterD, Comm, ..."),
        ("--array", "NAME", "units that communicate these arrays"),
    ):
        chosen.add_argument(name, metavar=metavar, action="append", default=[], help=what)
    rows = ("aau", "line", "kind", "procedure", "call")
    chosen.add_argument("--by", choices=rows, default="aau", help="what makes a row")
    add_granularity(chosen)
    add_scenario(parser)
    add_partial(parser)
    shown = parser.add_argument_group("what to show")
    add_timed(shown)
    add_forms(shown, "docs/inspect.md")
    add_output(parser)


def execute(options: argparse.Namespace) -> int:
    """Run the command; the result is its exit code."""
    procs = one_of_procs(options.procs, "a query takes one processor count.")
    lines = tuple(_range(each, "--lines") for text in options.lines for each in text.split(","))
    aaus = tuple(_numbers(options.aau, "--aau"))
    below = tuple(_numbers(options.below, "--below"))
    console = console_of(options)
    from esp import api
    from esp.cli.prompt import with_answers
    from esp.cli.reading import asked_of
    from esp.inspect.query import Query, query
    from esp.output import query as output
    from esp.output.json import Sections as Fields
    from esp.output.json import content, text_of
    from esp.output.profile import result_notes

    source, system, request = asked_of(options, procs)
    last = len(source.program.lines)
    for start, end in lines:
        if not 1 <= start <= end or start > last:
            raise UsageError(f"{source.program.file} has lines 1 to {last}.", where=f"--lines {start}-{end}")
    made, _ = with_answers(lambda asked: api.predict_source(source, system, asked), request)
    said = content(made, Fields(aaus=None))
    wanted = Query(
        lines=lines,
        aaus=aaus,
        below=below,
        procedures=_names(options.procedure),
        kinds=_names(options.kind),
        arrays=_names(options.array),
    )
    parts = query(said, wanted, options.by)
    console.warn(made.warnings, source.program.lines)
    if options.json:
        console.deliver(text_of(output.as_json(said, parts)))
    else:
        notes = result_notes(made, console.screen)
        console.deliver(output.as_csv(parts) if options.csv else output.rows(said, parts, console.screen, notes))
    return 0


def _names(given: list[str]) -> tuple[str, ...]:
    return tuple(name.strip().lower() for text in given for name in text.split(","))


def _range(text: str, option: str) -> tuple[int, int]:
    start, dash, end = text.strip().partition("-")
    if not start.isdecimal() or (dash and not end.isdecimal()):
        raise UsageError(f"{text!r} is not a range.", where=option, hint="Write 12, or 10-18.")
    return int(start), int(end) if dash else int(start)


def _numbers(given: list[str], option: str) -> list[int]:
    found: list[int] = []
    for text in given:
        for each in text.split(","):
            start, end = _range(each, option)
            found += range(start, min(end, start + 100_000) + 1)
    return found
