"""`esp validate --against cachegrind`: what it reads, what it says, and that it can fail."""

import pytest
from msgspec.structs import replace

from esp import api
from esp.cli.main import main
from esp.errors import PredictionError
from esp.output.validate import validation_text
from esp.tools import call
from esp.validate import cachegrind, measured, valgrind
from esp.validate.cachegrind import MissComparison, MissRow

I860 = valgrind.Geometry(size_bytes=8192, line_bytes=32, ways=2)


def row(counted, predicted):
    return MissRow(line=7, text="x = 0", counted=counted, predicted=predicted)


# --- what is read -----------------------------------------------------------------------------------------------

OUT = """\
desc: D1 cache:         8192 B, 32 B, 2-way associative
events: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw
fl=/some/where/main.f90
fn=MAIN__
12 40 1 1 8 3 1 4 2 1
13 40 1 1 8 0 1 4 0 1
fl=/some/where/other.c
fn=memcpy
12 9 0 0 4 1 0 4 5 0
summary: 89 2 2 20 4 2 12 7 2
"""


def test_misses_are_read_by_file_function_and_line():
    found = [(each.file[-7:], each.function, each.line, each.read, each.write) for each in valgrind.parsed(OUT)]
    assert found == [("ain.f90", "MAIN__", 12, 3, 2), ("other.c", "memcpy", 12, 1, 5)]


def test_a_file_without_data_misses_is_an_error():
    with pytest.raises(PredictionError, match="no data misses"):
        list(valgrind.parsed("events: Ir\nfl=a\nfn=b\n1 2\n"))


def test_lines_of_the_node_program_belong_to_the_source_line_quoted_before_them():
    text = "program x\n  !    2  a = 0\n  do i = 1, 2\n  end do\n\n  ! multicast\n  !    3  b = a\n"
    text += "  b = a\ncontains\n  z\n"
    assert measured.source_lines(text, ["program x", " a = 0", "b = a ! all"]) == [0, 2, 2, 2, 2, 2, 3, 3, 0, 0]


def test_the_condition_around_a_nest_belongs_to_no_line():
    text = "!    1  if (k == n) a = 0\nif (k == n) then\n  do i = 1, 2\n    if (a(i) > 0) a(i) = 0\n"
    assert measured.source_lines(text, ["if (k == n) a = 0"]) == [1, 0, 1, 1]


def test_a_comment_that_begins_with_a_number_is_no_quotation():
    assert measured.source_lines("!    2  of 3 ways\nx = 1\n", ["a", "b"]) == [0, 0]


def test_the_main_program_says_where_its_arrays_lie():
    text = "  use esp_runtime\n  allocate(a(map_a%first(1):map_a%last(1)))\n  call esp_finish()\n"
    assert measured.telling(text, {"a": "a", "s$1": "s_1"}, ["q"], 104).splitlines() == [
        "  use esp_runtime",
        "  use esp_measured",
        "call esp_gap(104_8)",
        "  allocate(a(map_a%first(1):map_a%last(1)))",
        "call esp_lies('a', loc(a))",
        "call esp_lies('s$1', loc(s_1))",
        "call esp_uses((q))",
        "  call esp_finish()",
    ]


def test_nests_of_one_type_share_a_temporary_that_lasts():
    text = """\
  double precision, allocatable :: values_1(:)
  logical, allocatable :: taken_1(:)
  double precision, allocatable :: values_2(:)
  integer, allocatable :: values_3(:)
  !    4  a = cshift(a, 1)
    allocate(values_1(at_1))
    allocate(taken_1(at_1))
    deallocate(values_1, taken_1)
  !    5  b = cshift(b, 1)
    allocate(values_2(at_2))
    b(i) = values_2(at_2)
    deallocate(values_2)
  !    6  k = cshift(k, 1)
    allocate(values_3(at_3))
"""
    made, found = measured.with_lasting_temporaries(text)
    assert found == {"values@4": "values_1", "taken@4": "taken_1", "values@5": "values_1", "values@6": "values_3"}
    assert "deallocate(values_1)" in made
    assert "values_2" not in made
    assert "b(i) = values_1(at_2)" in made
    assert "if (size(values_1) /= at_2) deallocate(values_1)" in made
    assert "if (.not. allocated(values_3)) allocate(values_3(at_3))" in made


