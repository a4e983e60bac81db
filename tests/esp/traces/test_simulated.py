"""Predicted timelines beside those of the node program on a simulated machine (SimGrid), message by message."""

import numpy as np
import pytest
from msgspec.structs import replace

from esp import api
from esp.building import build, emitted_of, write
from esp.traces.read import read_trace
from esp.traces.record import predicted_trace
from esp.traces.trace import KINDS, RECEIVE, SEND, WAIT
from esp.validate import simgrid
from esp.validate.blocks import predicted_blocks
from esp.validate.retimed import retimed
from sag.scenario import Scenario, export
from tests.esp.traces.checks import earlier_than_sent

READING_S = 1e-8
"""Simulated time that a reading of the clock takes, so that processors can wait for a common start."""

READINGS = 4
"""Readings of the clock for each event, at most."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("simulated")


PROGRAMS = (
    ("laplace", 4, {"n": 32, "k": 10}),
    ("laplace_bx", 3, {"n": 20, "k": 5}),
    ("gauss", 4, {"n": 20}),
    ("pipeline", 5, {"n": 40}),
    ("redblack", 4, {"n": 16}),
)


def programs(soon):
    """One program; `make truth` takes all."""
    return pytest.mark.parametrize(
        ("name", "procs", "values"),
        [
            pytest.param(*each, id=f"{each[0]}-{each[1]}", marks=() if each[0] == soon else pytest.mark.truth)
            for each in PROGRAMS
        ],
    )


@pytest.mark.truth
@pytest.mark.slow
@programs("gauss")
def test_every_message_is_sent_and_received_when_that_is_predicted(folder, monkeypatch, name, procs, values):
    """Times from the start, which all processors have in common; each reading of the clock delays them a little."""
    system = api.load_machine("ipsc860")
    request = api.Request(procs=procs, values=values, scenario=Scenario(io=False))
    stages = api.lower_source(api.read_source(f"{name}.hpf"), system, request)
    machine = export(system, request.scenario)
    _, blocks = predicted_blocks(stages, machine, request)
    wires = simgrid.interconnect(machine, stages, blocks)
    options = tuple(each.replace("smpi/wtime:0", f"smpi/wtime:{READING_S}") for each in wires.options)
    assert options != wires.options
    emission = emitted_of(stages, system, request, traces=True, simulated=True)
    write(emission, folder)
    build(folder, simgrid.FLAGS, compiler="smpif90")
    monkeypatch.setenv("ESP_TRACE", str(folder / "x.trace"))
    after = simgrid.after_s(machine, blocks, wires)
    simgrid.simulate(folder / emission.name, blocks, replace(wires, options=options), after)
    executed = read_trace(folder / "x.trace")
    predicted, _ = predicted_trace(stages, system, request)
    delay = READINGS * READING_S * int(np.bincount(executed.rank).max())
    assert delay < 0.01 * predicted.end.max()
    for kind in (SEND, RECEIVE):
        one, other = (each.is_kind(kind) for each in (executed, predicted))
        assert one.size == other.size > 0
        for column in ("rank", "aau", "partner", "size_bytes"):
            assert (getattr(executed, column)[one] == getattr(predicted, column)[other]).all()
        np.testing.assert_allclose(executed.end[one], predicted.end[other], rtol=1e-6, atol=delay)
    one, other = (each.is_kind(SEND) for each in (executed, predicted))
    np.testing.assert_allclose(executed.begin[one], predicted.begin[other], rtol=1e-6, atol=delay)


@pytest.mark.slow
@programs("laplace_bx")
def test_the_trace_of_a_simulation(folder, name, procs, values):
    """What `esp validate --against simgrid --trace` keeps: the simulation's messages, and the prediction's pieces."""
    system = api.load_machine("ipsc860")
    request = api.Request(procs=procs, values=values)
    stages = api.lower_source(api.read_source(f"{name}.hpf"), system, request)
    traces = folder / "traces"
    made = simgrid.prepared_of(stages, system, request, folder / f"{name}-simulated")
    made.build()
    outcome = made.outcome(traces=traces)
    executed, predicted = (read_trace(traces / f"{name}-{procs}.{each}.trace") for each in ("executed", "predicted"))
    assert executed.about.origin == "executed"
    assert earlier_than_sent(executed) == 0
    assert not executed.is_kind(WAIT).size
    for kind in (SEND, RECEIVE):
        one, other = (each.is_kind(kind) for each in (executed, predicted))
        assert one.size == other.size > 0
        for column in ("rank", "aau", "partner", "size_bytes"):
            assert (getattr(executed, column)[one] == getattr(predicted, column)[other]).all()
        np.testing.assert_allclose(executed.end[one], predicted.end[other], rtol=1e-6)
    for kind in set(range(len(KINDS))) - {SEND, RECEIVE, WAIT}:
        one, other = (
            np.bincount(each.rank[some], each.duration[some], procs)
            for each in (executed, predicted)
            for some in [each.is_kind(kind)]
        )
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-15)
    same = executed.rank[1:] == executed.rank[:-1]
    np.testing.assert_allclose(executed.begin[1:][same], executed.end[:-1][same], rtol=1e-6)
    last = np.append(np.flatnonzero(~same), executed.rank.size - 1)
    np.testing.assert_allclose(executed.end[last], outcome.simulated_s, rtol=1e-6)


def test_computation_follows_the_messages_of_a_slower_network():
    system = api.load_machine("ipsc860")
    request = api.Request(procs=3, values={"n": 20, "k": 5}, scenario=Scenario(io=False))
    stages = api.lower_source(api.read_source("laplace_bx.hpf"), system, request)
    predicted, _ = predicted_trace(stages, system, request)
    messages = np.flatnonzero((predicted.kind == SEND) | (predicted.kind == RECEIVE))
    number = np.arange(messages.size)  # each message of a rank is a second later than the one before, and takes longer
    called, done = predicted.begin[messages] + number, predicted.end[messages] + number + 0.25
    moved = retimed(predicted, called, done)
    at = np.flatnonzero((moved.kind == SEND) | (moved.kind == RECEIVE))
    assert (moved.begin[at] == called).all()
    np.testing.assert_allclose(moved.end[at], done, rtol=1e-12)
    behind = at[:-1][(moved.rank[at[:-1] + 1] == moved.rank[at[:-1]]) & ~np.isin(at[:-1] + 1, at)] + 1
    assert behind.size
    np.testing.assert_allclose(moved.begin[behind], moved.end[behind - 1], rtol=1e-12)
    with pytest.raises(ValueError, match="messages were simulated"):
        retimed(predicted, called[1:], done[1:])
