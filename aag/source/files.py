"""Bytes to physical lines: decoding, source form, INCLUDE, cpp."""

import re
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct, field

from aag.budget import LINES, Budget
from aag.diagnostics import Diagnostic, SourceError, Span
from aag.source.joining import Line

_PREPROCESSED = frozenset({".F", ".F90", ".F95", ".F03", ".F08", ".FOR"})
_INCLUDE = re.compile(r"^\s*#?\s*include\s*(?:'([^']+)'|\"([^\"]+)\"|<([^>]+)>)\s*(?:!.*)?$", re.IGNORECASE)
_DEEPEST_INCLUDE = 16


def decode(data: bytes, file: str) -> str:
    """The text of a source, as UTF-8 or else Latin-1.

    Raises:
        SourceError: the bytes are no text.
    """
    if b"\0" in data:
        raise SourceError(
            [
                Diagnostic(
                    code="E101",
                    message="this is a binary file, not Fortran text",
                    span=Span(file, data[: data.index(b"\0")].count(b"\n") + 1),
                    hint="give the HPF source (.hpf .f90 .f)",
                )
            ]
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def is_preprocessed(file: str) -> bool:
    """Whether the extension asks for cpp."""
    return Path(file).suffix in _PREPROCESSED


def lines_of(text: str, file: str) -> tuple[Line, ...]:
    """The physical lines of a text."""
    return tuple(Line(file, number, each) for number, each in enumerate(_split(text), start=1))


def _split(text: str) -> list[str]:
    """As Fortran and editors count lines: form feeds and Unicode separators end none."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return [line.replace("\f", " ").rstrip() if "\f" in line else line.rstrip() for line in lines]


def expand_includes(lines: Sequence[Line], directories: Sequence[Path]) -> tuple[Line, ...]:
    """`lines` with INCLUDE lines replaced by the files they name.

    Raises:
        SourceError: files that are not found, or that include themselves.
    """
    if not any("include" in line.text.lower() for line in lines):
        return tuple(lines)
    problems: list[Diagnostic] = []
    found = tuple(_expanded(lines, directories, 0, problems, _Included(LINES.of(len(lines)))))
    if problems:
        raise SourceError(problems)
    return found


class _Included(Struct):
    """The files that were read, and the lines that they may make."""

    budget: Budget
    files: dict[Path, tuple[Line, ...]] = field(default_factory=dict)

    def lines(self, path: Path) -> tuple[Line, ...]:
        if path not in self.files:
            self.files[path] = lines_of(decode(path.read_bytes(), str(path)), str(path))
            self.budget.grow(LINES.each * len(self.files[path]))
        return self.files[path]


def _expanded(
    lines: Sequence[Line], directories: Sequence[Path], depth: int, problems: list[Diagnostic], included: _Included
) -> list[Line]:
    found: list[Line] = []
    for line in lines:
        match = _INCLUDE.match(line.text) if "nclude" in line.text.lower() else None
        if match is None:
            found.append(line)
            continue
        name = next(part for part in match.groups() if part)
        span = Span(
            line.file,
            line.number,
            match.start(match.lastindex or 0) + 1,
            line.number,
            match.end(match.lastindex or 0) + 1,
        )
        if depth >= _DEEPEST_INCLUDE:
            problems.append(
                Diagnostic(
                    code="E105",
                    message=f"INCLUDE is nested more than {_DEEPEST_INCLUDE} deep; does {name} include itself?",
                    span=span,
                    hint="a file must not include itself, directly or through others",
                    source_line=line.text,
                )
            )
            return found
        path = _find(name, [Path(line.file).parent, *directories])
        if path is None:
            places = ", ".join(str(each) for each in dict.fromkeys([Path(line.file).parent, *directories]))
            problems.append(
                Diagnostic(
                    code="E104",
                    message=f"the file {name} to include is not found",
                    span=span,
                    hint=f"searched in {places}",
                    source_line=line.text,
                )
            )
            continue
        inner = included.lines(path)
        if not included.budget.spend(1 + len(inner)):
            problems.append(
                Diagnostic(
                    code="E116",
                    message=f"INCLUDE expands to more than {included.budget.limit:,} lines here",
                    span=span,
                    hint="each file counts as often as it is included: include it less often",
                    source_line=line.text,
                )
            )
            return found
        found += _expanded(inner, directories, depth + 1, problems, included)
        if problems and depth:  # two lines that include their own file would be followed 2**16 times
            return found
    return found


def _find(name: str, directories: Sequence[Path]) -> Path | None:
    for directory in directories:
        path = directory / name
        try:
            if path.is_file():
                return path
        except (OSError, ValueError):  # a name that is too long or holds odd characters names no file
            return None
    return None
