"""The printer: what is printed reads back, prints the same, and is Fortran to a Fortran compiler."""

import subprocess

import pytest

from aag.diagnostics import NOWHERE
from aag.ir.expressions import Binary, Expr, IntLit, OpaqueExpr, StringLit, Unary, Var
from aag.ir.printer import print_program, print_statement, print_unit
from aag.ir.spelling import spell, spell_directive, spell_type
from aag.ir.statements import Assign, Stmt
from aag.ir.units import Type
from aag.source.read import read_program

SNIPPETS = {
    "types": """\
integer*8 a
real*8 b
complex*16 c
logical*1 d
character*8 e
character(len=*), parameter :: f = 'x'
double complex g
real*16 h
""",
    "attributes": """\
real, save, target :: a(0:8, 3)
real, allocatable :: b(:,:)
external f
intrinsic sin
""",
    "externals": """\
external f, g, h
x = f(1)
call g(h)
""",
    "constants out of order": """\
dimension a(n)
parameter (k = 2)
parameter (n = 2*k)
a = 1
""",
    "common": """\
common /c/ a(8), b
common d
""",
    "control": """\
a: do i = 1, 8, 2
 if (x > 1) then
  cycle a
 else if (x > 2) then
  exit a
 else
  stop
 end if
end do a
do while (x > 1)
 x = x - 1
end do
do
 exit
end do
select case (i)
case (1, 3:4, :0)
 x = 1
case default
end select
""",
    "labels": """\
do 10 i = 1, 8
10 continue
do 20 i = 1, 8
20 x = i
goto 30
30 y = 1
if (y) 30, 30, 30
""",
    "arrays": """\
real a(8), b(8)
forall (i = 1:8, a(i) > 0) a(i) = b(i)
where (a > 0)
 a = 1
elsewhere (a < 0)
 a = 2
elsewhere
 a = 3
end where
a(1:8:2) = b(::2)
""",
    "io": """\
print *, 'it''s', x
write(6, 100) x, (a, i = 1, 3)
read(5, *, end=9) y
100 format(1x, 'z''s', f8.3)
open(7, file='q')
close(7)
print *
""",
    "calls": """\
call f
call g(x, k=2)
x = h(1, k=2) + sum((/ 1, 2, (i, i = 1, 3) /))
""",
    "directives": """\
real a(8,8), b(8), c(8)
!HPF$ PROCESSORS p(2,2), q, r(NUMBER_OF_PROCESSORS())
!HPF$ TEMPLATE t(0:8, 8)
!HPF$ DISTRIBUTE t(BLOCK(5), CYCLIC(2)) ONTO p
!HPF$ ALIGN a(i, j) WITH t(j, 2*i - 1)
!HPF$ ALIGN b(:) WITH a(*, :)
!HPF$ ALIGN c WITH b
!HPF$ DYNAMIC a, b
!HPF$ SEQUENCE
!HPF$ NO SEQUENCE c
!HPF$ INHERIT b
!HPF$ REALIGN b(i) WITH a(1, i)
!HPF$ REDISTRIBUTE t(*, BLOCK)
!HPF$ INDEPENDENT(i), NEW(x), REDUCTION(s), ON HOME(b(i))
do i = 1, 8
 b(i) = 1
end do
!HPF$ INDEPENDENT
forall (i = 1:8) c(i) = 2
""",
    "opaque": """\
x = = 1
block
 integer k
end block
""",
    "long lines": "character(len=100) y\nx = "
    + " + &\n ".join(f"alpha{i} * beta{i}" for i in range(40))
    + "\ny = '"
    + "long text " * 10
    + "'\n",
    "data": """\
integer a(3), b(2)
data a, b /1, 2, 3, 2*7/
""",
    "kinds": """\
integer, parameter :: dp = kind(0d0)
real(dp) x
x = 1.5_dp + 2d0 + 3.e-2
""",
}


@pytest.mark.parametrize("what", SNIPPETS)
def test_print_read_print_is_the_identity(what):
    program = read_program(SNIPPETS[what] + "end\n", "x.f90")
    printed = print_program(program)
    again = read_program(printed, "printed.f90")
    assert print_program(again) == printed
    assert max(len(line) for line in printed.splitlines()) <= 132


@pytest.mark.parametrize("what", SNIPPETS)
def test_what_is_printed_means_the_same(what):
    program = read_program(SNIPPETS[what] + "end\n", "x.f90", defer=True)
    again = read_program(print_program(program), "printed.f90", defer=True)
    assert _plain(again.main.body) == _plain(program.main.body)
    assert _plain(again.main.directives) == _plain(program.main.directives)
    assert _entities(again) == _entities(program)


def _entities(program):
    return {(each.name, each.type, each.shape, each.initial) for each in program.main.entities}


def _plain(value):
    """A value of the ir as nested tuples, without its places."""
    if isinstance(value, tuple):
        return tuple(_plain(each) for each in value)
    if isinstance(value, Expr):
        return value
    if hasattr(value, "__slots__"):
        names = [name for base in type(value).__mro__ for name in getattr(base, "__slots__", ())]
        kept = [name for name in names if name not in ("span", "end")]
        return (type(value).__name__, *(_plain(getattr(value, name)) for name in kept))
    return value


