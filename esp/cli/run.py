"""`esp run`: predict the time of a program on a machine, and where it goes."""

import argparse
import sys
import time
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from aag.wording import plural
from esp.cli.options import (
    add_forms,
    add_granularity,
    add_output,
    add_partial,
    add_program,
    add_scenario,
    add_timed,
    console_of,
    procs_of,
)
from esp.errors import UsageError
from esp.output.screen import Screen

if TYPE_CHECKING:  # the API brings NumPy, which `esp run --help` need not wait for
    from collections.abc import Callable

    from aag.diagnostics import Diagnostic
    from esp.api import Prediction, Request, Source
    from esp.cli.console import Console
    from sag.unit import System

USAGE = "esp run PROG [FILE ...] [options]"

EXAMPLES = """\
examples:
  esp run laplace.hpf --procs 8                         where the time goes
  esp run laplace.hpf --procs 1,2,4,8                   speed-up and efficiency
  esp run laplace.hpf --set n=512 --distribute 'TEMP=(BLOCK,*)'
  esp run laplace.hpf --align 'B(i,j) WITH TEMP(j,i)'   another alignment
  esp run laplace.hpf --bandwidth x2 --load 30%         what if
  esp run laplace.hpf --annotate                        the whole source
  esp run laplace.hpf --lines 36                        one line in detail
  esp run heat.hpf --by procedure                       the time of each procedure
  esp run laplace.hpf --json -o laplace.json            for other programs (docs/json.md)
  esp run src/*.f -I inc -D N=64 --procs 8              several files, headers, macros
  generate | esp run - --procs 16                       from standard input
"""

LineRanges: TypeAlias = tuple[tuple[int, int], ...]
"""First and last line of each range."""

VIEWS = ("annotate", "lines", "aau", "per_processor", "by")


class OutputForm(Struct, frozen=True, kw_only=True):
    """What a form of the output can show besides its table: `views`, several of them `together`, intervals of one
    prediction or of each `in_tables`."""

    views: tuple[str, ...]
    together: bool = False
    interval: bool = False
    in_tables: bool = False


FORMS = {
    "text": OutputForm(views=VIEWS, interval=True),
    "json": OutputForm(views=("aau", "per_processor"), together=True, interval=True, in_tables=True),
    "csv": OutputForm(views=("aau", "per_processor", "by")),
}
"""Form by the option that asks for it; `text` is the form without an option. All else is refused."""


def form_of(options: argparse.Namespace) -> str:
    """The form of the output."""
    return next((name for name in FORMS if getattr(options, name, False)), "text")


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_program(parser, "number of processors, or a list 1,2,4,8 or 1..64 for a table of speed-up", files=True)
    add_scenario(parser)
    add_partial(parser)
    views = parser.add_argument_group("what to show")
    views.add_argument("--annotate", action="store_true", help="the whole source with the time of each line")
    views.add_argument("--lines", "--line", metavar="N|N-M,...", help="a line, or some, in detail")
    views.add_argument("--aau", metavar="ID|all", help="an application abstraction unit in detail, or all of them")
    views.add_argument("--by", choices=("procedure", "call"), help="the time of each procedure, or the tree of calls")
    views.add_argument("--per-processor", action="store_true", help="how each processor spends the time")
    add_timed(views)
    views.add_argument("--trace", metavar="FILE", help="also write what each processor does and when (docs/trace.md)")
    views.add_argument("--interval", action="store_true", help="the range of the time also where that takes long")
    add_granularity(views)
    views.add_argument("--unroll", action="store_true", help="walk every iteration (slow; same to 0.1%%)")
    add_forms(views, "docs/json.md")
    add_output(parser)


