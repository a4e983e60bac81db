"""`esp validate`: run the node program and hold the prediction against it."""

import argparse
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from esp.cli.compile import add_looks, add_switches
from esp.cli.console import console_for
from esp.cli.options import add_program, pairs, procs_of, request_of
from esp.errors import CheckFailedError, UsageError

if TYPE_CHECKING:  # what validates brings NumPy, which `esp validate --help` need not wait for
    from esp.validate.job import Job, Report

EXAMPLES = """\
examples:
  esp validate laplace.hpf --procs 1,2,4
  esp validate laplace.hpf --procs 6 --set n=50 --distribute 'TEMP=(CYCLIC,BLOCK)'

Builds the node program for each number of processors, runs it with mpirun, and compares what it prints with the
serial program (gfortran) and the messages that it sends with the prediction, processor by processor.
"""

METHODS = {"mpi": "native MPI"}
"""What may follow ``--against``, and what it means."""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.epilog = EXAMPLES
    parser.usage = "esp validate PROG [options]"
    add_program(parser, "numbers of processors, such as 1,2,4 (default: what the program says)")
    add_switches(parser)
    group = parser.add_argument_group("how")
    told = "; ".join(f"{name}: {meaning}" for name, meaning in METHODS.items())
    group.add_argument("--against", choices=tuple(METHODS), default="mpi", help=f"what is run: {told}")
    group.add_argument("--keep", metavar="FOLDER", help="keep sources and executables there")
    add_looks(group)


def execute(options: argparse.Namespace) -> int:
    """Run the command; the result is its exit code.

    Raises:
        CheckFailedError: an answer or the messages are not as they should be.
    """
    console = console_for(options.color, quiet=options.quiet)
    if options.program == "-":
        raise UsageError("validate needs a file: the serial program is compiled from it.")
    from esp import api
    from esp.cli.reading import source_of
    from esp.validate.job import Job

    with tempfile.TemporaryDirectory() as scratch:
        job = Job(
            source=source_of(options.program, options.form),
            fixed=options.form == "fixed" or Path(options.program).suffix in (".f", ".for", ".F"),
            texts=pairs("--set", options.set, lower=True),
            system=api.load_machine(options.system),
            request=partial(request_of, options),
            procs=procs_of(options.procs) or (None,),
            folder=Path(options.keep or scratch).resolve(),
        )
        report = validated(options.against, job)
    console.deliver(report.table)
    if report.faults:
        raise CheckFailedError(report.faults[0])
    return 0


def validated(method: str, job: "Job") -> "Report":
    """What a method of `METHODS` finds."""
    match method:
        case "mpi":
            from esp.validate.native import validate
        case _:
            raise UsageError(f"{method} is no method.", where="--against", hint=f"Choose {', '.join(METHODS)}.")
    return validate(job)