def test_benchmarks_print_and_read_back(root):
    paths = sorted((root / "benchmarks_hpf").glob("*.hpf"))
    assert paths
    for path in paths:
        printed = print_program(read_program(path.read_text(encoding="utf-8"), path.name))
        again = read_program(printed, "printed.f90")
        assert print_program(again) == printed, path.name
        assert again.complete


@pytest.mark.parametrize("name", ["laplace", "gauss", "lfk09", "redblack"])
def test_printed_benchmarks_print_the_same_checksum(root, tmp_path, name):
    """The printed program is the program: gfortran runs both and they agree to the last digit."""
    source = root / "benchmarks_hpf" / f"{name}.hpf"
    (tmp_path / "original.f90").write_text(source.read_text(encoding="utf-8"))
    (tmp_path / "printed.f90").write_text(print_program(read_program(source.read_text(encoding="utf-8"), name)))
    outputs = []
    for each in ("original", "printed"):
        subprocess.run(["gfortran", "-o", each, f"{each}.f90"], cwd=tmp_path, check=True, capture_output=True)
        done = subprocess.run([tmp_path / each], check=True, capture_output=True, text=True, timeout=60)
        outputs.append(done.stdout)
    assert outputs[0] == outputs[1]
    assert "checksum" in outputs[0]


def test_what_is_printed_compiles(tmp_path):
    source = """\
module m
  integer, parameter :: dp = kind(0d0)
contains
  pure function sq(x) result(y)
    real(dp), intent(in) :: x
    real(dp) :: y
    y = x*x
  end function
end module
subroutine s(a, n)
  integer n
  real*8 a(n, *)
  common /c/ b(4)
  data b /4*1.0/
  do 10 i = 1, n
10 a(i, 1) = a(i, 1) + b(2)
end
program p
  use m
  character*8 name
  logical flag
  complex z
  real*8 a(4, 4)
  sqr(x) = x**2
  z = (1.0, 2.0)
  name = 'it''s'
  flag = .not. (a(1,1) > 0 .and. sq(2d0) == 4d0) .eqv. .true.
  forall (i = 1:4, j = 1:4:2, i /= j) a(i, j) = i - j
  where (a > 0) a = -a
  if (flag) call s(a, 4)
  write(*, 100) name, sqr(2.0), sum(a, dim=1), (i, i = 1, 3)
100 format(a, 2f8.3)
  select case (nint(a(1,1)))
  case (:0)
    print *, real(z) - (1 - (2 - 3))
  case default
    stop 1
  end select
end program
"""
    (tmp_path / "x.f90").write_text(print_program(read_program(source, "x.f90")))
    done = subprocess.run(["gfortran", "-c", "x.f90"], cwd=tmp_path, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        (Type(base="real", bytes=4), "real"),
        (Type(base="real", bytes=8), "double precision"),
        (Type(base="real", bytes=16), "real(16)"),
        (Type(base="integer", bytes=8), "integer(8)"),
        (Type(base="complex", bytes=16), "complex(8)"),
        (Type(base="character", bytes=0), "character(len=*)"),
        (Type(base="derived", bytes=8, derived="t"), "type(t)"),
    ],
)
def test_types(type_, text):
    assert spell_type(type_) == text


def test_an_unknown_class_is_refused_by_name():
    class Strange(Expr):
        pass

    class Odd(Stmt):
        pass

    with pytest.raises(TypeError, match="spell: unknown expression class Strange"):
        spell(Strange())
    with pytest.raises(TypeError, match="print_statement: unknown statement class Odd"):
        print_statement(Odd(span=NOWHERE))
    with pytest.raises(TypeError, match="spell_directive: unknown directive class Odd"):
        spell_directive(Odd(span=NOWHERE))


def test_an_opaque_operand_keeps_its_parentheses():
    assert spell(Binary("*", OpaqueExpr("a .mine. b"), Var("c"))) == "(a .mine. b) * c"
    assert spell(Unary("-", Unary("-", Var("a")))) == "-(-a)"


def test_single_statements_are_printed():
    stmt = Assign(target=Var("x"), value=IntLit(1), span=NOWHERE, label="10")
    assert print_statement(stmt) == "10 x = 1"
    assert print_statement(Assign(target=Var("y"), value=StringLit("a'b"), span=NOWHERE)) == "y = 'a''b'"


def test_subroutines_have_no_type():
    printed = print_program(read_program(SNIPPETS["externals"] + "end\n", "x.f90"))
    assert "real, external :: f\n" in printed
    assert "  external :: g\n  external :: h\n" in printed


def test_a_unit_alone():
    unit = read_program("subroutine s\nx = 1\nend\n", "x.f90").units[0]
    assert print_unit(unit) == "subroutine s()\n  implicit none\n  real :: x\n  x = 1\nend subroutine s\n"


def test_an_unreadable_line_of_fixed_form_that_ends_in_an_ampersand_does_not_swallow_the_next():
    program = read_program("      program p\n      x = 1 +&\n      y = 2\n      end\n", "p.f")
    printed = print_program(program)
    assert "y = 2\n" in printed
    assert print_program(read_program(printed, "p.f90")) == printed
