"""DO CONCURRENT as compilers of Fortran 2008 read it, against values by hand."""

import subprocess

from aag.pipeline import read_program
from esp.validate.concurrent import with_plain_heads
from esp.validate.inquiry import text_of

FREE = """\
program p
  implicit none
  integer :: i, x(4), w(0:2), total, most
  integer(8) :: t
  i = 77; t = 5; w = 2; total = 10; most = -1
  x = 0; do concurrent (integer(8) :: i = 1:4) local(t); t = 2*i; x(i) = t; end do
  print *, x, t, i
  outer: do concurrent (integer :: k = 1:4, x(k) /= 4) local_init(w) & ! a comment
    shared(x) reduce(+: total) &
    & reduce(max: most)
    w(0) = w(0) + k
    if (k == 3) cycle outer
    x(k) = w(0) + w(2)
    total = total + x(k)
    most = max(most, k)
  end do outer
  print *, x, w, total, most
  do 10 concurrent (i = 1:4) default(none) shared(x)
    x(i) = i
10 continue
  print *, x, i
end program
"""
EXPECTED = "2 4 6 8 5 77 5 4 6 8 2 2 2 23 4 1 2 3 4 77"
FIXED = """\
      program p
      integer x(4), t
      t = 5
      do 20 concurrent (integer :: i = 1:4, i .ne. 2 .and. x(i) .ge. -9)
     &  local(t)
        t = i
   20 x(i) = t
      print *, x(1), x(3), x(4), t
      end program
"""


def run(text, file, tmp_path):
    program = read_program(text, file)
    (source,) = with_plain_heads(program)
    (tmp_path / file).write_text(text_of(source))
    subprocess.run(["gfortran", "-w", file, "-o", "x"], cwd=tmp_path, check=True)
    return subprocess.run([tmp_path / "x"], capture_output=True, text=True, check=True).stdout.split()


def test_free_form(tmp_path):
    assert run(FREE, "x.f90", tmp_path) == EXPECTED.split()


def test_fixed_form(tmp_path):
    text = FIXED.replace("      t = 5\n", "      t = 5\n      x = 0\n")
    assert run(text, "x.f", tmp_path) == "1 3 4 5".split()


def test_lines_keep_their_numbers():
    program = read_program(FREE, "x.f90")
    (source,) = with_plain_heads(program)
    assert [(line.file, line.number) for line in source.lines] == [
        (line.file, line.number) for line in program.sources[0].lines
    ]


def test_what_compilers_read_stays():
    text = "program p\nreal a(8)\ninteger i\ndo concurrent (i = 1:8, i /= 3)\na(i) = i\nend do\nend program\n"
    program = read_program(text, "x.f90")
    assert with_plain_heads(program) == program.sources
