"""The commands of `esp`, and what is typed after them."""

import argparse
import importlib
import re
from collections.abc import Sequence
from typing import Any, NoReturn

from esp.cli.inputs import refuse_inputs_as_outputs
from esp.errors import UsageError
from esp.version import __version__

COMMANDS = {
    "run": "predict the time of a program on a machine, and where it goes",
    "compare": "rank the distributions of a program, or several programs",
    "advise": "search for the best mapping, and explain it",
    "whatif": "change the machine or the compiler, and see which lines move",
    "sensitivity": "find how much of the time each parameter of the machine decides",
    "sweep": "predict every combination of sizes, processors, distributions and what-ifs",
    "scalability": "find how the problem must grow so that each processor keeps its speed",
    "balance": "find which start-ups and which work keep the processors busy",
    "explain": "explain the time of a source line",
    "formula": "give the time as a formula in the problem size",
    "optimize-machine": "find the machine with the most performance per dollar",
    "plan": "choose the runs that say most about a machine",
    "fit": "scale a machine to measured runs, and predict others with intervals",
    "layout": "draw which processors own which elements, and warn of costly mappings",
    "tui": "explore in the terminal: choices, source, graph, timeline, what-ifs",
    "report": "one page for a browser: source, distributions, scaling, layouts, machine",
    "graph": "draw or export the graph of a program or a machine: aag, saag, sag",
    "query": "total cost of selected lines, units or procedures",
    "show": "print a stage of the analysis: ir, layouts, node, aag, saag",
    "trace": "export what each processor does when, for timelines and simulators",
    "plot": "draw a timeline, message traffic or a roofline, for papers",
    "diff": "show where two predictions differ, as one tree",
    "check": "check a prediction against a budget, for continuous integration",
    "compile": "write the node program as Fortran with MPI",
    "validate": "run the node program and compare results and messages with it",
    "reproduce": "repeat the experiments of the ESP paper, and check what is stated about them",
    "system": "machines: list, show, check, fit one to a ping-pong",
    "examples": "bundled programs: list, copy",
    "completion": "print a completion script for bash, zsh or fish",
}
"""Command -> what it does; each has a module of its name beside this one."""

EXAMPLES = """\
examples:
  esp run laplace.hpf --procs 8
  esp run laplace.hpf --procs 1,2,4,8
  esp run laplace.hpf --procs 8 --bandwidth x2 --load 30%
  esp compare laplace.hpf --procs 8
  esp show layouts laplace.hpf
  esp system show ipsc860

`esp COMMAND --help` lists the options of a command.
"""


_WRONG_KIND = re.compile(r"argument ([A-Z]+): invalid choice: '(.*)' \(choose from (.*)\)$")
"""How argparse refuses the first word of a command such as `esp graph`."""

_OTHER_NAMES = {
    **dict.fromkeys("np nproc nprocs ntasks processors processes nodes ranks cores".split(), "--procs"),
    **dict.fromkeys("machine host platform arch architecture".split(), "--system"),
    "network": "--bandwidth",
    **dict.fromkeys("size sizes param params".split(), "--set"),
}
"""What other tools call an option."""
_OTHER_KINDS = {"roofline": "balance", "matrix": "messages", "gantt": "timeline"}
"""What others call a picture of `esp plot`."""


_NUMBERS = re.compile(r"(?<= )\d[\d,.:x]*")


class _Once(argparse._StoreAction):
    """An option with one value: of several values all but the last would be dropped without a word."""

    def __call__(self, parser: argparse.ArgumentParser, *given: Any, **more: Any) -> None:
        option = given[2] if len(given) > 2 else more.get("option_string")
        assert isinstance(parser, CommandParser)
        if option and self.dest in parser.given:
            raise UsageError(f"{option} is given twice.", hint="Give it once, with commas where it takes a list.")
        parser.given.add(self.dest)
        super().__call__(parser, *given, **more)


