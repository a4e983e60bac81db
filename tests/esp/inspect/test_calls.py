"""The time of procedures and calls: how often each is called is what gcov counts in the serial program, sums add up to
the total, and a change of a procedure moves only its own exclusive time."""

import csv
import io
import json
import random
import re
import subprocess

import pytest

from aag.source.read import read_program
from esp.api import Source, predict
from esp.inspect.calls import call_rows, path, procedures
from esp.prediction import four
from tests.aag.spmd.programs import program

PROGRAM = """\
program demo
  integer, parameter :: n = 32
  real a(n,n), b(n,n), s
  integer i, j, it, k
!HPF$ DISTRIBUTE (BLOCK,*) :: a
!HPF$ ALIGN b(i,j) WITH a(i,j)
  a = 1.0
  b = 0.0
  do it = 1, 20
    call relax(a, b)
    call step
    if (it > 15) call smooth(a)
    do j = 1, n
      do i = 2, n
        b(i,j) = f(a(i,j)) + f(b(i,j)) * g(a(i,j))
      end do
      call column(b, j)
    end do
  end do
  call relax(b, a)
  s = norm(a) + 2 * norm(b)
  k = 0
  do while (wide(k) > 1)
    k = k + 1
  end do
  print *, s
contains
  subroutine relax(x, y)
    real x(n,n), y(n,n)
    forall (i=2:n-1, j=2:n-1) y(i,j) = 0.25*(x(i-1,j)+x(i+1,j)+x(i,j-1)+x(i,j+1))
    call smooth(y)
  end subroutine
  subroutine smooth(z)
    real z(n,n)
    z = z*0.5
  end subroutine
  subroutine step
    call smooth(b)
  end subroutine
  subroutine column(z, k)
    real z(n,n)
    integer k, l
    do l = 1, n
      z(l,k) = z(l,k) + 1.0
    end do
  end subroutine
  real function f(x)
    real x, t
    t = x*x
    t = 1.0/(1.0 + t)
    f = t
  end function
  real function g(x)
    real x
    g = 2.0*x
  end function
  real function norm(x)
    real x(n,n)
    norm = sum(x)
    norm = sqrt(norm)
  end function
  integer function wide(x)
    integer x, t
    t = abs(x)
    wide = 10 - t
  end function
end program
"""


def _line(text):
    return next(at for at, line in enumerate(PROGRAM.splitlines(), 1) if text in line)


def predicted(text, procs=4, **asked):
    return predict(Source(program=read_program(text, "demo.f90")), procs=procs, **asked)


@pytest.fixture(scope="module")
def demo():
    return predicted(PROGRAM)


def times(found):
    return {each.name: each for each in procedures(found)}


def test_calls_are_as_many_as_gcov_counts(tmp_path):
    (tmp_path / "demo.f90").write_text(PROGRAM, encoding="utf-8")
    for command in (
        ["gfortran", "--coverage", "-O0", "-c", "demo.f90"],
        ["gfortran", "--coverage", "demo.o", "-o", "demo"],
        ["./demo"],
        ["gcov", "-b", "demo.gcda"],
    ):
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    told = (tmp_path / "demo.f90.gcov").read_text(encoding="utf-8")
    counted = {
        name: int(often) for name, often in re.findall(r"^function (\w+?)(?:\.\d+)? called (\d+)", told, re.MULTILINE)
    }
    found = times(predicted(PROGRAM, procs=1))
    assert {name: each.calls for name, each in found.items() if name != "demo"} == {
        name: often for name, often in counted.items() if name not in ("MAIN__", "main")
    }


def test_exclusive_times_add_up_to_the_total(demo):
    whole = sum(each.own_s for each in procedures(demo))
    assert whole == pytest.approx(demo.time_s, rel=1e-12)
    assert demo.calls[0].total.time_s == pytest.approx(demo.time_s, rel=1e-12)
    for at, name in enumerate(("computation_s", "communication_s", "waiting_s", "overhead_s")):
        assert sum(each.parts_s[at] for each in procedures(demo)) == pytest.approx(getattr(demo.parts, name), rel=1e-12)
    assert sum(each.messages for each in procedures(demo)) == demo.messages
    assert sum(each.bytes for each in procedures(demo)) == demo.bytes


def test_an_inclusive_time_is_the_exclusive_one_and_those_of_the_calls_inside(demo):
    for each in demo.calls:
        inside = sum(other.total.time_s for other in demo.calls if other.parent == each.id)
        assert each.total.time_s == pytest.approx(each.parts.time_s + inside, rel=1e-12)
        assert min(four(each.parts)) >= 0.0


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(12))
def test_random_programs_add_up(seed):
    text, procs = program(random.Random(seed), kinds=("called",))
    found = predicted(text, procs)
    assert len(found.calls) > 1
    assert sum(each.parts.time_s for each in found.calls) == pytest.approx(found.time_s, rel=1e-12)
    assert min(min(four(each.parts)) for each in found.calls) >= -1e-12 * found.time_s
    for aau in found.aaus:
        shares = [four(each.parts) for each in aau.division]
        assert [sum(part) for part in zip(*shares, strict=True)] == pytest.approx(four(aau.parts), rel=1e-9, abs=1e-15)


