"""What the JSON of all commands has in common (docs/json.md)."""

import argparse
import json

import pytest

from esp.cli.parser import COMMANDS, build_parser
from esp.version import __version__

BUDGET = "format: 1\nlimits: {time: 60 s}\n"

PING_PONG = "size [B], time [us]\n" + "".join(f"{size}, {80 + 0.4 * size}\n" for size in (0, 64, 1024, 4096, 16384))

RUNS = "procs, n, time [s]\n" + "".join(
    f"{p}, {n}, {1e-7 * n**2 / p + 1e-3 * p}\n" for n in (16, 24) for p in (1, 2, 4)
)

LAPLACE = ("laplace.hpf", "--procs", "4", "--set", "k=2", "--set", "n=16")

ASKED = {
    "run": [("run", *LAPLACE), ("run", "laplace.hpf", "--procs", "2,4", *LAPLACE[3:])],
    "compare": [("compare", *LAPLACE)],
    "advise": [("advise", *LAPLACE)],
    "whatif": [("whatif", *LAPLACE, "--load", "20%")],
    "sweep": [("sweep", *LAPLACE)],
    "explain": [("explain", "laplace.hpf:36", *LAPLACE[1:])],
    "formula": [("formula", "laplace_bb.hpf", "--procs", "4")],
    "layout": [("layout", *LAPLACE)],
    "query": [("query", *LAPLACE)],
    "diff": [("diff", "laplace", *LAPLACE)],
    "check": [("check", *LAPLACE, "--budget", "budget.yaml")],
    "scalability": [("scalability", "laplace.hpf", "--procs", "1,2", "--set", "k=2", "--set", "n=16")],
    "balance": [
        ("balance",),
        ("balance", "laplace.hpf", "--procs", "1,2", "--set", "k=2", "--set", "n=16"),
        ("balance", "--operations", "1e6", "--startups", "9", "--procs", "4", "--sweep", "cache=1,2"),
    ],
    "fit": [("fit", "runs.csv", "laplace.hpf", "--set", "k=2", "--predict", "n=32,procs=8")],
    "plan": [("plan", "laplace.hpf", "--set", "k=2", "--sizes", "16,24", "--procs", "1,2,4", "--runs", "4")],
    "optimize-machine": [("optimize-machine", "laplace.hpf", "--set", "k=2", "--set", "n=16", "--procs", "2")],
    "sensitivity": [("sensitivity", "laplace.hpf", "--set", "k=2", "--sizes", "16,24", "--procs", "1,2")],
    "reproduce": [("reproduce",), ("reproduce", "fig21")],
    "system": [("system", "show", "ipsc860"), ("system", "fit", "table.txt")],
}
"""Command -> how its JSON is asked for."""


def _knows_json(parser):
    below = [action.choices.values() for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return "--json" in parser._option_string_actions or any(_knows_json(each) for some in below for each in some)


def test_all_commands_that_write_json_are_asked_for_it():
    def own(name):
        (commands,) = (each for each in build_parser(name)._actions if isinstance(each, argparse._SubParsersAction))
        return commands.choices[name]

    assert {name for name in COMMANDS if _knows_json(own(name))} == set(ASKED)


@pytest.mark.sampled
@pytest.mark.parametrize("words", [words for each in ASKED.values() for words in each], ids=" ".join)
def test_json_begins_with_its_schema_and_the_version_of_esp(words, esp, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "budget.yaml").write_text(BUDGET)
    (tmp_path / "table.txt").write_text(PING_PONG)
    (tmp_path / "runs.csv").write_text(RUNS)
    code, out, err = esp(*words, "--json")
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert list(told)[:2] == ["schema", "version"]
    assert (told["schema"], told["version"]) == (1, __version__)
    assert len(told) > 2


def test_the_grid_is_a_list_of_extents_wherever_it_stands(esp):
    """Def 13."""
    for words in (("run", *LAPLACE), ("layout", *LAPLACE), ("explain", "laplace:36", *LAPLACE[1:])):
        code, out, _ = esp(*words, "--json")
        assert code == 0
        assert json.loads(out)["grid"] == [2, 2], words
