"""What scalar variables hold when the program starts."""

import esp
from aag.mapping.constants import initial_values
from aag.source.read import read_program

TEXT = """\
program p
  integer, parameter :: four = 4
  integer :: n = four + 1, m = 3.9, k, i, u = 2, v = 3
  real :: x = 2, a(8) = 1.0
  logical :: l = .true.
  equivalence (u, v)
!hpf$ distribute a(block)
  data k /6/
  do i = 1, n
    a(i) = 2
  end do
  n = 2
  do i = 1, n
    a(i) = 3
  end do
end program
"""


def test_initial_values():
    unit = read_program(TEXT, "x.f90", defer=True).main
    assert initial_values(unit, {"four": 4}) == {"n": 5, "m": 3, "k": 6, "x": 2.0, "l": True}


def test_they_decide_the_flow_until_they_are_assigned():
    text = TEXT.replace("real :: x = 2, a(8) = 1.0", "real :: a(8)")
    expected = text.replace("do i = 1, n", "do i = 1, 5", 1).replace("do i = 1, n", "do i = 1, 2", 1)
    assert esp.predict(text, procs=2).time_s == esp.predict(expected, procs=2).time_s
    given = text.replace("do i = 1, n", "do i = 1, 7")
    assert esp.predict(text, procs=2, n=7).time_s == esp.predict(given, procs=2).time_s
