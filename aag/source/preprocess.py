"""cpp for sources with a capital extension."""

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from aag.diagnostics import Diagnostic, SourceError, Span
from aag.running import Limits, run
from aag.source.joining import Line

_MARKER = re.compile(r'^#\s+(\d+)\s+"((?:[^"\\]|\\.)*)"')
_COMPLAINT = re.compile(r"^(?:<stdin>|[^:]+):(\d+):(?:(\d+):)?\s*(?:fatal )?error:\s*(.*)$", re.MULTILINE)
_LIMITS = Limits(seconds=8.0, memory_bytes=1 << 29, output_bytes=1 << 26)
_BEYOND = {
    "time": f"it did not end within {_LIMITS.seconds:g} s",
    "memory": f"it needed more than {_LIMITS.memory_bytes >> 20} MiB of memory",
    "output": f"the text became longer than {_LIMITS.output_bytes >> 20} MiB",
}


def preprocessed(text: str, file: str, directories: Sequence[Path]) -> tuple[Line, ...]:
    """The lines of `text` after ``cpp -traditional``, each with the file and line it comes from.

    Raises:
        SourceError: cpp is missing, does not end or reports an error.
    """
    program = shutil.which("cpp")
    if program is None:
        raise SourceError(
            [
                Diagnostic(
                    code="E106",
                    message=f"the extension {Path(file).suffix} needs the C preprocessor, but cpp is not installed",
                    span=Span(file, 0),
                    hint="install cpp, or rename the file if it needs no preprocessing (.f90, .f)",
                )
            ]
        )
    searched = [Path(file).parent, *directories]
    command = [program, "-traditional", "-undef", "-w", *(f"-I{each}" for each in searched), "-"]
    done = run(command, text=text, limits=_LIMITS)
    if done.beyond:
        raise SourceError([_failed(file, 0, _BEYOND[done.beyond])])
    if done.code:
        found = _COMPLAINT.search(done.errors)
        line, why = (int(found.group(1)), found.group(3)) if found else (0, "it gives no reason")
        raise SourceError([_failed(file, line, why)])
    return tuple(_marked(done.output, file))


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
