"""Generic names of interfaces, and the procedures that they stand for. The choices are those of gfortran."""

import subprocess

import pytest

from aag.diagnostics import SourceError
from aag.ir.statements import CallStmt
from aag.ir.visitors import calls_used
from aag.source.read import read_program

MODULE = """\
module numbers
  integer, parameter :: dp = kind(1.0d0)
  type one
    real :: x
  end type
  type two
    real :: x
  end type
  interface which
    module procedure of_int, of_long, of_real, of_double, of_row, of_table, of_one, of_two, of_text
    module procedure of_any_logical, of_logicals, of_pair
  end interface
  interface two
    module procedure made
  end interface
contains
{functions}
  elemental integer function of_any_logical(a)
    logical, intent(in) :: a
    of_any_logical = 1
  end function
  integer function of_logicals(a)
    logical, intent(in) :: a(:)
    of_logicals = 1
  end function
  integer function of_pair(a, b, c)
    integer :: a
    integer, optional :: b
    real :: c
    of_pair = 1
  end function
  type(two) function made(a, b)
    real :: a, b
    made%x = a + b
  end function
end module
"""
FUNCTION = """\
  integer function {0}(a)
    {1}
    {0} = 1
  end function"""
KINDS = {
    "of_int": "integer :: a",
    "of_long": "integer(8) :: a",
    "of_real": "real :: a",
    "of_double": "real(dp) :: a",
    "of_row": "real :: a(:)",
    "of_table": "real :: a(:, :)",
    "of_one": "type(one) :: a",
    "of_two": "type(two) :: a",
    "of_text": "character(*) :: a",
}
NUMBERS = MODULE.format(functions="\n".join(FUNCTION.format(*each) for each in KINDS.items()))
PROGRAM = """\
program p
  use numbers
  integer :: i
  integer(8) :: long
  real :: x, a(5), b(5, 5)
  real(dp) :: d
  complex :: z
  logical :: l, m(4), n(2, 2)
  type(one) :: first, several(3)
  type(two) :: second
  print *, {}
end program
"""


def called(reference):
    program = read_program(NUMBERS + PROGRAM.format(reference), "p.f90")
    assert program.complete
    return calls_used(program.main.body)


CHOICES = [
    ("i", "of_int"),
    ("3", "of_int"),
    ("long + 1", "of_long"),
    ("x", "of_real"),
    ("1.0", "of_real"),
    ("x + i", "of_real"),
    ("d * x", "of_double"),
    ("1.0_dp", "of_double"),
    ("real(i, dp)", "of_double"),
    ("dble(x)", "of_double"),
    ("a", "of_row"),
    ("a(2:3)", "of_row"),
    ("a(2)", "of_real"),
    ("a((/ 1, 2 /))", "of_row"),
    ("b", "of_table"),
    ("b(:, 2)", "of_row"),
    ("b(1, 2)", "of_real"),
    ("sum(b, 1)", "of_row"),
    ("sum(b)", "of_real"),
    ("matmul(b, a)", "of_row"),
    ("transpose(b) + 1", "of_table"),
    ("spread(a, 1, 2)", "of_table"),
    ("reshape(b, (/ 25 /))", "of_row"),
    ("(/ 1.0, 2.0 /)", "of_row"),
    ("abs(z)", "of_real"),
    ("aimag(z)", "of_real"),
    ("size(a)", "of_int"),
    ("a == 1", "of_logicals"),
    ("l", "of_any_logical"),
    ("m", "of_logicals"),
    ("n", "of_any_logical"),
    ("first", "of_one"),
    ("second", "of_two"),
    ("first%x", "of_real"),
    ("several%x", "of_row"),
    ("several(2)", "of_one"),
    ("one(1.0)", "of_one"),
    ("'text'", "of_text"),
    ("which(a)", "of_int"),
    ("i, 2, 1.0", "of_pair"),
    ("i, c=x", "of_pair"),
    ("a=d", "of_double"),
    ("a=i, c=2.0", "of_pair"),
]


@pytest.mark.parametrize(("actual", "expected"), CHOICES)
def test_the_procedure_is_the_one_of_the_arguments(actual, expected):
    found = called(f"which({actual})")
    assert expected in found
    assert "which" not in found


@pytest.mark.slow
def test_gfortran_chooses_the_same(tmp_path):
    references = ", ".join(f"which({actual})" for actual, _ in CHOICES)
    numbered = NUMBERS
    for number, name in enumerate(dict.fromkeys(name for _, name in CHOICES)):
        numbered = numbered.replace(f"    {name} = 1\n", f"    {name} = {number}\n")
    source = tmp_path / "p.f90"
    prepared = "l = .true.\nm = l\nn = l\na = 1\nb = 2\n"
    source.write_text(numbered + PROGRAM.format(references).replace("  print", prepared + "print"))
    subprocess.run(["gfortran", "-ffree-line-length-none", "-o", "p", "p.f90"], cwd=tmp_path, check=True)
    printed = subprocess.run([tmp_path / "p"], capture_output=True, text=True, check=True).stdout.split()
    names = list(dict.fromkeys(name for _, name in CHOICES))
    found = iter(printed)
    for actual, expected in CHOICES:
        shown = [next(found) for _ in range(4 if actual == "n" else 1)]
        assert {names[int(each)] for each in shown} == {expected}, actual


