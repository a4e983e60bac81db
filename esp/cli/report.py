"""`esp report`: all that is worth knowing about a program on a machine, as one file."""

import argparse
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from esp.cli.layout import layouts_shown
from esp.cli.options import add_output, add_partial, add_program, add_scenario, console_of, one_of_procs, procs_of
from esp.errors import PredictionError, UsageError

if TYPE_CHECKING:  # the API brings NumPy, which `esp report --help` need not wait for
    from aag.diagnostics import Diagnostic
    from esp.api import Prediction, Request, Source, Stages
    from esp.cli.console import Console
    from esp.explore.compare import Comparison
    from esp.explore.impact import Swing
    from esp.explore.scaling import Scaling
    from esp.explore.sensitivity import SensitiveRun
    from esp.formulas.formula import TimeFormula
    from esp.traces.trace import Trace
    from sag.unit import System

USAGE = "esp report PROG [FILE ...] -o FILE [options]"

EXAMPLES = """\
examples:
  esp report laplace.hpf --procs 8 -o report.html
  esp report laplace.hpf --procs 64 --scaling 8,16,32,64,128 -o report.html
  esp report gauss.hpf --procs 16 --set n=512 --bandwidth x2 -o faster.html
  esp report laplace.hpf --procs 8 --formula --scalability 8..64 -o all.html

The page holds annotated source, profile, comparison of distributions, scaling,
what-ifs, timeline, messages between processors, memory, drawings of the
layouts, assumptions and machine. It is one self-contained file: open it in a
browser, even offline.
"""

MANY = 4096
"""Processors beyond which a page holds only what is asked for by name: each prediction takes seconds."""

_MOST_EVENTS = 300_000
"""Events of a trace that a page draws."""

_FEW = 4
"""Numbers of processors of the scaling beyond `MANY`."""

_SHOWN = 8
"""Numbers of processors of the scaling up to `MANY`."""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_program(parser, "number of processors", aligned=False, files=True)
    add_scenario(parser)
    add_partial(parser)
    group = parser.add_argument_group("what to show")
    group.add_argument("--scaling", metavar="P,...", help="numbers of processors (default: doubling up to --procs)")
    size = "the PARAMETER over which the best distribution may change, or none; as for esp compare"
    group.add_argument("--size", metavar="NAME[=N,...]", help=size)
    sizes = "also the sizes that keep the speed of a processor on these numbers of processors"
    group.add_argument("--scalability", metavar="P,...", help=sizes)
    group.add_argument("--formula", action="store_true", help="also the time as a formula in the problem size")
    add_output(parser)


def execute(options: argparse.Namespace) -> int:
    """Run the command; the result is its exit code."""
    began = time.perf_counter()
    procs = one_of_procs(options.procs, "a report takes one processor count.")
    if options.output is None and sys.stdout.isatty():
        raise UsageError("a page is for a browser, not for a terminal.", hint="Give a file: -o report.html")
    numbers, growing = procs_of(options.scaling), procs_of(options.scalability)
    console = console_of(options, writes=(".html", ".htm"))
    from msgspec.structs import replace

    from esp import api
    from esp.cli.progress import ProgressLine
    from esp.cli.prompt import with_answers
    from esp.cli.reading import asked_of
    from esp.explore.interval import cheap, interval_of
    from esp.output.report import ReportPage, report
    from esp.output.screen import paragraph
    from sag.describe import describe

    source, system, request = asked_of(options, procs)
    stages, complete = with_answers(lambda asked: api.lower_source(source, system, asked), request)
    with ProgressLine(console) as watch:
        prediction, complete = with_answers(
            lambda asked: api.interpret_stages(stages, system, asked, watch=watch), complete
        )
        if cheap(prediction):  # as `esp run` does
            prediction = replace(
                prediction, interval=interval_of(source, system, complete, watch=watch, made=prediction)
            )
    console.warn(prediction.warnings, source.program.lines)
    # Only what the program declares: temporaries of the lowering are nobody's business.
    names = tuple(api.map_source(source, system, complete).arrays)
    comparison, incomparable = None, ""
    if prediction.processors <= MANY or options.size:
        comparison, incomparable = _compared(source, system, complete, options.size, console)
    else:
        incomparable = (
            f"Distributions are not compared on more than {MANY:,} processors unless --size is given "
            "(--size none: at this size only), as that takes long."
        )
        scaled = "" if numbers else f" Scaling is over {_FEW} numbers of processors; --scaling chooses others."
        console.note(paragraph("left out", incomparable + scaled, console.screen.columns))
    named = (options.size or "").partition("=")[0]
    named = "" if named.strip().lower() == "none" else named
    scaling, best, impossible = _scaling(source, system, complete, prediction, comparison, numbers, console)
    trace, no_trace = _trace(stages, system, complete, console)
    page = report(
        ReportPage(
            prediction=prediction,
            comparison=comparison,
            incomparable=incomparable,
            scaling=scaling,
            covers=_covers(prediction.processors, numbers),
            impossible=impossible,
            best=best,
            swings=_swings(stages, system, complete, prediction, console),
            sensitive=_sensitive(source, system, complete, prediction, console),
            formula=_formula(source, system, complete, prediction.processors, named) if options.formula else None,
            scalability=_scalability(source, system, complete, growing, named, console) if growing else None,
            trace=trace,
            no_trace=no_trace,
            held={name: each.bytes_held() for name, each in stages.node_program.layouts.arrays.items()},
            layouts=layouts_shown(stages, names),
            machine=describe(system),
            command=_command(options),
        )
    )
    console.deliver(page)
    if options.output not in (None, "-"):
        console.note("One file for any browser, also without network.")
    console.took(time.perf_counter() - began)
    return 0


