"""The time of a program as a formula in its size and in the number of processors."""

from collections.abc import Mapping

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike, NDArray

from esp import api
from esp.errors import UsageError
from esp.formulas.formula import Expression, FormulaLine, FormulaTerm, Outside
from esp.shown import Printed
from interpreter.symbolic.across import ScaleNames
from interpreter.symbolic.numeric import largest_at
from interpreter.symbolic.polynomial import Poly, weighted

MessageKey = tuple[int, str]
"""A communication by its AAU, and which of its messages: ``longest`` or ``shortest``."""


class ScalingFormula(Printed, Struct, frozen=True, kw_only=True):
    """The time of a program as a formula in its size n and in the number of processors p.

    Attributes:
        prediction: The prediction at `size` and `procs`.
        names: What expressions are made of.
        given: The given size and number of processors.
        size, procs: Those at which the formula is compared with a prediction: the given ones, or such near them for
            which it holds.
        least: The least extent of the grid for which the formula holds.
        cells: Cells of each processor in a dimension from which on the formula holds.
        period: Of what these cells are multiples.
        samples: (n, p) at which the engine has counted.
        checked: (n, p) at which its counts equal the formula's and which were not used to find it.
        places: Processors that are looked at, as places in each dimension of the grid: ``first``, ``second``,
            ``middle``, ``last but one``, ``last``.
        slowest: Which of them takes most time at `size` and `procs`, waiting not included.
        short: What some processor pays more than the formula says at `checked` and at `size` and `procs`, in relation
            to it.
        terms: What it pays for the whole program.
        lines: What it pays for each line.
        outside: What is not in the formula.
        limit: The largest size for which it holds, as the program compares the size with something; None: there is
            none.
        messages: Bytes of the longest and the shortest message of each communication; None: without an expression.
        bounds: The last sizes of the ranges of messages.
        ranges: The number of the range in which these messages are.
    """

    prediction: api.Prediction
    names: ScaleNames
    given: tuple[int, int]
    size: int
    procs: int
    least: int
    cells: int
    period: int
    samples: tuple[tuple[int, int], ...]
    checked: tuple[tuple[int, int], ...]
    places: tuple[tuple[str, ...], ...]
    slowest: int
    short: float
    terms: tuple[FormulaTerm, ...]
    lines: tuple[FormulaLine, ...]
    outside: tuple[Outside, ...]
    limit: int | None
    messages: Mapping[MessageKey, Poly | None]
    bounds: tuple[float, ...]
    ranges: Mapping[MessageKey, int]

    @property
    def time(self) -> Expression:
        """Seconds of the slowest processor at `size` and `procs`; elsewhere another one may be (`evaluate`)."""
        return Expression(self.seconds_of(self.slowest), self.names.size, self.names)

    def seconds_of(self, place: int) -> Poly:
        """Seconds of one of the `places`, as an expression."""
        return weighted([each.counts[place] for each in self.terms], [each.seconds for each in self.terms])

    def evaluate(self, size: ArrayLike, procs: ArrayLike, *, relaxed: bool = False) -> NDArray[np.float64]:
        """Seconds of the slowest processor for sizes and numbers of processors. `relaxed`: also between those for which
        the formula is exact, with the cells of a processor rounded up.

        Raises:
            UsageError: the formula does not hold for some of them.
        """
        sizes, among = np.broadcast_arrays(
            np.atleast_1d(np.asarray(size, dtype=np.float64)), np.atleast_1d(np.asarray(procs, dtype=np.float64))
        )
        holds = self.holds(sizes.ravel(), among.ravel(), relaxed=relaxed)
        if not holds.all():
            at = int(np.flatnonzero(~holds)[0])
            where = f"{self.names.size} = {sizes.ravel()[at]:g} and p = {among.ravel()[at]:g}"
            raise UsageError(f"the formula does not hold for {where}.", hint=f"It holds {self.validity}.")
        polys = [self.seconds_of(place) for place in range(len(self.places))]
        return largest_at(polys, self.names.values(sizes.ravel(), among.ravel())).reshape(sizes.shape)

    def holds(
        self, sizes: NDArray[np.float64], procs: NDArray[np.float64], *, relaxed: bool = False
    ) -> NDArray[np.bool_]:
        """Whether the formula holds for sizes and numbers of processors (N,)."""
        values = self.names.values(sizes, procs)
        extents = values[self.names.extent]
        found = (extents >= self.least) & (sizes >= self.cells * extents)
        if not relaxed:
            found &= (np.log2(np.maximum(extents, 1.0)) % 1 == 0) & (
                sizes % (self.period * np.maximum(extents, 1.0)) == 0
            )
        largest = max(self.size, *(each for each, _ in self.samples))
        if self.limit is not None:
            found &= sizes <= self.limit
        for key, each in self.messages.items():
            if each is None:  # longer messages remain in the last range
                found &= (sizes <= largest) | (key[1] == "longest" and self.ranges[key] == len(self.bounds))
                continue
            bytes_ = largest_at([each], values)
            found &= np.searchsorted(np.asarray(self.bounds), bytes_) == self.ranges[key]
        return np.asarray(found)

    @property
    def validity(self) -> str:
        """Where it holds, in words."""
        numbers = ", ".join(str((self.least << more) ** self.names.rank) for more in range(3))
        whole = {1: "p", 2: "sqrt(p)", 3: "the cube root of p"}[self.names.rank]
        times = "" if self.period == 1 else f"{self.period} "
        text = f"for p = {numbers}, ... and multiples {self.names.size} of {times}{whole} from {self.cells} {whole} on"
        if self.limit is not None:
            text += f" up to {self.limit}, as the program compares {self.names.size} with constants or variables"
        if self.bounds:
            text += ", as long as messages remain in their ranges of sizes"
        return text

    def to_latex(self) -> str:
        """The time of the slowest processor as LaTeX.

        Raises:
            PredictionError: SymPy is not installed.
        """
        return self.time.to_latex()
