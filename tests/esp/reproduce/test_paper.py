"""docs/paper.md: its text comes from the table of experiments, its numbers from the commands."""

import csv
import re
import shlex

import pytest

from esp.cli.main import main
from esp.reproduce.experiments import EXPERIMENTS
from tests.esp.reproduce.write_paper import FOLDER, page

SLOW = ("fig19",)
"""Figures that take tens of seconds."""


def _marked(name):
    return pytest.param(name, marks=pytest.mark.truth) if name in SLOW else name


def _cells(text):
    """The numbers and words of a CSV, without the order of its columns and rows."""
    found = []
    for row in csv.DictReader(text.splitlines()):
        words = {name: _cell(value) for name, value in row.items() if name != "change"}
        found.append(sorted(words.items(), key=lambda each: each[0]))
    return sorted(found, key=lambda each: [str(value) for name, value in each if name in KEYS])


KEYS = ("bandwidth", "load", "n", "processor_speed", "procs", "program")


def _cell(text):
    try:
        return float(text)
    except ValueError:
        return text


def _nearly(rows):
    return [
        [(name, pytest.approx(each, rel=1e-9, abs=1e-12) if isinstance(each, float) else each) for name, each in row]
        for row in rows
    ]


def test_page_is_made_from_the_table(root):
    assert (root / "docs" / "paper.md").read_text(encoding="utf-8") == page(), "tests.esp.reproduce.write_paper"


def test_files_are_those_of_the_experiments():
    assert {path.stem for path in FOLDER.glob("*.svg")} == {each.name for each in EXPERIMENTS}
    assert {path.stem for path in FOLDER.glob("*.csv")} == {"table3", *(each.name for each in EXPERIMENTS)}


@pytest.mark.sampled
@pytest.mark.parametrize("name", [_marked(each.name) for each in EXPERIMENTS])
def test_numbers_are_those_of_both_commands(name, capsys):
    """Those of the page, of `esp reproduce` and of the sweep beside it; all statements hold."""
    (experiment,) = [each for each in EXPERIMENTS if each.name == name]
    assert main(["reproduce", name, "--csv"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    kept = (FOLDER / f"{name}.csv").read_text(encoding="utf-8")
    assert _cells(out) == _nearly(_cells(kept))
    assert "change" not in kept or experiment.versus
    curves = (FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    assert ("change against" in curves) == bool(experiment.versus)
    if not experiment.phases:
        assert main([*shlex.split(experiment.command)[1:], "--csv"]) == 0
        assert _cells(_without_constants(capsys.readouterr().out)) == _nearly(_cells(_without_constants(kept)))


def _without_constants(text):
    """A CSV without the axes that have one value: the commands may differ in whether these are axes."""
    rows = list(csv.DictReader(text.splitlines()))
    names = [name for name in rows[0] if name not in KEYS or len({row[name] for row in rows}) > 1]
    return "\n".join([",".join(names), *(",".join(row[name] for name in names) for row in rows)])


@pytest.mark.truth
def test_other_commands_of_the_page_run(root, capsys):
    text = (root / "docs" / "paper.md").read_text(encoding="utf-8")
    commands = [line for line in re.findall(r"^    (esp .+)$", text, re.MULTILINE) if "sweep" not in line]
    others = [line for line in commands if not line.startswith("esp reproduce")]
    assert len(others) == 4
    for line in others:
        assert main(shlex.split(line)[1:]) == 0, line
        out, err = capsys.readouterr()
        assert out
        assert err == ""
