"""Machines fitted to runs on other machines, which the fit does not know."""

import numpy as np
import pytest

import esp
from esp import api
from esp.explore.interval import interval_of
from esp.fit.fitting import fit_runs, fitted, forecast_run
from esp.fit.runs import MeasuredRun
from esp.locate import system_names
from esp.output.fit_machine import machine_yaml
from esp.quantities import ABOUT, IO, QUANTITIES, kind_of, quantities_of
from esp.request import requested

HIDDEN = {"operations": 2.5, "loops": 1.5, "misses": 0.5, "copies": 1.2, "start-ups": 3.0, "bytes": 0.4}


def hidden(base="ipsc860"):
    """Settings that make another machine of one."""
    return {
        path: f"x{HIDDEN.get(kind_of(name), 1.3)}"
        for name, paths in quantities_of(api.load_machine(base)).items()
        for path in paths
    }


def runs_of(program, sizes, procs, noise=0.0, seed=1, **options):
    rng = np.random.default_rng(seed)
    return [
        MeasuredRun(
            program="",
            processors=p,
            values={"n": n},
            time_s=esp.predict(program, procs=p, n=n, io=False, system_set=hidden(), **options).time_s
            * float(np.exp(noise * rng.standard_normal())),
            line=2 + at,
        )
        for at, (n, p) in enumerate((n, p) for n in sizes for p in procs)
    ]


def fit(program, runs, forecasts=(), **options):
    source, system = api.read_source(program), api.load_machine("ipsc860")
    return fitted(runs, source, system, requested(None, io=False, **options), forecasts)


@pytest.fixture(scope="module")
def laplace():
    runs = runs_of("laplace_bb.hpf", (48, 72, 96, 128, 200), (1, 2, 4, 8), noise=0.03, seed=5)
    wanted = [forecast_run({"n": n, "procs": p}, "") for n, p in ((800, 64), (200, 16), (400, 32))]
    return fit("laplace_bb.hpf", runs, wanted)


def test_other_sizes_on_more_processors_are_predicted(laplace):
    """Four times the size on eight times as many processors as in any run."""
    for each in laplace.forecasts:
        n, p = each.run.values["n"], each.run.processors
        measured = esp.predict("laplace_bb.hpf", procs=p, n=n, io=False, system_set=hidden()).time_s
        assert each.time_s == pytest.approx(measured, rel=0.05)
        assert each.low_s < measured < each.high_s
        assert each.high_s / each.low_s < 1.25
        assert abs(each.described_s / measured - 1) > 0.3


def test_the_runs_are_explained(laplace):
    assert laplace.factors.error == pytest.approx(0.03, rel=0.5)
    assert laplace.explained > 0.995
    assert {kind_of(each.name) for each in laplace.quantities} == set(HIDDEN)
    assert {"bytes short", "bytes long"} <= {each.name for each in laplace.quantities}
    assert sum(each.share for each in laplace.quantities) == pytest.approx(1.0, abs=0.02)
    seen = [each for each in laplace.quantities if each.share > 0.01]
    assert len(seen) >= 6
    for each in seen:
        assert each.low < HIDDEN[kind_of(each.name)] < each.high
    assert laplace.without == ()


def test_the_machine_that_is_written_predicts_what_is_fitted(laplace, tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(machine_yaml(laplace, extends="ipsc860", name="mine", command="esp fit x"))
    system, source = api.load_machine(path), api.read_source("laplace_bb.hpf")
    for each in laplace.runs[::7]:
        made = esp.predict("laplace_bb.hpf", path, each.run.processors, n=each.run.values["n"], io=False)
        assert made.time_s == pytest.approx(each.fitted_s, rel=2e-3)
    forecast = laplace.forecasts[0]
    request = requested(64, n=800, io=False)
    made = api.predict_source(source, system, request)
    found = interval_of(source, system, request, made=made)
    width = np.log(forecast.high_s / forecast.low_s)
    assert np.log(found.high_s / found.low_s) == pytest.approx(width, rel=0.5)
    assert found.low_s < forecast.time_s < found.high_s
    assert found.undecided == ()


def test_several_programs_in_one_fit(tmp_path):
    """Each program is predicted from the other."""
    table = tmp_path / "runs.csv"
    lines = ["program,procs,n,time [s]"]
    for program in ("lfk03.hpf", "pbs1.hpf"):
        for each in runs_of(program, (400, 1600), (2, 4)):
            lines.append(f"{program},{each.processors},{each.values['n']},{each.time_s!r}")
    table.write_text("\n".join(lines) + "\n")
    found = fit_runs(table, io=False)
    assert len(found.programs) == 2
    assert {each.kind for each in found.factors.validations} == {"procs", "program"}
    assert max(abs(each.residual) for each in found.runs) < 0.01
    assert str(found).startswith("8 runs of lfk03.hpf and pbs1.hpf")
    assert len(found.rows()) == 8
    assert "8 runs" in repr(found)


@pytest.mark.parametrize("base", system_names())
def test_each_machine_has_quantities_of_known_parameters(base):
    found = quantities_of(api.load_machine(base))
    assert {kind_of(each) for each in found} <= set(QUANTITIES) == ABOUT.keys() - {IO}
    assert {"operations", "loops", "misses", "start-ups", "bytes"} <= {kind_of(each) for each in found}
    paths = [path for some in found.values() for path in some]
    assert len(paths) == len(set(paths))


@pytest.mark.parametrize(
    ("runs", "message"),
    [
        ([MeasuredRun(program="", processors=2, values={"n": 16}, time_s=1.0, line=2)] * 5, "1 different runs"),
        ([MeasuredRun(program="lu.hpf", processors=2, values={"n": 16}, time_s=1.0, line=2)], "names programs"),
    ],
)
def test_too_little_is_refused(runs, message):
    with pytest.raises(esp.EspError, match=message):
        fit("laplace_bb.hpf", runs)


def test_runs_without_a_program_are_refused():
    runs = [MeasuredRun(program="", processors=2, values={"n": 16}, time_s=1.0, line=7)]
    with pytest.raises(esp.UsageError, match="line 7 has no program"):
        fitted(runs, None, api.load_machine("ipsc860"), requested(None))


def test_a_value_that_no_program_has_is_refused():
    runs = [MeasuredRun(program="", processors=p, values={"zz": 16}, time_s=1.0, line=2) for p in (1, 2, 4)]
    with pytest.raises(esp.UsageError, match="zz in zz=16 procs=1: program laplace"):
        fit("laplace_bb.hpf", runs)
