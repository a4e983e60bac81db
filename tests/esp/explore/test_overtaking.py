"""Where another program, distribution or machine overtakes, against predictions made one by one."""

from math import log

import numpy as np
import pytest

import esp as api
from esp.api import load_machine, read_source
from esp.errors import UsageError
from esp.explore.overtaking import Contestant, _about, _range, overtaking
from esp.request import requested
from interpreter.scalability.crossing import crossing


def _one(label, program="laplace.hpf", system="ipsc860", **options):
    return Contestant(
        label=label, source=read_source(program), system=load_machine(system), request=requested(None, **options)
    )


FIRST = {"n": 48, "k": 4}
SECOND = {**FIRST, "distribute": "(*,BLOCK)"}


def test_rows_are_predictions_and_a_crossing_is_where_their_order_changes():
    procs = [2, 4, 8, 16, 32]
    found = overtaking(_one("a", **FIRST), _one("b", **SECOND), procs)
    for row in found.rows:
        assert row.size == 48
        assert row.first_s == api.predict("laplace.hpf", procs=row.processors, **FIRST).time_s
        assert row.second_s == api.predict("laplace.hpf", procs=row.processors, **SECOND).time_s
        assert row.faster is not None
        assert 0 <= row.faster <= 1
    order = [row.second_s < row.first_s for row in found.rows]
    changes = [(procs[at], procs[at + 1]) for at in range(len(procs) - 1) if order[at] != order[at + 1]]
    assert [(each.last, each.first) for each in found.crossings] == changes
    assert changes, "the two cross"
    for each in found.crossings:
        assert each.last <= each.about <= each.first
        assert each.second == order[procs.index(each.first)]


@pytest.mark.truth
def test_the_other_way_round_it_is_the_same_crossing():
    one, other = _one("a", **FIRST), _one("b", **SECOND)
    there, back = (overtaking(first, second, [4, 8, 16, 32]) for first, second in ((one, other), (other, one)))
    assert [(each.last, each.first, each.second) for each in there.crossings] == [
        (each.last, each.first, not each.second) for each in back.crossings
    ]
    assert [each.about for each in there.crossings] == pytest.approx([each.about for each in back.crossings])
    assert there.inside == pytest.approx(back.inside, abs=0.02)


def test_nobody_overtakes_who_is_always_ahead():
    slow = _one("slow", **FIRST, processor_speed="x0.5")
    found = overtaking(slow, _one("fast", **FIRST), [1, 2, 4])
    assert found.crossings == ()
    assert [row.faster for row in found.rows] == [1.0, 1.0, 1.0]
    assert (found.inside, found.before) == (0.0, 0.0), "the slow one never overtakes"


@pytest.mark.truth
def test_work_grows_with_the_processors():
    found = overtaking(_one("a", **FIRST), _one("b", **SECOND), [1, 2, 4, 8], growth="work")
    works = [
        sum(api.predict("laplace.hpf", procs=1, **{**FIRST, "n": row.size}).counts.flops().values())
        for row in found.rows
    ]
    below = [
        sum(api.predict("laplace.hpf", procs=1, **{**FIRST, "n": row.size - 1}).counts.flops().values())
        for row in found.rows
    ]
    for row, work, less in zip(found.rows, works, below, strict=True):
        assert less < works[0] * row.processors <= work


@pytest.mark.truth
def test_the_size_that_keeps_the_speed_is_that_of_esp_scalability():
    found = overtaking(_one("a", **FIRST), _one("b", **SECOND), [2, 4], growth="speed")
    scaled = api.scalability("laplace.hpf", procs=[2, 4], **FIRST)
    assert found.rows[1].size == scaled.runs[1].size


def test_the_crossing_of_two_laws_is_found_within_the_bracket():
    """The point on the line between logarithms, and the bisection of the laws themselves (the article's sidebar)."""

    def first(p):
        return 100.0 / p + 0.5 * p**0.5

    def second(p):
        return 120.0 / p + 0.2

    exact = crossing(first, second, 1.0, 1024.0)
    errors = []
    for step in (2.0, 2.0**0.25, 2.0**0.0625):
        rows = [step**at for at in range(round(log(1024.0) / log(step)) + 1)]
        ratios = [log(second(p) / first(p)) for p in rows]
        at = next(at for at in range(1, len(rows)) if ratios[at] < 0)
        found = _about(rows[at - 1], rows[at], ratios[at - 1], ratios[at])
        assert rows[at - 1] <= exact <= rows[at]
        assert rows[at - 1] <= found <= rows[at]
        errors.append(abs(found / exact - 1))
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-3


def test_scenarios_bracket_where_they_cross():
    """Ratios that cross 1 at known places, and some that never do."""
    procs = [1, 2, 4, 8]
    places = np.array([1.5, 3.0, 6.0, 100.0, 0.1])
    times = [(np.ones(5), (places / p)) for p in procs]
    low, high, inside, before = _range(procs, times, 1.0)
    assert (inside, before) == (0.6, 0.2)
    assert low == pytest.approx(np.quantile([1.5, 3.0, 6.0], 0.05))
    assert high == pytest.approx(np.quantile([1.5, 3.0, 6.0], 0.95))


def test_wrong_use():
    one = _one("a", **FIRST)
    with pytest.raises(UsageError, match="several numbers of processors"):
        overtaking(one, one, [4])
    with pytest.raises(UsageError, match="must rise"):
        overtaking(one, one, [4, 2])


def test_ties_are_no_crossings_and_the_error_holds_without_scenarios(monkeypatch):
    """Two that differ by less than the model error never overtake each other, tried or not."""
    import esp.explore.overtaking as module

    one, other = _one("a", **FIRST), _one("b", **FIRST, processor_speed="x1.004")
    for walked in (500, 0):
        monkeypatch.setattr(module, "_WALKED", walked)
        found = overtaking(one, other, [1, 2, 4])
        assert all(row.ties for row in found.rows)
        assert all(row.error >= 0.02 for row in found.rows)
        assert found.crossings == ()


def test_who_is_behind_would_make_the_crossing():
    """The second is ahead all the time; the scenarios say in how many the first overtakes."""
    procs = [1, 2, 4]
    ratios = np.array([[0.9, 0.9, 1.1], [0.95, 1.2, 1.1], [0.8, 1.3, 1.2]])
    times = [(np.ones(3), row) for row in ratios]
    low, high, inside, always = _range(procs, times, -1.0)
    crossed = [column for column in ratios.T if column[0] < 1 < column[-1]]
    assert inside == pytest.approx(len(crossed) / 3)
    assert always == pytest.approx(np.mean([(column > 1).all() for column in ratios.T]))
    assert low is not None
    assert procs[0] <= low <= high <= procs[-1]


def test_the_last_of_several_crossings_is_the_one_that_is_ranged():
    procs = [1, 2, 4, 8]
    times = [(np.ones(2), np.array(row)) for row in ([1.2, 1.2], [0.9, 0.8], [1.1, 1.2], [0.7, 0.9])]
    low, high, inside, _ = _range(procs, times, 1.0)
    assert inside == 1.0
    assert 4 <= low <= high <= 8