def execute(options: argparse.Namespace) -> int:
    """Run the command; the result is its exit code."""
    began = time.perf_counter()
    procs = procs_of(options.procs)
    _refuse_contradictions(options, procs)
    lines = _line_ranges(options.lines)
    console = console_of(options)
    from msgspec.structs import replace

    from aag.diagnostics import SourceError, UnresolvedError
    from esp.cli.prompt import answered, with_answers
    from esp.cli.reading import asked_of

    numbers = procs or (None,)
    source, system, request = asked_of(options, numbers[0])
    interval = _interval_wanted(options, several=len(numbers) > 1, fitted=system.fit is not None)
    asked = request
    if options.trace is not None:
        request = _trace(source, system, request, options.trace, console)
    predictions = []
    impossible: dict[int, SourceError] = {}
    said: set[Diagnostic] = set()
    beside = (1,) if len(numbers) > 1 and 1 not in numbers else ()  # what speed-up is against
    for number in (*beside, *numbers):
        try:
            wanted = replace(request, procs=number)
            made, request = with_answers(
                lambda asked: _predicted(source, system, asked, console, interval, said), wanted
            )
            predictions.append(made)
        except UnresolvedError:
            raise
        except SourceError as error:  # a mapping that fits one number of processors need not fit another
            impossible[number or 0] = error
    options.set += answered(request, asked)
    one = predictions.pop(0) if beside and 1 not in impossible else None
    if beside:
        impossible.pop(1, None)
    if not predictions:
        raise next(iter(impossible.values()))
    found = dict.fromkeys(found for each in predictions for found in each.warnings)
    console.warn([each for each in found if each not in said], source.program.lines)
    if len(numbers) > 1:
        reasons = {number: error.diagnostics[0] for number, error in impossible.items()}
        if options.csv:  # which has no place for a reason
            console.warn(reasons.values(), source.program.lines)
        console.deliver(_several(predictions, one, reasons, options, console.screen))
    else:
        if len(lines) == 1 and lines[0][0] == lines[0][1]:
            lines = (_whole(source, system, request, lines[0][0], console),)
        console.deliver(_one(predictions[0], options, lines, console.screen))
    console.took(time.perf_counter() - began)
    return 0


def _predicted(
    source: "Source",
    system: "System",
    request: "Request",
    console: "Console",
    interval: "Callable[[Prediction], bool]",
    said: "set[Diagnostic]",
) -> "Prediction":
    """The prediction, with its interval where that is wanted; with progress on a terminal while it takes long, and
    what misleads most there before it begins. `said`: what was warned of."""
    from msgspec.structs import replace

    from aag.mapping.resolve import UNDISTRIBUTED
    from esp import api
    from esp.cli.progress import ProgressLine
    from esp.explore.interval import interval_of, own_walk

    with ProgressLine(console) as watch:
        stages = api.lower_source(source, system, request)
        if sys.stderr.isatty():
            mapped = (each for each in stages.node_program.layouts.notes if each.code == UNDISTRIBUTED)
            early = [each for each in (*source.program.diagnostics, *mapped) if each not in said]
            console.warn(early, source.program.lines)
            said.update(early)
        made = api.interpret_stages(stages, system, request, watch=watch)
        if not interval(made):
            return made
        walk = own_walk(stages, system, request, watch, made=made)
        return replace(made, interval=interval_of(source, system, request, walk, watch))


def _interval_wanted(options: argparse.Namespace, *, several: bool, fitted: bool) -> "Callable[[Prediction], bool]":
    """Whether the interval of a prediction is wanted: with --interval, and for output that shows it if it is cheap or
    the machine is `fitted` to runs."""
    from esp.explore.interval import cheap, possible

    if options.interval:
        return possible
    name = form_of(options)
    apart = name == "text" and any(vars(options)[each] for each in VIEWS)  # a view has no place for it
    if not FORMS[name].interval or several or options.unroll or apart:
        return lambda _: False
    return possible if fitted else cheap


def _trace(source: "Source", system: "System", request: "Request", file: str, console: "Console") -> "Request":
    """Write the trace of the prediction, for which every iteration is walked. Answers the request, with all values."""
    from pathlib import Path

    from esp.cli.trace import predicted
    from esp.traces.text import text_of
    from esp.writing import write_whole

    made, _, complete = predicted(source, system, request, console)
    write_whole(Path(file), text_of(made))
    console.note(f"{file}: {plural(made.rank.size, 'event')}")
    return complete


