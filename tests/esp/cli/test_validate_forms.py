"""Forms of old and of other compilers' Fortran: gfortran and the node program print the same."""

import shutil

import pytest

pytestmark = pytest.mark.skipif(shutil.which("mpirun") is None, reason="needs MPI and gfortran")

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


@pytest.mark.parametrize("name", FORMS)
def test_the_answer_is_that_of_gfortran(name, esp, tmp_path):
    (tmp_path / name).write_text(FORMS[name])
    code, out, err = esp("validate", str(tmp_path / name), "--procs", "1,3")
    assert code == 0, err
    assert [line.split()[:2] for line in out.splitlines()[1:]] == [["1", "same"], ["3", "same"]]
