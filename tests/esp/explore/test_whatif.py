"""One change at a time: the same as a prediction of its own, with the lines that it moves."""

import csv
import io
import json

import numpy as np
import pytest

import esp
from aag.spmd.program import ON_REQUEST, OPTIMISATIONS
from esp.cli.main import main
from esp.errors import UsageError
from esp.explore.whatif import MOVED
from sag.errors import MachineError

PROGRAM = "laplace_bb"
SIZE = {"n": 48, "k": 5}

ALONE = {
    "load 50%": {"load": "50%"},
    "load 20%": {"load": "20%"},
    "bandwidth x2": {"bandwidth": "x2"},
    "latency x0.5": {"latency": "x0.5"},
    "processor speed x3": {"processor_speed": "x3"},
    "memory speed x2": {"memory_speed": "x2"},
    "overlap 0.5": {"overlap": "0.5"},
    "cache 16KB": {"system_set": {"cube.node.memory.cache_size": "16KB"}},
    "memory 4KB": {"system_set": {"cube.node.memory.usable": "4KB"}},
    "contention off": {"system_set": {"cube.network.switching": "none"}},
    "io off": {"io": False},
    "hoist off": {"opt": {"hoist": False}},
    "interchange off": {"opt": {"interchange": False}},
    "cube.network.long.startup 500us": {"system_set": {"cube.network.long.startup": "500us"}},
}
"""Each change -> the prediction that it must equal."""


@pytest.fixture(scope="module")
def found():
    return esp.whatif(
        PROGRAM,
        procs=8,
        **SIZE,
        load=["50%", "20%"],
        bandwidth="x2",
        latency="x0.5",
        processor_speed="x3",
        memory_speed="x2",
        overlap="0.5",
        cache="16KB",
        memory="4KB",
        contention=False,
        io=False,
        opt={"hoist": False, "interchange": False},
        system_set={"cube.network.long.startup": "500us"},
    )


def test_each_change_is_a_prediction_of_its_own(found):
    assert [each.label for each in found.outcomes] == list(ALONE)
    assert found.base.time_s == esp.predict(PROGRAM, procs=8, **SIZE).time_s
    for each in found.outcomes:
        alone = esp.predict(PROGRAM, procs=8, **SIZE, **ALONE[each.label])
        assert each.time_s == pytest.approx(alone.time_s, rel=1e-12)


def test_lines_that_moved_are_those_whose_time_differs(found):
    least_s = MOVED * found.base.time_s
    moved_by_any = set()
    for each in found.outcomes:
        alone = esp.predict(PROGRAM, procs=8, **SIZE, **ALONE[each.label])
        before = {line.line: line.time_s for line in found.base.lines}
        expected = {line.line for line in alone.lines if abs(line.time_s - before.get(line.line, 0)) > least_s}
        assert {line.line for line in each.moved} == expected
        assert [abs(line.by_s) for line in each.moved] == sorted((abs(x.by_s) for x in each.moved), reverse=True)
        moved_by_any |= expected
    assert moved_by_any
    unmoved = {line for _, line in found.unmoved()}
    assert not unmoved & moved_by_any
    assert unmoved | moved_by_any == {each.line for each in found.base.lines if each.time_s > 0}


def test_nothing_leaks_from_one_to_the_next():
    first = esp.whatif(PROGRAM, procs=8, **SIZE, bandwidth="x2", opt={"hoist": False})
    second = esp.whatif(PROGRAM, procs=8, **SIZE, opt={"hoist": False}, bandwidth="x2")
    assert {each.label: each.time_s for each in first.outcomes} == {each.label: each.time_s for each in second.outcomes}
    assert [each.label for each in second.outcomes] == ["hoist off", "bandwidth x2"]


def test_together():
    found = esp.whatif(PROGRAM, procs=8, **SIZE, bandwidth="x2", cache="16KB", opt={"hoist": False}, together=True)
    alone = esp.predict(
        PROGRAM,
        procs=8,
        **SIZE,
        bandwidth="x2",
        opt={"hoist": False},
        system_set={"cube.node.memory.cache_size": "16KB"},
    )
    assert found.outcomes[-1].label == "all together"
    assert found.outcomes[-1].time_s == pytest.approx(alone.time_s, rel=1e-12)


@pytest.mark.parametrize(
    ("lists", "told"),
    [
        ({"bandwidth": ["x2", "x3"], "load": "20%"}, r"bandwidth has 2 values \(x2, x3\)"),
        ({"load": ["20%", "50%"], "opt": "each"}, r"load has 2 values \(20%, 50%\)"),
        ({"opt": {"hoist": [True, False]}}, r"opt hoist has 2 values \(on, off\)"),
    ],
)
def test_together_names_what_has_several_values(lists, told):
    with pytest.raises(UsageError, match=told):
        esp.whatif(PROGRAM, procs=8, **SIZE, **lists, together=True)