POWERS = """\
program powers
  use, intrinsic :: iso_c_binding, only: c_double
  interface
    function power(x, y) bind(C, name='__wrap_pow')
      import :: c_double
      real(c_double), value :: x, y
      real(c_double) :: power
    end function power
  end interface
  integer :: i, j
  real(8) :: worst
  worst = abs(power(-2d0, 3d0) + 8) + abs(power(-2d0, 2d0) - 4) + abs(power(0d0, 2d0))
  do i = 1, 200
    do j = -20, 20
      worst = max(worst, abs(power(i * 0.37d0, j * 0.31d0) / (i * 0.37d0)**(j * 0.31d0) - 1))
    end do
  end do
  if (worst < 1d-12) print '(a)', 'good'
end program powers
"""


def test_powers_are_those_of_the_library(tmp_path):
    (tmp_path / "powers.f90").write_text(POWERS)
    call(["gfortran", "-O2", "powers.f90", str(measured.STUB), "-o", "powers"], "no powers", tmp_path)
    assert call([str(tmp_path / "powers")], "no powers", tmp_path) == "good\n"


# --- what is said -----------------------------------------------------------------------------------------------


def found(*rows):
    return MissComparison(rows=rows, geometry=I860, aliased=())


def test_many_misses_are_judged_by_their_share_and_few_by_their_number():
    assert row((2000, 0), (2200, 0)).within(0.1)
    assert not row((2000, 0), (2201, 0)).within(0.1)
    assert row((2000, 0), (2201, 0)).within(0.2)
    assert row((100, 0), (100, 20)).within(0.1)
    assert not row((100, 0), (100, 21)).within(0.1)


def test_each_nest_is_judged_however_much_others_miss():
    rows = (row((3000000, 0), (3000000, 0)), replace(row((3000, 0), (3301, 0)), line=9))
    (fault,) = cachegrind.faults(found(*rows), 0.1)
    assert "line 9 misses the cache 3000 times, and 3301 times as predicted; 10 % are allowed" in fault
    assert cachegrind.faults(found(*rows), 0.11) == ()


def test_a_small_nest_that_hardly_counts_does_not_fail():
    rows = (row((30000, 0), (30000, 0)), replace(row((300, 0), (0, 0)), line=9))
    assert cachegrind.faults(found(*rows), 0.1) == ()
    assert len(cachegrind.faults(found(rows[0], replace(row((310, 0), (0, 0)), line=9)), 0.1)) == 1


def test_the_lines_of_a_do_nest_are_judged_together():
    """What one statement brings, another may find."""
    first, second = (replace(row(counted, (1500, 0)), line=at, nest=5) for at, counted in ((6, (3000, 0)), (7, (0, 0))))
    (nest,) = found(first, second).nests
    assert (nest.line, nest.misses, nest.off) == (5, 3000, 0)
    assert cachegrind.faults(found(first, second), 0.1) == ()
    assert len(cachegrind.faults(found(replace(first, nest=0), replace(second, nest=0)), 0.1)) == 2


def test_conflict_misses_pass_within_their_span():
    off = row((3000, 0), (4000, 0))
    for span, faults in (((3000, 4000), 0), ((3000, 3999), 1), ((4001, 5000), 1)):
        unsteady = (cachegrind.Unsteady(row=off, least=span[0], most=span[1]),)
        assert len(cachegrind.faults(found(off), 0.1, unsteady)) == faults
        assert "Line 7 has conflict misses" in validation_text(replace(found(off), unsteady=unsteady))


def test_arrays_alias_where_more_than_there_are_ways_begin_in_the_same_line_of_a_turn():
    assert cachegrind.aliased({"a": 0, "b": 4096, "c": 8192 + 31}, I860) == ("a", "b", "c")
    assert cachegrind.aliased({"a": 0, "b": 4096, "c": 8192 + 32}, I860) == ()
    assert cachegrind.aliased({"a": 16, "b": 4096, "c": 8192 - 8}, I860) == ("a", "b", "c")
    assert cachegrind.aliased({"a": 0, "b": 4096}, I860) == ()
    assert cachegrind.aliased({"a": 0, "b": 20, "c": 40, "d": 400}, I860) == ("a", "b", "c")


