"""`esp fit`: a table of runs on the command line."""

import json
import re

import pytest

import esp as package
from tests.esp.fit.test_fitting import hidden

RUNS = [(n, p) for n in (64, 160, 400, 1600) for p in (1, 2, 4)]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    path = tmp_path_factory.mktemp("fit") / "runs.csv"
    lines = ["procs, n, time [ms]"]
    for n, p in RUNS:
        made = package.predict("lfk03.hpf", procs=p, n=n, io=False, system_set=hidden())
        lines.append(f"{p}, {n}, {1e3 * made.time_s!r}")
    path.write_text("\n".join(lines) + "\n")
    return path


def test_text(esp, runs):
    code, out, err = esp("fit", str(runs), "lfk03.hpf", "--io", "off", "--predict", "n=6400,procs=8")
    assert (code, err) == (0, "")
    assert out.startswith("12 runs of lfk03.hpf  ipsc860\n")
    assert "n=6400 procs=8" in out
    assert "next     esp fit" in out
    assert max(map(len, out.splitlines())) <= 80
    words = out.rpartition("next     ")[2].split()
    assert words[:2] == ["esp", "fit"]


def test_json_and_csv(esp, runs):
    words = ("fit", str(runs), "lfk03.hpf", "--io", "off")
    found = json.loads(esp(*words, "--json", "--predict", "n=6400,procs=8")[1])
    assert [each["processors"] for each in found["runs"]] == [p for _, p in RUNS]
    assert max(abs(each["residual"]) for each in found["runs"]) < 0.01
    (forecast,) = found["forecasts"]
    made = package.predict("lfk03.hpf", procs=8, n=6400, io=False, system_set=hidden())
    assert forecast["low_s"] <= made.time_s <= forecast["high_s"]
    assert len(found["covariance"]) == len(found["quantities"])
    lines = esp(*words, "--csv")[1].splitlines()
    assert lines[0].startswith("line,run,processors,time_s,fitted_s")
    assert len(lines) == 1 + len(RUNS)


def test_the_machine_that_is_written(esp, runs, tmp_path):
    path = tmp_path / "mine.yaml"
    code, out, _ = esp("fit", str(runs), "lfk03.hpf", "--io", "off", "--write", str(path))
    assert code == 0
    assert " ".join(out.rpartition("next")[2].split()) == f"esp run lfk03.hpf --system {path} --procs 4 --io off"
    assert esp("system", "check", str(path))[0] == 0
    assert path.read_text().startswith("# esp fit ")
    for n, p in RUNS[::5]:
        made = package.predict("lfk03.hpf", path, p, n=n, io=False)
        true = package.predict("lfk03.hpf", procs=p, n=n, io=False, system_set=hidden())
        assert made.time_s == pytest.approx(true.time_s, rel=0.01)
    again = tmp_path / "again.yaml"
    assert esp("fit", str(runs), "lfk03.hpf", "--io", "off", "--system", str(path), "--write", str(again))[0] == 0
    assert "extends: 'mine.yaml'" in again.read_text()
    out = " ".join(esp("run", "lfk03.hpf", "--system", str(again), "--procs", "2", "--io", "off")[1].split())
    assert out.count("fitted to 12 runs of lfk03.hpf: runs differ from their fitted times by") == 1
    assert esp("system", "check", str(again))[0] == 0


def test_the_machine_that_is_fitted_is_not_overwritten(esp, runs, tmp_path):
    path = tmp_path / "mine.yaml"
    words = ("fit", str(runs), "lfk03.hpf", "--io", "off")
    assert esp(*words, "--write", str(path))[0] == 0
    text = path.read_text()
    out = esp(*words, "--system", str(path))[1]
    assert "--write mine-fitted.yaml" in " ".join(out.split())
    code, _, err = esp(*words, "--system", str(path), "--write", str(path))
    assert code == 2
    assert "this is the machine that is fitted" in err
    assert esp(*words, "--write", str(tmp_path / "ipsc860.yaml"))[0] == 2
    assert not (tmp_path / "ipsc860.yaml").exists()
    assert path.read_text() == text


