"""Exports of traces: each is opened by a reader of its own, and says what the prediction says."""

import json
from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
import pytest

from esp.cli.main import main
from esp.output.traces_chrome import chrome
from esp.output.traces_goal import goal
from esp.output.traces_paraver import AAU_EVENT, LINE_EVENT, STATES, paraver
from esp.output.traces_picl import picl
from esp.traces.text import text_of
from esp.traces.trace import COMPUTE, IO, KINDS, LIBRARY, OVERHEAD, RECEIVE, SEND, WAIT, messages
from tests.traces import readers

CASES = [
    ("laplace", 4, {"n": 20, "k": 5}),
    ("gauss", 3, {"n": 14}),
    ("pipeline", 5, {"n": 40}),
    ("redblack", 6, {"n": 12}),
    ("laplace", 1, {"n": 12, "k": 3}),
]
IDS = [f"{name}-{procs}" for name, procs, _ in CASES]
cases = pytest.mark.parametrize(("name", "procs", "values"), CASES, ids=IDS)


def sent(trace):
    """(source, destination, bytes) of all messages, and how often."""
    sends, _ = messages(trace)
    columns = (trace.rank[sends], trace.partner[sends], trace.size_bytes[sends])
    return Counter(zip(*(column.tolist() for column in columns), strict=True))


def spent(trace, kinds):
    """Seconds of some kinds on each processor."""
    some = np.isin(trace.kind, kinds)
    return np.bincount(trace.rank[some], trace.duration[some], trace.procs)


@cases
def test_chrome(predicted, name, procs, values):
    trace, prediction = predicted(name, procs, **values)
    events = readers.chrome("".join(chrome(trace)))
    slices = [each for each in events if each["ph"] == "X"]
    assert len(slices) == trace.rank.size
    for column, key, scale in ((trace.begin, "ts", 1e6), (trace.duration, "dur", 1e6)):
        np.testing.assert_allclose([each[key] for each in slices], column * scale, rtol=1e-9, atol=1e-6)
    assert [each["cat"] for each in slices] == [KINDS[kind] for kind in trace.kind]
    for rank in range(procs):
        mine = sorted((each for each in slices if each["tid"] == rank), key=lambda each: each["ts"])
        for one, other in pairwise(mine):  # as Perfetto: whole nanoseconds, cut off
            assert int(one["ts"] * 1e3) + int(one["dur"] * 1e3) <= int(other["ts"] * 1e3)
    last = max(each["ts"] + each["dur"] for each in slices)
    assert last == pytest.approx(float(prediction.time_s[0]) * 1e6, rel=1e-12)
    starts = {each["id"]: each for each in events if each["ph"] == "s"}
    ends = {each["id"]: each for each in events if each["ph"] == "f"}
    assert len(starts) == prediction.messages
    assert starts.keys() == ends.keys()
    assert all(starts[number]["ts"] <= ends[number]["ts"] for number in starts)
    of = {(each["tid"], each["ts"], each["cat"]): each["args"] for each in slices}
    arrows = Counter((each["tid"], ends[number]["tid"], of[each["tid"], each["ts"], "send"]["bytes"])
                     for number, each in starts.items())  # fmt: skip
    assert arrows == sent(trace)
    assert all((each["tid"], each["ts"], "receive") in of for each in ends.values())
    named = {each["tid"]: each["args"]["name"] for each in events if each["name"] == "thread_name"}
    assert named == {rank: f"processor {rank}" for rank in range(procs)}


@cases
def test_picl(predicted, name, procs, values):
    trace, prediction = predicted(name, procs, **values)
    records = readers.picl("".join(picl(trace)))
    assert records[-1][2] == pytest.approx(float(prediction.time_s[0]), abs=1e-12)
    out = Counter((node, data[2], data[0]) for record, event, _, node, data in records if (record, event) == (-3, -21))
    came = Counter((data[2], node, data[0]) for record, event, _, node, data in records if (record, event) == (-4, -52))
    assert out == came == sent(trace)
    total = defaultdict(float)
    for record, event, time, node, _ in records:
        total[node, min(event, 1)] += time if record == -4 else -time
    idle = {rank: trace.duration[(trace.rank == rank) & (trace.kind == WAIT) & (trace.partner < 0)].sum()
            for rank in range(procs)}  # fmt: skip
    for rank in range(procs):
        assert total[rank, -21] == pytest.approx(spent(trace, [SEND])[rank], abs=1e-9)
        received = spent(trace, [RECEIVE, WAIT])[rank] - idle[rank]
        assert total[rank, -52] == pytest.approx(received, abs=1e-9)
        busy = spent(trace, [COMPUTE, OVERHEAD, LIBRARY, IO])[rank]
        assert total[rank, 1] == pytest.approx(busy, abs=1e-9)
        assert total[rank, -901] == pytest.approx(float(prediction.time_s[0]), abs=1e-9)


