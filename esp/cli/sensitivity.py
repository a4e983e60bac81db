"""`esp sensitivity`: by how much the time changes with each parameter of the machine."""

import argparse
import time

from esp.cli.again import SCENARIO, command
from esp.cli.options import (
    add_forms,
    add_output,
    add_program,
    add_scenario,
    add_timed,
    console_of,
    procs_of,
    request_of,
)
from esp.cli.plan import sizes_of, varied_size

USAGE = "esp sensitivity PROG [--procs P,...] [--sizes N,...] [options]"

EXAMPLES = """\
examples:
  esp sensitivity gauss.hpf --procs 1,2,4,8,16         what decides, as it scales
  esp sensitivity gauss.hpf --procs 8 --sizes 64..1024
  esp sensitivity gauss.hpf --procs 8 --all            every parameter
  esp sensitivity gauss.hpf --procs 1..64 --plot shares.svg

The shares of all parameters add up to the time, as a machine on which all
takes twice as long runs every program twice as long (docs/explore.md).
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_program(parser, "numbers of processors: 8, 1,2,4,8 or 1..64")
    add_timed(parser)
    group = parser.add_argument_group("runs")
    group.add_argument("--sizes", metavar="N,...", help="sizes: 64,128,256 or 64..1024 (default: the program's)")
    group.add_argument(
        "--size", metavar="NAME", default="", help="the PARAMETER that they are (default: that of distributed arrays)"
    )
    plot = "also draw the shares: .png, .svg, .pdf (needs matplotlib)"
    group.add_argument("--plot", metavar="FILE", help=plot)
    group.add_argument("--all", action="store_true", help="show every parameter of the last run")
    add_scenario(parser)
    add_forms(parser, "docs/json_other.md")
    add_output(parser)


def execute(options: argparse.Namespace) -> int:
    """Run the command; the result is its exit code.

    Raises:
        UsageError: an option does not fit.
    """
    began = time.perf_counter()
    console = console_of(options)
    procs = procs_of(options.procs) or (None,)
    if options.plot is not None:
        from esp.output.plots.style import check_plot

        check_plot(options.plot)
    sizes = sizes_of(options.sizes) if options.sizes is not None else []
    from esp.api import load_machine
    from esp.cli.progress import ProgressLine
    from esp.cli.reading import source_of
    from esp.explore.sensitivity import sensitivities
    from esp.output import sensitivity as output
    from esp.output.cells import rows_as_csv
    from esp.output.json import text_of

    source, system = source_of(options.program, options), load_machine(options.system)
    request = request_of(options, procs[0])
    size = varied_size(options, source, system, request) if sizes else ""
    with ProgressLine(console) as shown:
        progress = shown.runs if shown else None
        found = sensitivities(source, system, request, procs, sizes, size=size, progress=progress)
    console.warn(found.warnings, source.program.lines)
    if options.plot is not None:
        from esp.output.plots.scalability import sensitivity_figure
        from esp.output.plots.style import save, styled

        with styled():
            save(sensitivity_figure(found), options.plot)
    if options.json:
        console.deliver(text_of(output.sensitivity_json(found)))
    elif options.csv:
        console.deliver(rows_as_csv(output.sensitivity_rows(found)))
    else:
        following = "" if options.quiet or options.program == "-" else _next(options)
        console.deliver(output.sensitivity_text(found, console.screen, following, every=options.all))
    console.took(time.perf_counter() - began)
    return 0


def _next(options: argparse.Namespace) -> str:
    """The command worth typing next: real changes, and what they move."""
    asked = argparse.Namespace(**{**vars(options), "procs": options.procs and options.procs.split(",")[-1]})
    return f"{command('whatif', asked, without=SCENARIO)} --latency x0.5 --bandwidth x2 --processor-speed x2"
