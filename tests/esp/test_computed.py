"""Values that decide the flow are computed, announced and remembered. Trip counts and totals are those of gfortran."""

import re
import subprocess

import pytest

import esp
from aag.diagnostics import UnresolvedError
from esp import computed
from esp.api import Request, load_machine, lower_source, read_source
from esp.traces.record import predicted_trace
from esp.traces.trace import SEND
from esp.validate.counted import compared, counted_program
from esp.validate.counts import predicted as predicted_counts
from interpreter.errors import InterpretationError
from sag.scenario import Scenario, export

RELAX = """\
program relax
integer, parameter :: n = 32
real*8 a(n,n), b(n,n), err, tol
integer i, j, it
!hpf$ processors p(number_of_processors())
!hpf$ distribute (*, block) onto p :: a, b
a = 0.0d0
b = 0.0d0
forall (i = 1:n) a(i,1) = 1.0d0 * i / n
forall (i = 1:n) b(i,1) = 1.0d0 * i / n
tol = 1.0d-3
err = 1.0d0
it = 0
do while (err > tol)
  forall (i = 2:n-1, j = 2:n-1) b(i,j) = 0.25d0 * (a(i-1,j) + a(i+1,j) + a(i,j-1) + a(i,j+1))
  err = maxval(abs(b - a))
  a = b
  it = it + 1
end do
print *, it
end
"""
"""Runs 122 times."""

EARLY = """\
program early
integer, parameter :: n = 32
real*8 a(n), b(n), err
integer i, it, m, cut(4)
!hpf$ processors p(number_of_processors())
!hpf$ distribute (block) onto p :: a, b
cut(1) = 7; cut(2) = 3; cut(3) = 9; cut(4) = 5
m = maxval(cut)
forall (i = 1:n) a(i) = 1.0d0 * mod(i * 7, n)
b = a
it = 0
do
  it = it + 1
  forall (i = 2:n-1) b(i) = 0.5d0 * (a(i-1) + a(i+1))
  err = maxval(abs(b - a))
  if (err < 0.5d0) exit
  a = b
end do
do i = 1, m
  a(2:n) = b(1:n-1)
  b = a
end do
print *, it, m
end
"""
"""Prints 94, 9: EXIT ends the iteration after 93 complete ones."""


def told(prediction):
    return [each.text for each in prediction.assumptions if each.code == "computed"]


def test_a_convergence_loop_runs_as_often_as_in_the_program():
    found = esp.predict(RELAX, procs=4)
    (text,) = told(found)
    assert text.startswith("line 14: the loop runs 122 times, computed by running part of the program (")
    # Each of 122 iterations: 6 messages of the shift, and the reduction of 8; the rest is of PRINT.
    assert found.messages - 122 * (6 + 8) == esp.predict(RELAX, procs=4, trips_14=0).messages


def test_exit_ends_an_iteration_that_is_not_complete():
    found = esp.predict(EARLY, procs=4)
    loop, scalar = told(found)
    assert loop.startswith("line 12: the loop runs 93 times and a part of one more, computed by ")
    assert scalar.startswith("M = 9, computed by ")
    assert not [each for each in found.assumptions if each.code in ("while", "branch")]


def test_without_a_budget_nothing_is_computed():
    with pytest.raises(UnresolvedError, match=r"is unknown \(err cannot be computed\) \(give"):
        esp.predict(RELAX, budget=0)
    with pytest.raises(UnresolvedError, match="line 7: the budget of 1,000 operations is used up"):
        esp.predict(RELAX, budget=1000)


def test_given_values_win():
    found = esp.predict(RELAX, procs=4, trips_14=5)
    assert told(found) == []
    found = esp.predict(RELAX.replace("tol = 1.0d-3", "read *, tol"), procs=4, tol=1e-3)
    assert told(found)[0].startswith("line 14: the loop runs 122 times")


def test_a_given_number_of_iterations_is_that_of_complete_ones():
    """The function in the condition is a procedure: its statements run once more, as they do in the computed loop."""
    text = """program p
s = 5
do while (f(s) > 1)
  s = s - 1
end do
print *, s
contains
  real function f(x)
    y = 2*x
    y = y + sqrt(y)
    f = y/3
  end function
end program
"""
    computed, given = esp.predict(text, procs=1), esp.predict(text, procs=1, trips_3=5)
    assert [each.text for each in given.assumptions] == [
        "line 3: the loop runs 5 times and a part of one more, as given"
    ]
    assert given.time_s == pytest.approx(computed.time_s)


