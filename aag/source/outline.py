"""Statements to rows: one row of plain free form for each statement, with the block structure checked on the
way.

The parser sees only rows. A labelled DO becomes DO ... END DO; REALIGN and REDISTRIBUTE, statements that
cannot be read and constructs that are not modelled are rows with a call that stands for them, so that they
come back out of the tree at their place. Row i is line i + 1 of the text that is parsed.
"""

import re

from msgspec import Struct, field
from msgspec.structs import replace

from aag.diagnostics import Diagnostic, SourceError, Span
from aag.ir.directives import Align, Distribute, Independent
from aag.source.classify import EXTRINSIC, Class, Kind, classify
from aag.source.concurrent import Head, is_concurrent, without_head
from aag.source.directives import Read
from aag.source.joining import Statement
from aag.source.old_forms import modern

MARK = "esp_stands_for_"
"""Beginning of the names of the calls that stand for something else."""

_PACKED_TYPE = re.compile(r"^([a-z]+\s*\*\s*\d+)(?=[a-z])", re.IGNORECASE)  # fixed form may write REAL*8A(10)
_COUNTED = re.compile(r"\bdo\b\s*\d*\s*,?\s*[a-z_]\w*\s*=|\bdo\d+[a-z_]\w*\s*=", re.IGNORECASE)
_DELETED = (
    (re.compile(r"assign\s*\d+\s*to\b", re.IGNORECASE), "ASSIGN"),
    (re.compile(r"go\s*to\s*[a-z]", re.IGNORECASE), "an assigned GO TO"),
    (re.compile(r"pause\b", re.IGNORECASE), "PAUSE"),
)
_LABEL = re.compile(r"0*(\d{1,5})\s+(?=\S)")
_END_NAME = re.compile(r"end\s*(?:block\s*data|(?!block\s*data)[a-z]+)\s+([a-z_]\w*)\s*$", re.IGNORECASE)
_UNIT_NAME = re.compile(r"\b(?:program|(?:sub)?module|subroutine|function|block\s*data)\s+([a-z_]\w*)", re.IGNORECASE)
_DEEPEST = 48
_NESTED_KINDS = {"do", "if", "where", "forall", "select", "block"}
_SPEC_KINDS = {"interface", "type", "enum"}


class Row(Struct, frozen=True):
    """One row: its text, its statement, and what it stands for if it is a call that stands for something."""

    text: str
    statement: Statement
    what: Class
    label: str = ""
    simple: bool = False
    remap: Align | Distribute | None = None
    opaque: str = ""
    reason: str = ""
    extrinsic: str = ""
    head: Head | None = None
    """Of DO CONCURRENT: what the text lacks."""

    @property
    def span(self) -> Span:
        """The place of the statement."""
        return self.statement.span


class Outline(Struct, frozen=True):
    """The rows of a source. `mapping` (directives) and `formats` (label to text) are keyed by the opening row
    of their program unit, `independent` by the row of the loop."""

    rows: tuple[Row, ...]
    mapping: dict[int, tuple[Read, ...]]
    independent: dict[int, Independent]
    formats: dict[int, dict[str, str]]
    diagnostics: tuple[Diagnostic, ...]


def opaque_row(row: Row, index: int, reason: str) -> Row:
    """`row`, which is row `index`, as a call that stands for what cannot be read."""
    text, label = row.statement.text.text, row.label
    digits = _LABEL.match(text)
    if digits and not label:  # in fixed form a number may stand where no label is expected
        label, text = digits.group(1), text[digits.end() :]
    return replace(row, text=f"call {MARK}{index}()", label=label, opaque=text, reason=reason, simple=False)


class _Open(Struct):
    """A block that is not closed yet."""

    kind: Kind
    row: int
    statement: Statement
    what: Class
    executable: bool = False
    contains: bool = False
    labels: dict[str, Span] = field(default_factory=dict)
    """Of a unit: its labels."""


class _Builder(Struct):
    source: dict[tuple[str, int], str]
    rows: list[Row] = field(default_factory=list)
    stack: list[_Open] = field(default_factory=list)
    mapping: dict[int, list[Read]] = field(default_factory=dict)
    independent: dict[int, Independent] = field(default_factory=dict)
    formats: dict[int, dict[str, str]] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    pending: Read | None = None
    opaque: list[str] = field(default_factory=list)


