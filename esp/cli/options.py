"""Options that several commands share, and what their texts mean."""

import argparse
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from esp.cli.console import COLOURS, Console, console_for
from esp.errors import UnreadableFileError, UsageError
from esp.values import pairs, pairs_many, value_of

if TYPE_CHECKING:  # the API brings NumPy, which `esp run --help` need not wait for
    from esp.api import Request

FORMS = ("free", "fixed", "fixed72", "fixed132")
COLUMNS = ("72", "132")
GRANULARITIES = ("statement", "block", "loop", "procedure")

_MOST_PROCESSORS = 2**20

_NO_TEXT = frozenset((".png", ".jpg", ".jpeg", ".gif", ".svg", ".pdf", ".eps", ".ps", ".html", ".htm", ".xlsx"))
"""Suffixes of pictures, pages and sheets."""


def add_output(parser: argparse.ArgumentParser) -> None:
    """Where the output goes and how it looks."""
    group = parser.add_argument_group("output")
    group.add_argument("-o", "--output", metavar="FILE", type=named, help="write to FILE, whole or not at all")
    group.add_argument("-q", "--quiet", action="store_true", help="no warnings and no notes")
    group.add_argument("--color", choices=COLOURS, default="auto", help="colour (default: on a terminal)")
    group.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help="show tracebacks")


def add_form(group: argparse._ActionsContainer) -> None:
    """How the source is laid out: ``--form`` and ``--columns`` in any order give one form."""
    words = "source form (default: by the suffix, else by the text); fixed: 72 or 132 columns, whichever can be read"
    group.add_argument("--form", action=_SourceForm, choices=FORMS, help=words)
    group.add_argument(
        "--columns", action=_SourceForm, dest="form", choices=COLUMNS, help="fixed form with so many columns in a line"
    )
    what = "a folder for INCLUDE and #include, after that of the file (repeatable)"
    group.add_argument("-I", "--include", metavar="FOLDER", action="append", default=[], type=named, help=what)
    what = "a macro of the C preprocessor, which then reads all files (repeatable)"
    group.add_argument("-D", "--define", metavar="NAME[=VALUE]", action="append", default=[], type=_macro, help=what)
    what = (
        "what a call of a procedure without source costs: 'dgemm(ta,tb,m,n,k)=2*m*n*k flop' (repeatable);"
        " BLAS, LAPACK and others have costs"
    )
    group.add_argument("--cost", metavar="NAME=COST", action="append", default=[], help=what)
    what = "another file of the program (repeatable)"
    group.add_argument("--file", metavar="FILE", dest="files", action="append", default=[], type=named, help=what)


_MACRO = re.compile(r"[A-Za-z_]\w*(=.*)?")


def _macro(text: str) -> str:
    if not _MACRO.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a macro such as N=64")
    return text


class _MoreFiles(argparse.Action):
    """Adds positional words to those of ``--file``."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,  # noqa: ARG002  # argparse passes it
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,  # noqa: ARG002  # argparse passes it
    ) -> None:
        namespace.files = [*namespace.files, *values]


class _SourceForm(argparse.Action):
    """Joins the two options; both given say the same, or it is an error."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,  # noqa: ARG002  # argparse passes it
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,  # noqa: ARG002  # argparse passes it
    ) -> None:
        both = {f"fixed{values}" if values in COLUMNS else values, namespace.form or "fixed"} - {"fixed"}
        if len(both) > 1:
            raise argparse.ArgumentError(self, f"{' and '.join(sorted(both))} exclude each other")
        namespace.form = both.pop() if both else "fixed"


