"""`esp validate --against counts`: predictions beside programs that count what they do."""

from itertools import islice

import pytest

from aag.pipeline import read_program
from esp import api
from esp.api import Request, Source
from esp.cli.main import main
from esp.validate.counted import compared, counted_program
from sag.scenario import Scenario, export
from tests.aag.spmd.emit import test_random_nests as nests
from tests.aag.spmd.emit.test_random_programs import PARTS, drawn
from tests.truth.simulated import PROGRAMS, VALUES

OTHERWISE = {
    "finance": "EOSHIFT: the node program asks for each element whether it is shifted in",
    "life": "a mask that data decide; CSHIFT",
    "nbody": "CSHIFT goes round by sections in the prediction",
    "pbs2": "the partial results begin as a whole array",
    "pbs3": "the partial results begin as a whole array",
    "particle": "the partial results begin as a whole array",
}
"""Benchmarks whose node programs spell something otherwise than it is predicted."""


def run(source, system, folder, procs, truth=None, **values):
    request = Request(procs=procs, values=values, scenario=Scenario(io=False))
    stages = api.lower_source(source, system, request)
    program = counted_program(stages, system, request, folder)
    return compared(program, system, request, program.run(export(truth or system, request.scenario)))


@pytest.mark.parametrize("name", ["laplace", "gauss"])
def test_operations_messages_and_time_are_as_predicted(name, tmp_path):
    source, system = api.read_source(f"{name}.hpf"), api.load_machine("ipsc860")
    found = run(source, system, tmp_path, 3, n=20, k=2)
    assert found.other == ()
    assert found.messages[0] == found.messages[1] > 0
    assert found.bytes[0] == found.bytes[1]
    assert found.error == pytest.approx(0.0, abs=1e-4)


def test_the_program_runs_on_a_machine_that_the_prediction_does_not_know(tmp_path, machine_file):
    """Its additions take 1 us more: the time of P = 1 grows by as many microseconds as there are additions."""
    text = machine_file("ipsc860").read_text()
    other = tmp_path / "hidden.yaml"
    other.write_text(
        text.replace("r8:\n              add: {value: 0.090 us", "r8:\n              add: {value: 1.090 us")
    )
    source, system = api.read_source("laplace.hpf"), api.load_machine("ipsc860")
    found = run(source, system, tmp_path / "it", 1, api.load_machine(str(other)), n=12, k=2)
    additions = next(each.counted for each in found.operations if each.operation == "r8.add")
    assert found.executed_s - found.predicted_s == pytest.approx(1e-6 * additions, rel=1e-3)


def test_the_command(capsys):
    assert (
        main(["validate", "laplace.hpf", "--against", "counts", "--procs", "2", "--set", "n=12", "--set", "k=2"]) == 0
    )
    table = capsys.readouterr().out.splitlines()
    assert table[1].split()[:2] == ["2", "same"]
    assert table[1].split()[6] == "same"
    assert table[2] == "Times are without a cache."


@pytest.mark.parametrize("option", [["--truth", "ipsc860"], ["--noise", "5%"], ["--seed", "3"]])
def test_options_need_the_method(option, capsys):
    assert main(["validate", "laplace.hpf", *option]) == 2
    assert "--against counts" in capsys.readouterr().err


@pytest.mark.truth
@pytest.mark.parametrize("procs", [1, 4, 6])
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_benchmark(name, procs, tmp_path):
    source, system = api.read_source(f"{name}.hpf"), api.load_machine("ipsc860")
    constants = {each.name for each in source.program.units[0].entities if "parameter" in each.attributes}
    found = run(source, system, tmp_path, procs, **{key: value for key, value in VALUES.items() if key in constants})
    assert (found.messages[0], found.bytes[0]) == (found.messages[1], found.bytes[1])
    if name in OTHERWISE or found.assumes:
        return
    assert [each for each in found.other if each.operation != "packed bytes"] == []
    assert found.error == pytest.approx(0.0, abs=0.02)


SAME = ("r4.", "r8.", "store", "loop.")
"""Operations that node programs of random programs do as predicted, however emission spells them."""


def wrong(found):
    """Operations that differ, where data decide nothing."""
    return [] if found.assumes else [each for each in found.other if each.operation.startswith(SAME)]


@pytest.mark.truth
@pytest.mark.parametrize("seed", range(40))
def test_random_nests(seed, tmp_path):
    procs = nests.PROCS[seed % len(nests.PROCS)]
    _, case = nests.drawn(seed, procs)
    source, system = Source(program=read_program(case.text, "random.hpf")), api.load_machine("ipsc860")
    assert wrong(run(source, system, tmp_path, procs)) == [], case.text


@pytest.mark.truth
@pytest.mark.parametrize("part", PARTS)
def test_random_programs(part, tmp_path):
    system = api.load_machine("ipsc860")
    for number, (text, procs) in enumerate(islice(drawn(part, range(8)), 4)):
        source = Source(program=read_program(text, "random.hpf"))
        assert wrong(run(source, system, tmp_path / str(number), procs)) == [], text
