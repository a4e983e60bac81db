"""Every code of a diagnostic is in docs/errors.yaml, and its example raises it."""

import re

import pytest

from aag.diagnostics import SourceError
from esp import api
from esp.cli.main import main
from esp.locate import systems_dir
from esp.request import requested
from sag.check import check
from sag.errors import MachineError
from sag.load import load_system
from tests.project.errors_page import DOCS, page, table

ENTRIES = table()
EXTENDS = "format: 1\nextends: ipsc860\nname: example\n"
CODE = re.compile(r"""["']([EWMB]\d{3})["']|\{kind\.letter\}(\d{3})""")


def _raised(root):
    """All codes that the packages name."""
    found = set()
    for package in ("aag", "esp", "interpreter", "sag"):
        for path in (root / package).rglob("*.py"):
            for code, number in CODE.findall(path.read_text(encoding="utf-8")):
                found |= {code} if code else {f"M{number}", f"B{number}"}
    return found


def test_every_code_is_in_the_table(root):
    assert _raised(root) == set(ENTRIES)


def test_the_page_is_what_the_table_generates():
    assert (DOCS / "errors.md").read_text(encoding="utf-8") == page(), "run python -m tests.project.errors_page"


def _of_program(entry, path):
    path.write_text(entry["example"] + "\n" + "      end\n" * ("alone" not in entry), encoding="utf-8")
    given = dict(entry.get("with", {}))
    try:
        request = requested(given.pop("procs", 4), **given)
        system = api.load_machine("ipsc860")
        source = api.read_source(path)
        stages = api.lower_source(source, system, request)
        api.interpret_stages(stages, system, request)
    except SourceError as error:
        return error.diagnostics
    except MachineError as error:
        return error.findings
    lowered = stages.node_program
    return (*source.program.diagnostics, *lowered.layouts.notes, *lowered.notes, *lowered.warnings)


def _of_machine(entry, path):
    path.write_text(("" if "file" in entry else EXTENDS) + entry["example"] + "\n", encoding="utf-8")
    try:
        return check(load_system(path, folder=systems_dir()))
    except MachineError as error:
        return error.findings


@pytest.mark.parametrize("code", [code for code, entry in ENTRIES.items() if "example" in entry])
def test_the_example_raises_it(code, tmp_path, capsys):
    entry = ENTRIES[code]
    if code[0] == "B":
        path = tmp_path / entry.get("file", "budget.yaml")
        path.write_text(entry["example"] + "\n", encoding="utf-8")
        assert main(["check", "laplace", "--set", "n=8", "--budget", str(path)]) > 0
        told = capsys.readouterr()
        assert f" {code}" in told.out + told.err
    elif code[:2] == "E6":
        path = tmp_path / "program.hpf"
        path.write_text(entry["example"] + "\n      end\n", encoding="utf-8")
        assert main(["compile", str(path), "--output", str(tmp_path / "made")]) == 1
        assert f" {code} " in capsys.readouterr().err
    elif code[0] == "M" and "with" not in entry:
        assert code in {each.code for each in _of_machine(entry, tmp_path / entry.get("file", "machine.yaml"))}
    else:
        assert code in {each.code for each in _of_program(entry, tmp_path / entry.get("file", "program.hpf"))}


@pytest.mark.parametrize("code", [code for code, entry in ENTRIES.items() if "example" not in entry])
def test_another_test_raises_it(code, root):
    assert code in (root / ENTRIES[code]["test"]).read_text(encoding="utf-8")