def _refuse_contradictions(options: argparse.Namespace, procs: tuple[int, ...] | None) -> None:
    views = [name for name in VIEWS if getattr(options, name)]
    chosen = [f"--{name.replace('_', '-')}" for name in views]
    name = form_of(options)
    form = FORMS[name]
    if len(chosen) > 1 and not form.together:
        raise UsageError(f"{' and '.join(chosen)} contradict each other.", hint="Choose one view.")
    if options.trace is not None:
        if procs is not None and len(procs) > 1:
            raise UsageError("--trace needs one processor count.", hint="Give --procs a single number.")
        if options.trace == "-":
            raise UsageError("a trace goes to a file, beside the profile.", where="--trace")
    if procs is not None and len(procs) > 1 and chosen:
        raise UsageError(f"{chosen[0]} needs one processor count.", hint="Give --procs a single number.")
    if options.interval and procs is not None and len(procs) > 1 and not form.in_tables:
        hint = "Give --procs a single number, or add --json."
        raise UsageError("a table of processor counts has no intervals.", where="--interval", hint=hint)
    if options.interval and not form.interval:
        raise UsageError(f"--{name} has no intervals.", where="--interval", hint="Use --json.")
    for view, option in zip(views, chosen, strict=True):
        if view not in form.views:
            raise UsageError(
                f"--{name} contains every line and does not show {option}.", hint="Leave out one of the two."
            )


def _line_ranges(text: str | None) -> LineRanges:
    return () if text is None else tuple(_line_range(each.strip()) for each in text.split(","))


def _line_range(text: str) -> tuple[int, int]:
    start, dash, end = text.partition("-")
    if not start.isdecimal() or (dash and not end.isdecimal()):
        raise UsageError(f"{text!r} is not a line.", where="--lines", hint="Write 12, 10-18 or a list such as 5,10-18.")
    if dash and int(end) < int(start):
        raise UsageError(f"{text} is reversed.", where="--lines", hint=f"Write {end}-{start}.")
    return int(start), int(end) if dash else int(start)


def _whole(source: "Source", system: "System", request: "Request", line: int, console: "Console") -> tuple[int, int]:
    """The line that carries the time of the one asked for: that of its statement, or of the nest that it is in."""
    from esp import api
    from esp.inspect.lines import charged_line

    if not 1 <= line <= len(source.program.lines):
        return line, line
    at = charged_line(source, api.lower_source(source, system, request), line)
    if at != line:
        console.note(f"line {line} is part of line {at}")
    return at, at


def _chosen_aaus(text: str | None) -> frozenset[int] | None:
    """The AAUs that ``--aau`` names: None for all, nothing where it is not given."""
    if text is None:
        return frozenset()
    if text == "all":
        return None
    if not text.isdecimal():
        raise UsageError(f"{text!r} is not an AAU.", where="--aau", hint="Write its number, or all.")
    return frozenset((int(text),))


def _one(prediction: "Prediction", options: argparse.Namespace, lines: LineRanges, screen: Screen) -> str:
    """The output for one prediction, in the form that was asked for."""
    aaus = _chosen_aaus(options.aau)
    if options.json:
        from esp.output import json

        return json.one(prediction, json.Sections(per_processor=options.per_processor, aaus=aaus))
    if options.csv:
        from esp.output import csv

        if options.per_processor:
            return csv.processors(prediction)
        if options.by:
            from esp.output import calls

            return calls.procedures_csv(prediction) if options.by == "procedure" else calls.calls_csv(prediction)
        return csv.lines(prediction) if options.aau is None else csv.aaus(prediction, aaus)
    from esp.output import profile

    if any(getattr(options, view) for view in VIEWS):
        return _view(prediction, options, lines, screen)
    following = "" if options.quiet else _following(prediction, options)
    return profile.profile(prediction, screen, following=following)


