"""The message law that a ping-pong table supports.

One to three ranges of sizes, in each of them

    t(m, h) = start-up + per byte * m + per hop * h

fitted by least squares on relative errors: a microsecond more is much for a message of 8 bytes and nothing for one of
a megabyte. No figure is negative.

Further ranges are believed only where chance explains them in at most one of a hundred cases: tables are made at random
from the law with fewer ranges and the scatter that it leaves, and each of them is fitted with the further ranges, too,
wherever they fit best. What the measured table gains must be more than what those gain (parametric bootstrap of the
largest F; ordinary F tests would not know that the places of the breaks were searched).
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from esp.errors import PredictionError
from esp.fit.table import PingPong

Floats = NDArray[np.float64]

MOST_RANGES = 3

MOST_SIZES = 150
"""Distinct sizes: the work grows with their square."""

_SIZES = 3
"""Distinct sizes of a range: a line through two says nothing about how good it is."""

_TABLES = 299
"""Random tables for each decision."""

_CHANCE = 0.01
_EXACT = 1e-9
"""Relative scatter below which nothing is left to explain."""

_REWEIGHED = 4
"""Rounds of weighing anew; the figures settle in two or three."""

_WORST = 0.25
"""Relative scatter (root of the mean square) above which a table supports no law."""

_SURE = 3.0
"""Standard errors by which start-up and per byte must be above zero."""


class Estimate(Struct, frozen=True):
    """A figure in SI units, and its standard error."""

    value: float
    error: float


class FittedRange(Struct, frozen=True, kw_only=True):
    """The law between the smallest and the largest size that were measured; `rms`, `worst`: relative residuals."""

    first_bytes: float
    last_bytes: float
    startup_s: Estimate
    per_byte_s: Estimate
    per_hop_s: Estimate | None
    """None where the table has one distance only: its hops are in the start-up."""
    points: int
    rms: float
    worst: float
    worst_bytes: float


class Tried(Struct, frozen=True):
    """Whether `more` ranges explain the table better than `fewer`: `gain` is the sum of squares with fewer over that
    with more, `by_chance` how many of `tables` random tables gain as much."""

    fewer: int
    more: int
    gain: float
    by_chance: int
    tables: int

    @property
    def believed(self) -> bool:
        """Whether chance is no explanation: the measured table counts as one of those that chance makes."""
        return (1 + self.by_chance) / (1 + self.tables) <= _CHANCE


class FittedLaw(Struct, frozen=True, kw_only=True, eq=False):
    """What `fit` finds. `residuals` are (law - measured) / measured for each point of the table."""

    table: PingPong
    ranges: tuple[FittedRange, ...]
    residuals: Floats
    tried: tuple[Tried, ...]

    @property
    def rms(self) -> float:
        """Relative residual, root of the mean square."""
        return float(np.sqrt(np.mean(self.residuals**2)))

    @property
    def worst(self) -> float:
        """The largest relative residual."""
        return float(np.max(np.abs(self.residuals)))


Fitted = list[tuple[Floats, NDArray[np.int64]]]
"""For 1, 2, ... ranges: the least sum of squares of each table, and the numbers of the first sizes of its ranges."""


def fit(table: PingPong) -> FittedLaw:
    """The law of a table.

    Raises:
        PredictionError: the table cannot support one, and what it lacks.
    """
    _refuse_small(table)
    pieces = _Pieces(table)
    observed = np.ones((1, table.size_bytes.size))
    best = pieces.best(observed, constrained=True)
    if not np.isfinite(best[0][0][0]):
        text = "size and distance cannot be told apart: measure several sizes at each distance."
        raise PredictionError(text, where=table.name)
    tried: list[Tried] = []
    many = 1
    while (found := _more(pieces, best, many, tried)) > many:
        many = found
    return _judged(_law(pieces, table, best[many - 1][1][0], tuple(tried)))


def _more(pieces: "_Pieces", best: Fitted, many: int, tried: list[Tried]) -> int:
    """The next number of ranges that is believed, or the same; `tried` gets what was tried.

    Two further ranges may be plain where one of them alone is not.
    """
    squares, starts = best[many - 1][0][0], best[many - 1][1][0]
    for further in range(many + 1, MOST_RANGES + 1):
        if np.sqrt(squares / pieces.design.shape[0]) < _EXACT or not np.isfinite(best[further - 1][0][0]):
            break
        gain = float(squares / max(best[further - 1][0][0], 1e-300))
        tried.append(Tried(many, further, gain, _by_chance(pieces, starts, further, gain), _TABLES))
        if tried[-1].believed:
            return further
    return many


def _refuse_small(table: PingPong) -> None:
    sizes = table.sizes_bytes
    if sizes.size > MOST_SIZES:
        hint = "Leave some out; what matters is that they spread from 0 B to a megabyte or so."
        raise PredictionError(
            f"{sizes.size} sizes are more than the limit of {MOST_SIZES}.", where=table.name, hint=hint
        )
    figures = 2 + (len(set(table.hops.tolist())) > 1)
    if sizes.size < _SIZES or table.size_bytes.size < figures + 2:
        points = f"{table.size_bytes.size} points of {sizes.size} sizes"
        text = f"{points} cannot show {figures} figures and how sure they are."
        hint = f"Measure {_SIZES} sizes or more, {figures + 2} rows or more."
        raise PredictionError(text, where=table.name, hint=hint)


class _Pieces:
    """Every run of neighbouring sizes as a candidate for a range, with its design, weighted by the measured times."""

    def __init__(self, table: PingPong) -> None:
        sizes = table.sizes_bytes
        self.count = sizes.size
        self.starts = np.searchsorted(table.size_bytes, sizes, side="left")
        self.ends = np.searchsorted(table.size_bytes, sizes, side="right")
        self.several = len(set(table.hops.tolist())) > 1
        columns = [np.ones_like(table.size_bytes), table.size_bytes] + ([table.hops] if self.several else [])
        self.design = np.stack(columns, axis=1) / table.time_s[:, None]

    def rows(self, first: int, last: int) -> slice:
        """The points of sizes number `first` to `last`."""
        return slice(int(self.starts[first]), int(self.ends[last]))

    def squares(self, targets: Floats, *, constrained: bool) -> Floats:
        """Sums of squared relative residuals: shape (sizes, sizes, tables) by first and last size, inf where
        there are too few. `targets` (tables, points): measured over measured, that is 1, or a random table over it.
        """
        cost = np.full((self.count, self.count, targets.shape[0]), np.inf)
        for first in range(self.count - _SIZES + 1):
            for last in range(first + _SIZES - 1, self.count):
                rows = self.rows(first, last)
                design = self.design[rows]
                if design.shape[0] < design.shape[1]:
                    continue
                scaled = design / np.linalg.norm(design, axis=0)
                basis, triangle = np.linalg.qr(scaled)
                if np.min(np.abs(np.diag(triangle))) < 1e-9:
                    continue
                part = targets[:, rows]
                coefficients = part @ basis
                if constrained and np.any(np.linalg.solve(triangle, coefficients[0]) < 0):
                    cost[first, last] = _nonnegative(design, part[0])[1]
                else:
                    cost[first, last] = np.sum((part - coefficients @ basis.T) ** 2, axis=1)
        return cost

    def best(self, targets: Floats, *, constrained: bool = False) -> Fitted:
        """The best ranges, for 1, 2, ... of them."""
        cost = self.squares(targets, constrained=constrained)
        tables = targets.shape[0]
        least = cost[0]
        starts = np.zeros((self.count, tables, 1), np.int64)
        found = [(least[-1], starts[-1])]
        for _ in range(1, MOST_RANGES):
            least, starts = self._one_more(cost, least, starts)
            found.append((least[-1], starts[-1]))
        return found

    def _one_more(self, cost: Floats, before: Floats, starts: NDArray[np.int64]) -> tuple[Floats, NDArray[np.int64]]:
        """Add a range behind the best ones up to each size."""
        least = np.full_like(before, np.inf)
        tables = np.arange(before.shape[1])
        longer = np.zeros((*starts.shape[:2], starts.shape[2] + 1), np.int64)
        for last in range(self.count):
            sums = before[:last] + cost[1 : last + 1, last]
            if sums.size:
                cut = np.argmin(sums, axis=0)
                least[last] = sums[cut, tables]
                longer[last] = np.concatenate([starts[cut, tables], cut[:, None] + 1], axis=1)
        return least, longer


def _nonnegative(design: Floats, target: Floats) -> tuple[Floats, float]:
    """Least squares without negative figures: the best of all choices of figures that are zero, of which there are at
    most eight. Answers figures and sum of squares."""
    best, least = np.zeros(design.shape[1]), float(np.sum(target**2))
    for many in range(1, design.shape[1] + 1):
        for chosen in combinations(range(design.shape[1]), many):
            part = design[:, chosen]
            scale = np.linalg.norm(part, axis=0)
            if np.any(scale == 0):
                continue
            found = np.linalg.lstsq(part / scale, target, rcond=None)[0] / scale
            squares = float(np.sum((part @ found - target) ** 2))
            if np.all(found >= 0) and squares < least:
                best, least = np.zeros(design.shape[1]), squares
                best[list(chosen)] = found
    return best, least


def _by_chance(pieces: _Pieces, starts: NDArray[np.int64], further: int, gain: float) -> int:
    """How many random tables of the law whose ranges start at `starts` gain as much by `further` ones as measured."""
    many = starts.size
    fitted = np.concatenate(
        [
            pieces.design[rows] @ _nonnegative(pieces.design[rows], np.ones(rows.stop - rows.start))[0]
            for rows in _parts(pieces, starts)
        ]
    )
    freedom = max(1, fitted.size - many * pieces.design.shape[1])
    scatter = np.sqrt(np.sum((fitted - 1.0) ** 2) / freedom)
    noise = np.random.default_rng(0).standard_normal((_TABLES, fitted.size))
    found = pieces.best(fitted * (1.0 + scatter * noise))
    gains = found[many - 1][0] / np.maximum(found[further - 1][0], 1e-300)
    return int(np.count_nonzero(gains >= gain))


def _parts(pieces: _Pieces, starts: Sequence[int] | NDArray[np.int64]) -> list[slice]:
    """The points of each range, by the numbers of their first sizes."""
    ends = [*(int(each) - 1 for each in starts[1:]), pieces.count - 1]
    return [pieces.rows(int(first), last) for first, last in zip(starts, ends, strict=True)]


def _law(pieces: _Pieces, table: PingPong, starts: NDArray[np.int64], tried: tuple[Tried, ...]) -> FittedLaw:
    parts = _parts(pieces, starts)
    figures = [_estimated(pieces.design[rows]) for rows in parts]
    residuals = np.concatenate([pieces.design[rows] @ found - 1.0 for rows, found in zip(parts, figures, strict=True)])
    freedom = max(1, residuals.size - len(parts) * pieces.design.shape[1])
    variance = float(np.sum(residuals**2)) / freedom
    ranges = tuple(
        _range(pieces, table, rows, (found, residuals[rows]), variance)
        for rows, found in zip(parts, figures, strict=True)
    )
    return FittedLaw(table=table, ranges=ranges, residuals=residuals, tried=tried)


def _estimated(design: Floats) -> Floats:
    """The figures of a range; errors are taken relative to the law, not to what was measured.

    Weighing by measured times would believe those most that happen to be too short.
    """
    figures = _nonnegative(design, np.ones(design.shape[0]))[0]
    for _ in range(_REWEIGHED):
        law = np.maximum(design @ figures, 1e-3)  # over measured; no weight may run away
        figures = _nonnegative(design / law[:, None], 1.0 / law)[0]
    return figures


def _range(pieces: _Pieces, table: PingPong, rows: slice, found: tuple[Floats, Floats], variance: float) -> FittedRange:
    figures, residuals = found
    scale = np.linalg.norm(pieces.design[rows], axis=0)
    scaled = pieces.design[rows] / scale
    errors = np.sqrt(variance * np.diag(np.linalg.inv(scaled.T @ scaled))) / scale
    estimates = [Estimate(float(value), float(error)) for value, error in zip(figures, errors, strict=True)]
    worst = int(np.argmax(np.abs(residuals)))
    sizes = table.size_bytes[rows]
    return FittedRange(
        first_bytes=float(sizes[0]),
        last_bytes=float(sizes[-1]),
        startup_s=estimates[0],
        per_byte_s=estimates[1],
        per_hop_s=estimates[2] if pieces.several else None,
        points=residuals.size,
        rms=float(np.sqrt(np.mean(residuals**2))),
        worst=float(residuals[worst]),
        worst_bytes=float(sizes[worst]),
    )


def _judged(law: FittedLaw) -> FittedLaw:
    """The law, if the table supports it.

    Raises:
        PredictionError: it does not.
    """
    where = law.table.name
    if law.rms > _WORST:
        text = f"the times scatter by {law.rms:.0%} around any law of at most {MOST_RANGES} ranges."
        raise PredictionError(text, where=where, hint="Measure longer, alone on the machine, and give medians.")
    smallest, largest = law.ranges[0], law.ranges[-1]
    if smallest.startup_s.value <= _SURE * smallest.startup_s.error:
        text = f"no message is small enough to show the start-up (the smallest has {smallest.first_bytes:,.0f} B)."
        raise PredictionError(text, where=where, hint="Measure messages of 0 B or 8 B, too.")
    if largest.per_byte_s.value <= _SURE * largest.per_byte_s.error:
        text = f"no message is large enough to show the time of a byte (the largest has {largest.last_bytes:,.0f} B)."
        raise PredictionError(text, where=where, hint="Measure messages of some 100 KB, too.")
    return law
