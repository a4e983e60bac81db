"""Programs that ask for the number of processors are validated, too; more of them than a computer bears are not."""

import pytest

from aag.source.read import read_program
from esp.validate.inquiry import is_asked

FREE = """program asks
  implicit none
  integer, parameter :: n = 12
  double precision :: a(n)
  integer :: i, np
!hpf$ processors p(number_of_processors())
!hpf$ distribute a(block) onto p
  np = number_of_processors()
  do i = 1, n
    a(i) = i * np
  end do
  if (number_of_processors() > 2) a(1) = 0.0d0
  print *, sum(a), np
end program asks
"""
SHAPE = """program asks
  integer :: lengths(1), twice(1), i
  real :: a(8)
!hpf$ processors p(number_of_processors(dim=1))
!hpf$ distribute a(block) onto p
  lengths = processors_shape()
  twice = 2*processors_shape() + 1
  a = lengths(1)
  do i = 1, sum(processors_shape())
    a(1) = a(1) + i
  end do
  if (size(processors_shape()) == 1) print *, sum(a), number_of_processors(1), twice
  print *, size(processors_shape()), maxval(processors_shape()), shape(processors_shape()), processors_shape()
end program asks
"""
FIXED = """c     no PROGRAM statement opens it
      integer i
      real*8 a(9)
chpf$ distribute a(cyclic)
      do 10 i = 1, 9
 10   a(i) = i*number_of_processors()
      print *, sum(a)
      end
"""


@pytest.mark.sampled
@pytest.mark.parametrize(("text", "name"), [(FREE, "asks.hpf"), (SHAPE, "shape.hpf"), (FIXED, "asks.f")])
def test_the_serial_program_answers_as_the_node_program(text, name, tmp_path, esp):
    (tmp_path / name).write_text(text)
    code, out, err = esp("validate", str(tmp_path / name), "--procs", "1,3")
    assert code == 0, err
    assert [line.split()[:2] for line in out.splitlines()[1:]] == [["1", "same"], ["3", "same"]]


def test_only_executable_code_asks():
    def asked(text, file):
        (source,) = read_program(text, file, defer=True).sources
        return is_asked(source)

    assert asked(FREE, "x.f90")
    assert asked("call go(number_of_processors())\nend\n", "x.f90")
    assert not asked("  !hpf$ processors p(number_of_processors())\nx = 1\nend\n", "x.f90")
    assert not asked("chpf$ processors p(number_of_processors())\n      x = 1\n      end\n", "x.f")


@pytest.mark.parametrize(("against", "most"), [("mpi", "256"), ("simgrid", "4,096")])
def test_more_processors_than_a_computer_bears_are_refused(against, most, esp, monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    code, out, err = esp("validate", "laplace.hpf", "--against", against, "--procs", "4,100000")
    assert (code, out) == (2, "")
    assert "100,000 processors are too many" in err
    assert f"at most {most}." in err
