"""HPF's inquiries of the processors, which a serial compiler does not know: a module defines them."""

import re
from collections.abc import Iterable
from pathlib import Path

from aag.ir.units import Program, SourceFile, Unit

MODULE = "esp_inquiry"
_EXTRINSIC = re.compile(r"\bextrinsic\s*\([^()]*\)(?=.*\b(?:subroutine|function|program|module)\b)", re.IGNORECASE)
_ASKED = re.compile(r"\b(?:number_of_processors|processors_shape)\s*\(", re.IGNORECASE)


def lines_of(text: str) -> list[str]:
    """The lines of a program as a compiler counts them: form feeds and Unicode separators end none."""
    return text.removesuffix("\n").split("\n")


def text_of(source: SourceFile) -> str:
    """The text of a file with INCLUDE lines and macros expanded, without what no compiler of Fortran reads: lines that
    other tools left, and the prefix EXTRINSIC."""
    return _written(line.text for line in source.lines)


def _written(lines: Iterable[str]) -> str:
    return "".join("\n" if line.startswith("#") else _EXTRINSIC.sub("", line) + "\n" for line in lines)


def is_asked(source: SourceFile) -> bool:
    """Whether executable code may ask how many processors there are; in directives nobody needs an answer."""
    comment = re.compile(r"\s*!" if source.form == "free" else r"\s*!|[cC*]")
    return any(_ASKED.search(line.text) and not comment.match(line.text) for line in source.lines)


def module(procs: int) -> str:
    """Free-form text of the module that answers as on `procs` processors."""
    return (
        f"module {MODULE}\n"
        "  implicit none\n"
        "contains\n"
        "  pure integer function number_of_processors(dim)\n"
        "    integer, intent(in), optional :: dim\n"
        f"    number_of_processors = {procs}\n"
        "    if (present(dim)) return\n"
        "  end function\n"
        "  pure function processors_shape()\n"
        "    integer :: processors_shape(1)\n"
        f"    processors_shape = {procs}\n"
        "  end function\n"
        f"end module {MODULE}\n"
    )


def with_use(program: Program) -> list[str]:
    """The texts of the files with the module made known to each program unit, after its first statement."""
    units = [unit for unit in program.units if unit.kind != "block_data"]
    return [_with_use(source, units) for source in program.sources]


def _with_use(source: SourceFile, units: Iterable[Unit]) -> str:
    places = {(line.file, line.number): at for at, line in enumerate(source.lines)}
    lines = [line.text for line in source.lines]
    starts = {
        _first_after(unit, lines[places[first] : places[last] + 1], places[first])
        for unit in units
        if (first := (unit.span.file, unit.span.line)) in places
        and (last := (unit.span.file, unit.span.end_line)) in places
    }
    for at in sorted(starts, reverse=True):
        lines.insert(at, f"      use {MODULE}")
    return _written(lines)


def _first_after(unit: Unit, opening: list[str], at: int) -> int:
    """How many lines stand before what follows the statement that opens a unit: none where nothing opens it. `opening`:
    its lines; `at`: how many lines stand before them."""
    word = unit.kind.replace("_", " ")
    return at + len(opening) if any(re.search(rf"(?i)\b{word}\b", line) for line in opening) else at


def write_module(folder: Path, procs: int) -> str:
    """Write the module to a folder; the name of its file."""
    name = f"{MODULE}.f90"
    (folder / name).write_text(module(procs))
    return name
