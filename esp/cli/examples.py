"""`esp examples`: the bundled programs."""

import argparse
from pathlib import Path

from esp.cli.console import Console
from esp.cli.options import add_output, console_of
from esp.errors import UnreadableFileError, UsageError, reason
from esp.locate import PROGRAM_SUFFIXES, benchmarks_dir, program_names
from esp.output.columns import Column, TableRow, table

EXAMPLES = """\
examples:
  esp examples list
  esp examples copy laplace.hpf
  esp examples copy laplace.hpf gauss.hpf --to work/
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="list the bundled programs", allow_abbrev=False)
    add_output(listing)
    copying = actions.add_parser("copy", help="copy programs, to change them", allow_abbrev=False)
    copying.add_argument("names", metavar="NAME", nargs="+", help="a program of `esp examples list`")
    copying.add_argument("--to", metavar="FOLDER", default=".", help="target folder (default: here)")
    copying.add_argument("--force", action="store_true", help="overwrite files of that name")
    add_output(copying)


def execute(options: argparse.Namespace) -> int:
    """Run the command; the result is its exit code."""
    console = console_of(options)
    if options.action == "list":
        _list(console)
    else:
        _copy(options, console)
    return 0


def _list(console: Console) -> None:
    rows = [TableRow((name, _purpose(_ours(name)))) for name in program_names()]
    columns = [Column("name", "<"), Column("what it is", "<")]
    console.deliver(table(columns, rows, console.screen, flexible=True) + "\n")


def _purpose(path: Path) -> str:
    """The first line of a program says what it is, after its name."""
    first = path.read_text(encoding="utf-8").split("\n", 1)[0]
    comment = first[1:].strip() if first[:1] in {"!", "c", "C", "*"} else first
    return comment.removeprefix(path.name).lstrip(": ")


def _copy(options: argparse.Namespace, console: Console) -> None:
    folder = Path(options.to)
    if not folder.is_dir():
        raise UnreadableFileError("there is no such folder.", where=str(folder), hint="Make it first.")
    ours = [_ours(name) for name in options.names]
    there = [folder / path.name for path in ours]
    for path in there:
        if path.exists() and not options.force:
            raise UsageError("this file exists.", where=str(path), hint="--force overwrites it.")
    for path, target in zip(ours, there, strict=True):
        try:
            target.write_bytes(path.read_bytes())
        except OSError as error:
            raise UnreadableFileError(f"cannot be written: {reason(error)}.", where=str(target)) from None
    console.deliver("".join(f"{target}\n" for target in there))


def _ours(name: str) -> Path:
    """The file of a program that comes with esp, whatever lies in the working directory."""
    for suffix in ("", *PROGRAM_SUFFIXES):
        path = benchmarks_dir() / (name + suffix)
        if path.suffix in PROGRAM_SUFFIXES and Path(name).name == name and path.is_file():
            return path
    raise UsageError("no bundled program has this name.", where=name, hint="`esp examples list` shows them.")
