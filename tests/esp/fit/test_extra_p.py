"""Runs in the form of Extra-P: what is read, what is refused where, and what a sweep writes."""

import json

import pytest

import esp
from esp.cli.main import main
from esp.errors import UnreadableFileError
from esp.fit.extra_p import parse_extra_p
from esp.fit.reading import read_runs


def line(params, value, **more):
    return json.dumps({"params": params, **more, "value": value}) + "\n"


def test_times_of_the_whole_program_are_runs():
    text = (
        line({"p": 4, "N": 256.0}, 1.5, callpath="main", metric="time")
        + "\n"
        + line({"p": 4, "N": 256}, 1.2, callpath="main->sweep", metric="time")
        + line({"p": 4, "N": 256}, 77, callpath="main", metric="visits")
        + line({"p": 8, "N": 512}, 3, callpath="main", metric="time")
    )
    found = parse_extra_p(text, "runs.jsonl")
    assert [(each.processors, dict(each.values), each.time_s, each.line) for each in found] == [
        (4, {"n": 256}, 1.5, 1),
        (8, {"n": 512}, 3.0, 5),
    ]
    assert {each.program for each in found} == {""}


def test_a_file_with_nothing_but_parameters_and_values():
    (found,) = parse_extra_p(line({"procs": 2}, 0.5), "x")
    assert (found.processors, found.time_s) == (2, 0.5)


def test_several_programs():
    text = "".join(line({"p": 2}, 1.0 + at, callpath=name) for at, name in enumerate(("lu.hpf", "qr.hpf")))
    assert [each.program for each in parse_extra_p(text, "x")] == ["lu.hpf", "qr.hpf"]


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        (line({"p": 1}, 1) + "{]", "x:2", "not a JSON object"),
        ('{"params":' * 5000, "x:1", "not a JSON object"),
        ("{}", "x:1", "params or value is missing"),
        (line({"p": 1}, 1, metric="bytes"), "x", "no metric `time`"),
        (line({"p": 1}, 1, callpath="main->sweep"), "x", "parts of a program"),
        (line({"n": 1}, 1), "x:1", "number of processors is missing"),
        (line({"p": 0}, 1), "x:1", "number of processors is missing"),
        (line({"p": 1.5}, 1), "x:1", "p is not a whole number"),
        (line({"p": 1, "n": "a"}, 1), "x:1", "n is not a whole number"),
        (line({"p": 1, "n": float("inf")}, 1), "x:1", "n is not a whole number"),
        (line({"p": 1}, 0), "x:1", "a run takes time"),
        (line({"p": 1}, [1, 2]), "x:1", "a run takes time"),
        (line({"p": 1}, float("nan")), "x:1", "a run takes time"),
    ],
)
def test_what_is_refused(text, place, message):
    with pytest.raises(UnreadableFileError, match=message) as caught:
        parse_extra_p(text, "x")
    assert caught.value.where == place


def test_a_sweep_writes_what_is_read(tmp_path):
    file = tmp_path / "runs.jsonl"
    words = ["sweep", "laplace", "-p", "1,2,4", "--set", "n=32,64", "--set", "k=3", "--extra-p", "-o", str(file)]
    assert main(words) == 0
    found = read_runs(file)
    assert len(found) == 6
    for each in found:
        assert each.time_s == esp.predict("laplace", procs=each.processors, set=dict(each.values)).time_s
    metrics = {json.loads(each)["metric"] for each in file.read_text().splitlines()}
    assert metrics == {"time", "computation", "communication", "waiting", "overhead", "messages", "bytes"}


def test_what_else_varies_is_the_call_path(capsys):
    words = ["sweep", "laplace", "-p", "2,4", "--distribute", "(BLOCK,*)", "--distribute", "(*,BLOCK)", "--set", "k=2"]
    assert main([*words, "--extra-p"]) == 0
    paths = {json.loads(each)["callpath"] for each in capsys.readouterr().out.splitlines()}
    assert paths == {"laplace->(BLOCK,*)", "laplace->(*,BLOCK)"}


@pytest.mark.parametrize("more", [["--distribute", "(BLOCK,*)"], ["-p", "2,4", "--versus", "procs"]])
def test_a_sweep_that_says_nothing_to_extra_p(more):
    assert main(["sweep", "laplace", "--extra-p", *more]) == 2
