"""The dependence test: may two accesses of a loop nest touch one element, the first before the second?

Every transformation of loops asks it (design decision D13). The index of a loop is two variables, one at each end of
the dependence; ranges, strides and conditions at both ends are constraints, and `aag.spmd.omega` decides exactly
whether whole numbers satisfy them. What cannot be expressed constrains nothing, so the answer errs towards
"dependent", which costs time in the prediction and never a wrong program.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from math import gcd

from msgspec import Struct

from aag.ir.evaluate import Environment, Unknown, evaluate_int
from aag.ir.expressions import Expr, Var
from aag.ir.linear import linear
from aag.spmd.nodes import Index
from aag.spmd.omega import ONE, Row, Undecided, combined, sample
from aag.spmd.space import Space, SpaceCase, SpacePlace


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


Bounds = Sequence[tuple[int, int]]
"""Lower and upper bound of each dimension of an array."""


def may_leave(
    access: Access,
    bounds: Bounds,
    env: Environment,
    around: Sequence[Index],
    certain: Sequence[tuple[Access, Bounds]] = (),
) -> bool:
    """Whether an access may be outside an array with these bounds in some iteration, its conditions apart. `certain`:
    accesses that the program makes in all iterations of its loops, so that they are inside; they count where these
    are the loops of the access."""
    if access.subscripts is None:
        return True
    space = Space(env, frozenset())
    places = space.indices(access.indices, space.indices(around, {}))
    inside: list[dict[str, int]] = []
    for sure, limits in (each for each in certain if each[0].indices == access.indices):
        for subscript, (lower, upper) in zip(sure.subscripts or (), limits, strict=False):
            row = space.row(subscript, places)
            if row is not None:
                inside += [combined(row, 1, {ONE: lower}, -1), combined({ONE: upper}, 1, row, -1)]
    for subscript, (lower, upper) in zip(access.subscripts, bounds, strict=True):
        row = space.row(subscript, places)
        if row is None:
            return True
        low, high = combined({ONE: lower - 1}, 1, row, -1), combined(row, 1, {ONE: upper + 1}, -1)
        if any(
            case.with_(inequalities=[beyond, *inside]).is_possible() for case in space.cases for beyond in (low, high)
        ):
            return True
    return False


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
        self._env, self._varying, self._around = env, varying, around
        self.common = 0
        for one, other in zip(first.loops, second.loops, strict=False):
            if one != other:
                break
            self.common += 1
        self._distances = _distances(first, second, self.common, env, varying)

    @cached_property
    def _ends(self) -> "_Ends":
        """Both ends as constraints; made only where the distances do not decide."""
        return _Ends.of(self.first, self.second, self._env, self._varying, self._around)

    @property
    def is_exact(self) -> bool:
        """Whether an answer "dependent" is a fact and not caution: all was expressed, with known numbers."""
        return self._ends.is_exact

    @cached_property
    def _cases(self) -> tuple[SpaceCase, ...]:
        """The cases in which the elements are equal, whatever the order."""
        return self._ends.cases() if self._distances is not None else ()

    def is_carried(self, level: int) -> bool:
        """Whether the second may meet the first in a later iteration of common loop `level`, within one iteration of
        the loops around that."""
        if not self._may_be_apart(level):
            return False
        constraints = self._order(level)
        return any(case.with_(*constraints).is_possible() for case in self._cases)

    def is_independent(self) -> bool:
        """Whether the second may meet the first in one iteration of all common loops, the first being earlier in it:
        the dependence is independent of the loops."""
        if self.first.order >= self.second.order or self._distances is None or any(self._distances.values()):
            return False
        same = self._same(self.common)
        return any(case.with_(equations=same).is_possible() for case in self._cases)

    def exists(self, skipped: Iterable[Hashable] = ()) -> bool:
        """Whether the second may meet the first at all, later; `skipped` loops are said to carry nothing."""
        skip = set(skipped)
        return self.is_independent() or any(
            self.is_carried(at) for at in range(self.common) if self.first.loops[at] not in skip
        )

    def meeting(self, level: int) -> Meeting | None:
        """An example of two iterations of loop `level` that meet; None where there is none, or it is not certain."""
        if not self.is_exact:
            return None
        one = self._ends.first[self.first.indices[level].name]
        other = self._ends.second[self.second.indices[level].name]
        names = ["earlier", "later", *(f"element {at}" for at in range(len(self._ends.elements)))]
        values = [one.value, other.value, *self._ends.elements]
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

    def _may_be_apart(self, level: int) -> bool:
        """Whether the distances between the ends let a loop carry the dependence."""
        if self._distances is None or any(self._distances.get(at) for at in range(level)):
            return False
        distance = self._distances.get(level)
        if not distance:
            return distance is None
        try:
            step = self.first.indices[level].step
            return distance * (1 if step is None else evaluate_int(step, self._env)) >= 0
        except Unknown:
            return True

    def _same(self, count: int) -> list[Row]:
        """That the outermost loops are in one iteration at both ends."""
        return [
            combined(self._ends.first[one.name].value, 1, self._ends.second[other.name].value, -1)
            for one, other in zip(self.first.indices[:count], self.second.indices[:count], strict=True)
        ]

    def _order(self, level: int) -> tuple[list[Row], list[Row]]:
        """That the ends are in one iteration of the loops around `level`, and the second in a later one of it."""
        before = self._ends.first[self.first.indices[level].name].position
        after = self._ends.second[self.second.indices[level].name].position
        if before is None or after is None:
            return self._same(level), []
        return self._same(level), [combined(combined(after, 1, before, -1), 1, {ONE: -1})]


class _Ends(Struct, frozen=True):
    """The places of the indices at both ends, the elements that are touched, and all constraints on them."""

    space: Space
    first: Mapping[str, SpacePlace]
    second: Mapping[str, SpacePlace]
    elements: tuple[Row | None, ...]
    equal: tuple[Row, ...]

    @staticmethod
    def of(
        first: Access, second: Access, env: Environment, varying: frozenset[str], around: Sequence[Index]
    ) -> "_Ends":
        space = Space(env, varying)
        outside = space.indices(around, {})
        places = []
        for access in (first, second):
            places.append(space.indices(access.indices, outside))
            for mask in access.masks:
                space.holds(mask, places[-1])
        if first.subscripts is None or second.subscripts is None or len(first.subscripts) != len(second.subscripts):
            space.exact = False
            return _Ends(space, places[0], places[1], (), ())
        pairs = [
            (space.row(one, places[0]), space.row(other, places[1]))
            for one, other in zip(first.subscripts, second.subscripts, strict=True)
        ]
        equal = tuple(combined(one, 1, other, -1) for one, other in pairs if one is not None and other is not None)
        return _Ends(space, places[0], places[1], tuple(one for one, _ in pairs), equal)

    @property
    def is_exact(self) -> bool:
        """Whether all was expressed, with known numbers."""
        return self.space.exact and self.space.closed

    def cases(self) -> tuple[SpaceCase, ...]:
        """The cases in which the elements are equal, whatever the order."""
        return tuple(each for case in self.space.cases if (each := case.with_(equations=self.equal)).is_possible())


def _distances(
    first: Access, second: Access, common: int, env: Environment, varying: frozenset[str]
) -> dict[int, int] | None:
    """How far apart the ends are in some loops, wherever they meet, from subscripts that one index decides; None:
    they never meet, as the distance or the greatest common divisor of the coefficients tells."""
    found: dict[int, int] = {}
    if first.subscripts is None or second.subscripts is None:
        return found
    levels = {index.name: at for at, index in enumerate(first.indices[:common])}
    shared = levels.keys() & {index.name for index in second.indices[:common]}
    inner = {index.name for access in (first, second) for index in access.indices[common:]}
    for one, other in zip(first.subscripts, second.subscripts, strict=False):
        left, right = linear(one, env), linear(other, env)
        atoms = left.terms.keys() | right.terms.keys()
        names = {each.name for each in atoms if isinstance(each, Var)}
        if len(names) < len(atoms) or names & (varying - shared) or names & inner:
            continue
        divisor = gcd(*(form.coefficient(name) for form in (left, right) for name in names & shared))
        if any(left.coefficient(name) != right.coefficient(name) for name in names - shared):
            continue
        apart = left.constant - right.constant
        if (apart % divisor if divisor else apart) != 0:
            return None
        moving = names & shared
        if len(moving) == 1:
            (name,) = moving
            factor = left.coefficient(name)
            if factor != right.coefficient(name):
                continue
            distance = apart // factor
            if found.setdefault(levels[name], distance) != distance:
                return None
    return found
