"""What is known of the free parameter, and the signs of expressions that follow from it.

A formula holds for sizes from `least` on for which every processor has at least `cells` cells of each BLOCK dimension.
Then BLOCK over p processors has blocks of q = floor((n + e) / p) cells with n + e = p q + r and p - 1 - r <= q - cells:
the sign of a n + b q + d follows from the ends of the intervals of q and r.
"""

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any

from msgspec import Struct

from interpreter.symbolic.polynomial import Floor, Name, Number, Poly


class BlockDimension(Struct, frozen=True):
    """A BLOCK dimension: `extent` cells over `procs` processors, ceil(extent / procs) each but for the last."""

    extent: Poly
    procs: int


class Facts(Struct, frozen=True, dict=True):
    """What a formula takes for granted of its free parameter.

    Attributes:
        free: The parameter.
        least: Its least value.
        cells: Cells of each BLOCK dimension that each processor has at least.
        blocks: These dimensions.
    """

    free: str
    least: int
    cells: int
    blocks: tuple[BlockDimension, ...]

    def hold(self, value: int) -> bool:
        """Whether they hold for a value of the parameter."""
        values = {self.free: value}
        return value >= self.least and all(self._full(each, values) for each in self.blocks)

    def _full(self, each: BlockDimension, values: Mapping[str, Any]) -> bool:
        extent = int(each.extent.value(values))
        return extent - (each.procs - 1) * -(-extent // each.procs) >= self.cells

    def sign(self, of: Poly) -> int | None:
        """1: never negative; -1: never positive; None: that is not known."""
        known = self._signs.get(of, 0)
        if known == 0:
            known = self._signs[of] = 1 if self._never_negative(of) else -1 if self._never_negative(-of) else None
        return known

    @cached_property
    def _signs(self) -> dict[Poly, int | None]:
        return {}

    @cached_property
    def _shifts(self) -> dict[tuple[int, int], int]:
        """(p, e) -> k, where floor((n + e) / p) + k is the size of the blocks."""
        found = {}
        for each in self.blocks:
            line = each.extent.affine(self.free)
            rest = None if line is None or line[0] != 1 else line[1].constant
            if rest is not None:
                shift, offset = divmod(int(rest) + each.procs - 1, each.procs)
                found[each.procs, offset] = shift
        return found

    def _never_negative(self, of: Poly) -> bool:
        slope: Number = 0
        rest: Number = 0
        quotients: list[tuple[int, int, Number]] = []
        for power, coefficient in of.terms:
            match power:
                case ():
                    rest = coefficient
                case ((Name(name), 1),) if name == self.free:
                    slope = coefficient
                case ((Floor() as atom, 1),) if (offset := self._offset(atom)) is not None:
                    quotients.append((atom.divisor, offset, coefficient))
                case _:
                    return False
        if not quotients:
            return slope >= 0 and slope * self.least + rest >= 0
        divisor, offset, factor = quotients[0]
        for other, further, more in quotients[1:]:  # floor((n + f) / p) is floor((n + e) / p) + (f - e) / p, rounded
            if other != divisor:
                return False
            apart = Fraction(further - offset, divisor)
            factor, rest = factor + more, rest + min(more * math.floor(apart), more * math.ceil(apart))
        return self._least_of(slope, factor, rest, divisor, offset)

    def _offset(self, atom: Floor) -> int | None:
        """e of floor((n + e) / p)."""
        line = atom.arg.affine(self.free)
        offset = None if line is None or line[0] != 1 else line[1].constant
        return None if offset is None else int(offset)

    def _least_of(self, slope: Number, factor: Number, rest: Number, divisor: int, offset: int) -> bool:
        """Whether slope * n + factor * q + rest >= 0 for n + offset = divisor * q + r."""
        steep, rest = slope * divisor + factor, rest - slope * offset
        first = Fraction((self.least + offset) // divisor)
        if steep < 0:
            return False
        if slope < 0:
            return steep * first + slope * (divisor - 1) + rest >= 0
        shift = self._shifts.get((divisor, offset))
        if shift is None:
            return steep * first + rest >= 0
        kink = divisor - 1 + self.cells - shift  # from this size on the last block may lack any number of cells
        return all(
            steep * each + slope * max(Fraction(0), kink - each) + rest >= 0
            for each in (first, max(first, Fraction(kink)))
        )
