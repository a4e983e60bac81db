"""Rates from a few runs, and the sizes that they give (Equation 16 of Sun and Zhu)."""

import json

import pytest

from esp import api
from esp.cli.main import main
from esp.explore.scaling import scaled
from esp.explore.scaling_fitted import fitted
from esp.locate import systems_dir
from interpreter.scalability.rates import nonnegative_rates
from sag.load import load_system
from tests.sag.levels import LEVELS

TOOLS = ("smpirun", "smpif90", "gfortran")


@pytest.fixture(scope="module")
def laplace():
    source, system = api.read_source("laplace_bb.hpf"), api.load_machine("ipsc860")
    request = api.Request(values={"n": 24})
    return source, system, request, scaled(source, system, request, (2, 4, 8, 16))


def test_sizes_of_predicted_times_are_those_of_the_search(laplace):
    """The rates of 2 and 4 processors give the sizes on 8 and 16; caches are all that the counts do not have."""
    source, system, request, found = laplace
    made = fitted(found, source, system, request, (2, 4), None)
    assert made.misfit < 0.05
    assert made.fitted_on == (2, 4)
    assert {each.what for each in made.rates} == {"flop", "message"}
    for each in made.runs:
        assert each.fitted.known
        assert each.fitted.size == pytest.approx(each.size, rel=0.05)
    first = made.runs[0].fitted
    last = made.runs[-1].fitted
    assert last.psi == pytest.approx(16 * first.work / (2 * last.work))


@pytest.mark.sampled
@pytest.mark.parametrize("factor", [0.5, 3.0])
def test_all_runs_slower_change_the_rates_alone(laplace, factor):
    source, system, request, found = laplace

    def executed(procs, size):
        asked = api.Request(procs=procs, values={"n": size})
        return factor * api.interpret_stages(api.lower_source(source, system, asked), system, asked).time_s

    plain = fitted(found, source, system, request, (2, 4), None)
    slower = fitted(found, source, system, request, (2, 4), executed)
    for one, other in zip(plain.rates, slower.rates, strict=True):
        assert other.value == pytest.approx(factor * one.value)
    assert slower.misfit == pytest.approx(plain.misfit)


@pytest.mark.truth
def test_farther_messages_than_those_of_the_runs_are_marked(laplace):
    """Runs within a switch of four do not tell what messages between two switches take; one on eight does."""
    source = laplace[0]
    system = load_system(LEVELS, folder=systems_dir())
    request = api.Request(values={"n": 24, "k": 2})
    found = scaled(source, system, request, (2, 4, 8), speed=4e5)
    near = fitted(found, source, system, request, (2, 4), None)
    assert [each.fitted.known for each in near.runs] == [True, True, False]
    assert [each.level for each in near.rates if each.what == "message"] == [0]
    far = fitted(found, source, system, request, (2, 4, 8), None)
    assert all(each.fitted.known for each in far.runs)
    assert [each.level for each in far.rates if each.what == "message"] == [0, 1]


def test_rates_by_hand():
    """Two kinds in three runs; one kind that explains nothing; proportional amounts."""
    assert nonnegative_rates([[1, 1], [2, 1], [4, 1]], [3.0, 5.0, 9.0]) == pytest.approx([2.0, 1.0])
    assert nonnegative_rates([[1, 5], [2, 3], [4, 1]], [1.0, 2.0, 4.0]) == pytest.approx([1.0, 0.0])
    assert nonnegative_rates([[1, 9], [2, 8]], [2.0, 4.0]) == pytest.approx([2.0, 0.0])
    with pytest.raises(ValueError, match="do not determine"):
        nonnegative_rates([[0.0]], [1.0])


def test_one_run_is_not_enough_for_two_rates(laplace):
    """Runs of two sizes on one processor have no messages: those of others take what the machine file says."""
    source, system, request, found = laplace
    made = fitted(found, source, system, request, (1,), None)
    assert not any(each.fitted.known for each in made.runs)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--fit-on", "2,x"], "--fit-on"),
        (["--fit-on", "2", "--by", "formula"], "--fit-on"),
        (["--fit-on", "2", "--speedups"], "--fit-on"),
    ],
)
def test_mistakes(words, told, capsys):
    assert main(["scalability", "laplace_bb", "--procs", "2,4", "--set", "n=24", *words]) == 2
    assert told in capsys.readouterr().err


@pytest.mark.slow
def test_runs_of_two_and_four_give_the_size_on_eight(capsys):
    words = ["scalability", "laplace_bb", "--procs", "2,4,8", "--set", "n=24", "--runs", "--fit-on", "2,4", "--json"]
    assert main(words) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["misfit"] < 0.01
    for each in found["runs"]:
        assert each["fitted_size"] == pytest.approx(each["measured_size"], rel=0.03)
