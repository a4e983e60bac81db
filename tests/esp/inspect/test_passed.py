"""`esp explain` of a line of a procedure says which arrays of the caller its dummy arrays are."""

import esp as package
from esp.inspect.passed import passed

PROGRAM = """\
program p
  implicit none
  integer, parameter :: n = 64
  real :: a(n), b(2*n), t
!HPF$ DISTRIBUTE a(BLOCK)
!HPF$ DYNAMIC a
!HPF$ DISTRIBUTE b(BLOCK)
  a = 1.0
  b = 2.0
!HPF$ REDISTRIBUTE a(CYCLIC)
  call copy(a, b(1:n), n)
  call copy(m=n, &
      from=b(n+1:2*n), to=a)
  t = norm(a, n)
  print *, t
contains
  subroutine copy(to, from, m)
    integer, intent(in) :: m
    real :: to(m), from(m)
    to = 0.5 * from &
        + to ! m
  end subroutine
  real function norm(x, m)
    integer, intent(in) :: m
    real, intent(in) :: x(m)
    norm = sqrt(sum(x**2))
  end function
end program p
"""


def pairs(line):
    program = package.read_source(PROGRAM).program
    return [(each.dummy, each.actual, each.call_line) for each in passed(program, program.file, line)]


def test_arguments_of_each_call():
    assert pairs(20) == [("to", "a", 11), ("from", "b(1:n)", 11), ("to", "a", 12), ("from", "b(n + 1:2 * n)", 12)]
    assert pairs(26) == [("x", "a", 14)]
    assert pairs(9) == []


def test_the_screen_names_both(esp, tmp_path):
    (tmp_path / "p.hpf").write_text(PROGRAM, encoding="utf-8")
    code, out, _ = esp("explain", f"{tmp_path}/p.hpf:20", "--procs", "4")
    told = " ".join(out.split())
    assert code == 0
    assert "copy: to is a and from is b(1:n) in the call of line 11; to is a and from is b(n + 1:2 * n) in the" in told
    assert "a$2 is a after it was remapped" in told
