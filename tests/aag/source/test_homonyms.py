"""Procedures of one name in several hosts: which of them a call means."""

import pytest

from aag.ir import statements as s
from aag.ir.units import shown_procedure
from aag.ir.visitors import calls_used, walk_statements
from aag.pipeline import read_program

MODULES = """\
module one
private
public :: go
contains
subroutine work()
end subroutine
subroutine go()
call work()
end subroutine
end module
module two
contains
subroutine work()
end subroutine
subroutine come()
call work()
end subroutine
end module
"""


def calls(text):
    """Unit -> the procedures that it calls."""
    program = read_program(text, "p.f90")
    units = [*program.units, *(inner for each in program.units for inner in each.contains)]
    return {
        unit.name: [each.name for each in walk_statements(unit.body) if isinstance(each, s.CallStmt)] for unit in units
    }


def main(*lines):
    return calls(MODULES + "program p\n" + "\n".join(lines) + "\nend program\n")


def test_modules_call_their_own():
    found = main("use one")
    assert found["go"] == ["work$one"]
    assert found["come"] == ["work$two"]
    assert {"work$one", "work$two"} <= found.keys()


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("use one", "use two", "call work()"), "work$two"),
        (("use two", "use one", "call work()"), "work$two"),
        (("use two, only: come", "call work()"), "work"),
        (("use two, only: mine => work", "call mine()"), "work$two"),
        (("use two, mine => work", "call mine()"), "work$two"),
        (("use two, only: come", "call work()", "contains", "subroutine work()", "end subroutine"), "work$p"),
    ],
)
def test_what_a_name_means(lines, expected):
    assert main(*lines)["p"] == [expected]


def test_an_interface_and_external_hide_those_of_the_host():
    text = (
        "program p\ncall work()\ncall other()\ncontains\nsubroutine work()\nend subroutine\n"
        "subroutine other()\n{}\ncall work()\nend subroutine\nend program\nsubroutine work()\nend subroutine\n"
    )
    for hidden in ("external work", "interface\nsubroutine work()\nend subroutine\nend interface"):
        found = calls(text.format(hidden))
        assert found["p"] == ["work$p", "other"]
        assert found["other"] == ["work"]
    assert calls(text.format("integer :: i"))["other"] == ["work$p"]


def test_a_main_program_without_a_name():
    text = "x = 1\ncall work()\ncontains\nsubroutine work()\nend subroutine\nend\nsubroutine work()\nend subroutine\n"
    assert calls(text)["main"] == ["work$main"]


def test_functions_and_generic_names():
    text = (
        "module m\ninterface half\nmodule procedure half, third\nend interface\ncontains\n"
        "function half(x)\nhalf = x / 2\nend function\nfunction third(k)\nthird = k / 3\nend function\n"
        "subroutine both(x, k)\ny = half(x) + half(k)\nend subroutine\nend module\n"
        "program p\nx = half(4.0)\ncontains\nfunction half(x)\nhalf = x\nend function\nend program\n"
    )
    program = read_program(text, "p.f90")
    module, unit = program.units
    both = next(each for each in module.contains if each.name == "both")
    assert calls_used(both.body) == {"half$m", "third"}
    assert calls_used(unit.body) == {"half$p"}


def test_a_name_that_no_other_procedure_has_stays():
    text = "program p\ncall work()\ncontains\nsubroutine work()\nend subroutine\nend program\n"
    assert calls(text)["p"] == ["work"]


def test_shown_names():
    assert shown_procedure("work") == "work"
    assert shown_procedure("work$one") == "one:work"
    assert shown_procedure("work$one$m") == "m:one:work"
