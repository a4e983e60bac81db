"""`esp explain`: its formulas are multiplied out again by a parser that knows nothing of esp."""

import itertools
import json
import re

import pytest
import yaml

import esp as package
from esp.locate import systems_dir
from sag.quantities import parse_quantity

UNIT = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12, "min": 60.0, "h": 3600.0}
TERM = re.compile(r"^ +(-?[\d,.]+) x +([\d.e+-]+) (\w+) [~ ]= +(-?[\d,.e+-]+) (\w+)  (.+)$")
HEAD = re.compile(r"^  aau (\d+) (computation|communication|waiting|overhead) ([\d,.e+-]+) (\w+)")
HIDDEN = re.compile(r"^ +less ([\d.,e+-]+) (\w+) hidden")
WAIT = re.compile(r"^ +([\d.,e+-]+) (\w+) waiting for (?:senders|busy links|the last)")
LINE = re.compile(r"^([\d,.]+) (\w+), <?\d+% of the time")

SHIFT = """\
program shift
  integer, parameter :: n = 1000
  double precision :: a(n), b(n), c
!HPF$ PROCESSORS p(4)
!HPF$ DISTRIBUTE (BLOCK) ONTO p :: a, b
  c = 2.0d0
  forall (i = 1:n) b(i) = c
  forall (i = 2:n) a(i) = b(i-1) * c + b(i)
end program shift
"""


def number(text):
    return float(text.replace(",", ""))


def parsed(text):
    """Time of the line, and for each (AAU, category) its time and its rows (count, price, time, words). What is hidden
    is a row with a negative count, and what is waited for one with a count of 1."""
    formulas, total, current = {}, None, None
    for row in text.splitlines():
        if (found := LINE.match(row)) and total is None:
            total = number(found[1]) * UNIT[found[2]]
        elif found := HEAD.match(row):
            current = (int(found[1]), found[2])
            formulas[current] = (number(found[3]) * UNIT[found[4]], [])
        elif found := TERM.match(row):
            price = float(found[2]) * UNIT[found[3]]
            formulas[current][1].append((number(found[1]), price, number(found[4]) * UNIT[found[5]], found[6]))
        elif found := HIDDEN.match(row):
            seconds = number(found[1]) * UNIT[found[2]]
            formulas[current][1].append((-1.0, seconds, -seconds, "hidden"))
        elif found := WAIT.match(row):
            seconds = number(found[1]) * UNIT[found[2]]
            formulas[current][1].append((1.0, seconds, seconds, "waited"))
    return total, formulas


def lines_with_time(program, procs):
    return [each.line for each in package.predict(program, procs=procs).lines if each.time_s > 0]


@pytest.mark.parametrize(("program", "procs"), [("laplace", 8), ("redblack", 3), ("pipeline", 5), ("pbs1", 16)])
def test_a_reader_can_multiply_the_formula_out(program, procs, esp):
    """Every row, every AAU and every line; three digits are shown."""
    lines = lines_with_time(program, procs)
    assert len(lines) > 3
    for line in lines[1::2]:
        code, out, _ = esp("explain", f"{program}:{line}", "--procs", str(procs), "--all")
        assert code == 0
        total, formulas = parsed(out)
        assert formulas, out
        for (aau, category), (time, rows) in formulas.items():
            assert rows, (line, aau, category)
            for count, price, shown, words in rows:
                assert count * price == pytest.approx(shown, rel=0.006), (line, words)
            exact = sum(count * price for count, price, _, _ in rows)
            size = sum(abs(count) * price for count, price, _, _ in rows)
            assert exact == pytest.approx(time, rel=0.006, abs=0.006 * size), (line, aau, category)
        whole = sum(count * price for _, rows in formulas.values() for count, price, _, _ in rows)
        size = sum(abs(count) * price for _, rows in formulas.values() for count, price, _, _ in rows)
        assert whole == pytest.approx(total, rel=0.006, abs=0.006 * size), line


