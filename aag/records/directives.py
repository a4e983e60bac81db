"""Mappings of variables of derived types: all components are mapped alike.

The components of a variable are aligned with a template of its name, so that a directive for the variable, or an
option, maps all of them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from aag.ir import directives as d
from aag.ir import statements as s
from aag.ir.expressions import Expr
from aag.ir.units import Entity, Record, Unit
from aag.ir.visitors import walk_statements
from aag.records.designators import WHOLE
from aag.records.leaves import ComponentPath, leaf_name, leaves
from aag.records.scopes import RecordScope
from aag.records.values import ExpressionSplitter

Inside = Mapping[tuple[str, str], tuple[d.Align | d.Distribute, ...]]
"""The directives inside of the definition of each type, by its unit and its name."""


class _Place(Struct, frozen=True):
    """A component that a directive of a definition maps: the variable that holds it, what it is in, and how many
    dimensions are before it, its own, and behind it."""

    component: str
    path: str
    around: str
    before: int
    rank: int
    behind: int


def inside_types(units: Iterable[Unit]) -> dict[tuple[str, str], tuple[d.Align | d.Distribute, ...]]:
    """The directives inside of definitions."""
    found: dict[tuple[str, str], tuple[d.Align | d.Distribute, ...]] = {}
    for unit in units:
        for each in unit.directives:
            if isinstance(each, d.OfType):
                found[unit.name, each.type] = (*found.get((unit.name, each.type), ()), each.directive)
        found |= inside_types(unit.contains)
    return found


def with_templates(unit: Unit) -> frozenset[str]:
    """The arrays of a unit whose components are aligned with a template: those with extents that no ALIGN maps."""
    remaps = [each.directive for each in walk_statements(unit.body) if isinstance(each, s.Remap)]
    listed = [*unit.directives, *remaps]
    aligned = {each.alignee for each in listed if isinstance(each, d.Align)}
    used = {each.distributee for each in listed if isinstance(each, d.Distribute)}
    used |= {each.target for each in listed if isinstance(each, d.Align)}
    return frozenset(
        each.name
        for each in unit.entities
        if _is_mappable(each) and each.name in used - aligned - set(unit.arguments)
        if all(bound.upper is not None for bound in each.shape or ())
    )


def _is_mappable(entity: Entity) -> bool:
    record = entity.type.record
    return record is not None and not record.problem and bool(entity.shape) and "pointer" not in entity.attributes


class Mappings:
    """The directives of one unit without variables of derived types."""

    def __init__(self, scope: RecordScope, values: ExpressionSplitter, inside: Inside) -> None:
        self._scope = scope
        self._values = values
        self._inside = inside

    def of_unit(self, unit: Unit) -> tuple[d.Directive, ...]:
        """All directives of its specification part."""
        found: list[d.Directive] = []
        for each in unit.entities:
            if each.name in self._scope.templates and _is_mappable(each):
                found += self._template(each)
            elif each.type.record is not None and not each.type.record.problem:
                found += self._of_type(each)
        for directive in unit.directives:
            if not isinstance(directive, d.OfType):
                found += self.split(directive)
        return tuple(found)

    def _template(self, entity: Entity) -> Iterator[d.Directive]:
        """The template of an array, and its components aligned with it."""
        yield d.Template(span=entity.span, name=entity.name, shape=entity.shape or ())
        for leaf in self._leaves(entity):
            rank = len(entity.shape or ())
            yield d.Align(
                span=entity.span,
                alignee=leaf_name(entity.name, leaf.path),
                axes=(":",) * rank + ("*",) * leaf.rank,
                target=entity.name,
                subscripts=(WHOLE,) * rank,
            )

    def _of_type(self, entity: Entity) -> Iterator[d.Directive]:
        """What the definition of its type says of its components."""
        rank = len(entity.shape or ())
        for leaf in self._leaves(entity):
            record = entity.type.record
            before, behind = rank, leaf.rank
            for at, (name, part) in enumerate(zip(leaf.path, leaf.parts, strict=True)):
                assert record is not None
                behind -= len(part)
                for each in self._inside.get((record.home, record.name), ()):
                    around, path = leaf_name(entity.name, leaf.path[:at]), leaf_name(entity.name, leaf.path)
                    for made in _inner(each, record, _Place(name, path, around, before, len(part), behind)):
                        yield self._targeted(made) if isinstance(made, d.Align) else made
                before += len(part)
                component = record.component(name)
                record = None if component is None else component.type.record

    def _leaves(self, entity: Entity) -> Iterator[ComponentPath]:
        assert entity.type.record is not None
        return leaves(entity.type.record)

    def split(self, directive: d.Directive) -> Iterator[d.Directive]:
        """A directive as those of components, where it is about a variable of a derived type."""
        match directive:
            case d.Distribute(distributee=name, formats=formats):
                entity = self._variable(name)
                if entity is None or name in self._scope.templates:
                    yield directive
                    return
                listed = list(self._leaves(entity))
                root = next((each for each in listed if not each.rank), None)
                for leaf in listed:
                    own = leaf_name(name, leaf.path)
                    collapsed = (d.Format(kind="*"),) * leaf.rank
                    if root in (None, leaf) or "allocatable" not in entity.attributes:
                        placed = None if formats is None else (*formats, *collapsed)
                        yield replace(directive, distributee=own, formats=placed)
                    else:
                        yield self._with(entity, leaf, leaf_name(name, root.path), directive)
            case d.Align(alignee=name):
                entity = self._variable(name)
                if entity is None:
                    yield self._targeted(directive)
                    return
                rank = len(entity.shape or ())
                for leaf in self._leaves(entity):
                    axes, subscripts = directive.axes, directive.subscripts
                    if leaf.rank and axes is None:
                        axes = (":",) * rank
                        subscripts = (WHOLE,) * rank if subscripts is None else subscripts
                    along = None if axes is None else (*axes, *("*",) * leaf.rank)
                    own = leaf_name(name, leaf.path)
                    yield self._targeted(replace(directive, alignee=own, axes=along, subscripts=subscripts))
            case d.Dynamic(names=names) | d.Inherit(names=names) | d.Sequence(names=names):
                yield replace(directive, names=self.names(names))
            case _:
                yield directive

    def _with(self, entity: Entity, leaf: ComponentPath, root: str, directive: d.Distribute) -> d.Directive:
        rank = len(entity.shape or ())
        axes = (":",) * rank + ("*",) * leaf.rank
        own = leaf_name(entity.name, leaf.path)
        return d.Align(span=directive.span, alignee=own, axes=axes, target=root, subscripts=(WHOLE,) * rank)

    def _targeted(self, align: d.Align) -> d.Align:
        """An alignment with a component, where its target is a variable of a derived type without a template."""
        entity = self._variable(align.target)
        if entity is None or align.target in self._scope.templates:
            return align
        root = min(self._leaves(entity), key=lambda each: each.rank)
        subscripts = align.subscripts
        if root.rank:
            subscripts = (*(subscripts or (WHOLE,) * len(entity.shape or ())), *(d.Star(),) * root.rank)
        return replace(align, target=leaf_name(entity.name, root.path), subscripts=subscripts)

    def names(self, names: Iterable[str]) -> tuple[str, ...]:
        """A list of names, with all components of those of derived types."""
        found: list[str] = []
        for name in names:
            entity = self._variable(name)
            found += [name] if entity is None or name in self._scope.templates else []
            found += () if entity is None else (leaf_name(name, leaf.path) for leaf in self._leaves(entity))
        return tuple(found)

    def _variable(self, name: str) -> Entity | None:
        entity = self._scope.variable(name)
        return entity if entity is not None and entity.type.record and not entity.type.record.problem else None


def with_values(directive: d.Directive, go: Callable[[Expr], Expr]) -> d.Directive:
    """A directive with `go(expression)` in place of each of its expressions."""

    def some(expr: Expr | None) -> Expr | None:
        return None if expr is None else go(expr)

    match directive:
        case d.Processors(shape=shape) | d.Template(shape=shape):
            bounds = tuple(d.Bound(lower=some(each.lower), upper=some(each.upper)) for each in shape)
            return replace(directive, shape=bounds)
        case d.Align(subscripts=subscripts) if subscripts is not None:
            placed = tuple(each if isinstance(each, d.Star) else go(each) for each in subscripts)
            return replace(directive, subscripts=placed)
        case d.Distribute(formats=formats) if formats is not None:
            return replace(directive, formats=tuple(replace(each, size=some(each.size)) for each in formats))
        case _:
            return directive


def _inner(directive: d.Align | d.Distribute, record: Record, place: _Place) -> Iterator[d.Directive]:
    """A directive of a definition for one component of one variable."""
    name, path, before, behind = place.component, place.path, place.before, place.behind
    match directive:
        case d.Distribute(distributee=mapped, formats=formats) if mapped == name and formats is not None:
            star = d.Format(kind="*")
            yield replace(directive, distributee=path, formats=((star,) * before) + formats + ((star,) * behind))
        case d.Align(alignee=mapped, target=target, axes=axes, subscripts=subscripts) if mapped == name:
            inner = record.component(target)
            if before or behind:
                axes = ("*",) * before + ((":",) * place.rank if axes is None else axes) + ("*",) * behind
                subscripts = (WHOLE,) * place.rank if subscripts is None else subscripts
            if inner is not None:
                target = leaf_name(place.around, (target,))
                subscripts = subscripts and ((d.Star(),) * before + subscripts)
            yield replace(directive, alignee=path, axes=axes, target=target, subscripts=subscripts)
