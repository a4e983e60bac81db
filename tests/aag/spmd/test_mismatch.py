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
        "the body of the function f is not interpreted: only its calls are charged"
    ]
    assert [each.span.line for each in lowered.notes if each.code == "W206"] == [4]
    assert not lowered.complete


def test_a_constant_is_not_assigned():
    text = "program p\n  integer, parameter :: n = 4\n  real :: a(n)\n  a = 0\n  n = n * 2\nend program p\n"
    with pytest.raises(SourceError) as caught:
        lower(read_program(text, "p.hpf"), Overrides(procs=2), 2)
    (found,) = caught.value.diagnostics
    assert (found.code, found.span.line, found.message) == ("E402", 5, "n is a PARAMETER and cannot be assigned")
