"""The benchmarks beside their own node programs on a simulated machine, and the page that tells of it."""

from statistics import median

import pytest

from esp.locate import program_names
from tests.truth.pairs import TIED
from tests.truth.simulated import (
    FAR,
    FAR_WORST,
    FREE,
    MEETING_MEDIAN,
    MEETING_WORST,
    PROCS,
    PROGRAMS,
    READINGS,
    SHARED,
    SHARED_MEDIAN,
    SHARED_WORST,
    Compared,
    compare,
    results_of,
)
from tests.truth.write_accuracy import ACCURACY, programs_row, readings_row


def told(results: list[Compared]) -> str:
    """The worst few, for who reads a failure."""
    worst = sorted(results, key=lambda each: -abs(each.outcome.error))[:5]
    return "\n".join(f"{each}: {each.outcome.error:+.3%}" for each in worst)


def assert_within_bounds(results: list[Compared], reading: str = "as described") -> None:
    free = [each for each in results if not each.outcome.contended]
    meeting = [each for each in results if each.outcome.contended]
    assert all(abs(each.outcome.error) <= FREE for each in free), told(free)
    middle, worst = (SHARED_MEDIAN, SHARED_WORST) if reading in SHARED else (MEETING_MEDIAN, MEETING_WORST)
    worst = FAR_WORST if reading in FAR else worst
    for each in meeting:
        error = each.beyond if each.span > TIED else abs(each.outcome.error)
        assert error <= worst, told(meeting)
    if meeting:
        assert median(abs(each.outcome.error) for each in meeting) <= middle, told(meeting)


@pytest.mark.slow
def test_a_few():
    """A quick look; `make truth` compares all."""
    results = results_of(programs=("laplace", "pipeline"), procs=(1, 8, 64))
    assert_within_bounds(results)
    assert min(each.share for each in results if each.procs == 64) > 0.5


@pytest.mark.parametrize(
    ("program", "procs", "reading"),
    [
        ("lfk01", 16, "ring"),
        ("redblack", 7, "bus"),
        pytest.param("laplace_bb", 32, "half duplex", marks=pytest.mark.truth),
        pytest.param("redblack", 48, "mesh", marks=pytest.mark.truth),
    ],
)
def test_messages_that_meet(program, procs, reading):
    """Where processors run ahead into the next operation, too (a bus)."""
    result = compare(program, procs, reading)
    assert result.outcome.contended
    assert abs(result.outcome.error) < MEETING_MEDIAN, result


def test_page_tells_of_every_benchmark():
    page = ACCURACY.read_text(encoding="utf-8")
    strangers = [name for name in program_names() if f"| `{name}` |" not in page]
    assert not strangers, "python -m tests.truth.write_accuracy programs readings"


@pytest.mark.truth
@pytest.mark.parametrize("reading", READINGS)
def test_every_benchmark(reading):
    results = results_of(reading)
    assert {each.program for each in results} == set(PROGRAMS)
    assert {each.procs for each in results} == set(PROCS)
    assert_within_bounds(results, reading)
    assert readings_row(reading) in ACCURACY.read_text(encoding="utf-8")
    if reading == "as described":
        rows = [programs_row(name) for name in PROGRAMS]
        assert not [row for row in rows if row not in ACCURACY.read_text(encoding="utf-8")]
