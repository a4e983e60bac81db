"""The arguments of a call: what each dummy is while the procedure runs, and what is copied and moved around it."""

from collections.abc import Iterable, Mapping
from contextlib import suppress

from msgspec import Struct, field
from msgspec.structs import replace

from aag.diagnostics import Span
from aag.ir import directives as d
from aag.ir import statements as s
from aag.ir.expressions import Call, Element, Expr, ImpliedDo, IntLit, Var
from aag.ir.ranks import is_array
from aag.ir.units import Entity, Unit
from aag.ir.visitors import map_expression, names_in, walk_expressions, walk_statements
from aag.procedures.allocated import Allocations
from aag.procedures.binding import NONE, assign, is_constant, may_cross, part_of
from aag.procedures.declarations import FlatDeclarations
from aag.procedures.effects import AssignedNames
from aag.procedures.names import ABSENT, ActualDim, ActualPart, CallNames, OtherShape, Refused
from aag.procedures.sequences import in_sequence
from aag.procedures.temporaries import bounds, shape_of, whole_arrays


class Copies(Struct, kw_only=True):
    """What stands around the statements of a procedure: copies of arguments, and mappings of dummies."""

    assigned: frozenset[str]
    """The variables of the caller that the procedure may assign."""
    before: list[s.Stmt] = field(default_factory=list)
    after: list[s.Stmt] = field(default_factory=list)