def outline(
    statements: tuple[Statement, ...], directives: tuple[Read, ...], source: dict[tuple[str, int], str]
) -> Outline:
    """Rows for `statements`.

    Raises:
        SourceError: blocks that are not closed, closed twice or interleaved.
    """
    builder = _Builder(source)
    queue = list(directives)
    queue.reverse()
    for index, statement in enumerate(statements):
        while queue and queue[-1].text.before <= index:
            _directive(builder, queue.pop(), statement)
        _statement(builder, statement)
    while queue:
        read = queue.pop()
        _misplaced(builder, read.span, "this directive is behind the end of the program")
    if builder.stack:
        _unclosed(builder, statements[-1])
    mapping = {row: tuple(reads) for row, reads in builder.mapping.items()}
    return Outline(tuple(builder.rows), mapping, builder.independent, builder.formats, tuple(builder.diagnostics))


# --- directives ---


def _directive(builder: _Builder, read: Read, following: Statement) -> None:
    if read.independent is not None:
        if builder.pending is not None:
            _without_loop(builder, builder.pending)
        builder.pending = read
        return
    if not builder.stack and classify(following.text.text).kind != "unit":
        _open_main(builder, following)
    if read.remaps:
        inside = builder.stack[-1].kind if builder.stack else "unit"
        if inside in ("where", "forall", "interface", "type", "select"):
            _misplaced(builder, read.span, f"REALIGN and REDISTRIBUTE are not allowed inside {inside.upper()}")
            return
        for remap in read.remaps:
            text = Statement(read.text.text)
            _mark_executable(builder)
            builder.rows.append(Row(f"call {MARK}{len(builder.rows)}()", text, Class("exec", "call"), remap=remap))
    if read.mapping and not builder.opaque:  # else it maps what the construct declares, which is left out as a whole
        unit = next((each for each in reversed(builder.stack) if each.kind == "unit"), None)
        if unit is None or unit.contains:
            _misplaced(builder, read.span, "a mapping directive must be inside a program unit")
            return
        builder.mapping.setdefault(unit.row, []).append(read)


def _misplaced(builder: _Builder, span: Span, message: str) -> None:
    builder.diagnostics.append(
        Diagnostic(
            code="E142",
            message=message,
            span=span,
            hint="move the directive",
            source_line=builder.source.get((span.file, span.line), ""),
        )
    )


def _without_loop(builder: _Builder, read: Read) -> None:
    span = read.span
    builder.diagnostics.append(
        Diagnostic(
            code="W104",
            message="INDEPENDENT has no effect: no DO or FORALL follows it",
            span=span,
            hint="put it directly before the loop",
            source_line=builder.source.get((span.file, span.line), ""),
        )
    )


# --- statements ---


def _statement(builder: _Builder, statement: Statement) -> None:
    text = statement.text.text
    what = classify(text)
    if not builder.stack and what.kind != "unit":
        _open_main(builder, statement)
    if builder.pending is not None:
        if _is_indexed_loop(what, text):
            if builder.pending.independent is not None:
                builder.independent[len(builder.rows)] = builder.pending.independent
        else:
            _without_loop(builder, builder.pending)
        builder.pending = None
    if statement.label:
        _note_label(builder, statement)
    match what.kind:
        case "unit":
            _open_unit(builder, statement, what)
        case "contains":
            _contains(builder, statement, what)
        case "end":
            _close(builder, statement, what)
        case "do" | "if" | "where" | "forall" | "select" | "block" | "interface" | "type" | "enum":
            _open(builder, statement, what)
        case "else" | "case":
            _separator(builder, statement, what)
        case _:
            _simple(builder, statement, what)
    _close_labelled(builder, statement)


def _note_label(builder: _Builder, statement: Statement) -> None:
    unit = next((each for each in reversed(builder.stack) if each.kind == "unit"), None)
    if unit is None:
        return
    span = statement.span
    first = unit.labels.setdefault(statement.label, span)
    if first is not span:
        builder.diagnostics.append(
            Diagnostic(
                code="E117",
                message=f"the label {statement.label} is defined twice",
                span=span,
                hint=f"the first is in {first.line_from(span)}",
                source_line=builder.source.get((span.file, span.line), ""),
            )
        )


def _is_indexed_loop(what: Class, text: str) -> bool:
    """DO with an index, or FORALL: what INDEPENDENT speaks of."""
    if what.kind == "do":
        return is_concurrent(text) or (what.word == "do" and _COUNTED.search(text) is not None)
    return what.word == "forall"


def _emit(builder: _Builder, row: Row) -> None:
    if builder.opaque:
        builder.opaque.append(row.statement.text.text)
        return
    builder.rows.append(row)


def _row(statement: Statement, what: Class, *, text: str | None = None, simple: bool = False) -> Row:
    return Row(statement.text.text if text is None else text, statement, what, statement.label, simple)


def _mark_executable(builder: _Builder) -> None:
    for each in reversed(builder.stack):
        if each.kind == "unit":
            each.executable = True
            return


def _open_main(builder: _Builder, statement: Statement) -> None:
    what = Class("unit", "program")
    builder.stack.append(_Open("unit", len(builder.rows), statement, what))
    builder.rows.append(Row("program main", statement, what))


