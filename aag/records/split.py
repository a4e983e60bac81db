"""All units of a program without derived types."""

from collections.abc import Iterable, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from aag.diagnostics import Diagnostic
from aag.ir import directives as d
from aag.ir.units import Common, Entity, Equivalence, Unit
from aag.ir.visitors import names_in
from aag.records.directives import Inside, Mappings, inside_types, with_templates, with_values
from aag.records.entities import EntitySplitter
from aag.records.leaves import NotSplit, leaf_name, leaves
from aag.records.scopes import Entities, RecordScope, functions_of, seen_by
from aag.records.statements import BodySplitter
from aag.records.values import ExpressionSplitter


class Split(Struct):
    """Units without derived types, what was found, and whether everything is modelled."""

    units: tuple[Unit, ...]
    diagnostics: list[Diagnostic] = field(default_factory=list)
    complete: bool = True


def split_records(units: Iterable[Unit], *, defined: bool = False) -> Split:
    """The units with a variable for each component of each variable of a derived type.

    Args:
        units: All units of a program.
        defined: Whether it defines assignments of its own.
    """
    listed = tuple(units)
    if not any(map(_has_records, listed)):
        return Split(listed)
    return _Splitter(listed, defined=defined).split()


def _has_records(unit: Unit) -> bool:
    declared = unit.records or any(each.type.record is not None for each in unit.entities)
    return bool(declared) or any(map(_has_records, unit.contains))


class _Splitter:
    def __init__(self, units: tuple[Unit, ...], *, defined: bool) -> None:
        self._units = units
        self._modules = {each.name: each for each in units if each.kind == "module"}
        self._functions = functions_of(units)
        self._inside: Inside = inside_types(units)
        self._defined = defined
        self._homes: dict[str, Entities] = {}
        self._result = Split(())
        for each in units:
            self._find_homes(each, {})
        self._shared = {name: with_templates(each) for name, each in self._modules.items()}

    def _find_homes(self, unit: Unit, outer: Entities) -> None:
        seen = seen_by(unit, outer, self._modules, set())
        if any(each.home == unit.name for each in unit.records.values()):
            self._homes[unit.name] = seen
        for inner in unit.contains:
            self._find_homes(inner, seen)

    def split(self) -> Split:
        self._result.units = tuple(self._unit(each, {}, frozenset()) for each in self._units)
        return self._result

    def _unit(self, unit: Unit, outer: Mapping[str, Entity], templates: frozenset[str]) -> Unit:
        seen = seen_by(unit, outer, self._modules, set())
        own = {each.name for each in unit.entities}
        used = [self._shared[each] for each in self._used(unit.uses)]
        templates = (templates.union(*used) - own) | with_templates(unit)
        functions = {name: each for name, each in self._functions.items() if name != unit.name or name != unit.result}
        scope = RecordScope(seen, unit.records, functions, templates, self._homes)
        result = self._result
        values = ExpressionSplitter(scope, result.diagnostics)
        mappings = Mappings(scope, values, self._inside)
        directives = mappings.of_unit(unit)
        entities = EntitySplitter(unit, values, _mapped(directives, own))
        declared = [made for each in unit.entities for made in entities.split(each)]
        statements = BodySplitter(values, mappings, defined=self._defined)
        first = statements.body(entities.first)
        body = (*first, *statements.body(unit.body))
        result.complete = result.complete and statements.complete and entities.complete
        made = replace(
            unit,
            arguments=tuple(name for each in unit.arguments for name in self._names(each, scope)),
            entities=(*declared, *values.made.values()),
            commons=tuple(
                Common(block=each.block, names=tuple(part for name in each.names for part in self._names(name, scope)))
                for each in unit.commons
            ),
            equivalences=tuple(each for each in unit.equivalences if self._is_plain(each, scope)),
            directives=tuple(with_values(each, values.value) for each in directives),
            body=body,
            contains=tuple(self._unit(each, seen, templates) for each in unit.contains),
            records={},
        )
        return _subroutine(made, unit) if unit.name in self._functions and unit.kind == "function" else made

    def _used(self, uses: Iterable[str]) -> set[str]:
        found: set[str] = set()
        pending = list(uses)
        while pending:
            name = pending.pop()
            if name in self._modules and name not in found:
                found.add(name)
                pending += self._modules[name].uses
        return found

    def _names(self, name: str, scope: RecordScope) -> tuple[str, ...]:
        entity = scope.variable(name)
        record = None if entity is None else entity.type.record
        if record is None or record.problem:
            return (name,)
        return tuple(leaf_name(name, leaf.path) for leaf in leaves(record))

    def _is_plain(self, each: Equivalence, scope: RecordScope) -> bool:
        """Whether no member of an EQUIVALENCE set is of a derived type."""
        if not any(scope.variable(name) for name in names_in(*each.members)):
            return True
        self._result.complete = False
        message = "EQUIVALENCE of a variable of a derived type is not modelled; it is left out"
        self._result.diagnostics.append(Diagnostic(code="W107", message=message, span=each.span))
        return False


def _mapped(directives: Iterable[d.Directive], own: set[str]) -> frozenset[str]:
    """The variables of which a component is mapped."""
    names = {each.alignee for each in directives if isinstance(each, d.Align)}
    names |= {each.distributee for each in directives if isinstance(each, d.Distribute)}
    return frozenset(name.partition("%")[0] for name in names) & own


def _subroutine(made: Unit, unit: Unit) -> Unit:
    """A function of a derived type as a subroutine: its first arguments are the components of its result."""
    result = unit.entity(unit.result)
    assert result is not None
    assert result.type.record is not None
    try:
        filled = [leaf_name(result.name, leaf.path) for leaf in leaves(result.type.record)]
    except NotSplit:
        return made
    entities = tuple(
        replace(each, attributes=each.attributes | {"intent(out)"}) if each.name in filled else each
        for each in made.entities
    )
    return replace(made, kind="subroutine", result="", arguments=(*filled, *made.arguments), entities=entities)
