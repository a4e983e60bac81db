"""Statements that contradict their declarations are errors, all of them told in one run."""

import pytest

from aag.diagnostics import SourceError
from aag.pipeline import Overrides, lower, read_program

TEXT = """program p
  real :: a(10), b(10, 10), s
!HPF$ DISTRIBUTE A(BLOCK)
  a(1, 2) = 1
  b(:, 3, 4) = 2
  a = b(1)
end program p
"""


def test_every_wrong_number_of_subscripts_is_told():
    with pytest.raises(SourceError) as caught:
        lower(read_program(TEXT, "p.hpf"), Overrides(procs=2), 2)
    found = [(each.code, each.span.line, each.span.column, each.message) for each in caught.value.diagnostics]
    assert found == [
        ("E402", 4, 3, "a: found 2 subscripts, expected 1"),
        ("E402", 5, 3, "b: found 3 subscripts, expected 2"),
        ("E402", 6, 7, "b: found 1 subscript, expected 2"),
    ]


def test_a_function_that_is_not_interpreted_is_told():
    text = "program p\n  real :: a(10)\n  real, external :: f\n  a(1) = f(2) + sqrt(2.0)\nend program p\n"
    lowered = lower(read_program(text, "p.hpf"), Overrides(procs=2), 2)
    assert [each.message for each in lowered.notes if each.code == "W206"] == [
        "found no function f: only its calls are charged"
    ]
    assert [each.span.line for each in lowered.notes if each.code == "W206"] == [4]
    assert not lowered.complete


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("relaks(a)", "found no subroutine relaks (did you mean relax?): only its call is charged"),
        ("solve(a)", "found no subroutine solve: only its call is charged"),
        (
            "relax(b(:, 1, :))",
            (
                "the body of relax is not interpreted (x has 1 dimension, the section of b has 2): only its call is"
                " charged"
            ),
        ),
    ],
)
def test_a_call_that_fits_no_subroutine_says_why(call, message):
    text = f"program p\n  real :: a(10), b(9, 9, 9)\n  call {call}\ncontains\n  subroutine relax(x)\n    real x(10)\n"
    lowered = lower(read_program(text + "    x = 1\n  end subroutine\nend\n", "p.hpf"), Overrides(procs=2), 2)
    assert [each.message for each in lowered.notes if each.code == "W202"] == [message]


def test_a_constant_is_not_assigned():
    text = "program p\n  integer, parameter :: n = 4\n  real :: a(n)\n  a = 0\n  n = n * 2\nend program p\n"
    with pytest.raises(SourceError) as caught:
        lower(read_program(text, "p.hpf"), Overrides(procs=2), 2)
    (found,) = caught.value.diagnostics
    assert (found.code, found.span.line, found.message) == ("E402", 5, "n is a PARAMETER and cannot be assigned")
