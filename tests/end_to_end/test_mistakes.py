"""Typical mistakes: esp says what is wrong, where, and what to write (docs/mistakes.md)."""

import shlex
import textwrap

import pytest

from tests.project.mistakes_page import DOCS, page, table

TABLE = table()
MISTAKES = [each for group in TABLE["groups"].values() for each in group]


def test_the_page_is_generated_from_the_table():
    assert (DOCS / "mistakes.md").read_text(encoding="utf-8") == page()


def test_there_are_at_least_forty():
    assert len({each["mistake"] for each in MISTAKES}) == len(MISTAKES) >= 40


def test_the_program_is_right(esp, tmp_path):
    (tmp_path / "heat.hpf").write_text(TABLE["program"], encoding="utf-8")
    (tmp_path / "mine.yaml").write_text(TABLE["machine"], encoding="utf-8")
    done = esp("run", "heat.hpf", "--procs", "4", "--system", "mine.yaml")
    assert (done.returncode, done.stderr) == (0, "")


def in_fixed_form(text):
    """All statements six columns further to the right."""
    return textwrap.indent(text, "      ", lambda line: not line.startswith("!"))


@pytest.mark.parametrize("mistake", MISTAKES, ids=[each["mistake"] for each in MISTAKES])
def test_mistakes(esp, tmp_path, mistake):
    old, new = mistake.get("write", ("", ""))
    assert TABLE["program"].count(old) == 1 or not old
    text = TABLE["program"].replace(old, new) if old else TABLE["program"]
    name = "heat.f" if mistake.get("fixed") else "heat.hpf"
    (tmp_path / name).write_text(in_fixed_form(text) if mistake.get("fixed") else text)
    words = shlex.split(mistake.get("run", f"esp run {name} --procs 4"))[1:]
    if "yaml" in mistake:
        (tmp_path / "mine.yaml").write_text(TABLE["machine"] + mistake["yaml"], encoding="utf-8")
        words += ["--system", "mine.yaml"]
    done = esp(*words)
    told = " ".join(done.stderr.split())
    assert done.returncode == mistake.get("exit", 2 if "run" in mistake else 1), told
    assert mistake["says"] in told
    assert mistake["hint"] in told
    assert told.index(mistake["says"]) < told.index(mistake["hint"])
