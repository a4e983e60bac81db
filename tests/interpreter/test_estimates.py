"""First estimates of long loops whose iterations differ, held against walks of all iterations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from esp import api
from esp.output.figures import first
from interpreter.models.sampled import SAMPLED, WORTH, chosen, iterations

FEW = 4

CARRIED = """\
program carried
  integer :: i, k, m
  double precision :: a(512)
!HPF$ PROCESSORS p(4)
!HPF$ DISTRIBUTE a(BLOCK) ONTO p
  m = 2
  do k = 1, 100
    m = m + k / 25
    forall (i = m:512) a(i) = a(i-1)
  end do
end program carried
"""

TWICE = """\
program twice
  integer :: i, k, r
  double precision :: a(512)
!HPF$ PROCESSORS p(4)
!HPF$ DISTRIBUTE a(BLOCK) ONTO p
  do r = 1, 5
    do k = 2, 201
      forall (i = k:512) a(i) = a(i-1) + 1.0d0
    end do
  end do
end program twice
"""


def _both(source, procs=4, **values):
    """The estimate, and the prediction."""
    read, machine = api.read_source(source), api.load_machine("ipsc860")
    request = api.requested(procs, **values)
    return [
        api.interpret_stages(api.lower_source(read, machine, request), machine, request, few=few) for few in (FEW, 0)
    ]


def _said(found):
    return [each.text for each in found.assumptions if each.code == SAMPLED]


@given(trips=st.integers(WORTH * FEW, 3000), few=st.integers(1, 6), data=st.data())
@settings(max_examples=60, deadline=None)
def test_the_chosen_iterations_sum_polynomials_as_all_iterations_do(trips, few, data):
    number, stands_for = chosen(trips, few)
    power = data.draw(st.integers(0, few - 1))
    middle = (trips - 1) / 2
    everyone = ((np.arange(trips) - middle) / trips) ** power
    assert (everyone[number] * stands_for).sum() == pytest.approx(everyone.sum(), rel=1e-9, abs=1e-9 * trips)
    assert (stands_for > 0).all()


@given(trips=st.integers(WORTH * FEW, 3000))
@settings(max_examples=60, deadline=None)
def test_each_that_stands_for_others_comes_behind_its_predecessor(trips):
    walked = iterations(trips, FEW)
    numbers = list(walked)
    assert numbers == sorted(set(numbers))
    assert len(numbers) == 2 * FEW
    assert 0 <= numbers[0] <= numbers[-1] < trips
    assert sum(walked.values()) == pytest.approx(trips)
    assert [numbers[at + 1] - numbers[at] for at in range(0, len(numbers), 2)] == [1] * FEW


@pytest.mark.parametrize(
    ("procs", "n", "within"), [(1, 64, 0.03), (3, 100, 0.03), (4, 96, 0.03), (7, 64, 0.06), (16, 64, 0.03)]
)
def test_an_elimination_is_met_within_a_few_percent(procs, n, within):
    """On 7 processors, no subcube, some roots take longer than others, and few of them are looked at."""
    estimate, whole = _both("gauss", procs, n=n)
    assert first(estimate.time_s) == pytest.approx(first(whole.time_s), rel=within)
    for mine, all_of_it in zip(estimate.lines, whole.lines, strict=True):
        expected = first(all_of_it.parts.time_s)
        assert first(mine.parts.time_s) == pytest.approx(expected, abs=within * first(whole.time_s))
    assert estimate.iterations == whole.iterations
    assert (estimate.iterations_walked, whole.iterations_walked) == (2 * FEW, n - 1)
    assert _said(estimate) == [f"8 of the {n - 1} iterations of do k = 1, n - 1 stand for all: a first estimate"]
    assert not _said(whole)


def test_the_parts_of_an_estimate_add_up():
    estimate, _ = _both("gauss", 8, n=64)
    parts = estimate.parts
    assert first(parts.computation_s + parts.communication_s + parts.overhead_s + parts.waiting_s) == pytest.approx(
        first(estimate.time_s), rel=1e-9
    )


def test_scenarios_are_estimated_each_by_itself():
    together, _ = _both("gauss", 4, n=64, bandwidth=[1.0, 4.0])
    alone = [_both("gauss", 4, n=64, bandwidth=each)[0] for each in (1.0, 4.0)]
    assert together.time_s == pytest.approx([first(each.time_s) for each in alone], rel=1e-9)


@pytest.mark.parametrize("source", ["laplace_bb", "pipeline", CARRIED])
def test_what_repeats_and_what_carries_values_on_is_predicted_as_ever(source):
    estimate, whole = _both(source)
    assert first(estimate.time_s) == first(whole.time_s)
    assert estimate.iterations_walked == whole.iterations_walked
    assert not _said(estimate)


def test_a_loop_inside_another_one_is_estimated_each_time():
    estimate, whole = _both(TWICE)
    assert first(estimate.time_s) == pytest.approx(first(whole.time_s), rel=0.03)
    assert estimate.iterations_walked < whole.iterations_walked / 4
    assert estimate.iterations == whole.iterations


def test_whoever_wants_every_iteration_gets_it():
    estimate, whole = _both("gauss", 4, n=64, unroll=True)
    assert first(estimate.time_s) == first(whole.time_s)
