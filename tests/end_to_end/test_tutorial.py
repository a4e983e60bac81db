"""Every command of docs/tutorial.md prints what the page shows.

`ESP_UPDATE_GOLDEN=1 pytest tests/end_to_end/test_tutorial.py` writes the outputs anew, for a look at `git diff`.
"""

import json
import os
import re
import shlex

import pytest

from tests.progress import without_progress

BLOCK = re.compile(r"^```console\n\$ (?P<command>.+)\n(?P<output>(?:.*\n)*?)```$", re.MULTILINE)


def _outputs(page, esp):
    """What each command prints, in the order of the page, all in one folder."""
    found = []
    for block in BLOCK.finditer(page):
        program, *words = shlex.split(block["command"])
        assert program == "esp"
        run = esp(*words)
        assert run.returncode == 0, run.stderr
        found.append(without_progress(run.stderr) + run.stdout)  # a person sees warnings first
    return found


@pytest.mark.slow
def test_the_page_shows_what_is_printed(root, tmp_path, esp):
    path = root / "docs" / "tutorial.md"
    page = path.read_text(encoding="utf-8")
    assert page.count("```console") == len(list(BLOCK.finditer(page))) > 5
    outputs = iter(_outputs(page, esp))
    new = BLOCK.sub(lambda block: f"```console\n$ {block['command']}\n{next(outputs)}```", page)
    if os.environ.get("ESP_UPDATE_GOLDEN"):
        path.write_text(new, encoding="utf-8")
    assert new == path.read_text(encoding="utf-8")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["laplace.hpf", "laplace.html", "laplace.json"]


def test_the_commands_that_are_only_named_exist(root, esp):
    page = " ".join((root / "docs" / "tutorial.md").read_text(encoding="utf-8").split())
    named = re.findall(r"`esp ([a-z]+) (laplace.hpf[^`]*|--help)`", page)
    assert len(named) == 2
    for command, rest in named:
        done = esp(command, *shlex.split(rest))
        assert done.returncode == 0, done.stderr


@pytest.mark.truth
def test_what_the_page_concludes_is_so(esp):
    """Square blocks on 64 processors; on 8 nothing is faster by more than the stated error, and no CYCLIC is near."""
    for procs in (8, 64):
        done = esp("compare", "laplace", "--procs", str(procs), "--size", "none", "--json")
        choices = json.loads(done.stdout)["choices"]
        assert choices[0]["choice"] == "(BLOCK,BLOCK)"
        near = {each["choice"] for each in choices if each["time_s"] <= 1.02 * choices[0]["time_s"]}
        assert near == {"(BLOCK,BLOCK)"}
    done = esp("whatif", "laplace", "--procs", "64", "--bandwidth", "x2", "--latency", "x0.5", "--json")
    told = json.loads(done.stdout)
    bytes_faster, starts_faster = (each["time_s"] for each in told["changes"])
    assert starts_faster < bytes_faster < told["base"]["time_s"]


def test_the_index_has_every_page(root):
    listed = re.findall(r"\]\(([\w-]+\.md)\)", (root / "docs" / "README.md").read_text(encoding="utf-8"))
    pages = {path.name for path in (root / "docs").glob("*.md")} - {"README.md"}
    assert set(listed) == pages
