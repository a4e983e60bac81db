"""The interval of a time against times that are predicted one by one."""

import json

import numpy as np
import pytest
from msgspec.structs import replace

from esp.api import interpret_stages, load_machine, lower_source, predict, predict_source, read_source, requested
from esp.cli.main import main
from esp.explore.interval import with_interval
from sag.uncertainty import SCENARIOS, quantiles, uncertain_scenario


def interval_of(system, n=32, **options):
    source, machine, request = read_source("laplace_bx"), load_machine(system), requested(4, n=n, **options)
    return with_interval(predict_source(source, machine, request), source, machine, request).interval


def test_the_ends_are_those_of_64_predictions_one_by_one():
    source, machine, request = read_source("pi"), load_machine("cluster-ib"), requested(4, n=500)
    found = with_interval(predict_source(source, machine, request), source, machine, request).interval
    stages = lower_source(source, machine, request)
    times = []
    for at in range(SCENARIOS):
        asked = replace(request, scenario=uncertain_scenario(machine, request.scenario, [at]))
        times.append(interpret_stages(stages, machine, asked).time_s)
    low, high = np.quantile(times, (0.05, 0.95))
    assert (found.low_s, found.high_s) == pytest.approx((0.98 * low, 1.02 * high))
    assert found.undecided == ()
    assert (found.scenarios, found.model_error) == (64, 0.02)


def test_what_is_undecided_is_drawn_and_told():
    found = interval_of("ipsc860")
    assert [(each.on, each.off) for each in found.undecided] == [((), ("interchange",)), (("interchange",), ())]
    for each in found.undecided:
        alone = predict("laplace_bx", procs=4, n=32, opt={"interchange": bool(each.on)})
        assert each.time_s == pytest.approx(alone.time_s)
    assert found.low_s < min(each.time_s for each in found.undecided)
    assert found.high_s > max(each.time_s for each in found.undecided)
    assert (quantiles("compiler interchange") < 0.5).sum() == SCENARIOS / 2


def test_what_the_user_decides_is_decided():
    found = interval_of("ipsc860", n=128, opt={"interchange": True})
    assert found.undecided == ()
    assert found.high_s < interval_of("ipsc860", n=128).high_s


def test_run_tells_it_where_it_is_asked_for(capsys):
    assert main(["run", "pi", "--set", "n=200", "--procs", "2", "--interval"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "90% interval " in out.split("trust")[1]
    assert main(["run", "pi", "--set", "n=200", "--procs", "2", "--interval", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["interval"]["low_s"] < told["time_s"] < told["interval"]["high_s"]
    assert main(["run", "pi", "--set", "n=200", "--procs", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["interval"] is None