def test_a_value_that_is_not_given_is_named():
    with pytest.raises(UnresolvedError, match="line 11: tol is read from input"):
        esp.predict(RELAX.replace("tol = 1.0d-3", "read *, tol"))


def test_the_variable_that_is_read_is_proposed():
    text = "program p\nread *, r\nk = int(r)/2\ndo i = 1, k\nx = x + 1\nend do\nprint *, x\nend\n"
    with pytest.raises(UnresolvedError) as caught:
        esp.predict(text)
    (found,) = caught.value.diagnostics
    assert (found.code, found.hint) == ("E501", "give r with R=VALUE, or override the computed value of k with K=VALUE")
    assert esp.predict(text, r=6.0).complete
    whole = "program p\nread *, r\nx = 2*r\ndo while (x > 1.0)\nx = x/2\nend do\nprint *, x\nend\n"
    with pytest.raises(UnresolvedError, match=r"\(give r with R=VALUE, or give the trip count with TRIPS_4=VALUE\)"):
        esp.predict(whole)


def test_all_values_that_are_read_are_asked_for_at_once():
    text = (
        "program p\nreal, allocatable :: a(:)\n!hpf$ distribute a(block)\nread *, n, nt\nread *, x\nallocate(a(n))\n"
        "a = x\nm = nt/2\ndo k = 1, m\na = a + 1\nend do\nprint *, sum(a)\nend\n"
    )
    with pytest.raises(UnresolvedError) as caught:
        esp.predict(text)
    assert [(each.code, each.span.line) for each in caught.value.diagnostics] == [("E312", 6), ("E501", 9)]
    assert caught.value.names == ("n", "nt")
    with pytest.raises(UnresolvedError) as caught:
        esp.predict(text, nt=4)
    assert caught.value.names == ("n",)
    assert esp.predict(text, nt=4, n=16).complete


def test_several_entries_have_a_mean():
    text = RELAX.replace("tol = 1.0d-3\n", "do j = 1, 2\ntol = 10.0d0**(-j - 1)\n")
    text = text.replace("end do\nprint", "end do\nend do\nprint")
    (found,) = told(esp.predict(text, procs=4))
    assert found.startswith("line 15: the loop runs 61 times in the mean of 2 entries (19 to 103), computed")


def test_predictions_of_one_program_compute_once():
    computed._computed.cache_clear()
    source = esp.read_source(RELAX)
    esp.predict(source, procs=2)
    esp.sweep(source, procs=(1, 2, 4), bandwidth=("x1", "x2"))
    assert computed._computed.cache_info().misses == 1


def test_a_trace_begins_anew_with_computed_values():
    source, system, request = esp.read_source(EARLY), load_machine("ipsc860"), Request(procs=2)
    trace, prediction = predicted_trace(lower_source(source, system, request), system, request)
    assert (trace.kind == SEND).sum() == prediction.messages > 0


SCATTERED = """\
program scattered
integer, parameter :: n = 40
real :: a(n), b(n)
integer :: i, k(n)
!hpf$ distribute a(block)
!hpf$ align b(i) with a(i)
k = (/ (mod(7*i, n) + 1, i = 1, n) /)
b = 1
do i = 1, n
  a(k(i)) = b(i)
end do
end
"""


@pytest.mark.parametrize(("budget", "known"), [(0, False), (100, False), (100_000, True)])
def test_the_budget_limits_what_index_arrays_may_cost(budget, known):
    told = [each.text for each in esp.predict(SCATTERED, procs=4, budget=budget).assumptions]
    assert any("what k holds is not known" in each for each in told) != known


PIVOT = """program pivot
real :: a(20,20), b(0:8)
integer :: row, k, m(1)
!hpf$ distribute a(block,*)
call random_number(a)
b = 0
do k = 1, 19
m = maxloc(abs(a(k:,k)))
row = m(1) + k - 1
{}
end do
print *, sum(a), sum(b)
end program pivot
"""