def test_every_optimisation_that_is_on_in_turn():
    """No source decides INTERCHANGE on the iPSC/860, whose compiler has STRENGTH of those that are on request."""
    found = esp.whatif(PROGRAM, procs=8, **SIZE, opt="each")
    labels = [each.label for each in found.outcomes]
    on = [name for name in OPTIMISATIONS if name not in ON_REQUEST - {"strength"}]
    assert labels == [f"{name} {state}" for name in on for state in ("off", "on")[: 1 + (name == "interchange")]]
    states = {label: each.time_s for label, each in zip(labels, found.outcomes, strict=True)}
    assert states["interchange on"] == found.base.time_s
    given = esp.whatif(PROGRAM, procs=8, **SIZE, opt="each", together=True)
    assert "interchange on" not in [each.label for each in given.outcomes]


def test_an_undecided_optimisation_that_is_off_is_tried_both_ways():
    found = esp.whatif(PROGRAM, "ipsc860-f90d", 8, **SIZE, opt="each")
    labels = [each.label for each in found.outcomes]
    assert {"pack off", "pack on"} <= set(labels)


def test_numbers_are_values_too():
    found = esp.whatif(PROGRAM, procs=8, **SIZE, bandwidth=np.array([0.5, 2.0]), load=0.25)
    assert [each.label for each in found.outcomes] == ["bandwidth 0.5", "bandwidth 2", "load 0.25"]


@pytest.mark.parametrize(
    ("options", "error", "told"),
    [
        ({}, UsageError, "nothing to change"),
        ({"load": "100%"}, MachineError, "out of range"),
        ({"opt": {"hoisting": False}}, UsageError, "no optimisation"),
        ({"contention": "maybe"}, UsageError, "either on or off"),
        ({"system_set": {"nix": "1us"}}, MachineError, "is not a parameter"),
    ],
)
def test_wrong_changes(options, error, told):
    with pytest.raises(error, match=told):
        esp.whatif(PROGRAM, procs=8, **SIZE, **options)


# --- the command ---

WORDS = [PROGRAM, "--procs", "8", "--set", "n=48", "--set", "k=5", "--bandwidth", "x2", "--load", "20%,50%"]


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_table_fits(capsys, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    words = ["--opt", "each", "--latency", "x0.5", "--contention", "off", "--io", "off", "--memory", "1KB"]
    assert main(["whatif", *WORDS, *words]) == 0
    out = capsys.readouterr().out
    assert [line for line in out.splitlines() if len(line) > width] == []
    assert "data and copies would not fit in the memory of a node" in " ".join(out.split())
    assert "unmoved" in out


def test_json_and_csv_say_the_same(capsys):
    assert main(["whatif", *WORDS, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert main(["whatif", *WORDS, "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["change"] for row in rows] == ["base", *(each["change"] for each in told["changes"])]
    assert float(rows[0]["time_s"]) == told["base"]["time_s"]
    for row, each in zip(rows[1:], told["changes"], strict=True):
        assert float(row["time_s"]) == each["time_s"]
        assert [int(number) for number in row["moved"].split()] == [line["line"] for line in each["moved"]]
        parts = ("computation_s", "communication_s", "waiting_s", "overhead_s")
        assert sum(each[part] for part in parts) == pytest.approx(each["time_s"], rel=1e-9)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("", "there is nothing to change"),
        ("--load 200%", "out of range"),
        ("--opt each --opt hoist=off", "'each' means all"),
        ("--procs 1,2 --load 2%", "takes one processor count"),
        ("--load 1%,2% --together", "--load has 2 values (1%, 2%), but --together takes one"),
        ("--contention perhaps", "either on or off"),
    ],
)
def test_wrong_use(capsys, words, told):
    assert main(["whatif", PROGRAM, *words.split()]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert told in " ".join(err.split())


def test_changes_stand_in_the_order_of_the_options_in_the_help(capsys):
    """Whatever the order on the command line; values of one option stay in theirs."""
    words = ["--system-set", "cube.network.long.startup=x2", "--bandwidth", "x2", "--load", "50%,20%"]
    assert main(["whatif", "--help"]) == 0
    told = capsys.readouterr().out.partition("\nchanges:")[2]
    options = [each for each in words if each.startswith("--")]
    wanted = [each[2:] for each in sorted(options, key=lambda each: told.index(f"  {each} "))]
    assert main(["whatif", "pi", "--procs", "2", *words, "--json", "-q"]) == 0
    changes = [each["change"] for each in json.loads(capsys.readouterr().out)["changes"]]
    assert changes[:2] == ["load 50%", "load 20%"]
    kinds = list(dict.fromkeys("system-set" if "startup" in each else each.split()[0] for each in changes))
    assert kinds == wanted
