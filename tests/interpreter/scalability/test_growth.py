"""The size at which Equation 2 holds: against a model in which it is known."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interpreter.scalability.growth import balanced_size, required_share
from interpreter.scalability.isospeed import average_speed


@given(st.floats(1e-6, 1e3), st.floats(0.1, 3), st.floats(3, 1e4), st.floats(1.1, 9))
def test_a_power_is_found_from_two_sizes(factor, power, size, ratio):
    found = balanced_size([size, ratio * size], [factor * each**-power for each in (size, ratio * size)])
    assert found == pytest.approx(factor ** (1 / power), rel=1e-6)


@pytest.mark.parametrize("shares", [[1.0, 1.0], [1.0, 2.0]])
def test_overhead_may_grow_as_fast_as_work(shares):
    assert balanced_size([8, 16], shares) is None


@given(st.integers(1, 1000), st.floats(1e3, 1e12), st.floats(1e-9, 1e-6), st.floats(0.01, 0.99), st.floats(0.01, 100))
def test_a_share_of_1_keeps_the_speed(processors, work, rate, fraction, scale):
    """The share is below 1 exactly where the run is faster."""
    speed = fraction / rate
    needed_s = work / (processors * speed)
    time_s = work * rate / processors + scale * (needed_s - work * rate / processors)
    share = required_share(speed, work, processors, time_s, rate)
    assert share == pytest.approx(scale, rel=1e-6)
    if abs(scale - 1) > 1e-3:
        assert (share < 1) == (average_speed(work, processors, time_s) > speed)


def test_householder_of_the_article():
    """Equation 12 from times by Equation 9, two sizes and their overhead alone."""
    tau, beta, speed, processors = 0.18e-6, 3.37e-6, 3.25e6, 8

    def work(n):
        return 2 * n**3 + 3 * n**2

    def time_s(n):
        return (2 * n**3 / processors + 3 * n**2) * tau + n**2 * beta

    sizes = [115.0, 120.0]
    found = balanced_size(sizes, [required_share(speed, work(n), processors, time_s(n), tau) for n in sizes])
    exact = (3 * speed * tau * processors + speed * beta * processors - 3) / (2 * (1 - speed * tau))
    assert found == pytest.approx(exact, rel=1e-4)
