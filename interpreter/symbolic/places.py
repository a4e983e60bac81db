"""Layouts for a free parameter: which cells a coordinate owns, as expressions.

The integers of a layout (extents, offsets, block sizes) are those of the mapping at some sizes. Each must be affine in
the parameter there, or the block size of BLOCK, which is ceil(extent / p).
"""

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct

from aag.ir.evaluate import Value
from aag.mapping.axes import GridAxis
from aag.mapping.grid import Grid
from aag.mapping.layout import Layouts
from interpreter.symbolic.facts import BlockDimension
from interpreter.symbolic.polynomial import ONE, Poly, Sign, ceiling, extremum, floor, name, poly


class NotDerived(Exception):
    """No expression follows; the text says what prevents it."""


class DealtAxis(Struct, frozen=True):
    """A dimension of an array over an axis of the grid: index i is cell stride * i + offset - lower, from 0."""

    kind: Literal["block", "cyclic"]
    block: Poly
    extent: Poly
    procs: int
    stride: int
    offset: Poly

    def cell(self, subscript: Poly) -> Poly:
        """The cell of a subscript, counted from 0."""
        return subscript * self.stride + self.offset

    def cells_of(self, coordinate: int, sign: Sign) -> tuple[Poly, Poly]:
        """The first and last cell of a coordinate of BLOCK."""
        first = extremum((self.block * coordinate, self.extent), least=True, sign=sign)
        after = extremum((self.block * (coordinate + 1), self.extent), least=True, sign=sign)
        return first, (self.extent if coordinate == self.procs - 1 else after) - 1

    def owns(self, subscript: Poly, coordinate: int, sign: Sign) -> Poly:
        """1 where a coordinate owns a subscript, else 0."""
        cell = self.cell(subscript)
        if self.kind == "block":
            first, last = self.cells_of(coordinate, sign)
            inside = extremum((ONE, cell - first + 1, last - cell + 1), least=True, sign=sign)
            return extremum((inside, poly(0)), least=False, sign=sign)
        block = int(self.block.constant or 1)
        begin = cell - block * coordinate
        return floor(begin, block * self.procs) - floor(begin - block, block * self.procs)


class AxisPlace(Struct, frozen=True):
    """An axis of the grid for an array: `dealt` for role ``dim``."""

    role: Literal["dim", "fixed", "replicated"]
    dim: int
    coordinate: int
    dealt: DealtAxis | None


class Places(Struct, frozen=True):
    """Where arrays are, and what constants are, for a free parameter. What is not an expression is left out."""

    grids: Mapping[str, Grid]
    arrays: Mapping[str, tuple[AxisPlace, ...]]
    constants: Mapping[str, Poly]
    fixed: Mapping[str, Value]
    """Constants that do not depend on the parameter."""
    blocks: tuple[BlockDimension, ...]


def places_of(free: str, values: Sequence[int], layouts: Sequence[Layouts]) -> Places:
    """The expressions for which some values of the parameter give these layouts; there are at least four values."""
    first = layouts[0]
    fit = _Fit(free, values)
    grids, arrays = {}, {}
    blocks: dict[BlockDimension, None] = {}
    for array, layout in first.arrays.items():
        try:
            several = [each.arrays[array] for each in layouts]
            arrays[array] = tuple(
                _place(fit, [each.axes[axis] for each in several]) for axis in range(len(layout.axes))
            )
        except (NotDerived, LookupError):
            continue
        if all(each.grid == layout.grid for each in several):
            grids[array] = layout.grid
        for place in arrays[array]:
            if place.dealt is not None and place.dealt.kind == "block" and place.dealt.block.names:
                blocks[BlockDimension(place.dealt.extent, place.dealt.procs)] = None
    constants, fixed = {}, {}
    for each, value in first.constants.items():
        found = [layout.constants.get(each) for layout in layouts]
        if all(other == value for other in found):
            fixed[each] = value
        if all(isinstance(other, int) and not isinstance(other, bool) for other in found):
            try:
                constants[each] = fit.affine([int(other) for other in found if isinstance(other, int)])
            except NotDerived:
                continue
    return Places(grids, arrays, constants, fixed, tuple(blocks))


class _Fit(Struct, frozen=True):
    """Expressions from numbers."""

    free: str
    values: Sequence[int]

    def affine(self, numbers: Sequence[int]) -> Poly:
        """Numbers that are affine in the parameter.

        Raises:
            NotDerived: they are not.
        """
        run, rise = self.values[1] - self.values[0], numbers[1] - numbers[0]
        slope = rise // run
        start = numbers[0] - slope * self.values[0]
        if any(slope * at + start != number for at, number in zip(self.values, numbers, strict=True)):
            raise NotDerived("a size is not affine in the parameter")
        return name(self.free) * slope + start

    def block(self, numbers: Sequence[int], extents: Sequence[int], procs: int) -> Poly:
        """A block size: ceil(extent / procs), else affine.

        Raises:
            NotDerived: it is neither.
        """
        if all(number == -(-extent // procs) for number, extent in zip(numbers, extents, strict=True)):
            return ceiling(self.affine(extents), procs)
        return self.affine(numbers)


def _place(fit: _Fit, axes: Sequence[GridAxis]) -> AxisPlace:
    first = axes[0]
    if len({(each.role, each.dim, each.coordinate, each.stride) for each in axes}) > 1:
        raise NotDerived("the mapping changes its form with the size")
    if first.role != "dim":
        return AxisPlace(first.role, first.dim, first.coordinate, None)
    found = [each.distribution for each in axes if each.distribution is not None]
    if len(found) < len(axes) or any(each.sizes for each in found):
        raise NotDerived("the sizes of GEN_BLOCK are numbers")
    if len({(each.kind, each.procs) for each in found}) > 1:
        raise NotDerived("the mapping changes its form with the size")
    extent = fit.affine([each.extent for each in found])
    if found[0].kind == "block":
        block = fit.block([each.block for each in found], [each.extent for each in found], found[0].procs)
    else:
        block = fit.affine([each.block for each in found])
        if block.constant is None:
            raise NotDerived("the block size of CYCLIC depends on the parameter")
    offset = fit.affine([axis.offset - each.lower for axis, each in zip(axes, found, strict=True)])
    return AxisPlace(
        "dim", first.dim, -1, DealtAxis(found[0].kind, block, extent, found[0].procs, first.stride, offset)
    )