@pytest.mark.sampled
@pytest.mark.parametrize(
    "statement",
    [
        "a(k,:) = a(row,:)",
        "if (row /= k) a(k,1) = a(row,1)",
        "b(3) = a(row,k)",
        "if (a(k,1) > abs(a(row,k))) a(k,:) = a(row,:)",
        "s = a(row,k); if (s > a(1,k)) s = 1; a(row,:) = s",
        "s = a(row,k); a(row,k) = a(k,k); a(k,k) = s; do i = k + 1, 20; a(i,k) = a(i,k) / s; end do",
    ],
)
def test_scalars_that_only_select_elements_take_the_middle(statement, tmp_path):
    (tmp_path / "p.hpf").write_text(PIVOT.format(statement))
    found = esp.predict(tmp_path / "p.hpf", procs=4)
    (said,) = [each for each in found.assumptions if each.code == "selected"]
    assert "ROW is not known: taking 10, in the middle of a" in said.text
    assert said.span.line == 10
    assert found.time_s == esp.predict(tmp_path / "p.hpf", procs=4, set={"row": 10}).time_s


@pytest.mark.parametrize(
    "statement",
    [
        "do i = row, 20; a(i,k) = 0; end do",
        "a(row:,k) = a(row,k)",
        "if (row > 3) a(row,k) = a(k,k)",
        "a(row,k) = a(row,k) + 1",
        "i = row + 1; a(i:,k) = a(row,1)",
    ],
)
def test_scalars_that_decide_more_are_asked_for(statement, tmp_path):
    (tmp_path / "p.hpf").write_text(PIVOT.format(statement))
    with pytest.raises(UnresolvedError, match="row"):
        esp.predict(tmp_path / "p.hpf", procs=4)


HALVED = """\
program p
  {of} :: x
  integer :: k
  real :: a(8)
!hpf$ distribute a(block)
  a = 1.0
  k = 0
  read *, x
  do while (x > 3)
    x = x/2
    k = k + 1
  end do
  print *, k
end program p
"""


@pytest.mark.parametrize("of", ["real", "real(8)", "integer"])
@pytest.mark.parametrize("written", ["100", "25.0"])
def test_a_given_value_has_the_type_of_its_variable(of, written, tmp_path):
    """100 is halved 6 times as a real variable and 5 times as an integer; gfortran counts."""
    text = HALVED.format(of=of)
    (tmp_path / "p.f90").write_text(text)
    subprocess.run(["gfortran", tmp_path / "p.f90", "-o", tmp_path / "p"], check=True)
    given = written.removesuffix(".0") if of == "integer" else written
    done = subprocess.run([tmp_path / "p"], input=given, capture_output=True, text=True, check=True)
    value = float(written) if "." in written else int(written)
    assert esp.predict(text, procs=2, x=value).iterations == int(done.stdout)


ENDS = """\
program ends
real a(16), d
integer i, k, every
!hpf$ distribute a(block)
read *, a, every
do k = 1, 50
  a = cshift(a, 1)
  if (mod(k, every) == 0) a = a + 1
  d = sum(a)
  if (d < 1.0) exit
  a = cshift(a, -1)
end do
print *, k
end
"""


def test_a_counted_loop_with_an_exit_ends_when_it_is_told():
    """Each iteration shifts twice, the last one once; each has a reduction."""
    told = {}
    for ends in (None, 0, 4, 49, 50):
        found = esp.predict(ENDS, procs=2, every=3, **({} if ends is None else {"trips_6": ends}))
        told[ends] = found.messages
        if ends is None:
            (text,) = [each.text for each in found.assumptions if each.code == "branch"]
            assert text == (
                "line 10: the condition depends on data: assuming the loop is never left early "
                "(line 5: a is read from input; TRIPS_6=VALUE says how often it runs)"
            )
        else:
            assert not [each for each in found.assumptions if each.code == "branch"] or ends == 50
    shift, both = 2, (told[4] - told[0]) // 4
    assert told[49] - told[4] == 45 * both
    assert told[None] == told[50] == told[49] + shift


LEFT = """\
program left
  implicit none
  integer, parameter :: n = 24, most = 300
  real(8) :: a(n), b(n), d
  integer :: i, k, it
!hpf$ distribute (block) :: a, b
  a = 0
  a(1) = 1
  b = a
  {head}
    forall (i = 2:n-1) b(i) = 0.5d0*(a(i-1) + a(i+1))
    d = maxval(abs(b - a))
    a = b
    {count}
    if (d < 2.0d-2) exit
    if (d > 1.0d3) exit
  end do
  do k = 1, it - 3
    a = cshift(a, 1)
  end do
  search: do i = 1, n
    do k = 1, 3
      if (a(i) > 0.5d0*k) exit search
    end do
  end do search
  print *, it, i, d
end program
"""
COUNTED = LEFT.format(head="do it = 1, most", count="continue")
WHILE = LEFT.format(head="it = 0; do while (it < most)", count="it = it + 1")