def _open_unit(builder: _Builder, statement: Statement, what: Class) -> None:
    parent = builder.stack[-1] if builder.stack else None
    if parent and not (parent.kind == "interface" or (parent.kind == "unit" and parent.contains)):
        missing = "END " + _shown(parent.what) if parent.kind != "unit" else "END or CONTAINS"
        _fail(builder, "E110", f"{missing} is missing before this {_shown(what)}", statement, parent)
    text, extrinsic = statement.text.text, ""
    found = EXTRINSIC.search(text)
    if found and what.word in ("subroutine", "function", "program", "module"):
        extrinsic = found.group(1).lower()
        text = (text[: found.start()] + text[found.end() :]).strip()
    builder.stack.append(_Open("unit", len(builder.rows), statement, what))
    _emit(builder, replace(_row(statement, what, text=text), extrinsic=extrinsic))


def _contains(builder: _Builder, statement: Statement, what: Class) -> None:
    top = builder.stack[-1]
    if top.kind not in ("unit", "type"):
        _fail(builder, "E110", f"END {_shown(top.what)} is missing before CONTAINS", statement, top)
    top.contains = True
    _emit(builder, _row(statement, what))


def _open(builder: _Builder, statement: Statement, what: Class) -> None:
    if sum(each.kind in _NESTED_KINDS for each in builder.stack) >= _DEEPEST:
        _fail(builder, "E114", f"blocks are nested more than {_DEEPEST} deep", statement, None)
    if what.kind in _NESTED_KINDS:
        _mark_executable(builder)
    if what.kind == "block" and not builder.opaque:
        builder.opaque.append(statement.text.text)
        builder.stack.append(_Open(what.kind, -1, statement, what))
        return
    builder.stack.append(_Open(what.kind, len(builder.rows), statement, what))
    text = statement.text.text
    if what.kind == "do" and what.label:
        text = _without_label(text, what)
    text, head, problem = without_head(statement.text, text) if what.kind in ("do", "forall") else (text, None, None)
    if problem is not None:
        place = (problem.span.file, problem.span.line)
        builder.diagnostics.append(replace(problem, source_line=builder.source.get(place, "")))
    _emit(builder, replace(_row(statement, what, text=text), head=head))


def _without_label(text: str, what: Class) -> str:
    """``DO 10 I = 1, N`` without its label, at the same offsets."""
    at = text.lower().index("do") + 2 if not what.name else text.lower().index("do", text.index(":")) + 2
    end = at
    while end < len(text) and (text[end].isspace() or text[end].isdigit()):
        end += 1
    if text[end : end + 1] == ",":
        end += 1
    return text[:at] + " " * max(1, end - at) + text[end:]


def _separator(builder: _Builder, statement: Statement, what: Class) -> None:
    top = builder.stack[-1]
    wanted = {"else": "if", "elseif": "if", "elsewhere": "where", "case": "select"}[what.word]
    if top.kind != wanted and not builder.opaque:
        shown = {"if": "IF", "where": "WHERE", "select": "SELECT CASE"}[wanted]
        _fail(builder, "E111", f"{_word_shown(what.word)} is outside of {shown}", statement, top)
    _emit(builder, _row(statement, what))


def _simple(builder: _Builder, statement: Statement, what: Class) -> None:
    executable = what.kind in ("exec", "goto")
    top = builder.stack[-1]
    if what.kind == "format":
        unit = next(each for each in reversed(builder.stack) if each.kind == "unit")
        text = statement.text.text
        builder.formats.setdefault(unit.row, {})[statement.label] = text[6:].strip()
        return
    if executable:
        _mark_executable(builder)
    text = statement.text.text
    if what.word == "forall":
        text, _, _ = without_head(statement.text, text)
    row = _row(statement, what, text=text, simple=executable and top.kind not in _SPEC_KINDS)
    deleted = next((name for form, name in _DELETED if form.match(statement.text.text)), "")
    if deleted and row.simple and what.word != "assignment":
        row = opaque_row(row, len(builder.rows), f"{deleted} is not modelled")
    if what.kind == "spec":
        for text in modern(_PACKED_TYPE.sub(r"\1 ", row.text)):
            _emit(builder, replace(row, text=text))
        return
    if what.word == "endfile":
        row = opaque_row(row, len(builder.rows), "ENDFILE is not modelled")
    if not what.word:
        row = replace(row, text="?")  # fparser takes a lone number for a label and drops it without a word
    _emit(builder, row)


# --- ends ---

_ENDED_BY: dict[str, tuple[str, ...]] = {
    "do": ("do",),
    "if": ("if",),
    "where": ("where",),
    "forall": ("forall",),
    "select": ("select",),
    "interface": ("interface",),
    "type": ("type",),
    "enum": ("enum",),
}


