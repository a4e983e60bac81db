"""cpp for sources with a capital extension."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from aag.diagnostics import Diagnostic, SourceError, Span
from aag.source.joining import Line

_MARKER = re.compile(r'^#\s+(\d+)\s+"((?:[^"\\]|\\.)*)"')
_COMPLAINT = re.compile(r"^(?:<stdin>|[^:]+):(\d+):(?:(\d+):)?\s*(?:fatal )?error:\s*(.*)$", re.MULTILINE)
_SECONDS = 20.0


def preprocessed(text: str, file: str, directories: Sequence[Path]) -> tuple[Line, ...]:
    """The lines of `text` after ``cpp -traditional``, each with the file and line it comes from.

    Raises:
        SourceError: cpp is missing, does not end or reports an error.
    """
    program = shutil.which("cpp")
    if program is None:
        raise SourceError([Diagnostic(
            code="E106",
            message=f"the extension {Path(file).suffix} asks for the C preprocessor, and there is no cpp",
            span=Span(file, 0),
            hint="install cpp, or rename the file if it needs no preprocessing (.f90, .f)",
        )])  # fmt: skip
    searched = [Path(file).parent, *directories]
    command = [program, "-traditional", "-undef", "-w", *(f"-I{each}" for each in searched), "-"]
    try:
        done = subprocess.run(  # noqa: S603  # the command is ours, the text is its standard input
            command, input=text, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise SourceError([_failed(file, 0, f"it did not end within {_SECONDS:g} s")]) from error
    if done.returncode:
        found = _COMPLAINT.search(done.stderr)
        line, why = (int(found.group(1)), found.group(3)) if found else (0, "it gives no reason")
        raise SourceError([_failed(file, line, why)])
    return tuple(_marked(done.stdout, file))


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
