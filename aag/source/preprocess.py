"""cpp for the files that need it: those with a capital extension, with its directives, or with C comments."""

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from aag.budget import CHARACTERS, LINES
from aag.diagnostics import Diagnostic, SourceError, Span
from aag.ir.units import Line
from aag.running import Limits, run

_MARKER = re.compile(r'^#\s+(\d+)\s+"((?:[^"\\]|\\.)*)"')
_COMPLAINT = re.compile(r"^(<stdin>|[^:]+):(\d+):(?:(\d+):)?\s*(?:fatal )?error:\s*(.*)$", re.MULTILINE)
_LIMITS = Limits(seconds=8.0, memory_bytes=1 << 29, output_bytes=1 << 26)
_BEYOND = {
    "time": f"it did not end within {_LIMITS.seconds:g} s",
    "memory": f"it needed more than {_LIMITS.memory_bytes >> 20} MiB of memory",
    "output": f"the text became longer than {_LIMITS.output_bytes >> 20} MiB",
}


_PREPROCESSED = frozenset({".F", ".F90", ".F95", ".F03", ".F08", ".FOR"})
_DIRECTIVE = re.compile(r"#\s*(?:if|ifdef|ifndef|define|undef|elif|else|endif|error)\b")
_C_COMMENT = re.compile(r"(?!     /)(?:\s*/\*|(?![cC*])[^'\"!]*/\*.*\*/\s*$)")  # column 6 may hold any character


def is_preprocessed(file: str) -> bool:
    """Whether the extension asks for cpp."""
    return Path(file).suffix in _PREPROCESSED


def is_for_cpp(line: Line) -> bool:
    """Whether only cpp understands a line. ``#include`` is read without it."""
    return (line.text[:1] == "#" and _DIRECTIVE.match(line.text) is not None) or (
        "/*" in line.text and _C_COMMENT.match(line.text) is not None
    )


def preprocessed(
    written: Sequence[Line], file: str, directories: Sequence[Path], defines: Sequence[str] = ()
) -> tuple[Line, ...]:
    """The lines of a file after ``cpp -traditional``, each with the file and line it comes from. `defines`: macros, as
    ``NAME`` or ``NAME=VALUE``.

    Raises:
        SourceError: cpp is missing, does not end or reports an error, or what it makes is too long.
    """
    program = shutil.which("cpp")
    if program is None:
        raise SourceError([_missing(written, file)])
    searched = [Path(file).parent, *directories]
    command = [program, "-traditional", "-undef", "-w"]
    command += [*(f"-D{each}" for each in defines), *(f"-I{each}" for each in searched), "-"]
    done = run(command, text="".join(f"{line.text}\n" for line in written), limits=_LIMITS)
    if done.beyond:
        raise SourceError([_failed(file, 0, _BEYOND[done.beyond])])
    if done.code:
        found = _COMPLAINT.search(done.errors)
        if found is None:
            raise SourceError([_failed(file, 0, "it gives no reason")])
        where = file if found[1] == "<stdin>" else found[1]
        raise SourceError([_failed(where, int(found[2]), found[4])])
    return _affordable(tuple(_marked(done.output, file)), written)


def _missing(written: Sequence[Line], file: str) -> Diagnostic:
    first = next((line for line in written if is_for_cpp(line)), None)
    if is_preprocessed(file) or first is None:
        what = f"the extension {Path(file).suffix}" if is_preprocessed(file) else "this file"
        span, hint = Span(file, 0), "install cpp, or rename the file if it needs no preprocessing (.f90, .f)"
    else:
        what, span, hint = "this line", Span(first.file, first.number), "install cpp, or remove the line"
    message = f"{what} needs the C preprocessor, but cpp is not installed"
    return Diagnostic(code="E106", message=message, span=span, hint=hint)


def _affordable(made: tuple[Line, ...], written: Sequence[Line]) -> tuple[Line, ...]:
    """The lines that the preprocessor makes.

    Raises:
        SourceError: macros and files that are included multiply what is written.
    """
    lines, characters = LINES.of(len(written)), CHARACTERS.of(sum(len(line.text) for line in written))
    for line in made:
        if not (lines.spend() and characters.spend(len(line.text))):
            limit, what = (lines.limit, "lines") if lines.left < 0 else (characters.limit, "characters")
            message = f"the output of the preprocessor exceeds {limit:,} {what} here"
            hint = "shorten the macros, or include files less often"
            raise SourceError([Diagnostic(code="E116", message=message, span=Span(line.file, line.number), hint=hint)])
    return made


def _failed(file: str, line: int, why: str) -> Diagnostic:
    return Diagnostic(code="E107", message=f"the C preprocessor failed: {why}", span=Span(file, line))


def _marked(output: str, file: str) -> list[Line]:
    lines: list[Line] = []
    current, number = file, 0
    for text in output.split("\n"):
        marker = _MARKER.match(text)
        if marker:
            number = int(marker.group(1)) - 1
            name = marker.group(2)
            current = file if name in ("<stdin>", "") else name
            continue
        number += 1
        if not current.startswith("<"):
            lines.append(Line(current, number, text.rstrip()))
    return lines
