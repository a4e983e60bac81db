"""`--cost` and `--link`: calls of procedures without source are priced, told apart, and run."""

import json
from pathlib import Path

import pytest

import esp as package

PLAIN = Path(__file__).parents[2] / "aag" / "library" / "plain.F90"

SOLVER = """program solver
  implicit none
  integer, parameter :: n = 40
  integer :: i, j, info, piv(n)
  real(8) :: a(n, n), b(n), x(n), s
  real(8), external :: ddot
!HPF$ DISTRIBUTE x(BLOCK)
  do j = 1, n
    do i = 1, n
      a(i, j) = 1d0 / (i + j)
    end do
    a(j, j) = n
    b(j) = j
  end do
  x = 1
  call dgetrf(n, n, a, n, piv, info)
  call dgetrs('n', n, 1, a, n, piv, b, n, info)
  s = ddot(n, b, 1, b, 1)
  x = x + s
  print *, sum(x), info
end program
"""

ADDS = 40**3 / 3 - 40**2 / 2 + 40 / 6
"""Additions of the factorisation; multiplications and divisions are n (n - 1) / 2 more."""

ONE = "program p\nreal(8) :: x(64)\nx = 1\ncall dscal(64, 2d0, x, 1)\nprint *, sum(x)\nend\n"


@pytest.fixture
def solver(tmp_path):
    path = tmp_path / "solver.f90"
    path.write_text(SOLVER)
    return str(path)


@pytest.fixture
def stranger(tmp_path):
    path = tmp_path / "stranger.f90"
    text = "program p\nreal(8) :: x(64), y(64)\ninteger :: n\nn = 50\nx = 1; y = 1\ncall relax(x, n)\n"
    path.write_text(text + "print *, n, sum(y)\nend\n")
    return str(path)


def told(esp, *words):
    code, out, err = esp(*words)
    assert code == 0, err
    return json.loads(out)


def line(said, number):
    return next(each for each in said["lines"] if each["line"] == number)


def test_the_table_prices_calls_and_says_so(solver, esp):
    said = told(esp, "run", solver, "--procs", "2", "--json")
    assert said["complete"] is True
    text = " ".join(each["text"] for each in said["assumptions"])
    assert "dgetrf has no source: a call costs " in text
    assert "(LAPACK Working Note 41) and changes a, ipiv, info" in text
    assert "ddot has no source: a call costs n mul + n add" in text
    assert {each["code"] for each in said["assumptions"]} == {"W285"}


def test_time_is_counts_times_figures(solver, esp):
    """The figures of the bundled machine: 110 ns and 90 ns for a multiplication and an addition, 900 ns for a call."""
    said = told(esp, "run", solver, "--procs", "2", "--json")
    mults = ADDS + 40 * 39 / 2
    assert line(said, 16)["time_s"] == pytest.approx(mults * 110e-9 + ADDS * 90e-9 + 900e-9)
    assert line(said, 17)["time_s"] == pytest.approx(40 * 40 * 110e-9 + 40 * 39 * 90e-9 + 900e-9)


def test_explain_shows_the_counts(solver, esp):
    _, out, _ = esp("explain", solver, "17", "--procs", "2")
    assert "1,600 x    110 ns" in out
    assert "1,560 x     90 ns" in out
    assert "call dgetrs, cost by table" in out


def test_query_and_show_tell_table_option_and_none(tmp_path, esp):
    path = tmp_path / "three.f90"
    path.write_text(
        "program p\nreal(8) :: x(9), y(9)\nx = 1\ny = 1\ncall daxpy(9, 2d0, x, 1, y, 1)\ncall mine(x)\n"
        "call yours(x)\nprint *, sum(x)\nend\n"
    )
    given = (str(path), "--procs", "2", "--cost", "mine = 3 us")
    said = told(esp, "query", *given, "--kind", "call", "--partial", "--json")
    names = [each["name"] for each in said["parts"]]
    assert [name.split(", ")[-1] for name in names] == ["cost by table", "cost by option", "no cost"]
    _, out, _ = esp("show", "node", *given)
    assert "call daxpy(9, 2d0, x, 1, y, 1)   ! cost by table: n mul + n add" in out
    assert "call mine(x)   ! cost by option: 3 us" in out
    assert "found no subroutine yours" in out


def test_an_unknown_procedure_leaves_the_prediction_incomplete_and_the_hint_is_an_option(stranger, esp):
    code, _, err = esp("run", stranger, "--procs", "2")
    assert code == 1
    assert "found no subroutine relax" in err
    assert "--cost relax='2*n flop'" in " ".join(err.split())
    code, out, _ = esp("run", stranger, "--procs", "2", "--partial")
    assert (code, "incomplete" in out) == (0, True)


@pytest.mark.parametrize(
    ("cost", "seconds"),
    [
        ("relax = 2*n flop", 50 * 110e-9 + 50 * 90e-9),
        ("relax(v, m) = 2*m flop", 50 * 110e-9 + 50 * 90e-9),
        ("relax(v, m) = m**2 r8.add + 3 us", 2500 * 90e-9 + 3e-6),
        ("relax = 320 byte", 10 * 330e-9),
        ("relax = 2 ms", 2e-3),
    ],
)
def test_a_cost_completes_it(stranger, esp, cost, seconds):
    said = told(esp, "run", stranger, "--procs", "2", "--cost", cost, "--json")
    assert said["complete"] is True
    assert said["options"]["cost"] == [cost]
    assert line(said, 6)["time_s"] == pytest.approx(seconds + 900e-9)


