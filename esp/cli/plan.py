"""`esp plan`: choose the runs that say most about a machine."""

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING

from esp.cli.options import add_forms, add_output, add_program, add_timed, console_of, procs_of, request_of
from esp.errors import UsageError

if TYPE_CHECKING:  # the API brings NumPy, which `esp plan --help` need not wait for
    from esp.api import Request
    from esp.sources import Source
    from sag.unit import System

USAGE = "esp plan PROG --sizes N,... --procs P,... [options]"

EXAMPLES = """\
examples:
  esp plan gauss.hpf --sizes 64..1024 --procs 1,2,4,8           20 runs, or all
  esp plan gauss.hpf --sizes 64:512:32 --procs 1..8 --runs 12
  esp plan gauss.hpf --sizes 64..1024 --procs 1..8 --csv -o runs.csv
  esp plan gauss.hpf --sizes 64..1024 --procs 1,2,4,8 --script -o runs.sh
  sh runs.sh runs.csv                                              makes them here
  esp fit runs.csv gauss.hpf --system cluster-ib                  once measured

The runs are those after which least is unknown of the machine: a D-optimal
plan by predictions (docs/fit_runs.md). --csv writes the table for `esp fit`,
without its times; --script writes a script that fills it in, where MPI is.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_program(parser, "numbers of processors to choose from: 1,2,4,8 or 1..8")
    add_timed(parser)
    group = parser.add_argument_group("the plan")
    group.add_argument("--io", choices=("on", "off"), default="on", help="whether input and output count")
    group.add_argument("--sizes", metavar="N,...", help="sizes to choose from: 64,128,256 or 64..1024")
    group.add_argument(
        "--size", metavar="NAME", default="", help="the PARAMETER that they are (default: that of distributed arrays)"
    )
    group.add_argument("--runs", metavar="N", default="20", help="how many runs, at most (default: %(default)s)")
    script = "print a shell script that makes the runs with the node program and writes the table"
    group.add_argument("--script", action="store_true", help=script)
    add_forms(parser, "docs/json_other.md")
    add_output(parser)


def execute(options: argparse.Namespace) -> int:
    """Run the command; the result is its exit code.

    Raises:
        UsageError: an option does not fit.
    """
    began = time.perf_counter()
    console = console_of(options)
    procs, sizes = procs_of(options.procs), sizes_of(options.sizes)
    if procs is None:
        raise UsageError("several numbers of processors are needed.", where="--procs", hint="Write --procs 1,2,4,8.")
    if not options.runs.isdecimal() or not 1 <= int(options.runs) <= _MOST:
        raise UsageError(f"{options.runs!r} is not a number of runs.", where="--runs", hint="Write for example 20.")
    from esp.api import load_machine
    from esp.cli.progress import ProgressLine
    from esp.cli.reading import source_of
    from esp.fit.plan import planned
    from esp.output import plan as output
    from esp.output.cells import rows_as_csv
    from esp.output.json import text_of

    source, system = source_of(options.program, options), load_machine(options.system)
    with ProgressLine(console) as shown:
        progress = shown.runs if shown else None
        many = min(int(options.runs), len(sizes) * len(procs))
        request = request_of(options, procs[0])
        name = varied_size(options, source, system, request)
        found = planned(source, system, request, sizes, procs, many, size=name, progress=progress)
    console.warn(found.warnings, source.program.lines)
    if options.script:
        console.deliver(
            output.plan_script(found, _compile(options, source), _absolute(options.input) if options.input else "")
        )
    elif options.json:
        console.deliver(text_of(output.plan_json(found)))
    elif options.csv:
        console.deliver(rows_as_csv(output.plan_rows(found)))
    else:
        console.deliver(output.plan_text(found, console.screen, _next(options)))
    console.took(time.perf_counter() - began)
    return 0


def _compile(options: argparse.Namespace, source: "Source") -> str:
    """The command that writes the node program of a run.

    Raises:
        UsageError: a file to compile is missing, or an option does not go with a script.
    """
    if options.program == "-":
        raise UsageError("a script needs a file.", where="--script", hint="Write the program to a file.")
    if options.timed or options.io == "off":
        hint = "Leave out --timed and --io off: the script takes the time of the whole program."
        raise UsageError("a script times the whole program.", where="--script", hint=hint)
    if options.json or options.csv:
        raise UsageError("a script is neither JSON nor CSV.", where="--script", hint="Leave the other one out.")
    from esp.cli.again import SCENARIO, command

    program = options.program if source.bundled else str(Path(options.program).absolute())
    changed = {"procs": None, "program": program, "system": _absolute(options.system)}
    changed |= {name: [_absolute(each) for each in getattr(options, name)] for name in ("files", "include")}
    one = argparse.Namespace(**{**vars(options), **changed})
    return command("compile", one, without=(*SCENARIO, "budget"))


def _absolute(name: str) -> str:
    """A name of a file or folder from anywhere; of nothing else it stays as it is."""
    return str(Path(name).absolute()) if Path(name).exists() else name


_MOST = 2_000
_LARGEST = 10**9


def varied_size(options: argparse.Namespace, source: "Source", system: "System", request: "Request") -> str:
    """The PARAMETER whose values ``--sizes`` has: that of ``--size``, or the one that sizes the distributed arrays.

    Raises:
        UsageError: ``--set`` gives a value for it.
    """
    from esp.sizing import default_size

    name = options.size.strip() or default_size(source, system, request)
    varied = [each for each in options.set if each.partition("=")[0].strip().lower() == name.lower()]
    if varied:
        raise UsageError(f"--sizes has the values of {name}.", where="--set", hint=f"Leave out {varied[0]}.")
    return name


def sizes_of(text: str | None) -> list[int]:
    """The sizes of ``--sizes``.

    Raises:
        UsageError: there are none, or one is not a size.
    """
    if text is None:
        raise UsageError("sizes to choose from are needed.", where="--sizes", hint="Write --sizes 64..1024.")
    from esp.explore.axes import values_of

    given = values_of(text, "--sizes")
    wrong = [each for each in given if not each.isdecimal() or not 1 <= int(each) <= _LARGEST]
    if wrong:
        raise UsageError(f"{wrong[0]!r} is not a size.", where="--sizes", hint="Write 64,128,256 or 64..1024.")
    return [int(each) for each in given]


def _next(options: argparse.Namespace) -> str:
    """The command worth typing next: the table to fill in."""
    if options.program == "-":
        return ""
    from esp.cli.again import command

    words = command("plan", options) + f" --sizes {options.sizes}"
    words += f" --size {options.size}" if options.size else ""
    words += f" --runs {options.runs}" if options.runs != "20" else ""
    return f"{words} --csv -o runs.csv"
