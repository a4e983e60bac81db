"""Counters in the text of programs: what they count is compared with what Python counts by hand."""

import subprocess
from collections import Counter

import pytest

from aag.budget import Allowance, Budget
from aag.source import parsing
from esp.errors import PredictionError
from esp.simulate.instrument import Compiler, instrumented

MODULE = """
module esp_simulation
  integer(8) :: esp_often(1000) = 0
end module esp_simulation
"""

PLAIN = Compiler(invariant=False)


def counted(text, tmp_path, compiler=PLAIN):
    """The operations of a program that runs with its counters, which it prints at its end (`call esp_show()`)."""
    made = instrumented(text, compiler)
    show = "\ncontains\n  subroutine esp_show()\n    print '(i0)', esp_often\n  end subroutine esp_show\nend program"
    source = MODULE + made.text.replace("\nend program", show if "contains" not in made.text else "\nend program")
    (tmp_path / "it.f90").write_text(source)
    subprocess.run(["gfortran", "-o", "it", "it.f90"], cwd=tmp_path, check=True, capture_output=True)
    answer = subprocess.run(["./it"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    often = [int(each) for each in answer.split()]
    total = Counter()
    for piece, times in zip(made.pieces, often, strict=False):
        for does in piece.does.values():
            for name, number in does.items():
                total[name] += number * times
    return {name: number for name, number in total.items() if number}


def program(declarations, body):
    return f"program it\n  implicit none\n{declarations}\n{body}\n  call esp_show()\nend program it\n"


def test_a_triangular_nest(tmp_path):
    text = program(
        "  integer, parameter :: n = 9\n  integer :: i, j\n  double precision :: a(n, n), s",
        """
  a = 1.0d0
  s = 0.0d0
  do j = 1, n
    do i = j + 1, n, 2
      s = s + a(i, j) * 0.5d0
    end do
  end do
""",
    )
    trips = sum(len(range(j + 1, 10, 2)) for j in range(1, 10))
    assert counted(text, tmp_path) == {
        "r8.add": trips,
        "r8.mul": trips,
        "int.add": 9,
        "load": trips,
        "index.2d": trips,
        "loop.iteration": 81 + 9 + trips,
        "loop.setup": 1 + 1 + 9,
        "store": 81,
        "index.1d": 81,
        "assign": 1,
    }


def test_branches_count_the_conditions_that_were_tested(tmp_path):
    text = program(
        "  integer :: i\n  real :: x",
        """
  x = 0.0
  do i = 1, 10
    if (i < 3) then
      x = x + 1.0
    else if (i * 2 == 10) then
      x = x * 2.0
      cycle
    else if (i > 8) then
      exit
    end if
    if (mod(i, 2) == 0) x = x - 1.0
  end do
""",
    )
    found = counted(text, tmp_path)
    first, second, third, last = 9, 7, 6, 7  # i = 1..9, 3..9, all of these but 5, and all of the 9 but 5 and 9
    assert found["int.cmp"] == first + second + third + last
    assert found["int.mul"] == second
    assert found["int.div"] == last
    assert found["r4.add"] == 2 + 4  # 1 and 2; 2, 4, 6, 8
    assert found["r4.mul"] == 1
    assert found["loop.iteration"] == first


def test_a_condition_of_do_while_is_tested_once_more(tmp_path):
    text = program(
        "  integer :: i\n  double precision :: x",
        """
  i = 0
  x = 8.0d0
  outer: do while (x > 1.0d0 .and. i < 100)
    x = x / 2.0d0
    i = i + 1
    if (i == 50) exit outer
  end do outer
""",
    )
    found = counted(text, tmp_path)
    assert found == {"r8.cmp": 4, "logical": 4, "int.cmp": 4 + 3, "r8.div": 3, "int.add": 3, "assign": 2 + 6}


def test_cases(tmp_path):
    text = program(
        "  integer :: i, k",
        """
  k = 0
  do i = 1, 6
    select case (i)
    case (1)
      k = k + 1
    case (2, 3)
      k = k * 2
    case default
      k = k - 1
    end select
  end do
""",
    )
    found = counted(text, tmp_path)
    assert (found["int.add"], found["int.mul"]) == (1 + 3, 2)
    assert found["int.cmp"] == 1 + 2 * 2 + 3 * 3


def test_functions_count_what_they_do(tmp_path):
    text = """program it
  implicit none
  integer :: i
  double precision :: x
  x = 1.0d0
  do i = 1, 5
    x = x + half(x * x)
  end do
  call esp_show()
contains
  double precision function half(y)
    double precision, intent(in) :: y
    half = y / 2.0d0
    if (half > 1.0d0) half = sqrt(half)
  end function half
  subroutine esp_show()
    use esp_simulation
    print '(i0)', esp_often
  end subroutine esp_show
end program it
"""
    x, roots = 1.0, 0
    for _ in range(5):
        half = x * x / 2
        roots += half > 1
        x += half**0.5 if half > 1 else half
    found = counted(text, tmp_path)
    assert (found["call"], found["r8.mul"], found["r8.div"], found["r8.add"]) == (5, 5, 5, 5)
    assert (found["r8.sqrt"], found["r8.cmp"]) == (roots, 5)


def test_invariants_are_done_before_the_loop_where_the_compiler_does_so(tmp_path):
    text = program(
        "  integer, parameter :: n = 6, m = 4\n  integer :: i, j\n  double precision :: a(n, m), b(m), c",
        """
  c = 3.0d0
  b = 2.0d0
  do j = 1, m
    do i = 1, n
      a(i, j) = c * c + b(j) * c
    end do
  end do
""",
    )
    plain, moved = counted(text, tmp_path), counted(text, tmp_path, Compiler(invariant=True))
    assert (plain["r8.mul"], plain["r8.add"], plain["load"]) == (48, 24, 24)
    assert (moved["r8.mul"], moved["r8.add"], moved["load"]) == (1 + 4, 4, 4)  # the sum depends on j alone, too


def test_addresses_are_stepped_where_the_compiler_does_so(tmp_path):
    text = program(
        "  integer, parameter :: n = 7\n  integer :: i, j\n  real :: a(n, n)",
        """
  a = 1.0
  do j = 2, n - 1
    do i = 2, n - 1
      a(i, j) = a(i - 1, j) + a(i + 1, j) + a(j, 2)
    end do
  end do
""",
    )
    plain, stepped = counted(text, tmp_path), counted(text, tmp_path, Compiler(invariant=False, strength=True))
    assert (plain["index.2d"], plain["index.1d"]) == (4 * 25, 49)
    # Three references of a(i, j) differ by constants: one address. That of a(j, 2) stays as it is in the inner loop.
    assert (stepped["index.2d"], stepped["index.1d"]) == (5 + 5, 49 + 25)


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("x(1:3) = x(2:4)", "an assignment of arrays is not counted"),
        ("where (x > 0.0) x = 1.0", "where is not counted"),
        ("i = 1; j = 2", "several statements on a line are not counted"),
        ("do concurrent (i = 1:4); end do", "several statements on a line"),
    ],
)
def test_what_cannot_be_counted_is_named(statement, says):
    text = program("  integer :: i, j\n  real :: x(4)", f"  {statement}")
    with pytest.raises(PredictionError, match=says) as problem:
        instrumented(text, PLAIN, "it.f90")
    assert problem.value.where == "it.f90:5"


