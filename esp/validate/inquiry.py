"""HPF's inquiry of the number of processors, which a serial compiler does not know: a module stands in for it."""

import re
from collections.abc import Iterable
from pathlib import Path

from aag.ir.units import Program, Unit

MODULE = "esp_inquiry"
_ASKED = re.compile(r"\bnumber_of_processors\s*\(", re.IGNORECASE)


def lines_of(text: str) -> list[str]:
    """The lines of a program as a compiler counts them: form feeds and Unicode separators end none."""
    return text.removesuffix("\n").split("\n")


def is_asked(text: str, *, fixed: bool) -> bool:
    """Whether executable code may ask how many processors there are; in directives nobody needs an answer."""
    comment = re.compile(r"\s*!|[cC*]" if fixed else r"\s*!")
    return any(_ASKED.search(line) and not comment.match(line) for line in lines_of(text))


def module(procs: int) -> str:
    """Free-form text of the module that answers as on `procs` processors."""
    return (
        f"module {MODULE}\n"
        "  implicit none\n"
        "contains\n"
        "  pure integer function number_of_processors()\n"
        f"    number_of_processors = {procs}\n"
        "  end function\n"
        f"end module {MODULE}\n"
    )


def with_use(text: str, program: Program) -> str:
    """The text with the module made known to each program unit, after its first statement; all else stays."""
    lines = lines_of(text)
    starts = {_first_line_after(unit, program) for unit in program.units if _is_here(unit, program)}
    for at in sorted(starts, reverse=True):
        lines.insert(at, f"      use {MODULE}")
    return "\n".join(lines) + "\n"


def _first_line_after(unit: Unit, program: Program) -> int:
    """How many lines stand before what follows the statement that opens a unit: none where nothing opens it."""
    opening = program.lines[unit.span.line - 1 : unit.span.end_line]
    word = unit.kind.replace("_", " ")
    return unit.span.end_line if any(re.search(rf"(?i)\b{word}\b", line) for line in opening) else unit.span.line - 1


def _is_here(unit: Unit, program: Program) -> bool:
    return unit.kind != "block_data" and unit.span.file == _file_of(program.units)


def _file_of(units: Iterable[Unit]) -> str:
    """The file of the main program: units of included files are not in the text."""
    return next((unit.span.file for unit in units if unit.kind == "program"), "")


def write_module(folder: Path, procs: int) -> str:
    """Write the module to a folder; the name of its file."""
    name = f"{MODULE}.f90"
    (folder / name).write_text(module(procs))
    return name