def _compared(
    source: "Source", system: "System", request: "Request", size: str | None, console: "Console"
) -> "tuple[Comparison | None, str]":
    """The comparison of distributions, or why there is none."""
    from esp.cli.progress import ProgressLine
    from esp.explore.compare import compare_choices
    from esp.explore.workers import processors

    with ProgressLine(console) as shown:
        try:
            progress = shown.predictions if shown else None
            return compare_choices(source, system, request, size=size, progress=progress, jobs=processors()), ""
        except PredictionError as nothing:  # a program without arrays has other news, too
            return None, str(nothing)


def _scaling(
    source: "Source",
    system: "System",
    request: "Request",
    prediction: "Prediction",
    comparison: "Comparison | None",
    numbers: tuple[int, ...] | None,
    console: "Console",
) -> "tuple[tuple[Prediction, ...], tuple[Prediction, ...], dict[int, Diagnostic]]":
    """Predictions for several numbers of processors, ascending, those of the fastest choice where it is not the
    source's own, and why there are none for some numbers."""
    from msgspec.structs import replace

    from aag.diagnostics import SourceError
    from esp.cli.progress import ProgressLine
    from esp.explore.compare import predict_each
    from esp.explore.workers import processors

    own = prediction.processors
    tried = sorted({1, *(numbers or _doubling(own))} - {own})  # speed-up is against 1
    # A grid fits one number of processors only.
    wanted = [replace(request, procs=number, grid=None) for number in tried]
    if comparison is None or not all(each.prediction.complete for each in comparison.ranked):
        best = None
    else:
        best = None if comparison.best.written else comparison.best
    if best is not None and best.choice is not None:
        wanted += [replace(each, distribute={**each.distribute, **best.choice.formats}) for each in wanted]
    with ProgressLine(console) as shown:
        progress = shown.predictions if shown else None
        found = predict_each(source, system, wanted, progress=progress, jobs=processors())
    scaling, faster, impossible = {own: prediction}, {} if best is None else {own: best.prediction}, {}
    for at, (number, made) in enumerate(zip((*tried, *tried), found, strict=False)):
        if not isinstance(made, SourceError):
            (scaling if at < len(tried) else faster)[number] = made
        elif at < len(tried) and number in (numbers or tried):  # the formats of the other choice need not fit
            impossible[number] = made.diagnostics[0]
    return _ascending(scaling), _ascending(faster), impossible


def _ascending(found: "dict[int, Prediction]") -> "tuple[Prediction, ...]":
    return tuple(found[number] for number in sorted(found))


def _swings(
    stages: "Stages", system: "System", request: "Request", prediction: "Prediction", console: "Console"
) -> "tuple[Swing, ...]":
    """What each figure of the machine does to the time."""
    from esp.cli.progress import ProgressLine
    from esp.explore.impact import swings

    if not prediction.complete or prediction.processors > MANY:
        return ()
    with ProgressLine(console) as watch:
        return swings(stages, system, request, watch)[1]


