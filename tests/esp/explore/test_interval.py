"""The interval of a time against times that are predicted one by one."""

import json

import numpy as np
import pytest
from msgspec.structs import replace

from esp.api import interpret_stages, load_machine, lower_source, predict, read_source, requested, switched
from esp.cli.main import main
from esp.explore import interval
from esp.explore.compare import compare
from esp.explore.interval import interval_of, own_walk
from sag.uncertainty import SCENARIOS, quantiles, uncertain_scenario

LOOP = "forall (i = 1:1000, j = 1:1000) a(i, j) = i + j"


def laplace(system, n=32, **options):
    source, machine, request = read_source("laplace_bx"), load_machine(system), requested(4, n=n, **options)
    return interval_of(source, machine, request)


def test_the_ends_are_those_of_64_predictions_one_by_one():
    source, machine, request = read_source("pi"), load_machine("cluster-ib"), requested(4, n=500)
    found = interval_of(source, machine, request)
    stages = lower_source(source, machine, request)
    times = []
    for at in range(SCENARIOS):
        asked = replace(request, scenario=uncertain_scenario(machine, request.scenario, [at]))
        times.append(interpret_stages(stages, machine, asked).time_s)
    assert found.times_s == pytest.approx(times, rel=1e-9)
    low, high = np.quantile(times, (0.05, 0.95))
    assert (found.low_s, found.high_s) == pytest.approx((0.98 * low, 1.02 * high))
    assert found.undecided == ()
    assert (found.scenarios, found.model_error) == (64, 0.02)


def test_what_is_undecided_is_drawn_and_told():
    found = laplace("ipsc860")
    assert [(each.on, each.off) for each in found.undecided] == [((), ("interchange",)), (("interchange",), ())]
    for each in found.undecided:
        alone = predict("laplace_bx", procs=4, n=32, opt={"interchange": bool(each.on)})
        assert each.time_s == pytest.approx(alone.time_s)
    assert found.low_s < min(each.time_s for each in found.undecided)
    assert found.high_s > max(each.time_s for each in found.undecided)
    assert (quantiles("compiler interchange") < 0.5).sum() == SCENARIOS / 2


@pytest.mark.parametrize(
    ("array", "formats", "loop", "told"),
    [("a(1000)", "BLOCK", "a = 1.0", False), ("a(1000, 1000)", "BLOCK, *", LOOP, True)],
)
def test_a_choice_of_the_compiler_that_shows_in_no_time_is_not_told(capsys, tmp_path, array, formats, loop, told):
    """A loop over one index has nothing to interchange."""
    text = f"program p\n  real :: {array}\n!HPF$ DISTRIBUTE a({formats})\n  {loop}\nend program p\n"
    (tmp_path / "p.hpf").write_text(text)
    assert main(["run", str(tmp_path / "p.hpf"), "--procs", "4"]) == 0
    assert ("not known of the compiler" in " ".join(capsys.readouterr().out.split())) == told


def test_what_the_user_decides_is_decided():
    found = laplace("ipsc860", n=128, opt={"interchange": True})
    assert found.undecided == ()
    assert found.high_s < laplace("ipsc860", n=128).high_s


def test_each_scenario_has_one_way_to_compile():
    """Scenarios predicted one by one, each with what its compiler does."""
    source, machine, request = read_source("laplace_bx"), load_machine("ipsc860"), requested(4, n=32)
    found = interval_of(source, machine, request)
    done = quantiles("compiler interchange") < 0.5
    for at in (int(np.argmax(done)), int(np.argmin(done)), SCENARIOS - 1):
        asked = switched(request, {"interchange": bool(done[at])})
        asked = replace(asked, scenario=uncertain_scenario(machine, request.scenario, [at]))
        alone = interpret_stages(lower_source(source, machine, asked), machine, asked)
        assert found.times_s[at] == pytest.approx(alone.time_s, rel=1e-9)
        assert found.timed_times_s is None or found.timed_times_s[at] == pytest.approx(alone.timed_s, rel=1e-9)
    assert found.quantities[-1] == "compiler interchange"


def test_run_says_between_which_times(capsys):
    assert main(["run", "pi", "--set", "n=200", "--procs", "2"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "in 90% of the scenarios;" in out.split("trust ")[1]
    assert main(["run", "pi", "--set", "n=200", "--procs", "2", "--interval", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["interval"]["low_s"] < told["time_s"] < told["interval"]["high_s"]
    assert main(["run", "pi", "--set", "n=200", "--procs", "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["interval"]["low_s"] < found["time_s"] < found["interval"]["high_s"]


def test_where_messages_meet_run_predicts_it_when_asked(capsys):
    words = ["run", "laplace", "--set", "n=16", "--set", "k=2", "--procs", "4", "--system", "cluster-ib", "--json"]
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out)["interval"] is None
    assert main([*words, "--interval"]) == 0
    assert json.loads(capsys.readouterr().out)["interval"]["scenarios"] == SCENARIOS


@pytest.mark.parametrize(("system", "others"), [("cluster-ib", 0), ("ipsc860", 1), ("ipsc860-f90d", 1)])
def test_the_program_is_lowered_again_only_for_other_ways_to_compile_it(system, others, monkeypatch):
    source, machine, request = read_source("laplace_bx"), load_machine(system), requested(4, n=32)
    lowered, asked = interval.lower_source, []
    walk = own_walk(lowered(source, machine, request), machine, request)
    alone = interval_of(source, machine, request)
    monkeypatch.setattr(interval, "lower_source", lambda *each: asked.append(each) or lowered(*each))
    found = interval_of(source, machine, request, walk)
    assert len(asked) == others
    assert np.array_equal(found.times_s, alone.times_s)
    assert found.undecided == alone.undecided


@pytest.mark.parametrize(("given", "says"), [([], True), (["--set", "trips_35=7"], False)])
def test_a_range_holds_if_what_is_assumed_of_the_data_does(given, says, capsys):
    assert main(["run", "laplace", "--procs", "2", "--set", "n=32", *given]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert ("in 90% of the scenarios, if what is assumed of the data holds;" in text) == says


def test_a_comparison_tries_ranges_where_messages_meet_if_that_is_wanted():
    wanted = {"system": "cluster-ib", "procs": 8, "n": 64, "k": 5, "size": "none"}
    wanted["distribute"] = ["(BLOCK,*)", "(*,CYCLIC)"]
    quick, sure = compare("laplace.hpf", **wanted), compare("laplace.hpf", **wanted, interval=True)
    assert quick.certainty.untried
    assert not sure.certainty.untried
    assert [each.shown for each in sure.ranked] == [each.shown for each in quick.ranked]
    assert all(each.prediction.interval is None for each in quick.ranked)
    first, second = (each.prediction for each in sure.ranked[:2])
    assert first.interval.times_s.shape == second.interval.times_s.shape == (SCENARIOS,)
