"""Statements that replace a call, each with the call through which it is reached."""

from collections.abc import Iterable

from msgspec.structs import replace

from aag.diagnostics import CallSite, Span
from aag.ir import statements as s
from aag.ir.visitors import mapped


def reached(body: Iterable[s.Stmt], site: CallSite) -> tuple[s.Stmt, ...]:
    """Statements that a call brings in: the same places in the source, reached through this call."""
    return tuple(_reached(each, site) for each in body)


def through(span: Span, site: CallSite | None) -> Span:
    """A place that is reached through a call."""
    return Span(span.file, span.line, span.column, span.end_line, span.end_column, site)


def _reached(statement: s.Stmt, site: CallSite) -> s.Stmt:
    made = mapped(statement, lambda inner: reached(inner, site))
    span = through(statement.span, site)
    if isinstance(made, s.If):
        branches = tuple(replace(each, span=through(each.span, site)) for each in made.branches)
        return replace(made, span=span, branches=branches)
    return replace(made, span=span)
