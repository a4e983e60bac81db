"""Physical lines to statements and directive texts.

Continuations are joined, comments dropped, several statements of one line split; each character of the joined
text still knows its file, line and column. A directive is found by its sentinel and remembers the statement
that follows it: where a parser would hang it into its tree does not matter.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field

from aag.diagnostics import Diagnostic, Span
from aag.ir.units import Form, Line
from aag.source.keywords import FIRST_WORDS

COLUMNS: Mapping[Form, int] = {"fixed72": 72, "fixed132": 132}
"""How much of a line counts in fixed form."""

_SENTINEL = re.compile(r"^[!cC*][hH][pP][fF]\$")
_FREE_SENTINEL = re.compile(r"^\s*![hH][pP][fF]\$")
_FIRST_WORD = re.compile(rf"(?:{'|'.join(FIRST_WORDS)})\b", re.IGNORECASE)
_PLAIN = re.compile(r"^[^'\"!&;]*$")
_QUOTED_OR_MARK = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|['\"!&;]")


class Text(Struct, frozen=True):
    """Joined text. `pieces` are (offset, file, line, column) of the first character of each stretch."""

    text: str
    pieces: tuple[tuple[int, str, int, int], ...]

    def place(self, offset: int) -> tuple[str, int, int]:
        """File, line and column of the character at `offset`."""
        start, file, line, column = self.pieces[max(0, bisect_right(self.pieces, offset, key=lambda p: p[0]) - 1)]
        return file, line, column + offset - start

    def span(self, start: int = 0, end: int | None = None) -> Span:
        """The span of ``text[start:end]``; its end column is the one behind the last character."""
        file, line, column = self.place(start)
        last = max(start, (len(self.text) if end is None else end) - 1)
        _, end_line, end_column = self.place(last)
        return Span(file, line, column, end_line, end_column + 1)


class Statement(Struct, frozen=True):
    """One Fortran statement without its label."""

    text: Text
    label: str = ""
    fixed: bool = False
    """Whether it is in fixed form."""

    @property
    def span(self) -> Span:
        """From the first to the last character."""
        return self.text.span()


class DirectiveText(Struct, frozen=True):
    """The text of one directive after its sentinel; `before` is the index of the statement that follows
    it."""

    text: Text
    before: int


class Joined(Struct, frozen=True):
    """What the lines of a source say, in order."""

    statements: tuple[Statement, ...]
    directives: tuple[DirectiveText, ...]
    diagnostics: tuple[Diagnostic, ...]
    free: bool = False
    """Whether blanks end names and numbers."""


class _Building:
    """Text under construction."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.pieces: list[tuple[int, str, int, int]] = []
        self.length = 0

    def add(self, text: str, line: Line, column: int) -> None:
        self.pieces.append((self.length, line.file, line.number, column))
        self.parts.append(text.replace("\t", " "))  # the parser would make several blanks of it
        self.length += len(text)

    def text(self) -> Text:
        joined = "".join(self.parts)
        lead = len(joined) - len(joined.lstrip())
        if not lead:
            return Text(joined.rstrip(), tuple(self.pieces))
        whole = Text(joined, tuple(self.pieces))
        first = (0, *whole.place(lead))
        rest = tuple((at - lead, *where) for at, *where in self.pieces if at > lead)
        return Text(joined.strip(), (first, *rest))  # type: ignore[arg-type]  # the starred rest has no fixed length


class _Joiner(Struct):
    """The state that both source forms share."""

    fixed: bool = False
    statements: list[Statement] = field(default_factory=list)
    directives: list[DirectiveText] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    directive: _Building | None = None
    directive_continues: bool = False

    def add_directive(self, body: str, line: Line, column: int, *, continues: bool, continued: bool) -> None:
        """One directive line; `continues` an earlier one, and is `continued` on the next."""
        if not (self.directive and (continues or self.directive_continues)):
            self.end_directive()
            self.directive = _Building()
        self.directive.add(body if not self.directive.parts else " " + body, line, column - bool(self.directive.parts))
        self.directive_continues = continued

    def end_directive(self) -> None:
        if self.directive is not None:
            text = self.directive.text()
            if text.text:
                self.directives.append(DirectiveText(text, len(self.statements)))
        self.directive = None
        self.directive_continues = False

    def add_statement(self, building: _Building, label: str = "") -> None:
        text = building.text()
        if text.text:
            self.statements.append(Statement(text, label, self.fixed))

    def add_split(self, building: _Building, label: str) -> None:
        """The statements of a text that may hold several, separated by semicolons."""
        text = building.text()
        if ";" not in text.text:
            self.add_statement(building, label)
            return
        start = 0
        cuts = [m.start() for m in _QUOTED_OR_MARK.finditer(text.text) if m.group() == ";"]
        for cut in [*cuts, len(text.text)]:
            part = _slice(text, start, cut)
            if part.text:
                self.statements.append(Statement(part, label, self.fixed))
                label = ""
            start = cut + 1

    def trailing(self, line: Line, at: int) -> None:
        """A comment after code: a directive does not belong there."""
        if _SENTINEL.match(line.text[at:]):
            self.diagnostics.append(
                Diagnostic(
                    code="W103",
                    message="an HPF directive after a statement on the same line is a comment",
                    span=Span(line.file, line.number, at + 1, line.number, len(line.text) + 1),
                    hint="put the directive on a line of its own",
                    source_line=line.text,
                )
            )

    def misplaced(self, line: Line) -> None:
        """A statement that begins in the label field: one error for all of them."""
        if not any(each.is_error for each in self.diagnostics):
            self.diagnostics.append(
                Diagnostic(
                    code="E109",
                    message=f"columns 1 to 5 of fixed form are for labels, but hold {line.text[:5].strip()}",
                    span=Span(line.file, line.number, 1, line.number, 6),
                    hint="begin the statement in column 7",
                    source_line=line.text,
                )
            )

    def done(self, *, free: bool) -> Joined:
        self.end_directive()
        return Joined(tuple(self.statements), tuple(self.directives), tuple(self.diagnostics), free)


