"""Findings that differ in their line alone are shown once."""

from aag.diagnostics import CallSite, Diagnostic, Span
from esp.output.diagnostics import together


def found(line, message="found no subroutine x", **span):
    return Diagnostic(code="W202", message=message, span=Span("a.f", line, 3, **span), hint="add it")


def test_the_first_names_the_lines_of_the_others():
    shown = together([found(3), found(4, "found no subroutine y"), found(9), found(7), found(7)])
    assert [each.message for each in shown] == ["found no subroutine x (also in lines 9, 7)", "found no subroutine y"]
    assert [each.span.line for each in shown] == [3, 4]


def test_one_further_line_is_a_line():
    assert together([found(3), found(5)])[0].message == "found no subroutine x (also in line 5)"


def test_calls_and_columns_are_kept_apart_where_they_say_more():
    call = CallSite("p", Span("a.f", 8, 1))
    assert len(together([found(3), found(3, call=call)])) == 2
    assert [each.message for each in together([found(3), found(3)])] == ["found no subroutine x"]