class Binder:
    """Binds the dummies of procedures."""

    def __init__(
        self,
        declarations: FlatDeclarations,
        effects: AssignedNames,
        procedures: Mapping[str, Unit],
        *,
        allocations: Allocations = NONE,
    ) -> None:
        self._declarations = declarations
        self._effects = effects
        self._procedures = procedures
        self._allocations = allocations

    def bound(
        self, unit: Unit, given: Mapping[str, Expr], mark: str, span: Span, into: str = ""
    ) -> tuple[CallNames, Copies]:
        """The names of a procedure at one call, its declarations among those of the program.

        Args:
            unit: The procedure.
            given: The actual argument of each dummy that has one.
            mark: What the names of its loops end with.
            span: The call.
            into: The array that takes the place of the result of a function.

        Raises:
            Refused: it cannot stand there.
        """
        names = CallNames(mark=mark)
        self._declarations.see(unit, names)
        self._declarations.share(unit, names)
        copies = Copies(assigned=self._assigned(unit, given, names))
        if into:
            names.parts[unit.result] = _whole(unit.entity(unit.result), self._declarations.entities[into])
        self._check_aliases(unit, given)
        declared = {each.name: each for each in unit.entities}
        arrays = [name for name in unit.arguments if declared[name].shape is not None]
        for name in unit.arguments:
            entity = declared[name]
            if "optional" in entity.attributes:
                names.present[name] = name in given
            if name not in given:
                names.renamed[name] = ABSENT
            if name not in given or name in arrays:
                continue
            procedure = self._procedure(given[name])
            if procedure:
                names.renamed[name] = names.procedures[name] = procedure
                continue
            if entity.name in self._procedures or "external" in entity.attributes:
                raise Refused(f"its argument {entity.shown} is a procedure")
            self._bind_scalar(unit, entity, given[name], names, copies, span)
        constants = [each for each in unit.entities if "parameter" in each.attributes]
        self._declarations.declare(unit, constants, names)
        for name in arrays:
            if name in given:
                self._bind_array(unit, declared[name], given[name], names, copies, span)
        self._declarations.declare(unit, [each for each in unit.entities if "parameter" not in each.attributes], names)
        self._declarations.declare_shared(unit, names)
        self._declarations.direct(unit, names)
        self._remap(unit, names, copies, span)
        return names, copies

    def _procedure(self, actual: Expr) -> str:
        """The name of the procedure that an argument is; empty where it is none."""
        if not isinstance(actual, Var):
            return ""
        entity = self._declarations.entities.get(actual.name)
        if entity is None:
            return actual.name if actual.name in self._procedures else ""
        return actual.name if entity.attributes & {"external", "intrinsic"} else ""

    def bind_parts(self, dummies: Iterable[Entity | None], args: Iterable[Expr], names: CallNames) -> None:
        """Bind the array dummies of a function that is a formula.

        Raises:
            Refused: an actual argument is not part of an array.
        """
        known = self._declarations.entities
        for each, actual in zip(dummies, args, strict=True):
            if each is None:
                raise Refused("an argument is not declared")
            if each.shape is not None:
                constants = self._declarations.constants()
                names.parts[each.name] = part_of(each, actual, known, names, constants, allocations=self._allocations)

    def _bind_scalar(
        self, unit: Unit, entity: Entity, actual: Expr, names: CallNames, copies: Copies, span: Span
    ) -> None:
        """A scalar dummy: the actual variable itself, a constant, or a variable with a copy."""
        known = self._declarations.entities
        if isinstance(actual, Var) and actual.name in known and "parameter" not in known[actual.name].attributes:
            if known[actual.name].shape is not None:
                raise Refused(f"its argument {entity.shown} is a scalar, {known[actual.name].shown} is an array")
            names.renamed[entity.name] = actual.name
            return
        if is_array(actual, known):
            raise Refused(f"its argument {entity.shown} is a scalar, the actual one is an array")
        changes = self._changes(unit, entity)
        if not changes and is_constant(actual, known):
            names.values[entity.name] = actual
            return
        if isinstance(actual, Element):
            places = (self._kept(each, copies, span) for each in actual.subscripts)
            actual = Element(actual.name, tuple(places), span=actual.span)
            if entity.name not in _variables(unit):
                names.values[entity.name] = actual
                return
        copy = self._declarations.copy(entity, f"{entity.name}${unit.name}", span)
        names.renamed[entity.name] = copy
        if "intent(out)" not in entity.attributes:
            copies.before.append(assign(span, Var(copy), actual))
        if changes and isinstance(actual, Element):
            copies.after.append(assign(span, actual, Var(copy)))

    def _bind_array(
        self, unit: Unit, entity: Entity, actual: Expr, names: CallNames, copies: Copies, span: Span
    ) -> None:
        """An array dummy: the actual array or a part of it; an array of its own for a part that is mapped otherwise and
        for an expression."""
        expression = not isinstance(actual, Var | Element)
        named = names.entity(entity)
        if isinstance(actual, Var | Element):
            part = self._part_of(entity, actual, names, unit)
            dims = (self._kept_dim(each, copies, span) for each in part.dims)
            part = ActualPart(part.array, tuple(dims))
            if part.is_whole or not _is_mapped(entity.name, unit):
                names.parts[entity.name] = part
                return
            actual = part.all(actual)
            named = replace(named, shape=tuple(part.shape()))
        elif any(each.upper is None for each in entity.shape or ()):
            extents = shape_of(actual, self._declarations.entities)
            if extents is None or len(extents) != len(named.shape or ()):
                raise Refused(f"its argument {entity.shown} is an expression")
            named = replace(named, shape=bounds(extents, named.shape or ()))
        own = self._declarations.copy(named, f"{entity.name}${unit.name}", span)
        if expression and not _is_mapped(entity.name, unit):
            like = whole_arrays(actual, len(named.shape or ()), self._declarations.entities)
            self._declarations.place_beside(own, like, span)
        names.renamed[entity.name] = own
        if "intent(out)" not in entity.attributes:
            copies.before.append(assign(span, Var(own), actual))
        if self._changes(unit, entity) and not expression:
            copies.after.append(assign(span, actual, Var(own)))

    def _part_of(self, entity: Entity, actual: Var | Element, names: CallNames, unit: Unit) -> ActualPart:
        """What a dummy array is of the actual one, whose shape may be another one if it is not mapped."""
        known, constants = self._declarations.entities, self._declarations.constants()
        try:
            part = part_of(entity, actual, known, names, constants, allocations=self._allocations)
        except OtherShape as problem:
            try:
                return self._in_sequence(entity, actual, names, unit)
            except Refused as reason:
                raise Refused(f"{problem}: no sequence association, as {reason}") from None
        if may_cross(entity, actual, known[actual.name], names, constants):
            with suppress(Refused):
                return self._in_sequence(entity, actual, names, unit)
        return part

    def _in_sequence(self, entity: Entity, actual: Var | Element, names: CallNames, unit: Unit) -> ActualPart:
        if _is_mapped(entity.name, unit):
            raise Refused(f"{entity.shown} has a mapping")
        return in_sequence(entity, actual, self._declarations, names)

    def _changes(self, unit: Unit, entity: Entity) -> bool:
        """Whether a procedure may assign a dummy."""
        return entity.name in self._effects.assigned(unit) and "intent(in)" not in entity.attributes

    def _assigned(self, unit: Unit, given: Mapping[str, Expr], names: CallNames) -> frozenset[str]:
        """The variables of the caller that a procedure may assign, `names` those of its common blocks."""
        own = {each.name for each in unit.entities} - {name for each in unit.commons for name in each.names}
        places = self._declarations.common_places()
        found = {names.of(places.get(each, each)) for each in self._effects.assigned(unit) - own}
        actual = (given.get(each) for each in self._effects.assigned(unit) & set(unit.arguments))
        found |= self._declarations.renamed_of_modules(self._effects.assigned(unit) - own)
        return frozenset(found | {each.name for each in actual if isinstance(each, Var | Element)})

    def _kept(self, expr: Expr, copies: Copies, span: Span) -> Expr:
        """An expression of the caller that keeps its value while the procedure runs."""
        if not names_in(map_expression(expr, _without_bounds)) & copies.assigned:
            return expr
        name = self._declarations.integer("place$", span)
        copies.before.append(assign(span, Var(name), expr))
        return Var(name)

    def _kept_dim(self, dim: Expr | ActualDim, copies: Copies, span: Span) -> Expr | ActualDim:
        if isinstance(dim, Expr):
            return self._kept(dim, copies, span)
        upper = None if dim.upper is None else self._kept(dim.upper, copies, span)
        lower, start = (self._kept(each, copies, span) for each in (dim.lower, dim.start))
        return replace(dim, lower=lower, upper=upper, start=start)

    def _check_aliases(self, unit: Unit, given: Mapping[str, Expr]) -> None:
        """No variable is two dummies of which one is assigned: standard Fortran forbids it.

        Raises:
            Refused: one is.
        """
        wholes = [(name, each.name) for name, each in given.items() if isinstance(each, Var)]
        for at, (name, variable) in enumerate(wholes):
            for other, same in wholes[:at]:
                dummies = (unit.entity(name), unit.entity(other))
                if same == variable and any(each is not None and self._changes(unit, each) for each in dummies):
                    raise Refused(f"{variable} is its arguments {other} and {name}, and one of them is assigned")

    def _remap(self, unit: Unit, names: CallNames, copies: Copies, span: Span) -> None:
        """Mappings that a procedure gives its dummies: they hold from its begin to its end.

        Raises:
            Refused: one is of a dummy with other bounds than the actual array.
        """
        declared = {each.name: each for each in unit.entities}
        moved: set[str] = set()
        for each in unit.directives:
            name = d.mapped_name(each)
            if name not in names.parts or not isinstance(each, d.Align | d.Distribute):
                target = each.target if isinstance(each, d.Align) else ""
                if target in moved and isinstance(each, d.Align):  # a local array goes with the dummy
                    made = names.directive(each)
                    assert isinstance(made, d.Align)
                    kept = f"{names.of(name)}{names.mark}"
                    copies.before.append(s.Remap(span=each.span, directive=made, copies=False, keeps=kept))
                    copies.after.append(s.Restore(span=each.span, array=made.alignee, kept=kept, copies=False))
                continue
            if each.form == "transcriptive":
                continue
            part, entity = names.parts[name], declared[name]
            if not part.is_same:
                raise Refused(f"its argument {entity.shown} has a mapping, and other bounds than {part.array}")
            if name in moved:
                raise Refused(f"its argument {entity.shown} is mapped twice")
            moved.add(name)
            made = names.directive(each)
            assert isinstance(made, d.Align | d.Distribute)
            needed = "intent(out)" not in entity.attributes and name != unit.result
            changes = self._changes(unit, entity)
            kept = f"{part.array}{names.mark}"
            copies.before.append(s.Remap(span=each.span, directive=made, copies=needed, keeps=kept))
            copies.after.insert(0, s.Restore(span=span, array=part.array, kept=kept, copies=changes))


def _whole(result: Entity | None, array: Entity) -> ActualPart:
    """An array for the result of a function: both have the same extents, as they are assigned."""
    declared = () if result is None else result.shape or ()
    pairs = zip(declared, array.shape or (), strict=True)
    one = IntLit(1)
    dims = (ActualDim(lower=own.lower or one, upper=None, start=its.lower or one, whole=True) for own, its in pairs)
    return ActualPart(array.name, tuple(dims))


def _without_bounds(part: Expr) -> Expr:
    """Bounds of an array do not change with its values."""
    return IntLit(1) if isinstance(part, Call) and part.name in ("lbound", "ubound") else part


def _variables(unit: Unit) -> frozenset[str]:
    """The names that a procedure uses where only a variable can stand: of loops, and of input."""
    loops = {each.var for each in walk_statements(unit.body) if isinstance(each, s.Do)}
    return frozenset(loops | {each.var for each in walk_expressions(unit.body) if isinstance(each, ImpliedDo)})


def _is_mapped(name: str, unit: Unit) -> bool:
    return any(d.mapped_name(each) == name and getattr(each, "form", "") != "transcriptive" for each in unit.directives)
