"""What a program unit can name: its own declarations and directives, and those of the units around it."""

from collections.abc import Mapping
from collections.abc import Sequence as Row
from math import prod
from types import MappingProxyType

from msgspec import Struct

from aag.ir.directives import Align, Bound, Directive, Distribute, Dynamic, Inherit, Processors, Sequence, Template
from aag.ir.evaluate import Unknown, Value, evaluate_int
from aag.ir.expressions import Expr, IntLit, OpaqueExpr
from aag.ir.statements import CallStmt, Remap, Stmt
from aag.ir.storage import allocations
from aag.ir.units import Entity, Program, Unit
from aag.ir.visitors import names_in, own_expressions, walk_statements
from aag.mapping.inquiries import inquired
from aag.mapping.report import Report, place

Bounds = tuple[tuple[int, int], ...]

LARGEST_EXTENT = 2**31
LARGEST_SIZE = 2**55
"""Of a dimension, and of a whole array in elements: beyond all memories, below all overflows."""


class Scope(Struct, frozen=True, kw_only=True):
    """The names that directives of a unit may use. `unit` is the unit itself."""

    unit: Unit
    entities: Mapping[str, Entity]
    directives: tuple[Directive, ...]
    allocated: Mapping[str, tuple[Bound, ...]]

    def arrays(self) -> list[Entity]:
        """The declared arrays, in source order."""
        return [entity for entity in self.entities.values() if entity.shape is not None]

    def shape(self, name: str) -> tuple[Bound, ...]:
        """The shape of an array as its declaration or its ALLOCATE gives it; empty for any other name."""
        entity = self.entities.get(name)
        shape = () if entity is None else entity.shape or ()
        if any(bound.upper is None for bound in shape):
            shape = self.allocated.get(name, shape)
        return shape

    def passed_whole(self) -> frozenset[str]:
        """The names of arrays that library procedures get, which have them as a whole."""
        calls = (
            each for each in walk_statements(self.unit.body) if isinstance(each, CallStmt) and each.cost is not None
        )
        return frozenset(name for each in calls for name in names_in(*each.args))

    def unused(self) -> frozenset[str]:
        """The names of ALLOCATABLE arrays that nothing allocates and no statement mentions."""
        used = {
            name
            for each in walk_statements(self.unit.body)
            for name in (*names_in(*own_expressions(each)), *_moved(each))
        }
        return frozenset(
            each.name
            for each in self.arrays()
            if "allocatable" in each.attributes and each.name not in self.allocated and each.name not in used
        )

    def sequential(self) -> frozenset[str]:
        """The names that SEQUENCE makes sequential; a directive that names something beats one for all.

        A directive names it also by its common block, as in ``SEQUENCE /block/``.
        """
        blocks = {f"/{each.block}/": each.names for each in self.unit.commons}
        directives = [each for each in self.directives if isinstance(each, Sequence)]
        general = any(each.sequential for each in directives if not each.names)
        found = set(self.entities) if general else set()
        for each in directives:
            named = {inner for name in each.names for inner in (*blocks.get(name, ()), name)}
            found = found | named if each.sequential else found - named
        return frozenset(found)


def _moved(statement: Stmt) -> tuple[str, ...]:
    """The name that an executable directive is about."""
    return named_by(statement.directive) if isinstance(statement, Remap) else ()


def visible_to(unit: Unit, program: Program) -> tuple[Unit, ...]:
    """The units whose names a unit sees: its host and the modules that either uses, outermost first."""
    modules = {each.name: each for each in program.units if each.kind == "module" and each is not unit}
    visited: set[str] = set()
    hosts = [each for each in program.units if any(inner is unit for inner in each.contains)]
    outer = [each for host in hosts for each in (*_modules_of(host, modules, visited), host)]
    return (*outer, *_modules_of(unit, modules, visited))


def _modules_of(unit: Unit, modules: Mapping[str, Unit], visited: set[str]) -> list[Unit]:
    """The modules that a unit uses, each after those that it uses itself."""
    found: list[Unit] = []
    for name in unit.uses:
        if name in modules and name not in visited:
            visited.add(name)
            found += [*_modules_of(modules[name], modules, visited), modules[name]]
    return found


