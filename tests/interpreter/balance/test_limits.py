"""The largest start-up and the least grain that keep a utilisation, against searches by the definition of speedup.

The searches write down both times themselves. They share no formula with the closed forms.
"""

from math import inf, log2

import numpy as np
import pytest
from msgspec.structs import replace

from interpreter.balance.limits import grain, grain_of, highest_utilisation, largest_startup, least_grain
from interpreter.balance.model import Costs, Workload

DRAWS = 300


def searched(reached, high=1e30):
    """The largest number at which a falling condition holds, by halving."""
    low = 0.0
    for _ in range(400):
        middle = (low + high) / 2
        low, high = (middle, high) if reached(middle) else (low, middle)
    return low


def seconds(work, costs, p, t_phi=1e-7):
    """Both times from their definition, in seconds: (one processor, p processors)."""
    operation, miss, startup = (t_phi * each for each in (costs.operation, costs.miss, costs.startup))
    alone = operation * work.sequential + operation * work.parallel + miss * work.misses
    together = operation * work.sequential + operation * work.loops
    together += operation * work.parallel / p + miss * work.misses / p
    if p > 1:
        together += startup * work.startups(p)
    return alone, together


def drawn(rng):
    """Random work, costs, processors and utilisation; start-ups by any law."""
    powers = rng.uniform(0, 5, 4)
    factor, a, b, c = rng.uniform(0.1, 100), *rng.uniform(0, 2, 3)
    work = Workload(
        sequential=float(rng.choice([0, 10 ** powers[0]])),
        parallel=float(100 * 10 ** powers[1]),
        misses=float(rng.choice([0, 10 ** powers[2]])),
        loops=float(rng.choice([0, 10 ** powers[3] / 100])),
        startups=lambda p: factor * (a + b * log2(p) + c * p),
    )
    costs = Costs(
        operation=float(rng.uniform(0.5, 30)), miss=float(rng.uniform(0, 100)), startup=float(10 ** rng.uniform(0, 5))
    )
    return work, costs, int(rng.integers(2, 500)), float(rng.uniform(0.01, 0.99))


def test_the_largest_start_up_is_that_of_a_search():
    rng = np.random.default_rng(15)
    outcomes = {True: 0, False: 0}
    for _ in range(DRAWS):
        work, costs, p, least = drawn(rng)

        def reached(startup, work=work, costs=costs, p=p, least=least):
            alone, together = seconds(work, replace(costs, startup=startup), p)
            return alone / together / p >= least

        found = largest_startup(work, costs, p, least)
        outcomes[reached(0.0)] += 1
        if reached(0.0):
            assert found == pytest.approx(searched(reached), rel=1e-9, abs=1e-9)
        else:
            assert found < 0
    assert min(outcomes.values()) > DRAWS // 10


def test_the_least_grain_is_that_of_a_search():
    rng = np.random.default_rng(16)
    for _ in range(DRAWS):
        work, costs, p, least = drawn(rng)

        def missed(factor, work=work, costs=costs, p=p, least=least):
            more = replace(work, parallel=work.parallel * factor, misses=work.misses * factor)
            alone, together = seconds(more, costs, p)
            return alone / together / p < least

        factor = searched(missed)
        expected = (work.sequential + factor * work.parallel) / (p * work.startups(p))
        assert least_grain(work, costs, p, least) == pytest.approx(expected, rel=1e-9)


def test_theorem_3_1_is_the_case_of_neighbours_and_one_half():
    rng = np.random.default_rng(17)
    for _ in range(DRAWS):
        work, costs, p, _ = drawn(rng)
        communications = float(rng.uniform(1, 1000))
        work = replace(work, startups=lambda _, x=communications: x)
        c_phi, c_m, x_s, x_p, x_m = costs.operation, costs.miss, work.sequential, work.parallel, work.misses
        printed = c_phi * (x_s + x_p) + c_m * x_m - (p - 1) * c_phi * x_s - p * c_phi * work.loops
        printed /= p * communications
        assert largest_startup(work, costs, p, 0.5) == pytest.approx(printed, rel=1e-12, abs=1e-9)


