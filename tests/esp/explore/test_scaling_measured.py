"""`esp scalability --runs`: the control loop against speeds that are known, and against runs."""

import json
from itertools import pairwise

import pytest

from esp import api
from esp.cli.main import main
from esp.explore.scaling import scaled
from esp.explore.scaling_measured import TRIES, measured, next_size
from esp.locate import find_system

TOOLS = ("smpirun", "smpif90", "gfortran")
SLOWER = {"add: {value: 0.090 us, range: 0.075 to 0.15 us": "add: {value: 0.290 us"}


@pytest.fixture(scope="module")
def laplace():
    source, system = api.read_source("laplace_bb.hpf"), api.load_machine("ipsc860")
    request = api.Request(values={"n": 24})
    return source, system, request, scaled(source, system, request, (2, 4, 8))


@pytest.mark.sampled
@pytest.mark.parametrize("power", [0.3, 1.0, 1.7])
@pytest.mark.parametrize("factor", [0.5, 0.9, 1.0, 1.3, 2.5])
def test_the_loop_finds_the_size_of_a_known_speed(laplace, power, factor):
    """Runs whose speed is a power of the size: the size that keeps the speed follows, whatever esp predicts."""
    source, system, request, found = laplace
    sizes = {each.processors: each.size * factor for each in found.runs}
    asked = []

    def executed(procs, size):
        asked.append((procs, size))
        speed = found.speed * (size / sizes[procs]) ** power
        work = api.interpret_stages(
            api.lower_source(source, system, api.Request(procs=1, values={"n": size})), system, api.Request(procs=1)
        ).counts.flops()
        return sum(work.values()) / (procs * speed)

    for each in measured(found, source, system, request, executed, tol=0.02).runs:
        one = each.measured
        assert one.runs == len([procs for procs, _ in asked if procs == each.processors]) <= TRIES
        assert one.kept == (abs(one.speed / found.speed - 1) <= 0.02)
        nearest = round(sizes[each.processors])
        if power * 0.5 / nearest < 0.02:  # some whole number is near enough
            assert one.kept
            assert one.size == pytest.approx(sizes[each.processors], rel=0.03 / power)


def test_scalability_is_that_of_the_works(laplace):
    source, system, request, found = laplace
    runs = measured(found, source, system, request, lambda procs, size: 1.0 / size / procs, tol=0.5).runs
    first = runs[0].measured
    for each in runs:
        psi = each.processors * first.work / (runs[0].processors * each.measured.work)
        assert each.measured.psi == pytest.approx(psi)


def test_the_next_size_is_never_one_that_is_far_away():
    for speeds in ({10: 1e-9}, {10: 1e9}, {10: 1.0, 11: 1.0}, {10: 1.0, 20: 0.9}, {1: 5.0}, {7: 0.999, 8: 0.998}):
        size = next_size(speeds, 1.0)
        assert 1 <= size <= 2 * max(speeds)


@pytest.mark.truth
@pytest.mark.slow
def test_runs_on_another_machine(tmp_path, capsys):
    text = find_system("ipsc860").read_text()
    for before, after in SLOWER.items():
        assert before in text
        text = text.replace(before, after)
    other = tmp_path / "hidden.yaml"
    other.write_text(text)
    words = ["scalability", "laplace_bb", "--procs", "2,4", "--set", "n=24", "--runs", "--json", "--tol", "2%"]
    found = {}
    for name, more in (("own", []), ("other", ["--truth", str(other), "--keep", str(tmp_path / "kept")])):
        assert main([*words, *more]) == 0
        found[name] = json.loads(capsys.readouterr().out)
    for one, two in zip(found["own"]["runs"], found["other"]["runs"], strict=True):
        assert one["size"] == two["size"]
        assert one["measured_kept"]
        assert two["measured_kept"]
        assert one["measured_size"] == pytest.approx(one["size"], rel=0.1)
        assert two["measured_size"] > one["measured_size"]  # a slower machine needs more work for the same speed
        assert two["measured_speed"] == pytest.approx(found["own"]["speed"], rel=0.02)
    assert all(low["measured_size"] < high["measured_size"] for low, high in pairwise(found["other"]["runs"]))
    assert any((tmp_path / "kept").iterdir())


@pytest.mark.parametrize("more", [["--timed"], ["--by", "formula"], ["--speedups"], ["--against", "pdd"]])
def test_what_runs_cannot_do(more, capsys):
    assert main(["scalability", "laplace_bb", "--procs", "2,4", "--runs", *more]) == 2
    assert main(["scalability", "laplace_bb", "--procs", "2,4", "--truth", "paragon"]) == 2
    assert "without --runs" in capsys.readouterr().err
