"""Exports of traces: each is opened by a reader of its own, and says what the prediction says."""

import json
import re

import numpy as np
import pytest
from msgspec.structs import replace

from esp.cli.main import main
from esp.output.traces_chrome import chrome
from esp.output.traces_goal import goal
from esp.output.traces_otf2 import write_otf2
from esp.output.traces_paraver import paraver
from esp.output.traces_picl import picl
from esp.traces.text import text_of
from esp.traces.trace import COMPUTE, OVERHEAD, SEND, messages
from tests.esp.traces import checks, readers
from tests.esp.traces.checks import PERFETTO, check_otf2, check_perfetto
from tests.esp.traces.trace_processor import opened

CASES = [
    ("laplace", 4, {"n": 20, "k": 5}),
    ("gauss", 3, {"n": 14}),
    ("pipeline", 5, {"n": 40}),
    ("redblack", 6, {"n": 12}),
    ("laplace", 1, {"n": 12, "k": 3}),
]
IDS = [f"{name}-{procs}" for name, procs, _ in CASES]
cases = pytest.mark.parametrize(("name", "procs", "values"), CASES, ids=IDS)

TEXTS = {
    "chrome": (
        lambda trace: "".join(chrome(trace)),
        lambda text, *said: checks.check_chrome(readers.chrome(text), *said),
    ),
    "picl": (lambda trace: "".join(picl(trace)), lambda text, *said: checks.check_picl(readers.picl(text), *said)),
    "paraver": (
        lambda trace: "".join(paraver(trace)[".prv"]),
        lambda text, *said: checks.check_paraver(readers.paraver(text), *said),
    ),
    "goal": (
        lambda trace: "".join(goal(trace)),
        lambda text, *said: checks.check_goal(ranks := readers.goal(text), readers.simulated(ranks), *said),
    ),
}
"""Formats that are a text: how it is written, and how it is checked against a trace and its prediction."""


@pytest.mark.sampled
@cases
@pytest.mark.parametrize("form", TEXTS)
def test_an_export_says_what_the_prediction_says(predicted, form, name, procs, values):
    trace, prediction = predicted(name, procs, **values)
    write, check = TEXTS[form]
    check(write(trace), trace, prediction)


@pytest.mark.slow
def test_perfetto_reads_what_the_prediction_says(predicted):
    """The program behind ui.perfetto.dev opens the exports of all cases."""
    those = [predicted(name, procs, **values) for name, procs, values in CASES]
    for answer, (trace, prediction) in zip(
        opened([TEXTS["chrome"][0](trace) for trace, _ in those], *PERFETTO), those, strict=True
    ):
        check_perfetto(answer, trace, prediction)


@cases
def test_otf2(predicted, name, procs, values, tmp_path):
    trace, prediction = predicted(name, procs, **values)
    write_otf2(trace, tmp_path / "archive")
    check_otf2(tmp_path / "archive" / "traces.otf2", trace, prediction)


@cases
def test_the_names_of_paraver(predicted, name, procs, values):
    """Every state and every value of an event has a name, every state a colour, every processor a row."""
    trace, _ = predicted(name, procs, **values)
    files = {suffix: "".join(pieces) for suffix, pieces in paraver(trace).items()}
    _, _, states, events, _ = readers.paraver(files[".prv"])
    known, colours, types = readers.paraver_names(files[".pcf"])
    assert {state for _, _, _, state in states} <= set(known) == set(colours)
    assert all(value in types[kind] for _, _, pairs in events for kind, value in pairs.items())
    levels = readers.paraver_rows(files[".row"])
    assert {level: len(names) for level, names in levels.items()} == {"CPU": procs, "NODE": procs, "THREAD": procs}


# --- a check that cannot fail is none ---


def _columns(trace, change):
    columns = {
        name: getattr(trace, name).copy()
        for name in ("rank", "begin", "duration", "aau", "kind", "partner", "size_bytes")
    }
    change(columns)
    return replace(trace, **columns)


def _longest(trace, kind):
    """The longest event of a kind that is not on the first processor."""
    return int(np.argmax(np.where((trace.kind == kind) & (trace.rank > 0), trace.duration, -1.0)))


def message_missing(trace):
    sends, receives = messages(trace)
    return _columns(
        trace, lambda of: of.update({name: np.delete(each, [sends[3], receives[3]]) for name, each in of.items()})
    )


def message_of_another_size(trace):
    sends, receives = messages(trace)

    def change(of):
        of["size_bytes"][[sends[3], receives[3]]] += 8

    return _columns(trace, change)


