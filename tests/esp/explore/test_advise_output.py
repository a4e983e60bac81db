"""`esp advise` on the command line: table, reasons, JSON, an end by Ctrl-C, and progress."""

import json
import re
import shlex

import pytest

import esp
from esp.cli.main import main
from esp.explore import advise as search
from esp.explore.advise_reasons import MOST, reasons
from esp.output.advise import advice_text
from esp.output.advise_data import advice_json
from esp.output.screen import Screen
from tests.esp.explore.test_advise_alignments import TRANSPOSED


@pytest.fixture(scope="module")
def redblack():
    return esp.advise("redblack", procs=8, set={"n": 32, "k": 4})


@pytest.fixture(scope="module")
def turned():
    return esp.advise(TRANSPOSED, procs=4, distribute=["(BLOCK,*)", "(*,BLOCK)"])


@pytest.mark.sampled
@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("which", ["redblack", "turned"])
def test_no_line_is_too_wide(which, width, request):
    found = request.getfixturevalue(which)
    free = [line for line in advice_text(found, Screen(width)).splitlines() if "!HPF$" not in line]
    assert max(map(len, free)) <= width


def test_the_table_says_what_was_predicted_and_what_was_not(redblack):
    text = str(redblack)
    assert f"12 choices on 8 procs: {len(redblack.ranked)} predicted, {len(redblack.excluded)} ruled out" in text
    best = redblack.best
    assert re.search(rf"^ 1. .* best .* {'x'.join(map(str, best.candidate.grid))} ", text, re.MULTILINE)
    assert text.count(" > ") >= 4
    assert (redblack.written.tie, "keep what the source has" in text, "paste" in text) == (None, True, False)


def test_reasons_add_up_to_the_difference(redblack):
    for each in redblack.ranked[1:]:
        told = reasons(redblack.best.prediction, each.prediction)
        assert told.change_s == pytest.approx(each.time_s - redblack.best.time_s, rel=1e-9)
        assert sum(one.change_s for one in told.told) + told.rest_s == pytest.approx(told.change_s, rel=1e-9)
        for one in told.told:
            assert one.other.time_s - one.best.time_s == pytest.approx(one.change_s, rel=1e-9, abs=1e-15)
        sizes = [abs(one.change_s) for one in told.told]
        assert sizes == sorted(sizes, reverse=True)
        assert len(sizes) <= MOST


def test_reasons_name_the_line_and_the_communication(turned):
    own = turned.written
    told = reasons(turned.best.prediction, own.prediction)
    (most, *_) = told.told
    source = own.prediction.lines_text[most.line - 1]
    assert "b(j,i)" in source
    assert most.category == "communication"
    assert {(each.pattern, each.array) for each in most.other.messages} == {("transpose", "b")}
    assert most.best.messages == ()
    text = str(turned)
    assert f"line {most.line}" in text
    assert re.search(r"1: no message\n +\d+: transpose of b", text)


def test_imbalance_is_told_where_it_differs():
    found = esp.advise("gauss", procs=4, n=24, distribute=["(*,BLOCK)", "(*,CYCLIC)"], top=2)
    first, second = (each.prediction.imbalance for each in found.ranked)
    assert abs(first - second) > 0.02
    assert "the busiest processor computes" in " ".join(str(found).split())


@pytest.mark.truth
def test_the_next_command_gives_the_time(capsys):
    assert main(shlex.split("advise redblack --procs 8 --set n=64 --set k=4")) == 0
    text = capsys.readouterr().out
    following = " ".join(text.partition("\nnext ")[2].split())
    assert main([*shlex.split(following)[1:], "--json"]) == 0
    found = esp.advise("redblack", procs=8, set={"n": 64, "k": 4})
    assert found.best.candidate.directives  # another mapping is faster, but by less than the model error
    assert json.loads(capsys.readouterr().out)["time_s"] == found.written.time_s


def test_json_says_all_of_it(turned, capsys):
    said = json.loads(advice_json(turned))
    assert said["proven"]
    assert not said["interrupted"]
    assert [each["time_s"] for each in said["choices"]] == [each.time_s for each in turned.ranked]
    assert said["choices"][0]["reasons"] is None
    assert said["choices"][0]["align"][0] == "B(I,J) WITH A(J,I)"
    assert said["choices"][1]["reasons"]["change_s"] == pytest.approx(turned.ranked[1].time_s - turned.best.time_s)
    assert [each["bound_s"] for each in said["excluded"]] == [each.bound_s for each in turned.excluded]
    assert said["paste"] == list(turned.best.candidate.directives)
    assert main(shlex.split("advise pi --procs 2..8 --json")) == 0
    assert json.loads(capsys.readouterr().out)["processors"] == [2, 4, 8]


def test_twice_is_byte_for_byte_the_same(capsys):
    texts = []
    for _ in range(2):
        assert main(shlex.split("advise laplace --procs 4 --set n=24")) == 0
        texts.append(capsys.readouterr())
    assert texts[0] == texts[1]
    assert texts[0].err == ""


def test_ctrl_c_gives_the_best_so_far(monkeypatch, capsys):
    seen = []
    bound = search.lower_bound

    def stopping(*arguments):
        seen.append(1)
        if len(seen) == 4:
            raise KeyboardInterrupt
        return bound(*arguments)

    monkeypatch.setattr(search, "lower_bound", stopping)
    assert main(shlex.split("advise laplace --procs 8 --set n=24")) == 130
    text = capsys.readouterr().out
    assert "1 predicted, 11 not predicted" in text
    assert "stopped: 1 is the best so far" in text
    assert "best so far: change PROCESSORS only" in " ".join(text.split())
    assert "and 8 more of which nothing is known yet" in text
    seen.clear()
    assert main(shlex.split("advise laplace --procs 8 --set n=24 --json")) == 130
    said = json.loads(capsys.readouterr().out)
    assert said["interrupted"]
    assert not said["proven"]
    assert said["floor_s"] == 0


def test_ctrl_c_before_there_is_anything(monkeypatch, capsys):
    def stopping(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(search, "interpret_stages", stopping)
    assert main(shlex.split("advise laplace --procs 8 --set n=24")) == 130
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("--procs 4..x", "is not a range"),
        ("--procs 8..4", "never gets from 8 to 4"),
        ("--top 0", "not a number of choices"),
        ("--procs 4..8 --grid 4x2", "one grid cannot fit"),
        ("--distribute (BLOCK) --procs 4", "2"),
    ],
)
def test_wrong_use(words, told, capsys):
    assert main(["advise", "laplace", *shlex.split(words)]) == 2
    assert told in capsys.readouterr().err


def test_what_cannot_be_predicted_is_told(capsys):
    assert main(shlex.split("advise laplace --procs 4 --distribute (BLOCK(2),*)")) == 0
    captured = capsys.readouterr()
    assert "failed   (BLOCK(2),*): " in captured.out
