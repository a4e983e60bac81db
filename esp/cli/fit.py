"""`esp fit`: scale a machine's parameters to measured runs, and predict others with intervals."""

import argparse
import os
import re
import time
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from esp.cli.options import add_forms, add_output, add_program, add_timed, console_of, refuse_without_effect, request_of
from esp.errors import PredictionError, UsageError

if TYPE_CHECKING:  # the API brings NumPy, which `esp fit --help` need not wait for
    from esp.fit.fitting import FittedMachine
    from esp.fit.runs import MeasuredRun

USAGE = "esp fit RUNS [PROG] [options]"

EXAMPLES = """\
examples:
  esp fit runs.csv gauss.hpf --system cluster-ib         what the runs say
  esp fit runs.csv gauss.hpf --system cluster-ib --predict n=2048,procs=64
  esp fit runs.csv gauss.hpf --system cluster-ib --write mine.yaml
  esp run gauss.hpf --system mine.yaml --procs 64        use it
  esp fit runs.csv --timed                               programs in the table

--system is the machine to begin with: one like yours (`esp system list`).

RUNS is a CSV file with a row for each run: the columns procs, time and those
PARAMETERs that vary, and program if there are several (docs/fit_runs.md).

    procs, n,   time [s]
    1,     256, 4.81
    4,     256, 1.37

Needs SciPy: pip install 'esp-hpf[model]'.
"""

_PAIR = re.compile(r"\s*([A-Za-z]\w*)\s*=\s*(\d+)\s*")


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("table", metavar="RUNS", help="a CSV file of measured runs, or JSON Lines of Extra-P")
    add_program(parser, argparse.SUPPRESS, optional=True)
    add_timed(parser)
    group = parser.add_argument_group("what is predicted for the runs")
    group.add_argument("--io", choices=("on", "off"), default="on", help="whether input and output count")
    what = "switch an optimisation on or off, as the compiler of the runs does (repeatable)"
    group.add_argument("--opt", metavar="NAME=on|off", action="append", default=[], help=what)
    group = parser.add_argument_group("use of the fit")
    what = "a run to predict: n=2048,procs=64 (repeatable)"
    group.add_argument("--predict", metavar="NAME=N,...", action="append", default=[], help=what)
    group.add_argument("--write", metavar="FILE", help="write the fitted machine, which --system takes")
    add_forms(parser, "docs/json_other.md")
    add_output(parser)


def execute(options: argparse.Namespace) -> int:
    """Run the command; the result is its exit code.

    Raises:
        UsageError: an option does not fit.
    """
    began = time.perf_counter()
    console = console_of(options)
    refuse_without_effect(options, ("procs",), "here: the table has the processors")
    forecasts = [forecast(each) for each in options.predict]
    if options.write is not None and not options.write.endswith((".yaml", ".yml")):
        raise UsageError("a machine is a .yaml file.", where="--write", hint="Write for example --write mine.yaml.")
    from esp.api import load_machine
    from esp.cli.progress import ProgressLine
    from esp.cli.reading import source_of
    from esp.fit.fitting import fitted
    from esp.fit.reading import read_runs
    from esp.output import fit_runs as output
    from esp.output.cells import rows_as_csv
    from esp.output.json import text_of

    runs = read_runs(options.table)
    source = source_of(options.program, options) if options.program else None
    system = load_machine(options.system)
    with ProgressLine(console) as shown:
        progress = shown.runs if shown else None
        found = fitted(runs, source, system, request_of(options, None), forecasts, progress)
    console.warn(found.warnings, source.program.lines if source else ())
    if options.write is not None:
        _write(found, options)
    if options.json:
        console.deliver(text_of(output.fit_json(found)))
    elif options.csv:
        console.deliver(rows_as_csv(output.fit_rows(found)))
    else:
        console.deliver(output.fit_text(found, console.screen, _next(options, found)))
    console.took(time.perf_counter() - began)
    return 0


def forecast(text: str) -> "MeasuredRun":
    """A run to predict.

    Raises:
        UsageError: it is not a list of NAME=NUMBER with procs.
    """
    from esp.fit.fitting import forecast_run

    values = {}
    for each in text.split(","):
        found = _PAIR.fullmatch(each)
        if found is None:
            hint = "Write for example n=2048,procs=64."
            raise UsageError(f"{each.strip()!r} is not NAME=NUMBER.", where="--predict", hint=hint)
        if found[1].lower() in values:
            raise UsageError(f"{found[1]} is given twice.", where="--predict", hint="Write each name once.")
        values[found[1].lower()] = int(found[2])
    return forecast_run(values, "--predict")


def _write(found: "FittedMachine", options: argparse.Namespace) -> None:
    """Write the machine file."""
    from esp.locate import find_system, systems_dir
    from esp.output.fit_machine import machine_yaml
    from esp.output.fit_runs import is_poor
    from esp.writing import write_whole

    target = Path(options.write)
    path = find_system(options.system)
    bundled = path.parent == systems_dir()
    if target.stem == options.system if bundled else target.exists() and target.samefile(path):
        hint = "Write another file, which extends this one."
        raise UsageError("this is the machine that is fitted.", where="--write", hint=hint)
    if is_poor(found):
        hint = "Look at the table, or leave out --write."
        raise PredictionError("the fit does not explain the runs: no machine is written.", where="--write", hint=hint)
    extends = options.system if bundled else os.path.relpath(path, target.parent)
    command = f"{_again(options)} --write {quote(options.write)}"
    write_whole(target, machine_yaml(found, extends=extends, name=target.stem, command=command))


def _again(options: argparse.Namespace) -> str:
    """The command with all options that decide what is fitted."""
    from esp.cli.again import command

    program = options.program
    options = argparse.Namespace(**{**vars(options), "program": program or options.table})
    words = command("fit", options)
    return words.replace("esp fit ", f"esp fit {quote(options.table)} ", 1) if program else words


def _next(options: argparse.Namespace, found: "FittedMachine") -> str:
    """The command worth typing next: write the machine, or use it."""
    from esp.output.fit_runs import doubts

    if doubts(found):
        return ""
    program = options.program or found.runs[0].run.program
    if program == "-":
        return ""
    if options.write is not None:
        following = f"esp run {quote(program)} --system {quote(options.write)} --procs {found.runs[-1].run.processors}"
        return following + (" --io off" if options.io == "off" else "")
    stem = Path(options.system).stem if options.system.endswith((".yaml", ".yml")) else ""
    return f"{_again(options)} --write {f'{stem}-fitted' if stem else 'mine'}.yaml"
