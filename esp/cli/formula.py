"""`esp formula`: the time of a program as a formula in its size."""

import argparse
from typing import TYPE_CHECKING

from esp.cli.options import add_forms, add_output, add_partial, add_program, add_scenario, console_of, one_of_procs
from esp.errors import PredictionError, UsageError

if TYPE_CHECKING:  # the API brings NumPy, which `esp formula --help` need not wait for
    from esp.api import Request
    from esp.cli.console import Console
    from esp.formulas.formula import FormulaLine, TimeFormula
    from esp.formulas.scaling_formula import ScalingFormula
    from esp.sources import Source
    from sag.unit import System

_LARGEST = 10**15
"""Sizes beyond it are mistakes, and their cubes are no longer exact."""

FORMS = ("text", "latex", "python", "numpy", "fortran", "sympy")

USAGE = "esp formula PROG [FILE ...] [options]"

EXAMPLES = """\
examples:
  esp formula laplace_bb.hpf --procs 4                its time as a formula
  esp formula laplace_bb.hpf --procs 4 --line 36      one line
  esp formula laplace_bb.hpf --procs 4 --at 256..4096 its value at some sizes
  esp formula laplace_bb.hpf --procs 4 --free k       another parameter
  esp formula gauss.hpf --free n,procs                also of the processors p
  esp formula lu.hpf --procs 4 --as python -o lu.py   or numpy, fortran
  esp formula lu.hpf --procs 4 --as latex             for papers
  esp formula lu.hpf --procs 4 --json                 for other programs

Each term is a count, exact for all sizes for which the formula holds, times the
machine's time for one. Waiting and cache misses are not in it
(docs/formula.md). latex and sympy need SymPy: pip install 'esp-hpf[model]'.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_program(parser, "number of processors", files=True)
    add_scenario(parser)
    add_partial(parser)
    shown = parser.add_argument_group("what to show")
    shown.add_argument(
        "--free",
        metavar="NAME[,procs]",
        default="",
        help="the parameter of the formula (default: the one that sizes the distributed arrays); "
        "with ,procs also the number of processors",
    )
    shown.add_argument("--line", metavar="L", help="only the terms of this line")
    shown.add_argument("--at", metavar="SIZES", help="the seconds at these sizes: 256,512 or 256..4096")
    forms = add_forms(shown, "docs/json_other.md")
    forms.add_argument("--as", metavar="FORM", dest="language", choices=FORMS, default="text", help="%(choices)s")
    add_output(parser)


def execute(options: argparse.Namespace) -> int:
    """Run the command; the result is its exit code.

    Raises:
        PredictionError: the form cannot show the formula.
    """
    procs = one_of_procs(options.procs, "esp formula takes one processor count.")
    console = console_of(options)
    from esp.cli.prompt import with_answers
    from esp.cli.reading import asked_of
    from esp.formulas.derivation import formula_of
    from esp.output import formula as output
    from esp.output.cells import rows_as_csv
    from esp.output.json import text_of

    source, system, request = asked_of(options, procs)
    free, *more = [each.strip() for each in options.free.split(",")]
    if more and [each.lower() for each in more] != ["procs"]:
        told = f"a formula has one size, with the number of processors or without: {options.free!r} is neither."
        raise UsageError(told, where="--free", hint=f"Write {free or 'n'} or {free or 'n'},procs.")
    sizes = _sizes(options)
    if more and sizes is not None:
        hint = f"Write --free {free or 'n'}, or use esp.scaling_formula(...).evaluate(sizes, procs) in Python."
        raise UsageError("sizes are evaluated on a fixed number of processors.", where="--at", hint=hint)
    if more:
        return _in_procs(options, console, source, system, request, free)
    made: list[TimeFormula] = []

    def predict(asked: "Request") -> "TimeFormula":
        made.append(formula_of(source, system, asked, free))
        return made[-1]

    found, _ = with_answers(predict, request)
    console.warn(found.prediction.warnings, source.program.lines)
    line = _line(found, options.line)
    if sizes is not None:
        times = _times(found, sizes, line)
        rows = [{"size": size, "time_s": time_s} for size, time_s in zip(sizes, times, strict=True)]
        if options.json:
            console.deliver(text_of({**output.formula_json(found, line), "at": rows}))
        elif options.csv:
            console.deliver(rows_as_csv(rows))
        else:
            console.deliver(output.formula_at(found, sizes, times, console.screen, line))
    elif options.json:
        console.deliver(text_of(output.formula_json(found, line)))
    elif options.csv:
        console.deliver(rows_as_csv(output.formula_rows(found, line)))
    elif options.language == "text":
        times = [float(each.time(found.parameter).evaluate(found.size)[0]) for each in found.lines]
        console.deliver(output.formula_text(found, console.screen, line, _next(options, found, line, times)))
    else:
        try:
            console.deliver(output.formula_code(found, options.language, line))
        except output.NotSpelled as problem:
            hint = "--as sympy and --as latex have sums."
            raise PredictionError(
                f"{options.language} has no expression for {problem}.", where="--as", hint=hint
            ) from None
    return 0


def _in_procs(
    options: argparse.Namespace, console: "Console", source: "Source", system: "System", request: "Request", free: str
) -> int:
    """A formula in the number of processors, too."""
    from esp.cli.progress import ProgressLine
    from esp.cli.prompt import with_answers
    from esp.formulas.scaling_derivation import scaling_formula_of
    from esp.output import scaling_formula as output
    from esp.output.cells import rows_as_csv
    from esp.output.json import text_of

    with ProgressLine(console) as shown:
        progress = shown.counted if shown else None
        found, _ = with_answers(lambda asked: scaling_formula_of(source, system, asked, free, progress), request)
    console.warn(found.prediction.warnings, source.program.lines)
    line = _line(found, options.line)
    if options.json:
        console.deliver(text_of(output.scaling_formula_json(found, line)))
    elif options.csv:
        console.deliver(rows_as_csv(output.scaling_formula_rows(found, line)))
    elif options.language == "text":
        each_s = [each.time(found.names.size, found.names).evaluate(found.size, found.procs)[0] for each in found.lines]
        following = _next(options, found, line, [float(each) for each in each_s])
        console.deliver(output.scaling_formula_text(found, console.screen, line, following))
    else:
        console.deliver(output.scaling_formula_code(found, options.language, line))
    return 0


def _next(
    options: argparse.Namespace, found: "TimeFormula | ScalingFormula", line: "FormulaLine | None", times: list[float]
) -> str:
    """The command worth typing next: the line that takes most, or the seconds of a line at larger sizes. `times`: those
    of each line."""
    from esp.cli.again import command

    if options.program == "-" or not found.lines:
        return ""
    words = command("formula", options)
    words += f" --free {options.free}" if options.free else ""
    if line is not None:
        more = f"{found.size}..{16 * found.size}"
        return f"{words} --line {line.line} --at {more}" if "," not in options.free else ""
    most = max(zip(times, found.lines, strict=True), key=lambda each: each[0])[1]
    return f"{words} --line {most.line}" if most.file == found.prediction.file else ""


def _sizes(options: argparse.Namespace) -> list[int] | None:
    """The sizes of ``--at``.

    Raises:
        UsageError: one is not a positive whole number, or code is asked for.
    """
    if options.at is None:
        return None
    from esp.explore.axes import values_of

    if options.language != "text":
        hint = f"Leave out --at, or --as {options.language}."
        raise UsageError("code is not evaluated.", where="--at", hint=hint)
    given = values_of(options.at, "--at")
    wrong = [each for each in given if not each.isdecimal() or not 1 <= int(each) <= _LARGEST]
    if wrong:
        raise UsageError(f"{wrong[0]!r} is not a size.", where="--at", hint="Write for example 256,512 or 256..4096.")
    return [int(each) for each in given]


def _times(found: "TimeFormula", sizes: list[int], line: "FormulaLine | None") -> list[float]:
    """Seconds at some sizes, of the program or of one of its lines.

    Raises:
        UsageError: the formula does not hold for one of them.
    """
    whole = found.evaluate(**{found.parameter: sizes})
    return [float(each) for each in (whole if line is None else line.time(found.parameter).evaluate(sizes))]


def _line(found: "TimeFormula | ScalingFormula", text: str | None) -> "FormulaLine | None":
    """The line of ``--line``.

    Raises:
        UsageError: it is not a number, or the line takes no time.
    """
    if text is None:
        return None
    if not text.isdecimal():
        raise UsageError(f"{text!r} is not a line.", where="--line", hint="Write its number, such as 36.")
    here = [each for each in found.lines if each.line == int(text) and each.file == found.prediction.file]
    if not here:
        known = ", ".join(str(each.line) for each in found.lines if each.file == found.prediction.file)
        raise UsageError(f"line {text} takes no time of its own.", where="--line", hint=f"These do: {known}.")
    return here[0]