def test_one_procedure_called_from_two_places(demo):
    relaxed = [each for each in demo.calls if each.procedure == "relax"]
    assert [(each.span.line, each.calls) for each in relaxed] == [(10, 20.0), (20, 1.0)]
    smoothed = [(path(demo, each.id), each.calls) for each in demo.calls if each.procedure == "smooth"]
    assert smoothed == [
        ("demo > relax > smooth", 20.0),
        ("demo > step > smooth", 20.0),
        ("demo > smooth", 5.0),
        ("demo > relax > smooth", 1.0),
    ]
    found = times(demo)
    assert found["relax"].calls == 21
    assert found["smooth"].calls == 46


def test_a_procedure_takes_what_its_lines_take(demo):
    """relax and smooth are called in lines of their own, so that without the price of a call both tables agree."""
    free = predicted(PROGRAM, system_set={"cube.node.processor.call": "0 s"})
    lines = {each.line: each.parts.time_s for each in free.lines}
    found = times(free)
    assert found["relax"].own_s == pytest.approx(lines[_line("forall")], rel=1e-12)
    assert found["smooth"].own_s == pytest.approx(lines[_line("z = z*0.5")], rel=1e-12)
    assert found["step"].own_s == 0.0


def test_more_work_in_a_function_moves_its_computation_only(demo):
    """f and main share one nest of loops; what a statement of f adds has no array access."""
    before, after = times(demo), times(predicted(PROGRAM.replace("    f = t\n", "    f = t*1.5\n")))
    for name, each in before.items():
        moved = after[name].parts_s[0] - each.parts_s[0]
        if name == "f":
            operation = next(f for f in demo.counts.figures.values() if f.unit == "r4.mul").seconds[0]
            assert moved == pytest.approx(2 * 20 * 32 * 31 / 4 * operation, rel=1e-9)
        else:
            assert moved == pytest.approx(0.0, abs=1e-12)


def test_a_nest_of_several_procedures_leaves_loop_control_to_the_caller(demo):
    found = times(demo)
    assert found["f"].calls == 2 * 20 * 32 * 31 / 4
    assert found["column"].calls > 0
    assert found["f"].parts_s[1:] == (0.0, 0.0, 0.0)


def test_a_recursive_procedure_is_a_call_without_time():
    text = "program p\ninteger n\nn = 3\ncall r(n)\nend program\n"
    text += "recursive subroutine r(n)\ninteger n\nn = n - 1\nif (n > 0) call r(n)\nend subroutine\n"
    found = predicted(text)
    assert [(path(found, each.id), each.calls) for each in found.calls] == [
        ("p", 1.0),
        ("p > r", 1.0),
        ("p > r > r", 1.0),
    ]
    row = times(found)["r"]
    assert row.time_s == pytest.approx(found.calls[1].total.time_s)


def test_tree_table_json_and_csv_say_the_same(demo, esp, tmp_path):
    (tmp_path / "demo.f90").write_text(PROGRAM, encoding="utf-8")
    words = ("run", str(tmp_path / "demo.f90"), "--procs", "4", "-q")
    said = json.loads(esp(*words, "--json")[1])
    assert [each["procedure"] for each in said["procedures"]] == [each.name for each in procedures(demo)]
    assert [each["time_s"] for each in said["calls"]] == [each.total.time_s for each in demo.calls]
    rows = list(csv.DictReader(io.StringIO(esp(*words, "--by", "call", "--csv")[1])))
    assert [row["path"] for row in rows] == [path(demo, each.id) for each in demo.calls]
    rows = list(csv.DictReader(io.StringIO(esp(*words, "--by", "procedure", "--csv")[1])))
    assert sum(float(row["own_s"]) for row in rows) == pytest.approx(demo.time_s, rel=1e-12)
    tree = esp(*words, "--by", "call")[1]
    for each in call_rows(demo):
        assert "  " * each.depth + each.call.procedure in tree
    query = json.loads(esp("query", *words[1:], "--json", "--by", "procedure")[1])
    assert {each["name"]: each["time_s"] for each in query["parts"]} == pytest.approx(
        {each.name: each.own_s for each in procedures(demo)}, abs=1e-15
    )


@pytest.mark.parametrize("by", ["procedure", "call"])
@pytest.mark.parametrize("width", [60, 80, 120])
def test_tables_fit(width, by, esp, monkeypatch, tmp_path):
    (tmp_path / "demo.f90").write_text(PROGRAM, encoding="utf-8")
    monkeypatch.setenv("COLUMNS", str(width))
    out = esp("run", str(tmp_path / "demo.f90"), "--procs", "4", "-q", "--by", by)[1]
    assert max(map(len, out.splitlines())) <= width
    assert "smooth" in out
