"""`esp validate --against counts`: predictions beside programs that count what they do."""

import pytest

from esp import api
from esp.api import Request
from esp.cli.main import main
from esp.locate import find_system
from esp.validate.counted import compared, counted_program
from sag.scenario import Scenario, export
from tests.truth.simulated import PROGRAMS, VALUES

SHIFTS = "CSHIFT and EOSHIFT: a subscript that goes round is computed for each element in the prediction"
TURNS = "owners take turns: the node program notes who has which element"
NESTS = "several statements in loops: where a nest begins and ends is not in the text"
CALLS = "calls of the source are no longer there, copies of their arguments are"
PARTIAL = "the partial result of a reduction is added to what was there, or begins as a whole array"
OPEN = "not explained yet"
OTHERWISE = {
    **dict.fromkeys(("finance", "life", "nbody", "shallow"), SHIFTS),
    "pipeline": TURNS,
    **dict.fromkeys(("adi", "thomas", "sor"), NESTS),
    "heat_sub": CALLS,
    **dict.fromkeys(("particle", "pbs2", "pbs3", "shallow_do"), PARTIAL),
    **dict.fromkeys(("fft3d", "fft_transpose", "implicit", "lfk14", "oddeven", "redblack"), OPEN),
}
"""Benchmarks whose other operations or time differ from the prediction, and why; their floating-point operations,
messages and bytes are as predicted all the same."""


def run(source, system, folder, procs, truth=None, **values):
    request = Request(procs=procs, values=values, scenario=Scenario(io=False))
    stages = api.lower_source(source, system, request)
    program = counted_program(stages, system, request, folder)
    return compared(program, system, request, program.run(export(truth or system, request.scenario)))


@pytest.mark.parametrize(("name", "values"), [("laplace", {"n": 20, "k": 2}), ("gauss", {"n": 20})])
def test_operations_messages_and_time_are_as_predicted(name, values, tmp_path):
    source, system = api.read_source(f"{name}.hpf"), api.load_machine("ipsc860")
    found = run(source, system, tmp_path, 3, **values)
    assert found.other == ()
    assert found.messages[0] == found.messages[1] > 0
    assert found.bytes[0] == found.bytes[1]
    assert found.error == pytest.approx(0.0, abs=1e-3)


def test_the_program_runs_on_a_machine_that_the_prediction_does_not_know(tmp_path):
    """Its additions take 1 us more: the time of P = 1 grows by as many microseconds as there are additions."""
    text = find_system("ipsc860").read_text()
    assert text.count("add: {value: 0.090 us, range: 0.075 to 0.15 us") == 1
    other = tmp_path / "hidden.yaml"
    other.write_text(text.replace("add: {value: 0.090 us, range: 0.075 to 0.15 us", "add: {value: 1.090 us"))
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
    assert "Add --against counts" in " ".join(capsys.readouterr().err.split())


@pytest.mark.truth
@pytest.mark.parametrize("procs", [1, 4, 6])
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_benchmark(name, procs, tmp_path):
    source, system = api.read_source(f"{name}.hpf"), api.load_machine("ipsc860")
    constants = {each.name for each in source.program.units[0].entities if "parameter" in each.attributes}
    found = run(source, system, tmp_path, procs, **{key: value for key, value in VALUES.items() if key in constants})
    assert (found.messages[0], found.bytes[0]) == (found.messages[1], found.bytes[1])
    if found.assumes:
        return
    for each in found.operations:
        if each.operation.startswith(("r4.", "r8.")):  # a partial sum is added to what was there
            assert each.predicted == pytest.approx(each.counted, rel=1e-3, abs=2 * procs)
    if name not in OTHERWISE:
        assert [each for each in found.other if each.operation != "packed bytes"] == []
        assert found.error == pytest.approx(0.0, abs=0.02)
