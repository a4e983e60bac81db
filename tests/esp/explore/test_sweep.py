"""Every cell of a sweep is what a prediction of its own says, however the sweep is made."""

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import esp
from aag.diagnostics import SourceError, UnresolvedError
from esp.cli.main import INTERRUPTED, main
from esp.errors import UsageError
from esp.explore.sweep import TIMES
from sag.errors import MachineError

SMALL = """\
program p
  integer, parameter :: n = 24, k = 3
  double precision :: a(n, n), b(n, n)
  integer :: i, j, it
!hpf$ template t(n, n)
!hpf$ distribute t(block, block)
!hpf$ align (i, j) with t(i, j) :: a, b
  a = 1.0d0
  b = a
  do it = 1, k
    forall (i = 2:n-1, j = 2:n-1) b(i, j) = a(i-1, j) + a(i, j+1)
    a = b
  end do
  print *, maxval(a)
end program p
"""

MANY = {
    "bandwidth": ["x0.5", "x1", "x2.25"],
    "load": ["0%", "37%", "80%"],
    "latency": ["x0.1", "x3"],
    "processor_speed": ["x0.5", "x4"],
    "memory_speed": ["x2", "x3"],
    "overlap": ["0", "0.4"],
    "cache": ["4KB", "x2"],
    "contention": [True, False],
    "io": [True, False],
    "n": [8, 23],
    "k": [1, 40],
    "grid": [(4, 2), (2, 4)],
    "distribute": {"t": ["(block,block)", "(cyclic,block)"]},
    "opt": {"hoist": [True, False]},
    "system_set": {"cube.network.long.startup": ["120us", "300us"]},
}


def _alone(**chosen):
    """One cell as a single prediction."""
    sets = dict(chosen.pop("system_set", {}))
    if "cache" in chosen:
        sets["cube.node.memory.cache_size"] = chosen.pop("cache")
    if not chosen.pop("contention", True):
        sets["cube.network.switching"] = "none"
    return esp.predict(SMALL, system_set=sets, **{"procs": 8, **chosen})


def _cells(found, options):
    """The options of each cell, with its index."""
    for at in np.ndindex(*found.time_s.shape):
        chosen = {}
        for axis, where in zip(found.axes, at, strict=True):
            if axis.kind in ("distribute", "opt", "system_set"):
                chosen[axis.kind] = {axis.key: options[axis.kind][axis.key][where]}
            elif axis.kind not in ("program", "system"):
                chosen[axis.name] = options[axis.name][where]
        yield at, chosen


def _check(found, options):
    for at, chosen in _cells(found, options):
        alone = _alone(**chosen)
        assert found.time_s[at] == pytest.approx(alone.time_s, rel=1e-12)
        for name in TIMES[1:]:
            part = getattr(alone.parts, name)
            assert found.times[name][at] == pytest.approx(part, rel=1e-9, abs=1e-12 * alone.time_s)
        assert (found.messages[at], found.bytes[at], found.processors[at]) == (
            alone.messages,
            alone.bytes,
            alone.processors,
        )
        assert found.grids[at] == "x".join(map(str, alone.grid))


@settings(max_examples=7)
@given(st.lists(st.sampled_from(sorted(MANY)), min_size=1, max_size=3, unique=True))
def test_each_cell_equals_a_prediction_of_its_own(names):
    check_cells(names)


@pytest.mark.truth
@settings(max_examples=40)
@given(st.lists(st.sampled_from(sorted(MANY)), min_size=1, max_size=3, unique=True))
def test_each_cell_of_many_equals_a_prediction_of_its_own(names):
    check_cells(names)


def check_cells(names):
    options = {name: MANY[name] for name in names}
    found = esp.sweep(SMALL, procs=8, **options)
    assert found.done.all()
    assert found.time_s.shape == tuple(
        len(values if isinstance(values, list) else next(iter(values.values()))) for values in options.values()
    )
    _check(found, options)


def test_programs_machines_and_processors():
    programs, systems, procs = ["laplace_bx", "laplace_xb"], ["ipsc860", "ipsc860-f90d"], [1, 2, 8]
    found = esp.sweep(programs, systems, procs, n=32, bandwidth=["x1", "x2"])
    assert [axis.name for axis in found.axes] == ["program", "system", "procs", "bandwidth"]
    for i, j, k, m in np.ndindex(2, 2, 3, 2):
        alone = esp.predict(programs[i], systems[j], procs[k], n=32, bandwidth=["x1", "x2"][m])
        assert found.time_s[i, j, k, m] == pytest.approx(alone.time_s, rel=1e-12)


