"""Types that fit and types that do not: what gfortran says of each statement."""

import subprocess

import pytest

from aag.diagnostics import SourceError
from aag.source.read import read_program

HEAD = """\
program p
  integer i, j, k
  integer(8) k8
  real x, y
  double precision d
  complex c
  logical l
  character(len=4) ch
  real a(8)
  real, allocatable :: z(:)
  logical ma(8), m
  i = 1
"""
TAIL = """
contains
  real function f(n)
    integer n
    f = n
  end function f
  function g(n) result(h)
    real n
    logical h
    h = n > 1
  end function g
  logical function abs1(n)
    logical n
    abs1 = n
  end function abs1
  subroutine s(t)
    character(len=4) t
  end subroutine s
end program p
"""

ACCEPTED = """\
if (any(a < 2.0)) x = 1
if (all(ma) .or. ma(2)) x = 1
if (maxval(a, mask=ma) > f(i)) x = 1
i = l
l = i
l = ch == ch
l = ch < 'abc'
l = c == c
l = c == i
ch = ch // 'a'
if (l) x = 1
x = a(1.5)
x = mod(x, 2.)
x = max(x, d)
x = sum(a, ma)
x = sum(a, 1)
l = any(ma)
l = any(a > 0)
i = kind(x)
x = x ** c
i = count(ma)
x = dot_product(a, a)
i = (1 > 2)
i = mod(i, k8)
a = spread(x, 1, 8)
x = dsqrt(d)
x = amax1(x, y)
x = f(1)
i = g(x)
l = abs1(l)
deallocate (z)
allocate (z(4))
"""

REFUSED = """\
if (a < 2.0) x = 1
if (ma) x = 1
if (a(1:2) < a(2:3) .and. l) x = 1
x = l
c = l
l = x
l = c
ch = i
ch = l
i = ch
x = 'x'
i = 'x'
c = ch
l = ch
x = l + 1
x = -l
l = .not. i
l = i .and. l
l = l .and. x
l = l == l
l = l > l
l = ch == i
l = c < c
x = ch + 1
ch = ch // 1
l = l .eqv. i
l = ch .eqv. ch
if (i) x = 1
if (x) x = 1
if (ch) x = 1
x = a(l)
x = a(ch)
x = a(c)
x = a(1:l)
x = sqrt(i)
x = sqrt(1)
x = sqrt(l)
x = sqrt(x, x)
x = exp(2)
x = sin(i)
x = abs(l)
x = abs('x')
x = mod(5, 2.)
x = max(1, 2.)
x = max(l, l)
x = min(ch, ch)
x = real(l)
x = real(ch)
i = int(l)
i = nint(i)
i = floor(i)
x = sum(l)
x = sum(m)
x = sum(ma)
x = sum(a, mask=i)
l = any(a)
l = all(i)
x = maxval(ma)
x = dble(l)
x = merge(x, i, l)
x = merge(x, x, i)
x = cshift(a, 1.)
a = cshift(a, x)
a = cshift(a, l)
x = aimag(x)
c = conjg(x)
c = cmplx(l, 1)
x = atan2(x, i)
x = sign(x, i)
x = dim(x, i)
i = iand(i, x)
i = iand(i, l)
i = ishft(x, 1)
l = btest(i, x)
i = index(ch, 1)
i = size(a, 1.)
i = size(a, l)
i = x ** l
x = l ** 2
x = l * l
i = count(a)
x = tan(l)
x = log10(i)
x = log(1)
x = float(x)
x = dble(ch)
i = ichar(i)
ch = char(x)
ch = trim(i)
i = maxloc(ma)
x = huge(l)
x = tanh(i)
x = acos(1)
x = x == 1
x = ((1 > 2))
x = merge(1, 2, i)
do i = l, 3; end do
do i = 1, ch; end do
do while (i); end do
where (a) a = 1
where (ma) a = ma
where (ma) a = 'x'
forall (i = 1:3, i) a(i) = 1
forall (i = 1:3, a(i)) a(i) = 1
forall (i = 1:l) a(i) = 1
ma = a
a = ma
l = .true. .and. 1
x = present(x)
i = popcnt(x)
x = bessel_j0(i)
x = gamma(i)
x = hypot(i, i)
x = dsqrt(l)
i = iabs(x)
x = dot_product(a, ma)
i = len(i)
i = ibits(i, 1, x)
x = bessel_jn(1.0, x)
x = aint(i)
x = anint(i)
x = norm2(ma)
a = spread(x, 1, 8.)
i = ceiling(l)
allocate (a(8))
deallocate (x)
l = f(1)
x = g(x)
x = z(1.0d0 > 2)
print *, a + ma
call s(ch + 1)
select case (i + l); end select
x = sum((/(l + k, k = 1, 3)/))
a(l) = 3
"""


