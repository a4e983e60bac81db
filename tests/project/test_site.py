"""The documentation site: it builds with all links sound, and the commands of its pages run."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from esp.cli.parser import COMMANDS, build_parser

HOWTO = ("cluster", "read", "choose", "ci", "slow")

ROOT = Path(__file__).resolve().parents[2]

BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)


def _run(command, folder):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [pytest.param(each, marks=pytest.mark.truth) if each in ("choose", "slow") else each for each in HOWTO]
)
def test_commands_of_how_to_pages_run(page, root, tmp_path):
    """In their order, with the files that the page shows."""
    ran = 0
    for kind, title, text in BLOCK.findall((root / "docs" / "howto" / f"{page}.md").read_text(encoding="utf-8")):
        if kind == "yaml" and "/" not in title:
            (tmp_path / title).write_text(text, encoding="utf-8")
        elif kind == "bash":
            for command in text.splitlines():
                done = _run(command, tmp_path)
                assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
                ran += 1
    assert ran


def test_commands_in_the_text_of_how_to_pages_exist(root):
    for page in HOWTO:
        text = (root / "docs" / "howto" / f"{page}.md").read_text(encoding="utf-8")
        for command, rest in re.findall(r"`esp ([a-z]+) ?([^`]*)`", text):
            options = set(re.findall(r"--[a-z-]+", rest))
            parser = build_parser(command, alone=True).chosen([command, *rest.split()])
            known = {option for action in parser._actions for option in action.option_strings}
            assert options <= known, (page, command)


@pytest.mark.parametrize(
    "page", ["README.md", *sorted(str(each.relative_to(ROOT)) for each in (ROOT / "docs").rglob("*.md"))]
)
def test_commands_of_all_pages_exist(page, root):
    """Indented lines and blocks that begin with esp, as the command reads them."""
    text = (root / page).read_text(encoding="utf-8")
    text += "".join(re.sub(r"^", "    ", block, flags=re.MULTILINE) for kind, _, block in BLOCK.findall(text))
    for line in re.findall(r"^ {4}(?:\$ )?(?:\.venv/bin/)?esp ([a-z]+\b.*)", text, re.MULTILINE):
        command = re.split(r"\s+#|\s{3,}|\s+[|<>]|;|&&", line)[0]
        if re.search(r"\b(PROG|FILE|COMMAND|NAME)\b|\.\.\. *$|\[", command):
            continue
        words = shlex.split(command)
        assert words[0] in COMMANDS, line
        _, strangers = build_parser(words[0], alone=True).parse_known_args(words)
        assert not strangers, line


def test_all_how_to_pages_are_here(root):
    assert {each.stem for each in (root / "docs" / "howto").glob("*.md")} == set(HOWTO)


@pytest.mark.slow
def test_the_site_builds(root, tmp_path):
    site = tmp_path / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(site)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    pages = {str(each.relative_to(site)): each.read_text(encoding="utf-8") for each in site.rglob("*.html")}
    commands = pages["reference/commands.html"]
    assert all(f'id="esp-{name}"' in commands for name in COMMANDS)
    assert "--interval" in commands
    assert 'id="esp-system-fit"' in commands
    assert "did you mean" not in pages["reference/api.html"]
    assert "write_allocate" in pages["reference/machine-format.html"]
    assert "CSHIFT" in pages["reference/language.html"]
    schema = json.loads((site / "reference" / "schemas" / "run.json").read_text(encoding="utf-8"))
    assert schema["properties"]["time_s"]["type"] == "number"
    assert (site / "gallery" / "sweep.svg").read_text(encoding="utf-8").startswith("<?xml")
    loaded = [
        address
        for text in pages.values()
        for address in re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="(https?:[^"]+)"', text)
    ]
    assert loaded == []
