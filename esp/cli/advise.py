"""`esp advise`: search for the best mapping, and explain it."""

import argparse
import time
from typing import TYPE_CHECKING

from esp.cli.options import add_forms, add_output, add_partial, add_program, add_scenario, console_of, named_choices
from esp.errors import INTERRUPTED, UsageError

if TYPE_CHECKING:  # the API brings NumPy, which `esp advise --help` need not wait for
    from esp.explore.advise import Advice

USAGE = "esp advise PROG [FILE ...] [options]"
EXAMPLES = """\
examples:
  esp advise laplace.hpf --procs 8                      the best mapping on 8 processors, and why
  esp advise gauss.hpf --procs 4..64                    on 4, 8, 16, 32 or 64
  esp advise lfk01.hpf --procs 8 --top 5                five of the best
  esp advise redblack.hpf --procs 8 --phases            and whether REDISTRIBUTE between parts pays
  esp advise redblack.hpf --procs 16 --set n=512 --load 30% --json

Only a few mappings are predicted: lower bounds rule out the others.
Ctrl-C ends the search with the best so far.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_program(parser, "numbers of processors: 8, 4,6,12 or 4..64 (doubling)", aligned=False, files=True)
    add_scenario(parser)
    add_partial(parser)
    group = parser.add_argument_group("what to search and show")
    group.add_argument("--align", choices=("on", "off"), default="on", help="try other alignments, too (default: on)")
    group.add_argument("--top", metavar="N", default="3", help="how many of the best are predicted (default: 3)")
    phases = "see if REDISTRIBUTE between parts of the program pays; this predicts all distributions"
    group.add_argument("--phases", action="store_true", help=phases)
    group.add_argument("--timed", action="store_true", help="rank by the time between two readings of the clock")
    add_forms(group, "docs/advise.md")
    add_output(parser)


def execute(options: argparse.Namespace) -> int:
    """Run the command; the result is its exit code."""
    began = time.perf_counter()
    if not options.top.isdecimal() or int(options.top) < 1:
        raise UsageError(f"{options.top!r} is not a number of choices.", where="--top", hint="Write for example 5.")
    console = console_of(options)
    from esp.cli.progress import ProgressLine
    from esp.cli.prompt import answered, with_answers
    from esp.cli.reading import asked_of
    from esp.explore import advise
    from esp.output.advise import advice_text
    from esp.output.advise_data import advice_json, advice_rows
    from esp.output.cells import rows_as_csv

    numbers = advise.numbers_of(options.procs)
    named = named_choices(options.distribute)
    options.distribute = []
    source, system, request = asked_of(options, None)
    with ProgressLine(console) as shown:
        progress = shown.search if shown else None
        found, complete = with_answers(
            lambda asked: advise.advise_source(
                source,
                system,
                asked,
                numbers,
                named=named,
                align=options.align == "on",
                top=int(options.top),
                look=options.phases,
                progress=progress,
            ),
            request,
        )
    options.set += answered(complete, request)
    console.warn(found.warnings, source.program.lines)
    if options.json:
        console.deliver(advice_json(found))
    elif options.csv:
        console.deliver(rows_as_csv(advice_rows(found)))
    else:
        following = "" if options.quiet or options.program == "-" else _next(options, found)
        console.deliver(advice_text(found, console.screen, following=following))
    if found.interrupted:
        if options.json or options.csv:
            console.note("stopped: this is the best so far")
        return INTERRUPTED
    console.took(time.perf_counter() - began)
    return 0


def _next(options: argparse.Namespace, found: "Advice") -> str:
    """The command worth typing next: the profile of the mapping that is recommended; options alone cannot say it where
    arrays are aligned anew."""
    from esp.cli.again import command

    best = (found.recommended or found.best).candidate
    options.align = []
    options.procs = str(best.procs)
    if best.aligned:
        return ""
    if not best.written:
        options.distribute = [f"{name}={formats}" for name, formats in best.choice.formats.items()]
        options.grid = None if best.choice.grid is None else "x".join(map(str, best.choice.grid))
    return command("run", options)