def test_a_loop_that_data_leave_runs_as_often_as_it_does(tmp_path):
    """gfortran says how often; what follows the loop uses its counter; one iteration more or less differs."""
    (tmp_path / "p.f90").write_text(COUNTED)
    subprocess.run(["gfortran", tmp_path / "p.f90", "-o", tmp_path / "p"], check=True)
    done = subprocess.run([tmp_path / "p"], capture_output=True, text=True, check=True)
    times, place = (int(each) for each in done.stdout.split()[:2])
    assert 1 < times < 300
    assert place > 1
    found = esp.predict(COUNTED, procs=3)
    said = [each.text for each in found.assumptions if each.code == "computed"]
    assert said[0].startswith(f"line 10: the loop runs {times - 1} times and a part of one more, computed by running")
    assert not [each for each in found.assumptions if each.code == "branch"]
    as_told = esp.predict(COUNTED, procs=3, trips_10=times - 1)
    assert as_told.time_s == found.time_s
    assert esp.predict(COUNTED, procs=3, trips_10=times).time_s > found.time_s


LOOPS = """\
program loops
  implicit none
  integer, parameter :: n = 24
  real(8) :: a(n), b(n), s
  integer :: i, it, m, c
!hpf$ distribute (block) :: a, b
  forall (i = 1:n) a(i) = i
  b = 0
  c = 0
{body}
  b = cshift(b, c)
  print *, sum(a), c
"""
PROCEDURE = """contains
  subroutine relax(most, least)
    integer, intent(in) :: most
    real(8), intent(in) :: least
    integer :: q
    do q = 1, most
      b = cshift(a, 1)
      a = 0.7d0*a + 0.2d0*b
      if (maxval(a) < least) return
      c = c + 1
    end do
    a = a + 100
  end subroutine relax
"""
ENTERED = {
    "never left, other lengths": "do m = 1, 3\n  call relax(5*m, -1d0)\nend do",
    "returned from": "do m = 1, 3\n  call relax(20, 6d0/m)\nend do",
    "a triangle": """do m = 1, 20
  do it = m, 20
    a = a*0.99d0
    s = sum(a)
    if (s < 250d0 - 8*m) exit
    b = b + cshift(a, 1)
  end do
  a = a + 0.5d0
end do""",
    "two exits": """do m = 1, 5
  do it = 1, 40
    a = 0.9d0*cshift(a, 1)
    s = sum(a)
    if (s < 100d0) exit
    b = b + cshift(a, 1)
    if (s < 30d0*m) exit
  end do
  a = a + 10*m
end do""",
    "names": """outer: do m = 1, 8
  inner: do it = 1, 6
    a = 0.95d0*cshift(a, 1)
    s = sum(a)
    if (s < 60d0) exit outer
    if (s < 200d0 .and. it > 2) cycle outer
    b = b + cshift(a, 1)
  end do inner
  b = b + cshift(b, 2)
  c = c + 1
end do outer
do i = 1, m + it
  b = cshift(b, 1)
end do""",
    "a search in each row": """do m = 1, 6
  it = 0
  do
    it = it + 1
    a = a*0.8d0
    s = maxval(a)
    if (s < 12d0 - m) exit
    b = cshift(b, 1)
  end do
  a = a*2
  c = c + it
end do""",
}
"""Loops that are entered several times and run differently often, by what they have."""


@pytest.mark.sampled
@pytest.mark.parametrize("what", ENTERED)
def test_each_entry_runs_as_often_as_in_a_run(what, tmp_path):
    """A node program that counts: the same messages, bytes and floating-point operations."""
    text = LOOPS.format(body=ENTERED[what]) + PROCEDURE * ("call relax" in ENTERED[what]) + "end program\n"
    source, system = read_source(text), load_machine("ipsc860")
    request = Request(procs=3, scenario=Scenario(io=False))
    program = counted_program(lower_source(source, system, request), system, request, tmp_path)
    found = compared(program, system, request, program.run(export(system, request.scenario)))
    assert found.messages[0] == found.messages[1] > 0
    assert found.bytes[0] == found.bytes[1]
    assert not [each for each in found.other if each.operation.startswith("r8.")]
    assert found.error == pytest.approx(0.0, abs=2e-3)