def processors_exchanged(trace):
    """All that the first does, the last does, and the other way round."""
    other = np.arange(trace.procs)
    other[[0, -1]] = other[[-1, 0]]

    def change(of):
        of["partner"] = np.where(of["partner"] < 0, of["partner"], other[of["partner"]])
        of["rank"] = other[of["rank"]]
        order = np.argsort(of["rank"], kind="stable")
        of.update({name: each[order] for name, each in of.items()})

    return _columns(trace, change)


def computation_5_ns_shorter(trace):
    def change(of):
        of["duration"][_longest(trace, COMPUTE)] -= 5e-9

    return _columns(trace, change)


def send_5_ns_later(trace):
    def change(of):
        of["begin"][_longest(trace, SEND)] += 5e-9
        of["duration"][_longest(trace, SEND)] -= 5e-9

    return _columns(trace, change)


def computation_as_overhead(trace):
    def change(of):
        of["kind"][_longest(trace, COMPUTE)] = OVERHEAD

    return _columns(trace, change)


def computation_of_another_unit(trace):
    def change(of):
        at = _longest(trace, COMPUTE)
        of["aau"][at] = next(each.id for each in trace.about.places if each.id != of["aau"][at])

    return _columns(trace, change)


WRONG = (
    message_missing,
    message_of_another_size,
    processors_exchanged,
    computation_5_ns_shorter,
    send_5_ns_later,
    computation_as_overhead,
    computation_of_another_unit,
)
NOT_IN = {
    "picl": {computation_as_overhead},  # who is busy is not said with what
    "goal": {computation_as_overhead, send_5_ns_later, computation_of_another_unit},  # messages get their time later
}
"""What a format does not say of a trace, so that no reader can see it."""


@pytest.mark.parametrize("wrong", WRONG, ids=lambda each: each.__name__)
@pytest.mark.parametrize("form", TEXTS)
def test_a_wrong_text_is_found(predicted, form, wrong):
    trace, prediction = predicted("gauss", 3, n=14)
    write, check = TEXTS[form]
    text = write(wrong(trace))
    if wrong in NOT_IN.get(form, ()):
        assert text == write(trace)
    else:
        with pytest.raises(AssertionError):
            check(text, trace, prediction)


@pytest.mark.slow
def test_perfetto_shows_what_is_wrong(predicted):
    trace, prediction = predicted("gauss", 3, n=14)
    for wrong, answer in zip(
        WRONG, opened([TEXTS["chrome"][0](wrong(trace)) for wrong in WRONG], *PERFETTO), strict=True
    ):
        assert isinstance(answer, list), wrong.__name__
        with pytest.raises(AssertionError):
            check_perfetto(answer, trace, prediction)


@pytest.mark.parametrize("wrong", WRONG, ids=lambda each: each.__name__)
def test_a_wrong_archive_is_found(predicted, wrong, tmp_path):
    trace, prediction = predicted("gauss", 3, n=14)
    write_otf2(wrong(trace), tmp_path / "archive")
    with pytest.raises(AssertionError):
        check_otf2(tmp_path / "archive" / "traces.otf2", trace, prediction)


REFUSED = (AssertionError, ValueError, AttributeError, KeyError, IndexError, TypeError)


@pytest.mark.parametrize("step", [11, pytest.param(1, marks=pytest.mark.truth)])
@pytest.mark.parametrize("form", TEXTS)
def test_every_line_of_a_text_counts(predicted, form, step):
    trace, prediction = predicted("gauss", 3, n=14)
    write, check = TEXTS[form]
    lines = write(trace).splitlines(keepends=True)
    for at in range(0, len(lines), step):
        if not lines[at].strip():  # nobody need notice that a blank line is gone
            continue
        with pytest.raises(REFUSED):
            check("".join(lines[:at] + lines[at + 1 :]), trace, prediction)


@pytest.mark.parametrize("step", [29, pytest.param(7, marks=pytest.mark.truth)])
@pytest.mark.parametrize("form", TEXTS)
def test_every_number_of_a_text_counts(predicted, form, step):
    """The first digit of each number of some lines is another one."""
    trace, prediction = predicted("gauss", 3, n=14)
    write, check = TEXTS[form]
    lines = write(trace).splitlines(keepends=True)
    for at in range(2, len(lines), step):
        for number in re.finditer(r"(?<![\w.])\d", lines[at]):
            digit = str((int(number[0]) + 1) % 10)
            line = lines[at][: number.start()] + digit + lines[at][number.end() :]
            with pytest.raises(REFUSED):
                check("".join([*lines[:at], line, *lines[at + 1 :]]), trace, prediction)


# --- the command ------------------------------------------------------------------------------------------------

SMALL = ["gauss.hpf", "--procs", "3", "--set", "n=12"]