def test_a_text_is_read_whatever_was_read_before(tmp_path, monkeypatch):
    """What readings of the source left of their budget is not what a node program may cost."""
    monkeypatch.setattr(parsing._count, "budget", Budget(0))
    found = counted(program("  integer :: i", "  i = 1\n  i = i + 1"), tmp_path)
    assert found == {"assign": 2, "int.add": 1}


def test_too_intricate_expressions_are_named(monkeypatch):
    monkeypatch.setattr(parsing, "READINGS", Allowance(100, 0))
    with pytest.raises(PredictionError, match="too intricate"):
        instrumented(program("  integer :: i", "  i = ((((1 + 2) * 3) + 4) * 5) + 6"), PLAIN)


def test_what_is_written_anew_is_no_longer_than_a_line_may_be(tmp_path):
    """An IF statement becomes a construct, a DO WHILE a loop with EXIT: in one line each."""
    condition = " .or. &\n      ".join(f"number_{each} == {each} * number_{each} + 1" for each in range(1, 9))
    names = ", ".join(f"number_{each} = 0" for each in range(1, 9))
    text = program(
        f"  integer :: i\n  integer :: {names}",
        f"  i = 0\n  if ({condition}) i = 2\n  do while (i < 3 .or. {condition})\n    i = i + 1\n  end do",
    )
    assert max(map(len, instrumented(text, PLAIN).text.splitlines())) <= 132
    assert counted(text, tmp_path)["int.cmp"] == 8 + 4 * 9


def test_what_is_no_fortran_is_named():
    with pytest.raises(PredictionError, match="not Fortran in free form"):
        instrumented("this is no program\n", PLAIN)
