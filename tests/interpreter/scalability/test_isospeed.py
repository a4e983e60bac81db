"""Isospeed scalability: its definitions against each other, and the properties that the article states."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interpreter.scalability.crossing import crossing, first_power
from interpreter.scalability.isospeed import (
    average_speed,
    overhead,
    predicted_scalability,
    scalability,
    scaled_time,
    scaled_work,
)
from interpreter.scalability.rates import fitted_rates

WORK = st.floats(1e3, 1e12)
PROCESSORS = st.integers(1, 10_000)
RATE = st.floats(1e-10, 1e-5)
TIME = st.floats(1e-6, 1e4)
SHARE = st.floats(0.01, 0.99)
"""Of the speed of one processor without overhead."""


@given(PROCESSORS, WORK)
def test_a_system_scales_perfectly_to_itself(p, work):
    assert scalability(p, work, p, work) == pytest.approx(1)


@given(PROCESSORS, WORK, PROCESSORS, WORK, PROCESSORS, WORK)
def test_scalabilities_multiply(p, first, q, second, r, third):
    whole = scalability(p, first, r, third)
    assert scalability(p, first, q, second) * scalability(q, second, r, third) == pytest.approx(whole)


@given(PROCESSORS, PROCESSORS, WORK)
def test_without_overhead_work_grows_as_the_system_does(p, q, work):
    assert scalability(p, work, q, work * q / p) == pytest.approx(1)


@given(PROCESSORS, RATE, TIME, SHARE)
def test_the_scaled_work_keeps_the_speed(p, rate, overhead_s, share):
    speed = share / rate
    work = scaled_work(speed, p, overhead_s, rate)
    time_s = work * rate / p + overhead_s
    assert average_speed(work, p, time_s) == pytest.approx(speed)
    assert overhead(work, p, time_s, rate) == pytest.approx(overhead_s, abs=1e-9 * time_s)


@given(WORK, PROCESSORS, PROCESSORS, RATE, TIME, SHARE)
def test_equation_3_is_1_with_2(work, p, q, rate, overhead_s, share):
    speed = share / rate
    bound = scalability(p, work, q, scaled_work(speed, q, overhead_s, rate))
    assert predicted_scalability(work, p, speed, overhead_s, rate) == pytest.approx(bound)


@given(WORK, PROCESSORS, PROCESSORS, RATE, TIME, SHARE)
def test_the_time_follows_from_scalability(work, p, q, rate, overhead_s, share):
    """Equation 4, with the time that the same speed takes on both systems."""
    speed = share / rate
    more = scaled_work(speed, q, overhead_s, rate)
    psi = scalability(p, work, q, more)
    assert scaled_time(work / (p * speed), psi) == pytest.approx(more / (q * speed))


@given(WORK, PROCESSORS, RATE, TIME, SHARE, st.floats(1.01, 3))
def test_properties_1_to_3(work, p, rate, overhead_s, share, factor):
    """With W and T0' held fixed scalability rises if the speed that is kept falls, if a processor is faster, and if
    there is less overhead."""
    speed = share / rate
    psi = predicted_scalability(work, p, speed, overhead_s, rate)
    assert predicted_scalability(work, p, speed / factor, overhead_s, rate) > psi
    assert predicted_scalability(work, p, speed, overhead_s, rate / factor) > psi
    assert predicted_scalability(work, p, speed, overhead_s / factor, rate) > psi


def test_no_work_keeps_more_than_the_speed_of_one_processor():
    with pytest.raises(ValueError, match="not faster"):
        scaled_work(2e6, 4, 1.0, 0.5e-6)


@given(RATE, RATE, st.lists(st.tuples(st.floats(1, 1e6), st.floats(1, 1e6)), min_size=3, max_size=8))
def test_rates_are_found_again(first, second, amounts):
    amounts = [*amounts, (1.0, 2e6), (2e6, 1.0)]
    times = [a * first + b * second for a, b in amounts]
    assert fitted_rates(amounts, times) == pytest.approx([first, second], rel=1e-6)


@pytest.mark.parametrize("amounts", [[(1, 2)], [(1, 2), (2, 4)], [(1, 0), (2, 0)]])
def test_runs_that_do_not_tell_rates_apart_are_refused(amounts):
    with pytest.raises(ValueError, match="run"):
        fitted_rates(amounts, [1.0] * len(amounts))


@given(st.floats(1.5, 900), st.floats(0.1, 3))
def test_a_crossing_is_found(where, slope):
    found = crossing(lambda p: slope * p, lambda p: slope * where, 1, 1000)
    assert found == pytest.approx(where)
    power = first_power(lambda p: slope * p, lambda p: slope * where, 1024)
    assert power is not None
    assert power / 2 <= where < power


def test_never_is_an_answer():
    assert crossing(lambda p: 1 / p, lambda p: 1 + 1 / p, 1, 1e6) is None
    assert crossing(lambda p: 1 + 1 / p, lambda p: 1 / p, 1, 1e6) is None
    assert first_power(lambda p: 1 / p, lambda p: 1 + 1 / p, 1 << 20) is None
