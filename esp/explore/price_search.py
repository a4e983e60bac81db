"""The point with the most performance per dollar: a search over times and prices (M. Clement, section 6.2.1).

The search knows nothing of programs. A time is given for factors of some variables, a price for their values. What is
minimised is time x price, over the logarithms of the factors: a grid over the whole range, then smaller and smaller
grids around its lowest points. Times are piecewise linear: at their kinks a grid is
safer than a gradient.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import product

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from esp.errors import UsageError

Floats = NDArray[np.float64]
Times = Callable[[Floats], Floats]
"""Factors of the variables (S, K) -> seconds (S,)."""
Price = Callable[[Mapping[str, float]], float]
"""Values of the variables -> dollars."""

WIDE = 256.0
"""By which factor a variable may differ from the machine's value, unless limits are given."""
_COARSE = {1: 33, 2: 13, 3: 7}
"""Number of variables -> points of the first grid, in each direction."""
_FINE = 3
"""Points of a finer grid to each side."""
_SHRINK = 2.2
"""How much smaller the next grid is; less than _FINE, so that neighbouring grids overlap."""
_CLOSE = 1e-4
"""Half the width of the last grid, as a logarithm."""
_STARTS = 3
"""Lowest points of the first grid that are followed."""
_STEP = 0.05
"""Relative step of second derivatives."""
_SAMPLES = 5
"""Points at which the theorem is tried, in each direction."""
_FLAT = 1e-6
"""Eigenvalue, relative to the largest, that counts as 0."""


class SearchSpace(Struct, frozen=True, kw_only=True):
    """What is searched. `now`: values that a factor of 1 stands for; `limits`: least and largest values."""

    names: tuple[str, ...]
    now: Mapping[str, float]
    limits: Mapping[str, tuple[float, float]]
    fixed: Mapping[str, float]
    """Other variables of the price."""

    def bounds(self) -> Floats:
        """(K, 2) logarithms of factors."""
        ends = [[each / self.now[name] for each in self.limits[name]] for name in self.names]
        logs: Floats = np.log(np.reshape(ends, (-1, 2)))
        return logs

    def values(self, logs: Floats) -> dict[str, float]:
        """The variables of the price at logarithms of factors (K,)."""
        return {
            **self.fixed,
            **{name: self.now[name] * float(np.exp(at)) for name, at in zip(self.names, logs, strict=True)},
        }


class PricePoint(Struct, frozen=True, kw_only=True):
    """A machine. `time_shares`: elasticities of the time; `price_shares`: those of the price, with the other sign. At a
    best point inside the limits both are equal (first-order condition)."""

    values: Mapping[str, float]
    time_s: float
    dollars: float
    time_shares: Mapping[str, float]
    price_shares: Mapping[str, float]
    limits: tuple[str, ...] = ()
    """Variables that lie at their limit."""

    @property
    def cost(self) -> float:
        """Seconds x dollars, which are minimised."""
        return self.time_s * self.dollars


class Curvature(Struct, frozen=True, kw_only=True):
    """At how many of some points the premises of Theorem 6.1 hold, by the signs of the Hessians' eigenvalues in the
    speeds 1/beta: the price is convex, the performance concave."""

    points: int
    convex: int
    concave: int

    @property
    def is_unimodal(self) -> bool:
        """Whether they hold at all of them."""
        return self.points > 0 and self.convex == self.concave == self.points


def cheapest(space: SearchSpace, times: Times, price: Price) -> tuple[PricePoint, int]:
    """The best point, and how many minima the first grid has.

    Raises:
        UsageError: the price has no value anywhere.
    """
    bounds = space.bounds()
    if not len(space.names):
        return point_at(space, np.zeros(0), times, price), 1
    axes = [np.linspace(low, high, _COARSE[len(bounds)]) for low, high in bounds]
    grid = np.array(list(product(*axes)))
    costs = _costs(space, grid, times, price).reshape([each.size for each in axes])
    if not np.isfinite(costs).any():
        raise UsageError("the price has no value within the limits.", where="--price", hint="Look at its formula.")
    minima = _minima(costs)
    minima.sort(key=lambda at: costs[at])
    spacing = np.array([each[1] - each[0] if each.size > 1 else 0.0 for each in axes])
    found = [
        _followed(space, np.array([axis[at] for axis, at in zip(axes, place, strict=True)]), spacing, times, price)
        for place in minima[:_STARTS]
    ]
    best = min(found, key=lambda each: each[0])
    return point_at(space, best[1], times, price), len(minima)


def _costs(space: SearchSpace, logs: Floats, times: Times, price: Price) -> Floats:
    dollars = np.array([_priced(price, space.values(each)) for each in logs])
    return np.asarray(times(np.exp(logs)) * dollars, dtype=np.float64)


