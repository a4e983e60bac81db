"""`esp query`: its sums are taken again from the JSON of the whole prediction."""

import csv
import io
import json

import pytest

TWICE = """\
program main
  real :: a(100), b(100)
!HPF$ DISTRIBUTE a(BLOCK)
!HPF$ DISTRIBUTE b(BLOCK)
  a = 1.0
  call stranger(a)
  forall (i = 2:100) b(i) = a(i-1)
  call stranger(b)
end program main
"""


@pytest.fixture
def run(esp):
    return json.loads(esp("run", "laplace", "--procs", "8", "--json", "--aau", "all", "-q")[1])


def query(esp, *words):
    code, out, _ = esp("query", "laplace", "--procs", "8", "-q", "--json", *words)
    assert code == 0
    return json.loads(out)


def same(found, units):
    """Whether what was found is these units of the prediction, together."""
    assert found["together"]["aaus"] == [each["id"] for each in units]
    for name in ("time_s", "computation_s", "communication_s", "waiting_s", "overhead_s", "misses"):
        assert found["together"][name] == pytest.approx(sum(each[name] for each in units), rel=1e-12)
    moved = [each["communication"] for each in units if each["communication"]]
    assert found["together"]["messages"] == sum(each["messages"] for each in moved)
    assert found["together"]["bytes"] == sum(each["bytes"] for each in moved)
    for name in ("time_s", "messages", "misses"):
        assert sum(each[name] for each in found["parts"]) == pytest.approx(found["together"][name], rel=1e-12)


@pytest.mark.parametrize("by", ["aau", "line", "kind"])
def test_everything_adds_up_to_the_program(by, esp, run):
    found = query(esp, "--by", by)
    same(found, sorted(run["aaus"], key=lambda e: found["together"]["aaus"].index(e["id"])))
    assert found["together"]["time_s"] == pytest.approx(run["time_s"], rel=1e-12)
    assert found["share"] == pytest.approx(1.0)
    assert found["together"]["messages"] == run["messages"]


def test_lines(esp, run):
    same(
        query(esp, "--lines", "36-38,40", "--lines", "44"),
        [e for e in run["aaus"] if e["line"] in (36, 37, 38, 40, 44)],
    )


def test_lines_are_those_of_the_profile(esp, run):
    found = {each["lines"][0]: each["time_s"] for each in query(esp, "--by", "line")["parts"]}
    told = {each["line"]: each["time_s"] for each in run["lines"]}
    assert {line: found[line] for line in told} == pytest.approx(told, rel=1e-12)


def test_a_sub_graph_is_a_unit_and_all_inside_it(esp, run):
    (loop,) = (each for each in run["aaus"] if each["kind"] == "IterND")
    inside = [each for each in run["aaus"] if each["id"] == loop["id"] or each["parent"] == loop["id"]]
    found = query(esp, "--below", str(loop["id"]))
    same(found, inside)
    assert found["together"]["time_s"] == pytest.approx(loop["total_s"], rel=1e-12)


def test_units_kinds_and_arrays(esp, run):
    same(query(esp, "--aau", "10-12,14"), [e for e in run["aaus"] if e["id"] in (10, 11, 12, 14)])
    same(query(esp, "--kind", "comm,SyncSeq"), [e for e in run["aaus"] if e["kind"] in ("Comm", "SyncSeq")])
    same(query(esp, "--array", "A"), [e for e in run["aaus"] if (e["communication"] or {}).get("array") == "a"])


def test_conditions_must_all_hold(esp, run):
    same(
        query(esp, "--kind", "Comm", "--lines", "30-40"),
        [e for e in run["aaus"] if e["kind"] == "Comm" and 30 <= (e["line"] or 0) <= 40],
    )
    code, out, _ = esp("query", "laplace", "--kind", "Comm", "--lines", "39", "-q")
    assert (code, out) == (0, "No part of laplace.hpf meets all conditions.\n")


def test_procedures(esp):
    out = esp("query", "-", "--procs", "4", "-q", "--json", "--partial", "--by", "procedure", stdin=TWICE)[1]
    parts = {each["name"]: each for each in json.loads(out)["parts"]}
    assert set(parts) == {"main", "stranger"}
    assert parts["stranger"]["lines"] == [6, 8]
    only = esp("query", "-", "--procs", "4", "-q", "--json", "--partial", "--procedure", "stranger", stdin=TWICE)[1]
    assert json.loads(only)["together"]["aaus"] == parts["stranger"]["aaus"]


def test_csv(esp):
    text = esp("query", "laplace", "--procs", "8", "-q", "--csv", "--lines", "36-39")[1]
    rows = list(csv.DictReader(io.StringIO(text)))
    parts = query(esp, "--lines", "36-39")["parts"]
    assert [float(row["time_s"]) for row in rows] == [each["time_s"] for each in parts]
    assert [int(row["aaus"]) for row in rows] == [each["aaus"][0] for each in parts]


@pytest.mark.parametrize("width", [60, 80, 120])
def test_nothing_is_wider_than_the_screen(width, esp, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    out = esp("query", "laplace", "--procs", "8", "-q")[1]
    assert [row for row in out.splitlines() if len(row) > width] == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--aau", "99"], "--aau 99: the units of this program are 0 to 21."),
        (["--below", "x"], "--below: 'x' is not a range. Write 12, or 10-18."),
        (["--lines", "50"], "--lines 50-50: laplace.hpf has lines 1 to 47."),
        (["--lines", "9-3"], "--lines 9-3: laplace.hpf has lines 1 to 47."),
        (["--kind", "loop"], "--kind: there is no loop in this program. There is comm, end, iterd,"),
        (["--array", "z"], "--array: there is no z in this program. There is a, b."),
        (["--procedure", "f"], "--procedure: there is no f in this program. There is laplace."),
        (["--procs", "1,2"], "--procs: a query takes one processor count."),
        (["--json", "--csv"], "not allowed with argument"),
    ],
)
def test_wrong_use(words, message, esp):
    code, out, err = esp("query", "laplace", *words)
    assert (code, out) == (2, "")
    assert message in " ".join(err.split())


def test_a_coarser_granularity_has_fewer_rows_of_the_same_sum(esp):
    fine, loops = query(esp), query(esp, "--granularity", "loop")
    assert len(loops["parts"]) < len(fine["parts"])
    assert loops["together"]["time_s"] == pytest.approx(fine["together"]["time_s"])
    assert loops["together"]["messages"] == fine["together"]["messages"]
