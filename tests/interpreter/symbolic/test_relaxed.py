"""Counts without their roundings, beside the counts."""

from fractions import Fraction

import pytest

from interpreter.symbolic.polynomial import ceiling, extremum, floor, name, poly, unclosed
from interpreter.symbolic.relaxed import has_roundings, relaxed

N = name("n")


def test_a_rounding_is_its_mean_over_all_remainders():
    for count in (floor(N, 4), ceiling(N, 5), floor(3 * N + 1, 7) + N, ceiling(N + ceiling(N, 2), 3)):
        smooth = relaxed(count)
        differences = [count.value({"n": n}) - smooth.value({"n": n}) for n in range(420)]
        assert abs(sum(differences)) / 420 < 0.2
        assert all(abs(each) < 1 for each in differences)
    smooth = relaxed(floor(N, 4))
    assert sum(floor(N, 4).value({"n": n}) - smooth.value({"n": n}) for n in range(400)) == 0


def test_the_leading_term_is_that_of_the_count():
    count = 2 * ceiling(N, 4) ** 2 * N - floor(N, 3) ** 3 + 5
    smooth = relaxed(count)
    assert smooth.coefficients("n")[3].constant == Fraction(2, 16) - Fraction(1, 27)
    assert count.value({"n": 10**6}) / smooth.value({"n": 10**6}) == pytest.approx(1, abs=1e-5)


def test_what_has_no_roundings_stays():
    assert relaxed(3 * N**2 - N + 1) == 3 * N**2 - N + 1
    assert relaxed(poly(7)) == poly(7)
    assert not has_roundings(3 * N**2)
    assert has_roundings(N * ceiling(N, 2))


@pytest.mark.parametrize("open_", [extremum([N, poly(8)], least=True), unclosed(name("i"), "i", poly(1), N)])
def test_minima_and_open_sums_are_refused(open_):
    assert relaxed(open_ + N) is None
    assert relaxed(floor(open_, 2)) is None
