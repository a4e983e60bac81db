"""The bounds of ALLOCATABLE arrays and pointers where they are arguments."""

from collections import Counter
from collections.abc import Iterable, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from aag.ir import statements as s
from aag.ir.directives import Bound
from aag.ir.evaluate import Environment, Unknown, evaluate_int
from aag.ir.expressions import Call, Element, Expr, IntLit, Section, Var
from aag.ir.steady import Passed, defined_once
from aag.ir.units import Entity, Unit
from aag.ir.visitors import names_in, walk_statements

_DEFERRED = frozenset(("allocatable", "pointer"))


class Allocations(Struct, frozen=True):
    """What ALLOCATE statements say of bounds. `elsewhere`: whether some array may begin elsewhere than at 1; `shapes`:
    the bounds of arrays, where all ALLOCATE statements give the same. `steady`: scalars that do not change then."""

    elsewhere: bool = False
    shapes: Mapping[str, tuple[Bound, ...]] = field(default_factory=dict)
    steady: frozenset[str] = frozenset()

    @staticmethod
    def of(main: Unit, modules: Iterable[Unit], procedures: Iterable[Unit], passed: Passed) -> "Allocations":
        """Those of a program."""
        declared = [each for unit in (main, *modules) for each in unit.entities]
        times = Counter(each.name for each in declared)
        shared = {each.name for each in declared if "allocatable" in each.attributes and times[each.name] == 1}
        found: dict[str, set[tuple[Bound, ...]]] = {}
        elsewhere = dummies = False
        for unit in (main, *procedures):
            for item in _allocated(unit):
                dummies |= item.name in unit.arguments
                shape = tuple(map(_bound, item.subscripts))
                elsewhere |= any(each.lower not in (None, IntLit(1)) for each in shape)
                own = unit is not main and any(map(unit.entity, names_in(item)))
                found.setdefault(item.name, set()).add(() if own else shape)
        alike = {name: shape for name, shapes in found.items() if len(shapes) == 1 for shape in shapes}
        known = {name: shape for name, shape in alike.items() if shape and name in shared}
        steady = defined_once(main, passed)
        return Allocations(elsewhere, {} if dummies else known, steady)  # a dummy may be any of them

    def bounded(self, array: Entity, dummy: Entity, env: Environment) -> Entity:
        """An actual array with its bounds: constants, scalars that do not change, or inquiries where it may begin
        elsewhere than at 1. A dummy that is ALLOCATABLE or a POINTER has them, too, and needs none."""
        if dummy.attributes & _DEFERRED or not array.attributes & _DEFERRED:
            return array
        shape = self.shapes.get(array.name, ())
        try:
            pairs = [(_value(each.lower, env), _value(each.upper, env)) for each in shape]
        except Unknown:
            pairs = []
        fits = len(shape) == len(array.shape or ())
        if pairs and fits:
            return replace(array, shape=tuple(Bound(lower=IntLit(low), upper=IntLit(high)) for low, high in pairs))
        names = names_in(*(part for each in shape for part in (each.lower, each.upper)))
        if shape and fits and names <= self.steady | env.keys():
            return replace(array, shape=shape)
        return _asked(array) if self.elsewhere else array


def _allocated(unit: Unit) -> Iterable[Element]:
    for each in walk_statements(unit.body):
        if isinstance(each, s.Allocate) and not each.deallocate:
            yield from (item for item in each.items if isinstance(item, Element))


def _value(bound: Expr | None, env: Environment) -> int:
    return 1 if bound is None else evaluate_int(bound, env)


def _bound(subscript: Expr) -> Bound:
    if isinstance(subscript, Section):
        return Bound(lower=subscript.lower, upper=subscript.upper)
    return Bound(lower=None, upper=subscript)


def _asked(array: Entity) -> Entity:
    """An array with inquiries as bounds."""

    def bound(each: Bound, dim: int) -> Bound:
        if each.lower is not None or each.upper is not None:
            return each
        lower, upper = (Call(kind, (Var(array.name), IntLit(dim))) for kind in ("lbound", "ubound"))
        return Bound(lower=lower, upper=upper)

    return replace(array, shape=tuple(bound(each, dim) for dim, each in enumerate(array.shape or (), start=1)))
