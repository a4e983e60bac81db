"""A line that continues a statement is explained as part of it, in either source form."""

import pytest

FIXED = """\
C     fixed form
      program heat
      integer i
      real*8 u(64), v(64)
chpf$ distribute u(block)
chpf$ align v(i) with u(i)
      do 20 i = 2, 63
         v(i) = u(i) +
C a comment in between

     &      u(i-1)
\t1      + u(i+1)
   20 continue
      end
"""
FREE = """\
program heat
  integer :: i
  real(8) :: u(64), v(64)
!hpf$ distribute u(block)
!hpf$ align v(i) with u(i)
  do i = 2, 63
    v(i) = u(i) + & ! more
    ! a comment in between

      u(i-1)
  end do
end program heat
"""


@pytest.mark.parametrize(
    ("name", "text", "asked", "carries"),
    [("heat.f", FIXED, 11, 8), ("heat.f", FIXED, 12, 8), ("heat.hpf", FREE, 10, 7)],
)
def test_a_continuation_line_is_part_of_its_statement(name, text, asked, carries, esp, tmp_path):
    (tmp_path / name).write_text(text)
    file = str(tmp_path / name)
    code, out, _ = esp("explain", f"{file}:{asked}", "--procs", "4")
    assert code == 0
    assert f"line {asked} is part of it" in out
    assert esp("explain", f"{file}:{carries}", "--procs", "4")[1] == out.replace(
        f"         line {asked} is part of it\n", ""
    )
    code, out, err = esp("run", file, "--procs", "4", "--line", str(asked))
    assert code == 0
    assert f"line {asked} is part of line {carries}" in err
    assert out == esp("run", file, "--procs", "4", "--line", str(carries))[1]


@pytest.mark.parametrize("line", ["3", "9", "13"])
def test_other_lines_of_fixed_form_are_their_own(line, esp, tmp_path):
    (tmp_path / "heat.f").write_text(FIXED)
    code, out, _ = esp("explain", f"{tmp_path}/heat.f:{line}", "--procs", "4")
    assert code == 0
    assert "is part of it" not in out


NEST = """\
program nest
  real :: a(8, 8), b(8, 8)
!HPF$ DISTRIBUTE (BLOCK, *) :: a, b
  do j = 1, 8
    do i = 1, 8
! a comment takes no time
      a(i, j) = real(i + j)
      b(i, j) = 0.0
    end do
  end do
end program nest
"""


@pytest.mark.parametrize(("asked", "carries"), [(4, 7), (5, 7), (8, 7)])
def test_an_inner_line_of_a_nest_names_the_line_that_carries_its_time(asked, carries, esp, tmp_path):
    (tmp_path / "nest.hpf").write_text(NEST)
    words = ("run", f"{tmp_path}/nest.hpf", "--procs", "4", "--line")
    code, out, err = esp(*words, str(asked))
    assert (code, out) == (0, esp(*words, str(carries))[1])
    assert f"line {asked} is part of line {carries}" in err
    assert "takes no time" not in out


@pytest.mark.parametrize("line", [2, 6])
def test_a_line_that_is_no_part_of_a_nest_takes_no_time(line, esp, tmp_path):
    (tmp_path / "nest.hpf").write_text(NEST)
    assert esp("run", f"{tmp_path}/nest.hpf", "--line", str(line))[1].startswith(
        f"Line {line} takes no time of its own; esp explain gives the reason.\n\n"
    )
