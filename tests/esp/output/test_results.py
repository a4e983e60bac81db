"""Results of the Python API: one line, rows, data frames, pages of a notebook."""

import csv
import io
import re
import sys
from functools import partial
from html.parser import HTMLParser

import pytest
from msgspec.structs import replace

import esp
from esp.calling import respelled
from esp.output.compare import comparison_csv
from esp.output.csv import lines
from esp.output.sweep import sweep_csv
from esp.output.whatif import what_if_csv

PROGRAM = """\
program evil
  real :: a(64, 64), b(64, 64)
!hpf$ processors q(2, 2)
!hpf$ distribute (block, block) onto q :: a, b
  a = 1.0 ! <script>alert(1)</script>
  b = cshift(a, 1, 1)
  print *, b(1, 1)
end program evil
"""


@pytest.fixture(scope="module")
def results():
    return {
        "predict": esp.predict(PROGRAM, procs=4),
        "compare": esp.compare(PROGRAM, procs=4, distribute=["(BLOCK,*)", "(*,BLOCK)"]),
        "whatif": esp.whatif(PROGRAM, procs=4, load="50%", bandwidth=["x2", "x4"], latency="x2"),
        "sweep": esp.sweep(PROGRAM, procs=[2, 4], load=["0%", "50%"]),
        "advise": esp.advise(PROGRAM, procs=4, top=2),
    }


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("predict", r"<Prediction: <text>, 4 processors of ipsc860, [\d.]+ ms>"),
        ("compare", r"<Comparison: <text>, 4 processors of ipsc860, 3 choices, best \(\S+\) [\d.]+ ms>"),
        ("whatif", r"<WhatIf: <text>, 4 .*860, [\d.]+ ms, load 50% [\d.]+ ms, bandwidth x2 [\d.]+ ms, .* ms, \.\.\.>"),
        ("sweep", r"<Sweep: <text>, 2 procs x 2 load, [\d.]+ ms to [\d.]+ ms>"),
        ("advise", r"<Advice: <text>, ipsc860, best \(\S+\) on 4 processors [\d.]+ ms>"),
    ],
)
def test_a_result_is_one_line_in_an_interpreter(results, name, line):
    assert re.fullmatch(line, repr(results[name]))


def test_one_line_says_what_is_incomplete_or_several():
    several = esp.predict(PROGRAM, procs=4, load=["0%", "50%"])
    assert re.fullmatch(r"<Prediction: .*, [\d.]+ ms to [\d.]+ ms in 2 scenarios>", repr(several))
    partial = PROGRAM.replace("  print", "  call elsewhere(a)\n  print")
    found = esp.predict(partial, procs=4)
    assert not found.complete
    assert repr(found).endswith(" ms incomplete>")
    assert repr(esp.compare(partial, procs=4, distribute="(BLOCK,*)")).endswith(", incomplete>")


MISSPELT = "program p\nreal :: a(8)\n!HFP$ distribute a(block)\na = 1.0\nend program p\n"


@pytest.mark.parametrize("call", [esp.predict, esp.compare, esp.advise, esp.sweep, partial(esp.whatif, load="30%")])
def test_warnings_are_printed(call):
    found = call(MISSPELT, procs=4)
    assert ":3:1: W108 this comment reads as a directive" in " ".join(str(found).split())
    assert "W108" in found._repr_html_()


def test_many_warnings_are_counted():
    found = esp.predict(MISSPELT, procs=4)
    many = replace(found, warnings=tuple(replace(found.warnings[0], message=f"no {at}") for at in range(12)))
    assert "2 more, in .warnings\n" in str(many)


@pytest.mark.parametrize(
    ("name", "as_csv"), [("predict", lines), ("compare", comparison_csv), ("whatif", what_if_csv), ("sweep", sweep_csv)]
)
def test_rows_are_those_of_the_csv(results, name, as_csv):
    words = {True: "true", False: "false", None: ""}
    rows = results[name].rows()
    written = list(csv.DictReader(io.StringIO(as_csv(results[name]))))
    assert len(rows) == len(written) > 1
    for row, other in zip(rows, written, strict=True):
        told = {key: words[value] if isinstance(value, bool | None) else str(value) for key, value in row.items()}
        assert told == {key: text.removeprefix("'") for key, text in other.items()}