def test_more_scenarios_than_one_walk_takes():
    bandwidth, load = np.linspace(0.5, 4, 60), np.linspace(0, 0.8, 50)
    found = esp.sweep(SMALL, procs=8, bandwidth=bandwidth, load=load)
    assert found.time_s.shape == (60, 50)
    assert found.done.all()
    for at in [(0, 0), (59, 49), (20, 24), (20, 25), (41, 3)]:
        alone = _alone(bandwidth=float(bandwidth[at[0]]), load=float(load[at[1]]))
        assert found.time_s[at] == pytest.approx(alone.time_s, rel=1e-12)
    assert (np.diff(found.time_s, axis=0) <= 0).all()
    assert (np.diff(found.time_s, axis=1) >= 0).all()


def test_processes_change_neither_results_nor_order():
    options = {"n": [8, 16, 23], "bandwidth": ["x1", "x2"], "io": [True, False]}
    one, two = (esp.sweep(SMALL, procs=[2, 8], jobs=jobs, **options) for jobs in (1, 2))
    assert one.time_s.tolist() == two.time_s.tolist()
    assert one.messages.tolist() == two.messages.tolist()
    assert [axis.labels for axis in one.axes] == [axis.labels for axis in two.axes]
    assert str(one) == str(two)


def test_an_executor_of_the_user_does_the_same():
    """Threads share one runner, and take walks that need different node programs at the same time."""
    options = {"n": [8, 12, 16, 20, 24], "io": [True, False], "load": ["0%", "50%"]}
    one = esp.sweep(SMALL, procs=[2, 8], **options)
    with ThreadPoolExecutor(4) as executor:
        other = esp.sweep(SMALL, procs=[2, 8], executor=executor, **options)
    assert one.time_s.tolist() == other.time_s.tolist()


def test_a_mapping_that_does_not_fit_leaves_a_hole():
    found = esp.sweep(SMALL, procs=[4, 2], n=[8, 16], distribute={"t": ["(block(4),*)", "(block,*)"]})
    assert found.impossible.tolist() == [[[False, False], [False, False]], [[False, False], [True, False]]]
    assert (found.done == ~found.impossible).all()
    assert {why.code for _, why in found.problems} == {"E307"}
    assert np.isnan(found.time_s[found.impossible]).all()


def test_where_nothing_fits_the_reason_is_raised():
    with pytest.raises(SourceError, match="E307"):
        esp.sweep(SMALL, procs=[2, 3], distribute={"t": ["(block(1),*)", "(*,block(1))"]})


def test_a_value_that_is_missing_is_asked_for():
    with pytest.raises(UnresolvedError, match="give it with M=VALUE"):
        esp.sweep("program p\n integer :: m, i\n read *, m\n do i = 1, m\n print *, i\n end do\nend\n", procs=[1, 2])


@pytest.mark.parametrize(
    ("options", "error", "told"),
    [
        ({"bandwidth": ["x2", "5MB/s"]}, MachineError, "all factors or all values"),
        ({"load": ["10%", "100%"]}, MachineError, "out of range"),
        ({"system_set": {"cube.nix": ["1us", "2us"]}}, MachineError, "is not a parameter"),
        ({"cache": ["3KB", "5 apples"]}, MachineError, "apples"),
        ({"opt": {"hoisting": [True, False]}}, UsageError, "no optimisation"),
        ({"n": []}, UsageError, "n has no value"),
        ({"timed": [True, False]}, UsageError, "the same for all"),
        ({"io": ["on", "maybe"]}, UsageError, "either on or off"),
    ],
)
def test_wrong_axes(options, error, told):
    with pytest.raises(error, match=told):
        esp.sweep(SMALL, procs=4, **options)


def test_change_against_the_first():
    found = esp.sweep(SMALL, procs=[2, 8], load=["0%", "50%"])
    change = found.change("load")
    assert change[:, 0].tolist() == [0, 0]
    assert change[1, 1] == pytest.approx(found.time_s[1, 1] / found.time_s[1, 0] - 1)
    with pytest.raises(UsageError, match="no axis 'size'"):
        found.change("size")


def test_what_is_answered_shows_itself_as_its_table():
    found = (esp.sweep(SMALL, procs=[2, 8]), esp.compare(SMALL, procs=2), esp.whatif(SMALL, procs=2, load="10%"))
    for each in found:
        assert repr(each).startswith(f"<{type(each).__name__}: ")
        assert "\n" not in repr(each)
        assert "&" not in each._repr_html_().replace("&#x27;", "").replace("&gt;", "").replace("&lt;", "")


