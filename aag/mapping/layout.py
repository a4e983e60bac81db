"""A `Layout` says for every element of one array which processors hold it.

For each axis of the grid one `GridAxis` says what it means for the array: an array dimension is spread over
it (``dim``), only one coordinate of it holds the array (``fixed``), or all coordinates do (``replicated``).
An array dimension that no axis names is collapsed: whoever holds the array holds all of it.
"""

from collections.abc import Mapping
from functools import cached_property
from math import prod

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from aag.diagnostics import Diagnostic, Span
from aag.ir.evaluate import NUMBER_OF_PROCESSORS, Value
from aag.ir.expressions import Expr, IntLit
from aag.ir.values import ArrayValues
from aag.mapping.axes import GridAxis
from aag.mapping.configuration import Dynamics
from aag.mapping.distribution import Distribution
from aag.mapping.grid import Grid, IntArray


class Layout(Struct, frozen=True, kw_only=True, dict=True):
    """The mapping of one array. `bounds`: declared (lower, upper) of each dimension; P is the size of `grid`.

    `written`: the same bounds as expressions of literals and named constants, as far as the source has them (D12).
    `template` is the ultimate align target: a template, another array, or the array itself where it is
    distributed directly; empty where nothing is said. `span`: the directive that decided, or the declaration.
    """

    array: str
    element_bytes: int
    bounds: tuple[tuple[int, int], ...]
    grid: Grid
    axes: tuple[GridAxis, ...]
    template: str
    span: Span
    written: tuple[tuple[Expr, Expr], ...] = ()

    @property
    def declared(self) -> tuple[tuple[Expr, Expr], ...]:
        """The bounds of each dimension as expressions: as written, else their values."""
        return self.written or tuple((IntLit(lower), IntLit(upper)) for lower, upper in self.bounds)

    @property
    def rank(self) -> int:
        """Number of dimensions of the array."""
        return len(self.bounds)

    @cached_property
    def extents(self) -> tuple[int, ...]:
        """Number of indices of each dimension, of the whole array."""
        return tuple(max(0, upper - lower + 1) for lower, upper in self.bounds)

    @property
    def elements(self) -> int:
        """Number of elements of the whole array."""
        return prod(self.extents)

    @cached_property
    def is_distributed(self) -> bool:
        """Whether some processor may lack some element."""
        return any(axis.role != "replicated" for axis in self.axes)

    def axis_of_dim(self, dim: int) -> int | None:
        """The grid axis over which a dimension is spread; None: collapsed."""
        return self._axis_of.get(dim)

    @cached_property
    def _axis_of(self) -> Mapping[int, int]:
        """The grid axis of each dimension that is spread over one."""
        return {axis.dim: at for at, axis in enumerate(self.axes) if axis.role == "dim"}

    def owner_coordinate(self, axis: int, index: npt.ArrayLike) -> IntArray:
        """The coordinate on a ``dim`` axis that holds each index of the dimension spread over it."""
        meaning, distribution = self._spread_axis(axis)
        cells = np.asarray(index, dtype=np.int64)
        if (meaning.stride, meaning.offset) != (1, 0):
            cells = meaning.stride * cells + meaning.offset
        return distribution.owner(cells)

    def is_placed_as(self, other: "Layout") -> bool:
        """Whether another layout of the same array puts every element on the same processors."""
        if (self.grid.shape, self.bounds) != (other.grid.shape, other.bounds):
            return False
        for at, (mine, theirs) in enumerate(zip(self.axes, other.axes, strict=True)):
            if mine == theirs:
                continue
            if (mine.role, mine.dim) != (theirs.role, theirs.dim) or mine.role != "dim":
                return False
            lower, upper = self.bounds[mine.dim]
            indices = np.arange(lower, upper + 1)
            if not np.array_equal(self.owner_coordinate(at, indices), other.owner_coordinate(at, indices)):
                return False
        return True

    def held(self, axis: int) -> IntArray:
        """How many indices of the dimension spread over a ``dim`` axis each coordinate of it holds."""
        known = self._held.get(axis)
        if known is None:
            known = self._held[axis] = self._count_held(axis)
        return known

    @cached_property
    def _held(self) -> dict[int, IntArray]:
        """`held` of the axes that were asked for."""
        return {}

    def _count_held(self, axis: int) -> IntArray:
        meaning, distribution = self._spread_axis(axis)
        lower, _ = self.bounds[meaning.dim]
        return distribution.held_images(
            np.arange(self.grid.shape[axis], dtype=np.int64),
            first=meaning.stride * lower + meaning.offset,
            stride=meaning.stride,
            count=self.extents[meaning.dim],
        )

    def held_interval(self, axis: int) -> tuple[IntArray, IntArray]:
        """First and last index that each coordinate of a ``dim`` axis holds; last = first - 1 where none.

        Raises:
            ValueError: the distribution is cyclic: the indices of a coordinate need not be an interval.
        """
        _, distribution = self._spread_axis(axis)
        if distribution.kind != "block":
            raise ValueError(f"{self.array}: the indices that a coordinate holds of {distribution} are no interval")
        known = self._intervals.get(axis)
        if known is None:
            known = self._intervals[axis] = self._interval(axis)
        return known

    @cached_property
    def _intervals(self) -> dict[int, tuple[IntArray, IntArray]]:
        """`held_interval` of the axes that were asked for."""
        return {}

    def _interval(self, axis: int) -> tuple[IntArray, IntArray]:
        meaning, distribution = self._spread_axis(axis)
        first, last = distribution.block_of(np.arange(self.grid.shape[axis]))
        first, last = first - meaning.offset, last - meaning.offset
        if meaning.stride < 0:
            first, last = last, first
        lower, upper = self.bounds[meaning.dim]
        low = np.maximum(-(-first // meaning.stride), lower)
        high = np.minimum(last // meaning.stride, upper)
        low = np.where(high < low, np.minimum(np.maximum(low, lower), upper + 1), low)
        return low, np.maximum(high, low - 1)

    def local_index(self, dim: int, index: npt.ArrayLike) -> IntArray:
        """The zero-based position of each index of `dim` among the indices that its owner holds."""
        given = np.asarray(index, dtype=np.int64)
        lower, _ = self.bounds[dim]
        axis = self.axis_of_dim(dim)
        if axis is None:
            return given - lower
        meaning, distribution = self._spread_axis(axis)
        if meaning.stride == 1 and lower + meaning.offset == distribution.lower:  # it begins with its template
            return distribution.local(given + meaning.offset)
        return distribution.held_images(
            self.owner_coordinate(axis, given),
            first=meaning.stride * lower + meaning.offset,
            stride=meaning.stride,
            count=given - lower,
        )

    def holds(self) -> npt.NDArray[np.bool_]:
        """Which linear ranks lie at the coordinates of all ``fixed`` axes, shape (P,)."""
        here = np.ones(self.grid.size, dtype=np.bool_)
        for at, axis in enumerate(self.axes):
            if axis.role == "fixed":
                coordinates = np.arange(self.grid.shape[at], dtype=np.int64)
                here &= self.grid.spread(at, coordinates) == axis.coordinate
        return here

    def local_extents(self, ranks: IntArray | None = None) -> IntArray:
        """How many indices of each dimension each linear rank holds, shape (P, rank), or some `ranks` hold.

        All are 0 on a rank that lies off the coordinate of a ``fixed`` axis.
        """
        if ranks is not None:
            return self._extents_at(ranks)
        columns = np.empty((self.grid.size, self.rank), dtype=np.int64, order="F")
        for dim, extent in enumerate(self.extents):
            axis = self.axis_of_dim(dim)
            columns[:, dim] = extent if axis is None else self.grid.spread(axis, self.held(axis))
        if any(axis.role == "fixed" for axis in self.axes):
            columns *= self.holds()[:, None]
        return columns

    def _extents_at(self, ranks: IntArray) -> IntArray:
        columns = np.empty((ranks.size, self.rank), dtype=np.int64)
        for dim, extent in enumerate(self.extents):
            axis = self.axis_of_dim(dim)
            columns[:, dim] = extent if axis is None else self.held(axis)[self.grid.coordinate_of(ranks, axis)]
        for at, meaning in enumerate(self.axes):
            if meaning.role == "fixed":
                columns *= (self.grid.coordinate_of(ranks, at) == meaning.coordinate)[:, None]
        return columns

    def local_elements(self) -> IntArray:
        """How many elements each linear rank holds, shape (P,)."""
        spread = {axis.dim for axis in self.axes if axis.role == "dim"}
        whole = prod(extent for dim, extent in enumerate(self.extents) if dim not in spread)
        elements: IntArray = np.full(1, whole, dtype=np.int64)
        for at, axis in enumerate(self.axes):  # each further axis varies more slowly
            elements = (self._factors(at, axis)[:, None] * elements).ravel()
        return elements

    def _factors(self, at: int, axis: GridAxis) -> IntArray:
        """By what each coordinate of an axis multiplies the number of elements that a rank holds."""
        match axis.role:
            case "dim":
                return self.held(at)
            case "fixed":
                one = np.zeros(self.grid.shape[at], dtype=np.int64)
                one[axis.coordinate] = 1
                return one
            case "replicated":
                return np.ones(self.grid.shape[at], dtype=np.int64)

    def bytes_held(self) -> IntArray:
        """How many bytes of the array each linear rank holds, shape (P,)."""
        return self.local_elements() * self.element_bytes

    def _spread_axis(self, axis: int) -> tuple[GridAxis, Distribution]:
        meaning = self.axes[axis]
        if meaning.role != "dim" or meaning.distribution is None:
            raise ValueError(f"{self.array}: no dimension is spread over axis {axis + 1} of the grid")
        return meaning, meaning.distribution


class Layouts(Struct, frozen=True, kw_only=True, dict=True):
    """The mapping of a program unit: a layout for every declared array, also undistributed ones.

    `grid` decides which node a linear rank runs on (Def 14). `constants`: the PARAMETER values after the
    user's. `known`: all values that shapes and mappings were computed with. `notes`: what was assumed. `dynamics`: of
    a unit that remaps arrays. `contents`: what index arrays hold when they are first used; for counting, as the
    program may change them. `guessed`: those of them that may hold something else. `unknown`: index arrays without
    contents, and why.
    """

    procs: int
    grid: Grid
    arrays: Mapping[str, Layout]
    constants: Mapping[str, Value]
    notes: tuple[Diagnostic, ...]
    known: Mapping[str, Value] = field(default_factory=dict)
    dynamics: Dynamics | None = None
    contents: Mapping[str, ArrayValues] = field(default_factory=dict)
    guessed: frozenset[str] = frozenset()
    unknown: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def environment(self) -> Mapping[str, Value]:
        """The constants and NUMBER_OF_PROCESSORS(), for `aag.ir.evaluate.evaluate`."""
        return {**self.constants, NUMBER_OF_PROCESSORS: self.procs}
