"""What cannot be written as Fortran: found wherever it stands, told together."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from msgspec.structs import replace

from aag.diagnostics import Diagnostic, SourceError, Span
from aag.ir.units import line_in
from aag.spmd.program import NodeProgram


class NotEmitted(SourceError):
    """Something of the node program cannot be written as Fortran."""


def refused(reason: str, where: Span | int) -> NotEmitted:
    """The error for one thing; `where`: its place, or just the source line."""
    span = where if isinstance(where, Span) else Span("", where)
    return NotEmitted((Diagnostic(code="E601", message=reason, span=span),))


class Refusals:
    """Collects findings, so that all of a program are told at once."""

    def __init__(self) -> None:
        self._found: list[Diagnostic] = []

    def note(self, reason: str, span: Span) -> None:
        """One more thing."""
        self._found.extend(refused(reason, span).diagnostics)

    @contextmanager
    def noting(self, span: Span) -> Iterator[None]:
        """Go on behind what cannot be written; `span`: where, unless something better is known."""
        try:
            yield
        except NotEmitted as error:
            for each in error.diagnostics:
                known = each.span.column or each.span.line != span.line
                self._found.append(each if known else replace(each, span=span))

    def complain(self, program: NodeProgram) -> None:
        """Raise what was found, in the order of the source.

        Raises:
            NotEmitted: something was.
        """
        if self._found:
            found = sorted(self._found, key=lambda each: (each.span.line, each.span.column))
            raise NotEmitted(_told(each, lines, program) for each, lines in _together(found))


def _together(found: Iterable[Diagnostic]) -> Iterator[tuple[Diagnostic, tuple[int, ...]]]:
    """One finding for each reason, with the further lines that it concerns; one reason for each line."""
    lines: dict[str, dict[int, Diagnostic]] = {}
    seen: set[int] = set()
    for each in found:
        if each.span.line not in seen:
            seen.add(each.span.line)
            lines.setdefault(each.message, {})[each.span.line] = each
    for places in lines.values():
        first, *others = places.values()
        yield first, tuple(each.span.line for each in others)


def _told(found: Diagnostic, lines: tuple[int, ...], program: NodeProgram) -> Diagnostic:
    span = found.span
    more = f"; also in line{'s' * (len(lines) > 1)} {', '.join(map(str, lines))}" if lines else ""
    text = line_in(program, span.file, span.line)
    where = Span(span.file or program.file, span.line, span.column, span.end_line, span.end_column)
    return replace(found, message=f"this cannot be compiled: {found.message}{more}", span=where, source_line=text)