def add_program(
    parser: argparse.ArgumentParser,
    procs: str,
    *,
    several: bool = False,
    optional: bool = False,
    aligned: bool = True,
    files: bool = False,
    budget: bool = True,
) -> None:
    """Which program, or `several`, on which machine, mapped how. `procs`: the help of ``--procs``; `optional`: whether
    the program may be left out; `aligned`: whether arrays may be aligned anew; `files`: whether further words are
    further files of the program; `budget`: whether ``--budget`` limits what is computed."""
    parser.add_argument(
        "program",
        metavar="PROG",
        nargs="+" if several else "?" if optional else None,
        help="a file, a bundled program, or - (standard input)",
    )
    if files:
        more = "further files of the program"
        parser.add_argument("more", metavar="FILE", nargs="*", default=[], action=_MoreFiles, type=named, help=more)
    group = parser.add_argument_group("program and machine")
    group.add_argument("--system", metavar="NAME|FILE", default="ipsc860", help="the machine (default: %(default)s)")
    group.add_argument("-p", "--procs", metavar="P", help=procs)
    add_form(group)
    group.add_argument("--grid", metavar="PxQ", help="extents of the processor grid, such as 4x2")
    group.add_argument(
        "--distribute",
        metavar="[NAME=](...)",
        action="append",
        default=[],
        type=distribution,
        help="another distribution: '(BLOCK,*)', or for one template or array 'T=(BLOCK,*)' (repeatable)",
    )
    if aligned:
        group.add_argument(
            "--align",
            metavar="A(..) WITH T(..)",
            action="append",
            default=[],
            help="another alignment for an array: 'A(i,j) WITH T(j,i)' (repeatable)",
        )
    group.add_argument(
        "--set",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="value of a PARAMETER, a variable that decides sizes or flow, TRIPS_LINE of a while loop, or HOLDS_LINE, "
        "the share of a branch (repeatable)",
    )
    group.add_argument("--input", metavar="FILE", help="the standard input of the program (units * and 5)")
    if budget:
        add_budget(group)
    group.add_argument(
        "--trust-directives",
        action="store_true",
        help="accept INDEPENDENT, NEW and REDUCTION even if esp proves them false",
    )


def add_budget(group: argparse._ActionsContainer) -> None:
    """How much of the program may be run to know values that decide its flow."""
    what = "most operations for computing what decides the flow, such as trip counts (default: 10^9; 0: none)"
    group.add_argument("--budget", metavar="N", type=_operations, help=what)


def _operations(text: str) -> int:
    if re.fullmatch(r"\d+(\.\d+)?[eE]\d{1,2}", text) and float(text).is_integer():
        return int(float(text))
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a number of operations: expected a whole number such as 1000000 or 1e10"
        )
    return int(text)


def add_partial(parser: argparse.ArgumentParser) -> None:
    """The option of commands that refuse incomplete predictions."""
    what = "leave out what cannot be predicted; nothing is ranked then"
    parser.add_argument("--partial", action="store_true", help=what)


def add_scenario(parser: argparse.ArgumentParser) -> None:
    """What is different about the machine."""
    group = parser.add_argument_group("what if", "A change is x2, 30% or a value with its unit.")
    group.add_argument("--load", metavar="30%", help="other traffic on the network, below 100%%")
    group.add_argument("--bandwidth", metavar="CHANGE", help="of the network: x2, 5MB/s")
    group.add_argument("--latency", metavar="CHANGE", help="start-up and time per hop: x0.5, 40us")
    group.add_argument("--processor-speed", metavar="CHANGE", help="x2, 80MHz")
    group.add_argument("--memory-speed", metavar="CHANGE", help="x2")
    group.add_argument("--overlap", metavar="0.4", help="share of transmission hidden behind computation")
    group.add_argument("--io", choices=("on", "off"), default="on", help="whether input and output count")
    group.add_argument(
        "--opt",
        metavar="NAME=on|off",
        action="append",
        default=[],
        help="switch an optimisation on or off (repeatable)",
    )
    group.add_argument(
        "--system-set",
        metavar="PATH=CHANGE",
        action="append",
        default=[],
        help="any parameter: cube.network.long.startup=120us (repeatable)",
    )


def add_forms(parser: argparse.ArgumentParser | argparse._ArgumentGroup, page: str) -> argparse._MutuallyExclusiveGroup:
    """JSON or CSV instead of text; `page`: where their fields are described. Returns the group, for further forms."""
    forms = parser.add_mutually_exclusive_group()
    forms.add_argument("--json", action="store_true", help=f"print JSON, described in {page}")
    forms.add_argument("--csv", action="store_true", help="the table as comma-separated values")
    return forms


def named(text: str) -> str:
    """A name of a file or folder: an unset variable of a shell is none.

    Raises:
        argparse.ArgumentTypeError: it is empty.
    """
    if not text:
        raise argparse.ArgumentTypeError("the name is empty")
    return text