@pytest.mark.parametrize("form", ["esp", "chrome", "picl", "goal"])
def test_the_command_writes_a_file_or_to_standard_output(form, tmp_path, capsys, predicted):
    events = predicted("gauss", 3, n=12)[0].rank.size
    assert main(["trace", *SMALL, "--format", form]) == 0
    printed = capsys.readouterr()
    assert main(["trace", *SMALL, "--format", form, "-o", str(tmp_path / "x")]) == 0
    assert (tmp_path / "x").read_text(encoding="utf-8") == printed.out
    assert printed.err == ""
    assert capsys.readouterr().err == f"{tmp_path / 'x'}: {events} events of 3 processors\n"


def test_the_command_writes_the_files_of_paraver(tmp_path):
    assert main(["trace", *SMALL, "--format", "paraver", "-o", str(tmp_path / "g.prv")]) == 0
    assert sorted(each.name for each in tmp_path.iterdir()) == ["g.pcf", "g.prv", "g.row"]
    readers.paraver((tmp_path / "g.prv").read_text())


def test_a_trace_that_exists_is_converted(tmp_path, capsys):
    assert main(["trace", *SMALL, "-o", str(tmp_path / "g.trace")]) == 0
    assert main(["trace", *SMALL, "--format", "chrome"]) == 0
    direct = capsys.readouterr().out
    assert main(["trace", str(tmp_path / "g.trace"), "--format", "chrome"]) == 0
    assert capsys.readouterr().out == direct


def test_what_if_options_count(capsys):
    """The trace of a what-if is that of its prediction."""
    assert main(["trace", *SMALL, "--format", "chrome", "--latency", "x10"]) == 0
    slow = json.loads(capsys.readouterr().out)["traceEvents"]
    assert main(["run", *SMALL, "--latency", "x10", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    last = max(each["ts"] + each["dur"] for each in slow if each["ph"] == "X")
    assert last == pytest.approx(told["time_s"] * 1e6, rel=1e-9)


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ([*SMALL, "--format", "paraver"], 2, "--format: paraver is more than one file. Give the output with -o."),
        ([*SMALL, "--format", "otf2", "-o", "-"], 2, "--format: otf2 is more than one file."),
        (["gauss.hpf", "--procs", "2,3"], 2, "--procs: a trace takes one processor count."),
        ([*SMALL, "--events", "none"], 2, "'none' is not a number of events"),
        ([*SMALL, "--events", "100"], 1, "the trace would have more than 100 events"),
        ([*SMALL, "-o", "nowhere/x"], 2, "nowhere/x: cannot be written: no such file or directory."),
    ],
)
def test_what_cannot_be_done_is_said(words, code, told, capsys):
    assert main(["trace", *words]) == code
    assert told in " ".join(capsys.readouterr().err.split())


def test_a_trace_takes_no_options_of_a_prediction(tmp_path, predicted, capsys):
    (tmp_path / "g.trace").write_text("".join(text_of(predicted("gauss", 3, n=14)[0])))
    assert main(["trace", str(tmp_path / "g.trace"), "--procs", "4"]) == 2
    assert "is a trace already" in " ".join(capsys.readouterr().err.split())


def test_a_broken_trace_is_told_with_its_line(tmp_path, predicted, capsys):
    text = "".join(text_of(predicted("gauss", 3, n=14)[0]))
    (tmp_path / "g.trace").write_text(text.replace("grid 3", "grid 4"))
    assert main(["trace", str(tmp_path / "g.trace")]) == 2
    assert "g.trace:8:" in capsys.readouterr().err.replace("\n", "")


def test_messages_that_do_not_pair_up_are_told(tmp_path, predicted, capsys):
    lines = "".join(text_of(predicted("gauss", 3, n=14)[0])).splitlines(keepends=True)
    gone = next(at for at, line in enumerate(lines) if " receive " in line)
    events = int(lines[-1].split()[1])
    (tmp_path / "g.trace").write_text("".join([*lines[:gone], *lines[gone + 1 : -1], f"end {events - 1}\n"]))
    assert main(["trace", str(tmp_path / "g.trace"), "--format", "chrome"]) == 2
    assert "messages were sent and" in " ".join(capsys.readouterr().err.split())


def test_run_writes_the_same_trace_and_prints_the_same_profile(tmp_path, capsys):
    assert main(["run", *SMALL]) == 0
    plain = capsys.readouterr().out
    assert main(["run", *SMALL, "--trace", str(tmp_path / "g.trace")]) == 0
    assert capsys.readouterr().out == plain
    assert main(["trace", *SMALL]) == 0
    assert (tmp_path / "g.trace").read_text() == capsys.readouterr().out
