"""The lines that arrays of unknown contents decide, and no others."""

import pytest

from aag.pipeline import main_unit, read_program
from esp.cli.main import main
from esp.validate.guesses import lines_by_contents

HEAD = "program p\ninteger :: m(8), k(8), i, j, n, s\nreal :: a(8), b(8)\n"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("s = m(1)\na(1) = 2\na = b + m\nprint *, sum(m)\nb = 1\n", set()),
        ("do i = 1, m(2)\na(i) = 1\nend do\nb = a\ndo i = 1, 8\nb(i) = i\nend do\n", {4, 5}),
        ("n = m(1) + 1\ns = n\ndo i = 1, 3\na(s) = 1\na(i) = 2\nend do\n", {7}),
        ("a(k(3)) = 1\na(m(3)) = 1\na(k(m(3))) = 1\n", {5, 6}),
        ("if (m(1) > 2) n = 3\nif (k(1) > 2) n = 4\ndo i = 1, n\nb(i) = 1\nend do\n", {4, 6, 7}),
        ("do i = 1, 8\nif (m(i) > 3) exit\na(i) = 1\nend do\nb = 1\n", {4, 5, 6}),
        ("do i = 1, 8\na(i) = 1\nif (m(i) > 3) stop\nb(i) = 1\nend do\nb = 1\n", {4, 5, 6, 7, 9}),
        ("k(1) = m(1)\ndo while (s < k(2))\ns = s + 1\nend do\n", {5, 6}),
        ("forall (i = 1:m(1)) a(i) = 1\nwhere (m > 2) a = 2\nb = 1\n", {4, 5}),
    ],
)
def test_lines_that_contents_decide(text, lines):
    unit = main_unit(read_program(f"{HEAD}{text}end program\n", "p.f90"))
    assert lines_by_contents(unit, frozenset(("m",))) == lines
    assert lines_by_contents(unit, frozenset()) == set()


CHANGING = """\
program p
  integer :: count(40), c(100), i, s, m
!hpf$ distribute count(block)
  forall (i=1:100) c(i) = mod(i*7,40) + 1
  count = 0
  do i = 1, 100
    s = 0
    do m = 1, count(c(i))
      if (m == 2) s = m
    end do
    if (s == 0) then
      count(c(i)) = count(c(i)) + 1
      s = count(c(i))
    end if
  end do
  print *, sum(count), s
end program
"""


@pytest.mark.slow
def test_messages_may_differ_where_an_array_changes(tmp_path, capsys):
    (tmp_path / "p.f90").write_text(CHANGING)
    assert main(["validate", str(tmp_path / "p.f90"), "--procs", "4"]) == 0
    told = capsys.readouterr()
    assert told.out.splitlines()[-1].split()[1] == "same"
    assert told.out.splitlines()[-1].endswith("may differ")
    assert "- count changes: taking what it holds when it is first used" in told.err
