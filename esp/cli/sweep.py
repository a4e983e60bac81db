"""`esp sweep`: every combination of sizes, processors, distributions, machines and what-ifs."""

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from typing import TYPE_CHECKING, Any

from aag.wording import plural
from esp.cli.options import add_budget, add_form, add_output, add_partial, add_timed, console_of, distribution, jobs_of
from esp.errors import INTERRUPTED, PredictionError, UsageError
from esp.values import pairs_many, value_of

if TYPE_CHECKING:  # the API brings NumPy, which `esp sweep --help` need not wait for
    from concurrent.futures import Executor

    from esp.explore.axes import Axis
    from esp.explore.plan import SweepPlan
    from esp.sources import Source

USAGE = "esp sweep PROG [PROG ...] [options]"

EXAMPLES = """\
a value may be a list 1,2,4, a range 4..64 (doubling), 16:256:16 (steps),
64:1024:x2 (factors) or x0.5:x4:/100 (so many values), or a list of ranges; every combination is predicted.

examples:
  esp sweep laplace.hpf --set n=64:512:x2 --procs 1,2,4,8
  esp sweep laplace_bb.hpf laplace_bx.hpf laplace_xb.hpf --procs 4 --set n=16:256:x2
  esp sweep laplace.hpf --procs 8 --distribute all --set n=64,256
  esp sweep pi.hpf --procs 1,2,4,8 --load 0%,20%,40%,60%,80% --versus load
  esp sweep laplace.hpf --procs 8 --bandwidth x0.5:x4:/100 --load 0%:60%:/100 --csv -o s.csv
  esp sweep laplace.hpf --set n=64:1024:x2 --procs 1,2,4,8 --plot times.svg
  esp sweep laplace.hpf --procs 8 --bandwidth x0.5:x4:/30 --load 0%:60%:/20 --plot map.pdf --plot-as map
  esp sweep laplace.hpf --procs 8 --distribute all --plot bars.png
  esp sweep laplace.hpf --procs 1:64:x2 --distribute all --plot s.svg --plot-as speedup
"""

MANY = 1000
"""Predictions from which it is said how many there will be."""

_MOST_WARNINGS = 10
"""Warnings that are shown of a whole sweep."""

SCENARIO = ("load", "bandwidth", "latency", "processor_speed", "memory_speed", "overlap", "cache", "memory")
"""Options whose values are changes of the machine."""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("program", metavar="PROG", nargs="+", help="programs, as `esp run` takes them")
    group = parser.add_argument_group("axes", "Each takes one value, a list or a range.")
    group.add_argument("--system", metavar="NAME,...", default="ipsc860", help="machines (default: %(default)s)")
    group.add_argument("-p", "--procs", metavar="P,...", help="numbers of processors")
    group.add_argument("--set", metavar="NAME=V,...", action="append", default=[], help="values (repeatable)")
    group.add_argument("--grid", metavar="PxQ,...", help="processor grids")
    distribute = "repeated for one name: its values; all: BLOCK, CYCLIC and * everywhere"
    group.add_argument(
        "--distribute", metavar="[NAME=](...)|all", action="append", default=[], type=distribution, help=distribute
    )
    add_changes(group)
    group.add_argument("--opt", metavar="NAME=on,off", action="append", default=[], help="an optimisation (repeatable)")
    group.add_argument("--io", metavar="on,off", default="on", help="whether input and output count")
    sets = "any parameter of the machine (repeatable)"
    group.add_argument("--system-set", metavar="PATH=V,...", action="append", default=[], help=sets)
    add_form(parser)
    add_timed(parser)
    parser.add_argument("--unroll", action="store_true", help="walk every iteration (slow; same to 0.1%%)")
    trust = "accept INDEPENDENT, NEW and REDUCTION even if esp proves them false"
    add_partial(parser)
    parser.add_argument("--trust-directives", action="store_true", help=trust)
    add_budget(parser)
    parser.add_argument("--jobs", metavar="N", default="1", help="processes on this computer (same results)")
    parser.add_argument("--dask", metavar="ADDRESS", help="run on the workers of a Dask scheduler: tcp://host:8786")
    views = parser.add_argument_group("what to show")
    views.add_argument("--versus", metavar="AXIS", default="", help="the change against the first value of an axis")
    forms = views.add_mutually_exclusive_group()
    forms.add_argument("--json", action="store_true", help="print JSON, described in docs/explore.md")
    forms.add_argument("--jsonl", action="store_true", help="one JSON object a line for each prediction")
    forms.add_argument("--csv", action="store_true", help="one line for each prediction")
    forms.add_argument("--extra-p", action="store_true", help="JSON Lines that Extra-P reads")
    forms.add_argument("--bars", action="store_true", help="bars in the terminal")
    views.add_argument("--plot", metavar="FILE", help="also draw a picture: .png, .svg, .pdf (needs matplotlib)")
    forms_of_plot = "how it is drawn: %(choices)s (default: what fits the axes)"
    views.add_argument("--plot-as", choices=("curves", "map", "bars", "speedup"), default="", help=forms_of_plot)
    add_output(parser)


