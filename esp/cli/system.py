"""`esp system`: the machines that predictions can be made for."""

import argparse
import os
import sys
from collections import Counter
from shlex import quote

from aag.wording import plural
from esp.cli.console import Console
from esp.cli.options import add_forms, add_output, console_of
from esp.errors import CheckFailedError, UsageError
from esp.locate import find_system, system_names, systems_dir
from esp.output import machines
from esp.output.cells import told_as_csv
from esp.output.diagnostics import machine_finding
from sag.check import check
from sag.describe import describe
from sag.errors import MachineError
from sag.load import load_system

EXAMPLES = """\
examples:
  esp system list
  esp system show ipsc860
  esp system check mymachine.yaml
  esp system fit pingpong.csv -o mymachine.yaml        start-up and time per byte from your own ping-pong
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="list the bundled machines", allow_abbrev=False)
    add_output(listing)
    showing = actions.add_parser("show", help="units, figures and sources of a machine", allow_abbrev=False)
    add_forms(showing, "docs/machines.md")
    checking = actions.add_parser("check", help="check a machine file (exit code 3 if it has errors)")
    fitting = actions.add_parser("fit", help="the message law of a ping-pong table (docs/fit.md)", allow_abbrev=False)
    fitting.description = (
        "Fits start-up, time per byte and, if the table has distances, time per hop to a ping-pong table, and reports "
        "how good the fit is. With -o it writes a machine file: this message law, and all else from another machine."
    )
    fitting.add_argument("table", metavar="CSV", help="size, hops where known, time or round trip; with units")
    base = "the machine that supplies all other parameters (default: %(default)s)"
    fitting.add_argument("--base", metavar="NAME|FILE", default="cluster-ib", help=base)
    fitting.add_argument("--json", action="store_true", help="print the fit as JSON")
    add_output(fitting)
    for action in (showing, checking):
        action.add_argument("name", metavar="NAME|FILE", help="a machine of `esp system list`, or a YAML file")
        add_output(action)


def execute(options: argparse.Namespace) -> int:
    """Run the command; the result is its exit code."""
    console = console_of(options)
    match options.action:
        case "list":
            console.deliver(machines.machine_list(map(_listed, system_names()), "ipsc860", console.screen))
        case "show":
            view = describe(load_system(find_system(options.name), folder=systems_dir()))
            if options.json:
                console.deliver(machines.machine_json(view))
            elif options.csv:
                console.deliver(told_as_csv(machines.figure_rows(view.root)))
            else:
                console.deliver(machines.machine(view, console.screen))
        case "fit":
            _fit(options, console)
        case _:
            _check(options.name, console)
    return 0


def _fit(options: argparse.Namespace, console: Console) -> None:
    """Fit the law, say how good it is, and write the machine where a file is named.

    Raises:
        UnreadableFileError: the table or the base cannot be read.
        PredictionError: the table supports no law.
        UsageError: the base has no network to be replaced.
    """
    from pathlib import Path

    from esp.fit.law import fit
    from esp.fit.table import read_table
    from esp.output import fit as output
    from esp.writing import put, write_whole

    path = find_system(options.base)
    base = load_system(path, folder=systems_dir())
    if base.find("network") is None:
        raise UsageError(f"{base.name} has no network whose law could be replaced.", where="--base")
    law = fit(read_table(options.table))
    target = options.output if options.output not in (None, "-") else None
    following = f"esp system fit {quote(options.table)} --base {quote(options.base)} -o mymachine.yaml"
    if target is not None:
        extends = options.base if path.parent == systems_dir() else os.path.relpath(path, Path(target).parent)
        command = f"esp system fit {quote(options.table)} --base {quote(options.base)} -o {quote(target)}"
        text = output.machine_yaml(law, base, extends=extends, name=Path(target).stem, command=command)
        write_whole(Path(target), text)
        following = f"esp system check {quote(target)}"
    shown = (
        output.law_json(law)
        if options.json
        else output.law_text(law, console.screen, following="" if options.quiet else following)
    )
    put(sys.stdout, shown)


def _listed(name: str) -> machines.MachineRow:
    try:
        system = load_system(find_system(name))
    except MachineError as error:
        return machines.MachineRow(name=name, title="", processors=0, fault=f"cannot be read: {error.message}")
    return machines.MachineRow(name=name, title=system.title, processors=system.default_processors)


def _check(name: str, console: Console) -> None:
    """Errors and doubts of a description; notes are no fault, those about what it extends are only counted.

    Raises:
        CheckFailedError: there are errors.
    """
    path = find_system(name)
    try:
        system = load_system(path, folder=systems_dir())
    except MachineError as error:
        console.deliver("".join(machine_finding(each, console.screen) + "\n" for each in error.findings))
        many = len(error.findings)
        raise CheckFailedError(f"{plural(many, 'error')} found.", where=str(path)) from None
    found = check(system)
    own = [each for each in found if each.file in ("", str(path))]
    shown = "".join(machine_finding(each, console.screen) + "\n" for each in own)
    doubts = sum(1 for each in own if each.code.startswith("M2"))
    console.deliver(f"{shown}{path}: no error, {plural(doubts, 'doubt')}, {plural(len(own) - doubts, 'note')}\n")
    bundled = {str(find_system(each)): each for each in system_names()}
    for file, count in Counter(each.file for each in found if each not in own).items():
        base = bundled.get(file, quote(file))
        console.deliver(
            f"{plural(count, 'note')} about parameters of {base}, which it extends: esp system check {base}\n"
        )
