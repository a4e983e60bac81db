"""Declarations of variables of derived types as those of their components."""

from collections.abc import Iterator

from msgspec.structs import replace

from aag.diagnostics import Diagnostic
from aag.ir import expressions as e
from aag.ir import statements as s
from aag.ir.directives import Bound
from aag.ir.units import Entity, Record, Unit
from aag.records.leaves import ComponentPath, NotSplit, leaf_name, leaves
from aag.records.values import ExpressionSplitter, RecordValue, inner_leaf

_DEFERRED = Bound(lower=None, upper=None)


class EntitySplitter:
    """Splits the declarations of one unit. `first`: the assignments that its body begins with."""

    def __init__(self, unit: Unit, values: ExpressionSplitter, mapped: frozenset[str]) -> None:
        self._unit = unit
        self._values = values
        self._mapped = mapped
        self.first: list[s.Assign] = []
        self.complete = True

    def split(self, entity: Entity) -> Iterator[Entity]:
        """An entity in which no derived type is left."""
        record = entity.type.record
        if record is None or "pointer" in entity.attributes or record.problem:
            yield self._plain(entity)
            return
        if "external" in entity.attributes or self._values.scope.variable(entity.name) is None:
            return  # a function
        try:
            initial = self._initial(entity, record)
        except NotSplit as problem:
            self.complete = False
            message = f"the initial value of {entity.shown} is not used: {problem}"
            self._values.found.append(Diagnostic(code="W107", message=message, span=entity.span))
            initial = {}
        for leaf in leaves(record):
            yield self._component(entity, leaf, initial.get(leaf.path))

    def _component(self, entity: Entity, leaf: ComponentPath, initial: e.Expr | None) -> Entity:
        own = self._values.scope.shape(leaf)
        if "allocatable" in entity.attributes:
            own = (_DEFERRED,) * len(own)
        shape = (*self._shape(entity), *own)
        return replace(
            entity,
            name=leaf_name(entity.name, leaf.path),
            shown=f"{entity.shown}%{leaf.shown}",
            type=leaf.type,
            shape=shape or None,
            initial=initial,
        )

    def _plain(self, entity: Entity) -> Entity:
        """Another entity, whose extents or value may be components of constants."""
        try:
            initial = None if entity.initial is None else self._values.value(entity.initial)
            shape = None if entity.shape is None else self._shape(entity)
        except NotSplit:
            return entity
        return replace(entity, shape=shape, initial=initial)

    def _shape(self, entity: Entity) -> tuple[Bound, ...]:
        return tuple(
            Bound(
                lower=None if each.lower is None else self._values.value(each.lower),
                upper=None if each.upper is None else self._values.value(each.upper),
            )
            for each in entity.shape or ()
        )

    # --- initial values ---

    def _initial(self, entity: Entity, record: Record) -> dict[tuple[str, ...], e.Expr]:
        """The values that the components begin with, or else the assignments of them in `first`."""
        unit, name = self._unit, entity.name
        dummy = name in unit.arguments
        if dummy and "intent(out)" not in entity.attributes:
            return {}
        if entity.initial is None:
            found = {leaf.path: value for leaf, value in self._defaults(record)}
            local = unit.kind in ("subroutine", "function") and "save" not in entity.attributes
            if local or any(leaf.rank or entity.shape for leaf in leaves(record) if name in self._mapped):
                target = e.Var(name)
                for path, value in found.items():
                    into: e.Expr = target
                    for each in path:
                        into = e.Component(into, each)
                    self.first.append(s.Assign(span=entity.span, target=into, value=value))
                return {}
            return found
        if unit.kind == "program" and "parameter" not in entity.attributes and entity.shape:
            self.first.append(s.Assign(span=entity.span, target=e.Var(name), value=entity.initial))
            return {}
        whole = self._values.record(entity.initial)
        if whole.rank and any(leaf.rank for leaf in leaves(record)):
            raise NotSplit("it has an array component")
        return {leaf.path: whole.of(leaf) for leaf in leaves(record)}

    def _defaults(self, record: Record) -> Iterator[tuple[ComponentPath, e.Expr]]:
        """The defaults of components; those of the type around a component come before its own."""
        for leaf in leaves(record):
            value = self._default(record, leaf)
            if value is not None:
                yield leaf, value

    def _default(self, record: Record, leaf: ComponentPath) -> e.Expr | None:
        component = record.component(leaf.path[0])
        assert component is not None
        if component.initial is not None and not self._values.scope.means_the_same(component.initial, record.home):
            raise NotSplit(f"the default of {component.shown} names a constant that is hidden here")
        if component.type.record is None:
            return component.initial
        inner = inner_leaf(leaf)
        if component.initial is not None:
            whole: RecordValue = self._values.record(component.initial)
            return whole.of(inner)
        return self._default(component.type.record, inner)