def add_changes(group: "argparse._ArgumentGroup") -> None:
    """Options that change the machine."""
    group.add_argument("--load", metavar="30%,...", help="other traffic on the network, below 100%%")
    group.add_argument("--bandwidth", metavar="x2,...", help="of the network: x2, 5MB/s")
    group.add_argument("--latency", metavar="x2,...", help="start-up and time per hop: x0.5, 40us")
    group.add_argument("--processor-speed", metavar="x2,...", help="x2, 80MHz")
    group.add_argument("--memory-speed", metavar="x2,...", help="x2")
    group.add_argument("--overlap", metavar="0.4,...", help="share of transmission hidden behind computation")
    group.add_argument("--cache", metavar="16KB,...", help="size of the data cache: x2, 16KB")
    group.add_argument("--memory", metavar="16MB,...", help="memory a program can use on a node")
    group.add_argument("--contention", metavar="on,off", help="whether messages wait for busy links")


def execute(options: argparse.Namespace) -> int:
    """Run the command; the result is its exit code."""
    began = time.perf_counter()
    console = console_of(options)
    if options.bars and options.versus:
        raise UsageError("--bars shows times, not changes.", where="--versus", hint="Leave out one of the two.")
    if options.extra_p and options.versus:
        raise UsageError("Extra-P reads times, not changes.", where="--versus", hint="Leave out one of the two.")
    if options.dask is not None and options.jobs != "1":
        raise UsageError("the workers of --dask do the work.", where="--jobs", hint="Leave out one of the two.")
    if options.plot is None and options.plot_as:
        raise UsageError("no picture to draw.", where="--plot-as", hint="Name its file: --plot times.svg.")
    if options.plot is not None:
        from esp.output.plots.style import check_plot

        check_plot(options.plot, instead=", or look at --bars")
    from esp.cli.progress import ProgressLine
    from esp.explore.sweep import collect
    from esp.output import sweep as output

    plan = _plan(options)
    names = [axis.name for axis in plan.axes]
    options.versus = options.versus.replace("-", "_") if options.versus not in names else options.versus
    if options.versus and options.versus not in names:
        hint = f"The axes are {', '.join(names)}." if names else "Give some option a list of values."
        raise UsageError(f"the sweep has no axis {options.versus!r}.", where="--versus", hint=hint)
    if options.extra_p and not any(axis.kind in ("procs", "set") and axis.numbers is not None for axis in plan.axes):
        raise UsageError(
            "Extra-P needs a parameter.", where="--extra-p", hint="Give --procs, or --set of a size, several values."
        )
    if options.plot is not None:
        from esp.output.plots.sweep import form_of

        form_of(plan.axes, options.plot_as)
    total = prod(plan.shape)
    if total >= MANY:
        console.note(plural(total, "prediction"))
    with ProgressLine(console) as progress:
        told = progress.predictions if progress else None
        with _dask(options.dask) as executor:
            found = collect(plan, jobs=jobs_of(options.jobs), executor=executor, progress=told)
    console.warn(found.warnings[:_MOST_WARNINGS])
    if len(found.warnings) > _MOST_WARNINGS:
        console.note(f"and {plural(len(found.warnings) - _MOST_WARNINGS, 'more warning')}")
    if options.csv:
        text = output.sweep_csv(found, versus=options.versus)
    elif options.jsonl:
        text = output.sweep_lines(found, versus=options.versus)
    elif options.extra_p:
        text = output.sweep_extra_p(found)
    elif options.json:
        text = output.sweep_json(found, versus=options.versus)
    elif options.bars:
        from esp.output.bars import bars

        text = bars(found, console.screen)
    else:
        text = output.sweep_text(found, console.screen, versus=options.versus)
    if found.done.any() or not found.interrupted:  # nothing kept is no reason to lose the file that was there
        console.deliver(text)
    if options.plot is not None and found.done.any():
        from esp.output.plots.style import save, styled
        from esp.output.plots.sweep import figure

        with styled():
            save(figure(found, form=options.plot_as, versus=options.versus), options.plot)
    if found.interrupted:
        console.note(f"stopped: {int(found.done.sum()):,} of {found.done.size:,} predictions are kept")
        return INTERRUPTED
    console.took(time.perf_counter() - began)
    return 0


