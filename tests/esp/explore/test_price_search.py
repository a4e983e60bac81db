"""The search for the most performance per dollar, against Clement's table, closed forms and a plain grid."""

from itertools import product

import numpy as np
import pytest

from esp.explore.best_machine import PRICE, price_of
from esp.explore.price_search import SearchSpace, cheapest, curvature, point_at

THESIS = price_of(PRICE.replace("p*", "", 1))


def _space(names, now, limits, **fixed):
    return SearchSpace(names=names, now=now, limits=limits, fixed={"p": 1.0, "startup": 1.0, **fixed})


LIMITS = {"ops": (5.0, 1000.0), "bw": (100.0, 20000.0)}
"""Clement's rows end at 20,000 ns a byte."""


@pytest.mark.parametrize(
    ("ops", "cache", "bw", "shares"),
    [
        (18.0, 21310.0, 851.0, {"ops": 0.247, "bw": 0.752}),
        (16.0, 5090.0, 1751.0, {"ops": 0.622, "bw": 0.333}),
        (16.0, 12030.0, 3181.0, {"ops": 0.720, "bw": 0.178}),
        (15.0, 2390.0, 20000.0, {"ops": 1.116}),
    ],
)
def test_shares_of_the_price_in_his_table(ops, cache, bw, shares):
    """Table 6.3: Gauss, Matrix, Shallow and Jacobi, by the first-order condition."""
    space = _space(("ops", "bw"), {"ops": ops, "bw": bw}, {"ops": (1.0, 1e3), "bw": (1.0, 1e5)}, cache=cache)
    found = point_at(space, np.zeros(2), lambda factors: factors.sum(axis=1), THESIS)
    for name, share in shares.items():
        assert found.price_shares[name] == pytest.approx(share, abs=1.1e-3)


def test_a_time_of_operations_alone_has_his_optimum():
    """Jacobi, Layer, Ocean: 15.37 ns, printed as 15, and the cheapest network that he tried."""
    space = _space(("ops", "bw"), {"ops": 100.0, "bw": 1000.0}, LIMITS, cache=2390.0)
    found, minima = cheapest(space, lambda factors: factors[:, 0], THESIS)
    assert found.values["ops"] == pytest.approx(15.37, abs=0.005)
    assert found.limits == ("bw",)
    assert found.values["bw"] == pytest.approx(20000.0)
    assert minima == 1


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_at_the_optimum_shares_of_time_and_price_are_equal(share):
    space = _space(("ops", "bw"), {"ops": 100.0, "bw": 1000.0}, LIMITS, cache=8192.0)

    def times(factors):
        return share * factors[:, 0] + (1.0 - share) * factors[:, 1]

    found, _ = cheapest(space, times, THESIS)
    for name in ("ops", "bw"):
        assert found.time_shares[name] == pytest.approx(found.price_shares[name], abs=2e-4)
    assert curvature(space, times, THESIS).is_unimodal


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(12))
def test_no_point_of_a_fine_grid_is_better(seed):
    """Random maxima of sums, as waiting makes them, and random prices with one to three variables."""
    random = np.random.default_rng(seed)
    names = ("ops", "bw", "startup")[: 1 + seed % 3]
    rows = random.exponential(size=(4, len(names)))
    extra = random.exponential()

    def times(factors):
        return (factors @ rows.T).max(axis=1) + extra

    text = " + ".join(f"{random.uniform(1, 900):.1f}*2**({random.uniform(1, 60):.1f}/{name})" for name in names)
    price = price_of(f"{random.uniform(1, 5e3):.1f} + {text}")
    now = {name: float(random.uniform(5, 500)) for name in names}
    limits = {name: (value / 30, value * 30) for name, value in now.items()}
    space = SearchSpace(names=names, now=now, limits=limits, fixed={})
    found, _ = cheapest(space, times, price)
    axes = [np.linspace(low, high, {1: 2001, 2: 101, 3: 25}[len(names)]) for low, high in space.bounds()]
    grid = np.array(list(product(*axes)))
    costs = times(np.exp(grid)) * np.array([price(space.values(each)) for each in grid])
    assert found.cost <= costs.min() * (1 + 1e-6)
    for name in names:
        low, high = limits[name]
        assert low * (1 - 1e-9) <= found.values[name] <= high * (1 + 1e-9)


def test_two_valleys_are_counted_and_the_deeper_one_is_taken():
    """A price with a step down in the middle of the range: neither convex nor with one optimum."""

    def price(values):
        return 100.0 * 2.0 ** (10.0 / values["ops"]) * (0.4 if values["ops"] > 60.0 else 1.0)

    space = SearchSpace(names=("ops",), now={"ops": 30.0}, limits={"ops": (1.0, 900.0)}, fixed={})
    found, minima = cheapest(space, lambda factors: factors[:, 0], price)
    assert minima == 2
    plain = np.geomspace(1.0, 900.0, 20001)
    assert found.cost <= 1.001 * min(each / 30.0 * price({"ops": each}) for each in plain)


def test_performance_is_not_concave_in_the_times_themselves():
    """Theorem 6.1 is tried in speeds: 1/t is convex in a time, so that its premise never holds there."""
    space = _space(("ops",), {"ops": 100.0}, {"ops": (10.0, 1000.0)}, cache=8192.0, bw=1000.0)
    assert curvature(space, lambda factors: factors[:, 0] + 1.0, THESIS).is_unimodal
    ops = np.array([99.0, 100.0, 101.0])
    speed = 1.0 / (ops / 100.0 + 1.0)
    assert speed[0] - 2 * speed[1] + speed[2] > 0


def test_a_price_that_is_not_convex_is_counted():
    space = SearchSpace(names=("ops",), now={"ops": 30.0}, limits={"ops": (1.0, 900.0)}, fixed={})
    found = curvature(space, lambda factors: factors[:, 0], price_of("1000 - 100*exp(-3/ops) + 10/ops**0.5"))
    assert found.convex < found.points
    assert found.concave == found.points
    assert not found.is_unimodal
