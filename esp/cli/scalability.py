"""`esp scalability`: how the problem must grow so that each processor keeps its speed."""

import argparse
import re
import time
from typing import TYPE_CHECKING

from esp.cli.options import add_forms, add_output, add_program, add_timed, console_of, procs_of, refuse_without_effect
from esp.errors import UsageError

if TYPE_CHECKING:  # the API brings NumPy, which `esp scalability --help` need not wait for
    from esp.api import Request, Source
    from esp.cli.console import Console
    from esp.cli.progress import ProgressLine
    from esp.explore.scaling import Scaling
    from esp.explore.speedups import Speedups
    from sag.unit import System

USAGE = "esp scalability PROG --procs P,... [options]"

EXAMPLES = """\
examples:
  esp scalability pi.hpf --procs 1,2,4,8
  esp scalability laplace.hpf --procs 2,4,8 --set n=64
  esp scalability gauss.hpf --procs 2..16 --speed 2Mflop/s
  esp scalability matmul.hpf --procs 1,2,4 --work '2*n**3' --csv
  esp scalability laplace_bx.hpf --procs 1,2,4,8 --set n=128 --timed
  esp scalability laplace_bb.hpf --procs 16,1024,65536 --by formula
  esp scalability laplace_bb.hpf --procs 2,4,8 --set n=24 --runs
  esp scalability laplace_bb.hpf --procs 2..64 --set n=24 --fit-on 2,4
  esp scalability laplace_bb.hpf --procs 1..16 --speedups --set n=64
  esp scalability pt.hpf --against pdd.hpf --procs 2..64 --set n=1024 --timed
  esp scalability laplace.hpf --against-distribute '(*,BLOCK)' --procs 2..64

Isospeed scalability (X.-H. Sun and J. Zhu, docs/scalability.md): the smallest size
that keeps the average speed of a processor, also at the sizes after it, on each
number of processors, and psi = p' W / (p W') from the work W that belongs to it.
The speed to keep is the speed on the first number of processors at the program's
own size, unless --speed gives another. Works and times are predicted.

The second table has the sizes by equation 2, W' = a p' T0' / (1 - a tau), from the
overhead T0' of a few predictions. T/psi is the time by equation 4.

--runs also runs the program, which counts what it does, on a simulated machine
without caches (needs gfortran and SimGrid), and searches the size at which it
has the speed. All times are without caches, input and output then.

--fit-on P,... fits the seconds of a flop, a message and a byte to runs on these few
processors (equation 16): predicted ones, or with --runs those of the program. The
sizes on all others follow from what the program is counted to do there.

--speedups shows four other views instead: speedup with fixed size, in fixed
time and in fixed memory, and the sizes that keep an efficiency.

--against, --against-distribute and --against-system show where another program,
distribution or machine overtakes.
"""