def codes(statement):
    try:
        found = read_program(HEAD + statement + TAIL, "x.f90").diagnostics
    except SourceError as error:
        found = error.diagnostics
    assert all(each.span.line == 13 and each.span.column and each.hint for each in found)
    return [each.code for each in found]


@pytest.mark.parametrize("statement", ACCEPTED.splitlines())
def test_types_that_fit(statement):
    assert codes(statement) == []


@pytest.mark.parametrize("statement", REFUSED.splitlines())
def test_types_that_do_not_fit(statement):
    assert codes(statement) == ["E137" if "allocate" in statement else "E136"]


@pytest.mark.truth
def test_gfortran_says_the_same(tmp_path):
    for statement in (*ACCEPTED.splitlines(), *REFUSED.splitlines()):
        (tmp_path / "x.f90").write_text(HEAD + statement + TAIL)
        done = subprocess.run(["gfortran", "-fsyntax-only", "x.f90"], cwd=tmp_path, capture_output=True, check=False)
        assert (done.returncode == 0) == (statement in ACCEPTED.splitlines()), statement


MESSAGES = {
    "x = l + 1": "13:5: E136 the operands of + are logical and integer (correct the expression or a declaration)",
    "x = 2 * (-ch)": "13:11: E136 the operand of - is character (correct the expression or a declaration)",
    "if (l == m) x = 1": "13:5: E136 the operands of == are logical and logical (compare them with .eqv. or .neqv.)",
    "if (a < 2) x = 1": "13:5: E136 the condition of IF must be one value, but is an array"
    " (write any(...) or all(...) around it)",
    "if (i) x = 1": "13:5: E136 the condition of IF must be logical, but is integer (write a comparison)",
    "a = ('x')": "13:6: E136 a value of type character cannot be assigned to type real"
    " (correct the expression or a declaration)",
    "x = sqrt(x, y)": "13:5: E136 SQRT: found 2 arguments, expected at most 1 (remove an argument)",
    "x = sqrt(4)": "13:10: E136 the argument X of SQRT must be real or complex, but is integer"
    " (correct the expression or a declaration)",
    "x = max(1, 2.0)": "13:5: E136 the arguments of MAX must have one type, but are integer and real"
    " (correct the expression or a declaration)",
    "x = dot_product(a, ma)": "13:5: E136 the arguments of DOT_PRODUCT must both be numbers or have one type, but are"
    " real and logical (correct the expression or a declaration)",
    "allocate (a(8))": "13:11: E137 ALLOCATE: a is neither ALLOCATABLE nor a POINTER (declare it as ALLOCATABLE)",
}


@pytest.mark.parametrize("statement", MESSAGES)
def test_messages(statement):
    with pytest.raises(SourceError) as caught:
        read_program(HEAD + statement + TAIL, "x.f90")
    assert [str(each) for each in caught.value.diagnostics] == [f"x.f90:{MESSAGES[statement]}"]


def test_what_names_mean_elsewhere():
    text = """\
module shared
  logical :: flag
  real, allocatable :: field(:)
contains
  logical function positive(x)
    real x
    positive = x > 0
  end function positive
end module shared
program p
  use shared
  character(len=3), parameter :: word = 'abc'
  integer, parameter :: wrong = 'abc'
  allocate (field(8))
  flag = positive(1.0)
  x = positive(1.0)
  y = inner(1) + word
contains
  integer function inner(i)
    logical flag2
    flag = i > 1
    inner = flag + 1
  end function inner
end program p
subroutine alone(flag)
  integer flag
  flag = flag + 1
  if (flag) return
end subroutine alone
"""
    with pytest.raises(SourceError) as caught:
        read_program(text, "x.f90")
    assert [(each.code, each.span.line) for each in caught.value.diagnostics] == [
        ("E136", line) for line in (13, 16, 17, 22, 28)
    ]


def test_operators_of_the_program_are_not_judged(read):
    text = """\
module own
  interface operator (+)
    module procedure plus
  end interface
contains
  integer function plus(l, i)
    logical, intent(in) :: l
    integer, intent(in) :: i
    plus = i
  end function plus
end module own
program p
  use own
  i = .true. + 1
end program p
"""
    assert read(text).diagnostics == ()