def _slice(text: Text, start: int, end: int) -> Text:
    part = text.text[start:end]
    lead = len(part) - len(part.lstrip())
    start += lead
    pieces = [(0, *text.place(start))] if part.strip() else [text.pieces[0]]
    pieces += [(at - start, *where) for at, *where in text.pieces if start < at < end]  # type: ignore[misc]  # as above
    return Text(part.strip(), tuple(pieces))


def join(lines: Iterable[Line], form: Form) -> Joined:
    """The statements and directives of `lines`, which are in `form`; ``fixed`` alone does not say how wide they are."""
    return _join_free(lines) if form == "free" else _join_fixed(lines, COLUMNS[form])


def combined(parts: Sequence[Joined]) -> tuple[tuple[Statement, ...], tuple[DirectiveText, ...]]:
    """The statements and directives of several files, one behind the other."""
    statements: list[Statement] = []
    directives: list[DirectiveText] = []
    for part in parts:
        directives += [DirectiveText(each.text, len(statements) + each.before) for each in part.directives]
        statements += part.statements
    return tuple(statements), tuple(directives)


def _comment_start(text: str) -> int:
    """Where a comment begins in the text of a directive or statement, or its length."""
    for mark in _QUOTED_OR_MARK.finditer(text):
        if mark.group() == "!":
            return mark.start()
    return len(text)


# --- free form ---


def _join_free(lines: Iterable[Line]) -> Joined:
    joiner = _Joiner()
    open_statement: _Building | None = None
    label = ""
    quote = ""
    for line in lines:
        text = line.text
        if "$" in text and _FREE_SENTINEL.match(text):
            _free_directive(joiner, line)
            continue
        stripped = text.lstrip()
        if not stripped or stripped[0] == "!" or stripped[0] == "#":
            continue
        joiner.end_directive()
        start = len(text) - len(stripped)
        if open_statement is None:
            open_statement = _Building()
            label = ""
            if stripped[0].isdigit():
                digits = re.match(r"\d{1,5}(?=\s)", stripped)
                if digits:
                    label = digits.group().lstrip("0") or "0"
                    start += digits.end()
        elif stripped[0] == "&":
            start += 1
        body = text[start:]
        if not quote and _PLAIN.match(body):
            open_statement.add(body, line, start + 1)
            joiner.add_statement(open_statement, label)
            open_statement = None
            continue
        end, continued, quote = _scan_free(joiner, line, start, quote)
        open_statement.add(text[start:end], line, start + 1)
        if not continued:
            joiner.add_split(open_statement, label)
            open_statement = None
            quote = ""
    if open_statement is not None:
        joiner.add_split(open_statement, label)
    return joiner.done(free=True)


def _scan_free(joiner: _Joiner, line: Line, start: int, quote: str) -> tuple[int, bool, str]:
    """Where the code of the line ends, whether it is continued, and the quote that is still open."""
    text = line.text
    at = start
    while at < len(text):
        char = text[at]
        if quote:
            if char == quote:
                quote = ""
            elif char == "&" and not text[at + 1 :].strip():
                return at, True, quote
        elif char in "'\"":
            quote = char
        elif char == "!":
            joiner.trailing(line, at)
            return at, False, ""
        elif char == "&":
            rest = text[at + 1 :].lstrip()
            if rest.startswith("!"):
                joiner.trailing(line, at + 1 + text[at + 1 :].index("!"))
            if not rest or rest.startswith("!"):
                return at, True, ""
        at += 1
    return len(text), False, ""


