"""Who imports whom, and what the command does not load."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import aag
import esp
import interpreter
import sag

HEAVY = {"networkx", "textual", "sympy", "scipy", "matplotlib", "importlib.metadata"}
"""What `esp run` must not load: together they cost more than the whole prediction."""

LAZY = (
    "esp/__init__.py",
    "esp/cli/",
    "esp/explore/workers.py",
    "esp/fit/student.py",
    "esp/formulas/formula.py",
    "esp/output/",
    "esp/tui/",
    "aag/source/read.py",
    "aag/graph/views.py",
    "sag/graph.py",
    "sag/joint.py",
)
"""Where an import may stand inside a function; docs/architecture.md gives the reason of each."""


def _loaded_by(statement):
    """The modules that a fresh interpreter loads for `statement`, taken from `-X importtime`."""
    command = [sys.executable, "-X", "importtime", "-c", statement]
    # Coverage starts itself in what is run, and loads modules of its own.
    plain = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=plain)
    assert run.returncode == 0, run.stderr.splitlines()[-1]
    lines = (line for line in run.stderr.splitlines() if line.startswith("import time:"))
    return {line.rsplit("|", 1)[1].strip() for line in lines}


def _is_heavy(module):
    return any(module == heavy or module.startswith(heavy + ".") for heavy in HEAVY)


@pytest.mark.parametrize("room", [aag, esp, interpreter, sag])
def test_the_rooms_are_ours(room, root):
    """`interpreter` is also a package of other people; in one environment the two would collide."""
    assert Path(room.__file__).resolve() == root / room.__name__ / "__init__.py"


def test_the_command_starts_without_the_heavy_libraries():
    loaded = _loaded_by("import esp.cli.main")
    assert "esp.cli.main" in loaded
    assert sorted(filter(_is_heavy, loaded)) == []


SMALL = ("--set", "n=32")


@pytest.mark.parametrize(
    ("program", "more"), [("laplace_bb", ()), ("redblack", SMALL), ("gauss", SMALL), ("pipeline", ()), ("pbs1", ())]
)
def test_a_prediction_loads_no_heavy_library(program, more):
    """numpy.ma comes in with NumPy's set functions, rich is for terminals; fparser itself asks importlib.metadata."""
    loaded = _loaded_by(
        f"from esp.cli.main import main; main(['run', {program!r}, '--procs', '4', *{more!r}, '--quiet'])"
    )
    assert "interpreter.engine" in loaded
    unwanted = (HEAVY | {"numpy.ma", "rich"}) - {"importlib.metadata"}
    assert sorted(each for each in loaded if any(each == one or each.startswith(one + ".") for one in unwanted)) == []


@pytest.mark.parametrize("words", [("run", "pi"), ("compare", "pi", "--size", "none", "--jobs", "2")])
def test_little_work_loads_nothing_for_more_processes(words):
    loaded = _loaded_by(f"from esp.cli.main import main; main([*{words!r}, '--quiet'])")
    assert "interpreter.engine" in loaded
    assert not loaded & {"multiprocessing", "concurrent.futures.process"}


def test_locate_needs_no_import_machinery():
    loaded = _loaded_by("import esp.locate")
    assert "esp.locate" in loaded
    assert not loaded & {"importlib.metadata", "importlib.resources", "numpy", "yaml", "rich", "fparser"}


def test_heavy_imports_would_be_seen():
    assert "importlib.metadata" in filter(_is_heavy, _loaded_by("import importlib.metadata"))


def test_imports_stand_at_the_top_of_their_file(root):
    inside = []
    for room in ("aag", "esp", "interpreter", "sag"):
        for path in sorted((root / room).rglob("*.py")):
            name = path.relative_to(root).as_posix()
            if not name.startswith(LAZY):
                inside += [f"{name}:{line}" for line in _imports_in_functions(path)]
    assert inside == []


def _imports_in_functions(path):
    for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from (n.lineno for n in ast.walk(function) if isinstance(n, ast.Import | ast.ImportFrom))


def test_the_places_of_late_imports_are_documented(root):
    page = (root / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert [place for place in LAZY if f"`{place}`" not in page] == []


def test_package_runs_as_a_module():
    """`python -m esp --help` is the command."""
    run = subprocess.run(
        [sys.executable, "-m", "esp", "--help"], capture_output=True, text=True, check=False, env=os.environ
    )
    assert run.returncode == 0, run.stderr
    assert "esp" in run.stdout