@pytest.mark.sampled
@pytest.mark.parametrize("most", [3, pytest.param(6, marks=pytest.mark.truth)])
@pytest.mark.parametrize(
    ("program", "procs", "options"),
    [
        ("laplace", 8, ()),
        ("laplace", 6, ("--load", "30%")),
        ("redblack", 4, ("--overlap", "0.4")),
        ("gauss", 4, ("--set", "n=12")),
        ("laplace_xb", 7, ("--bandwidth", "x3")),
    ],
)
def test_the_terms_add_up_to_the_time_exactly(program, procs, options, most, esp):
    said = json.loads(esp("run", program, "--procs", str(procs), *options, "--json")[1])
    busiest = sorted(said["lines"], key=lambda each: -each["time_s"])[:most]
    for line in busiest:
        told = json.loads(esp("explain", f"{program}:{line['line']}", "--procs", str(procs), *options, "--json")[1])
        assert told["time_s"] == line["time_s"]
        terms = [term for formula in told["formulas"] for term in formula["terms"]]
        for term in terms:
            assert term["count"] * term["seconds"] == pytest.approx(term["time_s"], rel=1e-12)
        hidden = sum(formula["hidden_s"] for formula in told["formulas"])
        waited = sum(wait["time_s"] for formula in told["formulas"] for wait in formula["waits"])
        made = sum(term["time_s"] for term in terms) - hidden + waited
        assert made == pytest.approx(line["time_s"], rel=1e-9, abs=1e-12 * said["time_s"])


def test_counts_are_those_of_a_count_by_hand(esp):
    """999 iterations, of which the four processors run 249, 250, 250 and 250."""
    code, out, _ = esp("explain", "-", "8", "--procs", "4", "--all", stdin=SHIFT)
    assert code == 0
    _, formulas = parsed(out)
    work = {
        words: count
        for (_, category), (_, rows) in formulas.items()
        if category == "computation"
        for count, _, _, words in rows
    }
    assert work["r8.mul"] == work["r8.add"] == work["store"] == work["loop.iteration"] == 999 / 4
    assert work["load"] == 2 * 999 / 4
    assert work["loop.setup"] == 1
    assert "249 to 250 iterations per processor, 249.75 on average" in " ".join(out.split())


def test_messages_are_those_of_a_count_by_hand(esp):
    """Three boundaries, one element of 8 bytes each: sent by three, received by three. The two who send, too, are busy
    until what they receive is there; only the last processor, which sends nothing, has all of it still before it."""
    told = json.loads(esp("explain", "-", "8", "--procs", "4", "--json", stdin=SHIFT)[1])
    (moved,) = told["messages"]
    assert (moved["messages"], moved["bytes"], moved["pattern"]) == (3, 24, "overlap_shift")
    (phase,) = moved["phases"]
    assert (phase["messages"], phase["least_bytes"], phase["most_bytes"]) == (3, 8, 8)
    assert phase["pairs"] == [[0, 1], [1, 2], [2, 3]]
    assert phase["partners"] == "to +1 in the grid"
    assert phase["most_hops"] == 1  # neighbours in Gray code
    (formula,) = (each for each in told["formulas"] if each["category"] == "communication")
    counts = {(term["figure"], term["paid"]): term["count"] for term in formula["terms"]}
    paid = {"startup": 3 / 4, "per_byte": 8 * 3 / 4, "per_hop": 3 / 4}
    assert counts == {
        (f"cube.network.short.{key}", side): often for key, often in paid.items() for side in ("sending", "receiving")
    }
    assert formula["hidden_s"] == pytest.approx(2 / 4 * (65e-6 + 8 * 0.425e-6 + 10e-6), rel=1e-9)


def test_partners_of_a_reduction_are_neighbours_of_the_hypercube(esp):
    """Ranks 0 to 3 lie on nodes 0, 1, 3 and 2 (Gray code), so along the second dimension 0 meets 3, and 1 meets 2."""
    program = SHIFT.replace("end program", "print *, sum(a)\nend program")
    told = json.loads(esp("explain", "-", "9", "--procs", "4", "--json", stdin=program)[1])
    phases = [phase for moved in told["messages"] if "reduction" in moved["pattern"] for phase in moved["phases"]]
    assert [each["partners"] for each in phases] == ["pairs of ranks 1 apart", "0->3, 1->2, 2->1, 3->0"]


