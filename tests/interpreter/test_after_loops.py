"""Scalars after loops of which some iterations are not walked."""

import pytest

import esp

PROGRAM = """program after
integer, parameter :: n = 16
double precision :: c(n)
integer :: i, k, step, q, l
!HPF$ PROCESSORS p(3)
!HPF$ DISTRIBUTE c(BLOCK) ONTO p
q = 0
do step = 1, 4
do k = 1, {trips}
do l = 1, 9
c(2:n) = c(1:n-1)
end do
q = {new}
end do
do k = 1, 6 + q
c(2:n) = c(1:n-1)
end do
end do
end
"""


@pytest.mark.sampled
@pytest.mark.parametrize("trips", [12, 13])
@pytest.mark.parametrize("new", ["mod(q + 1, 3)", "q + 1", "3 - q"])
def test_what_a_loop_changes_is_known_behind_it(trips, new):
    text = PROGRAM.format(trips=trips, new=new)
    mine, walked = esp.predict(text), esp.predict(text, unroll=True)
    assert mine.messages == walked.messages
    assert mine.time_s == pytest.approx(walked.time_s, rel=1e-9)
    assert mine.iterations_walked < walked.iterations_walked


BEHIND = """\
program behind
  integer, parameter :: n = 8
  real(8) :: a(n), b(3*n), c(n, n)
  integer :: i, j, k
!hpf$ distribute (block) :: a, b
!hpf$ distribute c(*, block)
  i = 2
  do i = 1, n
    a(i) = 1d0
  end do
  do j = i, 3*n
    b(j) = b(j)*2d0
  end do
  do k = 1, 3
    i = k
    do i = i, n, 2
      a(i) = a(i)*3d0
    end do
    do j = i, 3*n
      b(j) = b(j)*2d0
    end do
  end do
  do j = 1, n
    do i = 3, 6
      c(i, j) = c(i, j)*2d0
    end do
  end do
  do k = i, j
    b(k) = b(k)*2d0
  end do
  print *, a(1)
end program behind
"""


def test_indices_have_their_last_values_behind_nests():
    """i is 9 behind the first loop; 9, 10, 9 behind those with the step; 7 and j 9 behind the nest of two."""
    found = esp.predict(BEHIND, procs=4)
    assert found.counts.total("processor.r8.mul") == 16 + (4 + 4 + 3) + (16 + 15 + 16) + 32 + 3
    assert found.assumptions == ()


STRIDE = """\
program stride
  real(8) :: a(100)
  integer :: i
!hpf$ distribute a(block)
  do i = 2, 100, 3
    a(i) = 1d0
  end do
  print *, a(2){}
end program stride
"""


def test_values_behind_a_nest_are_overhead():
    """A serial program has them for nothing (Def 2): what is computed is the same, whether they are read or not."""
    one, other = (esp.predict(STRIDE.format(rest), procs=4, io=False) for rest in (", i", ""))
    assert one.per_processor.computation_s.sum() == other.per_processor.computation_s.sum()
    assert one.per_processor.overhead_s.sum() > other.per_processor.overhead_s.sum()
