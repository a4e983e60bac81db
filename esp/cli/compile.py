"""`esp compile`: the node program of an HPF program as Fortran with MPI."""

import argparse
from pathlib import Path

from aag.wording import plural
from esp.cli.console import COLOURS, Console, console_for
from esp.cli.options import add_program, named, one_of_procs
from esp.errors import UsageError

USAGE = "esp compile PROG [FILE ...] --procs P -o FOLDER [options]"

EXAMPLES = """\
examples:
  esp compile laplace.hpf --procs 8 -o build/           sources and a Makefile
  esp compile laplace.hpf --procs 8 -o build/ --build   also compiled, with mpif90
  make -C build run                                     with mpirun

another MPI than that of mpif90 and mpirun, also for esp validate:
  MPIFC=mpif90.mpich MPIRUN=mpirun.mpich make -C build run

environment of the compiled program:
  ESP_COUNTERS=FILE   messages and bytes that each processor sent, by source line
  ESP_TRACE=FILE      with --trace: what each processor did and when (docs/trace.md)
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_program(parser, "number of processors of the node program", files=True)
    add_switches(parser)
    add_collectives(parser)
    add_link(parser)
    group = parser.add_argument_group("output")
    group.add_argument(
        "-o", "--output", metavar="FOLDER", type=named, default="build", help="output folder (default: %(default)s)"
    )
    group.add_argument(
        "--poison",
        action="store_true",
        help="for debugging: copies become NaN as soon as their owner writes, and before new ones come",
    )
    group.add_argument("--trace", action="store_true", help="the program can write a trace (docs/trace.md)")
    group.add_argument("--build", action="store_true", help="also compile it")
    add_looks(group)


def add_switches(parser: argparse.ArgumentParser) -> None:
    """Optimisations that can be off."""
    parser.add_argument(
        "--opt", metavar="NAME=off", action="append", default=[], help="switch an optimisation off (repeatable)"
    )


def add_link(parser: "argparse._ActionsContainer") -> None:
    """Where procedures without source are."""
    parser.add_argument(
        "--link",
        metavar="FILE|NAME",
        action="append",
        default=[],
        type=named,
        help="a source, object or library with procedures that the program lacks: plain.f90, or blas for libblas"
        " (repeatable)",
    )


def add_collectives(parser: "argparse._ActionsContainer") -> None:
    """Who does collectives."""
    parser.add_argument(
        "--native-collectives",
        action="store_true",
        help="use MPI's collectives, not the machine's algorithms; their messages are not counted",
    )


def without_trace(native: bool, traced: object) -> None:
    """Refuse traces of collectives that MPI does: nobody sees their messages.

    Raises:
        UsageError: both are asked for.
    """
    if native and traced:
        raise UsageError(
            "a trace would lack the messages of MPI's own collectives.",
            where="--native-collectives",
            hint="Leave out --trace.",
        )


def add_looks(group: "argparse._ArgumentGroup") -> None:
    """How messages look."""
    group.add_argument("-q", "--quiet", action="store_true", help="no warnings and no notes")
    group.add_argument("--color", choices=COLOURS, default="auto", help="colour (default: on a terminal)")
    group.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help="show tracebacks")


def execute(options: argparse.Namespace) -> int:
    """Run the command; the result is its exit code."""
    procs = one_of_procs(options.procs, "a node program takes one processor count.")
    without_trace(options.native_collectives, options.trace)
    from esp import api
    from esp.building import alone_in, build, emitted_of, write
    from esp.cli.reading import asked_of

    console: Console = console_for(options.color, quiet=options.quiet)
    source, system, request = asked_of(options, procs)
    stages = api.lower_source(source, system, request)
    console.warn(stages.warnings, source.program.lines)
    emission = emitted_of(
        stages, system, request, poisons=options.poison, traces=options.trace, native=options.native_collectives
    )
    folder = Path(options.output)
    with alone_in(folder):
        write(emission, folder)
        if options.build:
            build(folder)
    built = " (built)" if options.build else ""
    console.deliver(f"{folder}: {emission.name} for {plural(emission.procs, 'processor')}{built}\n")
    return 0