def test_the_closed_form_by_sympy():
    """The speedup is solved for C_c, with any X(p)."""
    import sympy

    c_phi, c_m, c_c, x_s, x_p, x_m, x_l, x, p, u = sympy.symbols("phi m c s sp xm l x p u", positive=True)
    alone = c_phi * (x_s + x_p) + c_m * x_m
    together = c_phi * x_s + (c_phi * x_p + c_m * x_m) / p + c_c * x + c_phi * x_l
    (solved,) = sympy.solve(sympy.Eq(alone / together / p, u), c_c)
    rng = np.random.default_rng(18)
    for _ in range(20):
        work, costs, number, least = drawn(rng)
        values = {
            c_phi: costs.operation, c_m: costs.miss, x_s: work.sequential, x_p: work.parallel, x_m: work.misses,
            x_l: work.loops, x: work.startups(number), p: number, u: least,
        }  # fmt: skip
        assert largest_startup(work, costs, number, least) == pytest.approx(float(solved.subs(values)), rel=1e-9)
    theorem = (alone - (p - 1) * c_phi * x_s - p * c_phi * x_l) / (p * x)
    assert sympy.simplify(solved.subs(u, sympy.Rational(1, 2)) - theorem) == 0


def test_special_cases_that_follow_from_the_theorem():
    costs = Costs(operation=3.0, miss=0.0, startup=0.0)
    for p in (4, 16, 100):
        # Equation 3.1 without memory and loops: X_p must exceed p X_s, exactly (p - 2) X_s
        for parallel, possible in ((100.0 * p, True), (100.0 * (p - 2) - 1, False)):
            work = Workload(sequential=100, parallel=parallel, misses=0, loops=0, startups=lambda _: 1.0)
            assert (largest_startup(work, costs, p, 0.5) > 0) is possible
        # without sequential work: the grain must be larger than the cost of a communication
        work = Workload(sequential=0, parallel=9000, misses=0, loops=0, startups=lambda _: 5.0)
        assert largest_startup(work, costs, p, 0.5) == pytest.approx(3 * 9000 / (p * 5))


def test_a_poor_compiler_and_a_slow_memory_bear_higher_start_ups():
    work = Workload(sequential=0, parallel=9000, misses=100, loops=1, startups=lambda _: 5.0)
    base = Costs(operation=3.0, miss=10.0, startup=0.0)
    least = largest_startup(work, base, 8, 0.5)
    assert largest_startup(work, replace(base, operation=6.0), 8, 0.5) > least
    assert largest_startup(work, replace(base, miss=20.0), 8, 0.5) > least


def test_without_communication():
    work = Workload(sequential=10, parallel=100, misses=0, loops=0, startups=lambda _: 0.0)
    costs = Costs(operation=1.0, miss=0.0, startup=1e9)
    assert largest_startup(work, costs, 4, 0.5) == inf
    assert largest_startup(work, costs, 4, 0.95) == -inf
    assert grain(work, 4) == inf
    assert least_grain(work, costs, 4, 0.5) == 0
    assert highest_utilisation(work, costs, 4) == pytest.approx(110 / 140)


def test_nothing_that_can_grow():
    work = Workload(sequential=10, parallel=0, misses=0, loops=0, startups=lambda _: 1.0)
    assert least_grain(work, Costs(operation=1, miss=0, startup=1), 4, 0.5) == inf


def test_grain_on_the_machines_of_section_3_4():
    """Start-ups of 470 and 5280 cycles, one cycle for an operation: 50 % needs as many operations as cycles."""
    assert grain_of(1.0, 470, 0.5) == 470
    assert grain_of(1.0, 5280, 0.5) == 5280
    assert grain_of(1.0, 5280, 0.8) == pytest.approx(4 * 5280)


@pytest.mark.parametrize("least", [0.0, 1.0, -0.5, 50.0, float("nan")])
def test_a_utilisation_lies_between_0_and_1(least):
    work = Workload(sequential=0, parallel=100, misses=0, loops=0, startups=lambda _: 1.0)
    for limit in (largest_startup, least_grain):
        with pytest.raises(ValueError, match="not a utilisation"):
            limit(work, Costs(operation=1, miss=0, startup=1), 4, least)