def _free_directive(joiner: _Joiner, line: Line) -> None:
    at = line.text.index("$") + 1
    body = line.text[at:]
    end = _comment_start(body)
    continues = body.lstrip().startswith("&")
    if continues:
        lead = body.index("&") + 1
        at, body, end = at + lead, body[lead:], end - lead
    body = body[:end].rstrip()
    continued = body.endswith("&")
    body = body[:-1] if continued else body
    joiner.add_directive(body, line, at + 1, continues=continues, continued=continued)


# --- fixed form ---


def _join_fixed(lines: Iterable[Line], columns: int) -> Joined:
    joiner = _Joiner(fixed=True)
    open_statement: _Building | None = None
    label = ""
    for raw in lines:
        line = _without_tabs(raw)
        text = line.text[:columns]
        if _is_directive(text):
            if open_statement is not None:
                joiner.add_split(open_statement, label)
                open_statement = None
            _fixed_directive(joiner, line, columns)
            continue
        if _is_blank(text):
            continue
        joiner.end_directive()
        end = _fixed_comment(text)
        if end < len(text):
            joiner.trailing(line, end)
        if _continues(text) and open_statement is not None:
            open_statement.add(text[6:end].ljust(0), line, 7)
            continue
        if open_statement is not None:
            joiner.add_split(open_statement, label)
        label = text[:5].strip().lstrip("0")
        open_statement = _Building()
        if label and not label.isdigit():
            joiner.misplaced(line)
            label = ""
        open_statement.add(text[6:end], line, 7)
    if open_statement is not None:
        joiner.add_split(open_statement, label)
    return joiner.done(free=False)


def lines_beyond(lines: Iterable[Line]) -> list[Line]:
    """Lines of fixed form with text beyond column 72 that is no comment."""
    last = COLUMNS["fixed72"]
    found = []
    for raw in lines:
        line = raw if len(raw.text) <= last and "\t" not in raw.text[:6] else _without_tabs(raw)
        text = line.text[:last]
        if line.text[last:].strip() and (_is_directive(text) or not _is_blank(text)):
            start = 6 if _is_directive(text) else 0
            if line.text[last : start + _fixed_comment(line.text[start:])].strip():
                found.append(line)
    return found


def first_fixed_line(lines: Sequence[str], number: int) -> int:
    """Number (from 1) of the first line of the statement that a line continues; its own where it continues none."""
    at = number
    while at > 1 and _continues(_without_tabs(Line("", at, lines[at - 1])).text):
        at -= 1
        while at > 1 and _is_blank(lines[at - 1]):
            at -= 1
    return number if _is_blank(lines[at - 1]) else at


def _is_directive(text: str) -> bool:
    return "$" in text and bool(_SENTINEL.match(text) or _FREE_SENTINEL.match(text))


def _is_blank(text: str) -> bool:
    """Whether a line of fixed form is a comment (or a directive, or for a debugger: D in column 1) or holds nothing."""
    if not text.strip() or text[0] in "cC*!#" or text.lstrip()[0] == "!":
        return True
    return text[0] in "dD" and not text[1:5].strip() and len(text) > 5


def _continues(text: str) -> bool:
    """Whether a line without tabs goes on with the statement above."""
    return not _is_blank(text) and len(text) > 5 and text[5] not in " 0" and not text[:5].strip()


def _without_tabs(line: Line) -> Line:
    """A tab in the first six columns moves to column 7, or to column 6 where a continuation digit follows."""
    if "\t" not in line.text[:6]:
        return line
    head, _, rest = line.text.partition("\t")
    width = 5 if rest[:1] in "123456789" and rest[:1] else 6
    return Line(line.file, line.number, head.ljust(width) + rest)


def _fixed_comment(text: str) -> int:
    """Where a ``!`` outside of quotes starts a comment (column 6 excepted), or the length of the text."""
    if "!" not in text:
        return len(text)
    marks = (mark.start() for mark in _QUOTED_OR_MARK.finditer(text) if mark.group() == "!" and mark.start() != 5)
    return next(marks, len(text))


def _fixed_directive(joiner: _Joiner, line: Line, columns: int) -> None:
    at = line.text.index("$") + 1
    text = line.text[:columns]
    body = text[at:]
    mark = body[:1]
    # Column 6 of an open directive continues it, unless its first word begins there.
    marked = bool(mark.strip()) and mark not in ("0", "!") and joiner.directive is not None
    continues = mark == "&" or (marked and _FIRST_WORD.match(body) is None)
    if continues or mark == "0":
        at += 1
        body = body[1:]
    body = body[: _comment_start(body)].rstrip()
    continued = body.endswith("&")
    body = body[:-1] if continued else body
    joiner.add_directive(body, line, at + 1, continues=continues, continued=continued)
