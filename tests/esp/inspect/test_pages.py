"""What the commands say of themselves: help that fits a terminal, and a page that names every field of their JSON."""

import json
import re

import pytest

COMMANDS = ("explain", "layout", "graph", "query", "diff", "check")

MAPPED = """\
program m
  real :: a(8), b(8), c(8)
!HPF$ DISTRIBUTE a(BLOCK)
!HPF$ DISTRIBUTE b(CYCLIC)
  b = 1.0
  forall (i = 1:8) a(i) = b(i)
  c = a
end program m
"""


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples_and_fits_a_terminal(command, esp, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = esp(command, "--help")
    assert code == 0
    assert "examples:" in out
    assert [line for line in out.splitlines() if len(line) > 80] == []


def _fields(value):
    """All names of fields, of whatever depth; keys that are data (numbers, paths) are none."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from _fields(inner)
    if isinstance(value, list):
        for inner in value:
            yield from _fields(inner)


@pytest.mark.parametrize(
    "words",
    [
        ("explain", "laplace:36", "--procs", "8"),
        ("explain", "laplace:38", "--procs", "8"),
        ("layout", "-", "--procs", "4"),
        ("query", "laplace", "--by", "line"),
        ("diff", "laplace_bb", "laplace_bx", "--procs", "4"),
        ("check", "laplace", "--procs", "4"),
    ],
)
def test_every_field_is_on_the_page(words, esp, root, tmp_path):
    page = (root / "docs" / "inspect.md").read_text(encoding="utf-8")
    (section,) = re.findall(rf"^## `esp {words[0]} .*?(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    pattern = r"`(?:\w+\[\]\.)?(\w+)(?:\[\])?`"
    named = set(re.findall(pattern, section)) | set(re.findall(pattern, page.split("\n## ")[0]))
    if words[0] == "check":
        budget = tmp_path / "budget.yaml"
        budget.write_text("format: 1\nlimits: {time: 9 s}\n", encoding="utf-8")
        words = (*words, "--budget", str(budget))
    code, out, _ = esp(*words, "--json", "-q", stdin=MAPPED)
    assert code == 0
    told = set(_fields(json.loads(out)))
    categories = {"computation", "communication", "waiting", "overhead"}
    assert told - named - categories == set()
