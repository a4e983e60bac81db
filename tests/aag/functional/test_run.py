"""Functional interpretation: trip counts, scalars, arrays and branches, and why something is not found."""

import subprocess
from pathlib import Path

import pytest

from aag.functional import run
from aag.functional.run import computed
from aag.functional.tables import LoopTrips, RunLimits, WantedValues
from aag.ir import statements as s
from aag.ir.visitors import walk_statements
from aag.mapping.constants import constants_of
from aag.pipeline import main_unit
from aag.source.read import read_program

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.f90"))


def found(text, *names, given=None, limits=None, branches=()):
    """What is found of the named scalars and arrays, all DO WHILE loops, and some IFs."""
    unit = main_unit(read_program(text, "p.f90"))
    loops = frozenset(each.span.line for each in walk_statements(unit.body) if isinstance(each, s.DoWhile))
    arrays = frozenset(each.name for each in unit.entities if each.shape is not None)
    wanted = WantedValues(
        scalars=frozenset(names) - arrays, arrays=frozenset(names) & arrays, loops=loops, branches=frozenset(branches)
    )
    return computed(unit, wanted, constants_of(unit, {})[0], given or {}, limits or RunLimits())


def whole(count, end=0):
    """The trips of a while loop that is entered once; `end`: the line of its EXIT."""
    return LoopTrips(counts=(count,), exits=frozenset((end,) if end else ()), lengths=(-1,), ends=(end,))


def program(*lines):
    return "program p\n" + "\n".join(lines) + "\nend\n"


@pytest.mark.parametrize("path", PROGRAMS, ids=[each.stem for each in PROGRAMS])
def test_trip_counts_are_those_that_the_program_prints(path, tmp_path):
    subprocess.run(["gfortran", "-w", "-O1", path, "-o", tmp_path / "p"], check=True)
    printed = subprocess.run([tmp_path / "p"], capture_output=True, text=True, check=True).stdout.split()
    (trips,) = found(path.read_text()).trips.values()
    assert trips.counts == (int(printed[0]),)


def test_exit_leaves_an_iteration_that_is_not_complete():
    text = program("real*8 :: x = 8", "do", "x = x / 2", "if (x < 1) exit", "x = x - 0.125", "end do")
    assert found(text).trips == {3: whole(2, 5)}  # 4 - 1/8, 1.9375 - 1/8, 0.90625


def test_a_loop_that_is_entered_several_times_has_several_counts():
    text = program(
        "integer :: i, k", "do i = 1, 3", "k = 0", "do while (k * k < 10 * i)", "k = k + 1", "end do", "end do"
    )
    trips = found(text).trips[5]
    assert trips.counts == (4, 5, 6)
    assert trips.mean == 5
    assert not trips.partial


def test_stop_ends_the_loop_and_the_program():
    body = ("k = k + 1", "if (k * k > 50) stop")
    text = program("integer :: k = 0", "do", *body, "end do", "do while (k > 0)", "end do")
    result = found(text)
    assert result.trips == {3: whole(7, 5)}
    assert result.missing == {"trips_7": "the program does not reach this loop"}


USED = ("integer :: i, n, p(3)", "real :: a(9), x")


def test_a_scalar_that_arrays_decide():
    text = program(*USED, "p = (/ 4, 7, 2 /)", "n = p(2) + maxval(p)", "do i = 1, n - 8", "a(i) = 0", "end do")
    assert found(text, "n").scalars == {"n": 14}


def test_a_scalar_with_several_values_is_not_found():
    text = program(*USED, "p = 2", "do n = 1, 2", "m = p(n) + n", "do i = 1, m", "a(i) = 0", "end do", "end do")
    assert found(text, "m").missing == {"m": "it has several values: 3 in line 7, 4 in line 7"}


def test_a_bound_that_selects_an_element_where_it_has_another_value():
    other = ("k = 2", "do i = 1, k", "a(i) = 0", "end do", "k = 7 - p(2)", "a(k) = x")
    text = program(*USED, "integer :: k", "p = 2", *other)
    assert found(text, "k").missing == {"k": "it has several values: 2 in line 7, 5 in line 11"}
    counter = ("k = 0", "do i = 1, 3", "k = k + 1", "a(k) = x", "end do", "do i = 1, k", "a(i) = 0", "end do")
    assert found(program(*USED, "integer :: k", *counter), "k").scalars == {"k": 3}


def test_contents_of_an_array_at_its_first_use():
    text = program(*USED, "p(1) = 3", "p(2:3) = p(1) + (/ 1, 2 /)", "x = 0", "a(p(1)) = x", "a(p(2)) = x")
    result = found(text, "p")
    assert result.tables["p"].values.tolist() == [3, 4, 5]
    assert result.tables["p"].lower == (1,)
    assert not result.changing


def test_an_array_that_changes_between_uses():
    text = program(*USED, "p = 3", "a(p(1)) = x", "p(3) = 1", "a(p(2)) = x")
    result = found(text, "p")
    assert result.tables["p"].values.tolist() == [3, 3, 3]
    assert result.changing == {"p"}


def test_a_loop_that_leaves_an_array_as_it_is_does_not_run_before_it_is_seen():
    text = program(
        *USED, "p = (/ 1, 2, 3 /)", "x = 1", "do while (x > 0)", "do i = 1, 3", "a(p(i)) = x", "end do", "end do"
    )
    result = found(text, "p", limits=RunLimits(operations=10_000))
    assert result.tables["p"].values.tolist() == [1, 2, 3]
    used = "line 6: the budget of 10,000 operations is used up"
    assert result.missing == {"trips_6": f"{used} after 99 iterations, when X was 1"}


