"""What chapter 3 of the thesis prints: start-ups of its machines, and what Figures 3.2 to 3.6 show."""

import pytest

import esp
from esp.inspect.balance.machine import clock_s, costs_of
from sag.load import load_system
from sag.scenario import export

MACHINE = """\
format: 1
extends: ipsc860
name: {name}
title: {name}
sources: {{thesis: "M. Clement, section 3.4"}}
system:
  units:
    cube:
      units:
        node:
          processor: {{source: thesis, certainty: quoted, clock: {clock}}}
        network:
          network:
            source: thesis
            certainty: quoted
            ranges: {{short: {{startup: {startup}}}, long: {{startup: {startup}}}}}
"""


def machine(tmp_path, name, clock, startup):
    path = tmp_path / f"{name}.yaml"
    path.write_text(MACHINE.format(name=name, clock=clock, startup=startup))
    return path


@pytest.mark.parametrize(
    ("name", "clock", "startup", "cycles"), [("ipsc", "40 MHz", "132 us", 5280), ("iwarp", "20 MHz", "23.5 us", 470)]
)
def test_start_ups_in_cycles(tmp_path, name, clock, startup, cycles):
    found = esp.balance(system=machine(tmp_path, name, clock, startup))
    assert found.c_c == pytest.approx(cycles)
    assert [each.cost for each in found.ranges] == pytest.approx([cycles, cycles])


@pytest.fixture(scope="module")
def shallow():
    sweep = {"startup": [470.0, 1000.0, 2000.0, 5000.0], "cache": [5.0, 20.0, 80.0]}
    return esp.balance("shallow.hpf", procs=[2, 64], sweep=sweep, t_phi=1e-7, dollars="p*(100 + 900*2**(500/c_c))")


def at(found, **wanted):
    return [each for each in found.points if all(getattr(each, name) == value for name, value in wanted.items())]


def test_a_sweep_has_all_combinations(shallow):
    assert len(shallow.points) == 4 * 3 * 2
    assert len({(each.processors, each.startup, each.miss) for each in shallow.points}) == 24


def test_figure_3_3_the_speedup_falls_with_the_start_up(shallow):
    speedups = [each.speedup for each in at(shallow, processors=64, miss=20.0)]
    assert speedups == sorted(speedups, reverse=True)
    few = [each.speedup for each in at(shallow, processors=2, miss=20.0)]
    assert speedups[0] / speedups[-1] > few[0] / few[-1]


def test_figure_3_4_the_speedup_rises_with_the_miss_penalty(shallow):
    for startup in (470.0, 5000.0):
        speedups = [each.speedup for each in at(shallow, processors=64, startup=startup)]
        assert speedups == sorted(speedups)


def test_figure_3_5_the_speed_falls_with_the_miss_penalty(shallow):
    """10 Mflop/s for each processor are the most."""
    for startup in (470.0, 5000.0):
        speeds = [each.speed for each in at(shallow, processors=64, startup=startup)]
        assert speeds == sorted(speeds, reverse=True)
    assert all(each.speed < each.processors * 10e6 for each in shallow.points)


def test_figure_3_6_most_speed_for_a_dollar_is_at_neither_end(shallow):
    points = at(shallow, processors=64, miss=5.0)
    assert [each.dollars for each in points] == pytest.approx(
        [64 * (100 + 900 * 2 ** (500 / each.startup)) for each in points]
    )
    values = [each.speed / each.dollars for each in points]
    assert [each.speed_per_dollar for each in points] == pytest.approx(values)
    assert 0 < values.index(max(values)) < 3


def test_points_are_the_model_itself(shallow):
    one = at(shallow, processors=64, startup=5000.0, miss=20.0)[0]
    alone = shallow.c_phi * (shallow.x_s + shallow.x_p) + 20.0 * shallow.x_m
    startups = shallow.runs[1].startups
    together = shallow.c_phi * (shallow.x_s + shallow.x_lambda) + 5000.0 * startups
    together += (shallow.c_phi * shallow.x_p + 20.0 * shallow.x_m) / 64
    assert one.speedup == pytest.approx(alone / together)
    assert one.utilisation == pytest.approx(alone / together / 64)
    assert one.speed == pytest.approx((shallow.x_s + shallow.x_p) / (together * 1e-7))


def test_the_unit_cancels_in_speedups(shallow):
    other = esp.balance("shallow.hpf", procs=[64])
    (run,) = (each for each in shallow.runs if each.processors == 64)
    assert run.speedup == pytest.approx(other.runs[0].speedup)
    assert shallow.c_c == pytest.approx(other.c_c / 4)


def test_the_clock_of_bundled_machines():
    for name, hertz in (("ipsc860", 40e6), ("cluster-ib", 2.5e9)):
        system = esp.api.load_machine(name)
        assert clock_s(system) == pytest.approx(1 / hertz)
        costs = costs_of(system, export(system), None)
        assert costs.operation > 0
        assert costs.startup > costs.miss > 0


BARE = """\
format: 1
name: bare
title: Hardly described
processors: {default: 4, largest_built: 8}
sources: {guess: a guess}
system: {units: {node: {role: node}}}
"""


def test_a_machine_without_figures(tmp_path):
    path = tmp_path / "bare.yaml"
    path.write_text(BARE)
    assert load_system(path.read_text()).find("node") is not None
    with pytest.raises(esp.PredictionError, match=r"bare has no clock of a processor\. Give .* t_phi 25ns"):
        esp.balance(system=path)
    given = {"t_phi": 1e-8, "operations": 1e6, "startups": 10, "procs": 8}
    with pytest.raises(esp.PredictionError, match="no time of an addition or multiplication"):
        esp.balance(system=path, **given)
    with pytest.raises(esp.PredictionError, match="no network, and so no message start-up"):
        esp.balance(system=path, **given, c_phi=2)
    with pytest.raises(esp.PredictionError, match="no cache, and so no miss penalty"):
        esp.balance(system=path, **given, c_phi=2, c_c=100, misses=5)
    # T_1 = 2e6, tau = 2e6 / 8 + 10 x 100
    assert esp.balance(system=path, **given, c_phi=2, c_c=100).runs[0].speedup == pytest.approx(2e6 / 251e3)