def console_of(options: argparse.Namespace, writes: Sequence[str] = ()) -> Console:
    """The console that `add_output` describes. `writes`: suffixes of pictures and pages that the command writes.

    Raises:
        UsageError: the output is something else than the suffix of its file says.
        UnreadableFileError: its folder does not exist, which is said before much is computed.
    """
    if options.output is not None and not _has_folder(options.output):
        raise UnreadableFileError("cannot be written: no such file or directory.", where=options.output)
    if options.output is not None and PurePath(options.output).suffix.lower() not in writes:
        _check_suffix(options, writes)
    return console_for(options.color, quiet=options.quiet, file=options.output)


def _has_folder(file: str) -> bool:
    try:
        return Path(file).parent.is_dir()
    except OSError:  # writing says what is wrong with it
        return True


def _check_suffix(options: argparse.Namespace, writes: Sequence[str]) -> None:
    suffix = PurePath(options.output).suffix.lower()
    forms = [each for each in ("json", "csv") if hasattr(options, each)]
    if suffix in _NO_TEXT:
        known = [*writes, ".txt", *(f".{each} (with --{each})" for each in forms)]
        hint = f"This command writes {', '.join(known[:-1])} and {known[-1]}." if len(known) > 1 else "Name it .txt."
        raise UsageError(f"this command writes no {suffix} file.", where=f"-o {options.output}", hint=hint)
    if suffix[1:] in forms and not any(getattr(options, each, False) for each in (*forms, "jsonl")):
        told = f"text would be written to a {suffix} file."
        raise UsageError(told, where=f"-o {options.output}", hint=f"Add --{suffix[1:]}, or name it .txt.")


def refuse_without_effect(options: argparse.Namespace, names: Iterable[str], why: str) -> None:
    """Refuse options that would change nothing. `names`: of their values in `options`.

    Raises:
        UsageError: one is given.
    """
    from esp.cli.again import KEPT

    for name in names:
        if getattr(options, name, None) not in (KEPT.get(name), None, False):
            option = "--" + name.replace("_", "-")
            raise UsageError(f"{option} has no effect {why}.", where=option, hint="Leave it out.")


def add_granularity(group: argparse._ArgumentGroup | argparse.ArgumentParser) -> None:
    """The option of commands that show application abstraction units."""
    what = "what one application abstraction unit is: %(choices)s (default: %(default)s)"
    group.add_argument("--granularity", choices=GRANULARITIES, default=GRANULARITIES[0], help=what)


def add_timed(group: argparse._ArgumentGroup | argparse.ArgumentParser) -> None:
    """The option of commands that predict only a part of the program (Def 5)."""
    group.add_argument("--timed", action="store_true", help="only the part between two readings of the clock")


_DECIMAL_COMMA = re.compile(r"\d+,\d+[^,\d]*")


def _refuse_lists(given: Mapping[str, Any]) -> None:
    """What-ifs take one value, except in `esp sweep`."""
    for name in ("load", "bandwidth", "latency", "processor_speed", "memory_speed", "overlap"):
        text, option = given[name], f"--{name.replace('_', '-')}"
        if isinstance(text, str) and re.search(r",|:|\.\.", text) and not _DECIMAL_COMMA.fullmatch(text.strip()):
            hint = f"`esp sweep PROG {option} {text}` predicts each value of a list."
            raise UsageError(f"{text!r} is not one value.", where=option, hint=hint)


def request_of(options: argparse.Namespace, procs: int | None) -> "Request":
    """The request that the options of `add_program`, and of `add_scenario` where it was called, stand for.

    Raises:
        UsageError: an option that cannot be read.
    """
    from esp.api import BUDGET, Request, switched
    from esp.arguments import alignments
    from sag.scenario import Scenario

    given = vars(options)
    aligned = given["align"] if isinstance(given.get("align"), list) else []  # that of `esp advise` is on or off
    scenario = Scenario()
    if "load" in given:
        _refuse_lists(given)
        scenario = Scenario(
            load=options.load,
            bandwidth=options.bandwidth,
            latency=options.latency,
            processor_speed=options.processor_speed,
            memory_speed=options.memory_speed,
            overlap=options.overlap,
            io=options.io == "on",
            sets=tuple(pairs("--system-set", options.system_set).items()),
        )
    elif "io" in given:
        scenario = Scenario(io=options.io == "on")
    request = Request(
        procs=procs,
        grid=grid_of(options.grid),
        distribute=_distributions(options.distribute),
        align=alignments(aligned),
        align_texts=tuple(aligned),
        values={name: value_of(name, text) for name, text in pairs("--set", options.set, lower=True).items()},
        scenario=scenario,
        timed=given.get("timed", False),
        unroll=given.get("unroll", False),
        trust_directives=given.get("trust_directives", False),
        granularity=given.get("granularity", GRANULARITIES[0]),
        partial=given.get("partial", True),
        budget=given["budget"] if isinstance(given.get("budget"), int) else BUDGET,  # that of `esp check` is a file
    )
    return switched(request, switches_of(given.get("opt", [])))


