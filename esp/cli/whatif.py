"""`esp whatif`: one change at a time, and which lines it moves."""

import argparse
import time
from typing import Any

from esp.cli.options import add_forms, add_output, add_partial, add_program, add_timed, console_of, one_of_procs
from esp.cli.sweep import SCENARIO, add_changes
from esp.errors import UsageError
from esp.values import pairs_many

USAGE = "esp whatif PROG CHANGE ... [options]"

EXAMPLES = """\
each change is tried by itself; a list or a range 0%:60%:/4 is several changes.

examples:
  esp whatif laplace.hpf --procs 8 --bandwidth x2 --load 50%
  esp whatif laplace.hpf --procs 8 --processor-speed x0.5,x2,x4
  esp whatif gauss.hpf --procs 8 --opt each                 each optimisation off in turn
  esp whatif laplace.hpf --procs 8 --cache 16KB --latency x0.5 --together
  esp whatif laplace.hpf --procs 8 --system-set cube.network.long.startup=120us,60us
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_program(parser, "number of processors")
    add_partial(parser)
    group = parser.add_argument_group("changes", "x2, 30% or a value with its unit; a list is several changes.")
    add_changes(group)
    group.add_argument("--io", metavar="on,off", help="whether input and output count")
    opt = "switch an optimisation on or off (repeatable); each: all that are on, in turn"
    group.add_argument("--opt", metavar="NAME=off|each", action="append", default=[], help=opt)
    sets = "any parameter of the machine (repeatable)"
    group.add_argument("--system-set", metavar="PATH=CHANGE", action="append", default=[], help=sets)
    group.add_argument("--together", action="store_true", help="also all changes at once")
    add_timed(parser)
    add_forms(parser, "docs/explore.md")
    add_output(parser)


def execute(options: argparse.Namespace) -> int:
    """Run the command; the result is its exit code."""
    began = time.perf_counter()
    procs = one_of_procs(options.procs, "esp whatif takes one processor count.", hint="`esp sweep` takes a list.")
    console = console_of(options)
    given = _changes(options)
    from esp.cli.again import command, has_choices
    from esp.cli.progress import ProgressLine
    from esp.cli.prompt import answered, with_answers
    from esp.cli.reading import asked_of
    from esp.explore.whatif import split_changes, what_if
    from esp.output import whatif as output

    changes, _ = split_changes(given)
    if not changes:
        hint = "For example --bandwidth x2, --load 50% or --opt hoist=off."
        raise UsageError("there is nothing to change.", hint=hint)
    plain = argparse.Namespace(
        **{**vars(options), **dict.fromkeys((*SCENARIO, "contention")), "opt": [], "system_set": [], "io": "on"}
    )
    source, system, request = asked_of(plain, procs)
    with ProgressLine(console) as shown:
        progress = shown.predictions if shown else None
        found, complete = with_answers(
            lambda asked: what_if(source, system, asked, changes, together=options.together, progress=progress), request
        )
    plain.set = [*options.set, *answered(complete, request)]
    plain.distribute, plain.grid = [], None
    console.warn(found.base.warnings, source.program.lines)
    if options.json:
        console.deliver(output.what_if_json(found))
    elif options.csv:
        console.deliver(output.what_if_csv(found))
    else:
        silent = options.quiet or options.program == "-" or not has_choices(found.base)
        following = "" if silent else command("compare", plain)
        console.deliver(output.what_if_text(found, console.screen, following=following))
    console.took(time.perf_counter() - began)
    return 0


def _changes(options: argparse.Namespace) -> dict[str, Any]:
    """The options that are changes, as `esp.whatif` takes them."""
    from esp.explore.axes import values_of

    found: dict[str, Any] = {}
    for name in (*SCENARIO, "contention", "io"):
        given = getattr(options, name)
        if given is not None:
            found[name] = list(values_of(given, "--" + name.replace("_", "-")))
    if any(each.strip().lower() == "each" for each in options.opt):
        if len(options.opt) > 1:
            raise UsageError("'each' means all optimisations.", where="--opt", hint="Leave the others out.")
        found["opt"] = "each"
    elif options.opt:
        found["opt"] = {name: list(values) for name, values in pairs_many("--opt", options.opt).items()}
    if options.system_set:
        pairs = pairs_many("--system-set", options.system_set, lower=False)
        found["system_set"] = {
            path: [each for text in given for each in values_of(text, "--system-set")] for path, given in pairs.items()
        }
    return found
