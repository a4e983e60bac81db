"""JSON, CSV and HTML."""

import csv
import io
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from aag.diagnostics import Diagnostic, Span
from esp.api import Request
from esp.output import csv as csv_output
from esp.output import json as json_output
from esp.output.html import page
from esp.prediction import Interval, Variant
from esp.request import asked
from interpreter.result import Assumption
from tests.esp.output.build import AAUS, LINES, array, prediction

PARTS = ("computation_s", "communication_s", "overhead_s", "waiting_s")


def _fields(of):
    """Every field name in a JSON value, nested ones as ``lines[].file``."""
    found = set()
    if isinstance(of, dict):
        for name, value in of.items():
            found.add(name)
            found |= {f"{name}{'' if below.startswith('[') else '.'}{below}" for below in _fields(value)}
    elif isinstance(of, list) and of and isinstance(of[0], dict):
        found |= {f"[].{below}" for each in of for below in _fields(each)}
    return found


def _documented(root):
    page = (root / "docs" / "json.md").read_text(encoding="utf-8")
    return {name.strip("`") for name in re.findall(r"^\| (`[^`]+`) \|", page, re.MULTILINE)}


def _everything():
    wanted = json_output.Sections(per_processor=True, aaus=None)
    warning = Diagnostic(code="W201", message="odd", span=Span("laplace.hpf", 4, 2), hint="look")
    one_way = Variant(on=(), off=("interchange",), time_s=2.0, timed_s=1.0)
    interval = Interval(
        low_s=1.0,
        high_s=2.0,
        timed_low_s=1.0,
        timed_high_s=2.0,
        scenarios=64,
        quantities=("a", "b", "c"),
        times_s=np.ones(64),
        timed_times_s=None,
        model_error=0.02,
        undecided=(one_way,),
    )
    made = prediction(warnings=(warning,), asked=asked(Request()), interval=interval)
    return json.loads(json_output.one(made, wanted))


def test_every_field_is_documented_and_every_documented_field_is_there(root):
    told = _everything()
    told["constants"] = told["flops"] = {}
    reason = Diagnostic(code="E307", message="does not fit", span=Span("laplace.hpf", 4, 2))
    several = json.loads(json_output.several([prediction(processors=1), prediction()], {3: reason}))
    runs = several.pop("runs")
    extra = {f"runs[].{name}" for name in runs[0].keys() - told.keys()} | {"runs"} | _fields(several)
    assert _fields(told) | extra == _documented(root)


def test_parts_add_up_to_lines_and_lines_to_the_total():
    told = _everything()
    for each in (told, *told["lines"]):
        assert sum(each[name] for name in PARTS) == pytest.approx(each["time_s"], rel=1e-12)
    assert sum(each["time_s"] for each in told["lines"]) == pytest.approx(told["time_s"], rel=1e-12)


def test_the_figures_are_those_of_the_prediction():
    told = _everything()
    assert (told["processors"], told["grid"], told["system"]) == (8, [4, 2], "ipsc860")
    assert told["constants"] == {"n": 256, "k": 50, "tol": 1e-4}
    assert told["timed_s"] == 0.2701
    assert told["messages"] == 2200
    assert told["assumptions"][1] == {
        "code": "A201",
        "text": "no network load",
        "file": None,
        "line": None,
        "column": None,
    }
    assert told["warnings"] == [
        {"code": "W201", "text": "odd", "file": "laplace.hpf", "line": 4, "column": 2, "hint": "look"}
    ]
    assert told["lines"][0]["source"].startswith("forall (i = 2:n-1")
    assert told["aaus"][1]["communication"]["sizes"] == [{"bytes": 1024, "messages": 12}, {"bytes": 512, "messages": 8}]
    assert len(told["per_processor"]["end_s"]) == 8