def distribution(text: str) -> str:
    """``NAME=(...)`` also where it is written as in a directive: ``NAME(...)``."""
    found = re.fullmatch(r"\s*([A-Za-z]\w*)\s*(\(.*\))\s*", text)
    if found is None or found[1].upper() in ("BLOCK", "CYCLIC", "GEN_BLOCK"):
        return text
    return f"{found[1]}={found[2]}"


def _distributions(given: list[str]) -> dict[str, str]:
    """``NAME=(...)``, repeatable, or ``(...)`` for everything that the program distributes.

    Raises:
        UsageError: there is more than one for everything.
    """
    plain = [each for each in given if "=" not in each]
    if len(plain) > 1:
        hint = "esp compare predicts several distributions."
        raise UsageError("a prediction has one distribution.", where="--distribute", hint=hint)
    named = pairs("--distribute", [each for each in given if "=" in each], lower=True)
    return named | ({"": plain[0]} if plain else {})


def named_choices(given: list[str]) -> list[dict[str, str]]:
    """``--distribute`` of the command: ``NAME=(...)`` or, for all that fit, ``(...)``; repeated ones are choices.

    Raises:
        UsageError: some are named and some are not.
    """
    from esp.explore.compare import named_formats

    plain = [each for each in given if "=" not in each]
    named = pairs_many("--distribute", [each for each in given if "=" in each])
    if plain and named:
        raise UsageError("name all distributions, or none.", where="--distribute", hint="Write NAME=(BLOCK,*).")
    return named_formats(named or plain or None)


def procs_of(text: str | None, where: str = "--procs") -> tuple[int, ...] | None:
    """``8``, or a list of `esp.explore.axes`: ``1,2,4,8``, ``4..64``, ``8:64:x2``.

    Raises:
        UsageError: something that is not a processor count.
    """
    if text is None:
        return None
    from esp.explore.axes import values_of

    numbers = []
    for each in values_of(text, where):
        if not each.isdecimal() or not 1 <= int(each) <= _MOST_PROCESSORS:
            told = f"{each!r} is not a processor count from 1 to {_MOST_PROCESSORS:,}."
            raise UsageError(told, where=where, hint="Give one, or a list such as 1,2,4 or 1..8.")
        numbers.append(int(each))
    return tuple(dict.fromkeys(numbers))


def one_of_procs(text: str | None, why_one: str, hint: str = "Give --procs a single number.") -> int | None:
    """The single number of processors of ``--procs``.

    Raises:
        UsageError: there are several.
    """
    numbers = procs_of(text)
    if numbers is not None and len(numbers) > 1:
        raise UsageError(why_one, where="--procs", hint=hint)
    return None if numbers is None else numbers[0]


def jobs_of(text: str) -> int:
    """The number of processes to use.

    Raises:
        UsageError: it is none.
    """
    if not text.isdecimal() or not 1 <= int(text) <= 1024:
        raise UsageError(f"{text!r} is not a process count.", where="--jobs", hint="Write for example 2.")
    return int(text)


def grid_of(text: str | None) -> tuple[int, ...] | None:
    """``4x2`` or ``4,2``.

    Raises:
        UsageError: something else.
    """
    if text is None:
        return None
    extents = text.lower().replace(",", "x").split("x")
    if not all(each.strip().isdecimal() and int(each) >= 1 for each in extents):
        raise UsageError(f"{text!r} is not a processor grid.", where="--grid", hint="Write extents such as 4x2.")
    return tuple(int(each) for each in extents)


def switches_of(given: list[str]) -> dict[str, bool]:
    """``NAME=off``.

    Raises:
        UsageError: neither on nor off.
    """
    found = {}
    for name, text in pairs("--opt", given, lower=True).items():
        if text.lower() not in ("on", "off"):
            raise UsageError(f"{name} is either on or off, not {text!r}.", where="--opt")
        found[name] = text.lower() == "on"
    return found