_SPEED = re.compile(r"([0-9.]+(?:[eE][+-]?[0-9]+)?)\s*([kMGT]?)(?:flop/s|flops)?", re.ASCII)
_SHARE = re.compile(r"([0-9.]+)\s*(%?)", re.ASCII)
_FACTORS = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_program(parser, "numbers of processors, such as 1,2,4,8 or 1..64")
    group = parser.add_argument_group("what is kept")
    group.add_argument("--speed", metavar="S", help="of each processor: 2Mflop/s (default: as on the first number)")
    group.add_argument("--size", metavar="NAME", default="", help="the PARAMETER to vary (default: sizes the arrays)")
    work = "flops of the best sequential program: '2*n**3' (default: of this one on one processor)"
    group.add_argument("--work", metavar="FLOPS", default="", help=work)
    tol = "how near the speed must be at the size by equation 2: a share of it (default: 1%%)"
    group.add_argument("--tol", metavar="SHARE", help=tol)
    by = "times by predictions, or by the formula in size and processors, for very many (default: %(default)s)"
    group.add_argument("--by", choices=("predictions", "formula"), default="predictions", help=by)
    group = parser.add_argument_group("running the program")
    group.add_argument("--runs", action="store_true", help="also search the sizes by runs of the program that counts")
    group.add_argument("--truth", metavar="MACHINE", help="the machine on which it runs (default: that of --system)")
    group.add_argument("--keep", metavar="FOLDER", help="keep sources and executables there")
    few = "fit the rates to runs on these few processors, and find the sizes on all others by them: 2,4"
    group.add_argument("--fit-on", metavar="P,...", help=few)
    group = parser.add_argument_group("other views")
    views = "fixed-size, fixed-time and memory-bounded speedup and isoefficiency, against one processor"
    group.add_argument("--speedups", action="store_true", help=views)
    group.add_argument("--efficiency", metavar="SHARE", help="the efficiency to keep (default: 50%%)")
    group = parser.add_argument_group("overtaking")
    group.add_argument("--against", metavar="PROG", help="another program: from how many processors on is it faster?")
    formats = "another distribution of the program: '(*,BLOCK)' (repeatable)"
    group.add_argument("--against-distribute", metavar="[NAME=](...)", action="append", default=[], help=formats)
    group.add_argument("--against-system", metavar="NAME|FILE", help="another machine")
    growth = "the size: fixed, or so that each processor keeps its work, or the speed of the first (default: fixed)"
    group.add_argument("--grow", choices=("fixed", "work", "speed"), help=growth)
    plot = "also draw sizes and psi, or both times: .png, .svg, .pdf (needs matplotlib)"
    parser.add_argument("--plot", metavar="FILE", help=plot)
    add_timed(parser)
    add_forms(parser, "docs/json_other.md")
    add_output(parser)


def speed_of(text: str) -> float:
    """A speed in flop/s.

    >>> speed_of("3.25Mflop/s")
    3250000.0

    Raises:
        UsageError: it is none.
    """
    found = _SPEED.fullmatch(text.strip())
    try:
        value = float(found.group(1)) * _FACTORS[found.group(2)] if found else 0.0
    except ValueError:
        value = 0.0
    if not value > 0:
        raise UsageError(f"{text!r} is not a speed.", where="--speed", hint="Write 2Mflop/s or 2.5e6.")
    return value


def share_of(text: str, where: str = "--tol", what: str = "a share of the speed") -> float:
    """A share, in percent or as a fraction. `where`: the option to blame; `what`: what is wanted.

    >>> share_of("2%"), share_of("0.05")
    (0.02, 0.05)

    Raises:
        UsageError: it is none between 0 and 1.
    """
    found = _SHARE.fullmatch(text.strip())
    try:
        value = float(found.group(1)) / (100 if found.group(2) else 1) if found else 0.0
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise UsageError(f"{text!r} is not {what}.", where=where, hint="Write 1% or 0.01.")
    return value