def _following(prediction: "Prediction", options: argparse.Namespace) -> str:
    """What follows one prediction: other distributions where data move and none was asked for, or where nothing is
    distributed; else other numbers of processors, or, as a grid fits one number only, a closer look."""
    from esp.cli.again import has_choices

    processors = prediction.processors
    if _is_undistributed(prediction):
        return _next(options, str(processors), name="compare")
    if options.grid:
        return _next(options, f"{processors} --annotate")
    apart = options.distribute or options.align or options.unroll
    if apart or not (prediction.messages and has_choices(prediction)):
        return _next(options, _doubling(processors))
    return _next(options, str(processors), name="compare")


def _view(prediction: "Prediction", options: argparse.Namespace, lines: LineRanges, screen: Screen) -> str:
    """The one view that was chosen instead of the profile."""
    from esp.output import annotate, calls, per_processor, profile
    from esp.output.partial import partial_notes

    if options.lines or options.aau is not None:
        shown = (
            annotate.lines_in_detail(prediction, lines, screen)
            if options.lines
            else _aaus(prediction, _chosen_aaus(options.aau), screen)
        )
        notes = profile.result_notes(prediction, screen)
        return "\n".join([*partial_notes([prediction], screen), shown.rstrip(), "", *notes, ""])
    by = {"procedure": calls.procedure_table, "call": calls.call_table, None: per_processor.per_processor}
    view = annotate.annotated if options.annotate else by[options.by]
    below = "\n".join(profile.basis_notes(prediction, screen))
    return f"{profile.heading(prediction, screen)}\n\n{view(prediction, screen).rstrip()}\n\n{below}\n"


def _aaus(prediction: "Prediction", chosen: frozenset[int] | None, screen: Screen) -> str:
    from esp.output import annotate

    if chosen is None:
        return annotate.all_aaus(prediction, screen)
    return "\n".join(annotate.aau_in_detail(prediction, number, screen) for number in sorted(chosen))


def _several(
    predictions: list["Prediction"],
    one: "Prediction | None",
    impossible: "dict[int, Diagnostic]",
    options: argparse.Namespace,
    screen: Screen,
) -> str:
    """The output for a list of processor numbers; `one`: what speed-up is against; `impossible`: why there is none for
    some."""
    if options.json:
        from esp.output import json

        return json.several(predictions, impossible, one)
    if options.csv:
        from esp.output import csv

        return csv.scaling(predictions, one)
    from esp.output import table
    from esp.prediction import first

    fastest = min(predictions, key=lambda each: (not each.fits, first(each.time_s)))
    following = "" if options.quiet else _after_scaling(predictions, fastest, options)
    return table.scaling(predictions, screen, following=following, impossible=impossible, one=one)


def _after_scaling(predictions: list["Prediction"], fastest: "Prediction", options: argparse.Namespace) -> str:
    """What follows several numbers of processors: a closer look at the fastest, or what could be distributed where
    nothing is."""
    if undivided := [each for each in predictions if _is_undistributed(each)]:
        return _next(options, str(undivided[-1].processors), name="compare")
    return _next(options, f"{fastest.processors} --annotate")


def _is_undistributed(prediction: "Prediction") -> bool:
    from aag.mapping.resolve import UNDISTRIBUTED

    return any(each.code == UNDISTRIBUTED for each in prediction.warnings)


def _doubling(processors: int) -> str:
    """``1,2,4,8`` and so on up to this number, or 8, at most eight of them; the number itself is one of them."""
    steps = {processors, *(2**power for power in range(max(8, processors).bit_length()))}
    return ",".join(str(each) for each in sorted(steps)[-8:])


def _next(options: argparse.Namespace, procs: str, name: str = "run") -> str:
    """The command worth typing next: this one or another, with other processors."""
    from esp.cli.again import command

    if options.program == "-":
        return ""
    words = command(name, options, without=() if name == "run" else ("unroll",)).removesuffix(
        f" --procs {options.procs}"
    )
    return f"{words} --procs {procs}"
