"""A predicted trace is the prediction, piece by piece."""

import numpy as np
import pytest

from esp import api
from esp.errors import PredictionError
from esp.traces.record import CATEGORY, predicted_trace
from esp.traces.trace import COMPUTE, IO, RECEIVE, SEND, WAIT, messages
from sag.scenario import Scenario
from tests.esp.traces.checks import earlier_than_sent

CASES = [
    ("laplace", 4, {"n": 24}),
    ("laplace", 6, {"n": 24}),
    ("laplace_bx", 3, {"n": 24}),
    ("gauss", 4, {"n": 20}),
    ("pipeline", 4, {"n": 30}),
    ("redblack", 5, {"n": 16}),
    ("pbs4", 8, {}),
    ("lfk03", 7, {}),
    ("laplace", 1, {"n": 24}),
]
IDS = [f"{name}-{procs}" for name, procs, _ in CASES]
PARTS = ("computation_s", "communication_s", "overhead_s", "waiting_s")


def category_of(trace):
    table = np.array([CATEGORY[kind] for kind in range(len(CATEGORY))])
    return table[trace.kind]


@pytest.mark.parametrize(
    ("name", "procs", "values", "system"),
    [
        pytest.param(*case, system, id=f"{name}-{system}", marks=() if at % 2 == other else pytest.mark.truth)
        for at, (name, case) in enumerate(zip(IDS, CASES, strict=True))
        for other, system in enumerate(("ipsc860", "cluster-ib"))
    ],
)
def test_times_of_a_trace_are_those_of_the_prediction(predicted, name, procs, values, system):
    """By AAU and category, by processor and category, and in all."""
    trace, prediction = predicted(name, procs, system, **values)
    category = category_of(trace)
    for number, part in enumerate(PARTS):
        of = category == number
        by_rank = np.bincount(trace.rank[of], trace.duration[of], procs)
        np.testing.assert_allclose(by_rank, getattr(prediction.per_processor, part)[0], rtol=1e-9, atol=1e-15)
        by_aau = np.bincount(trace.aau[of], trace.duration[of], len(prediction.aaus)) / procs
        expected = [getattr(each.parts, part) for each in prediction.aaus]
        np.testing.assert_allclose(by_aau, expected, rtol=1e-9, atol=1e-15)
    assert trace.end.max() == pytest.approx(prediction.time_s, rel=1e-12)


SCENARIOS = [
    {"overlap": 0.5},
    {"load": 0.3, "latency": "x3"},
    {"io": False, "processor_speed": "x2"},
    {"bandwidth": "x0.25", "overlap": 0.9},
]


@pytest.mark.sampled
@pytest.mark.parametrize("scenario", SCENARIOS, ids=str)
@pytest.mark.parametrize(("name", "procs", "values"), [CASES[1], CASES[4], CASES[6]], ids=["laplace", "pipe", "pbs4"])
def test_times_add_up_under_what_ifs(name, procs, values, scenario):
    machine = api.load_machine("ipsc860")
    request = api.Request(procs=procs, values=values, scenario=Scenario(**scenario))
    stages = api.lower_source(api.read_source(f"{name}.hpf"), machine, request)
    trace, _ = predicted_trace(stages, machine, request)
    prediction = api.interpret_stages(stages, machine, request)  # loops in closed form
    category = category_of(trace)
    for number, part in enumerate(PARTS):
        by_rank = np.bincount(trace.rank[category == number], trace.duration[category == number], procs)
        np.testing.assert_allclose(by_rank, getattr(prediction.per_processor, part)[0], rtol=1e-9, atol=1e-15)
    assert trace.end.max() == pytest.approx(prediction.time_s, rel=1e-9)


