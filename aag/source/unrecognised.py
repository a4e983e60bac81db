"""Comments that look like directives with a wrong sentinel: ``!HFP$ DISTRIBUTE ...``, ``! HPF$ ALIGN ...``.

A comment is reported where what it begins with is one edit, or blanks, away from ``HPF$``, or is ``$HPF``, and the
rest is a directive by the grammar. Sentinels of others (``!DIR$``, ``!OMP$``, ``!ADP$``) are further away; prose is no
directive.
"""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from aag.diagnostics import Diagnostic, Span
from aag.ir.directives import Processors, Template
from aag.ir.nearest import edits
from aag.ir.units import Form, Line
from aag.source.directives import Read, read_directive
from aag.source.joining import join

CODE = "W108"
"""The code of the warning."""

_SENTINEL = "HPF$"
_FREE_MARK = re.compile(r"\s*!")
_FIXED_MARK = re.compile(r"[cC*!]|\s*!")
_BLANKS = re.compile(r"\s*h\s*p\s*f\s*\$", re.IGNORECASE)
_SWAPPED = re.compile(r"\s*\$\s*hpf\b\$?", re.IGNORECASE)
_WORD = re.compile(r"[a-z]\w*")


class _Line(Struct, frozen=True):
    """A line with its sentinel put right; `near`: it has another one in the source."""

    line: Line
    near: bool
    bare: bool = False
    """The sentinel in the source has no ``$``."""


def unrecognised(lines: Sequence[Line], form: Form) -> tuple[tuple[Diagnostic, ...], dict[str, int]]:
    """A warning for each such comment, and the lines of those that would declare templates or arrangements."""
    if not any(_mark(form).match(line.text) and _near(line, form).near for line in lines):
        return (), {}
    texts = {(line.file, line.number): line.text for line in lines}
    found: list[Diagnostic] = []
    declared: dict[str, int] = {}
    for run in _runs(lines, form):
        wrong = {(each.line.file, each.line.number): each for each in run if each.near}
        for text in join([each.line for each in run], form).directives if wrong else ():
            at = next(((file, line) for _, file, line, _ in text.text.pieces if (file, line) in wrong), None)
            read = read_directive(text, {})
            if at is None or not _is_directive(read) or (wrong[at].bare and _could_be_prose(text.text.text)):
                continue
            found.append(_warning(at, texts[at]))
            for each in read.mapping:
                if isinstance(each, Template | Processors):
                    declared.setdefault(each.name, at[1])
    return tuple(found), declared


def _mark(form: Form) -> re.Pattern[str]:
    return _FREE_MARK if form == "free" else _FIXED_MARK


def _runs(lines: Sequence[Line], form: Form) -> Iterator[list[_Line]]:
    """Neighbouring lines that are directives or nearly are: a directive and its continuation."""
    run: list[_Line] = []
    for line in lines:
        here = _near(line, form)
        if here.near or join([line], form).directives:
            run.append(here)
        elif run:
            yield run
            run = []
    if run:
        yield run


def _near(line: Line, form: Form) -> _Line:
    mark = _mark(form).match(line.text)
    if mark is None:
        return _Line(line, near=False)
    body = line.text[mark.end() :]
    if body.startswith("!"):  # a directive is switched off so
        return _Line(line, near=False)
    blanks = _BLANKS.match(body)
    if blanks is not None:
        if blanks.group().upper() == _SENTINEL:
            return _Line(line, near=False)
        return _corrected(line, body[blanks.end() :], bare=False)
    swapped = _SWAPPED.match(body)
    if swapped is not None:
        return _corrected(line, body[swapped.end() :], bare=False)
    for length in (5, 4, 3):
        head, rest = body[:length], body[length:]
        bare = "$" not in head
        if len(head.strip()) == length and not (bare and rest[:1].isalnum()) and edits(head.upper(), _SENTINEL) <= 1:
            return _corrected(line, rest, bare=bare)
    return _Line(line, near=False)


def _corrected(line: Line, rest: str, *, bare: bool) -> _Line:
    """The line with the sentinel that is meant, its rest at the same columns where there is room."""
    lead = max(0, len(line.text) - len(rest) - len(_SENTINEL) - 1)
    return _Line(Line(line.file, line.number, f"{' ' * lead}!{_SENTINEL}{rest}"), near=True, bare=bare)


def _is_directive(read: Read) -> bool:
    return not read.diagnostics and bool(read.mapping or read.remaps or read.independent is not None)


def _could_be_prose(text: str) -> bool:
    """Whether a text is nothing but words, as in "HPF dynamic arrays"."""
    first, *others = text.lower().split()
    return bool(others) and first not in ("align", "realign") and all(map(_WORD.fullmatch, others))


def _warning(at: tuple[str, int], text: str) -> Diagnostic:
    file, line = at
    start = len(text) - len(text.lstrip())
    return Diagnostic(
        code=CODE,
        message="this comment reads as a directive, but does not begin with !HPF$, so it has no effect",
        span=Span(file, line, start + 1, line, len(text) + 1),
        hint="write !HPF$ if it is one",
        source_line=text,
    )