def test_what_explains_nothing_is_not_written(esp, tmp_path):
    table, path = tmp_path / "runs.csv", tmp_path / "mine.yaml"
    table.write_text("procs,n,time [s]\n1,64,0.07\n1,64,.7\n1,64,7\n2,64,.05\n2,64,5\n4,64,.05\n")
    code, _, err = esp("fit", str(table), "lfk03.hpf", "--write", str(path))
    assert code == 1
    assert "the fit does not explain the runs" in err
    assert not path.exists()


def test_warnings_of_the_program_are_shown(esp, tmp_path):
    program, table = tmp_path / "p.f90", tmp_path / "runs.csv"
    program.write_text(
        "program p\ninteger, parameter :: n = 16\nreal a(n)\n!hpf$ distribute a(block)\ninteger :: i\n"
        "do i = 1, n\na(i+1) = i\nend do\nprint *, sum(a)\nend\n"
    )
    table.write_text("procs,n,time [ms]\n1,16,5\n2,16,5.2\n4,16,5.3\n2,32,5.5\n")
    assert "W211" in esp("fit", str(table), str(program))[2]
    assert "W211" in esp("plan", str(program), "--sizes", "16,32", "--procs", "1,2")[2]


def test_the_file_says_how_it_was_made(esp, runs, tmp_path):
    path = tmp_path / "mine.yaml"
    assert esp("fit", str(runs), "lfk03.hpf", "--io", "off", "--opt", "hoist=off", "--write", str(path))[0] == 0
    assert "lfk03.hpf --io off --opt hoist=off --write" in path.read_text().splitlines()[0]


def test_runs_of_a_fitted_machine_have_an_interval(esp, runs, tmp_path):
    """Also where scenarios take long: it is what the fit is for."""
    path = tmp_path / "mine.yaml"
    assert esp("fit", str(runs), "lfk03.hpf", "--io", "off", "--write", str(path))[0] == 0
    out = esp("run", "lfk03.hpf", "--system", str(path), "--procs", "4", "--io", "off")[1]
    assert "in 90% of the scenarios" in " ".join(out.split())


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda text: text.replace("[ms]", "[s]"), "is the unit of the times right"),
        (lambda text: re.sub(r"(?m)^(\d), \d+,", r"\1, 400,", text), "is a column with a size missing"),
    ],
)
def test_tables_that_cannot_be_right_are_questioned(esp, runs, tmp_path, change, text):
    path = tmp_path / "wrong.csv"
    path.write_text(change(runs.read_text()))
    code, out, _ = esp("fit", str(path), "lfk03.hpf", "--io", "off")
    assert code == 0
    assert text in " ".join(out.split())
    assert "\nnext" not in out
    assert "doubtful" not in esp("fit", str(runs), "lfk03.hpf", "--io", "off")[1]


def test_the_template_has_no_times_yet(esp, tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text(esp("plan", "lfk03.hpf", "--sizes", "100,400", "--procs", "1,2", "--csv")[1])
    code, _, err = esp("fit", str(path), "lfk03.hpf")
    assert code == 2
    assert "runs.csv:2" in err
    assert "this run has no time yet" in err


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--procs", "4"], "--procs has no effect"),
        (["--predict", "n=64"], "needs its processors"),
        (["--predict", "n=64,procs"], "is not NAME=NUMBER"),
        (["--predict", "n=8,procs=4,procs=8"], "procs is given twice"),
        (["--predict", "n=x,procs=4"], "is not NAME=NUMBER"),
        (["--write", "mine.txt"], "a machine is a .yaml file"),
    ],
)
def test_options_that_are_refused(esp, runs, words, text):
    code, _, err = esp("fit", str(runs), "lfk03.hpf", *words)
    assert code == 2
    assert text in err


def test_a_table_that_cannot_be_read(esp, tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text("procs,n\n1,2\n")
    code, _, err = esp("fit", str(path), "lfk03.hpf")
    assert code == 2
    assert "runs.csv:1" in err
    assert "one column time" in err
    code, _, err = esp("fit", str(tmp_path / "none.csv"), "lfk03.hpf")
    assert code == 2
    assert "cannot be read" in err
