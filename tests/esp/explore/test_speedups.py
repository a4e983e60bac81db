"""Speedups by four definitions, against the definitions over all sizes."""

import json

import pytest

import esp as package
from esp import api
from esp.explore.speedups import speedups_of
from esp.request import requested
from interpreter.scalability.search import largest_of
from tests.esp.cli.conftest import esp, streams

__all__ = ["esp", "streams"]

N, PROCS, SIZES = 24, (2, 3), range(1, 130)


@pytest.fixture(scope="module")
def found():
    source, system = api.read_source("lfk03.hpf"), api.load_machine("ipsc860")
    return speedups_of(source, system, requested(None, n=N, io=False), PROCS, efficiency=0.3)


@pytest.fixture(scope="module")
def all_():
    """Time, work and bytes of all sizes on one and more processors."""
    made = {(p, n): package.predict("lfk03.hpf", procs=p, n=n, io=False) for p in (1, *PROCS) for n in SIZES}
    times = {key: each.time_s for key, each in made.items()}
    works = {n: sum(made[1, n].counts.flops().values()) for n in SIZES}
    return times, works, {key: each.memory_bytes + each.memory_copies_bytes for key, each in made.items()}


def test_fixed_size(found, all_):
    times, _, _ = all_
    for row in found.rows:
        assert row.fixed_size.size == N
        assert row.fixed_size.speedup == pytest.approx(times[1, N] / times[row.processors, N])


def test_fixed_time(found, all_):
    times, works, _ = all_
    for row in found.rows:
        sizes = [n for n in SIZES if times[row.processors, n] <= times[1, N]]
        if row.fixed_time is None:
            assert sizes == []
            continue
        assert row.fixed_time.size == max(sizes) < SIZES[-1]
        assert row.fixed_time.speedup == pytest.approx(works[max(sizes)] / works[N])


def test_memory_bounded(found, all_):
    times, works, held = all_
    for row in found.rows:
        largest = max(n for n in SIZES if held[row.processors, n] <= held[1, N])
        assert row.memory_bounded.size == largest < SIZES[-1]
        speed, alone = works[largest] / times[row.processors, largest], works[N] / times[1, N]
        assert row.memory_bounded.speedup == pytest.approx(speed / alone)


def test_isoefficiency(found):
    for row in found.rows:
        p = row.processors

        def efficiency(n, p=p):
            alone, together = (package.predict("lfk03.hpf", procs=each, n=n, io=False).time_s for each in (1, p))
            return alone / (p * together)

        size = row.isoefficiency.size
        assert row.isoefficiency.efficiency == pytest.approx(efficiency(size))
        assert all(efficiency(n) >= 0.3 for n in range(size, size + 2 * p + 1))
        assert efficiency(size - 1) < 0.3 or any(efficiency(n) < 0.3 for n in range(size - 1, size + 2 * p))


def test_one_processor_is_itself():
    source, system = api.read_source("pi.hpf"), api.load_machine("ipsc860")
    (row,) = speedups_of(source, system, requested(None, n=50, io=False), [1]).rows
    assert (row.fixed_size.speedup, row.fixed_time.size, row.fixed_time.speedup) == (1.0, 50, 1.0)
    assert row.memory_bounded.size >= 50


@pytest.mark.parametrize("bound", [0, 1, 5, 31, 32, 33, 99, 100, 200])
@pytest.mark.parametrize("guess", [1, 30, 100, 500])
def test_the_largest_size(bound, guess):
    asked = []

    def holds(n):
        asked.append(n)
        return n <= bound

    expected = None if bound < 1 else min(bound, 100)
    assert largest_of(holds, 1, guess, 100) == expected
    assert len(asked) < 25
    assert all(1 <= n <= 100 for n in asked)


def test_the_command(esp):
    words = ("scalability", "pi.hpf", "--procs", "1,2", "--set", "n=60", "--speedups")
    code, out, err = esp(*words, "--efficiency", "40%")
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 80
    rows = json.loads(esp(*words, "--json")[1])["speedups"]
    assert [each["processors"] for each in rows] == [1, 2]
    assert esp(*words, "--csv")[1].startswith("processors,fixed_size_time_s,")


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--efficiency", "50%"], "no effect without --speedups"),
        (["--speedups", "--tol", "2%"], "no effect with --speedups"),
        (["--speedups", "--efficiency", "2"], "'2' is not an efficiency"),
        (["--speedups", "--by", "formula"], "speedups are those of predictions"),
    ],
)
def test_options_that_do_not_fit(esp, words, text):
    code, _, err = esp("scalability", "pi.hpf", "--procs", "1,2", *words)
    assert code == 2
    assert text in " ".join(err.split())
