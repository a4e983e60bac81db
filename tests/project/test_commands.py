"""The commands and bounds that are written in more than one place agree."""

import os
import re
import subprocess
import tomllib

import pytest

from esp.cli.parser import build_parser


def _targets(makefile):
    return set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))


def _project(root):
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))


def test_every_make_command_of_the_pages_exists(root):
    pages = [root / "README.md", root / "CHANGELOG.md", *sorted((root / "docs").glob("*.md"))]
    named = {
        target
        for page in pages
        for target in re.findall(r"(?:^|`|\n\s+)make ([a-z]+)", page.read_text(encoding="utf-8"))
    }
    assert {"run", "test"} <= named
    assert named - _targets((root / "Makefile").read_text(encoding="utf-8")) == set()


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_files_named_in_a_page_exist(page, root):
    text = re.sub(r"`[^`]*NAME[^`]*`", "", (root / page).read_text(encoding="utf-8"))
    named = re.findall(r"`((?:[\w.]+/)+[\w.]*)`", text) + re.findall(r"\]\(([\w./-]+)\)", text)
    assert named
    assert [name for name in named if not (list(root.glob(name)) or (root / name).exists())] == []


def test_commands_named_in_contributing_exist(root):
    """With their actions and options."""
    text = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(r"`esp ([a-z]+)(?: ([^`]*))?`", text)
    assert named
    for command, rest in named:
        parser = build_parser(command, alone=True)
        words = ["laplace" if each == "FILE" else each for each in rest.split()]
        parser.parse_args([command, *words])


def test_ci_runs_the_test_command_of_the_readme(root):
    script = root / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert subprocess.run(["bash", "-n", str(script)], check=False).returncode == 0
    assert script.read_text(encoding="utf-8").splitlines()[-1] == "exec make test"
    assert re.search(r"^ +make test\b", (root / "README.md").read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("tool", ["ruff check", "mypy", "lint-imports", "pytest"])
def test_make_test_runs_every_check(tool, root):
    run = subprocess.run(["make", "-n", "test"], cwd=root, capture_output=True, text=True, check=True)
    assert tool in run.stdout


def test_lower_bounds_are_those_that_are_tried(root):
    bounds = {re.sub(r">=", "==", bound) for bound in _project(root)["project"]["dependencies"]}
    lines = (root / "requirements" / "lowest.txt").read_text(encoding="utf-8").splitlines()
    tried = {line for line in lines if line and not line.startswith("#")}
    padded = {re.sub(r"==(\d+\.\d+)$", r"==\1.0", bound) for bound in bounds}
    assert {re.sub(r"==(\d+\.\d+)$", r"==\1.0", line) for line in tried} == padded


def test_readme_states_the_lower_bounds(root):
    text = (root / "README.md").read_text(encoding="utf-8")
    for bound in _project(root)["project"]["dependencies"]:
        name, version = bound.split(">=")
        assert re.search(rf"\b{name} {re.escape(version)}\b", text, re.IGNORECASE), bound


def test_changelog_knows_the_version(root):
    source = (root / "esp" / "version.py").read_text(encoding="utf-8")
    (version,) = re.findall(r'^__version__ = "(.+)"', source, re.MULTILINE)
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## \[(\d.*?)\]", changelog, re.MULTILINE)[:1] in ([version], []), version
    assert "## [Unreleased]" in changelog or f"## [{version}]" in changelog