def execute(options: argparse.Namespace) -> int:
    """Run the command; the result is its exit code."""
    began = time.perf_counter()
    console = console_of(options)
    procs = procs_of(options.procs)
    if procs is None:
        raise UsageError("several numbers of processors are needed.", hint="Write --procs 1,2,4,8.")
    if options.plot is not None:
        from esp.output.plots.style import check_plot

        check_plot(options.plot)
    if options.against or options.against_distribute or options.against_system:
        return _overtaking(options, console, procs, began)
    refuse_without_effect(options, ("grow",), "without --against")
    refuse_without_effect(options, () if options.runs else ("truth", "keep"), "without --runs")
    if options.speedups:
        return _speedups(options, console, procs, began)
    few = procs_of(options.fit_on, "--fit-on") if options.fit_on else None
    refuse_without_effect(options, ("efficiency",), "without --speedups")
    speed = None if options.speed is None else speed_of(options.speed)
    tol = share_of(options.tol or "1%")
    if options.by == "formula" and options.tol:
        raise UsageError("there are no sizes by equation 2.", where="--tol", hint="Leave it out with --by formula.")
    if options.by == "formula":
        refuse_without_effect(options, ("runs", "fit_on"), "with --by formula")
    if options.runs and options.timed:
        raise UsageError("runs have the time of the whole program.", where="--timed", hint="Leave it out.")
    if options.by == "formula" and options.timed:
        raise UsageError("a formula has the time of the whole program.", where="--timed", hint="Leave it out.")
    from esp.cli.progress import ProgressLine
    from esp.cli.prompt import with_answers
    from esp.cli.reading import asked_of
    from esp.explore.scaling import scaled
    from esp.explore.scaling_by_formula import scaled_by_formula
    from esp.explore.scaling_fitted import fitted
    from esp.output import scaling as output

    source, system, request = asked_of(options, procs[0])
    if options.runs:
        request = _without_caches(request, system)
    size: str = options.size
    with ProgressLine(console) as shown:

        def by_predictions(asked: "Request") -> "Scaling":
            progress = shown.sizes if shown else None
            return scaled(
                source, system, asked, procs, speed=speed, size=size, work=options.work, tol=tol, progress=progress
            )

        def by_formula(asked: "Request") -> "Scaling":
            progress = shown.counted if shown else None
            return scaled_by_formula(
                source, system, asked, procs, speed=speed, size=size, work=options.work, progress=progress
            )

        found, asked = with_answers(by_formula if options.by == "formula" else by_predictions, request)
        if options.runs:
            found = _run(options, found, source, system, asked, tol, shown, few)
        elif few:
            progress = shown.running if shown else None
            found = fitted(found, source, system, asked, few, None, work=options.work, tol=tol, progress=progress)
    console.warn(found.warnings, source.program.lines)
    if options.plot is not None:
        from esp.output.plots.scalability import scaling_figure
        from esp.output.plots.style import save, styled

        with styled():
            save(scaling_figure(found), options.plot)
    if options.json:
        console.deliver(output.scaling_json(found))
    elif options.csv:
        console.deliver(output.scaling_csv(found))
    else:
        console.deliver(output.scaling_text(found, console.screen, _next(options, found)))
    console.took(time.perf_counter() - began)
    return 0


def _without_caches(request: "Request", system: "System") -> "Request":
    """What is asked for of a machine whose misses take no time, as runs that count have none."""
    from msgspec.structs import replace

    from esp.quantities import quantities_of

    misses = dict.fromkeys(quantities_of(system).get("misses", ()), "0 us")
    sets = tuple({**dict(request.scenario.sets), **misses}.items())
    return replace(request, scenario=replace(request.scenario, sets=sets, io=False))


def _run(
    options: argparse.Namespace,
    found: "Scaling",
    source: "Source",
    system: "System",
    request: "Request",
    tol: float,
    shown: "ProgressLine | None",
    few: "tuple[int, ...] | None",
) -> "Scaling":
    """Sizes by runs, and by rates that are fitted to runs on `few`."""
    from pathlib import Path
    from tempfile import TemporaryDirectory

    from esp.api import load_machine
    from esp.explore.scaling_fitted import fitted
    from esp.explore.scaling_measured import measured
    from esp.validate.executions import executions

    truth = load_machine(options.truth) if options.truth else system
    with TemporaryDirectory(prefix="esp-") as temporary:
        folder = Path(options.keep or temporary)
        executed = executions(source, system, request, found.parameter, truth, folder)
        progress = shown.running if shown else None
        if few:
            found = fitted(found, source, system, request, few, executed, work=options.work, tol=tol, progress=progress)
        return measured(found, source, system, request, executed, work=options.work, tol=tol, progress=progress)