def test_the_table_and_its_summary():
    rows = (row((2000, 1000), (3030, 0)), replace(row((3, 0), (8, 0)), line=8))
    aliased = replace(found(*rows), aliased=("a", "b", "c"))
    assert validation_text(aliased) == (
        "          counted    predicted\n"
        "line  read  write  read  write   error\n"
        "   7  2000   1000  3030      0  +1.0 %  x = 0\n"
        "   8     3      0     8      0      +5  x = 0\n"
        "\n"
        "1 nest of at least 1000 misses: median error 1.0 %, worst 1.0 %.\n"
        "1 nest of fewer: at most 5 misses off.\n"
        "Data cache: 8192 bytes, 2 ways, lines of 32 bytes, LRU, allocates on writes.\n"
        "More than 2 arrays begin in the same set of the cache: a, b, c.\n"
    )


# --- runs -------------------------------------------------------------------------------------------------------


def test_a_run_from_the_command_line(capsys):
    assert main(["validate", "laplace_bb", "--against", "cachegrind", "--set", "n=40", "--set", "k=2"]) == 0
    told = capsys.readouterr().out
    assert "b = a" in told
    assert max(len(line) for line in told.splitlines()) <= 80


@pytest.mark.parametrize(
    ("name", "repetitions"), [("laplace", "k=1"), pytest.param("lfk03", "reps=2", marks=pytest.mark.truth)]
)
def test_no_loop_is_left_out_because_nobody_needs_its_result(name, repetitions, capsys):
    assert main(["validate", name, "--against", "cachegrind", "--set", "n=50", "--set", repetitions]) == 0


