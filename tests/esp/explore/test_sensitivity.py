"""What each parameter decides: elasticities add up to 1, and are those of predictions made one by one."""

from math import isclose

import pytest

import esp as api
from esp.explore.sensitivity import KINK
from esp.locate import program_names, system_names
from esp.quantities import timed_parameters

SMALL = {"n": 24, "k": 2, "m": 24, "nsteps": 2}


def _values(program):
    """Small sizes of those that the program has."""
    found = {}
    for name, value in SMALL.items():
        try:
            api.predict(program, procs=2, **{name: value})
        except (api.SourceError, TypeError):
            continue
        found[name] = value
    return found


def _assert_whole(run):
    bent = sum(abs(each.slower - each.faster) for each in run.parameters)
    assert abs(run.rest) <= 1e-6 + bent, (run.rest, bent)
    assert all(each.elasticity >= -KINK for each in run.parameters if not each.is_kink)


@pytest.mark.truth
@pytest.mark.parametrize("system", system_names())
def test_all_parameters_together_decide_the_whole_time(system):
    """Euler's theorem: a time is homogeneous in all times of the machine."""
    for program in ("laplace", "gauss"):
        found = api.sensitivity(program, system, [1, 4], sizes=[16, 48])
        assert [(each.processors, each.size) for each in found.runs] == [(1, 16), (1, 48), (4, 16), (4, 48)]
        for run in found.runs:
            _assert_whole(run)


@pytest.mark.truth
@pytest.mark.parametrize("program", program_names())
def test_parameters_of_every_benchmark(program):
    for system in ("ipsc860", "sparc-ethernet"):
        found = api.sensitivity(program, system, [1, 3, 8], **_values(program))
        for run in found.runs:
            _assert_whole(run)


def test_a_machine_twice_as_slow_takes_twice_as_long():
    """Without the derivatives: all parameters that are said to be times are, and there are no others."""
    for system in system_names():
        timed = timed_parameters(api.predict("laplace", system, procs=4, n=16, k=2).origin.system)
        one = api.predict("laplace", system, procs=4, n=16, k=2).time_s
        two = api.predict("laplace", system, procs=4, n=16, k=2, system_set=dict.fromkeys(timed, "x2")).time_s
        assert isclose(two, 2 * one, rel_tol=1e-9), system


def test_each_is_the_change_of_predictions_made_one_by_one():
    found = api.sensitivity("gauss", "ipsc860", 4, n=32, latency="x2").runs[0]
    for each in (*found.parameters[:4], found.parameters[-1]):
        given = {"procs": 4, "n": 32, "latency": "x2"}
        half = api.predict("gauss", system_set={each.path: "x0.5"}, **given).time_s
        assert isclose(half, each.halved_s, rel_tol=1e-12)
        more, less = (
            api.predict("gauss", system_set={each.path: f"x{1 + step}"}, **given).time_s for step in (0.01, -0.01)
        )
        assert each.elasticity == pytest.approx((more - less) / (0.02 * found.time_s), abs=1e-3)


def test_a_derivative_is_how_often_the_time_has_the_parameter():
    """On one processor all operations follow each other, so that their counts are the derivatives."""
    found = api.sensitivity("laplace", "ipsc860", 1, n=32).runs[0]
    prediction = api.predict("laplace", procs=1, n=32)
    counts = {each.figure.path: each.mean for each in prediction.counts.of(tuple(each.id for each in prediction.aaus))}
    compared = 0
    for each in found.parameters:
        if ".processor." in each.path and each.path in counts:
            assert each.derivative(found.time_s) == pytest.approx(counts[each.path], rel=1e-6), each.path
            compared += 1
    assert compared >= 5


def test_a_value_given_in_place_of_a_parameter_is_its_value():
    path = "cube.network.long.startup"
    run = api.sensitivity("laplace", procs=4, n=64, k=2, system_set={path: "20us"}).runs[0]
    (found,) = [each for each in run.parameters if each.path == path]
    assert found.value == pytest.approx(20e-6)
    assert found.elasticity * run.time_s == pytest.approx(found.derivative(run.time_s) * 20e-6)


@pytest.mark.parametrize("change", ["x2", "780ns/B"])
def test_a_parameter_that_is_given_is_varied_from_there(change):
    path = "cube.network.long.per_byte"
    given = {"procs": 4, "n": 32, "system_set": {path: change}}
    run = api.sensitivity("gauss", **given).runs[0]
    assert run.time_s == api.predict("gauss", **given).time_s
    (found,) = [each for each in run.parameters if each.path == path]
    half = "x1" if change == "x2" else "390ns/B"
    assert found.halved_s == pytest.approx(api.predict("gauss", procs=4, n=32, system_set={path: half}).time_s)
    assert sum(run.quantities.values()) == pytest.approx(1.0, abs=1e-6)
    best = api.optimize_machine("gauss", price="p*(10 + 2**(100/ops))", **given)
    assert best.now.time_s == run.time_s


def test_what_stands_in_place_of_parameters_is_refused():
    for options in ({"bandwidth": "5MB/s"}, {"latency": "40us"}, {"processor_speed": "80MHz"}):
        with pytest.raises(api.UsageError, match="in place of the machine's"):
            api.sensitivity("laplace", procs=4, n=16, k=2, **options)
        with pytest.raises(api.UsageError, match="in place of the machine's"):
            api.optimize_machine("laplace", procs=4, n=16, k=2, **options)