def test_a_while_loop_is_left_as_a_counted_one():
    one, other = (esp.predict(each, procs=3) for each in (COUNTED, WHILE))
    assert one.messages == other.messages
    assert one.messages < esp.predict(COUNTED, procs=3, budget=0).messages


def test_without_enough_operations_the_loop_is_never_left_and_why():
    (text,) = [each.text for each in esp.predict(COUNTED, procs=3, budget=5000).assumptions if "line 15" in each.text]
    assert re.fullmatch(
        r"line 15: the condition depends on data: assuming the loop is never left early \(line \d+: the budget of "
        r"5,000 operations is used up after \d+ iterations, when D was 0\.\d+ \(budget 50000 allows more\); "
        r"TRIPS_10=VALUE says how often it runs\)",
        text,
    ), text


def test_a_condition_on_what_is_read_says_so():
    (text,) = [each.text for each in esp.predict(ENDS, procs=2).assumptions if each.span.line == 8]
    assert text.endswith("(EVERY=VALUE decides it)")


NEIGHBOURS = """\
program lists
integer, parameter :: n = 32
real :: x(n), f(n), d(1), e
integer :: many(n), near(n,n), i, j, k, step
!hpf$ distribute (block) :: x, f, many
!hpf$ align near(*,i) with x(i)
do i = 1, n
  x(i) = mod(7*i, 9)
end do
do step = 1, 3
!hpf$ independent, new(j, d)
do i = 1, n
  many(i) = 0
  do j = 1, n
    d = x(i) - x(j)
    if (abs(d(1)) < 1.5) then
      many(i) = many(i) + 1
      near(many(i),i) = j
    end if
  end do
end do
e = 0
!hpf$ independent, new(k, d), reduction(e)
do i = 1, n
  f(i) = 0
  do k = 1, many(i)
    d = x(near(k,i)) - x(i)
    f(i) = f(i) + d(1)
    e = e + abs(d(1))
  end do
end do
end do
print *, e, f(1)
end
"""


@pytest.mark.truth
def test_index_arrays_of_shared_loops_keep_their_contents():
    points = [7 * i % 9 for i in range(1, 33)]
    pairs = [sum(abs(one - other) < 2 for other in points) for one in points]
    layouts = lower_source(esp.read_source(NEIGHBOURS), load_machine("ipsc860"), Request(procs=2)).node_program.layouts
    assert layouts.contents["many"].values.tolist() == pairs
    found = esp.predict(NEIGHBOURS, procs=1)
    assert found.complete
    assert found.time_s < esp.predict(NEIGHBOURS.replace("< 1.5", "< 2.5"), procs=1).time_s


SIZES = """\
program sizes
integer :: points(2), status
real :: a(20)
!hpf$ distribute a(block)
open (unit=2, file='sizes.data', status='old', iostat=status)
if (status == 0) then
  read (2, *) points
else
  points(1) = 12
  points(2) = 3
end if
do i = 1, points(1)
  a(i) = i
end do
print *, a(3)
end
"""


def test_sizes_in_arrays_ask_for_the_status_that_decides_them():
    with pytest.raises(InterpretationError, match="line 5: status is set by input or output") as caught:
        esp.predict(SIZES, procs=2)
    assert "give status with STATUS=VALUE" in str(caught.value)
    twelve = esp.predict(SIZES.replace("points(1)\n  a", "12\n  a"), procs=2, status=1)
    assert esp.predict(SIZES, procs=2, status=1).time_s == pytest.approx(twelve.time_s, rel=1e-3)


PACKED = """\
program packed
  integer :: m(100), places(100), i, j, k
  real(8) :: x(100)
!hpf$ distribute x(block)
  do j = 1, 100
    m(j) = mod(j, 3)
  end do
  k = 0
  do j = 1, 100
    if (m(j) == 0) then
      k = k + 1
      places(k) = j
    end if
  end do
  {}
  print *, x(1), k
end program
"""


