"""The whole road from text to `Program`. The parser is imported with the first text."""

import re
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from aag.diagnostics import Diagnostic, SourceError, Span
from aag.ir.units import Form, Line, Program, SourceFile, Unit
from aag.source.files import decode, expanded, lines_of
from aag.source.forms import Reading, form_of, looks_like, read_in
from aag.source.joining import Joined

Source = dict[tuple[str, int], str]

_MODULE = re.compile(r"\s*module\s+(?!procedure\b)([a-z]\w*)\s*(?:!.*)?$", re.IGNORECASE)
_USE = re.compile(r"\s*use\b\s*(?:,\s*[\w\s]*::)?\s*([a-z]\w*)", re.IGNORECASE)


def read_program(
    text: str,
    file: str,
    *,
    form: Form | None = None,
    include_dirs: Sequence[str | Path] = (),
    defines: Sequence[str] = (),
    defer: bool = False,
) -> Program:
    """The program that `text` spells. `file` names it in spans and gives the form if `form` does not.

    Raises:
        SourceError: as `read_files`.
    """
    return read_files([(text, file)], form=form, include_dirs=include_dirs, defines=defines, defer=defer)


def read_files(
    texts: Sequence[tuple[str, str]],
    *,
    form: Form | None = None,
    include_dirs: Sequence[str | Path] = (),
    defines: Sequence[str] = (),
    defer: bool = False,
) -> Program:
    """The program that several files spell together, each given as its text and its name.

    Included files are searched beside the file that includes them, then in `include_dirs`. `defines`: macros of cpp, as
    ``NAME`` or ``NAME=VALUE``.

    Warnings are in the answer; what could not be read is an `Opaque` statement and `Program.complete` is False.
    With `defer`, errors in names and directives are in the answer too, so that they can be reported together
    with those of the mapping; names in mapping directives are then left to the mapping altogether. A module
    that is not in the source is an error at once.

    Raises:
        SourceError: errors, with their places: all directive and naming errors of the source together, an error
            of Fortran's syntax alone.
    """
    from aag.source.names import UNKNOWN_IN_DIRECTIVE
    from aag.source.stages import read_units
    from aag.source.units import UNKNOWN_MODULE
    from aag.source.unrecognised import unrecognised

    directories = [Path(each) for each in include_dirs]
    written: dict[str, tuple[Line, ...]] = {}
    said: list[Diagnostic] = []
    parts: list[SourceFile] = []
    for text, file in texts:
        if "\0" in text:
            decode(text.encode("latin-1", "replace"), file)
        written[file] = lines_of(text, file)
        own_form, announced = (form, ()) if form else form_of(file, written[file])
        said += announced
        lines = expanded(written[file], file, directories, defines)
        parts.append(SourceFile(file=file, form=own_form, lines=lines))
    parts = _modules_first(parts)
    source = {(line.file, line.number): line.text for part in parts for line in part.lines}
    first = texts[0][1]

    def read(joined: Sequence[Joined]) -> Reading:
        return read_units(joined, source, first)

    try:
        found, fixed = read_in(parts, read)
    except SourceError as error:
        findings = [_with_line(each, source) for each in error.diagnostics]
        findings[-1] = _with_form(findings[-1], parts)
        raise SourceError(findings) from error.__cause__
    except RecursionError as error:
        raise SourceError([_too_deep(first)]) from error
    parts = [replace(part, form=fixed) if part.form == "fixed" else part for part in parts]
    diagnostics = [_with_line(each, source) for each in (*said, *found.diagnostics)]
    unrecognised_names: dict[str, int] = {}
    for part in parts:
        comments, names = unrecognised(part.lines, part.form)
        diagnostics += comments
        unrecognised_names |= names
    codes = {each.code for each in diagnostics if each.is_error}
    if UNKNOWN_MODULE in codes or (codes and not defer):
        raise SourceError(diagnostics)
    if defer:
        diagnostics = [each for each in diagnostics if each.code != UNKNOWN_IN_DIRECTIVE]
    main = next((each for each in parts if _holds_main(each, found.units)), parts[0])
    return Program(
        file=main.file,
        lines=tuple(line.text for line in written[main.file]),
        others=_others(parts, main.file),
        units=found.units,
        diagnostics=tuple(diagnostics),
        complete=found.complete,
        form=main.form,
        sources=tuple(parts),
        unrecognised=unrecognised_names,
        concurrent=found.concurrent,
    )


def _others(parts: Sequence[SourceFile], main: str) -> dict[str, dict[int, str]]:
    """The lines of all files but the main one, by file and number."""
    found: dict[str, dict[int, str]] = {}
    for part in parts:
        for line in part.lines:
            if line.file != main:
                found.setdefault(line.file, {})[line.number] = line.text
    return found


def _modules_first(parts: Sequence[SourceFile]) -> list[SourceFile]:
    """The files, each after those whose modules it uses; otherwise in the given order."""
    if len(parts) == 1:
        return list(parts)
    homes = {match[1].lower(): part for part in parts for line in part.lines if (match := _MODULE.match(line.text))}
    found: list[SourceFile] = []
    begun: set[str] = set()

    def take(part: SourceFile) -> None:
        if part.file in begun:
            return
        begun.add(part.file)
        for line in part.lines:
            used = _USE.match(line.text)
            if used and (home := homes.get(used[1].lower())) is not None:
                take(home)
        found.append(part)

    for part in parts:
        take(part)
    return found


def _holds_main(part: SourceFile, units: Sequence[Unit]) -> bool:
    mains = {(unit.span.file, unit.span.line) for unit in units if unit.kind == "program"}
    return any((line.file, line.number) in mains for line in part.lines)


def _with_form(finding: Diagnostic, parts: Sequence[SourceFile]) -> Diagnostic:
    """A finding about a source that looks as if it were in the other form says so."""
    part = next((each for each in parts if each.file == finding.span.file), parts[0])
    other: Form = "fixed" if part.form == "free" else "free"
    if "‹form" in finding.hint or not looks_like(other, part.lines):
        return finding
    hint = f"the source looks like {other} form; if it is, use ‹form {other}›"
    return replace(finding, hint=f"{finding.hint}; {hint}" if finding.hint else hint)


def _with_line(finding: Diagnostic, source: Source) -> Diagnostic:
    if finding.source_line:
        return finding
    return replace(finding, source_line=source.get((finding.span.file, finding.span.line), ""))


def _too_deep(file: str) -> Diagnostic:
    return Diagnostic(
        code="E113",
        message="the program is nested too deeply to be read",
        span=Span(file, 0),
        hint="split its longest expressions into several statements",
    )
