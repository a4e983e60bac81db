"""The module HPF_LIBRARY of the serial program, against values by hand."""

import subprocess

import pytest

from esp.validate.library import module

PROGRAM = """
program p
  use hpf_library
  integer :: x(5) = (/ 1, 2, 3, 4, 5 /), a(2, 2) = reshape((/ 1, 2, 3, 4 /), (/ 2, 2 /))
  logical :: m(5) = (/ .true., .false., .true., .true., .false. /)
  logical :: s(5) = (/ .true., .true., .false., .false., .true. /)
  print *, sum_prefix(x)
  print *, sum_prefix(x, mask=m)
  print *, sum_prefix(x, segment=s)
  print *, sum_suffix(x, exclusive=.true.)
  print *, sum_prefix(a)
  print *, sum_prefix(a, dim=2)
  print *, sum_suffix(a, 1)
  print *, count_prefix(m)
  print *, copy_suffix(x, segment=s)
  print *, maxval_prefix((/ 1, 3, 2 /))
  print *, any_prefix((/ .false., .true., .false. /))
  print *, sum_scatter(x, (/ 10, 20, 30 /), (/ 1, 3, 1, 3, 3 /))
  print *, sum_scatter(x, (/ 10, 20, 30 /), (/ 1, 3, 1, 3, 3 /), m)
  print *, count_scatter(m, (/ 0, 0 /), (/ 1, 1, 2, 2, 2 /))
  print *, copy_scatter(x, (/ 0, 0, 7 /), (/ 1, 2, 1, 2, 1 /))
  print *, product_scatter(x, a, (/ 1, 1, 2, 2, 1 /), (/ 1, 2, 1, 2, 1 /))
end program
"""
EXPECTED = """
1 3 6 10 15
1 1 4 8 8
1 3 3 7 5
14 12 9 5 0
1 3 6 10
1 2 4 6
3 2 7 4
1 1 2 3 3
2 2 4 4 5
1 3 3
F T T
14 20 41
14 20 34
1 2
5 4 7
5 6 6 16
"""


@pytest.mark.truth
def test_values(tmp_path):
    (tmp_path / "x.f90").write_text(module([PROGRAM]) + PROGRAM)
    subprocess.run(["gfortran", "-w", "x.f90", "-o", "x"], cwd=tmp_path, check=True)
    said = subprocess.run([tmp_path / "x"], capture_output=True, text=True, check=True).stdout
    assert [line.split() for line in said.splitlines()] == [line.split() for line in EXPECTED.strip().splitlines()]


def test_only_what_is_named_is_written():
    assert "sum_prefix" in module(["y = SUM_PREFIX (x)"])
    assert "sum_suffix" not in module(["y = SUM_PREFIX (x)"])
    assert module(["print *, 1"]) == "module hpf_library\n  implicit none\nend module hpf_library\n"
