"""Nests that a compiler lowers with few messages: counted by hand, and answered as the serial program answers."""

import pytest

import esp

ROWS = {
    # Each processor its part, one reduction: 4 processors combine 8 bytes in two stages, 4 messages each.
    "private scalar and reduction": (
        """  real(8) :: v(1000), x, s
  integer :: i
!HPF$ DISTRIBUTE v(BLOCK)
  s = 0
!HPF$ INDEPENDENT, NEW(x), REDUCTION(s)
  do i = 1, 1000
    x = i*2
    v(i) = 4/(1 + x*x)
    s = s + v(i)
  end do
  print *, s""",
        {4: 8},
    ),
    # 3 boundaries between 4 processors, 62 columns, 2 steps; the sum takes 8.
    "recurrence inside a parallel loop": (
        """  real(8) :: b(64,64), inv
  integer :: i, j, t
!HPF$ DISTRIBUTE b(BLOCK,*)
  forall (i = 1:64, j = 1:64) b(i,j) = 2 + mod(i*j, 7)
  do t = 1, 2
!HPF$ INDEPENDENT, NEW(inv)
    do j = 2, 63
      do i = 3, 63
        inv = 1/b(i-1,j)
        b(i,j) = b(i,j) - inv*b(i-1,j)
      end do
    end do
  end do
  print *, sum(b)""",
        {4: 3 * 62 * 2 + 8},
    ),
    # On 2 x 2 processors one vector of 32 partial sums goes each way in both columns; the sum of s takes 4.
    "reduction into an array": (
        """  real(8) :: a(64,64), s(64)
  integer :: i, j
!HPF$ DISTRIBUTE a(BLOCK,BLOCK)
!HPF$ ALIGN s(j) WITH a(*,j)
  forall (i = 1:64, j = 1:64) a(i,j) = 2 + mod(i*j, 7)
  s = 0
!HPF$ INDEPENDENT, REDUCTION(s)
  do i = 1, 64
    do j = 1, 64
      s(j) = s(j) + a(i,j)
    end do
  end do
  print *, sum(s)""",
        {4: 4 + 4},
    ),
    # Nothing changes b: what each reference needs comes before the loops, by a concatenation of two stages with 4
    # messages each.
    "references that vary with different loops": (
        """  real(8) :: a(10), b(10)
  integer :: i, j
!HPF$ DISTRIBUTE b(BLOCK)
  forall (i = 1:10) b(i) = i
  a = 0
  do i = 1, 10
    do j = 1, 9
      a(j) = mod(2*a(j) + b(j+1) + b(11-i), 97.0d0)
    end do
  end do
  print *, a""",
        {4: 2 * 2 * 4},
    ),
    # Every processor needs a, which nothing changes: two concatenations of two stages, 4 messages each. The loops
    # inside have no iteration at first.
    "triangles that every processor runs": (
        """  integer :: a(8), x(8), i, j
!HPF$ DISTRIBUTE a(BLOCK)
  a = 1
  x = 0
  do i = 1, 8
    do j = 1, i - 1
      x(j) = x(j) + a(i)
    end do
  end do
  do i = 1, 8
    do j = 1, i - 1
      x(j) = x(j) + a(j)
    end do
  end do
  print *, x""",
        {4: 2 * 2 * 4},
    ),
    # The first 7 elements go to the other processor (a multicast of one element); the sum takes 2.
    "triangle": (
        """  real(8) :: b(8)
  integer :: i, j
!HPF$ DISTRIBUTE b(BLOCK)
  b = 1
  do j = 1, 8
    do i = j + 1, 8
      b(i) = b(i) - 0.5d0*b(j)
    end do
  end do
  print *, sum(b)""",
        {2: 7 + 2},
    ),
    # 95 steps with one multicast to 7 processors; the sum takes 24.
    "elimination": (
        """  real(8) :: a(96,96)
  integer :: i, j, k
!HPF$ DISTRIBUTE a(*,CYCLIC)
  forall (i = 1:96, j = 1:96) a(i,j) = 1d0/(i + j - 1)
  forall (i = 1:96) a(i,i) = a(i,i) + 96
  do k = 1, 95
    do i = k + 1, 96
      a(i,k) = a(i,k)/a(k,k)
    end do
    do j = k + 1, 96
      do i = k + 1, 96
        a(i,j) = a(i,j) - a(i,k)*a(k,j)
      end do
    end do
  end do
  print *, sum(a)""",
        {8: 95 * 7 + 24},
    ),
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", ROWS)
def test_messages(name):
    body, expected = ROWS[name]
    for procs, messages in expected.items():
        assert esp.predict(f"program nest\n{body}\nend program nest\n", procs=procs).messages == messages