def scope_of(unit: Unit, visible: tuple[Unit, ...]) -> Scope:
    """The scope of a unit that sees the units `visible` (modules it uses, its host), outermost first."""
    entities: dict[str, Entity] = {}
    directives: tuple[Directive, ...] = ()
    allocated: dict[str, tuple[Bound, ...]] = {}
    for each in (*visible, unit):
        own = {entity.name: entity for entity in each.entities}
        hidden = own.keys() | {name for directive in each.directives for name in declared_by(directive)}
        directives = tuple(old for old in directives if not hidden & set(named_by(old))) + each.directives
        entities |= own
        allocated |= allocations(each)
    return Scope(
        unit=unit, entities=MappingProxyType(entities), directives=directives, allocated=MappingProxyType(allocated)
    )


def declared_by(directive: Directive) -> tuple[str, ...]:
    """The names that a directive declares."""
    return (directive.name,) if isinstance(directive, Processors | Template) else ()


def named_by(directive: Directive) -> tuple[str, ...]:
    """The names that a directive is about."""
    match directive:
        case Processors(name=name) | Template(name=name) | Align(alignee=name) | Distribute(distributee=name):
            return (name,)
        case Dynamic(names=names) | Inherit(names=names) | Sequence(names=names):
            return names
        case _:
            return ()


def bounds_of_template(template: Template, env: Mapping[str, Value], report: Report) -> Bounds | None:
    """The bounds of a template; None after a report."""
    return _bounds(template.shape, env, report, f"TEMPLATE {template.name}", template)


def bounds_of_array(
    entity: Entity, scope: Scope, env: Mapping[str, Value], report: Report, *, mapped: bool
) -> Bounds | None:
    """The bounds of an array, from its declaration or the ALLOCATE that gives it its shape.

    None after a report: an error where the shape needs a value or a `mapped` array has no shape here at all,
    a note where it is not mapped.
    """
    shape = tuple(inquired(bound, scope.shape, {entity.name}) for bound in scope.shape(entity.name))
    if all(bound.upper is not None for bound in shape):
        return _bounds(shape, env, report, f"the shape of {entity.shown}", entity)
    what, way_out = f"the shape of {entity.shown} is not known here", "declare it with its extents"
    if "allocatable" in entity.attributes and entity.name not in scope.allocated:
        what, way_out = (
            f"{entity.shown} is ALLOCATABLE, but no ALLOCATE gives its shape",
            "allocate it, or give its extents here",
        )
    report.add(
        "E312" if mapped else "W308",
        what + ("" if mapped else ": it is left out"),
        entity.span,
        way_out if mapped else "",
    )
    return None


def written_bounds(
    entity: Entity, scope: Scope, constants: Mapping[str, Value], bounds: Bounds
) -> tuple[tuple[Expr, Expr], ...]:
    """The bounds of an array as the source has them, where they follow from its named constants, else their values."""

    def one(written: Expr | None, value: int) -> Expr:
        if written is None or not names_in(written) <= constants.keys():
            return IntLit(value)
        try:
            return written if evaluate_int(written, constants) == value else IntLit(value)
        except Unknown:
            return IntLit(value)

    shape = tuple(inquired(bound, scope.shape, {entity.name}) for bound in scope.shape(entity.name))
    return tuple(
        (one(bound.lower, lower), one(bound.upper, upper)) for bound, (lower, upper) in zip(shape, bounds, strict=True)
    )


def _bounds(
    shape: tuple[Bound, ...], env: Mapping[str, Value], report: Report, what: str, owner: Template | Entity
) -> Bounds | None:
    bounds = []
    complete = True
    for bound in shape:
        try:
            lower = 1 if bound.lower is None else evaluate_int(bound.lower, env)
            upper = bound.upper or OpaqueExpr("*")  # assumed shape: not for a template
            bounds.append((lower, evaluate_int(upper, env)))
        except Unknown as error:
            complete = False
            here = bound.upper.span if bound.upper is not None else owner.span
            report.unknown_value(what, error, place(here, owner.span))
    if not complete or _too_large(bounds):
        if complete:
            report.add("E317", f"{what} is too large", owner.span, "indices and extents go up to 2**31")
        return None
    return tuple(bounds)


def _too_large(bounds: Row[tuple[int, int]]) -> bool:
    """Whether 64-bit arithmetic on indices or on the number of elements could overflow."""
    ends = [abs(end) for bound in bounds for end in bound]
    extents = [max(0, upper - lower + 1) for lower, upper in bounds]
    return max([0, *ends, *extents]) > LARGEST_EXTENT or prod(extents) > LARGEST_SIZE