@contextmanager
def _dask(address: str | None) -> "Iterator[Executor | None]":
    """The executor of a Dask scheduler, or none.

    Raises:
        PredictionError: Dask is not installed, or nobody answers at that address.
    """
    if address is None:
        yield None
        return
    try:
        from distributed import Client
    except ImportError:
        hint = "Install it with pip install 'esp-hpf[dask]', or use --jobs."
        raise PredictionError("Dask is not installed.", where="--dask", hint=hint) from None
    try:
        client = Client(address, timeout="10s")
    except (OSError, ValueError) as error:
        told = str(error).partition("\n")[0].rstrip(".")
        raise PredictionError(f"no Dask scheduler responds: {told}.", where=f"--dask {address}") from None
    with client:
        yield client.get_executor()


def _plan(options: argparse.Namespace) -> "SweepPlan":
    """The axes that the options stand for: those with one value, too, but these are not shown as such."""
    from msgspec.structs import replace

    from esp.api import requested
    from esp.cli.reading import source_of
    from esp.explore.axes import Axis, values_of
    from esp.explore.plan import SweepPlan

    axes: list[Axis] = []

    def add(kind: str, key: str, name: str, values: list[Any], labels: list[str]) -> None:
        axes.append(Axis(name=name, kind=kind, key=key, values=tuple(values), labels=tuple(labels)))

    programs = list(options.program)
    texts, labels = _programs(programs)
    if len(programs) > 1:
        add("program", "", "program", list(range(len(programs))), labels)
    systems = list(values_of(options.system, "--system"))
    if len(systems) > 1:
        add("system", "", "system", list(range(len(systems))), [each.rsplit("/", 1)[-1] for each in systems])
    for name, given in pairs_many("--set", options.set).items():
        values = [each for text in given for each in values_of(text, "--set")]
        add("set", name, name, [value_of(name, each) for each in values], values)
    if options.procs is not None:
        from esp.cli.options import procs_of

        numbers = procs_of(",".join(values_of(options.procs, "--procs"))) or ()
        add("procs", "", "procs", list(numbers), [str(each) for each in numbers])
    if options.grid is not None:
        from esp.cli.options import grid_of

        grids = [grid_of(each) for each in options.grid.split(",")]
        add("grid", "", "grid", grids, ["x".join(map(str, each or ())) for each in grids])
    named = [each for each in options.distribute if each.strip().lower() != "all"]
    if plain := [each for each in named if "=" not in each]:
        add("distribute", "", "distribute", plain, plain)
    for name, given in pairs_many("--distribute", [each for each in named if "=" in each]).items():
        add("distribute", name, name, list(given), list(given))
    for name, given in pairs_many("--opt", options.opt).items():
        values = [each for text in given for each in values_of(text, "--opt")]
        add("opt", name, name, [_switch(each, "--opt") for each in values], values)
    switches = values_of(options.io, "--io")
    add("io", "", "io", [_switch(each, "--io") for each in switches], list(switches))
    if options.contention is not None:
        switches = values_of(options.contention, "--contention")
        add("contention", "", "contention", [_switch(each, "--contention") for each in switches], list(switches))
    for name in SCENARIO:
        given = getattr(options, name)
        if given is not None:
            values = list(values_of(given, "--" + name.replace("_", "-")))
            add(name, "", name, values, values)
    for path, given in pairs_many("--system-set", options.system_set, lower=False).items():
        values = [each for text in given for each in values_of(text, "--system-set")]
        add("system_set", path, path, values, values)
    base = requested(None, timed=options.timed, unroll=options.unroll, trust_directives=options.trust_directives)
    base = replace(base, partial=options.partial)
    base = base if options.budget is None else replace(base, budget=options.budget)
    axes = [axis for axis in axes if not (axis.kind == "io" and axis.values == (True,))]
    read: list[str | Source] = [*texts]
    if options.files or options.include or options.define or options.cost:
        read = [source_of(each, options) for each in programs]
    plan = SweepPlan(programs=tuple(read), systems=tuple(systems), form=options.form, base=base, axes=tuple(axes))
    if len(named) < len(options.distribute):
        return replace(plan, axes=(_all_distributions(plan), *plan.axes))
    return plan


def _programs(given: list[str]) -> tuple[list[str], list[str]]:
    """Names of programs, or the text of standard input, and how they are shown."""
    texts = []
    for each in given:
        if each != "-":
            texts.append(each)
            continue
        text = sys.stdin.read()
        if not text.strip():
            raise UsageError("there is nothing to read.", where="standard input")
        texts.append(text if text.endswith("\n") else text + "\n")
    return texts, ["<stdin>" if each == "-" else each.rsplit("/", 1)[-1] for each in given]


def _all_distributions(plan: "SweepPlan") -> "Axis":
    from esp.explore.plan import all_distributions

    return all_distributions(plan)


def _switch(text: str, where: str) -> bool:
    if text.lower() not in ("on", "off"):
        raise UsageError(f"{text!r} is neither on nor off.", where=where)
    return text.lower() == "on"
