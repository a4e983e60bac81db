"""Isospeed scalability measured: node programs that count what they do keep the speed at the sizes that are computed.

The runs are those of `esp.validate.counted` in SMPI, on the machine as it is described, and on a hidden one to which
runs on few processors are fitted first. There are no caches on either side, as counted runs have none.
"""

import pytest

from esp import api
from esp.explore.scaling import scaled
from esp.fit.fitting import fitted
from esp.fit.runs import MeasuredRun
from esp.output.fit_machine import machine_yaml
from esp.request import requested
from interpreter.scalability.isospeed import average_speed, scalability
from sag.scenario import Scenario, export
from tests.truth.test_fitted_machines import CACHELESS, executed_s, hidden_machine

PROCS = (2, 4, 8, 16)
PROGRAMS = {"laplace_bb": 24, "gauss": 32, "householder": 16, "shallow": 24, "nbody": 24}
NEAR = 0.06
"""Relative distance of a smaller size at which the speed must be lower."""


class NoNoise:
    """A generator of noise for `executed_s` that has none."""

    def standard_normal(self):
        return 0.0


def _scaling(program, system, size, procs=PROCS):
    request = requested(None, io=False, system_set=CACHELESS, set={"n": size})
    return scaled(api.read_source(f"{program}.hpf"), system, request, procs, size="n")


def _described():
    system = api.load_machine("ipsc860")
    return system, export(system, Scenario(sets=tuple(CACHELESS.items()), io=False))


@pytest.mark.truth
@pytest.mark.parametrize("program", PROGRAMS)
def test_sizes_keep_the_speed_when_programs_run(program, tmp_path):
    system, truth = _described()
    found = _scaling(program, system, PROGRAMS[program])
    assert [each.processors for each in found.runs] == list(PROCS)
    before, works = [], []
    for each in found.runs:
        time_s = executed_s(program, each.size, each.processors, truth, tmp_path, before, NoNoise())
        speed = average_speed(each.work, each.processors, time_s)
        assert speed == pytest.approx(each.speed, rel=0.01)
        assert speed >= found.speed * 0.99
        works.append((each.processors, each.work))
        if each.predicted is not None and each.predicted.kept:
            size = each.predicted.size
            time_s = executed_s(program, size, each.processors, truth, tmp_path, before, NoNoise())
            assert average_speed(each.predicted.work, each.processors, time_s) == pytest.approx(found.speed, rel=0.03)
        smaller = int(each.size * (1 - NEAR)) // each.processors * each.processors
        if smaller > 2 * each.processors and each is not found.runs[0]:
            time_s = executed_s(program, smaller, each.processors, truth, tmp_path, before, NoNoise())
            work = each.work * (smaller / each.size) ** 2  # at least: no work grows more slowly with n
            assert average_speed(work, each.processors, time_s) < found.speed * 1.01
    (first, least), (last, most) = works[0], works[-1]
    assert scalability(first, least, last, most) == pytest.approx(found.runs[-1].psi)


@pytest.mark.truth
@pytest.mark.parametrize(("program", "sizes"), [("laplace_bb", (16, 24, 40)), ("gauss", (16, 24, 40))])
def test_sizes_of_a_fitted_machine_keep_the_speed_on_the_hidden_one(program, sizes, tmp_path):
    """What twelve runs on up to 8 processors say of 16 and 32."""
    truth, before = hidden_machine(7), []
    runs = [
        MeasuredRun(
            program="",
            processors=p,
            values={"n": n},
            time_s=executed_s(program, n, p, truth, tmp_path, before, NoNoise()),
            line=2,
        )
        for n in sizes
        for p in (1, 2, 4, 8)
    ]
    request = requested(None, io=False, system_set=CACHELESS)
    made = fitted(runs, api.read_source(f"{program}.hpf"), api.load_machine("ipsc860"), request)
    file = tmp_path / "hidden.yaml"
    file.write_text(machine_yaml(made, extends="ipsc860", name="hidden", command="esp fit"), encoding="utf-8")
    system = api.load_machine(file)
    found = _scaling(program, system, sizes[-1], (8, 16, 32))
    for each in found.runs:
        time_s = executed_s(program, each.size, each.processors, truth, tmp_path, before, NoNoise())
        assert average_speed(each.work, each.processors, time_s) == pytest.approx(found.speed, rel=0.05)