@cases
def test_paraver(predicted, name, procs, values):
    trace, prediction = predicted(name, procs, **values)
    files = {suffix: "".join(pieces) for suffix, pieces in paraver(trace).items()}
    duration, tasks, states, events, sent_messages = readers.paraver(files[".prv"])
    assert tasks == procs
    assert duration == round(float(prediction.time_s[0]) * 1e9)
    ends = defaultdict(int)
    total = Counter()
    for task, begin, end, state in states:
        assert begin >= ends[task], "states of a task do not overlap"
        ends[task] = end
        total[task - 1, state] += end - begin
    for kind, (state, _, _) in STATES.items():
        seconds = spent(trace, [kind])
        pieces = np.bincount(trace.rank[trace.kind == kind], minlength=procs)
        for rank in range(procs):  # each end of an event is rounded to a nanosecond
            assert total[rank, state] == pytest.approx(seconds[rank] * 1e9, abs=1.0 + pieces[rank])
    assert Counter((one - 1, other - 1, size) for one, _, other, _, size in sent_messages) == sent(trace)
    assert all(left <= came for _, left, _, came, _ in sent_messages)
    known, colours, types = readers.paraver_names(files[".pcf"])
    assert {state for _, _, _, state in states} <= set(known) == set(colours)
    for _, _, pairs in events:
        assert set(pairs) == {AAU_EVENT, LINE_EVENT}
        assert all(value in types[kind] for kind, value in pairs.items())
    per_task = Counter(task for task, _, pairs in events if pairs[AAU_EVENT] == 0)
    assert per_task == dict.fromkeys(range(1, procs + 1), 1)
    levels = readers.paraver_rows(files[".row"])
    assert {level: len(names) for level, names in levels.items()} == {"CPU": procs, "NODE": procs, "THREAD": procs}


@cases
def test_goal(predicted, name, procs, values):
    trace, prediction = predicted(name, procs, **values)
    ranks = readers.goal("".join(goal(trace)))
    assert len(ranks) == procs
    busy = spent(trace, [COMPUTE, OVERHEAD, LIBRARY, IO])
    for rank, operations in ranks.items():
        assert sum(each["size"] for each in operations if each["kind"] == "calc") == pytest.approx(
            busy[rank] * 1e9, abs=1.0)
        assert all(len(each["after"]) == (number > 0) for number, each in enumerate(operations))
    carried = readers.simulated(ranks)
    assert len(carried) == prediction.messages
    assert Counter(carried) == sent(trace)


@cases
def test_otf2(predicted, name, procs, values, tmp_path):
    import otf2

    from esp.output.traces_otf2 import write_otf2

    trace, prediction = predicted(name, procs, **values)
    write_otf2(trace, tmp_path / "archive")
    out, came = Counter(), Counter()
    stacks, times, last = defaultdict(list), defaultdict(float), 0
    with otf2.reader.open(str(tmp_path / "archive" / "traces.otf2")) as archive:
        assert archive.timer_resolution == 10**12
        ranks = {location: rank for rank, location in enumerate(archive.definitions.locations)}
        assert [location.name for location in ranks] == [f"processor {rank}" for rank in range(procs)]
        for location, event in archive.events:
            rank, last = ranks[location], max(last, event.time)
            match type(event).__name__:
                case "Enter":
                    stacks[rank].append((event.region.name, event.time))
                case "Leave":
                    region, began = stacks[rank].pop()
                    assert region == event.region.name
                    times[rank, region] += event.time - began
                case "MpiSend":
                    assert stacks[rank][-1][0] == "send"
                    out[rank, event.receiver, event.msg_length] += 1
                case "MpiRecv":
                    assert stacks[rank][-1][0] == "receive"
                    came[event.sender, rank, event.msg_length] += 1
    assert not any(stacks.values())
    assert last == round(float(prediction.time_s[0]) * 1e12)
    assert out == came == sent(trace)
    for kind, word in enumerate(KINDS):
        seconds = spent(trace, [kind])
        for rank in range(procs):
            assert times[rank, word] == pytest.approx(seconds[rank] * 1e12, abs=1.0 + trace.rank.size)


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


@pytest.mark.parametrize(("words", "code", "told"), [
    ([*SMALL, "--format", "paraver"], 2, "--format: paraver is more than one file. Say where to, with -o."),
    ([*SMALL, "--format", "otf2", "-o", "-"], 2, "--format: otf2 is more than one file."),
    (["gauss.hpf", "--procs", "2,3"], 2, "--procs: a trace is of one number of processors."),
    ([*SMALL, "--events", "none"], 2, "'none' is no number of events"),
    ([*SMALL, "--events", "100"], 1, "the trace would have more than 100 events"),
    ([*SMALL, "-o", "nowhere/x"], 2, "nowhere/x: cannot be written: No such file or directory."),
])  # fmt: skip
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


@pytest.mark.parametrize("form", ["picl", "goal", "paraver", "chrome"])
def test_the_readers_see_a_line_that_is_missing(predicted, form):
    """A check that cannot fail is none: without a line, the reader refuses or what it reads is another."""
    trace, _ = predicted("gauss", 3, n=14)
    export = {"picl": picl, "goal": goal, "chrome": chrome}.get(form)
    lines = ("".join(export(trace)) if export else "".join(paraver(trace)[".prv"])).splitlines(keepends=True)
    read = getattr(readers, form)
    whole = read("".join(lines))
    for at in range(0, len(lines), 7):
        try:
            found = read("".join(lines[:at] + lines[at + 1 :]))
        except (AssertionError, ValueError, AttributeError, KeyError, IndexError, TypeError):
            continue
        assert found != whole