def test_prices_are_those_of_the_machine_file(esp):
    document = yaml.safe_load((systems_dir() / "ipsc860.yaml").read_text(encoding="utf-8"))
    text = json.dumps(document)
    told = json.loads(esp("explain", "laplace:36", "--procs", "8", "--json")[1])
    prices = {t["figure"]: t["seconds"] for formula in told["formulas"] for t in formula["terms"]}
    written = {parse_quantity(each, "time") for each in re.findall(r'"([\d.]+ [nu]s)"', text)}
    operations = {price for name, price in prices.items() if ".processor." in name}
    assert operations
    assert {round(each * 1e12) for each in operations} <= {round(each * 1e12) for each in written}


def test_what_would_change_it_is_what_a_what_if_predicts(esp):
    told = json.loads(esp("explain", "laplace:36", "--procs", "8", "--json")[1])
    changes = {each["name"]: each for each in told["changes"]}
    for name, what in {
        "bandwidth x2": {"bandwidth": 2},
        "latency x0.5": {"latency": 0.5},
        "processor x2": {"processor_speed": 2},
        "memory x2": {"memory_speed": 2},
        "procs 16": {"procs": 16},
    }.items():
        made = package.predict("laplace", **({"procs": 8} | what))
        (line,) = (each for each in made.lines if each.line == 36)
        assert changes[name]["line_s"] == pytest.approx(line.time_s, rel=1e-12), name
        assert changes[name]["total_s"] == pytest.approx(made.time_s, rel=1e-12), name


