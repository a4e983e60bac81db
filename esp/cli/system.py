"""`esp system`: the machines that predictions can be made for."""

import argparse

from esp.cli.console import Console
from esp.cli.options import add_output, console_of
from esp.errors import CheckFailedError
from esp.locate import find_system, system_names, systems_dir
from esp.output import machines
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
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.epilog = EXAMPLES
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="the machines that come with esp", allow_abbrev=False)
    add_output(listing)
    showing = actions.add_parser("show", help="units, figures and sources of a machine", allow_abbrev=False)
    showing.add_argument("--json", action="store_true", help="for other programs")
    checking = actions.add_parser("check", help="whether a description is sound (exit code 3 if not)")
    for action in (showing, checking):
        action.add_argument("name", metavar="NAME|FILE", help="a machine of `esp system list`, or a YAML file")
        add_output(action)


def execute(options: argparse.Namespace) -> int:
    """Run the command; the result is its exit code."""
    console = console_of(options)
    match options.action:
        case "list":
            console.deliver(machines.machine_list(map(_listed, system_names()), console.screen))
        case "show":
            view = describe(load_system(find_system(options.name), folder=systems_dir()))
            shown = machines.machine_json(view) if options.json else machines.machine(view, console.screen)
            console.deliver(shown)
        case _:
            _check(options.name, console)
    return 0


def _listed(name: str) -> machines.Listed:
    try:
        system = load_system(find_system(name))
    except MachineError as error:
        return machines.Listed(name=name, title="", processors=0, fault=f"cannot be read: {error.message}")
    return machines.Listed(name=name, title=system.title, processors=system.default_processors)


def _check(name: str, console: Console) -> None:
    """Errors and doubts of a description; notes are no fault.

    Raises:
        CheckFailedError: there are errors.
    """
    path = find_system(name)
    try:
        system = load_system(path, folder=systems_dir())
    except MachineError as error:
        console.deliver("".join(machine_finding(each, console.screen) + "\n" for each in error.findings))
        many = len(error.findings)
        raise CheckFailedError(f"{many} error{'s' * (many != 1)} found.", where=str(path)) from None
    found = check(system)
    shown = "".join(machine_finding(each, console.screen) + "\n" for each in found)
    doubts = sum(1 for each in found if each.code.startswith("M2"))
    console.deliver(f"{shown}{path}: no error, {doubts} doubt{'s' * (doubts != 1)}, {len(found) - doubts} notes\n")