def _priced(price: Price, values: Mapping[str, float]) -> float:
    """Dollars; infinitely many where the formula grows beyond all numbers."""
    try:
        return price(values)
    except UsageError:
        return float("inf")


def _minima(costs: Floats) -> list[tuple[int, ...]]:
    """Places of a grid that are lower than all neighbours; of several equal ones the first."""
    padded = np.pad(costs, 1, constant_values=np.inf)
    lower = np.isfinite(costs)
    for shift in product((-1, 0, 1), repeat=costs.ndim):
        if any(shift):
            window = tuple(slice(1 + by, 1 + by + size) for by, size in zip(shift, costs.shape, strict=True))
            lower &= costs <= padded[window] if shift > (0,) * costs.ndim else costs < padded[window]
    return [tuple(int(each) for each in at) for at in np.argwhere(lower)]


def _followed(space: SearchSpace, logs: Floats, spacing: Floats, times: Times, price: Price) -> tuple[float, Floats]:
    """Cost and place of the minimum near a point of the grid."""
    bounds, half, cost = space.bounds(), spacing, np.inf
    while half.max() > _CLOSE:
        steps = np.array(list(product(np.linspace(-1.0, 1.0, 2 * _FINE + 1), repeat=len(bounds))))
        around = np.clip(logs + steps * half, bounds[:, 0], bounds[:, 1])
        costs = _costs(space, around, times, price)
        at = int(costs.argmin())
        logs, cost, half = around[at], float(costs[at]), half / _SHRINK
    return cost, logs


def point_at(space: SearchSpace, logs: Floats, times: Times, price: Price) -> PricePoint:
    """The machine at logarithms of factors (K,), with its first-order condition."""
    count, step = len(space.names), 1e-3
    steps = np.concatenate([np.zeros((1, count)), step * np.eye(count), -step * np.eye(count)])
    seconds = times(np.exp(logs + steps))
    dollars = np.array([price(space.values(each)) for each in logs + steps])
    slope = [(np.log(each[1 : 1 + count]) - np.log(each[1 + count :])) / (2 * step) for each in (seconds, dollars)]
    bounds = space.bounds()
    ends = [name for name, at, (low, high) in zip(space.names, logs, bounds, strict=True) if at <= low or at >= high]
    return PricePoint(
        values=space.values(logs),
        time_s=float(seconds[0]),
        dollars=float(dollars[0]),
        time_shares=dict(zip(space.names, map(float, slope[0]), strict=True)),
        price_shares=dict(zip(space.names, (-slope[1]).tolist(), strict=True)),
        limits=tuple(ends),
    )


def curvature(space: SearchSpace, times: Times, price: Price) -> Curvature:
    """Try the premises of Theorem 6.1 at points all over the range, in speeds r = 1/beta: in beta itself a price that
    falls with it can be convex while the performance is not concave."""
    count = len(space.names)
    if not count:
        return Curvature(points=0, convex=0, concave=0)
    axes = [np.linspace(low, high, _SAMPLES + 2)[1:-1] for low, high in space.bounds()]
    centres = np.array(list(product(*axes)))
    stencil = np.array(list(product((-1, 0, 1), repeat=count)))
    speeds = np.exp(-centres)[:, None, :] * (1.0 + _STEP * stencil[None, :, :])
    flat = speeds.reshape(-1, count)
    dollars = np.array([_priced(price, space.values(each)) for each in -np.log(flat)])
    speed = 1.0 / times(1.0 / flat)
    shape = (len(centres), *([3] * count))
    prices, performances = dollars.reshape(shape), speed.reshape(shape)
    known = np.isfinite(prices).reshape(len(centres), -1).all(axis=1)
    convex = [_signs(each)[0] >= 0 for each in prices[known]]
    concave = [_signs(each)[1] <= 0 for each in performances[known]]
    return Curvature(points=int(known.sum()), convex=sum(convex), concave=sum(concave))


def _signs(stencil: Floats) -> Sequence[int]:
    """Signs of the least and the greatest eigenvalue of the Hessian in the middle of a stencil, in relative steps."""
    count, middle = stencil.ndim, (1,) * stencil.ndim
    hessian = np.empty((count, count))

    def at(*moves: tuple[int, int]) -> float:
        place = list(middle)
        for axis, by in moves:
            place[axis] += by
        return float(stencil[tuple(place)])

    for i, j in product(range(count), repeat=2):
        if i == j:
            hessian[i, i] = at((i, 1)) - 2.0 * at() + at((i, -1))
        else:
            both, apart = at((i, 1), (j, 1)) + at((i, -1), (j, -1)), at((i, 1), (j, -1)) + at((i, -1), (j, 1))
            hessian[i, j] = (both - apart) / 4.0
    values = np.linalg.eigvalsh(hessian)
    small = _FLAT * abs(at())
    return [int(np.sign(each)) if abs(each) > small else 0 for each in (values[0], values[-1])]
