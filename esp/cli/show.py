"""`esp show`: one stage of the analysis."""

import argparse
from typing import TYPE_CHECKING

from esp.cli.options import add_output, add_program, console_of, one_of_procs, refuse_without_effect, request_of
from esp.errors import UsageError

if TYPE_CHECKING:  # the API brings NumPy, which `esp show --help` need not wait for
    from esp.api import Request, Source

STAGES = {
    "ir": "the program as esp reads it, as Fortran",
    "layouts": "which processors own which elements",
    "loops": "the DO loops: which run in parallel, which do not, and why",
    "node": "the node program: what each processor does",
    "aag": "the application abstraction graph",
    "saag": "the same, synchronised: with the communication between its units",
}

FORMATS = ("text", "dot", "graphml", "json", "mermaid")

USAGE = "esp show STAGE PROG [FILE ...] [options]"

EXAMPLES = "stages:\n" + "".join(f"  {name:8} {what}\n" for name, what in STAGES.items())
EXAMPLES += """
examples:
  esp show layouts laplace.hpf --procs 8
  esp show loops sor.hpf --procs 4
  esp show node laplace.hpf --procs 4 --opt hoist=off
  esp show saag laplace.hpf --format dot | dot -Tsvg -o laplace.svg
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("stage", metavar="STAGE", choices=STAGES, help=", ".join(STAGES))
    add_program(parser, "number of processors", files=True)
    parser.add_argument(
        "--opt", metavar="NAME=off", action="append", default=[], help="switch an optimisation off (repeatable)"
    )
    parser.add_argument("--format", choices=FORMATS, default="text", help="of aag and saag (default: text)")
    add_output(parser)


def execute(options: argparse.Namespace) -> int:
    """Run the command; the result is its exit code."""
    procs = one_of_procs(options.procs, "esp show takes one processor count.")
    if options.format != "text" and options.stage not in ("aag", "saag"):
        raise UsageError(f"{options.stage} is text.", where="--format", hint="Formats are for aag and saag.")
    if options.stage == "ir":
        changes = ("grid", "distribute", "align", "set", "opt", "trust_directives")
        refuse_without_effect(options, changes, "on the program as it is read")
    if options.stage == "layouts":
        refuse_without_effect(options, ("opt",), "on layouts")
    console = console_of(options)
    from esp.cli.reading import source_of

    source = source_of(options.program, options)
    text = _stage(options, source, request_of(options, procs))
    console.warn(source.program.diagnostics, source.program.lines)
    console.deliver(text.rstrip("\n") + "\n")
    return 0


def _stage(options: argparse.Namespace, source: "Source", request: "Request") -> str:
    """The text of one stage; nothing beyond that stage is made."""
    from esp import api

    if options.stage == "ir":
        from aag.ir.printer import print_program

        return print_program(source.program)
    system = api.load_machine(options.system)
    if options.stage == "layouts":
        from aag.mapping.describe import describe_layouts

        return describe_layouts(api.map_source(source, system, request))
    stages = api.lower_source(source, system, request)
    if options.stage == "loops":
        from aag.spmd.loop_table import describe_loops

        return describe_loops(stages.node_program)
    if options.stage == "node":
        from aag.spmd.printer import print_node

        return print_node(stages.node_program)
    from msgspec.structs import replace

    from aag.graph.export import export

    graph = stages.graph if options.stage == "saag" else replace(stages.graph, edges=())
    return export(graph, options.format)