def _sensitive(
    source: "Source", system: "System", request: "Request", prediction: "Prediction", console: "Console"
) -> "SensitiveRun | None":
    """What each figure decides of the time; None where nobody would wait for it, or where there is nothing to vary."""
    from esp.cli.progress import ProgressLine
    from esp.explore.interval import cheap
    from esp.explore.sensitivity import sensitivities

    if not (prediction.complete and cheap(prediction)):
        return None
    with ProgressLine(console), suppress(PredictionError, UsageError):
        return sensitivities(source, system, request, [prediction.processors]).runs[0]
    return None


def _formula(source: "Source", system: "System", request: "Request", procs: int, size: str) -> "TimeFormula | str":
    """The time as a formula in the PARAMETER that sizes the arrays, or why there is none."""
    from msgspec.structs import replace

    from esp.explore.scaling import subject
    from esp.formulas.derivation import formula_of

    try:
        _, name, _ = subject(source, system, replace(request, grid=None), [procs], size)
        return formula_of(source, system, request, name)
    except (PredictionError, UsageError) as nothing:
        return nothing.what


def _scalability(
    source: "Source", system: "System", request: "Request", numbers: Sequence[int], size: str, console: "Console"
) -> "Scaling | str":
    """The sizes that keep the speed of a processor, or why there are none."""
    from msgspec.structs import replace

    from esp.cli.progress import ProgressLine
    from esp.explore.scaling import scaled

    with ProgressLine(console) as shown:
        progress = shown.sizes if shown else None
        try:
            return scaled(source, system, replace(request, grid=None), numbers, size=size, progress=progress)
        except (PredictionError, UsageError) as nothing:  # all else is worth a page
            return nothing.what


def _trace(stages: "Stages", system: "System", request: "Request", console: "Console") -> "tuple[Trace | None, str]":
    """The trace, or why a page has none."""
    from esp.cli.progress import ProgressLine
    from esp.traces.record import predicted_trace

    with ProgressLine(console) as watch:
        try:
            return predicted_trace(stages, system, request, most=_MOST_EVENTS, watch=watch)[0], ""
        except PredictionError as nothing:
            return None, str(nothing)


def _doubling(processors: int) -> tuple[int, ...]:
    """1, 2, 4 and so on up to this number, or 8, at most eight of them, or few where they are large; the number itself
    is one of them."""
    return _steps(processors)[-(_SHOWN if processors <= MANY else _FEW) :]


def _steps(processors: int) -> tuple[int, ...]:
    """As above, all of them."""
    return tuple(sorted({processors, *(2**power for power in range(max(8, processors).bit_length()))}))


def _covers(processors: int, numbers: tuple[int, ...] | None) -> str:
    """Which numbers of processors the page tries, and why these."""
    own = f"that of this page, {processors:,}"
    against = (
        "" if 1 in (*(numbers or _doubling(processors)), processors) else " Speed-up is against 1, which is added."
    )
    if numbers:
        told = "The numbers of processors are those of --scaling" + ("" if processors in numbers else f", and {own}")
        return f"{told}.{against}"
    steps, tried = _steps(processors), _doubling(processors)
    *most, last = (f"{number:,}" for number in tried)
    told = f"Tried on {', '.join(most)} and {last} processors: powers of two up to {max(8, processors):,}"
    if processors & (processors - 1):
        told += f", and {own}"
    if len(tried) < len(steps) and processors > MANY:
        told += f"; of these the {len(tried)} largest, as predictions on more than {MANY:,} processors take long"
    elif len(tried) < len(steps):
        told += f"; of these the {len(tried)} largest, which is as many as a page shows"
    return f"{told}.{against} --scaling chooses others."


def _command(options: argparse.Namespace) -> str:
    """The command that makes the page again."""
    from shlex import quote

    from esp.cli.again import command

    words = command("report", options)
    words += "".join(
        f" --{name} {quote(given)}" for name in ("scaling", "size", "scalability") if (given := getattr(options, name))
    )
    words += " --formula" if options.formula else ""
    return words + (f" -o {quote(options.output)}" if options.output not in (None, "-") else "")
