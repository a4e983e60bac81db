"""Plans of runs: as good as the best of all subsets, and better than runs at equal distances."""

import io
import os
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import esp as package
from esp import api
from esp.cli.main import main
from esp.fit.plan import chosen_runs, planned
from esp.fit.reading import read_runs
from esp.fit.regression import prior_of
from esp.locate import benchmarks_dir
from esp.request import requested


def determinant(slopes, prior, rows):
    return np.linalg.slogdet(slopes[list(rows)].T @ slopes[list(rows)] + np.linalg.inv(prior))[1]


@pytest.mark.parametrize("seed", range(12))
def test_as_good_as_the_best_of_all(seed):
    rng = np.random.default_rng(seed)
    slopes = rng.standard_normal((9, 3)) * np.exp(rng.standard_normal((9, 1))) * 10
    prior = prior_of(["node", "node", "network"])
    found = determinant(slopes, prior, chosen_runs(slopes, prior, 4))
    best = max(determinant(slopes, prior, rows) for rows in combinations(range(9), 4))
    assert found <= best + 1e-9
    assert found >= best - 0.05
    assert len(set(chosen_runs(slopes, prior, 4))) == 4


def test_no_exchange_makes_a_plan_better():
    rng = np.random.default_rng(3)
    slopes = rng.standard_normal((40, 5)) * 20
    prior = prior_of(["node", "node", "node", "network", "network"])
    chosen = chosen_runs(slopes, prior, 8)
    value = determinant(slopes, prior, chosen)
    for at in range(8):
        for other in set(range(40)) - set(chosen):
            assert determinant(slopes, prior, [*chosen[:at], other, *chosen[at + 1 :]]) <= value + 1e-6


def test_a_program():
    source, system = api.read_source("lfk03.hpf"), api.load_machine("ipsc860")
    found = planned(source, system, requested(1, io=False), [100, 400, 1600, 6400], [1, 2, 4], 6)
    assert found.among == 12
    assert len({(each.run.values["n"], each.run.processors) for each in found.runs}) == 6
    known, systematic = (np.log([factor for _, factor in each]) for each in (found.known, found.systematic))
    assert known.min() > 0
    assert np.log(known).sum() <= np.log(systematic).sum() + 0.1
    assert {each.run.processors for each in found.runs} > {1}
    for each in found.runs:
        n, p = each.run.values["n"], each.run.processors
        assert each.time_s == pytest.approx(package.predict("lfk03.hpf", procs=p, n=n, io=False).time_s)


def test_the_command(esp):
    words = ("plan", "lfk03.hpf", "--sizes", "100..1600", "--procs", "1,2,4", "--runs", "5")
    code, out, err = esp(*words)
    assert (code, err) == (0, "")
    assert "5 runs of 15" in out
    assert " ".join(out.rpartition("next")[2].split()) == (
        "esp plan lfk03.hpf --procs 1,2,4 --sizes 100..1600 --runs 5 --csv -o runs.csv"
    )
    out = esp(*words, "--io", "off", "--distribute", "x=(CYCLIC)", "--timed")[1]
    assert "--distribute 'x=(CYCLIC)' --io off --timed" in " ".join(out.split())
    lines = esp(*words, "--csv")[1].splitlines()
    assert lines[0] == "procs,n,time [s]"
    assert len(lines) == 6


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--procs", "1,2"], "sizes to choose from are needed"),
        (["--sizes", "8,16"], "several numbers of processors"),
        (["--sizes", "8,x", "--procs", "1,2"], "'x' is not a size"),
        (["--sizes", "8,16", "--procs", "1,2", "--runs", "0"], "is not a number of runs"),
        (["--sizes", "8,16", "--procs", "1,2", "--size", "zz"], "zz is not a size"),
        (["--sizes", "8", "--procs", "1,2"], "2 runs say too little"),
        (["--sizes", "1:9000:1", "--procs", "1,2"], "runs cannot be chosen"),
    ],
)
def test_options_that_are_refused(esp, words, text):
    code, _, err = esp("plan", "lfk03.hpf", *words)
    assert code == 2
    assert text in " ".join(err.split())


@pytest.mark.truth
def test_the_script_makes_the_runs(tmp_path, capsys):
    """What it writes is a table for `esp fit`, with the times of programs that ran."""
    (tmp_path / "my laplace.hpf").write_bytes((benchmarks_dir() / "laplace.hpf").read_bytes())
    words = ["plan", str(tmp_path / "my laplace.hpf"), "--sizes", "8,12", "--procs", "1,2", "--runs", "3"]
    assert main([*words, "--set", "k=2", "--script", "-o", str(tmp_path / "runs.sh")]) == 0
    capsys.readouterr()
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "TIMES": "2"}
    table = tmp_path / "out.csv"
    done = subprocess.run(
        ["sh", tmp_path / "runs.sh", table], env=env, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    runs = read_runs(table)
    assert len(runs) == 3
    assert all(0 < each.time_s < 60 for each in runs)
    assert {each.processors for each in runs} <= {1, 2}
    assert {each.values["n"] for each in runs} <= {8, 12}
    assert not list(tmp_path.glob("*-*"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--script", "--timed"], "times the whole program"),
        (["--script", "--io", "off"], "times the whole program"),
        (["--script", "--json"], "neither JSON nor CSV"),
        (["--set", "n=9"], "--sizes has the values of n"),
        (["-", "--script"], "a script needs a file"),
    ],
)
def test_no_script(words, message, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO((benchmarks_dir() / "laplace.hpf").read_text(encoding="utf-8")))
    program = [] if words[0] == "-" else ["laplace"]
    assert main(["plan", *program, *words, "--sizes", "8,12", "--procs", "1,2", "--runs", "3", "--set", "k=2"]) == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_what_is_assumed_of_the_program_is_said(capsys, tmp_path):
    """The trips of a loop that ends early: runs may do less."""
    assert main(["plan", "laplace", "--sizes", "8,12", "--procs", "1,2", "--runs", "3", "--set", "k=2"]) == 0
    assert "the loop exit depends on data" in " ".join(capsys.readouterr().out.split())
    table = tmp_path / "runs.csv"
    table.write_text("n,p,time [ms]\n16,1,9\n16,2,6\n32,1,30\n32,2,20\n", encoding="utf-8")
    assert main(["fit", str(table), "laplace", "--set", "k=2", "--predict", "n=32,nodes=4"]) == 0
    assert "the loop exit depends on data" in " ".join(capsys.readouterr().out.split())