def test_rows_of_advice(results):
    found = results["advise"]
    assert [row["time_s"] for row in found.rows()] == [each.time_s for each in found.ranked]
    assert found.rows()[0]["mapping"] == found.best.candidate.shown


def test_lines_of_a_prediction_add_up(results):
    found = results["predict"]
    assert sum(row["time_s"] for row in found.rows()) == pytest.approx(found.time_s, rel=1e-9)


def test_data_frames(results):
    for each in results.values():
        frame = each.to_pandas()
        assert frame["time_s"].tolist() == [row["time_s"] for row in each.rows()]
        assert list(frame.columns) == list(each.rows()[0])
    table = results["sweep"].to_pandas().pivot_table(index="procs", columns="load", values="time_s")
    assert table.to_numpy() == pytest.approx(results["sweep"].time_s)


def test_without_pandas_the_error_says_what_to_install(results, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(esp.PredictionError, match=r"pandas is not installed\. .*esp-hpf\[pandas\]"):
        results["predict"].to_pandas()


class _Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.titles = [], [], 0
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self.open.append(tag)
        assert not {"src", "href", "onclick"} & {name for name, _ in attrs}

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.parametrize("name", ["predict", "compare", "whatif", "sweep", "advise"])
def test_pages_are_whole_and_load_nothing(results, name):
    text = results[name]._repr_html_()
    page = _Page(text)
    assert page.open == []
    assert "script" not in page.seen
    assert "http" not in text
    assert page.seen.count("table") == 1
    assert page.seen.count("tr") > 2


def test_findings_speak_of_arguments():
    found = esp.compare("laplace.hpf", procs=8, n=32, distribute=["(BLOCK(2),*)", "(*,BLOCK)"])
    (_, why), *_ = found.impossible
    assert why.message.startswith("distribute temp, dimension 1: ")
    assert "‹" not in str(found) + repr(found.impossible)


def test_findings_inside_of_results_speak_of_arguments_too(results):
    doubt = esp.Diagnostic(code="W301", message="‹grid 4x2› is odd", hint="‹set n=4› and ‹procs› decide otherwise")
    doubted = replace(results["predict"], warnings=(doubt,))
    found = respelled(replace(results["whatif"], base=doubted))
    assert str(found.base.warnings[0]) == "W301 grid 4x2 is odd (n=4 and procs decide otherwise)"
    found = respelled(replace(results["sweep"], problems=((3, doubt),), warnings=(doubt,)))
    assert found.problems[0][1] == found.warnings[0]
    assert found.warnings[0].hint == "n=4 and procs decide otherwise"
    assert respelled(results["advise"]).rows() == results["advise"].rows()


@pytest.mark.parametrize("name", ["predict", "compare", "whatif", "sweep", "advise"])
def test_pictures(results, name, tmp_path):
    picture = results[name].plot(str(tmp_path / "made.svg"))
    assert picture._repr_png_().startswith(b"\x89PNG")
    text = (tmp_path / "made.svg").read_text(encoding="utf-8")
    shown = {
        "predict": "line 6",
        "compare": "(*,BLOCK) 4",
        "whatif": "bandwidth x4",
        "sweep": "50%",
        "advise": "ipsc860",
    }
    assert shown[name] in text
    assert type(picture.figure).__name__ == "Figure"


def test_bars_are_as_long_as_the_times(results):
    axes = results["compare"].plot().figure.axes[0]
    ends = [bar.get_x() + bar.get_width() for bar in axes.containers[-1]]
    assert ends == pytest.approx([each.time_s for each in results["compare"].ranked])


def test_pictures_of_another_kind_are_refused(results, tmp_path):
    with pytest.raises(esp.UsageError, match=r"made\.txt"):
        results["predict"].plot(str(tmp_path / "made.txt"))


def test_kinds_of_pictures(results):
    speedup = results["sweep"].plot(kind="speedup").figure.axes[0]
    assert "speed" in speedup.get_ylabel()
    roofline = esp.predict("laplace.hpf", procs=4, n=32).plot(kind="balance").figure.axes[0]
    assert "operations for each byte" in roofline.get_xlabel()
    with pytest.raises(esp.UsageError, match=r"'balance' is not a kind\. Known: bars"):
        results["compare"].plot(kind="balance")