# --- text, CSV, JSON ---


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "small.hpf"
    path.write_text(SMALL, encoding="utf-8")
    return str(path)


WORDS = ["--procs", "2,8", "--set", "n=8:24:8", "--bandwidth", "x1,x2"]


def _number(text):
    return None if text == "" else {"true": True, "false": False}.get(text) if text in ("true", "false") else text


def test_csv_lines_and_json_say_the_same_and_can_be_read_back(program, capsys):
    told = {}
    for form in ("--csv", "--jsonl", "--json"):
        assert main(["sweep", program, *WORDS, form]) == 0
        told[form] = capsys.readouterr().out
    rows = list(csv.DictReader(io.StringIO(told["--csv"])))
    lines = [json.loads(line) for line in told["--jsonl"].splitlines()]
    whole = json.loads(told["--json"])
    assert whole["cells"] == lines
    assert [axis["name"] for axis in whole["axes"]] == ["n", "procs", "bandwidth"]
    assert len(rows) == len(lines) == 3 * 2 * 2
    for row, line in zip(rows, lines, strict=True):
        assert list(row) == list(line)
        for name, value in line.items():
            assert row[name] == (str(value).lower() if isinstance(value, bool) else str(value))
        assert sum(line[name] for name in TIMES[1:]) == pytest.approx(line["time_s"], rel=1e-9)
        alone = esp.predict(program, procs=line["procs"], n=line["n"], bandwidth=line["bandwidth"])
        assert float(row["time_s"]) == pytest.approx(alone.time_s, rel=1e-12)


