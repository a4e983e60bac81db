"""What `esp validate` says of answers that differ, of programs that do not end, and of values that are no constants."""

import pytest

from esp.cli.main import main
from esp.errors import PredictionError
from esp.tools import call, tool
from esp.validate.answer import difference, unsteady_items

# Readings, as two runs may take equally long.
CLOCK = """\
program p
  integer, parameter :: n = 40
  real :: r(n)
  integer(8) :: start, finish
!hpf$ distribute r(block)
  call system_clock(start)
  r = 2.0
  call system_clock(finish)
  print *, 'time', real(finish, 8) * 1.0d-3
  print *, 'ticks', start
  print *, 'sum', sum(r)
end program
"""

ENDLESS = """\
program p
  real :: e(8)
!hpf$ distribute e(block)
  e = 1.0
  do while (e(1) > 0.5)
    e = e * 1.0
  end do
  print *, sum(e)
end program
"""


def test_where_and_how_far_items_differ():
    assert difference("sum 1.0", "sum 1.0") == ""
    assert (
        difference("(1.6477841626804350,9.41451803804862486E-002)", "(1.6477841626804348,9.41451803804862586E-002)")
        == ""
    )
    assert "(2.0" not in difference("(1.0, 2.0)", "(1.0, 2.5)") != ""
    assert difference("0", "0.000") == "0.000 instead of 0"
    told = difference("sum 1.0000000000000000", "sum 1.0000000000100000")
    assert told.startswith("1.0000000000100000 instead of 1.0000000000000000 behind 'sum' (")
    assert " (1e-11 of the value apart, 1e-12 is allowed; sums in another order are rounded" in told
    assert difference("sum 1.0000000000000000", "sum 1.0000000000100000", allowed=1e-10) == ""
    assert difference("sum 1.0000000000000000", "sum 1.0000100000000000", allowed=1e-10).endswith("1e-10 is allowed)")
    assert difference("sum 1", "sum 2", allowed=1.0) == "2 instead of 1 behind 'sum'"
    assert difference("0.577350283", "0.577350342") == ""
    assert difference("0.577350283", "0.577450283").endswith(" (0.0002 of the value apart, 1e-05 is allowed)")
    assert difference("0.57735028300000003", "0.57735034200000003").endswith("1e-12 is allowed)")
    assert difference("n 4", "n 5") == "5 instead of 4 behind 'n'"
    assert difference("T NaN", "T 0.0") == "0.0 instead of NaN"
    assert difference("1 2", "1 2 3") == "3 items instead of 2"
    assert difference("a 1 b 2", "a 7 b 2", frozenset({1})) == ""
    assert difference("a 1 b 2", "a 7 b 3", frozenset({1})) == "3 instead of 2 behind 'b'"
    assert unsteady_items("a 1 b 2", "a 3 b 2") == {1}


def test_times_that_a_program_prints_are_not_compared(tmp_path, capsys):
    (tmp_path / "p.hpf").write_text(CLOCK)
    assert main(["validate", str(tmp_path / "p.hpf"), "--procs", "2"]) == 0
    told = capsys.readouterr()
    assert told.out.splitlines()[1].split()[1] == "same"
    assert "not compared: two runs of the serial program print" in " ".join(told.err.split())


def test_of_a_clock_is_spoken_where_an_answer_differs(tmp_path, capsys):
    # Without numbers in r its sum is of whatever the memory holds: here of what another order of additions makes.
    text = CLOCK.replace("r = 2.0", "forall (i = 1:n) r(i) = 1.0 / real(i)").replace("sum(r)", "sum(r) - 4.2785430")
    (tmp_path / "p.hpf").write_text(text.replace("  real ::", "  integer :: i\n  real ::"))
    code = main(["validate", str(tmp_path / "p.hpf"), "--procs", "3"])
    told = " ".join(capsys.readouterr().err.split())
    assert code == 3
    assert "of the value apart, 1e-05 is allowed" in told
    assert "reads the clock" in told


def test_a_program_that_does_not_end_is_ended(tmp_path, capsys):
    (tmp_path / "p.hpf").write_text(ENDLESS)
    words = ["validate", str(tmp_path / "p.hpf"), "--procs", "2", "--set", "trips_5=3"]
    assert main([*words, "--timeout", "1"]) == 1
    told = " ".join(capsys.readouterr().err.split())
    assert "the serial program fails: it is still running after 1 s" in told
    assert "--timeout" in told
    assert main([*words, "--timeout", "soon"]) == 2


def test_a_tool_has_a_limit(tmp_path):
    (tmp_path / "Makefile").write_text("all:\n\t@sleep 60\n")
    with pytest.raises(PredictionError, match=r"still running after 0\.2 s"):
        call([tool("make"), "-s"], "it", tmp_path, limit_s=0.2)


VARIABLE = """\
program p
  integer :: n, i
  real :: a(9), b(9)
!hpf$ distribute a(block)
!hpf$ align b(i) with a(i)
  data n /4/
  a = 1.0
  do i = 1, n
    b = cshift(a, 1)
    a = b
  end do
  print *, sum(a)
end program
"""


def test_a_value_of_a_variable_that_is_computed_is_refused(tmp_path, capsys):
    (tmp_path / "p.hpf").write_text(VARIABLE)
    assert main(["validate", str(tmp_path / "p.hpf"), "--procs", "2", "--set", "n=6"]) == 2
    assert "the serial program computes N, whatever is given" in " ".join(capsys.readouterr().err.split())


def test_a_value_of_a_variable_is_named_where_messages_differ(tmp_path, capsys):
    (tmp_path / "p.hpf").write_text(VARIABLE.replace("  data n /4/\n", "  read *, n\n"))
    (tmp_path / "input").write_text("4\n")
    words = ["validate", str(tmp_path / "p.hpf"), "--procs", "2", "--set", "n=6", "--input", str(tmp_path / "input")]
    assert main(words) == 3
    assert "N is not a PARAMETER: the prediction uses the value of --set" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("--set n=abc", "'abc' is not a value for n"),
        ("--tolerance 5 --against simgrid", "only cache misses and answers of MPI programs have a tolerance"),
        ("--keep {file}", "is not a folder"),
        ("--trace {file}", "is not a folder"),
    ],
)
def test_wrong_options(words, told, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["validate", "pi", *words.format(file=tmp_path / "file").split()]) == 2
    assert told in " ".join(capsys.readouterr().err.split())
