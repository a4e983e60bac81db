"""Which of two choices is faster, and how sure that is: scenarios made by hand (Def 19)."""

import itertools
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import esp
from esp.explore.ties import Timing, certainty, faster, pair_error, ties
from esp.output.sureness import ranking, tie_of
from esp.stated import stated_error
from sag.uncertainty import SCENARIOS, quantiles

LINK, CLOCK, INTERCHANGE = "network.per_byte", "clock", "compiler interchange"


def timing(time_s, factors=None, error=0.02, quantities=(LINK, CLOCK, INTERCHANGE)):
    times = None if factors is None else time_s * np.broadcast_to(factors, SCENARIOS)
    return Timing(time_s=time_s, error=error, times_s=times, quantities=quantities)


def slow_in(count, slow, quick):
    """Factors of the scenarios, the first few of which are slow."""
    return np.where(np.arange(SCENARIOS) < count, slow, quick)


@given(st.lists(st.tuples(st.floats(1e-6, 1e3), st.floats(0, 0.2)), min_size=1, max_size=20))
def test_without_scenarios_who_ties_is_within_the_error_of_a_leader(rows):
    rows.sort()
    timings = [timing(time_s, error=error) for time_s, error in rows]
    found = ties(timings)
    leaders = [at for at, tie in enumerate(found) if tie is None]
    assert leaders[0] == 0
    for at, tie in enumerate(found):
        near = [
            each
            for each in leaders
            if each < at and rows[at][0] <= rows[each][0] * (1 + max(rows[at][1], rows[each][1]))
        ]
        assert tie == (near[0] if near else None)


def test_figures_that_both_depend_on_cancel():
    """Each time may be half or double, but the second is always 10 % longer."""
    both = 4.0 ** (quantiles(CLOCK) - 0.5)
    assert faster(timing(1.0, both), timing(1.1, both))
    assert not faster(timing(1.0, both), timing(1.1, both[::-1]))


@pytest.mark.parametrize(("behind", "sure"), [(60, False), (61, True), (64, True)])
def test_faster_is_in_95_percent_of_the_scenarios(behind, sure):
    """61 of 64 are 95.3 %, 60 are 93.8 %."""
    assert faster(timing(1.0, 1.0), timing(1.1, slow_in(behind, 1.0, 0.92))) is sure


def test_within_the_model_error_choices_are_equal():
    found = certainty([timing(1.0, 1.0), timing(1.005, 1.0), timing(1.015, 1.0), timing(1.5, 1.0)])
    assert (found.equal, found.close, found.slower, found.swaps) == ((2, 3), (), (4,), ())
    assert ranking(found) == [
        "1, 2 and 3 are equal within the model error of 2%",
        "1 is faster than 4 whatever the estimated figures are in their ranges",
    ]


def test_what_is_slower_by_about_the_error_is_too_close_to_call():
    """3 % slower as given, but within 2 % in 10 of 64 scenarios, and never faster."""
    found = certainty([timing(1.0, 1.0), timing(1.03, slow_in(10, 0.98, 1.0))])
    assert (found.equal, [each.rank for each in found.close], found.slower, found.swaps) == ((), [2], (), ())
    (call,) = found.close
    assert (call.share, call.ahead, call.quantity) == (54 / 64, 1.0, "")
    told = "1 is faster by more than the model error of 2% in 84% of the scenarios, not in 95%; the model error decides"
    assert ranking(found) == [f"1 and 2 are too close to call: {told}"]


def test_without_the_error_a_call_may_be_as_close():
    """3 % slower as given; behind in 5 of 64 scenarios and ahead in 3 by less than the model error: neither decides."""
    at = np.arange(SCENARIOS)
    found = certainty([timing(1.0, 1.0), timing(1.03, np.where(at % 16 == 3, 0.968, 1.0))])
    assert (found.close[0].share, found.close[0].ahead) == (60 / 64, 60 / 64)
    assert ranking(found)[0].endswith("in 94% of the scenarios, not in 95%; no single figure decides")


@pytest.mark.parametrize("high", [True, False])
def test_a_close_call_names_the_parameter_that_makes_both_equal(high):
    at = quantiles(LINK)
    found = certainty([timing(1.0, 1.0), timing(1.1, np.where(at > 0.75 if high else at < 0.25, 0.92, 1.0))])
    end = "upper" if high else "lower"
    where = f"equal within the model error of 2% if {LINK} is near the {end} end of its range"
    assert ranking(found) == [f"1 and 2 are too close to call: {where}"]
    assert tie_of(found, 2) == ranking(found)[0]
    assert tie_of(found, 3) == ""


