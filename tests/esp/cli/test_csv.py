"""`--csv` is there wherever `--json` has a table, and has its numbers."""

import argparse
import csv
import io
import json

import pytest

from esp.cli.parser import COMMANDS, build_parser
from tests.esp.cli.conftest import esp, streams

__all__ = ["esp", "streams"]

WITHOUT = {"layout", "system fit"}
"""Commands whose JSON is no table: pictures, and a law."""

SMALL = ("laplace.hpf", "--procs", "4", "--set", "n=12", "--set", "k=3")


def table(text):
    return list(csv.DictReader(io.StringIO(text)))


def both(esp, *words):
    """The JSON of a command, and the rows of its CSV; they end with the same code."""
    (code, told, _), (other, text, _) = (esp(*words, form) for form in ("--json", "--csv"))
    assert code == other
    return json.loads(told), table(text)


def inside(parser):
    """The parsers of the words that may follow."""
    return next((each.choices for each in parser._actions if isinstance(each, argparse._SubParsersAction)), {})


def commands():
    """Name and parser of each command, and of its own commands where it has some."""
    for name in COMMANDS:
        parser = inside(build_parser(name))[name]
        yield from ((f"{name} {word}", each) for word, each in inside(parser).items())
        if not inside(parser):
            yield name, parser


def test_a_command_with_json_has_csv():
    found = {name: {word for each in parser._actions for word in each.option_strings} for name, parser in commands()}
    with_json = {name for name, words in found.items() if "--json" in words}
    assert {"run", "compare", "advise", "system show"} <= with_json
    assert {name for name in with_json if "--csv" not in found[name]} == WITHOUT


def test_advise(esp):
    told, rows = both(esp, "advise", *SMALL, "--top", "2")
    assert [float(each["time_s"]) for each in rows] == [each["time_s"] for each in told["choices"]]


def test_explain(esp):
    told, rows = both(esp, "explain", *SMALL[:1], "36", *SMALL[1:])
    terms = [term for each in told["formulas"] for term in each["terms"]]
    assert len(terms) > 5
    assert [(each["figure"], float(each["count"])) for each in rows] == [
        (each["figure"], each["count"]) for each in terms
    ]


def test_diff_has_a_row_for_each_part(esp):
    told, rows = both(esp, "diff", "laplace", "laplace --bandwidth x2", *SMALL[1:])

    def walked(parts, depth=0):
        for each in parts:
            yield depth, each["change_s"], each["changes_s"]["waiting"]
            yield from walked(each["inside"], depth + 1)

    shown = [(int(each["depth"]), float(each["change_s"]), float(each["changes_s_waiting"])) for each in rows]
    assert shown == list(walked(told["tree"]))
    assert max(depth for depth, _, _ in shown) > 0


def test_check(esp, tmp_path):
    budget = tmp_path / "budget.yaml"
    budget.write_text("format: 1\nlimits:\n  time: 1 s\n  messages: 1\n")
    told, rows = both(esp, "check", *SMALL, "--budget", str(budget))
    assert (
        [each["kept"] for each in rows] == [str(each["kept"]).lower() for each in told["checks"]] == ["true", "false"]
    )


def test_system_show(esp):
    told, rows = both(esp, "system", "show", "ipsc860")

    def walked(unit):
        for part in unit["components"]:
            yield from ((unit["id"], each["path"]) for each in part["figures"])
        for child in unit["children"]:
            yield from walked(child)

    shown = [(each["sau"], each["path"]) for each in rows]
    assert shown == list(walked(told["root"]))
    assert len(shown) > 50
    assert [each["range"] for each in rows if each["key"] == "read_miss"] == ["2.75e-07 5.5e-07"]


@pytest.mark.parametrize("command", ["explain", "advise", "diff", "check"])
def test_one_form_at_a_time(esp, command):
    assert esp(command, "laplace", "--json", "--csv")[0] == 2
