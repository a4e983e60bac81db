"""Forms of old and of other compilers' Fortran: gfortran and the node program print the same."""

import pytest

FORMS = {
    "real_loops.f90": """\
program p
  real a(16), x, y, s
  real, parameter :: h = 0.25, xn = 16
  integer i, k
!hpf$ distribute a(block)
  a = 0
  k = 0
  outer: do x = 1.0, 0.0, -h
    k = k + 1
    if (k == 2) cycle outer
    a(k) = x
    do i = 1, 2.5
      if (i == 2) cycle
      a(k) = a(k) + i
    end do
  end do outer
  s = x
  do x = 1, 5
    if (x > 3) exit
    a(k) = a(k) + x
  end do
  print *, sum(a), k, s, x
  do x = 3.0, 1.0
    a(1) = 100
  end do
  do y = 0.1, 1.0, 0.1
    k = k + 1
    if (k > 100) cycle
  end do
  do i = 1, xn
    a(i) = a(i) + i
  end do
  print *, sum(a), k, x, y
end program
""",
    "choices.f90": """\
program p
  integer k, i
  logical l
  real a(16)
  character c
!hpf$ distribute a(block)
  a = 0
  c = 'm'
  do i = 1, 16
    l = mod(i, 3) == 0
    select case (l .or. i == 5)
    case default
      a(i) = a(i) + 1
    case (.true.)
      a(i) = a(i) + 2
    end select
    select case (l)
    case (.false.)
      a(i) = a(i) + 10
    end select
    select case (i)
    case (:3, 16)
      a(i) = a(i) + 100
    case (7:9)
      a(i) = a(i) + 200
    case (14:15, 20:)
      a(i) = a(i) + 300
    end select
  end do
  select case (c)
  case ('a':'f')
    k = 1
  case ('g':'z', 'A')
    k = 2
  end select
  print *, sum(a), a(5), a(14), k
end program
""",
    "texts.f90": """\
program p
  character(10) name
  character(4) :: c(3)
  character(*), parameter :: letters = 'abcdefghij'
  integer, parameter :: two = 2
  integer i
  real a(16)
!hpf$ distribute a(block)
  name = letters
  name(1:two) = 'xyz'
  c(2) = 'wxyz'
  c(2)(2:3) = name(3:6)
  c(1) = '1'
  c(1)(two:) = c(2)(4:4)
  i = 3
  c(3) = name(i:i+1)
  name(7:9) = letters(1:2)
  a = 1
  if (name(1:1) .eq. 'x') a = 2
  if (letters(3:4) == 'cd') a(1) = 5
  print *, sum(a), name(1:2), c(2)(1:3), name(3:), name(:3), '|', c, '|', letters(i:i)
end program
""",
    "prefixes.f90": """\
program p
  real a(16)
  interface
    extrinsic(hpf_serial) subroutine unused(x)
      real x
    end subroutine
  end interface
!hpf$ distribute a(block)
  forall (i = 1:16) a(i) = square(real(i))
  a = half(a)
  print *, sum(a)
contains
  pure real function square(x)
    real, intent(in) :: x
    square = x*x
  end function
  elemental function half(x) result(r)
    real, intent(in) :: x
    real r
    r = x/2
  end function
end program
extrinsic('HPF', 'LOCAL') subroutine other(x)
  real x
  x = 1
end subroutine
""",
    "old.f": """\
      PROGRAM P
      PARAMETER (N=16)
      INTEGER K/3/, L(2)/4, 5/, M
      REAL X(3)/2*1.5, -1.0/, Y
      DOUBLE PRECISION D/1D0/
      CHARACTER*5 S/'a/b'/
      DIMENSION A(N)
CHPF$ DISTRIBUTE A(BLOCK)
D     PRINT *, 'for a debugger'
      A = K + L(2) + X(1) + D
D    &    +
      S(1:1) = CHAR(65)
      PRINT *, SUM(A), X, L, S
      END
""",
    "data.f": """\
      program p
      parameter (n=4)
      real a(n), d(16)
      integer b(0:1,2)
      double precision c(3)
chpf$ distribute d(block)
      data a(1), a(3) /1.5, 2.5/, (c(i), i=1,3,2) /2*1d-3/
      data ((b(i,j),i=0,1),j=1,2) /1, 2, 3, 4/
      data a(n) /-1.0/
      do 10 i = 1, 16
   10 d(i) = a(mod(i,n)+1) + b(mod(i,2),1) + c(3)
      print *, a, b, c
      print *, sum(d)
      end
""",
    "block_data.f": """\
      program p
      real a(16), c(3), x
      common /blk/ c, n, /other/ x, pi
chpf$ distribute a(block)
      logical first
      data first /.true./, last /9/
      a = c(1) + c(2) + n
      do 10 i = 1, n
      if (first) a(i) = a(i) + i
   10 a(last) = i
      last = 3
      do 20 i = 1, last
   20 a(i) = 0
      print *, sum(a), c, n, pi
      end
      block data
      common /blk/ z(3), m, /other/ y, q
      parameter (half=0.5)
      data (z(i), i=1,2) /3.5, -1.0/, m /7/
      data q /half/
      end
""",
    "blocks.f": """\
      program main
      real a(4)
chpf$ distribute a(block)
      a = 1
      call first
      call later
      print *, sum(a)
      end
      block data
      integer k
      parameter (k=3)
      common /c/ w, m
      real w(4)
      integer m
      data w /1., 2., 3., 4./, m /k/
      end
      subroutine first
      common /c/ u, l
      real u(4), s
      integer l
      s = u(l) + u(1)
      print *, s, l
      l = 2
      end
      subroutine later
      common /c/ w, m
      real w(4)
      integer m, i
      do i = 1, m
        print *, w(i)
      enddo
      end
""",
    "bits.f": """\
      program p
      integer i, j, k, a(16)
chpf$ distribute a(block)
      data i /'ff'x/, j/x'10'/
      k = '17'o
      do 10 l = 1, 16
   10 a(l) = i + j + k + int('101'b)
      k = iand(a(3), '0f'x)
      print *, sum(a), k
      end
""",
}


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("name", "procs"),
    [
        *((name, "3") for name in FORMS),
        *(pytest.param(name, "1", marks=() if name == "texts.f90" else pytest.mark.truth) for name in FORMS),
    ],
)
def test_the_answer_is_that_of_gfortran(name, procs, esp, tmp_path):
    (tmp_path / name).write_text(FORMS[name])
    code, out, err = esp("validate", str(tmp_path / name), "--procs", procs)
    assert code == 0, err
    assert [line.split()[:2] for line in out.splitlines()[1:]] == [[procs, "same"]]
