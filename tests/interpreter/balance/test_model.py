"""Speedup and utilisation by the static model: hand calculation, Amdahl's law, and numbers that Clement prints."""

import pytest

from interpreter.balance.model import (
    Costs,
    Workload,
    deviation,
    speedup,
    startups_on,
    time_on,
    time_on_one,
    utilisation,
)
from interpreter.balance.patterns import PATTERNS


def work(sequential=0.0, parallel=0.0, misses=0.0, loops=0.0, startups=0.0, pattern="neighbours"):
    return Workload(
        sequential=sequential,
        parallel=parallel,
        misses=misses,
        loops=loops,
        startups=lambda processors: startups * PATTERNS[pattern].factor(processors),
    )


COSTS = Costs(operation=2.0, miss=10.0, startup=500.0)


def test_times_by_hand():
    given = work(sequential=100, parallel=4000, misses=300, loops=20, startups=3)
    assert time_on_one(given, COSTS) == 2 * 4100 + 10 * 300
    # 2 x 100 + (2 x 4000 + 10 x 300) / 4 + 3 x 500 + 2 x 20
    assert time_on(given, COSTS, 4) == 200 + 2750 + 1500 + 40
    assert speedup(given, COSTS, 4) == pytest.approx(11200 / 4490)
    assert utilisation(given, COSTS, 4) == pytest.approx(2800 / 4490)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_one_processor_sends_nothing(pattern):
    given = work(parallel=1000, startups=7, pattern=pattern)
    assert startups_on(given, 1) == 0
    assert speedup(given, COSTS, 1) == 1


def test_loops_of_virtual_processors_count_on_one_processor_as_well():
    assert speedup(work(parallel=1000, loops=250), COSTS, 1) == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("pattern", "startups"), [("neighbours", [5, 5, 5]), ("broadcast", [10, 15, 30]), ("all", [10, 20, 160])]
)
def test_start_ups_of_the_patterns(pattern, startups):
    assert [startups_on(work(parallel=1, startups=5, pattern=pattern), p) for p in (2, 4, 32)] == startups


@pytest.mark.parametrize("sequential", [0.0, 0.05, 0.5])
def test_amdahl_without_communication_and_loops(sequential):
    given = work(sequential=1000 * sequential, parallel=1000 * (1 - sequential))
    for p in (1, 3, 64):
        assert speedup(given, COSTS, p) == pytest.approx(1 / (sequential + (1 - sequential) / p))


def test_slow_memory_raises_the_speedup_and_lowers_the_speed():
    """Section 3.4.2: a large miss penalty makes the effective grain larger."""
    given, p = work(parallel=1e5, misses=2e4, startups=20), 64
    slow, fast = (Costs(operation=1, miss=penalty, startup=470) for penalty in (60, 6))
    assert speedup(given, slow, p) > speedup(given, fast, p)
    assert time_on(given, slow, p) > time_on(given, fast, p)


@pytest.mark.parametrize(
    ("actual", "predicted", "printed", "computed"),
    [(27.5, 25.0, 9.08, 9.09), (38.0, 34.0, 10.6, 10.53), (4.0, 5.5, 37.1, 37.50)],
)
def test_errors_of_table_3_1(actual, predicted, printed, computed):
    """The table prints speedups that are rounded, so its errors differ in the last digits."""
    error = 100 * abs(deviation(predicted, actual))
    assert round(error, 2) == computed
    assert error == pytest.approx(printed, abs=0.5)


def test_less_than_one_processor_and_no_work_are_refused():
    with pytest.raises(ValueError, match=r"0\.5 is less than one processor"):
        speedup(work(parallel=1), COSTS, 0.5)
    with pytest.raises(ValueError, match="no work"):
        speedup(work(startups=1), COSTS, 2)
