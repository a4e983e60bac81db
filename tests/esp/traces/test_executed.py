"""What a program that runs writes, against what is predicted: native MPI."""

import os
import subprocess
from collections import Counter

import numpy as np
import pytest

from esp import api
from esp.building import build, emitted_of, write
from esp.output.traces_chrome import chrome
from esp.output.traces_goal import goal
from esp.output.traces_paraver import paraver
from esp.output.traces_picl import picl
from esp.traces.read import read_trace
from esp.traces.record import predicted_trace
from esp.traces.trace import IO, KINDS, RECEIVE, SEND, messages
from esp.validate.native import RANKS, run
from tests.esp.traces import readers
from tests.esp.traces.checks import earlier_than_sent

FEW = [
    ("laplace", 1, {"n": 20, "k": 6}),
    ("laplace", 4, {"n": 20, "k": 6}),
    ("gauss", 3, {"n": 13}),
    ("pipeline", 4, {"n": 30}),
]
MORE = [
    ("laplace", 6, {"n": 20, "k": 6}),
    ("laplace_bx", 3, {"n": 20, "k": 4}),
    ("gauss", 4, {"n": 16}),
    ("redblack", 4, {"n": 16}),
    ("pbs4", 5, {}),
    ("lfk03", 7, {}),
]
CASES = [
    pytest.param(*case, id=f"{case[0]}-{case[1]}", marks=() if case in FEW else pytest.mark.truth)
    for case in FEW + MORE
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One folder for all programs: the run-time library is compiled once."""
    return tmp_path_factory.mktemp("traced")


@pytest.fixture(scope="module")
def both(folder):
    """Name, processors and values -> executed and predicted trace."""
    known = {}

    def traces(name, procs, values):
        key = (name, procs, tuple(values.items()))
        if key not in known:
            system = api.load_machine("ipsc860")
            request = api.Request(procs=procs, values=values)
            stages = api.lower_source(api.read_source(f"{name}.hpf"), system, request)
            emission = emitted_of(stages, system, request, traces=True)
            write(emission, folder)
            build(folder, "FFLAGS=-O1 -w")
            run(folder / emission.name, procs, ESP_TRACE=str(folder / "x.trace"))
            known[key] = read_trace(folder / "x.trace"), predicted_trace(stages, system, request)[0]
        return known[key]

    return traces


def messages_of(trace, kind):
    """(rank, line, partner, bytes) of all messages from one side, with how often."""
    some = trace.is_kind(kind)
    return Counter(
        zip(
            *(column[some].tolist() for column in (trace.rank, trace.lines(), trace.partner, trace.size_bytes)),
            strict=True,
        )
    )


@pytest.mark.sampled
@pytest.mark.parametrize(("name", "procs", "values"), CASES)
def test_messages_are_those_that_are_predicted(both, name, procs, values):
    """By rank, source line, partner and bytes, from both sides."""
    executed, predicted = both(name, procs, values)
    for kind in (SEND, RECEIVE):
        assert messages_of(executed, kind) == messages_of(predicted, kind)
    assert procs == 1 or messages_of(executed, SEND)
    sends, receives = messages(executed)
    assert (executed.rank[sends] == executed.partner[receives]).all()


@pytest.mark.parametrize(("name", "procs", "values"), CASES)
def test_every_processor_sends_in_the_order_that_is_predicted(both, name, procs, values):
    executed, predicted = both(name, procs, values)
    for kind in (SEND, RECEIVE):
        for rank in range(procs):
            mine, theirs = ((each.kind == kind) & (each.rank == rank) for each in (executed, predicted))
            for column in ("aau", "partner", "size_bytes"):
                assert getattr(executed, column)[mine].tolist() == getattr(predicted, column)[theirs].tolist()


@pytest.mark.parametrize(("name", "procs", "values"), CASES)
def test_events_of_a_processor_follow_on_one_another(both, name, procs, values):
    executed, _ = both(name, procs, values)
    assert executed.about.origin == "executed"
    for rank in range(procs):
        mine = executed.rank == rank
        begin, end = executed.begin[mine], executed.end[mine]
        assert begin[0] >= 0.0
        assert (np.diff(begin) >= 0).all()
        np.testing.assert_allclose(begin[1:], end[:-1], rtol=0, atol=1e-12)


@pytest.mark.parametrize(("name", "procs", "values"), CASES)
def test_nothing_is_received_before_it_is_sent(both, name, procs, values):
    """The clocks of the processors are those of one node here."""
    executed, _ = both(name, procs, values)
    assert earlier_than_sent(executed) == 0


@pytest.mark.parametrize(("name", "procs", "values"), CASES)
def test_time_belongs_to_the_aaus_of_the_prediction(both, name, procs, values):
    """The ids that the program writes are those of the graph: same table, and computation where it is predicted."""
    executed, predicted = both(name, procs, values)
    assert executed.about.places == predicted.about.places
    kind_of = {each.id: each.kind for each in executed.about.places}
    for aau, kind in set(zip(executed.aau.tolist(), executed.kind.tolist(), strict=True)):
        found = kind_of[aau]
        if kind in (SEND, RECEIVE):
            assert found in ("Comm", "SyncSeq", "IterSync"), found
        elif kind == IO or KINDS[kind] == "overhead":
            assert found == "Comm"
        else:
            assert found in ("Start", "Seq", "IterD", "IterSync", "IterND", "SyncSeq", "CondtD", "CondtSync"), found
    nests = {each.id for each in executed.about.places if each.kind == "IterD"}
    assert nests <= set(executed.aau.tolist())


@pytest.mark.parametrize(("name", "procs", "values"), CASES)
def test_executed_traces_are_exported_alike(both, name, procs, values):
    trace, _ = both(name, procs, values)
    count = trace.is_kind(SEND).size
    slices = [each["ph"] for each in readers.chrome("".join(chrome(trace)))]
    assert (slices.count("X"), slices.count("s")) == (trace.rank.size, count)
    assert len(readers.paraver("".join(paraver(trace)[".prv"]))[4]) == count
    assert len(readers.simulated(readers.goal("".join(goal(trace))))) == count
    assert sum(each[:2] == (-3, -21) for each in readers.picl("".join(picl(trace)))) == count


def started(folder, name, procs, **environment):
    """Run a program that may fail."""
    words = ["mpirun", "-np", str(procs), str(folder / name)]
    return subprocess.run(
        words,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        cwd=folder,
        env={**os.environ, **RANKS, **environment},
    )


@pytest.fixture(scope="module")
def laplace(both, folder):
    both("laplace", 4, {"n": 20, "k": 6})
    system = api.load_machine("ipsc860")
    request = api.Request(procs=4, values={"n": 20, "k": 6})
    emission = emitted_of(
        api.lower_source(api.read_source("laplace.hpf"), system, request), system, request, traces=True
    )
    write(emission, folder)
    build(folder, "FFLAGS=-O1 -w")
    return folder


def test_without_the_variable_no_trace_is_written(laplace):
    (laplace / "x.trace").unlink(missing_ok=True)
    done = started(laplace, "laplace", 4)
    assert done.returncode == 0, done.stderr
    assert not (laplace / "x.trace").exists()


def test_a_trace_that_cannot_be_written_ends_the_program_at_once(laplace):
    done = started(laplace, "laplace", 4, ESP_TRACE=str(laplace / "nowhere" / "x.trace"))
    assert done.returncode != 0
    assert "cannot be written" in done.stderr
    assert "checksum" not in done.stdout


def test_a_trace_with_too_many_events_is_not_written_but_the_answer_is(laplace):
    (laplace / "y.trace").unlink(missing_ok=True)
    done = started(laplace, "laplace", 4, ESP_TRACE=str(laplace / "y.trace"), ESP_TRACE_EVENTS="40")
    assert done.returncode == 0
    assert "checksum" in done.stdout
    assert "ESP_TRACE_EVENTS=N allows N" in done.stderr
    assert not list(laplace.glob("y.trace*"))


def test_a_program_that_is_not_to_be_traced_knows_nothing_of_traces():
    system = api.load_machine("ipsc860")
    request = api.Request(procs=4)
    stages = api.lower_source(api.read_source("laplace.hpf"), system, request)
    plain = emitted_of(stages, system, request)
    assert "esp_trace.f90" not in plain.files
    assert not [name for name, text in plain.files.items() if "trace" in text]
    traced = emitted_of(stages, system, request, traces=True)
    assert not [name for name, text in traced.files.items() if text.rstrip().endswith("!trace") or "!trace" in text]


def test_validate_keeps_both_traces(tmp_path, capsys):
    from esp.cli.main import main
    from esp.validate.tracing import messages_of as counted

    words = ["validate", "gauss.hpf", "--set", "n=12", "--procs", "1,3", "--trace", str(tmp_path / "traces")]
    assert main(words) == 0
    assert "same" in capsys.readouterr().out
    names = sorted(each.name for each in (tmp_path / "traces").iterdir())
    assert names == [f"gauss-{procs}.{origin}.trace" for procs in (1, 3) for origin in ("executed", "predicted")]
    executed, predicted = (read_trace(tmp_path / "traces" / name) for name in names[2:])
    assert (executed.about.origin, predicted.about.origin) == ("executed", "predicted")
    assert counted(executed, SEND) == messages_of(predicted, SEND)


def test_a_message_to_another_partner_is_seen(both):
    """What `esp validate --trace` compares tells traces apart that have the same counts."""
    from msgspec.structs import replace

    from esp.validate.tracing import messages_of as counted

    trace, _ = both("laplace", 4, {"n": 20, "k": 6})
    sends = trace.is_kind(SEND)
    partner = trace.partner.copy()
    partner[sends[0]] = ({0, 1, 2, 3} - {int(trace.rank[sends[0]]), int(partner[sends[0]])}).pop()
    assert counted(replace(trace, partner=partner), SEND) != counted(trace, SEND)


def test_where_no_time_is_kept_there_is_no_trace(capsys):
    from esp.cli.main import main

    assert main(["validate", "gauss.hpf", "--against", "cachegrind", "--trace", "x"]) == 2
    assert "cachegrind keeps no time" in capsys.readouterr().err


@pytest.mark.truth
def test_a_trace_of_an_earlier_run_does_not_count(tmp_path, capsys, monkeypatch):
    from esp.cli.main import main

    words = ["validate", "pi.hpf", "--procs", "2", "--trace", str(tmp_path / "traces")]
    assert main(words) == 0
    capsys.readouterr()
    monkeypatch.setenv("ESP_TRACE_EVENTS", "2")
    assert main(words) == 1
    assert "has too many events on 2 processors, and wrote no trace" in " ".join(capsys.readouterr().err.split())
    (tmp_path / "file").touch()
    assert main([*words[:-1], str(tmp_path / "file" / "traces")]) == 2
    assert "cannot be written: not a directory" in " ".join(capsys.readouterr().err.split())
