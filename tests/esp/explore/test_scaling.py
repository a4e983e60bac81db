"""`esp scalability`: sizes against trying all of them, and scalabilities against their definition."""

import csv
import io
import json

import pytest

from esp import api
from esp.cli.main import main
from esp.cli.scalability import speed_of
from esp.errors import PredictionError, UsageError
from esp.explore.scaling import scaled

VALUES = {"k": 2}


def found_for(name="laplace.hpf", procs=(1, 2), n=16, **options):
    source, system = api.read_source(name), api.load_machine("ipsc860")
    values = {**VALUES, "n": n} if name.startswith("laplace") else {"n": n}
    return scaled(source, system, api.Request(values=values), procs, **options)


def speed(procs, n, name="laplace.hpf"):
    source, system = api.read_source(name), api.load_machine("ipsc860")

    def predicted(p):
        request = api.Request(procs=p, values={**VALUES, "n": n})
        return api.interpret_stages(api.lower_source(source, system, request), system, request)

    work = sum(predicted(1).counts.flops().values())
    return work / (procs * predicted(procs).time_s)


@pytest.fixture(scope="module")
def laplace():
    return found_for(speed=1.0e6)


def test_sizes_are_the_smallest_that_last(laplace):
    for each in laplace.runs:
        speeds = {
            n: speed(each.processors, n) for n in range(max(1, each.size - 2), each.size + 2 * each.processors + 1)
        }
        assert all(one >= 1.0e6 for n, one in speeds.items() if n >= each.size)
        assert speeds[each.size - 1] < 1.0e6
        assert each.speed == pytest.approx(speeds[each.size])


def test_scalability_is_that_of_works_and_processors(laplace):
    one, two = laplace.runs
    assert (one.psi, one.step) == (1, 1)
    assert two.psi == two.step == pytest.approx(2 * one.work / two.work)
    assert two.size > one.size


def test_the_speed_of_the_program_is_kept():
    found = found_for(n=24)
    assert found.speed == pytest.approx(speed(1, 24))
    assert all(each.speed >= found.speed for each in found.runs)


def test_a_given_work_replaces_that_of_the_program():
    found = found_for(procs=(1, 2), n=16, speed=1e5, work="5*n**2")
    assert [each.work for each in found.runs] == [5 * each.size**2 for each in found.runs]


def test_never_is_an_answer():
    found = found_for("pi.hpf", (1,), n=16, speed=1e12)
    assert (found.runs, found.missing) == ((), (1,))


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"procs": (2, 1)}, "must rise"),
        ({"procs": ()}, "must rise"),
        ({"size": "zz"}, "not an integer PARAMETER"),
        ({"work": "2*m"}, "cannot be evaluated"),
    ],
)
def test_what_is_refused(options, why):
    with pytest.raises(UsageError, match=why):
        found_for(**options)


def test_a_program_without_flops_has_no_speed():
    source, system = (
        api.read_source("program p\nparameter (n=8)\ninteger a(n)\n!hpf$ distribute a(block)\na = 1\nend\n"),
        None,
    )
    system = api.load_machine("ipsc860")
    with pytest.raises(PredictionError, match="no floating-point operations"):
        scaled(source, system, api.Request(), (1, 2))


@pytest.mark.parametrize(("text", "value"), [("2Mflop/s", 2e6), ("2.5e6", 2.5e6), ("3 Gflops", 3e9), ("7k", 7e3)])
def test_speeds(text, value):
    assert speed_of(text) == value


@pytest.mark.parametrize("text", ["", "fast", "0", "-1", "2MB/s", "1.2.3"])
def test_no_speeds(text):
    with pytest.raises(UsageError, match="not a speed"):
        speed_of(text)


def test_the_command(capsys):
    def run(*words):
        code = main(["scalability", "laplace.hpf", *words])
        return code, *capsys.readouterr()

    words = ("--procs", "1,2", "--set", "n=16", "--set", "k=2")
    code, out, err = run(*words)
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 80
    assert "To keep" in out
    told = json.loads(run(*words, "--json")[1])
    rows = list(csv.DictReader(io.StringIO(run(*words, "--csv")[1])))
    assert [int(row["size"]) for row in rows] == [each["size"] for each in told["runs"]]
    assert told["runs"][1]["psi"] == pytest.approx(2 * told["runs"][0]["work"] / told["runs"][1]["work"])
    assert run()[0] == 2
    assert run(*words, "--grid", "2x1")[0] == 2