@pytest.mark.sampled
@pytest.mark.parametrize(("name", "procs", "values"), CASES, ids=IDS)
def test_compute_time_of_every_aau_and_processor_is_what_the_ledger_has(name, procs, values):
    """The ledger of the walk itself, before anything is averaged."""
    from interpreter.application import Application
    from interpreter.engine import Walker, finish, start
    from interpreter.metrics import COMPUTATION
    from interpreter.setting import Setting
    from interpreter.summary import About, by_processor
    from sag.scenario import export

    system = api.load_machine("ipsc860")
    request = api.Request(procs=procs, values=values)
    stages = api.lower_source(api.read_source(f"{name}.hpf"), system, request)
    trace, _ = predicted_trace(stages, system, request)
    setting = Setting(values=values)
    walker = Walker(stages.graph, setting.values)
    run = start(Application(stages.node_program), stages.graph, export(system, request.scenario), setting, walker)
    walker.visit(run, stages.graph.body)
    finish(run, stages.graph, About(program=name, file=name, constants={}))
    of = trace.kind == COMPUTE
    for aau, parts in by_processor(run).items():
        mine = of & (trace.aau == aau)
        by_rank = np.bincount(trace.rank[mine], trace.duration[mine], procs)
        np.testing.assert_allclose(by_rank, parts[COMPUTATION, 0], rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize(("name", "procs", "values"), CASES, ids=IDS)
def test_events_of_a_processor_follow_on_one_another(predicted, name, procs, values):
    """Without gaps, without overlap, from 0 to the end."""
    trace, prediction = predicted(name, procs, **values)
    assert (np.diff(trace.rank) >= 0).all()
    time = prediction.time_s
    for rank in range(procs):
        mine = trace.rank == rank
        begin, end = trace.begin[mine], trace.end[mine]
        assert begin[0] == 0.0
        assert (np.diff(begin) >= 0).all()
        np.testing.assert_allclose(begin[1:], end[:-1], rtol=0, atol=1e-12 * time)
        assert end[-1] == pytest.approx(time, rel=1e-12)


@pytest.mark.parametrize(("name", "procs", "values"), CASES, ids=IDS)
def test_messages_pair_up_and_are_as_many_as_predicted(predicted, name, procs, values):
    trace, prediction = predicted(name, procs, **values)
    sends, receives = messages(trace)
    assert sends.size == prediction.messages
    assert trace.size_bytes[sends].sum() == prediction.bytes
    assert (trace.rank[sends] == trace.partner[receives]).all()
    assert (trace.partner[sends] == trace.rank[receives]).all()
    assert (trace.end[receives] >= trace.begin[sends]).all()
    assert earlier_than_sent(trace) == 0
    assert set(trace.kind[trace.size_bytes > 0].tolist()) <= {SEND, RECEIVE}
    lines = trace.lines()
    for each in prediction.lines:
        assert (lines[sends] == each.line).sum() == each.messages


def test_every_iteration_is_there(predicted):
    trace, prediction = predicted("laplace", 4, n=24, k=40)
    nest = next(each for each in prediction.aaus if each.kind == "IterD" and each.span.line == 36)
    runs = (trace.aau == nest.id) & (trace.kind == COMPUTE) & (trace.rank == 0)
    per_run = np.diff(trace.begin[runs]) > 1e-5  # operations and cache misses of one run stand side by side
    assert per_run.sum() + 1 >= 40
    assert prediction.iterations_walked >= 40


def test_input_and_output_go_to_the_host(predicted):
    trace, prediction = predicted("laplace", 4, n=24)
    io = trace.is_kind(IO)
    assert set(trace.rank[io].tolist()) == {0}
    assert (trace.partner[io] == -1).all()
    links = sum(each.parts.communication_s for each in prediction.aaus if each.label == "print")
    assert trace.duration[io].sum() == pytest.approx(links * 4, rel=1e-9)


def test_waiting_names_whom_it_is_for(predicted):
    trace, prediction = predicted("pipeline", 4, n=30)
    wait = trace.is_kind(WAIT)
    end = next(each.id for each in prediction.aaus if each.kind == "End")
    idle = trace.aau[wait] == end
    assert idle.any()
    assert (trace.partner[wait][idle] == -1).all()
    assert (trace.partner[wait][~idle] >= 0).all()


def test_too_many_events_are_refused_with_a_way_out():
    system = api.load_machine("ipsc860")
    request = api.Request(procs=4)
    stages = api.lower_source(api.read_source("laplace.hpf"), system, request)
    with pytest.raises(PredictionError) as told:
        predicted_trace(stages, system, request, most=1000)
    assert str(told.value) == (
        "laplace.hpf:39: the trace would have more than 1,000 events, one for each iteration and processor. "
        "Choose fewer iterations or processors; `esp trace --events N` allows more."
    )


UNKNOWN = """\
program p
  integer, parameter :: n = 64
  real :: a(n), s
!hpf$ distribute a(block)
  a = 1.0
  s = sum(a)
  if (s > 3.0) then
    a = a + 1.0
  else
    a = a + sqrt(a)
  end if
end program p
"""


def test_a_branch_that_is_weighted_has_no_single_course_of_events():
    system = api.load_machine("ipsc860")
    request = api.Request(procs=2)
    stages = api.lower_source(api.read_source(UNKNOWN), system, request)
    with pytest.raises(PredictionError) as told:
        predicted_trace(stages, system, request)
    assert "a branch here is taken with some probability" in str(told.value)
    assert "<text>:" in told.value.where