def test_python_takes_the_same(stranger):
    cost = "relax = 2 ms"
    one = package.predict(stranger, procs=2, cost=cost)
    other = package.predict(package.read_source(stranger, cost=[cost]), procs=2)
    assert one.time_s == other.time_s > 2e-3
    table = package.sweep(stranger, procs=[1, 2], cost=cost)
    assert table.time_s[1] == pytest.approx(one.time_s)


def test_what_a_call_may_change_is_unknown_unless_the_cost_says_more(tmp_path, esp):
    path = tmp_path / "loop.f90"
    text = "program p\nreal(8) :: x(64)\ninteger :: n\nx = 1\nn = 3\ncall relax(x, n)\ndo i = 1, n\nx = x + 1\nend do\n"
    path.write_text(text + "print *, sum(x)\nend\n")
    given = ("run", str(path), "--procs", "2")
    code, _, err = esp(*given, "--cost", "relax = 1 ms")
    assert code == 1
    assert "the flow depends on n" in err
    assert told(esp, *given, "--cost", "relax(v, m) = 1 ms, changes v", "--json")["complete"]
    assert told(esp, *given, "--cost", "relax = 1 ms", "--set", "n=3", "--json")["complete"]


def test_a_value_that_the_cost_needs_is_asked_for(tmp_path, esp):
    path = tmp_path / "ask.f90"
    path.write_text("program p\nreal(8) :: x(64)\nread *, k\nx = 1\ncall relax(x, k)\nprint *, sum(x)\nend\n")
    given = ("run", str(path), "--procs", "2", "--cost", "relax(v, m) = 2*m flop, changes v")
    code, _, err = esp(*given)
    assert (code, "E501" in err, "--set k=" in err.lower()) == (1, True, True)
    assert told(esp, *given, "--set", "k=8", "--json")["complete"]


def test_distributed_arguments_are_refused_by_name_and_line(tmp_path, esp):
    path = tmp_path / "mapped.f90"
    path.write_text(
        "program p\nreal(8) :: x(64), y(64)\n!HPF$ DISTRIBUTE x(BLOCK)\nx = 1\ny = 1\n"
        "call daxpy(64, 2d0, x, 1, y, 1)\nprint *, sum(y)\nend\n"
    )
    code, _, err = esp("run", str(path), "--procs", "2")
    text = " ".join(err.split())
    assert code == 1
    assert "mapped.f90:6:1: W286 daxpy is a library procedure and x is distributed: only its call is charged" in text
    assert "pass sections that one processor owns, or copies without a mapping" in text
    _, out, _ = esp("run", str(path), "--procs", "2", "--partial")
    assert "daxpy is a library procedure and x is distributed (line 6)" in " ".join(out.split())


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("relax = 2*n", "E685 expected a unit at the end of the cost"),
        ("relaks = 2*n flop", "E686 the program calls no procedure relaks"),
        ("relax = 1/0 s", "E688 the cost of this call of relax cannot be computed: float division by zero"),
        ("relax(a, b, c) = 1 s", "E687 the cost of relax does not fit this call"),
    ],
)
def test_wrong_costs(stranger, esp, option, words):
    code, _, err = esp("run", stranger, "--procs", "2", "--cost", option)
    assert code in (1, 2)
    assert words in " ".join(err.split())
    assert "hint:" in err


def test_other_commands_take_costs(stranger, solver, esp):
    cost = ("--cost", "relax = 2 ms")
    for words in (
        ("compare", stranger, "--procs", "2"),
        ("whatif", stranger, "--procs", "2", "--bandwidth", "x2"),
        ("explain", stranger, "6", "--procs", "2"),
        ("sweep", stranger, "--procs", "1,2"),
        ("advise", stranger, "--procs", "2"),
        ("layout", stranger, "--procs", "2"),
        ("report", stranger, "--procs", "2", "-o", f"{stranger}.html"),
    ):
        code, out, err = esp(*words, *cost)
        assert "incomplete" not in out + err, words
        assert code == 0, err
    _, out, _ = esp("run", stranger, "--procs", "2", *cost)
    assert "--cost 'relax = 2 ms'" in " ".join(out.split())
    code, _, err = esp("compare", solver, "--procs", "2")
    assert code == 0, err


def test_arrays_that_a_library_gets_are_not_proposed_to_be_distributed(stranger, tmp_path, esp):
    said = told(esp, "compare", stranger, "--procs", "2", "--cost", "relax = 2 ms", "--json")
    assert [each["distribute"] for each in said["choices"]] == [{"y": "(BLOCK)"}, {"y": "(CYCLIC)"}]
    path = tmp_path / "one.f90"
    path.write_text(ONE)
    code, _, err = esp("compare", str(path), "--procs", "2")
    assert code == 1
    assert "there is nothing to distribute. A library procedure gets x as a whole." in " ".join(err.split())


def test_the_node_program_is_linked_and_prints_what_the_serial_program_prints(solver, esp):
    code, out, err = esp("validate", solver, "--procs", "1,3", "--link", str(PLAIN))
    assert code == 0, err
    assert out.count("same") == 4


def test_the_makefile_names_what_is_linked(solver, tmp_path, esp):
    folder = tmp_path / "made"
    code, _, err = esp("compile", solver, "--procs", "2", "-o", str(folder), "--link", str(PLAIN), "--link", "blas")
    assert code == 0, err
    made = (folder / "Makefile").read_text()
    assert f"solver.o {PLAIN}\n" in made
    assert "-o $@ $^ -lblas\n" in made
    code, _, err = esp("compile", solver, "--procs", "2", "-o", str(folder), "--link", "no/such.f90")
    assert (code, "there is no file no/such.f90" in err) == (2, True)
