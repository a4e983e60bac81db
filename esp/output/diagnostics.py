"""Errors and warnings as a person reads them: place, code, what; the source line, marked; the way out."""

from collections.abc import Iterable
from typing import Protocol

from msgspec.structs import replace

from aag.diagnostics import Diagnostic
from aag.source.forms import is_quoted
from esp.errors import EspError
from esp.output.screen import Screen, flow, printable, shorten


class MachineFinding(Protocol):
    """What the machine's room says of a finding; the same facts as a `Diagnostic` under flat names."""

    @property
    def code(self) -> str: ...  # noqa: D102 (a protocol: the names say it)
    @property
    def message(self) -> str: ...  # noqa: D102 (as above)
    @property
    def file(self) -> str: ...  # noqa: D102 (as above)
    @property
    def line(self) -> int: ...  # noqa: D102 (as above)
    @property
    def column(self) -> int: ...  # noqa: D102 (as above)
    @property
    def source_line(self) -> str: ...  # noqa: D102 (as above)
    @property
    def hint(self) -> str: ...  # noqa: D102 (as above)


def diagnostic(found: Diagnostic, screen: Screen, lines: tuple[str, ...] = ()) -> str:
    """One finding in a program; `lines` supply its source line where it brings none.

    laplace.hpf:10:17: E102 FORALL index j is also assigned in the body
       10 | forall (i=1:n, j=1:m) a(i,j) = f(j)
          |                ^
          hint: ...
    """
    span = found.span
    text = found.source_line if is_quoted(span.file) else ""
    if is_quoted(span.file) and not text and 1 <= span.line <= len(lines):
        text = lines[span.line - 1]
    until = span.end_column if span.end_line in (0, span.line) else 0
    length = max(1, until - span.column)
    head = f"{span}: " if span.file or span.line else ""
    return _render(head, found.code, found.message, (span.line, span.column, length, text), found.hint, screen)


def together(found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Findings that differ in nothing but their line as one, with the further lines."""
    groups: dict[tuple[object, ...], list[Diagnostic]] = {}
    for each in found:
        call, span = each.span.call, each.span
        through = None if call is None or (call.at.file, call.at.line) == (span.file, span.line) else call
        groups.setdefault((each.code, each.message, each.hint, span.file, through), []).append(each)
    made = []
    for first, *others in groups.values():
        lines = list(dict.fromkeys(each.span.line for each in others if each.span.line != first.span.line))
        more = f" (also in line{'s' * (len(lines) > 1)} {', '.join(map(str, lines))})" if lines else ""
        made.append(replace(first, message=first.message + more))
    return made


def machine_finding(found: MachineFinding, screen: Screen) -> str:
    """One finding in a machine description or a what-if."""
    place = f"{found.file}:{found.line}:{found.column}: " if found.line else f"{found.file}: " * bool(found.file)
    mark = (found.line, found.column, 1, found.source_line)
    return _render(place, found.code, found.message, mark, found.hint, screen)


def error(found: EspError, screen: Screen) -> str:
    """An error of the command itself, one short paragraph; several lines of a tool stay as they are."""
    quoted = found.why.splitlines() if "\n" in found.why.strip() else []
    told = str(EspError(found.what, where=found.where, hint=found.hint)) if quoted else str(found)
    text = screen.paint("error", "esp: ") + flow(told.split(), screen.columns - 5, " ", "     ")
    return "\n".join([text, *(f"  {printable(line)}" for line in quoted)])


def several(shown: Iterable[str], kind: str = "error") -> str:
    """Findings below each other, counted where there are many."""
    blocks = tuple(shown)
    text = "\n".join(blocks)
    return text if len(blocks) < 2 else f"{text}\n{len(blocks)} {kind}s"


def _render(place: str, code: str, message: str, mark: tuple[int, int, int, str], hint: str, screen: Screen) -> str:
    line, column, length, source = mark
    role = "warm" if code[:1] in "WM" and code[1:2] == "2" else "error"
    words = printable(f"{place}{code} {message}").split(" ")
    shown = flow(words, screen.columns, " ", "    ")
    lines = [shown.replace(code, screen.paint(role, code), 1)]
    # A caret in expanded text stands where the column of the raw text went.
    text = printable(source).rstrip()
    if text.strip() and line:
        lines += _marked(text, line, len(printable(source[: max(0, column - 1)] + "x")), length, column, screen)
    if hint:
        words = printable(hint).split()
        lines.append(screen.paint("hint", "       hint: ") + flow(words, screen.columns - 13, " ", " " * 13))
    return "\n".join(lines)


def _marked(text: str, line: int, at: int, length: int, column: int, screen: Screen) -> list[str]:
    room = screen.columns - 8
    cut = 0
    if len(text) > room:
        # The marked place must be seen, whatever the length of the line.
        cut = max(0, min(at - room // 2, len(text) - room))
        text = shorten(text[cut:], room)
    lines = [f"{line:>5} | {text}"]
    if column:
        at -= cut
        length = max(1, min(length, len(text) - at + 1))
        lines.append("      | " + " " * (at - 1) + screen.paint("error", "^" * length))
    return lines
