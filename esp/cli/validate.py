"""`esp validate`: run the node program and hold the prediction against it."""

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from esp.cli.compile import add_collectives, add_link, add_looks, add_switches, without_trace
from esp.cli.console import console_for
from esp.cli.options import add_program, procs_of, request_of
from esp.errors import CheckFailedError, UsageError
from esp.values import pairs

if TYPE_CHECKING:  # what validates brings NumPy, which `esp validate --help` need not wait for
    from esp.validate.job import Job, Validation

USAGE = "esp validate PROG [FILE ...] [options]"

EXAMPLES = """\
examples:
  esp validate laplace.hpf --procs 1,2,4
  esp validate laplace.hpf --procs 6 --set n=50 --distribute 'TEMP=(CYCLIC,BLOCK)'
  esp validate laplace.hpf --against simgrid --procs 8,64 --set n=64
  esp validate laplace.hpf --against counts --procs 1,6 --set n=64 --set k=3
  esp validate laplace.hpf --against cachegrind --set n=64 --set k=3

Builds the node program for each number of processors and runs it with mpirun. Compares what it prints with the
serial program (gfortran), and the messages of each processor with the prediction. With --against simgrid it runs
on a simulated machine with the predicted computation times, and its time is compared as well. With --against counts
its text has counters, and nothing comes from the prediction: operations are compared, and the time on the machine
of --truth (default: that of --system), without a cache. With --against
cachegrind it runs on one processor, and the cache misses of each loop nest are compared.
"""

_COUNTS = "Add --against counts, or leave it out."

METHODS = {
    "mpi": "native MPI",
    "simgrid": "times of messages and waiting, in SMPI on a simulated machine",
    "counts": "operations that the program counts as it runs, and its time without a cache on a simulated machine",
    "cachegrind": "misses of each nest on one processor, counted by valgrind",
}
"""What may follow ``--against``, and what it means."""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_program(parser, "numbers of processors, such as 1,2,4 (default: that of the program)", files=True)
    add_switches(parser)
    group = parser.add_argument_group("how")
    methods = "; ".join(f"{name}: {meaning}" for name, meaning in METHODS.items())
    group.add_argument("--against", choices=tuple(METHODS), default="mpi", help=f"what to run: {methods}")
    add_collectives(group)
    add_link(group)
    group.add_argument(
        "--truth", metavar="MACHINE", help="counts: the machine on which the program runs (default: that of --system)"
    )
    group.add_argument(
        "--noise", metavar="PERCENT", type=percent, help="counts: how much its processors vary from run to run"
    )
    group.add_argument("--seed", metavar="N", type=int, help="counts: of the noise (default: 0)")
    group.add_argument(
        "--tolerance",
        metavar="PERCENT",
        type=percent,
        help="mpi: largest accepted difference of a real number in the answer (default: 1e-10, or 1e-3 in single "
        "precision); cachegrind: largest accepted error of a nest's misses (default: 10)",
    )
    group.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=seconds,
        default=600.0,
        help="time limit of one run (default: 600; 0: none)",
    )
    group.add_argument("--trace", metavar="FOLDER", help="keep executed and predicted traces there (docs/trace.md)")
    group.add_argument("--keep", metavar="FOLDER", help="keep sources and executables there")
    add_looks(group)


def percent(text: str) -> float:
    """A percentage, with or without its sign, as a fraction.

    Raises:
        argparse.ArgumentTypeError: it is none.
    """
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a percentage such as 15 or 2.5%")
    return value / 100


def seconds(text: str) -> float:
    """A number of seconds.

    Raises:
        argparse.ArgumentTypeError: it is none.
    """
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds such as 60")
    return value


def execute(options: argparse.Namespace) -> int:
    """Run the command; the result is its exit code.

    Raises:
        CheckFailedError: an answer or the messages are not as they should be.
    """
    console = console_for(options.color, quiet=options.quiet)
    if options.program == "-":
        raise UsageError("validate needs a file: the serial program is compiled from it.")
    if options.trace is not None and options.against == "cachegrind":
        raise UsageError(
            "cachegrind keeps no time, so there is no trace.",
            where="--trace",
            hint="Leave out --against, or take simgrid.",
        )
    if options.native_collectives and options.against != "mpi":
        raise UsageError(
            "collectives of MPI's own need MPI.", where="--native-collectives", hint="Leave out --against."
        )
    if options.tolerance is not None and options.against not in ("mpi", "cachegrind"):
        raise UsageError(
            "only cache misses and answers of MPI programs have a tolerance.",
            where="--tolerance",
            hint="Leave out --against, or take cachegrind.",
        )
    for where, given in (("--truth", options.truth), ("--noise", options.noise), ("--seed", options.seed)):
        if given is not None and options.against != "counts":
            raise UsageError("only a program that counts runs on another machine.", where=where, hint=_COUNTS)
    for where, folder in (("--keep", options.keep), ("--trace", options.trace)):
        if folder is not None and Path(folder).exists() and not Path(folder).is_dir():
            raise UsageError(
                f"{folder} is not a folder.", where=where, hint="Name another; it is made if it is missing."
            )
    without_trace(options.native_collectives, options.trace)

    from aag.running import scratch
    from esp import api
    from esp.building import alone_in
    from esp.cli.reading import source_of, text_of_input
    from esp.output.validate import validation_text
    from esp.validate.given import given_to
    from esp.validate.job import Job

    with scratch() as temporary:
        source = source_of(options.program, options)
        job = Job(
            source=source,
            given=given_to(source.program, None if options.input is None else text_of_input(options.input)),
            texts=pairs("--set", options.set, lower=True),
            system=api.load_machine(options.system),
            request=partial(request_of, options),
            procs=procs_of(options.procs) or (None,),
            folder=Path(options.keep or temporary).resolve(),
            traces=None if options.trace is None else Path(options.trace).resolve(),
            limit_s=options.timeout,
            native=options.native_collectives,
            truth=None if options.truth is None else api.load_machine(options.truth),
            noise=options.noise or 0.0,
            seed=options.seed or 0,
            tolerance=options.tolerance,
        )
        stages = api.lower_source(source, job.system, job.request(min(job.procs, key=lambda each: each or 0)))
        console.warn(stages.warnings, source.program.lines)
        if stages.source.program.given:
            names = ", ".join(name.upper() for name, _ in stages.source.program.given)
            raise UsageError(
                f"the serial program computes {names}, whatever is given.",
                where="--set",
                hint="Write the value into the source. `esp run` and `esp compile` take it with --set.",
            )
        with alone_in(job.folder):
            report = validated(options.against, job)
    console.deliver(validation_text(report.found))
    if options.trace is not None:
        console.note(f"traces: {options.trace}")
    for remark in report.remarks:
        console.note(remark)
    if report.faults:
        raise CheckFailedError(report.faults[0])
    return 0


def validated(method: str, job: "Job") -> "Validation":
    """What a method of `METHODS` finds."""
    match method:
        case "mpi":
            from esp.validate.native import validate
        case "cachegrind":
            from esp.validate.cachegrind import validate
        case "counts":
            from esp.validate.counted import validate
        case "simgrid":
            from esp.validate.simgrid import validate
        case _:
            raise UsageError(f"{method} is not a method.", where="--against", hint=f"Choose {', '.join(METHODS)}.")
    return validate(job)
