"""Programs for the commands: from a file, from those that come with esp, or from standard input."""

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from aag.source.read import read_program
from esp.cli.options import request_of
from esp.errors import UnreadableFileError, UsageError, reason
from esp.sources import Source, read_source, with_costs

if TYPE_CHECKING:  # the API brings NumPy, which a command need not wait for that only reads a program
    from esp.api import Request
    from sag.unit import System

STANDARD_INPUT = "-"


def asked_of(options: argparse.Namespace, procs: int | None) -> "tuple[Source, System, Request]":
    """The program, the machine and the request that the shared options stand for.

    Raises:
        UnreadableFileError: program or machine cannot be read.
        UsageError: an option cannot be read.
        aag.diagnostics.SourceError: the program is none.
        sag.errors.MachineError: the machine is none.
    """
    from esp.api import load_machine

    source = source_of(options.program, options)
    return source, load_machine(options.system), request_of(options, procs)


def source_of(program: str, options: argparse.Namespace) -> Source:
    """Read the program that a command names, with the other files and the options of `add_form`.

    Raises:
        UnreadableFileError: it cannot be read.
        UsageError: standard input is to be one of several files.
        aag.diagnostics.SourceError: it is no program.
    """
    files = [program, *options.files]
    if not all(each.strip() for each in files):
        hint = "`esp examples list` shows the bundled programs."
        raise UnreadableFileError("the program name is empty.", hint=hint)
    if STANDARD_INPUT not in files:
        given = files if options.files else program
        source = read_source(
            given, form=options.form, include=options.include, define=options.define, cost=options.cost
        )
        source = replace(source, links=linked(vars(options).get("link", ())))
        _take_input(source, options)
        return source
    if len(files) > 1:
        raise UsageError("standard input is a whole program.", hint="Write it to a file first.")
    try:
        text = sys.stdin.read()
    except UnicodeDecodeError:
        raise UnreadableFileError("this is not text.", where="standard input") from None
    if not text.strip():
        raise UnreadableFileError("there is nothing to read.", where="standard input")
    read = read_program(
        text, "<stdin>", form=options.form, include_dirs=options.include, defines=options.define, defer=True
    )
    return with_costs(Source(program=read), options.cost)


def linked(given: Sequence[str]) -> tuple[str, ...]:
    """What ``--link`` names: files, with their whole path, and libraries as the linker takes them.

    Raises:
        UsageError: there is no such file, or its name cannot stand in a Makefile.
    """
    found = []
    for each in given:
        name = each.removeprefix("-l")
        if re.fullmatch(r"[\w+-]+", name) and not Path(each).is_file():
            found.append(f"-l{name}")
            continue
        path = Path(each).resolve()
        if not path.is_file():
            raise UsageError(
                f"there is no file {each}.", where="--link", hint="Give a file, or a library such as blas."
            )
        if not re.fullmatch(r"[\w./+-]+", str(path)):
            hint = "Rename it: letters, digits and . _ + - can be used."
            raise UsageError(f"make does not take the name {path}.", where="--link", hint=hint)
        found.append(str(path))
    return tuple(found)


def _take_input(source: Source, options: argparse.Namespace) -> None:
    """Add what the program reads from `--input` to the values of `--set`, which win.

    Raises:
        UnreadableFileError: it cannot be read.
    """
    if not vars(options).get("input"):
        return
    from aag.mapping.settable import settable
    from aag.pipeline import main_unit
    from esp.inputs import values_read

    given = {"".join(each.partition("=")[0].lower().split()) for each in options.set}
    found = values_read(source.program, text_of_input(options.input))
    why = settable(main_unit(source.program), source.program.units).why
    wanted = {name: value for name, value in found.items() if name not in given and not why.get(name, "")}
    options.set = [*(f"{name}={value}" for name, value in wanted.items()), *options.set]


def text_of_input(file: str) -> str:
    """The text of the file of `--input`.

    Raises:
        UnreadableFileError: it cannot be read.
    """
    try:
        return Path(file).read_text(encoding="utf-8")
    except OSError as problem:
        raise UnreadableFileError(f"{file}: {reason(problem)}.", where="--input") from None
    except ValueError:
        raise UnreadableFileError(f"{file}: this is not text.", where="--input") from None
