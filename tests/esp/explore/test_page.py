"""docs/explore.md: its commands run, and it names every field of the JSON and no other."""

import json
import re
import shlex

import pytest

from esp.cli.main import main

COMMANDS = {
    "esp compare": [
        "compare gauss --procs 4 --set n=12 --distribute (BLOCK(1),*) --distribute (*,BLOCK)",
        "compare gauss --procs 4 --set n=12 --distribute (BLOCK,*) --distribute (*,BLOCK)",
        "compare gauss --procs 4 --set n=12 --distribute (BLOCK,*) --distribute (*,BLOCK) --size n=8,12",
        "compare laplace --procs 4 --set n=24 --distribute (BLOCK,*) --distribute (*,BLOCK) --size none",
        "compare redblack --procs 8 --distribute (BLOCK,*) --distribute (*,BLOCK) --size none",
        "compare laplace --procs 4 --set n=32 --size none",
    ],
    "esp whatif": ["whatif laplace_bb --procs 4 --set n=24 --bandwidth x2"],
    "esp sweep": ["sweep laplace --procs 2,8 --set n=24 --distribute TEMP=(BLOCK(8),*) --load 0%,9% --versus load"],
}

LONG = "esp sweep laplace.hpf --set n=64:512:x2 --procs 1,2,4,8 --distribute all --csv -o laplace.csv"


def _fields(of):
    found = set()
    if isinstance(of, dict):
        for name, value in of.items():
            found.add(name)
            found |= {f"{name}{'' if below.startswith('[') else '.'}{below}" for below in _fields(value)}
    elif isinstance(of, list) and of and isinstance(of[0], dict):
        found |= {f"[].{below}" for each in of for below in _fields(each)}
    return found


def _page(root):
    return (root / "docs" / "explore.md").read_text(encoding="utf-8")


@pytest.mark.sampled
@pytest.mark.parametrize("command", COMMANDS)
def test_every_field_is_documented_and_every_documented_field_is_there(command, root, capsys):
    section = _page(root).partition(f"### `{command} --json`")[2].partition("\n### ")[0]
    documented = set(re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE))
    told = set()
    for words in COMMANDS[command]:
        assert main([*words.split(), "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        for name in {"constants", "about"} & found.keys():
            found[name] = {}
        for each in found.get("choices", []):
            each["distribute"] = {}
        for each in found.get("cells", []):  # the axes differ from sweep to sweep
            for axis in found["axes"]:
                del each[axis["name"]]
        told |= _fields(found)
    assert told == documented


def _run(line, capsys):
    assert main(shlex.split(line)[1:]) == 0, line
    said = capsys.readouterr().err.splitlines()
    progress = (" predictions, ", "predicted ")
    told = [each for each in said if not any(word in each for word in progress)]
    assert not [each for each in told if not each.endswith(" bytes written")]


@pytest.mark.truth
def test_every_short_command_runs_as_it_stands(root, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = re.findall(r"^    (esp .+)$", _page(root), re.MULTILINE)
    assert len(found) == 8
    for line in found:
        if line != LONG:
            _run(line, capsys)


@pytest.mark.truth
def test_the_long_command_runs_as_it_stands(root, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert f"    {LONG}\n" in _page(root)
    _run(LONG, capsys)
    assert (tmp_path / "laplace.csv").read_text(encoding="utf-8").count("\n") == 1 + 4 * 4 * 8