@pytest.mark.parametrize(
    ("width", "line"),
    [
        pytest.param(width, line, marks=() if width == 60 or line == 36 else pytest.mark.truth)
        for width in (60, 80, 120)
        for line in (16, 36, 38, 46, 47)
    ],
)
def test_nothing_is_wider_than_the_screen(width, line, esp, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    out = esp("explain", f"laplace:{line}", "--procs", "8")[1]
    assert [row for row in out.splitlines() if len(row) > width] == []


def test_a_continuation_belongs_to_its_statement(esp):
    out = esp("explain", "laplace:37")[1]
    assert "\nline 36  forall" in out
    assert "line 37 is part of it\n" in out


def test_a_statement_of_a_loop_that_is_one_unit_belongs_to_the_loop(esp):
    out = esp("explain", "pipeline:26")[1]
    assert "line 25  do i = 2, n\n         line 26 is part of it\n" in out


MAIN = """\
program main
  real :: y(1000)
!hpf$ distribute y(block)
  call smooth(y)
  y = y * 2.0
end program
"""
OTHER = """\
! all of it
subroutine smooth(x)
  real :: x(1000)
!hpf$ distribute x(block)
  x = x + &
      cshift(x, 1)
end subroutine
"""


def test_lines_of_another_file(esp, tmp_path, monkeypatch):
    """Line 5 is in both files: each is explained, and shown, by itself."""
    (tmp_path / "main.f90").write_text(MAIN)
    (tmp_path / "other.f90").write_text(OTHER)
    monkeypatch.chdir(tmp_path)
    _, one, _ = esp("explain", "main.f90:5", "--file", "other.f90", "--procs", "4")
    _, other, _ = esp("explain", "other.f90:6", "--file", "main.f90", "--procs", "4")
    _, again, _ = esp("explain", "main.f90", "other.f90:6", "--file", "other.f90", "--procs", "4")
    assert again.partition("next")[0] == other.partition("next")[0]
    assert "y = y * 2.0" in one
    assert "overlap shift" not in one
    assert "line other.f90:5  x = x + cshift(x, 1)" in other
    assert "overlap shift" in other
    _, run, _ = esp("run", "main.f90", "other.f90", "--procs", "4")
    assert re.search(r"other.f90:5 .* x = x \+ cshift", run)
    assert "line other.f90:5" in run
    code, _, errors = esp("compare", "main.f90", "other.f90", "--procs", "4")
    assert code == 2
    assert "--file other.f90" in errors
    _, moved, _ = esp("whatif", "main.f90", "--file", "other.f90", "--procs", "4", "--bandwidth", "x2")
    assert "other.f90:5" in moved


def test_a_declaration_takes_no_time(esp):
    code, out, _ = esp("explain", "laplace:16")
    assert code == 0
    assert "It takes no time" in out


SMOOTH = """\
program old
  integer, parameter :: n = 64
  real :: v(n,n), p(n,n), s(n)
!HPF$ DISTRIBUTE v(BLOCK,*)
!HPF$ ALIGN p(i,j) WITH v(i,j)
  v = 0.5
  call smooth(v, p)
  s = matmul(v, p(:,1))
  print *, p(5,5), s(1)
contains
subroutine smooth(v, p)
  real :: v(n,n), p(n,n)
!HPF$ DISTRIBUTE v(BLOCK,*)
!HPF$ ALIGN p(i,j) WITH v(i,j)
  integer :: i, j
  do j = 1, n
    do i = 1, n
      if (v(i,j) > 0.0) then
        p(i,j) = 0.01*v(i,j)
      else
        p(i,j) = -0.01*v(i,j)
      end if
    end do
  end do
end subroutine smooth
end program old
"""


@pytest.fixture
def smooth(tmp_path):
    (tmp_path / "old.f90").write_text(SMOOTH)
    return f"{tmp_path}/old.f90"


def _told(esp, file, line):
    code, out, _ = esp("explain", f"{file}:{line}", "--procs", "4")
    assert code == 0
    return " ".join(out.split())


def test_a_condition_names_the_nests_that_test_it(esp, smooth):
    told = "It takes no time of its own: its condition is tested in the nest of line 19, as part of its time."
    assert told in _told(esp, smooth, 18)
    out = esp("explain", f"{smooth}:18", "--procs", "4", "--json")[1]
    assert json.loads(out)["tested_in"] == [19]
    for line in (19, 21):
        said = _told(esp, smooth, line)
        assert "the owner of p(i, j) runs iteration (j, i), and tests the condition of line 18" in said
        assert "$" not in said


def test_lines_without_time_say_what_they_are(esp, smooth):
    divides = "It takes no time: it divides or ends a construct or a program unit."
    declares = "It takes no time: it is a declaration, a directive or a comment."
    assert [divides in _told(esp, smooth, line) for line in (10, 22, 24)] == [True] * 3
    assert [declares in _told(esp, smooth, line) for line in (3, 13, 15)] == [True] * 3


def test_names_that_the_compiler_makes_are_not_shown(esp, smooth):
    assert "$" not in _told(esp, smooth, 8)
    assert "$" not in esp("show", "loops", smooth, "--procs", "4")[1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["laplace"], "laplace: a line is missing. Write laplace:12, or laplace 12."),
        (["laplace", "x"], "'x' is not a line. Write laplace:12; `esp run laplace --lines 12-18` shows several lines."),
        (["laplace:30-38"], "Write laplace:30; `esp run laplace --lines 30-38` shows several lines."),
        (["laplace:4711"], "line 4711: laplace.hpf has lines 1 to 47."),
        (["laplace:36", "--procs", "1,2"], "--procs: esp explain takes one processor count."),
        (["nosuch:3"], "nosuch: file not found, and no bundled program has this name."),
    ],
)
def test_wrong_use(words, message, esp):
    code, out, err = esp("explain", *words)
    assert (code, out) == (2, "")
    assert message in " ".join(err.split())


def test_output_is_the_same_every_time(esp):
    first, second = (esp("explain", "redblack:30", "--procs", "6", "--json") for _ in range(2))
    assert first == second


