"""The whole road from text to `Program`. The parser is imported with the first text."""

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from aag.budget import CHARACTERS, LINES
from aag.diagnostics import Diagnostic, SourceError, Span
from aag.ir.units import Form, Program
from aag.source import preprocess
from aag.source.files import decode, expand_includes, is_preprocessed, lines_of
from aag.source.forms import Reading, form_of, looks_like, read_in
from aag.source.joining import Joined, Line

Source = dict[tuple[str, int], str]


def read_program(
    text: str, file: str, *, form: Form | None = None, include_dirs: Sequence[str | Path] = (), defer: bool = False
) -> Program:
    """The program that `text` spells. `file` names it in spans and gives the form if `form` does not.

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

    if "\0" in text:
        decode(text.encode("latin-1", "replace"), file)
    directories = [Path(each) for each in include_dirs]
    physical = lines_of(text, file)
    form, said = (form, ()) if form else form_of(file, physical)
    lines = physical
    if is_preprocessed(file):
        lines = _affordable(preprocess.preprocessed(text, file, directories), physical)
    lines = expand_includes(lines, directories)
    source = {(line.file, line.number): line.text for line in lines}

    def read(joined: Joined) -> Reading:
        return read_units(joined, source, file)

    try:
        (units, diagnostics, complete), read_form = read_in(lines, form, read)
    except SourceError as error:
        found = [_with_line(each, source) for each in error.diagnostics]
        found[-1] = _with_form(found[-1], form, lines)
        raise SourceError(found) from error.__cause__
    except RecursionError as error:
        raise SourceError([_too_deep(file)]) from error
    comments, unrecognised_names = unrecognised(lines, read_form)
    diagnostics = [*(_with_line(each, source) for each in (*said, *diagnostics)), *comments]
    codes = {each.code for each in diagnostics if each.is_error}
    if UNKNOWN_MODULE in codes or (codes and not defer):
        raise SourceError(diagnostics)
    if defer:
        diagnostics = [each for each in diagnostics if each.code != UNKNOWN_IN_DIRECTIVE]
    return Program(
        file=file,
        lines=tuple(line.text for line in physical),
        units=units,
        diagnostics=tuple(diagnostics),
        complete=complete,
        form=read_form,
        unrecognised=unrecognised_names,
    )


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


def _with_form(finding: Diagnostic, form: Form, lines: Sequence[Line]) -> Diagnostic:
    """A finding about a source that looks as if it were in the other form says so."""
    other: Form = "fixed" if form == "free" else "free"
    if "‹form" in finding.hint or not looks_like(other, lines):
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