def _speedups(options: argparse.Namespace, console: "Console", procs: tuple[int, ...], began: float) -> int:
    """The other views."""
    refuse_without_effect(options, ("speed", "tol", "plot", "runs", "fit_on"), "with --speedups")
    if options.by == "formula":
        raise UsageError("speedups are those of predictions.", where="--by", hint="Leave it out.")
    efficiency = share_of(options.efficiency or "50%", "--efficiency", "an efficiency")
    from esp.cli.progress import ProgressLine
    from esp.cli.prompt import with_answers
    from esp.cli.reading import asked_of
    from esp.explore.speedups import speedups_of
    from esp.output import speedups as output
    from esp.output.cells import rows_as_csv
    from esp.output.json import text_of

    source, system, request = asked_of(options, procs[0])
    size, work = options.size, options.work
    with ProgressLine(console) as shown:
        progress = shown.sizes if shown else None

        def predicted(asked: "Request") -> "Speedups":
            return speedups_of(
                source, system, asked, procs, efficiency=efficiency, size=size, work=work, progress=progress
            )

        found, _ = with_answers(predicted, request)
    console.warn(found.warnings, source.program.lines)
    if options.json:
        console.deliver(text_of(output.speedups_json(found)))
    elif options.csv:
        console.deliver(rows_as_csv(output.speedups_rows(found)))
    else:
        console.deliver(output.speedups_text(found, console.screen))
    console.took(time.perf_counter() - began)
    return 0


def _overtaking(options: argparse.Namespace, console: "Console", procs: tuple[int, ...], began: float) -> int:
    """Where another one overtakes."""
    refuse_without_effect(options, ("speed", "tol", "efficiency", "speedups", "runs"), "with --against")
    if options.by == "formula":
        raise UsageError("the times are those of predictions.", where="--by", hint="Leave it out.")
    if (options.grow or "fixed") == "fixed" and options.work:
        raise UsageError(
            "--work has no effect with a fixed size.", where="--work", hint="Leave it out, or add --grow work."
        )
    from esp.cli.progress import ProgressLine
    from esp.cli.reading import asked_of
    from esp.explore.overtaking import Contestant, overtaking
    from esp.output import overtaking as output
    from esp.output.cells import rows_as_csv
    from esp.output.json import text_of

    source, system, request = asked_of(options, procs[0])
    other = argparse.Namespace(**vars(options))
    other.program = options.against or options.program
    other.system = options.against_system or options.system
    other.distribute = options.against_distribute or options.distribute
    second, machine, asked = asked_of(other, procs[0])
    labels = [_label(each, options, other) for each in (options, other)]
    if labels[0] == labels[1]:
        raise UsageError("both are the same.", where="--against", hint="Name another program, or see --help.")
    one = Contestant(label=labels[0], source=source, system=system, request=request)
    with ProgressLine(console) as shown:
        found = overtaking(
            one,
            Contestant(label=labels[1], source=second, system=machine, request=asked),
            procs,
            growth=options.grow or "fixed",
            size=options.size,
            work=options.work,
            progress=shown.sizes if shown else None,
        )
    console.warn(found.warnings, source.program.lines)
    if options.plot is not None:
        from esp.output.plots.scalability import overtaking_figure
        from esp.output.plots.style import save, styled

        with styled():
            save(overtaking_figure(found), options.plot)
    if options.json:
        console.deliver(text_of(output.overtaking_json(found)))
    elif options.csv:
        console.deliver(rows_as_csv(output.overtaking_rows(found)))
    else:
        console.deliver(output.overtaking_text(found, console.screen))
    console.took(time.perf_counter() - began)
    return 0


def _label(one: argparse.Namespace, *both: argparse.Namespace) -> str:
    """What is different of one of the two."""

    def told(name: str, text: str) -> list[str]:
        values = [getattr(each, name) for each in both]
        return [text] if values[0] != values[1] else []

    formats = " ".join(one.distribute) if one.distribute else "the source's mapping"
    words = told("program", one.program) + told("distribute", formats) + told("system", one.system)
    return " ".join(words) or str(one.program)


def _next(options: argparse.Namespace, found: "Scaling") -> str:
    """The command worth typing next: the profile at the largest size."""
    from esp.cli.again import command

    if options.program == "-" or len(found.runs) < 2:
        return ""
    last = found.runs[-1]
    options.procs = str(last.processors)
    name = found.parameter.lower()
    given = [each for each in options.set if each.partition("=")[0].strip().lower() != name]
    options.set = [*given, f"{found.parameter}={last.size}"]
    return command("run", options)
