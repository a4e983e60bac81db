"""The dependence test: may two accesses of a loop nest touch one element, the first before the second?

Every transformation of loops asks it (design decision D13). The index of a loop is two variables, one at each end of
the dependence; ranges, strides and conditions at both ends are constraints, and `aag.spmd.omega` decides exactly
whether whole numbers satisfy them. What cannot be expressed constrains nothing, so the answer errs towards
"dependent", which costs time in the prediction and never a wrong program.
"""

from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property

from msgspec import Struct

from aag.ir.evaluate import Environment
from aag.ir.expressions import Expr
from aag.spmd.nodes import Index
from aag.spmd.omega import ONE, Row, Undecided, combined, sample
from aag.spmd.space import Case, Space


class Access(Struct, frozen=True):
    """One reference to an array in a loop nest.

    `array` is the storage that it touches, `subscripts` None where any element may be meant. `indices` are the loops
    around it, outermost first, and `loops` tells for each which loop it is: two loops over the same range are two
    loops. `order` is its place among the accesses of one iteration. It happens only where all `masks` hold.
    """

    array: str
    subscripts: tuple[Expr, ...] | None
    indices: tuple[Index, ...]
    loops: tuple[Hashable, ...]
    order: int = 0
    masks: tuple[Expr, ...] = ()


class Meeting(Struct, frozen=True):
    """Two iterations of a loop, the earlier first, and the element that both touch."""

    earlier: int
    later: int
    element: tuple[int, ...]


class Dependence:
    """How two accesses of one array may meet.

    `varying` are the names that the nest changes: at the two ends they may have different values. `around` are
    loops around the nest, in one iteration of which both accesses lie.
    """

    def __init__(
        self,
        first: Access,
        second: Access,
        env: Environment,
        varying: frozenset[str] = frozenset(),
        around: Sequence[Index] = (),
    ) -> None:
        self.first, self.second = first, second
        self._space = space = Space(env, varying)
        outside = space.indices(around, {})
        self._ends = []
        for access in (first, second):
            places = space.indices(access.indices, outside)
            for mask in access.masks:
                space.holds(mask, places)
            self._ends.append(places)
        self.common = 0
        for one, other in zip(first.loops, second.loops, strict=False):
            if one != other:
                break
            self.common += 1
        self._rows: list[tuple[Row | None, Row | None]] = []
        if first.subscripts is None or second.subscripts is None or len(first.subscripts) != len(second.subscripts):
            space.exact = False
            self._equal: list[Row] = []
            return
        self._rows = [
            (space.row(one, self._ends[0]), space.row(other, self._ends[1]))
            for one, other in zip(first.subscripts, second.subscripts, strict=True)
        ]
        self._equal = [
            combined(one, 1, other, -1) for one, other in self._rows if one is not None and other is not None
        ]

    @property
    def is_exact(self) -> bool:
        """Whether an answer "dependent" is a fact and not caution: all was expressed, with known numbers."""
        return self._space.exact and self._space.closed

    @cached_property
    def _cases(self) -> tuple[Case, ...]:
        """The cases in which the elements are equal, whatever the order."""
        return tuple(
            each for case in self._space.cases if (each := case.with_(equations=self._equal)).is_possible()
        )

    def is_carried(self, level: int) -> bool:
        """Whether the second may meet the first in a later iteration of common loop `level`, within one iteration of
        the loops around that."""
        constraints = self._order(level)
        return any(case.with_(*constraints).is_possible() for case in self._cases)

    def is_independent(self) -> bool:
        """Whether the second may meet the first in one iteration of all common loops, the first being earlier in it:
        the dependence is independent of the loops."""
        if self.first.order >= self.second.order:
            return False
        same = self._same(self.common)
        return any(case.with_(equations=same).is_possible() for case in self._cases)

    def exists(self, skipped: Iterable[Hashable] = ()) -> bool:
        """Whether the second may meet the first at all, later; `skipped` loops are said to carry nothing."""
        skip = set(skipped)
        return bool(self._cases) and (
            self.is_independent()
            or any(self.is_carried(at) for at in range(self.common) if self.first.loops[at] not in skip)
        )

    def meeting(self, level: int) -> Meeting | None:
        """An example of two iterations of loop `level` that meet; None where there is none, or it is not certain."""
        if not self.is_exact:
            return None
        one, other = (places[self.first.indices[level].name] for places in self._ends)
        names = ["earlier", "later", *(f"element {at}" for at in range(len(self._rows)))]
        values = [one.value, other.value, *(row for row, _ in self._rows)]
        named = [
            combined({name: 1}, 1, value, -1) for name, value in zip(names, values, strict=True) if value is not None
        ]
        equations, inequalities = self._order(level)
        for case in self._cases:
            whole = case.with_([*equations, *named], inequalities)
            try:
                found = sample(whole.equations, whole.inequalities, names)
            except Undecided:
                continue
            if found is not None:
                earlier, later, *element = (found[name] for name in names)
                return Meeting(earlier, later, tuple(element))
        return None

    def _same(self, count: int) -> list[Row]:
        """That the outermost loops are in one iteration at both ends."""
        names = [index.name for index in self.first.indices[:count]]
        one, other = self._ends
        theirs = [index.name for index in self.second.indices[:count]]
        return [combined(one[a].value, 1, other[b].value, -1) for a, b in zip(names, theirs, strict=True)]

    def _order(self, level: int) -> tuple[list[Row], list[Row]]:
        """That the ends are in one iteration of the loops around `level`, and the second in a later one of it."""
        before = self._ends[0][self.first.indices[level].name].position
        after = self._ends[1][self.second.indices[level].name].position
        if before is None or after is None:
            return self._same(level), []
        return self._same(level), [combined(combined(after, 1, before, -1), 1, {ONE: -1})]