def test_impossible_cells_are_empty_in_csv_and_null_in_json(program, capsys):
    words = ["sweep", program, "--procs", "2,4", "--set", "n=16", "--distribute", "t=(block(4),*)"]
    assert main([*words, "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [bool(row["time_s"]) for row in rows] == [False, True]
    assert main([*words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [each["time_s"] is None for each in told["cells"]] == [True, False]
    assert told["impossible"][0]["code"] == "E307"
    assert main(words) == 0
    assert "failed: E307" in capsys.readouterr().out


SHOWN = ([], ["--versus", "bandwidth"], ["--bars"], ["--distribute", "all"])
FITTED = [
    pytest.param(width, more, marks=() if width == 60 or (width == 80) == (more == []) else pytest.mark.truth)
    for width in (60, 80, 120)
    for more in SHOWN[:: 1 if width == 60 else 3]
] + [pytest.param(width, more, marks=pytest.mark.truth) for width in (80, 120) for more in SHOWN[1:3]]
"""All tables in the narrowest width, and each width; all in all in `make truth`."""


@pytest.mark.sampled
@pytest.mark.parametrize(("width", "more"), FITTED)
def test_tables_fit(program, capsys, monkeypatch, width, more):
    monkeypatch.setenv("COLUMNS", str(width))
    assert main(["sweep", program, *WORDS, *more]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert [line for line in out.splitlines() if len(line) > width] == []


def test_a_star_marks_the_best_distribution(program, capsys):
    assert main(["sweep", program, "--procs", "8", "--set", "n=16", "--distribute", "all"]) == 0
    found = esp.sweep(program, procs=[8], n=[16], distribute={"t": ["(block,block)", "(*,cyclic)"]})
    assert found.time_s.shape == (1, 1, 2)
    out = capsys.readouterr().out
    assert len(re.findall(r"^\([A-Z*]+,[A-Z*]+\)", out, re.MULTILINE)) == 8


def test_a_program_from_standard_input(capsys, monkeypatch, program):
    monkeypatch.setattr(sys, "stdin", io.StringIO(SMALL))
    assert main(["sweep", "-", "--procs", "2,4", "--csv"]) == 0
    out = capsys.readouterr().out
    assert main(["sweep", program, "--procs", "2,4", "--csv"]) == 0
    assert capsys.readouterr().out == out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("--procs 1,x", "not a processor count"),
        ("--procs 8:1", "never gets from 8 to 1"),
        ("--set n=8 --versus m", "the sweep has no axis 'm'"),
        ("--set n", "not of the form NAME=VALUE"),
        ("--jobs 0", "not a process count"),
        ("--procs 2,4 --plot x.gif", "'x.gif' is not the name of a picture"),
        ("--procs 2,4 --plot nix/x.svg", "no such folder"),
        ("--opt hoist=maybe", "neither on nor off"),
        ("--load 10%,200%", "out of range"),
        ("--system ipsc860,cray", "cray: file not found"),
    ],
)
def test_wrong_use(program, capsys, monkeypatch, tmp_path, words, told):
    monkeypatch.chdir(tmp_path)
    assert main(["sweep", program, *words.split()]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert told in " ".join(err.split())


# --- Ctrl-C ---


def test_what_is_done_is_kept(capsys, monkeypatch, program, tmp_path):
    from esp.explore.sweep import Runner

    work, done = Runner.work, []

    def interrupted(self, walk):
        if len(done) == 3:
            raise KeyboardInterrupt
        done.append(walk)
        return work(self, walk)

    monkeypatch.setattr(Runner, "work", interrupted)
    target = tmp_path / "kept.csv"
    assert main(["sweep", program, "--set", "n=8:24:4", "--procs", "2,4", "--csv", "-o", str(target)]) == INTERRUPTED
    assert "3 of 10 predictions are kept" in capsys.readouterr().err
    kept = target.read_text(encoding="utf-8")
    monkeypatch.undo()
    assert main(["sweep", program, "--set", "n=8:24:4", "--procs", "2,4", "--csv"]) == 0
    assert capsys.readouterr().out.startswith(kept)
    assert kept.count("\n") == 1 + 3


SCRIPT = """\
import signal, sys
import esp

def told(done, total, best_s):
    print(done, flush=True)

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    found = esp.sweep("gauss", procs=[2, 4, 8], n=list(range(60, 100)), jobs=int(sys.argv[1]), progress=told)
    print("kept", int(found.done.sum()), found.interrupted)
"""


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_real_interrupt_ends_it_at_once_and_without_traceback(jobs, tmp_path, root):
    script = tmp_path / "long.py"
    script.write_text(SCRIPT, encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, str(script), str(jobs)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(root)},
        start_new_session=True,
    )
    assert process.stdout.readline() == "1\n"
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of them
    out, err = process.communicate(timeout=60)
    kept = re.search(r"kept (\d+) True", out)
    assert kept is not None, out + err
    assert 1 <= int(kept[1]) < 120
    assert err == ""
    assert process.returncode == 0


# --- bars ---


def test_bars_are_as_long_as_the_times(program, capsys):
    assert main(["sweep", program, "--procs", "2,8", "--set", "n=8,24", "--bars"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    found = esp.sweep(program, procs=[2, 8], n=[8, 24])
    most = max(len(row[-1]) for row in rows)
    for row in rows:
        time_s = found.time_s[[2, 8].index(int(row[1])), [8, 24].index(int(row[0]))]
        assert abs(len(row[-1]) / most - time_s / found.time_s.max()) < 1.5 / most


def test_nothing_of_it_loads_matplotlib_unless_drawn(program):
    code = f"import sys; from esp.cli.main import main; main(['sweep', {program!r}, '--procs', '2,4', '--csv']); "
    code += "heavy = ('matplotlib', 'rich', 'textual', 'networkx'); "
    code += "print([each for each in sys.modules if each.split('.')[0] in heavy])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[-1] == "[]"


def test_a_row_of_a_sweep_names_the_grid_that_was_predicted(capsys):
    """A grid of one dimension for formats that distribute two is impossible, and the other way round."""
    words = "sweep laplace --set n=24 --grid 8,2x4 --distribute (*,BLOCK) --distribute (BLOCK,BLOCK) --json"
    assert main(words.split()) == 0
    cells = json.loads(capsys.readouterr().out)["cells"]
    assert [(each["grid"], each["grid_used"], each["time_s"] is None) for each in cells] == [
        ("8", "8", False),
        ("8", None, True),
        ("2x4", None, True),
        ("2x4", "2x4", False),
    ]


@pytest.mark.parametrize(
    ("procs", "labels"),
    [
        ("1,3,5,7", ["(BLOCK,*)", "(CYCLIC,*)", "(*,BLOCK)", "(*,CYCLIC)"]),
        ("3,4", ["(BLOCK,BLOCK)", "(BLOCK,CYCLIC)", "(BLOCK,*)", "(CYCLIC,BLOCK)", "(CYCLIC,CYCLIC)", "(CYCLIC,*)"]),
    ],
)
def test_formats_that_are_others_on_every_processor_count_are_left_out(capsys, procs, labels):
    """On a prime number of processors the second distributed dimension has one of them."""
    words = ["sweep", "laplace_bb", "--procs", procs, "--set", "n=16", "--set", "k=2", "--distribute", "all", "--json"]
    assert main(words) == 0
    told = json.loads(capsys.readouterr().out)
    (axis,) = [each for each in told["axes"] if each["name"] == "distribute"]
    assert axis["values"][: len(labels)] == labels
    assert len(axis["values"]) == (4 if procs.startswith("1") else 8)
