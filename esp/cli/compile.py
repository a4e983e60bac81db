"""`esp compile`: the node program of an HPF program as Fortran with MPI."""

import argparse
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from esp.cli.console import COLOURS, Console, console_for
from esp.cli.options import add_program, procs_of, request_of
from esp.errors import PredictionError, UnreadableFileError, UsageError

if TYPE_CHECKING:  # the API brings NumPy, which `esp compile --help` need not wait for
    from aag.spmd.emit import Emission
    from esp.api import Request, Source
    from sag.unit import System

EXAMPLES = """\
examples:
  esp compile laplace.hpf --procs 8 -o build/           sources and a Makefile
  esp compile laplace.hpf --procs 8 -o build/ --build   also compiled, with mpif90
  make -C build run                                     with mpirun

environment of the compiled program:
  ESP_COUNTERS=FILE   messages and bytes that each processor sent, by source line
"""

PACKAGES = {
    "mpif90": "an MPI with its Fortran compiler, such as libopenmpi-dev or mpich",
    "mpirun": "an MPI, such as openmpi-bin or mpich",
    "gfortran": "gfortran",
    "make": "make",
}
"""Tool -> the package that brings it."""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.epilog = EXAMPLES
    parser.usage = "esp compile PROG --procs P -o FOLDER [options]"
    add_program(parser, "number of processors that the node program is for")
    add_switches(parser)
    group = parser.add_argument_group("output")
    group.add_argument("-o", "--output", metavar="FOLDER", default="build", help="where to (default: %(default)s)")
    group.add_argument(
        "--poison", action="store_true", help="for debugging: copies become NaN as soon as their owner writes"
    )
    group.add_argument("--build", action="store_true", help="compile, too")
    add_looks(group)


def add_switches(parser: argparse.ArgumentParser) -> None:
    """Optimisations that can be off."""
    parser.add_argument(
        "--opt", metavar="NAME=off", action="append", default=[], help="switch an optimisation off (repeatable)"
    )


def add_looks(group: "argparse._ArgumentGroup") -> None:
    """How messages look."""
    group.add_argument("-q", "--quiet", action="store_true", help="no warnings and no notes")
    group.add_argument("--color", choices=COLOURS, default="auto", help="colour (default: on a terminal)")
    group.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help="show tracebacks")


def execute(options: argparse.Namespace) -> int:
    """Run the command; the result is its exit code."""
    procs = procs_of(options.procs)
    if procs is not None and len(procs) > 1:
        raise UsageError("a node program is compiled for one number of processors.", where="--procs")
    from esp import api
    from esp.cli.reading import source_of

    console: Console = console_for(options.color, quiet=options.quiet)
    source = source_of(options.program, options.form)
    request = request_of(options, None if procs is None else procs[0])
    emission = emitted(source, api.load_machine(options.system), request, poisons=options.poison)
    folder = Path(options.output)
    write(emission, folder)
    if options.build:
        build(folder)
    console.deliver(f"{folder}: {emission.name} for {emission.procs} processors{' (built)' if options.build else ''}\n")
    return 0


def emitted(source: "Source", system: "System", request: "Request", *, poisons: bool = False) -> "Emission":
    """The sources of a program's node program, with the collectives of a machine.

    Raises:
        PredictionError: a part of the program cannot be written as Fortran.
        aag.diagnostics.SourceError: mapping or values prevent it.
    """
    from aag.spmd.emit import NotEmitted, emit
    from esp import api
    from sag.scenario import export

    stages = api.lower_source(source, system, request)
    network = export(system, request.scenario).network
    described = {} if network is None else network.collectives
    try:
        return emit(stages.node_program, {name: how.algorithm for name, how in described.items()}, poisons=poisons)
    except NotEmitted as problem:
        where = f"{stages.node_program.file}:{problem.line}"
        raise PredictionError(f"this cannot be compiled: {problem.reason}.", where=where) from None


def write(emission: "Emission", folder: Path) -> None:
    """Write all sources; files that are the same stay untouched, so that make does no needless work.

    Raises:
        UnreadableFileError: the folder cannot be written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in emission.files.items():
            path = folder / name
            if not path.is_file() or path.read_text() != text:
                path.write_text(text)
    except OSError as error:
        raise UnreadableFileError(f"cannot be written: {error.strerror}.", where=str(folder)) from None


def build(folder: Path, *settings: str) -> None:
    """Compile the sources in a folder. `settings`: variables for make, such as ``FFLAGS=-g``.

    Raises:
        PredictionError: a tool is missing, or the compiler finds an error.
    """
    tool("mpif90")
    call([tool("make"), "-s", "-C", str(folder), *settings], "the node program does not compile")


def tool(name: str) -> str:
    """The path of a program that is installed.

    Raises:
        PredictionError: it is not; the text says which package brings it.
    """
    found = shutil.which(name)
    if found is None:
        raise PredictionError(f"{name} is not installed.", hint=f"Install {PACKAGES[name]}.")
    return found


def call(words: list[str], fault: str, folder: Path | None = None, **environment: str) -> str:
    """Run a tool; returns what it prints.

    Raises:
        PredictionError: it fails.
    """
    done = subprocess.run(  # noqa: S603 (a tool of the user's path, no shell)
        words, capture_output=True, text=True, cwd=folder, env={**os.environ, **environment}, check=False
    )
    if done.returncode:
        told = "\n".join((done.stderr.strip() or done.stdout.strip()).splitlines()[:12])
        raise PredictionError(f"{fault}:", why=told)
    return done.stdout
