"""`esp optimize-machine`: the machine with the most performance per dollar for a program."""

import argparse
import re
import time

from esp.cli.options import add_forms, add_output, add_program, console_of, one_of_procs, request_of
from esp.errors import UsageError

USAGE = "esp optimize-machine PROG [--procs P] [--price FORMULA] [options]"

EXAMPLES = """\
examples:
  esp optimize-machine shallow.hpf --procs 8
  esp optimize-machine gauss.hpf --procs 16 --price 'p*(500 + 2000*2**(50/ops))'
  esp optimize-machine gauss.hpf --procs 16 --limits ops=1..100,bw=10..5000

A price is a formula in ops (ns of a mean operation), bw (ns of a byte of a
message), startup (ns), cache (bytes) and p. Without --price it is that of M.
Clement's thesis, from quotes of 1994 (docs/explore.md).
"""

_NUMBER = r"(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"
_LIMIT = re.compile(rf"\s*(\w+)\s*=\s*{_NUMBER}\s*\.\.\s*{_NUMBER}\s*")


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_program(parser, "number of processors")
    group = parser.add_argument_group("prices")
    price = "dollars of the whole machine: a formula in ops, bw, startup, cache and p"
    group.add_argument("--price", metavar="FORMULA", help=price)
    limits = "where variables are searched: ops=1..100,bw=10..5000 (default: 1/256 to 256 times the machine's)"
    group.add_argument("--limits", metavar="NAME=LOW..HIGH,...", help=limits)
    group.add_argument("--io", choices=("on", "off"), default="on", help="whether input and output count")
    add_forms(parser, "docs/json_other.md")
    add_output(parser)


def execute(options: argparse.Namespace) -> int:
    """Run the command; the result is its exit code.

    Raises:
        UsageError: an option does not fit.
    """
    began = time.perf_counter()
    console = console_of(options)
    procs = one_of_procs(options.procs, "esp optimize-machine takes one processor count.")
    limits = limits_of(options.limits)
    from esp.api import load_machine
    from esp.cli.progress import ProgressLine
    from esp.cli.reading import source_of
    from esp.explore.best_machine import PRICE, best_machine
    from esp.output import best_machine as output
    from esp.output.cells import rows_as_csv
    from esp.output.json import text_of

    source, system = source_of(options.program, options), load_machine(options.system)
    price = PRICE if options.price is None else options.price
    with ProgressLine(console) as shown:
        progress = shown.runs if shown else None
        found = best_machine(source, system, request_of(options, procs), price, limits, progress)
    console.warn(found.warnings, source.program.lines)
    if options.json:
        console.deliver(text_of(output.best_json(found)))
    elif options.csv:
        console.deliver(rows_as_csv(output.best_rows(found)))
    else:
        following = ""
        if not options.quiet and options.program != "-":
            from esp.cli.again import command

            following = command("sensitivity", options)
        console.deliver(output.best_text(found, console.screen, following))
    console.took(time.perf_counter() - began)
    return 0


def limits_of(text: str | None) -> dict[str, tuple[float, float]]:
    """``ops=1..100,bw=10..5000``: variable -> least and largest value.

    Raises:
        UsageError: it is not such a list.
    """
    found: dict[str, tuple[float, float]] = {}
    for each in [] if text is None else text.split(","):
        parts = _LIMIT.fullmatch(each)
        if parts is None:
            hint = "Write for example ops=1..100."
            raise UsageError(f"{each.strip()!r} is not NAME=LOW..HIGH.", where="--limits", hint=hint)
        if parts[1] in found:
            raise UsageError(f"{parts[1]} is given twice.", where="--limits", hint="Write each name once.")
        found[parts[1]] = (float(parts[2]), float(parts[3]))
    return found