def test_what_is_not_asked_for_is_not_there():
    told = json.loads(json_output.one(prediction()))
    assert not {"per_processor", "aaus"} & told.keys()
    chosen = json.loads(json_output.one(prediction(), json_output.Sections(aaus=frozenset({3}))))
    assert [each["id"] for each in chosen["aaus"]] == [3]


def test_absent_figures_are_null():
    told = json.loads(json_output.one(prediction(timed_s=None, memory_usable_bytes=None)))
    assert told["timed_s"] is None
    assert told["memory_usable_bytes"] is None


def test_json_is_strict():
    with pytest.raises(ValueError, match="JSON compliant"):
        json_output.one(prediction(time_s=array(np.inf)))


def test_the_table_of_processors_as_json():
    runs = [prediction(processors=1, time_s=array(8.0)), prediction(processors=4, time_s=array(2.5))]
    told = json.loads(json_output.several(runs))
    assert [(each["processors"], each["speed_up"], each["efficiency"]) for each in told["runs"]] == [
        (1, 1.0, 1.0),
        (4, 3.2, 0.8),
    ]


def _rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_csv_of_lines():
    rows = _rows(csv_output.lines(prediction()))
    assert [int(row["line"]) for row in rows] == [7, 8, 9, 11]
    assert sum(float(row["time_s"]) for row in rows) == pytest.approx(0.2815)
    assert rows[0]["source"].endswith("a(i, j+1))")
    assert (rows[0]["max_processor"], rows[1]["max_processor"]) == ("3", "")


def test_csv_of_aaus():
    assert len(_rows(csv_output.aaus(prediction(), None))) == len(AAUS)
    (row,) = _rows(csv_output.aaus(prediction(), frozenset({7})))
    assert (row["kind"], row["line"], row["parent"]) == ("SyncSeq", "9", "2")


def test_csv_of_processors():
    rows = _rows(csv_output.processors(prediction()))
    assert [int(row["processor"]) for row in rows] == list(range(8))
    assert sum(float(rows[0][name]) for name in PARTS) == pytest.approx(0.2815)


def test_csv_of_several_runs():
    rows = _rows(csv_output.scaling([prediction(processors=1, grid=(1, 1)), prediction()]))
    assert [(row["processors"], row["grid"], row["efficiency"]) for row in rows] == [
        ("1", "1x1", "1.0"),
        ("8", "4x2", "0.125"),
    ]


def test_csv_says_where_time_is_missing():
    blamed = Assumption(code="unmodelled", text="line 8: no", span=Span("laplace.hpf", 8, 5))
    partial = prediction(complete=False, assumptions=(blamed,))
    assert [row["complete"] for row in _rows(csv_output.lines(partial))] == ["true", "false", "true", "true"]
    assert {row["complete"] for row in _rows(csv_output.lines(prediction(complete=False)))} == {"false"}
    both = _rows(csv_output.scaling([prediction(), partial]))
    assert [row["complete"] for row in both] == ["true", "false"]


class _Balance(HTMLParser):
    """Every element that is opened is closed, innermost first."""

    def __init__(self):
        super().__init__()
        self.open = []
        self.seen = []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_html_stands_alone():
    text = page(prediction(bundled=True))
    balance = _Balance()
    balance.feed(text)
    assert balance.open == []
    assert not {"script", "link", "img", "iframe"} & set(balance.seen)
    assert not re.search(r"https?:|//|url\(|@import|src=|href=", text)
    assert "laplace.hpf (bundled)" in text
    assert balance.seen.count("tr") == 1 + len([each for each in LINES if each.parts.time_s[0] > 0])


def test_html_escapes_the_source():
    evil = tuple(text.replace("a = b", "a = b ! &<script>") for text in prediction().lines_text)
    text = page(prediction(lines_text=evil))
    assert "<script>" not in text
    assert "&amp;&lt;script&gt;" in text


def test_html_of_several_scenarios_says_their_range():
    text = page(prediction(scenarios=3, time_s=np.array([0.2815, 0.1, 0.5])))
    assert "3 scenarios: 100 ms to 500 ms" in text
