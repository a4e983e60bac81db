"""`esp scalability`: sizes against trying all of them, and scalabilities against their definition."""

import csv
import io
import json

import pytest

import esp
from esp import api
from esp.cli.main import main
from esp.cli.scalability import share_of, speed_of
from esp.errors import PredictionError, UsageError
from esp.explore.scaling import scaled
from esp.explore.scaling_predicted import predicted_run, rate_of
from esp.explore.sized import SizedPredictions
from interpreter.scalability.isospeed import scaled_work

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


SIZED = """program sized
integer :: n, i
real(8), allocatable :: a(:)
!hpf$ distribute a(block)
{first}
allocate (a(n))
a = 1
do i = 1, 10
  a = a*0.5d0 + cshift(a, 1)
end do
print *, sum(a)
end program
"""


@pytest.mark.parametrize("first", ["read *, n", "n = 64", "integer, parameter :: n = 64"])
def test_a_variable_with_a_value_is_a_size(first):
    text = SIZED.format(first="" if "parameter" in first else first)
    text = text.replace("integer :: n, i", f"{first}\ninteger :: i") if "parameter" in first else text
    found = scaled(api.read_source(text), api.load_machine("ipsc860"), api.Request(values={"n": 64}), (2, 4), size="n")
    assert [each.processors for each in found.runs] == [2, 4]
    assert found.runs[0].size == 64
    assert found.runs[1].size > 64


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


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("name", "kept", "n", "numbers"),
    [
        ("laplace.hpf", 0.8e6, 32, (2, 4, 8, 16, 32, 64)),
        ("gauss.hpf", 0.4e6, 16, (4, 16)),
        pytest.param("gauss.hpf", 0.4e6, 16, (32, 64), marks=pytest.mark.truth),
    ],
)
def test_sizes_by_equation_2_keep_the_speed(name, kept, n, numbers):
    """Within 3 %, for up to 64 processors, in at most 8 predictions each."""
    source, system = api.read_source(name), api.load_machine("ipsc860")
    values = VALUES if name == "laplace.hpf" else {}
    tries = SizedPredictions(source, system, api.Request(values=values), "n", "", None)
    rate = rate_of(tries, (n, 2 * n))
    for procs in numbers:
        found = predicted_run(tries, procs, 4 * procs, 10**6, kept, rate, 0.01)
        assert found is not None
        assert found.speed == pytest.approx(kept, rel=0.03)
        assert found.predictions <= 8
        time_s = found.work * rate / procs + found.overhead_s
        assert found.speed == pytest.approx(found.work / (procs * time_s))
        asked = scaled_work(kept, procs, found.overhead_s, rate)  # beside the work that there is
        assert asked / found.work == pytest.approx(1, abs=0.04 / (1 - kept * rate))


def test_tau_is_the_time_of_the_work_on_one_processor():
    """By Equation 16: the sum of W T over the sum of W W."""
    found = found_for(speed=1.0e6)
    works, times = [], []
    source, system = api.read_source("laplace.hpf"), api.load_machine("ipsc860")
    for n in (16, 32):
        request = api.Request(procs=1, values={**VALUES, "n": n})
        made = api.interpret_stages(api.lower_source(source, system, request), system, request)
        works.append(sum(made.counts.flops().values()))
        times.append(made.time_s)
    weighted = sum(work * time for work, time in zip(works, times, strict=True))
    assert found.rate == pytest.approx(weighted / sum(work**2 for work in works))


def test_no_size_by_equation_2_keeps_more_than_the_speed_of_one_processor():
    found = found_for("gauss.hpf", (1,), n=16, speed=2.0e6)
    assert found.rate * 2.0e6 >= 1
    assert [each.predicted for each in found.runs] == [None] * len(found.runs)


def test_time_by_equation_4(laplace):
    """T / psi is the time at exactly the speed of the first run."""
    one, two = laplace.runs
    assert one.scaled_time_s == one.time_s
    assert two.scaled_time_s == pytest.approx(one.time_s / two.psi)
    assert two.scaled_time_s == pytest.approx(two.time_s * two.speed / one.speed)


def test_the_function():
    """It finds what the command prints, and refuses what the command refuses."""
    found = esp.scalability("laplace.hpf", procs=(1, 2), n=16, k=2, speed=1.0e6)
    assert found.runs == found_for(speed=1.0e6).runs
    assert [row["size"] for row in found.rows()] == [each.size for each in found.runs]
    assert "T/psi" in str(found)
    assert len(esp.scalability("pi.hpf", procs=2, n=16).runs) == 1
    with pytest.raises(UsageError, match="not a share"):
        esp.scalability("pi.hpf", tol=2)
    with pytest.raises(UsageError, match="not a processor count"):
        esp.scalability("pi.hpf", procs=[0, 1])
    assert found.plot().figure.axes


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


@pytest.mark.parametrize(("text", "value"), [("2%", 0.02), ("0.05", 0.05), (" 1 % ", 0.01)])
def test_shares(text, value):
    assert share_of(text) == pytest.approx(value)


@pytest.mark.parametrize("text", ["", "much", "0", "100%", "-1%", "1.2.3", "nan"])
def test_no_shares(text):
    with pytest.raises(UsageError, match="not a share"):
        share_of(text)


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
    assert [row["predicted_size"] for row in rows] == [
        "" if each["predicted_size"] is None else str(each["predicted_size"]) for each in told["runs"]
    ]
    assert told["tol"] == 0.01
    assert run()[0] == 2
    assert run(*words, "--tol", "2")[0] == 2
    assert run(*words, "--grid", "2x1")[0] == 2


def test_there_may_be_nothing_to_compare():
    assert "there is nothing to compare" in str(found_for(procs=(2,)))
    assert "Even the smallest size keeps" in str(found_for(speed=1.0))
    with pytest.raises(UsageError, match="is 0 at n = 16"):
        found_for(work="n - n")
