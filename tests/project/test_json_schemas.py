"""The JSON Schemas of the documentation site: outputs of all commands are valid, and changed ones are not."""

import json
import sys
from functools import reduce
from operator import getitem
from pathlib import Path

import jsonschema
import pytest

from esp.cli.main import main
from tests.esp.cli.test_json import ASKED, BUDGET, LAPLACE, PING_PONG, RUNS

DOCS = Path(__file__).resolve().parents[2] / "docs"

CALLED = "  real :: a(8)\n!HPF$ DISTRIBUTE a(BLOCK)\n  do i = 1, 3\n    a = a + 1\n  end do\n  call s(a)\nend\n"

MORE = {
    "run": [("run", *LAPLACE, "--per-processor", "--aau", "all", "--interval")],
    "run-several": [("run", "laplace.hpf", "--procs", "2,4", *LAPLACE[3:], "--distribute", "temp=(block(8),*)")],
    "compare": [("compare", *LAPLACE, "--size", "n=8:16:x2"), ("compare", "called.hpf", "--procs", "2", "--partial")],
    "whatif": [("whatif", *LAPLACE, "--bandwidth", "x2")],
    "sweep": [("sweep", *LAPLACE[:-2], "--set", "n=8,16", "--load", "0%,20%", "--versus", "n")],
    "advise": [("advise", *LAPLACE, "--top", "2"), ("advise", "redblack.hpf", "--procs", "4", "--phases")],
    "explain": [("explain", "laplace.hpf:38", *LAPLACE[1:])],
    "formula": [("formula", "lu.hpf", "--procs", "2", "--line", "28")],
    "formula-procs": [("formula", "lfk03.hpf", "--free", "n,procs")],
    "scalability-speedups": [
        ("scalability", "laplace.hpf", "--procs", "1,2", "--set", "k=2", "--set", "n=8", "--speedups")
    ],
    "scalability-against": [
        ("scalability", "laplace.hpf", "--procs", "2,4", "--set", "n=16", "--against-distribute", "(*,BLOCK)")
    ],
    "layout": [("layout", "thomas.hpf", "--procs", "4"), ("layout", "lu.hpf", "--procs", "4")],
    "query": [("query", "called.hpf", "--procs", "2", "--by", "line", "--partial")],
    "diff": [
        ("diff", "laplace", "laplace --procs 8", *LAPLACE[1:]),
        ("diff", "laplace_bb", "laplace_bx", "--procs", "4"),
    ],
    "check": [("check", "called.hpf", "--procs", "2", "--budget", "budget.yaml")],
    "balance": [("balance", "lu.hpf", "--procs", "4", "--base", "2", "--pattern", "broadcast", "--set", "n=16")],
    "reproduce": [("reproduce", "fig15"), ("reproduce", "sun-zhu")],
    "system-fit": [("system", "fit", "kinks.txt")],
}
"""Schema -> further commands whose output it describes."""


def _name(words):
    if words[0] == "system":
        return f"system-{words[1]}"
    return "run-several" if words[0] == "run" and "2,4" in words else words[0]


CASES = [(_name(words), words) for each in ASKED.values() for words in each]
CASES += [(name, words) for name, several in MORE.items() for words in several]


@pytest.fixture(scope="module")
def schemas():
    sys.path.insert(0, str(DOCS))
    try:
        import json_schemas
    finally:
        sys.path.remove(str(DOCS))
    return json_schemas.schemas()


def _output(words, folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "budget.yaml").write_text(BUDGET, encoding="utf-8")
    (folder / "called.hpf").write_text(CALLED, encoding="utf-8")
    (folder / "table.txt").write_text(PING_PONG, encoding="utf-8")
    (folder / "runs.csv").write_text(RUNS, encoding="utf-8")
    kinks = "".join(f"{size}, {80 + 0.4 * size + (300 if size > 1000 else 0)}\n" for size in range(0, 4000, 250))
    (folder / "kinks.txt").write_text(f"size [B], time [us]\n{kinks}", encoding="utf-8")
    main([*words, "--json"])
    return json.loads(capsys.readouterr().out)


def test_schemas_are_schemas(schemas):
    for each in schemas.values():
        jsonschema.Draft202012Validator.check_schema(each)
    assert set(schemas) == {name for name, _ in CASES}


@pytest.mark.sampled
@pytest.mark.parametrize(("name", "words"), CASES, ids=[" ".join(words) for _, words in CASES])
def test_outputs_are_valid(schemas, name, words, tmp_path, capsys, monkeypatch):
    told = _output(words, tmp_path, capsys, monkeypatch)
    validator = jsonschema.Draft202012Validator(schemas[name])
    assert [f"{each.json_path}: {each.message}" for each in validator.iter_errors(told)] == []
    assert _strangers(told, schemas[name], schemas[name], "") == set()


def _strangers(told, schema, root, path):
    """Fields that the tables do not have."""
    if "$ref" in schema:
        schema = reduce(getitem, schema["$ref"].split("/")[1:], root)
    if isinstance(told, dict) and "properties" in schema:
        known = schema["properties"]
        cell = path == "cells[]"  # has a field for each axis
        found = set() if cell else {f"{path}.{name}" for name in told.keys() - known.keys()}
        return found.union(*(_strangers(told[name], known[name], root, name) for name in told.keys() & known.keys()))
    if isinstance(told, list) and "items" in schema:
        return set().union(*(_strangers(each, schema["items"], root, f"{path}[]") for each in told))
    return set()


def test_changed_outputs_are_not_valid(schemas, tmp_path, capsys, monkeypatch):
    told = _output(ASKED["run"][0], tmp_path, capsys, monkeypatch)
    validator = jsonschema.Draft202012Validator(schemas["run"])
    for name, value in (("time_s", "1"), ("grid", 4), ("lines", [{"line": 3}]), ("complete", None)):
        assert not validator.is_valid({**told, name: value})
    for name in told:
        assert not validator.is_valid({key: value for key, value in told.items() if key != name}), name