@pytest.mark.parametrize("use", ["do i = 1, k\n    x(i) = 0\n  end do", "x(1:k) = 0", "forall (i = 1:k) x(i) = 0"])
def test_a_counter_that_selects_elements_has_its_last_value_in_bounds(use):
    """It has many values as a subscript, and one where loops run up to it."""
    found = esp.predict(PACKED.format(use), procs=4)
    assert any(each.text.startswith("K = 33, also where it selects elements") for each in found.assumptions)
    (filled,) = (each for each in found.lines if each.line == (16 if "do i" in use else 15))
    stored = (each for each in found.counts.of(filled.aaus) if each.figure.path.endswith("processor.store"))
    assert sum(each.mean for each in stored) * 4 == pytest.approx(33)


INSIDE = """\
program inside
  integer :: m(100), it, k
  real(8) :: x(100)
!hpf$ distribute x(block)
  m = 1
  x = 0
  do it = 1, 10
    k = 0
    do while (k < 7)
      k = k + m(1)
    end do
    x = x + k
  end do
  print *, x(1), k
end program
"""


@pytest.mark.parametrize("given", [{}, {"trips_9": 7}])
def test_a_while_loop_in_iterations_that_repeat_runs_as_computed_or_given(given):
    """Iterations that are not walked do not need its trip count once more."""
    found = esp.predict(INSIDE, procs=4, set=given)
    (added,) = (each for each in found.counts.of(line_of(found, 10).aaus) if each.figure.path.endswith("int.add"))
    assert added.mean == 70


def line_of(prediction, number):
    return next(each for each in prediction.lines if each.line == number)


def test_what_is_only_read_is_asked_for_before_a_long_walk():
    """The loop in front of it takes very many steps: it is not interpreted first."""
    text = """\
program late
  integer :: steps, it, q = 1
  real(8) :: x(400)
!hpf$ distribute x(block)
  read (12, *) steps
  do while (q < 2000000000)
    q = q + mod(q, 3)
  end do
  do it = 1, steps
    x = x + 1
  end do
end program
"""
    with pytest.raises(UnresolvedError, match="line 5: steps is read from unit 12") as error:
        esp.predict(text, procs=4)
    assert error.value.names == ("steps",)
    with pytest.raises(UnresolvedError, match="line 6: the budget of 1,000 operations is used up"):
        esp.predict(text, procs=4, set={"steps": 3}, budget=1000)


LATER = """\
program later
  integer, parameter :: n = 40
  integer :: v(n), i, k, m
!hpf$ distribute v(block)
  do i = 1, n
    v(i) = i
  end do
  k = v(30)
  k = k {}
  do i = 1, k
    v = v + i
  end do
  print *, v(1)
end program
"""


@pytest.mark.parametrize(("change", "times"), [("- 20", 10), ("+ 100", 130), ("- 30", 0)])
def test_a_computed_value_holds_behind_what_changes_it(change, times):
    """It is the value in the bound: what comes before does not change it once more."""
    found = esp.predict(LATER.format(change), procs=4)
    stored = (each for each in found.counts.of(line_of(found, 11).aaus) if each.figure.path.endswith("processor.store"))
    assert sum(each.mean for each in stored) == times * 40 / 4


@pytest.mark.parametrize("use", ["    if (i > m) v(i) = 1", "    forall (j = 1:n, j > m) v(j) = 1"])
def test_conditions_on_an_index_use_a_value_as_bounds_do(use):
    """m is 2 in a bound and 5 in a condition that becomes one: it is asked for, and not taken from the other."""
    text = LATER.replace("  k = k {}", "  m = v(2)\n  do i = 1, m\n    v = v + 1\n  end do\n  m = v(5)\n  k = 3")
    text = text.replace("    v = v + i", use).replace("i, k, m", "i, j, k, m")
    with pytest.raises(UnresolvedError, match=r"m.*several values: 2 in line 10, 7 in line 15"):
        esp.predict(text, procs=4)


def test_elements_that_a_counter_selects_may_be_others():
    """They lie where its values on the way say: the messages of the line may differ, which is said."""
    text = PACKED.format("do i = 1, k\n    x(i) = 0\n  end do")
    text = text.replace("x(block)", "x(block)\n!hpf$ distribute places(cyclic)").replace(
        "places(k) = j", "places(k) = x(k)"
    )
    found = predicted_counts(read_source(text), load_machine("ipsc860"), Request(procs=4))
    assert 13 in found.undecided
