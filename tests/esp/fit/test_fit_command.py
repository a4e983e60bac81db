"""`esp fit`: a table of runs on the command line."""

import json

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
    assert " ".join(out.rpartition("next")[2].split()) == f"esp run lfk03.hpf --system {path} --procs 4"
    assert esp("system", "check", str(path))[0] == 0
    assert path.read_text().startswith("# esp fit ")
    for n, p in RUNS[::5]:
        made = package.predict("lfk03.hpf", path, p, n=n, io=False)
        true = package.predict("lfk03.hpf", procs=p, n=n, io=False, system_set=hidden())
        assert made.time_s == pytest.approx(true.time_s, rel=0.01)
    again = tmp_path / "again.yaml"
    assert esp("fit", str(runs), "lfk03.hpf", "--io", "off", "--system", str(path), "--write", str(again))[0] == 0
    assert "extends: 'mine.yaml'" in again.read_text()
    assert esp("system", "check", str(again))[0] == 0


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--procs", "4"], "--procs has no effect"),
        (["--predict", "n=64"], "needs its processors"),
        (["--predict", "n=64,procs"], "is not NAME=NUMBER"),
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
