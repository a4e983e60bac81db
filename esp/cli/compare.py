"""`esp compare`: which distribution is best."""

import argparse
import time
from functools import partial
from typing import TYPE_CHECKING

from esp.cli.options import (
    add_forms,
    add_output,
    add_partial,
    add_program,
    add_scenario,
    console_of,
    jobs_of,
    named_choices,
    one_of_procs,
    request_of,
)
from esp.errors import INTERRUPTED, UsageError

if TYPE_CHECKING:  # the API brings NumPy, which `esp compare --help` need not wait for
    from esp.api import Request
    from esp.explore.compare import Comparison

USAGE = "esp compare PROG [PROG ...] [options]"

EXAMPLES = """\
examples:
  esp compare laplace.hpf --procs 8                     every sensible DISTRIBUTE, the fastest first
  esp compare laplace.hpf --procs 8 --distribute 'TEMP=(BLOCK,*)' --distribute 'TEMP=(*,CYCLIC(4))'
  esp compare laplace.hpf --procs 16 --set n=512 --load 30%
  esp compare laplace_bb.hpf laplace_bx.hpf laplace_xb.hpf --procs 4
  esp compare gauss.hpf --procs 8 --json

Ctrl-C ends a comparison with what has been predicted so far.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_program(parser, "number of processors", several=True)
    add_scenario(parser)
    add_partial(parser)
    group = parser.add_argument_group("what to show")
    size = "PARAMETER to search for a crossover; with sizes (n=16:256:16), try all of them; none: no search"
    group.add_argument("--size", metavar="NAME[=N,...]", help=size)
    jobs = "processes on this computer (same results; default: one per core)"
    group.add_argument("--jobs", metavar="N", help=jobs)
    group.add_argument("--timed", action="store_true", help="rank by the time between two readings of the clock")
    group.add_argument("--interval", action="store_true", help="how sure the ranking is also where that takes long")
    add_forms(group, "docs/explore.md")
    add_output(parser)


def execute(options: argparse.Namespace) -> int:
    """Run the command; the result is its exit code."""
    began = time.perf_counter()
    why_one = "a comparison takes one processor count."
    procs = one_of_procs(options.procs, why_one, hint="`esp sweep` takes a list.")
    mapped = {
        "--distribute": options.distribute,
        "--align": options.align,
        "--size": options.size not in (None, "none"),
    }
    if len(options.program) > 1 and any(mapped.values()):
        what = next(name for name, given in mapped.items() if given)
        raise UsageError("several programs are compared unchanged.", where=what, hint="Leave it out.")
    jobs = None if options.jobs is None else jobs_of(options.jobs)
    console = console_of(options)
    from esp import api
    from esp.cli.progress import ProgressLine
    from esp.cli.prompt import answered, with_answers
    from esp.cli.reading import source_of
    from esp.explore import compare
    from esp.explore.workers import processors

    jobs = processors() if jobs is None else jobs
    named = named_choices(options.distribute)
    options.distribute = []
    system = api.load_machine(options.system)
    sources = [source_of(each, options) for each in options.program]
    for each, source in zip(options.program, sources, strict=True):
        if len(sources) > 1 and source.program.main is None:
            why = "this file has no main program."
            raise UsageError(why, where=each, hint=f"To add it to a program, write --file {each}.")
    request = request_of(options, procs)
    with ProgressLine(console) as shown:
        progress = shown.predictions if shown else None
        programs, choices = (
            partial(each, progress=progress, jobs=jobs, interval=options.interval)
            for each in (compare.compare_programs, compare.compare_choices)
        )

        def made(asked: "Request") -> "Comparison":
            if len(sources) > 1:
                return programs(sources, system, asked)
            return choices(sources[0], system, asked, named=named, size=options.size)

        found, complete = with_answers(made, request)
    options.set += answered(complete, request)
    console.warn(found.warnings, sources[0].program.lines)
    from esp.output import compare as output

    if options.json:
        console.deliver(output.comparison_json(found))
    elif options.csv:
        console.deliver(output.comparison_csv(found))
    else:
        silent = options.quiet or found.interrupted or "-" in options.program
        following = "" if silent else _next(options, found)
        console.deliver(output.comparison_text(found, console.screen, following=following))
    if found.interrupted:
        if options.json or options.csv:
            console.note("stopped: this is the fastest so far")
        return INTERRUPTED
    console.took(time.perf_counter() - began)
    return 0


def _next(options: argparse.Namespace, found: "Comparison") -> str:
    """The command worth typing next: the profile of the choice that is recommended."""
    from esp.cli.again import command

    best = found.recommended or found.best
    options.procs = str(best.prediction.processors)
    if best.choice is None:
        options.program = best.shown
    else:
        options.program = options.program[0]
    if best.choice is not None and not best.written:
        options.distribute = [f"{name}={formats}" for name, formats in best.choice.formats.items()]
        options.grid = None if best.choice.grid is None else "x".join(map(str, best.choice.grid))
    return command("run", options)