def _close(builder: _Builder, statement: Statement, what: Class) -> None:
    top = builder.stack[-1]
    allowed = _ENDED_BY.get(top.kind)
    if allowed is None:
        word = top.what.word.removeprefix("select") if top.what.word == "selecttype" else top.what.word
        allowed = ("select",) if top.what.word == "selecttype" else ("", word) if top.kind == "unit" else (word,)
    if what.word not in allowed:
        found = statement.text.text.upper() if what.word == "" else f"END {_word_shown(what.word)}"
        if found == "END":
            _fail(builder, "E110", f"END {_shown(top.what)} is missing before this END", statement, top)
        _fail(builder, "E111", f"found {found} where END {_shown(top.what)} is expected", statement, top)
    if top.kind == "do" and top.what.label and statement.label != top.what.label:
        _fail(builder, "E110", f"this END DO lacks the label {top.what.label} that its DO names", statement, top)
    _same_name(builder, statement, top)
    place = Row("continue", statement, Class("exec", "continue"), statement.label)
    if statement.label and (top.kind == "do" or (top.kind == "unit" and top.executable)):
        _emit(builder, place)
    builder.stack.pop()
    if top.kind == "block" and top.row < 0:
        lines = [*builder.opaque, statement.text.text]
        builder.opaque = []
        builder.rows.append(
            Row(
                f"call {MARK}{len(builder.rows)}()",
                top.statement,
                Class("exec", "call"),
                top.statement.label,
                opaque="\n".join(lines),
                reason=f"{_shown(top.what)} is not modelled",
            )
        )
        return
    text = statement.text.text
    if top.kind == "unit":
        text = f"end {_SPELT.get(what.word, what.word)}" if what.word else "end"
    _emit(builder, _row(statement, what, text=text))
    if statement.label and top.kind in ("if", "select"):
        _emit(builder, place)


def _same_name(builder: _Builder, statement: Statement, top: _Open) -> None:
    """END may repeat the name of what it ends, and no other."""
    closing = _END_NAME.match(statement.text.text)
    found = closing.group(1).lower() if closing else ""
    if top.kind == "unit":
        opening = _UNIT_NAME.search(top.statement.text.text)
        name = opening.group(1).lower() if opening and top.row >= 0 else found
    elif top.kind in _NESTED_KINDS:
        name = top.what.name
        if name and not found:
            _fail(builder, "E111", f"this END lacks the name {name} of its {_shown(top.what)}", statement, top)
    else:
        return
    if found and found != name:
        shown = f"{_shown(top.what)} {name}".rstrip()
        _fail(builder, "E111", f"this END names {found} and ends {shown}", statement, top)


def _close_labelled(builder: _Builder, statement: Statement) -> None:
    """Close every labelled DO that ends with this statement."""
    while statement.label and builder.stack:
        top = builder.stack[-1]
        if top.kind != "do" or top.what.label != statement.label or top.statement is statement:
            return
        builder.stack.pop()
        end = f"end do {top.what.name}".strip()
        _emit(builder, Row(end, statement, Class("end", "do")))


def _unclosed(builder: _Builder, last: Statement) -> None:
    top = builder.stack[-1]
    if top.kind == "do" and top.what.label:
        message = f"the loop that ends with label {top.what.label} is not closed: the label is missing"
    else:
        message = f"END {_shown(top.what)} is missing: the source ends inside this {_shown(top.what)}"
    span = top.statement.span
    end = last.span.end_line
    raise SourceError(
        [
            *builder.diagnostics,
            Diagnostic(
                code="E110",
                message=message,
                span=span,
                hint=f"the last statement is in line {end}; is the file complete?",
                source_line=builder.source.get((span.file, span.line), ""),
            ),
        ]
    )


def _fail(builder: _Builder, code: str, message: str, statement: Statement, opened: _Open | None) -> None:
    span = statement.span
    hint = "move the inner ones into a procedure" if code == "E114" else ""
    if opened is not None:
        hint = f"the {_shown(opened.what)} begins in {opened.statement.span.line_from(span)}"
    raise SourceError(
        [
            *builder.diagnostics,
            Diagnostic(
                code=code,
                message=message,
                span=span,
                hint=hint,
                source_line=builder.source.get((span.file, span.line), ""),
            ),
        ]
    )


_SPELT = {
    "elseif": "ELSE IF",
    "selectcase": "SELECT",
    "selecttype": "SELECT TYPE",
    "blockdata": "BLOCK DATA",
    "dowhile": "DO",
    "doconcurrent": "DO",
}


def _word_shown(word: str) -> str:
    return _SPELT.get(word, word.upper())


def _shown(what: Class) -> str:
    return "DO" if what.kind == "do" else _word_shown(what.word)