def test_a_prediction_that_is_off_fails(monkeypatch, capsys):
    """With a cache of twice the size predicted, the sweep would keep what it misses."""

    def twice(memory, cache=0):
        found = geometry(memory, cache)
        return valgrind.Geometry(size_bytes=found.size_bytes // 2, line_bytes=found.line_bytes, ways=found.ways)

    geometry = cachegrind.geometry_of
    monkeypatch.setattr(cachegrind, "geometry_of", twice)
    assert main(["validate", "lfk03", "--against", "cachegrind", "--set", "n=300", "--set", "reps=3"]) == 3
    assert "line 25 misses the cache" in capsys.readouterr().err


def test_counts_are_those_of_the_loops_and_repeat(tmp_path):
    """A matrix of 64 lines, written once and read once from the cache that holds it."""
    text = """\
program small
  double precision :: a(16, 16), s
!HPF$ DISTRIBUTE (BLOCK,*) :: A
  forall (i = 1:16, j = 1:16) a(i, j) = dble(i)
  s = sum(a)
  print *, s
end program small
"""
    source, system = api.read_source(text), api.load_machine("ipsc860")
    runs = [cachegrind.compared(source, system, api.Request(procs=1), tmp_path) for _ in range(2)]
    written, read = runs[0].rows
    assert written.counted[1] in {63, 64, 65}
    assert sum(read.counted) <= 3
    assert runs[0].rows == runs[1].rows


@pytest.mark.truth
def test_a_forall_that_reads_what_it_writes_goes_through_memory_twice(tmp_path):
    text = """\
program inplace
  double precision :: a(60, 60)
  integer :: i, k
!HPF$ DISTRIBUTE (*,BLOCK) :: A
  a = 1.0d0
  do k = 1, 3
    forall (i = 2:59) a(i, :) = a(i-1, :) + a(i+1, :)
  end do
  print *, sum(a)
end program inplace
"""
    request = api.Request(procs=1)
    found = cachegrind.compared(api.read_source(text), api.load_machine("ipsc860"), request, tmp_path)
    (swept,) = (row for row in found.rows if row.line == 7)
    assert swept.misses > 3 * 3 * 58 * 60 / 4, "a is read, the temporary written and read, a written"
    assert all(row.within(0.05) for row in found.rows)


LISTS = """\
program lists
  integer, parameter :: n = 400, m = 20
  real(8) :: a(n, m), b(n, m), c(n), w(n, m), s
  integer :: i, j, k, q
!hpf$ distribute w(block, *)
  q = 1
  do j = 1, m
    do i = 1, n
      q = mod(q*421 + 1663, 7875)
      a(i, j) = q
    end do
  end do
  b = 1
  w = 0
  k = 0
  s = 0
  do j = 1, m
    do i = 1, n
      if (a(i, j) < {}) then
        k = mod(k + 1, n) + 1
        c(k) = b(i, j)
      else
        s = 2*s + b(i, 1)
      end if
    end do
  end do
  print *, c(1), s, k
end program lists
"""


@pytest.mark.parametrize("least", [pytest.param(200, marks=pytest.mark.truth), 1500])
def test_a_do_nest_misses_as_often_as_its_conditions_hold(tmp_path, least):
    """The data decide the shares, here 3 % and 19 %. Assuming half of the iterations predicts far more reads of b.
    The reads of the condition count as well."""
    request, text = api.Request(procs=1), LISTS.format(f"{least}d0")
    found = cachegrind.compared(api.read_source(text), api.load_machine("ipsc860"), request, tmp_path)
    rows = {row.line: row for row in found.rows}
    assert rows[19].counted[0] >= 2000
    assert rows[19].within(0.05)
    assert rows[21].predicted[0] == pytest.approx(rows[21].counted[0], rel=0.1)


def test_a_gap_keeps_arrays_apart(tmp_path):
    source, system = api.read_source("lfk03"), api.load_machine("ipsc860")
    request = api.Request(procs=1, values={"n": 128, "reps": 1})
    stages = api.lower_source(source, system, request)
    program = measured.alone(stages.node_program)
    emission = cachegrind.emitted_of(stages, system, request)
    apart = []
    for gap in (0, 1000):
        found = measured.measure(program, emission, tmp_path, I860, gap)
        apart.append(found.addresses["z"] - found.addresses["x"])
    assert 128 * 8 <= apart[0] <= 128 * 8 + 32
    assert apart[0] + 1000 <= apart[1] <= apart[0] + 1000 + 48


def test_other_numbers_of_processors_are_refused(capsys):
    assert main(["validate", "pi", "--against", "cachegrind", "--procs", "1,2"]) == 2
    assert "--procs" in capsys.readouterr().err


def test_a_tolerance_that_is_none_is_refused(capsys):
    assert main(["validate", "pi", "--against", "cachegrind", "--tolerance", "-1"]) == 2
    assert "percentage" in capsys.readouterr().err


def test_without_valgrind_the_package_is_named(monkeypatch, capsys, tmp_path):
    for name in ("gfortran", "make"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["validate", "pi", "--against", "cachegrind"]) == 1
    assert "valgrind is not installed. Install valgrind." in capsys.readouterr().err


def test_the_reason_why_cachegrind_refuses_is_given(monkeypatch, tmp_path):
    told = "==7== warning: x\\n==7== Cachegrind: cannot continue: the minimum line size (16)\\n==7==   is too small.\\n"
    (tmp_path / "valgrind").write_text(f"#!/bin/sh\nprintf '{told}' >&2\nexit 1\n")
    (tmp_path / "valgrind").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(PredictionError, match=r"data cache: the minimum line size \(16\) is too small\."):
        valgrind.watched(tmp_path / "none", (), valgrind.Geometry(size_bytes=8192, line_bytes=16, ways=2))


@pytest.mark.parametrize(("size", "line", "ways"), [(3 * 1024, 32, 2), (8192, 24, 2), (8192, 8, 2)])
def test_caches_that_cachegrind_cannot_simulate_are_refused(size, line, ways, tmp_path):
    with pytest.raises(PredictionError, match="cachegrind"):
        valgrind.watched(tmp_path / "none", (), valgrind.Geometry(size_bytes=size, line_bytes=line, ways=ways))