@pytest.mark.parametrize("high", [True, False])
def test_choices_change_places_with_a_parameter(high):
    at = quantiles(LINK)
    other = np.where(at > 0.75 if high else at < 0.25, 0.7, 1.0)
    (swap,) = certainty([timing(1.0, 1.0), timing(1.1, other)]).swaps
    assert (swap.rank, swap.quantity, swap.way, swap.compiler) == (2, LINK, 1 if high else -1, False)
    assert swap.share == 0.25


@pytest.mark.parametrize("done", [True, False])
def test_choices_change_places_with_the_compiler(done):
    drawn = quantiles(INTERCHANGE) < 0.5
    found = certainty([timing(1.0, 1.0), timing(1.1, np.where(drawn == done, 0.7, 1.0))])
    (swap,) = found.swaps
    assert (swap.quantity, swap.way, swap.compiler) == ("interchange", 1 if done else -1, True)
    words = "interchanges loops" if done else "does not interchange loops"
    assert ranking(found) == [f"1 and 2 change places if the compiler {words}, which no source decides"]


def test_several_choices_that_change_places_are_each_said_to():
    drawn = np.where(quantiles(INTERCHANGE) < 0.5, 1.0, 0.7)
    found = certainty([timing(1.0, 1.0), timing(1.1, drawn), timing(1.5, 1.5), timing(1.6, drawn - 0.3)])
    often = "1 is faster by more than the model error in at least 95% of the scenarios"
    assert ranking(found) == [
        "1 changes places with each of 2 and 4 if the compiler does not interchange loops, which no source decides",
        f"3 does not tie with 1, though 4 does: {often}",
    ]


def test_where_no_single_parameter_decides_none_is_named():
    scattered = np.where(np.arange(SCENARIOS) % 2 == 0, 0.7, 1.0)
    found = certainty([timing(1.0, 1.0), timing(1.1, scattered)])
    assert found.swaps[0].quantity == ""
    told = "2 is faster in 50% of the scenarios; no single figure decides"
    assert ranking(found) == [f"1 and 2 change places within the ranges of the estimated figures: {told}"]


def test_far_choices_and_missing_scenarios_are_named():
    found = certainty([timing(1.0), timing(1.1), timing(1.01), *(timing(3.5 + at) for at in range(4))])
    assert found.far == (4, 5, 6, 7)
    assert not found.tried
    told = "the ranges of the estimated figures are not tried (`esp compare --interval` tries them, which takes long)"
    assert ranking(found) == [
        "1 and 3 are equal within the model error of 2%",
        f"1 is faster than 2 with the given figures; {told}",
        "1 is more than 3 times as fast as 4 to 7",
    ]
    assert ranking(certainty([timing(1.0)])) == []


def test_every_choice_is_in_one_group():
    """The choice of the source, say, is never left out because its scenarios were not tried."""
    times = [1.0, 1.01, 1.03, 1.1, 1.2, 2.0, 5.0]
    for known in itertools.product([True, False], repeat=3):
        made = [timing(1.0, 1.0)] + [
            timing(each, each * np.ones(SCENARIOS)) if known[at % 3] else timing(each)
            for at, each in enumerate(times[1:])
        ]
        found = certainty(made)
        groups = (found.equal, found.slower, found.far, found.untried)
        ranks = [rank for group in groups for rank in group] + [each.rank for each in (*found.close, *found.swaps)]
        assert sorted(ranks) == list(range(2, len(times) + 1))
        text = " ".join(ranking(found))
        assert all(re.search(rf"\b{rank}\b| to ", text) for rank in ranks)


def test_a_comparison_holds_the_same_scenarios_against_each_other():
    """Each statement, from the times of the scenarios."""
    found = esp.compare("laplace_bx", procs=4, n=32, size="none")
    first = found.ranked[0].prediction
    sure = found.certainty
    assert sure.tried
    for each in found.ranked[1:]:
        if each.rank in sure.far:
            assert each.prediction.interval is None
            continue
        ratio = each.prediction.interval.times_s / first.interval.times_s
        error = max(stated_error(first), stated_error(each.prediction))
        behind, ahead = np.mean(ratio > 1 + error), np.mean(1 / ratio > 1 + error)
        assert (each.rank in sure.slower) == (behind >= 0.95)
        assert (each.rank in [swap.rank for swap in sure.swaps]) == (behind < 0.95 and ahead > 0.05)


def test_the_error_of_a_pair_is_the_larger_one():
    assert pair_error(timing(1.0, error=0.02), timing(1.0, error=0.05)) == 0.05
