import pytest

from aag.diagnostics import Diagnostic, Span
from esp.errors import PredictionError, UsageError
from esp.output.diagnostics import diagnostic, error, machine_finding
from esp.output.screen import Screen
from esp.visible import visible
from sag.errors import Finding, MachinePlace
from tests.esp.output.build import SOURCE

SCREEN = Screen(80)


def test_place_code_message_source_caret_and_hint():
    found = Diagnostic(
        code="E102",
        message="FORALL index j is also assigned in the body",
        span=Span("laplace.hpf", 7, 13, 7, 24),
        hint="use another name",
    )
    assert diagnostic(found, SCREEN, tuple(SOURCE)) == (
        "laplace.hpf:7:13: E102 FORALL index j is also assigned in the body\n"
        "    7 |     forall (i = 2:n-1, j = 2:n-1) b(i, j) = 0.25d0 * (a(i-1, j) + a(i...\n"
        "      |             ^^^^^^^^^^^\n"
        "       hint: use another name"
    )


def test_only_the_line_is_known():
    found = Diagnostic(code="E101", message="what is this", span=Span("a.hpf", 2), source_line="x = ")
    assert diagnostic(found, SCREEN) == "a.hpf:2: E101 what is this\n    2 | x ="


def test_no_place_at_all():
    assert diagnostic(Diagnostic(code="E305", message="8 is not 3 x 2"), SCREEN) == "E305 8 is not 3 x 2"


@pytest.mark.parametrize(("tabs", "column"), [(1, 2), (2, 3)])
def test_the_caret_stands_below_the_place_where_tabs_are(tabs, column):
    found = Diagnostic(code="E101", message="bad", span=Span("a.f", 1, column), source_line="\t" * tabs + "x = 1")
    source, caret = diagnostic(found, SCREEN).splitlines()[1:]
    assert caret.index("^") == source.index("x")


def test_the_marked_place_of_a_long_line_is_shown():
    text = "a = " + "b + " * 200 + "wrong + " + "c + " * 200 + "d"
    column = text.index("wrong") + 1
    found = Diagnostic(code="E101", message="bad", span=Span("a.hpf", 1, column, 1, column + 5), source_line=text)
    source, caret = diagnostic(found, SCREEN).splitlines()[1:]
    assert len(source) <= 80
    start = caret.index("^")
    assert source[start : start + 5] == "wrong"
    assert caret.endswith("^^^^^")


def test_an_escape_sequence_in_a_program_is_not_sent_to_the_terminal():
    found = Diagnostic(code="E1", message="\x1b[2J", span=Span("a.hpf", 1, 1), source_line="\x1b[2Jx")
    assert "\x1b" not in diagnostic(found, SCREEN)


def test_a_machine_file():
    found = Finding(
        code="M110",
        message="unknown unit 'us'",
        place=MachinePlace("m.yaml", 12, 10, "  startup: 65 uz"),
        hint="did you mean 'us'?",
    )
    assert machine_finding(found, SCREEN).splitlines() == [
        "m.yaml:12:10: M110 unknown unit 'us'",
        "   12 |   startup: 65 uz",
        "      |          ^",
        "       hint: did you mean 'us'?",
    ]


def test_a_what_if_without_a_file():
    assert machine_finding(Finding(code="M120", message="no such path"), SCREEN) == "M120 no such path"


def test_an_error_of_the_command_is_wrapped():
    shown = error(UsageError("word " * 30, where="--grid", hint="Do something else."), SCREEN)
    assert shown.startswith("esp: --grid: word word")
    assert max(map(len, shown.splitlines())) <= 80
    assert shown.endswith("Do something else.")


def test_codes_are_coloured_by_their_weight():
    screen = Screen(80, colour=True)
    assert "\x1b[33mW201" in visible(diagnostic(Diagnostic(code="W201", message="x"), screen))
    assert "\x1b[1;31mE201" in visible(diagnostic(Diagnostic(code="E201", message="x"), screen))


def test_lines_of_a_tool_stay_as_they_are():
    said = "a.f90:3:4:\n\n    3 |   x = y\n      |    1\nError: Symbol 'y' has no type"
    found = PredictionError("the node program does not compile:", why=said, hint="Look at line 3.")
    assert visible(error(found, SCREEN)) == (
        "esp: the node program does not compile: Look at line 3.\n"
        "  a.f90:3:4:\n  \n      3 |   x = y\n        |    1\n  Error: Symbol 'y' has no type"
    )
    assert visible(error(PredictionError("it fails:", why="in one line"), SCREEN)) == "esp: it fails: in one line"