def test_phases_beyond_a_few_are_counted(esp):
    """A transpose over 16 processors has 15 steps."""
    text = """\
program t
  integer, parameter :: n = 64
  real :: a(n, n), b(n, n)
!HPF$ PROCESSORS p(16)
!HPF$ DISTRIBUTE (BLOCK,*) ONTO p :: a, b
  forall (i = 1:n, j = 1:n) b(i, j) = 1.0
  forall (i = 1:n, j = 1:n) a(i, j) = b(j, i)
end program t
"""
    few = esp("explain", "-", "7", "--procs", "16", stdin=text)[1]
    every = esp("explain", "-", "7", "--procs", "16", "--all", stdin=text)[1]
    assert "more (--all shows them)" in few
    assert len(list(itertools.filterfalse(few.splitlines().__contains__, every.splitlines()))) >= 7


def test_what_is_waited_for_is_said(esp):
    """Processor 0 alone computes before it sends; the others wait for it, and for whom it made late."""
    text = """\
program late
  integer, parameter :: n = 4000
  double precision :: a(n), b(n), s
!HPF$ PROCESSORS p(4)
!HPF$ DISTRIBUTE (BLOCK) ONTO p :: a, b
  forall (i = 1:1000) b(i) = sqrt(exp(b(i)))
  forall (i = 2:n) a(i) = b(i-1)
end program late
"""
    told = json.loads(esp("explain", "-", "7", "--procs", "4", "--json", stdin=text)[1])
    (wait,) = (wait for formula in told["formulas"] for wait in formula["waits"])
    assert (wait["on"], wait["processor"]) == ("sender", 0)
    assert wait["time_s"] == wait["most_s"] > 0.0
    assert "for senders, " in esp("explain", "-", "7", "--procs", "4", stdin=text)[1]
    end = json.loads(esp("explain", "-", "8", "--procs", "4", "--json", stdin=text)[1])
    assert [wait["on"] for formula in end["formulas"] for wait in formula["waits"]] == ["end"]


def test_values_that_are_missing_are_asked_for(esp):
    text = "program p\n  integer :: n, i\n  real :: x\n  read *, n\n  do i = 1, n\n    x = x + 1.0\n  end do\nend\n"
    code, out, err = esp("explain", "-", "5", stdin=text)
    assert (code, out) == (1, "")
    assert "--set n=" in err.lower().replace("set n=value", "set n=")


def test_a_link_that_is_waited_for_is_said(esp):
    """All send to the next but one on a ring of a hypercube: routes of two hops share links."""
    text = """\
program far
  integer, parameter :: n = 4096
  double precision :: a(n), b(n)
!HPF$ PROCESSORS p(16)
!HPF$ DISTRIBUTE (BLOCK) ONTO p :: a, b
  b = 1.0d0
  a = cshift(b, 1280)
end program far
"""
    told = json.loads(esp("explain", "-", "7", "--procs", "16", "--json", stdin=text)[1])
    run = json.loads(esp("run", "-", "--procs", "16", "--json", "--aau", "all", "-q", stdin=text)[1])
    contended = [each["communication"]["contended"] for each in run["aaus"] if each["communication"]]
    assert [each["contended"] for each in told["messages"]] == contended
    shown = esp("explain", "-", "7", "--procs", "16", stdin=text)[1]
    assert ("links contended" in " ".join(shown.split())) is any(contended)
    assert any(contended)


def test_phases_are_those_of_the_run_that_moves_most(esp):
    """Gauss sends ever shorter columns: the first one has n - 1 elements, two more stages tell all eight of it."""
    told = json.loads(esp("explain", "gauss:26", "--procs", "8", "--set", "n=40", "--json")[1])
    (moved,) = told["messages"]
    assert [(phase["messages"], phase["most_bytes"]) for phase in moved["phases"]] == [(1, 312), (2, 312), (4, 312)]
    assert moved["executions"] == 39
    assert moved["bytes"] == sum(7 * 8 * (40 - k) for k in range(1, 40))
