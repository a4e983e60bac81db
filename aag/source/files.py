"""Bytes to physical lines: decoding, INCLUDE, cpp where it is needed."""

import re
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct, field

from aag.budget import LINES, Budget
from aag.diagnostics import Diagnostic, SourceError, Span
from aag.ir.units import Line
from aag.source.preprocess import is_for_cpp, is_preprocessed, preprocessed

_INCLUDE = re.compile(r"^\s*#?\s*include\s*(?:'([^']+)'|\"([^\"]+)\"|<([^>]+)>)\s*(?:!.*)?$", re.IGNORECASE)
_DEEPEST_INCLUDE = 16

MPI = frozenset(("mpi", "mpi_f08", "mpif"))
"""Modules and include files of MPI."""

WITHOUT_MPI = "remove it and the calls of MPI: in HPF the messages follow from the directives"
"""The hint for a program with MPI calls."""


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


def lines_of(text: str, file: str) -> tuple[Line, ...]:
    """The physical lines of a text."""
    return tuple(Line(file, number, each) for number, each in enumerate(_split(text), start=1))


def _split(text: str) -> list[str]:
    """As Fortran and editors count lines: form feeds and Unicode separators end none."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return [line.replace("\f", " ").rstrip() if "\f" in line else line.rstrip() for line in lines]


def expanded(
    written: Sequence[Line], file: str, directories: Sequence[Path], defines: Sequence[str]
) -> tuple[Line, ...]:
    """The lines of a file with macros and INCLUDE lines replaced by what they stand for.

    Raises:
        SourceError: files that are not found, or that include themselves; an error of cpp.
    """
    included = _Included(LINES.of(len(written)), directories, defines)
    lines = tuple(written)
    if is_preprocessed(file) or defines or included.needs_cpp(lines):
        lines = preprocessed(lines, file, directories, defines)
    if not any("include" in line.text.lower() for line in lines):
        return lines
    problems: list[Diagnostic] = []
    found = tuple(_expanded(lines, 0, problems, included))
    if problems:
        raise SourceError(problems)
    return found


class _Included(Struct):
    """The files that were read, and the lines that they may make."""

    budget: Budget
    directories: Sequence[Path]
    defines: Sequence[str]
    files: dict[Path, tuple[Line, ...]] = field(default_factory=dict)
    needing: dict[Path, bool] = field(default_factory=dict)

    def lines(self, path: Path) -> tuple[Line, ...]:
        """The lines of an included file, preprocessed where it needs that by itself."""
        if path not in self.files:
            written = self._written(path)
            if self.needs_cpp(written):
                written = preprocessed(written, str(path), self.directories, self.defines)
            self.files[path] = written
            self.budget.grow(LINES.each * len(written))
        return self.files[path]

    def needs_cpp(self, lines: Sequence[Line]) -> bool:
        """Whether a file, or one that its #include lines name, holds what only cpp understands."""
        return any(is_for_cpp(line) or (line.text[:1] == "#" and self._includes_such(line)) for line in lines)

    def _includes_such(self, line: Line) -> bool:
        match = _INCLUDE.match(line.text)
        path = None if match is None else self.find(_named(match), line)
        if path is None:
            return False
        if path not in self.needing:
            self.needing[path] = False
            self.needing[path] = self.needs_cpp(self._written(path))
        return self.needing[path]

    def find(self, name: str, line: Line) -> Path | None:
        """The file that an INCLUDE line names: beside its own file, else in the directories."""
        return _find(name, [Path(line.file).parent, *self.directories])

    def _written(self, path: Path) -> tuple[Line, ...]:
        return lines_of(decode(path.read_bytes(), str(path)), str(path))


def _named(match: re.Match[str]) -> str:
    return next(part for part in match.groups() if part)


def _expanded(lines: Sequence[Line], depth: int, problems: list[Diagnostic], included: _Included) -> list[Line]:
    found: list[Line] = []
    for line in lines:
        match = _INCLUDE.match(line.text) if "nclude" in line.text.lower() else None
        if match is None:
            found.append(line)
            continue
        name = _named(match)
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
        path = included.find(name, line)
        if path is None:
            places = ", ".join(str(each) for each in dict.fromkeys([Path(line.file).parent, *included.directories]))
            problems.append(
                Diagnostic(
                    code="E104",
                    message=f"the file {name} to include is not found",
                    span=span,
                    hint=WITHOUT_MPI if Path(name).stem in MPI else f"searched in {places}",
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
        found += _expanded(inner, depth + 1, problems, included)
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