def test_how_often_the_branches_of_an_if_are_taken():
    text = program(
        "integer :: i, k = 0, p(20)",
        "do i = 1, 20",
        "p(i) = mod(i * i, 5)",
        "if (p(i) == 1) then",
        "k = 1",
        "else if (p(i) == 0) then",
        "k = 2",
        "end if",
        "end do",
    )
    assert found(text, branches=(5,)).frequencies == {5: (0.4, 0.2, 0.4)}


def test_given_values_win():
    text = program(*USED, "read *, m", "n = m + 1", "do i = 1, n", "a(i) = 0", "end do")
    assert found(text, "n").missing == {"n": "line 4: m is read from input"}
    assert found(text.replace("read *,", "read (10, *)"), "n").missing == {"n": "line 4: m is read from unit 10"}
    assert found(text, "n", given={"m": 4}).scalars == {"n": 5}


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (("call set(n)",), "line 4: set is not interpreted"),
        (("n = outer(3)",), "line 4: outer is not interpreted"),
        (("n = p(4)",), "line 4: a subscript is outside of its array"),
        (("n = 5 / p(1)", "p(1) = 0"), "line 4: it divides by zero"),
        (("n = int(a(2))",), "line 4: it uses values that were never assigned"),
        (("if (p(2) > 0) n = 4",), "line 5: it has no value"),
    ],
)
def test_why_a_scalar_is_not_found(lines, why):
    text = program(*USED, *lines, "do i = 1, n", "a(i) = 0", "end do")
    assert found(text, "n").missing == {"n": why}


def test_storage_that_is_shared_is_not_followed():
    text = program(*USED, "equivalence (n, p)", "p(1) = 4", "do i = 1, n", "a(i) = 0", "end do")
    assert found(text, "n").missing == {"n": "line 2: n shares its storage with p"}


def test_arrays_that_take_too_much_memory():
    text = program("real*8 :: a(20000, 20000)", "a = 1", "do while (a(1, 1) > 0)", "a = a - 1", "end do")
    assert found(text).missing == {"trips_4": "line 2: the arrays take more than 512 MiB"}


def test_an_array_of_a_size_that_the_program_computes():
    text = """program p
integer :: n, k
n = 3
n = n + 2
k = 0
call run(n, k)
do while (k > 0)
  k = k - 2
end do
contains
subroutine run(m, k)
  integer :: m, k, i
  integer :: work(0:m)
  do i = 0, m
    work(i) = i * i
  end do
  k = work(m)
end subroutine
end
"""
    assert found(text).trips == {7: whole(13)}


def test_reals_of_four_bytes_are_rounded_after_each_operation():
    text = program("real :: x = 1, y", "do", "y = 1 + x", "if (y == 1) exit", "x = x / 2", "end do")
    assert found(text).trips == {3: whole(24, 5)}  # 2**-24 is half a unit in the last place of 1


def test_integers_wrap_as_in_the_machine():
    text = program("integer :: k = 1, n = 0", "do while (k > 0)", "k = k * 3 + 1", "n = n + 1", "end do")
    assert found(text).trips == {3: whole(21)}  # 2**31 <= 3 * 935_209_305 + 1 < 2**32


def test_a_scalar_of_the_iteration_has_its_last_value_behind_the_loop():
    text = program(
        "integer :: i, j, k, p(20)",
        "do i = 1, 20",
        "p(i) = i",
        "end do",
        "do i = 1, 20",
        "k = p(i)",
        "do j = i, 20",
        "k = k + p(j)",
        "end do",
        "end do",
        "do i = 1, k",
        "p(1) = 0",
        "end do",
    )
    assert found(text, "k").scalars == {"k": 40}


def test_conditions_that_use_up_the_budget_together_are_not_tried_one_by_one(monkeypatch):
    ifs = [f"if (x > {at}) x = x + 1" for at in range(40)]
    text = program("real :: x", "integer :: k", "x = 0", "do k = 1, 1000", *ifs, "end do", "print *, x")
    lines = range(6, 46)
    tried = []
    monkeypatch.setattr(run, "written", lambda *given, as_is=run.written: tried.append(0) or as_is(*given))
    assert set(found(text, branches=lines, limits=RunLimits(operations=10_000)).missing) == {f"if_{at}" for at in lines}
    assert len(tried) == 1
    assert not found(text, branches=lines).missing


def test_a_value_that_does_not_hold_in_conditions():
    tested = ("k = 2", "if (k < 3) x = 1", "do i = 1, k", "a(i) = 0", "end do")
    again = ("k = 7 - p(2)", "do while (k > 3 .and. x < 9)", "x = x + 1", "end do")
    head = (*USED, "integer :: k", "p = 2", "x = 0")
    assert found(program(*head, *tested), "k").unsteady == frozenset()
    result = found(program(*head, *tested, *again), "k")
    assert result.scalars == {"k": 2}
    assert result.unsteady == {"k"}
    counted = ("k = 0", "do while (k < 4)", "k = k + 1", "end do", "do i = 1, k", "a(i) = 0", "end do")
    assert found(program(*head, *counted), "k").unsteady == {"k"}
