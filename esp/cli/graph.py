"""`esp graph`: the graphs of programs and machines, for drawing and for other programs."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from esp.cli.options import add_granularity, add_output, add_program, console_of, one_of_procs, refuse_without_effect
from esp.errors import UsageError

if TYPE_CHECKING:  # the API brings NumPy, which `esp graph --help` need not wait for
    from esp.api import Request, Stages
    from sag.unit import System

GRAPHS = ("aag", "saag", "sag")

SUFFIXES = {".dot": "dot", ".gv": "dot", ".graphml": "graphml", ".json": "json", ".mmd": "mermaid", ".svg": "svg"}
"""Suffix of the output -> format."""

FORMATS = ("dot", "graphml", "json", "mermaid", "svg")

USAGE = "esp graph aag|saag PROG [FILE ...] [options]\n       esp graph sag MACHINE [options]"

EXAMPLES = """\
examples:
  esp graph saag laplace.hpf --procs 8 -o laplace.svg         a drawing
  esp graph aag laplace.hpf --procs 8 --times -o laplace.svg  coloured by time
  esp graph saag laplace.hpf --format graphml -o laplace.graphml
  esp graph sag ipsc860 --format mermaid                      a machine

aag   the application abstraction graph (`esp show aag` is the same as text)
saag  the same with the communication between its units
sag   the system abstraction graph of a machine, named in place of the program
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("graph", metavar="GRAPH", choices=GRAPHS, help=", ".join(GRAPHS))
    add_program(parser, "number of processors", files=True)
    parser.add_argument(
        "--opt", metavar="NAME=off", action="append", default=[], help="switch an optimisation off (repeatable)"
    )
    add_granularity(parser)
    parser.add_argument("--format", choices=FORMATS, help="default: by the suffix of -o, else dot")
    parser.add_argument("--times", action="store_true", help="also predict, and colour the boxes by time (svg)")
    add_output(parser)


def execute(options: argparse.Namespace) -> int:
    """Run the command; the result is its exit code."""
    fmt = options.format or _format_of(options.output)
    if options.times and (fmt != "svg" or options.graph == "sag"):
        raise UsageError(
            "only the drawing (svg) of a program is coloured by time.",
            where="--times",
            hint="Add --format svg, or -o x.svg.",
        )
    suffix = Path(options.output or "").suffix.lower()
    if SUFFIXES.get(suffix, fmt) != fmt:
        raise UsageError(f"--format {fmt} would be written to a {suffix} file.", where=f"-o {options.output}")
    console = console_of(options, writes=tuple(SUFFIXES))
    from esp import api

    if options.graph == "sag":
        if options.procs is not None:
            raise UsageError("the graph of a machine has no processors to choose.", where="--procs")
        changes = ("system", "form", "grid", "distribute", "align", "set", "opt", "trust_directives", "times")
        refuse_without_effect(options, changes, "on the graph of a machine")
        console.deliver(_machine(api.load_machine(options.program), fmt))
        return 0
    procs = one_of_procs(options.procs, "a graph takes one processor count.")
    from esp.cli.reading import asked_of

    source, system, request = asked_of(options, procs)
    stages = api.lower_source(source, system, request)
    console.warn(stages.warnings, source.program.lines)
    console.deliver(_program(stages, system, request, fmt, options))
    return 0


def _format_of(output: str | None) -> str:
    """The format that a suffix means; where there is none, dot.

    Raises:
        UsageError: the suffix means nothing here.
    """
    suffix = Path(output or "").suffix.lower()
    if suffix and suffix not in SUFFIXES:
        hint = f"Choose one with --format, or end it in {', '.join(list(SUFFIXES)[:-1])} or {list(SUFFIXES)[-1]}."
        raise UsageError(f"{suffix} is not a graph format.", where=f"-o {output}", hint=hint)
    return SUFFIXES.get(suffix, "dot")


def _machine(system: "System", fmt: str) -> str:
    if fmt != "svg":
        from esp.output.graph_machine import export

        return export(system, fmt)
    from esp.inspect.drawing import of_system
    from esp.output.graph_svg import svg

    return svg(of_system(system))


def _program(stages: "Stages", system: "System", request: "Request", fmt: str, options: argparse.Namespace) -> str:
    from msgspec.structs import replace

    from aag.graph.cluster import outline

    graph = outline(stages.graph, request.granularity)
    graph = graph if options.graph == "saag" else replace(graph, edges=())
    if fmt != "svg":
        from aag.graph.export import export

        return export(graph, fmt)
    from esp.inspect.drawing import of_graph
    from esp.output.graph_svg import svg

    if not options.times:
        return svg(of_graph(graph))
    from esp import api
    from esp.output.numbers import percent, seconds
    from esp.prediction import first

    made = api.interpret_stages(stages, system, request)
    total_s = first(made.time_s)
    shares = {each.id: first(each.total_s) / total_s if total_s else 0.0 for each in made.aaus}
    notes = {each.id: f"{seconds(first(each.total_s))}, {percent(shares[each.id])}" for each in made.aaus}
    return svg(of_graph(graph, notes), {f"a{number}": share for number, share in shares.items()})