def test_the_name_of_a_type_is_its_constructor_unless_a_procedure_fits():
    assert "made" in called("which(two(1.0, 2.0))")
    assert "made" not in called("which(two(1.0))")


@pytest.mark.parametrize("actual", ["z", "i, i", "several", "b=1, c=2.0", "a, a, a, a", "i, d=2.0"])
def test_no_procedure_for_the_arguments_is_an_error(actual):
    with pytest.raises(SourceError) as refused:
        called(f"which({actual})")
    (found,) = refused.value.diagnostics
    assert found.code == "E136"
    assert found.message == "no procedure behind which has arguments of these types, kinds and ranks"
    assert found.span.line == PROGRAM[: PROGRAM.index("{")].count("\n") + NUMBERS.count("\n") + 1


def test_an_unknown_type_makes_the_program_incomplete_where_several_procedures_may_fit():
    program = read_program(NUMBERS + PROGRAM.format("which(other%of(1))"), "p.f90")
    assert not program.complete
    assert any("it is not known which procedure" in each.message for each in program.diagnostics)


def test_a_subroutine_that_is_not_known_says_so():
    text = """\
program p
  interface some
    module procedure missing
    subroutine known(k)
      integer :: k
    end subroutine
  end interface
  real :: x
  integer :: k
  call some(x)
  call some(k)
end program
"""
    program = read_program(text, "p.f90")
    first, second = (each for each in program.main.body if isinstance(each, CallStmt))
    assert first.reason == "some is generic, and the types of its arguments are not all known"
    assert (second.name, second.reason) == ("known", "")


def test_a_name_of_the_unit_hides_a_generic_one():
    text = """\
module m
  interface f
    module procedure g
  end interface
contains
  integer function g(k)
    integer :: k
    g = k
  end function
end module
program p
  use m, only: g
  print *, f(2)
contains
  integer function f(k)
    integer :: k
    f = g(k)
  end function
end program
"""
    program = read_program(text, "p.f90")
    assert calls_used(program.main.body) == {"f"}


def test_interfaces_of_several_modules_are_joined():
    module = """\
module {0}
  interface f
    module procedure f_{0}
  end interface
contains
  integer function f_{0}(k)
    {1} :: k
    f_{0} = 1
  end function
end module
"""
    uses = "program p\nuse m\nuse n\nprint *, f(1), f(1.0)\nend program\n"
    program = read_program(module.format("m", "integer") + module.format("n", "real") + uses, "p.f90")
    assert calls_used(program.main.body) == {"f_m", "f_n"}


OPERATORS = """\
module points
  type point
    real :: x
  end type
  interface operator(+)
    module procedure added
  end interface
  interface operator(-)
    module procedure negative
  end interface
  interface operator(.lt.)
    module procedure before
  end interface
  interface operator(.far.)
    module procedure distance
  end interface
  interface assignment(=)
    module procedure from_number
  end interface
contains
  type(point) function added(p, q)
    type(point), intent(in) :: p, q
    added%x = p%x + q%x
  end function
  type(point) function negative(p)
    type(point), intent(in) :: p
    negative%x = -p%x
  end function
  logical function before(p, q)
    type(point), intent(in) :: p, q
    before = p%x < q%x
  end function
  real function distance(p, q)
    type(point), intent(in) :: p, q
    distance = abs(p%x - q%x)
  end function
  subroutine from_number(p, x)
    type(point), intent(out) :: p
    real, intent(in) :: x
    p%x = x
  end subroutine
end module
program p
  use points
  type(point) :: p1, p2, many(4)
  real :: x
  {}
end program
"""


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("p1 = p1 + p2", {"added"}),
        ("p1 = p1 + p2 + p2", {"added"}),
        ("p1 = -(p1 + p2)", {"added", "negative"}),
        ("print *, p1 < p2, x < 2, x + 1, -x", {"before"}),
        ("x = p1 .far. p2", {"distance"}),
        ("p1 = 2 * x", {"from_number"}),
        ("x = p1%x", set()),
        ("p1 = p2", set()),
        ("p1 = p1%x", {"from_number"}),
        ("many(i) = 2.0 * i", {"from_number"}),
        ("many(2) = many(1)%x + 1", {"from_number"}),
    ],
)
def test_operators_and_assignments_are_calls(statement, expected):
    program = read_program(OPERATORS.format(statement), "p.f90")
    assert program.complete
    assert calls_used(program.main.body) == expected


@pytest.mark.parametrize("statement", ["forall (i = 1:4) many(i) = 2.0"])
def test_assignments_that_cannot_be_calls_are_left_out(statement):
    program = read_program(OPERATORS.format(statement), "p.f90")
    assert not program.complete
