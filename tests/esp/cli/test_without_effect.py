"""Options that would change nothing, and files whose suffix says something else, are refused with exit code 2."""

import shlex

import pytest


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("run pi --procs 2 -o l.png", "writes no .png file. This command writes .txt, .json (with --json) and .csv"),
        ("compare laplace --procs 4 --json -o l.pdf", "writes no .pdf file"),
        ("sweep pi --procs 1,2 -o l.svg", "writes no .svg file"),
        ("show node pi -o l.html", "writes no .html file"),
        ("system list -o l.xlsx", "writes no .xlsx file"),
        ("report pi -o l.png", "This command writes .html, .htm and .txt"),
        ("layout laplace -o l.png", ".svg, .txt"),
        ("graph saag pi -o l.png", ".png is not a graph format"),
        ("graph saag pi --format svg -o l.png", "writes no .png file"),
        ("graph saag pi --format dot -o l.svg", "--format dot would be written to a .svg file"),
        ("trace pi --format chrome -o l.png", "writes no .png file"),
        ("run pi --procs 2 -o l.json", "Add --json, or name it .txt"),
        ("query pi --procs 2 -o l.csv", "Add --csv, or name it .txt"),
        ("run pi --procs 1,2 --interval", "a table of processor counts has no intervals"),
        ("run pi --procs 2 --interval --csv", "--csv has no intervals"),
        ("sweep pi --procs 1,2 --bars --versus procs", "--bars shows times, not changes"),
        ("sweep pi --procs 1,2 --jobs 2 --dask tcp://localhost:1", "the workers of --dask do the work"),
        ("show ir pi --grid 2", "--grid has no effect"),
        ("show layouts pi --opt hoist=off", "--opt has no effect"),
        ("graph sag ipsc860 --set n=4", "--set has no effect"),
        ("tui pi --port 8001", "--host and --port are for --serve"),
        ("diff a.json b.json --procs 4", "--procs has no effect on two saved predictions"),
        ("diff a.json b.json --load 30%", "--load has no effect on two saved predictions"),
    ],
)
def test_refused(esp, words, told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = esp(*shlex.split(words))
    assert (code, out) == (2, "")
    assert told in " ".join(err.split())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("graph pi.hpf", "'pi.hpf' is not a graph: expected aag, saag or sag. Write `esp graph aag pi.hpf`."),
        ("plot pi.hpf", "expected timeline, messages or balance. Write `esp plot timeline pi.hpf`."),
        ("show loop pi.hpf", "'loop' is not a stage: expected ir, layouts, loops, node, aag or saag."),
    ],
)
def test_the_kind_that_is_missing_is_named(esp, words, told):
    code, _, err = esp(*shlex.split(words))
    assert code == 2
    assert told in " ".join(err.split())


@pytest.mark.parametrize(
    "words",
    [
        "run pi --procs 2 -o l.txt",
        "run pi --procs 2 -o l",
        "run pi --procs 2 --json -o l.json",
        "run pi --procs 2 --csv -o L.CSV",
        "run pi --procs 1,2 --interval --json -o l.json",
        "sweep pi --procs 1,2 --jsonl -o l.json",
        "layout laplace -o l.svg",
        "graph saag pi -o l.svg",
        "trace pi --format chrome -o l.json",
        "show ir pi",
    ],
)
def test_accepted(esp, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert esp(*shlex.split(words))[0] == 0
