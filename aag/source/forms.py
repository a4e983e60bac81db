"""Which form a source is in, and in fixed form, how many columns of a line count.

Extensions decide where they can. Else the text does: lines that mean something in one form only. Text beyond column 72
is a sequence number, a remark, or a statement that was written for compilers with an option for longer lines; it is
read both ways, and what makes a program is taken.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from aag.diagnostics import Diagnostic, SourceError, Span
from aag.ir.units import Concurrent, Form, Line, SourceFile, Unit
from aag.source.joining import COLUMNS, Joined, join, lines_beyond

_FREE = frozenset({".f90", ".f95", ".f03", ".f08"})
_FIXED = frozenset({".f", ".for", ".ftn", ".f77"})
_INCLUDED = frozenset({".inc", ".h", ".fi", ".fh", ".cmn", ".com", ".blk", ".par"})

_LOOKS_LIKE = {
    "fixed": re.compile(r"[cC*]([hH][pP][fF]\$|\s|$)(?!\s*=)|     [&+$1-9]\s*\S"),
    "free": re.compile(r"\s*[^!\s].*&\s*(!.*)?$|[a-bd-z]\w*\s|\s{1,5}[a-z]\w*\s", re.IGNORECASE),
}
"""Lines that mean what they say in this source form alone."""
_COMMENT = re.compile(r"\s*(!|$)")
_SEQUENCE = re.compile(r"\s*[a-z]{0,6}\s*\d{1,8}\s*", re.IGNORECASE)
"""The number of a card, with the name of its deck."""

_OTHERS = {
    **dict.fromkeys((".c", ".cl"), "C"),
    **dict.fromkeys((".cc", ".cpp", ".cxx", ".c++", ".hpp"), "C++"),
    ".cu": "CUDA",
    ".java": "Java",
    ".jl": "Julia",
    ".m": "MATLAB",
    ".py": "Python",
    ".rs": "Rust",
    ".sh": "a shell script",
    ".ipynb": "a Jupyter notebook",
    **dict.fromkeys((".md", ".markdown"), "Markdown"),
    ".rst": "reStructuredText",
    ".tex": "LaTeX",
    **dict.fromkeys((".html", ".htm"), "HTML"),
    ".json": "JSON",
    ".toml": "TOML",
    ".csv": "a table (CSV)",
}
"""Extensions of other languages, and of texts that are no programs."""
_OF_C = re.compile(r"\s*#\s*include\s*<(\w+)(\.h)?>|\s*(int|void)\s+main\s*\(")
_HEADERS = frozenset(
    "assert cmath cstdio ctype errno iostream limits math stddef stdint stdio stdlib string time".split()
)


class Reading(Struct, frozen=True):
    """What the statements of a source say. `complete`: all of them could be read."""

    units: tuple[Unit, ...]
    diagnostics: list[Diagnostic]
    complete: bool
    concurrent: tuple[Concurrent, ...] = ()


"""Units, what was found on the way, and whether everything could be read."""


def is_quoted(file: str) -> bool:
    """Whether findings show lines of a file: its name says that it is Fortran, or it is a text or an option. So a file
    that is named by mistake, or by the INCLUDE of a program from somewhere else, is not shown to anybody."""
    return not file or file.startswith(("<", "‹")) or Path(file).suffix.lower() in _FREE | _FIXED | _INCLUDED | {".hpf"}


def form_of(file: str, lines: Sequence[Line] = ()) -> tuple[Form, tuple[Diagnostic, ...]]:
    """The source form: as the extension says, else as the text looks, which is announced where it is fixed form;
    free where neither says anything and the name is of HPF, of a text, or of standard input. An extension of free form
    does not count where all lines that tell are in fixed form.

    Raises:
        SourceError: nothing says anything, or the source is of another language.
    """
    suffix = Path(file).suffix.lower()
    _refuse_other_languages(file, suffix, lines)
    if suffix in _FIXED:
        return "fixed", ()
    looks = {form: [line for line in lines if _looks_like(form, line)] for form in _LOOKS_LIKE}
    if looks["fixed"] and not looks["free"]:
        return "fixed", (_announced(looks["fixed"][0], suffix if suffix in _FREE else ""),)
    if looks["free"] or suffix in (*_FREE, ".hpf") or (not suffix and not Path(file).is_file()):
        return "free", ()
    raise SourceError(
        [
            Diagnostic(
                code="E103",
                message=f"neither the extension {suffix} nor the text shows whether this is free or fixed form"
                if suffix
                else "neither the name nor the text shows whether this is Fortran, or its source form",
                span=Span(file, 1),
                hint="choose ‹form free› or ‹form fixed›",
            )
        ]
    )


def _refuse_other_languages(file: str, suffix: str, lines: Sequence[Line]) -> None:
    if suffix in (".yaml", ".yml"):
        message = "this is not a program but a YAML file, such as a machine"
        hint = "give the program first, and a machine as ‹system›"
        raise SourceError([Diagnostic(code="E103", message=message, span=Span(file, 1), hint=hint)])
    language = _OTHERS.get(suffix, "")
    found = next((line for line in lines if _is_c(line.text)), None)
    if found is not None and not language:
        language = "C"
    if language:
        span = Span(file, 1) if found is None else Span(file, found.number, 1, found.number, len(found.text) + 1)
        hint = "give the Fortran source with HPF directives (.hpf .f90 .f)"
        message = f"this is {language}, not Fortran"
        shown = "" if found is None else found.text
        raise SourceError([Diagnostic(code="E103", message=message, span=span, hint=hint, source_line=shown)])


def _is_c(text: str) -> bool:
    """Whether a line is one of C: headers of its library, or its main program."""
    match = _OF_C.match(text)
    return match is not None and (match.group(3) is not None or match.group(1) in _HEADERS)


def looks_like(form: Form, lines: Iterable[Line]) -> bool:
    """Whether a line means what it says in this form alone."""
    return any(_looks_like(form, line) for line in lines)


def _looks_like(form: str, line: Line) -> bool:
    if _COMMENT.match(line.text) or (form == "free" and _LOOKS_LIKE["fixed"].match(line.text)):
        return False
    return _LOOKS_LIKE[form].match(line.text) is not None


def _announced(line: Line, suffix: str) -> Diagnostic:
    against = f", although {suffix} stands for free form" if suffix else ""
    return Diagnostic(
        code="W110",
        message=f"reading the source in fixed form, because of lines such as this one{against}",
        span=Span(line.file, line.number, 1, line.number, len(line.text) + 1),
        hint="if it is in free form, use ‹form free›",
        source_line=line.text,
    )


def read_in(parts: Sequence[SourceFile], read: Callable[[Sequence[Joined]], Reading]) -> tuple[Reading, Form]:
    """What `read` makes of the statements of a program, and the form of its files in fixed form.

    Where nothing says how wide lines are, text beyond column 72 is read as well if fewer statements are Fortran without
    it, or if it is more than numbers of cards.

    Raises:
        SourceError: from `read`, or both ways make a program.
    """
    beyond = [line for part in parts if part.form in ("fixed", "fixed72") for line in lines_beyond(part.lines)]
    undecided = any(part.form == "fixed" for part in parts)
    numbers = all(_SEQUENCE.fullmatch(line.text[COLUMNS["fixed72"] :]) for line in beyond)
    ignored = [_ignored(beyond)] if beyond else []
    try:
        narrow = read(_joined(parts, "fixed72"))
    except SourceError:
        wide = _wide(parts, read) if beyond and undecided else None
        if wide is None:
            raise
        return _with(wide, [_taken(beyond)]), "fixed132"
    if not beyond or not undecided or (numbers and _is_whole(narrow)):
        return _with(narrow, ignored), "fixed72"
    wide = _wide(parts, read)
    if wide is None or _unread(narrow) < _unread(wide) or (_unread(narrow) == _unread(wide) != 0):
        return _with(narrow, ignored), "fixed72"
    if _is_whole(narrow):
        raise SourceError([_both(beyond[0])])
    return _with(wide, [_taken(beyond)]), "fixed132"


def _joined(parts: Sequence[SourceFile], fixed: Form) -> list[Joined]:
    return [join(part.lines, fixed if part.form == "fixed" else part.form) for part in parts]


def _wide(parts: Sequence[SourceFile], read: Callable[[Sequence[Joined]], Reading]) -> Reading | None:
    """The program with all 132 columns; None where nothing can be made of it."""
    try:
        return read(_joined(parts, "fixed132"))
    except SourceError:
        return None


def _unread(found: Reading) -> int:
    """How much of a program could not be read; nothing of a whole one."""
    return 0 if _is_whole(found) else max(1, sum(each.is_error or each.code == "W101" for each in found.diagnostics))


def _is_whole(found: Reading) -> bool:
    return found.complete and not any(each.is_error for each in found.diagnostics)


def _with(found: Reading, more: list[Diagnostic]) -> Reading:
    return replace(found, diagnostics=[*more, *found.diagnostics])


def _ignored(beyond: Sequence[Line]) -> Diagnostic:
    first = beyond[0]
    count = f"{len(beyond)} lines have" if len(beyond) > 1 else "this line has"
    return Diagnostic(
        code="W106",
        message=f"{count} text beyond column 72, which fixed form ignores",
        span=_beyond(first),
        hint="if it belongs to the program, continue the line or use ‹form fixed132›",
        source_line=first.text,
    )


def _taken(meant: Sequence[Line]) -> Diagnostic:
    return Diagnostic(
        code="W111",
        message="reading lines up to column 132: without the text beyond column 72 the program is invalid",
        span=_beyond(meant[0]),
        hint="if the text is a remark, use ‹form fixed72›",
        source_line=meant[0].text,
    )


def _both(line: Line) -> Diagnostic:
    return Diagnostic(
        code="E108",
        message="the program is valid with and without the text beyond column 72, but differs",
        span=_beyond(line),
        hint="use ‹form fixed132› if it belongs to the program, ‹form fixed72› if not",
        source_line=line.text,
    )


def _beyond(line: Line) -> Span:
    return Span(line.file, line.number, COLUMNS["fixed72"] + 1, line.number, len(line.text) + 1)
