"""`esp`: finds the command, runs it, and turns whatever happens into an exit code (Def 20)."""

import argparse
import gc
import importlib
import io
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from esp import __version__
from esp.errors import EspError, UsageError

COMMANDS = {
    "run": "predict the time of a program on a machine, and where it goes",
    "compare": "rank the distributions of a program, or several programs",
    "advise": "search for the best mapping, and say why it is",
    "whatif": "change the machine or the compiler, and see which lines move",
    "sweep": "predict every combination of sizes, processors, distributions and what-ifs",
    "explain": "why a line takes the time it does",
    "layout": "draw which processors own which elements, and warn of costly mappings",
    "tui": "see and explore: choices, source, graph, timeline, what-ifs that move",
    "report": "one page for a browser: source, distributions, scaling, layouts, machine",
    "graph": "draw or export the graph of a program or a machine: aag, saag, sag",
    "query": "what some lines, units or procedures cost together",
    "show": "look at a stage of the road: ir, layouts, node, aag, saag",
    "trace": "what each processor does and when, for timelines and simulators",
    "diff": "where two predictions differ, as one tree",
    "check": "hold a prediction against a budget, for continuous integration",
    "compile": "write the node program as Fortran with MPI",
    "validate": "run the node program and hold answer and messages against it",
    "system": "machines: list, show, check, fit one to a ping-pong",
    "examples": "programs that come with esp: list, copy",
    "completion": "what Tab completes, as a script for bash, zsh or fish",
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

INTERRUPTED = 130
"""What a shell reports for a command that Ctrl-C ended."""

PIPE_CLOSED = 141
"""What a shell reports for a command whose reader went away."""


NUMPY = {"OPENBLAS_NUM_THREADS": "1", "NUMPY_MADVISE_HUGEPAGE": "0"}
"""Environment of NumPy: starting threads for products of small matrices costs more than they save, and handing out and
taking back huge pages costs a prediction for a million processors as much system time as all else."""

OBJECTS = 2_000_000
"""New objects between two searches for cyclic garbage: far more than a prediction makes."""


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are ours."""

    def error(self, message: str) -> NoReturn:
        """A wrong option.

        Raises:
            UsageError: always.
        """
        import difflib

        wrong = message.rpartition("unrecognized arguments: ")[2].split()[0:1]
        name = wrong[0].split("=")[0] if wrong else ""
        near = difflib.get_close_matches(name, self._option_string_actions, n=1) if name.startswith("-") else []
        hint = f"Did you mean {near[0]}?" if near else f"`{self.prog} --help` lists the options."
        raise UsageError(message.rstrip(".") + ".", hint=hint)

    def chosen(self, words: Sequence[str]) -> "Parser":
        """The parser of the command that is typed: argparse itself tells of strangers at the top."""
        for at, word in enumerate(words):
            for action in self._actions:
                below = action.choices.get(word) if isinstance(action.choices, dict) else None
                if isinstance(below, Parser):
                    return below.chosen(words[at + 1 :])
        return self


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; the result is its exit code.

    Without `argv` the process is ours and ends here: looking for cyclic garbage, which takes a fifth of the time of a
    small prediction, is left to the operating system. NumPy is told what suits us, unless the user has told it already.
    """
    if argv is not None:
        return _guarded(list(argv))
    for name, value in NUMPY.items():
        os.environ.setdefault(name, value)
    gc.set_threshold(OBJECTS)
    try:
        return _guarded(sys.argv[1:])
    finally:
        gc.freeze()


def _guarded(words: list[str]) -> int:
    """Run the command and turn whatever happens into an exit code."""
    if sys.stdout is None or sys.stderr is None:  # a stream that the shell has closed (>&-)
        sys.stdout = sys.stdout or io.StringIO()
        sys.stderr = sys.stderr or io.StringIO()
    try:
        code = _run(words)
        sys.stdout.flush()
    except SystemExit as end:  # argparse after --help and --version
        return _code(end)
    except KeyboardInterrupt:
        sys.stderr.write("\n")
        return INTERRUPTED
    except BrokenPipeError:
        # The interpreter flushes once more at its end; there is nobody left to read it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except Exception as error:  # noqa: BLE001 (whatever it is, a user gets a paragraph and not a traceback)
        from esp.cli.failure import report

        return report(error, words)
    return code


def _run(words: Sequence[str]) -> int:
    if list(words) in (["--version"], ["-V"]):
        sys.stdout.write(f"esp {__version__}\n")
        return 0
    typed = next((word for word in words if not word.startswith("-")), None)
    if typed is not None and typed not in COMMANDS:
        raise UsageError(f"there is no command {typed!r}.", hint=_nearest_command(typed))
    parser = build_parser(typed)
    if not words:
        parser.print_help()
        return 0
    options, strangers = parser.parse_known_args(words)
    if strangers:
        parser.chosen(words).error(f"unrecognized arguments: {' '.join(strangers)}")
    if options.command is None:
        raise UsageError("a command is missing.", hint="`esp --help` lists the commands.")
    module = importlib.import_module(f"esp.cli.{options.command}")
    code: int = module.execute(options)
    return code


def _nearest_command(typed: str) -> str:
    import difflib

    from esp.locate import PROGRAM_SUFFIXES

    if typed.endswith(PROGRAM_SUFFIXES):
        return f"To predict it: `esp run {typed}`."
    near = difflib.get_close_matches(typed, list(COMMANDS), n=1)
    return f"Did you mean `esp {near[0]}`?" if near else f"The commands are {', '.join(COMMANDS)}."


def build_parser(typed: str | None) -> Parser:
    """The parser; only the command that is typed gets its options, as only its module is imported."""
    parser = Parser(
        prog="esp",
        description="Predicts, without running anything, how long a High Performance Fortran program "
        "takes on a parallel machine, and why.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("-V", "--version", action="version", version=f"esp {__version__}")
    parser.add_argument("--debug", action="store_true", default=False, help="show the traceback of an error")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    for name, what in COMMANDS.items():
        own = commands.add_parser(
            name,
            help=what,
            description=what[0].upper() + what[1:] + ".",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        if name == typed:
            importlib.import_module(f"esp.cli.{name}").configure(own)
    return parser


def _code(end: SystemExit) -> int:
    return end.code if isinstance(end.code, int) else 0 if end.code is None else EspError.exit_code