class CommandParser(argparse.ArgumentParser):
    """An argument parser whose errors are ours."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.given: set[str] = set()
        for name in (None, "store"):
            self.register("action", name, _Once)
        self._negative_number_matcher = re.compile(r"-\.?\d")  # "-5%" is a value, too, and no option

    def parse_known_args(self, *args: Any, **more: Any) -> Any:
        """What is typed, and what is left of it."""
        self.given = set()
        return super().parse_known_args(*args, **more)

    def error(self, message: str) -> NoReturn:
        """A wrong option.

        Raises:
            UsageError: always.
        """
        import difflib

        wrong = message.rpartition("unrecognized arguments: ")[2].split()[0:1]
        name = wrong[0].split("=")[0] if wrong else ""
        if wrong and "=" in wrong[0] and not name.startswith("-"):
            raise UsageError(message.rstrip(".") + ".", hint=f"Write --set {wrong[0]} to give a value.")
        if name == "-n":
            raise UsageError("there is no option -n.", hint="Write --procs 8 for processors, --set n=8 for a size.")
        other = _OTHER_NAMES.get(name.lstrip("-"), "") if name.startswith("-") else ""
        if other == "--procs" and other in self._option_string_actions:
            given = wrong[0].partition("=")[2] or next(iter(_NUMBERS.findall(message)), "8")
            raise UsageError(message.rstrip(".") + ".", hint=f"Write --procs {given} for {given} processors.")
        known = {each.lstrip("-"): each for each in self._option_string_actions}  # all begin alike
        found = difflib.get_close_matches(name.lstrip("-"), known, n=1) if name.startswith("-") else []
        near = [other] if other in self._option_string_actions else [known[each] for each in found]
        hint = f"Did you mean {near[0]}?" if near else _stray(name) or f"`{self.prog} --help` lists the options."
        example = re.search(r"^  (esp .*?)(?:   |$)", self.epilog or "", re.MULTILINE)
        if choice := _WRONG_KIND.match(message):
            what, given, kinds = choice.groups()
            listed = [each.strip(" '") for each in kinds.split(",")]
            message = f"{given!r} is not a {what.lower()}: expected {', '.join(listed[:-1])} or {listed[-1]}"
            hint = f"Write `{self.prog} {listed[0]} {given}`." if "." in given else hint
            if _OTHER_KINDS.get(given) in listed:
                hint = f"Write `{self.prog} {_OTHER_KINDS[given]}`."
        if "are required" in message and example:
            hint = f"For example `{example.group(1)}`."
        raise UsageError(message.rstrip(".") + ".", hint=hint)

    def chosen(self, words: Sequence[str]) -> "CommandParser":
        """The parser of the command that is typed: argparse itself reports strangers at the top."""
        for at, word in enumerate(words):
            for action in self._actions:
                below = action.choices.get(word) if isinstance(action.choices, dict) else None
                if isinstance(below, CommandParser):
                    return below.chosen(words[at + 1 :])
        return self


def _stray(word: str) -> str:
    """What to do about a word that belongs to no option."""
    from esp.locate import PROGRAM_SUFFIXES

    if word.isdecimal():
        return "Separate the values of a list by commas: --procs 1,2,4."
    if word.endswith(PROGRAM_SUFFIXES):
        return f"Write --file {word} for a part of the program; `esp compare A B` compares two."
    return ""


_MOST_DIGITS = 1000
_LONG_NUMBER = re.compile(rf"\d{{{_MOST_DIGITS + 1}}}")


def run(words: Sequence[str]) -> int:
    """Find the command and run it; the result is its exit code.

    Raises:
        UsageError: there is no such command, or no such option.
    """
    long = next((word for word in words if _LONG_NUMBER.search(word)), None)
    if long is not None:
        raise UsageError(f"{long[:40]}... has a number of more than {_MOST_DIGITS} digits.", hint="Give a smaller one.")
    for word in words:
        if any(ord(each) < 32 or ord(each) == 127 for each in word):
            raise UsageError(f"{word} contains a control character.", hint="Rename the file, or correct the option.")
    typed = next((word for word in words if not word.startswith("-")), None)
    if typed is not None and typed not in COMMANDS:
        raise UsageError(f"there is no command {typed!r}.", hint=_nearest_command(typed))
    parser = build_parser(typed, alone=typed is not None and words[0] == typed)
    if not words:
        parser.print_help()
        return 0
    options, strangers = parser.parse_known_args(words)
    if strangers:
        parser.chosen(words).error(f"unrecognized arguments: {' '.join(strangers)}")
    if options.command is None:
        raise UsageError("a command is missing.", hint="`esp --help` lists the commands.")
    refuse_inputs_as_outputs(options)
    module = _module(options.command)
    code: int = module.execute(options)
    return code


def _module(command: str) -> Any:
    return importlib.import_module(f"esp.cli.{command.replace('-', '_')}")


def _nearest_command(typed: str) -> str:
    import difflib

    from esp.locate import PROGRAM_SUFFIXES

    if typed.endswith(PROGRAM_SUFFIXES):
        return f"To predict it: `esp run {typed}`."
    near = difflib.get_close_matches(typed, list(COMMANDS), n=1)
    return f"Did you mean `esp {near[0]}`?" if near else f"The commands are {', '.join(COMMANDS)}."


def build_parser(typed: str | None, *, alone: bool = False) -> CommandParser:
    """The parser; only the command that is typed gets its options, as only its module is imported. `alone`: nobody
    will ask for the other commands."""
    parser = CommandParser(
        prog="esp",
        description="Predicts, without running anything, how long a High Performance Fortran program "
        "takes on a parallel machine, and why.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("-V", "--version", action="version", version=f"esp {__version__}")
    parser.add_argument("--debug", action="store_true", default=False, help="show the traceback of an error")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=CommandParser)
    for name, what in COMMANDS.items():
        if alone and name != typed:
            continue
        own = commands.add_parser(
            name,
            help=what,
            description=what[0].upper() + what[1:] + ".",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        if name == typed:
            module = _module(name)
            own.epilog, own.usage = module.EXAMPLES, getattr(module, "USAGE", None)
            module.configure(own)
    return parser
