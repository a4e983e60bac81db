"""What names mean in a unit, as far as derived types are concerned."""

from collections.abc import Iterable, Mapping
from contextlib import suppress

from msgspec import Struct

from aag.ir import directives as d
from aag.ir.evaluate import Unknown, Value, evaluate, evaluate_int
from aag.ir.expressions import Expr, IntLit
from aag.ir.units import Entity, Record, Unit
from aag.ir.visitors import names_in
from aag.records.leaves import ComponentPath, NotSplit, Shape

Entities = Mapping[str, Entity]


class RecordScope(Struct, frozen=True):
    """What a unit sees.

    Attributes:
        entities: Variables and constants.
        records: Derived types.
        functions: Functions of a derived type.
        templates: Variables of a derived type whose components are aligned with a template of this name.
        homes: What each unit that defines types sees.
    """

    entities: Entities
    records: Mapping[str, Record]
    functions: Mapping[str, Unit]
    templates: frozenset[str]
    homes: Mapping[str, Entities]

    def variable(self, name: str) -> Entity | None:
        """A variable or constant of a derived type, or None."""
        entity = self.entities.get(name)
        if entity is None or entity.type.record is None or "external" in entity.attributes:
            return None
        return entity if name not in self.functions or entity.shape is not None else None

    def shape(self, leaf: ComponentPath) -> Shape:
        """The dimensions of a component, in the names of this unit.

        Raises:
            NotSplit: a name has another meaning here, and no value is known.
        """
        found: list[d.Bound] = []
        for part, home in zip(leaf.parts, leaf.homes, strict=True):
            found += (d.Bound(lower=self._here(each.lower, home), upper=self._here(each.upper, home)) for each in part)
        return tuple(found)

    def means_the_same(self, expr: Expr, home: str) -> bool:
        """Whether the names of an expression are the same variables here and in the unit that defines a type."""
        there = self.homes.get(home, {})
        return all(self.entities.get(name) is there.get(name) for name in names_in(expr))

    def _here(self, bound: Expr | None, home: str) -> Expr | None:
        if bound is None or self.means_the_same(bound, home):
            return bound
        try:
            return IntLit(evaluate_int(bound, _constants(self.homes.get(home, {}))), span=bound.span)
        except Unknown as error:
            raise NotSplit(f"{error.name} is another variable here than in the definition of the type") from None


def _constants(entities: Entities) -> Mapping[str, Value]:
    known: dict[str, Value] = {}
    for name, each in entities.items():
        if "parameter" in each.attributes and each.initial is not None:
            with suppress(Unknown):
                known[name] = evaluate(each.initial, known)
    return known


def seen_by(unit: Unit, outer: Entities, modules: Mapping[str, Unit], visited: set[str]) -> dict[str, Entity]:
    """The entities that a unit sees. `visited`: the modules that are looked at already."""
    found = dict(outer)
    for name in unit.uses:
        if name in modules and name not in visited:
            visited.add(name)
            found |= seen_by(modules[name], {}, modules, visited)
    return found | {each.name: each for each in unit.entities}


def functions_of(units: Iterable[Unit]) -> dict[str, Unit]:
    """All functions of a derived type, by their names."""
    found: dict[str, Unit] = {}
    for unit in units:
        result = unit.entity(unit.result) if unit.kind == "function" else None
        if result is not None and result.type.record is not None:
            found[unit.name] = unit
        found |= functions_of(unit.contains)
    return found
