"""Generic names, operators and assignments of interfaces: each reference becomes one of the procedure that it means.

The procedure is the one whose arguments have the types, kinds and ranks of the actual ones; an ELEMENTAL one is taken
where no other is.
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from aag.diagnostics import Diagnostic, Span
from aag.ir import expressions as e
from aag.ir import statements as s
from aag.ir.intrinsics import INTRINSICS
from aag.ir.spelling import spell
from aag.ir.units import Entity, Record, Type, Unit
from aag.ir.visitors import map_expression, map_own, mapped, names_in
from aag.source.expression_parser import operator
from aag.source.units import ReadUnit
from aag.source.value_types import Meanings

ASSIGNMENT = "assignment(=)"


class Specific(Struct, frozen=True):
    """A procedure behind a generic name. `exact`: whether the source has it, and not an interface alone."""

    unit: Unit
    exact: bool = True


Candidates = tuple[Specific | None, ...]
"""The procedures behind a generic name; None: one that is not in the source."""


class GenericScope(Struct, frozen=True):
    """What names mean in a unit, with the generic ones."""

    entities: Mapping[str, Entity]
    records: Mapping[str, Record]
    procedures: Mapping[str, Specific]
    generics: Mapping[str, Candidates]


class Resolution(Struct):
    """Units without generic references, what was found, whether all of them are known, and whether assignments may
    may be calls after all."""

    units: tuple[Unit, ...]
    diagnostics: list[Diagnostic] = field(default_factory=list)
    complete: bool = True
    defined: bool = False


def resolve_generics(units: Iterable[Unit], reads: Iterable[ReadUnit]) -> Resolution:
    """The units with specific names in place of generic ones. `reads`: the same units as they were read."""
    listed, known = tuple(units), tuple(reads)
    result = Resolution(listed)
    if any(map(_has_generics, known)):
        resolver = _Resolver(dict(zip((each.name for each in listed), zip(listed, known, strict=True), strict=False)))
        pairs = zip(listed, known, strict=True)
        result.units = tuple(resolver.unit(unit, read, resolver.outermost, result) for unit, read in pairs)
    return result


def _has_generics(read: ReadUnit) -> bool:
    return bool(read.names.generics) or any(map(_has_generics, read.inner))


class _Resolver:
    def __init__(self, units: Mapping[str, tuple[Unit, ReadUnit]]) -> None:
        self._modules = {name: pair for name, pair in units.items() if pair[0].kind == "module"}
        outer = {name: Specific(unit) for name, (unit, _) in units.items() if unit.kind in ("subroutine", "function")}
        self.outermost = GenericScope({}, {}, outer, {})

    def unit(self, unit: Unit, read: ReadUnit, outer: GenericScope, result: Resolution) -> Unit:
        """A unit with those inside of it."""
        scope = self._inside(unit, read, outer, set())
        pairs = zip(unit.contains, read.inner, strict=True)
        contains = tuple(self.unit(inner, known, scope, result) for inner, known in pairs)
        if not scope.generics:
            return replace(unit, contains=contains)
        found = _BodyResolver(scope, read, result)
        entities = tuple(map(found.entity, unit.entities))
        return replace(unit, entities=entities, body=found.body(unit.body), contains=contains)

    def _inside(self, unit: Unit, read: ReadUnit, outer: GenericScope, visited: set[str]) -> GenericScope:
        """What names mean in a unit. `visited`: the modules that are looked at already."""
        entities, records = dict(outer.entities), dict(outer.records)
        procedures, generics = dict(outer.procedures), dict(outer.generics)
        for name in unit.uses:
            if name in self._modules and name not in visited:
                visited.add(name)
                used = self._inside(*self._modules[name], self.outermost, visited)
                entities |= used.entities
                records |= used.records
                procedures |= used.procedures
                for each, more in used.generics.items():
                    generics[each] = _joined(generics.get(each, ()), more)
        external = self.outermost.procedures
        for name, body in read.names.interfaces.items():
            procedures[name] = external.get(name) or Specific(body, exact=False)
        procedures |= {inner.name: Specific(inner) for inner in unit.contains}
        own = {each.name for each in unit.entities} | {each.name for each in unit.contains}
        for name in own - read.names.generics.keys():
            generics.pop(name, None)
        for name, listed in read.names.generics.items():
            generics[name] = _joined(generics.get(name, ()), tuple(procedures.get(each) for each in listed))
        entities |= {each.name: each for each in unit.entities}
        return GenericScope(entities, records | dict(unit.records), procedures, generics)


def _joined(left: Candidates, right: Candidates) -> Candidates:
    return (*left, *(each for each in right if each is None or each not in left))


class _BodyResolver:
    """Resolves the references of one unit."""

    def __init__(self, scope: GenericScope, read: ReadUnit, result: Resolution) -> None:
        self._generics = scope.generics
        self._result = result
        self._records = scope.records
        known = {name: each.unit for name, each in scope.procedures.items() if name not in scope.generics}
        behind = (each for listed in scope.generics.values() for each in listed if each is not None)
        known |= {each.unit.name: each.unit for each in behind}
        self._known = Meanings(scope.entities, scope.records, known, read.names.constants)
        self._simple = 0
        """How many FORALL and WHERE stand around."""
        self._at: s.Stmt | None = None

    def entity(self, entity: Entity) -> Entity:
        """A declaration."""

        def some(expr: e.Expr | None) -> e.Expr | None:
            return None if expr is None else self.expression(expr)

        if entity.shape is None and entity.initial is None:
            return entity
        shape = entity.shape and tuple(
            replace(each, lower=some(each.lower), upper=some(each.upper)) for each in entity.shape
        )
        return replace(entity, shape=shape, initial=some(entity.initial))

    # --- statements ---

    def body(self, body: Iterable[s.Stmt]) -> tuple[s.Stmt, ...]:
        """All statements of a body."""
        return tuple(map(self._statement, body))

    def _statement(self, statement: s.Stmt) -> s.Stmt:
        self._at = statement
        made = map_own(statement, self.expression)
        simple = isinstance(made, s.Forall | s.Where)
        self._simple += simple
        made = mapped(made, self.body)
        self._simple -= simple
        match made:
            case s.CallStmt(name=name) if name in self._generics:
                return self._call(made)
            case s.Assign() if ASSIGNMENT in self._generics:
                return self._assignment(made)
        return made

    def _call(self, call: s.CallStmt) -> s.CallStmt:
        found = self._find(call.name, "subroutine", call.args, call.keywords)
        if found.unit is not None:
            return replace(call, name=found.unit.name)
        if found.none:
            self._error(call.name, call.span)
        return replace(call, reason=f"{call.name} is generic, and the types of its arguments are not all known")

    def _assignment(self, statement: s.Assign) -> s.Stmt:
        """An assignment that the program defines as a call."""
        found = self._find(ASSIGNMENT, "subroutine", (statement.target, statement.value), ())
        if found.none:
            return statement
        target, value = statement.target, statement.value
        if found.unit is None or self._simple:
            self._result.defined = True
            return statement
        reads = _variable(target) in names_in(value)
        if reads and _variable(value):  # what is passed is the value, not what the procedure assigns
            mine = self._known.type_of(value)
            if self._known.rank_of(value) != 0 or mine is None or mine.base not in ("integer", "real", "complex"):
                self._result.defined = True
                return statement
            value = e.Unary("+", value, span=value.span)
        elif reads and self._known.rank_of(value) != 0:
            self._result.defined = True
            return statement
        return s.CallStmt(span=statement.span, label=statement.label, name=found.unit.name, args=(target, value))

    # --- expressions ---

    def expression(self, expr: e.Expr) -> e.Expr:
        """An expression with specific names."""
        return map_expression(expr, self._one)

    def _one(self, expr: e.Expr) -> e.Expr:
        match expr:
            case e.Call(name=name, args=args, keywords=keywords) if name in self._generics:
                found = self._find(name, "function", args, keywords)
                if found.unit is not None:
                    return dataclasses.replace(expr, name=found.unit.name)
                if found.none and (name in INTRINSICS or name in self._records):
                    return expr
                return self._refused(expr, wrong=found.none)
            case e.Binary(op=op, left=left, right=right) if operator(op) in self._generics:
                return self._operation(expr, operator(op), (left, right))
            case e.Unary(op=op, operand=operand) if operator(op) in self._generics:
                return self._operation(expr, operator(op), (operand,))
        return expr

    def _operation(self, expr: e.Expr, name: str, operands: tuple[e.Expr, ...]) -> e.Expr:
        found = self._find(name, "function", operands, ())
        if found.none:
            return expr
        if found.unit is None:
            return self._refused(expr, wrong=False)
        return e.Call(found.unit.name, operands, span=expr.span)

    def _refused(self, expr: e.Expr, *, wrong: bool) -> e.Expr:
        shown = spell(expr)
        span = expr.span if expr.span.line or self._at is None else self._at.span
        if wrong and isinstance(expr, e.Call):
            self._error(expr.name, span)
            return expr
        self._result.complete = False
        message = f"it is not known which procedure {shown} calls: what it reads or writes is unknown"
        hint = "call the specific procedure, or declare its arguments"
        self._result.diagnostics.append(Diagnostic(code="W109", message=message, span=span, hint=hint))
        return e.OpaqueExpr(shown, span=expr.span)

    def _error(self, name: str, span: Span) -> None:
        listed = ", ".join(each.unit.name for each in self._generics[name] if each is not None)
        message = f"no procedure behind {name} has arguments of these types, kinds and ranks"
        hint = f"correct an argument, or add a procedure to the interface, which has {listed}"
        self._result.diagnostics.append(Diagnostic(code="E136", message=message, span=span, hint=hint))

    # --- the choice ---

    def _find(
        self,
        name: str,
        kind: Literal["function", "subroutine"],
        args: Sequence[e.Expr],
        keywords: Sequence[tuple[str, e.Expr]],
    ) -> "_Found":
        """The procedure that a reference means."""
        certain: list[list[Unit]] = [[], []]
        possible: list[list[Unit]] = [[], []]
        unknown = False
        for each in self._generics[name]:
            if each is None:
                unknown = True
            elif each.unit.kind == kind:
                fits = self._fits(each, args, keywords)
                (certain if fits else possible)["elemental" in each.unit.prefixes] += (
                    [] if fits is False else [each.unit]
                )
        for rank in (0, 1):
            if len(certain[rank]) == 1:
                return _Found(certain[rank][0])
            if certain[rank] or possible[rank]:
                only = [*certain[rank], *possible[rank], *certain[1], *possible[1]] if not rank else possible[1]
                return _Found(only[0] if len(only) == 1 and not unknown else None)
        return _Found(None, none=not unknown)

    def _fits(self, specific: Specific, args: Sequence[e.Expr], keywords: Sequence[tuple[str, e.Expr]]) -> bool | None:
        """Whether a procedure takes these arguments; None: it is not known."""
        unit = specific.unit
        given = dict(zip(unit.arguments, args, strict=False)) | dict(keywords)
        if len(args) + len(keywords) > len(given) or not given.keys() <= set(unit.arguments):
            return False
        sure = True
        for name in unit.arguments:
            dummy = unit.entity(name)
            if dummy is None:
                sure = False
            elif name in given:
                fits = self._suits(dummy, given[name], specific)
                if fits is False:
                    return False
                sure = sure and fits is True
            elif "optional" not in dummy.attributes:
                return False
        return sure or None

    def _suits(self, dummy: Entity, actual: e.Expr, specific: Specific) -> bool | None:
        mine, rank = self._known.type_of(actual), self._known.rank_of(actual)
        elemental = "elemental" in specific.unit.prefixes
        if rank is not None and not elemental and rank != len(dummy.shape or ()):
            return False
        fits = (
            None if mine is None or "external" in dummy.attributes else _is_of(mine, dummy.type, exact=specific.exact)
        )
        return fits if rank is not None or fits is False else None


def _variable(expr: e.Expr) -> str:
    """The name of the variable of which something is a part; empty for other values."""
    match expr:
        case e.Var(name=name) | e.Element(name=name):
            return name
        case e.Component(base=base) | e.Substring(base=base):
            return _variable(base)
        case _:
            return ""


class _Found(Struct, frozen=True):
    """A procedure; `none`: no procedure fits for certain."""

    unit: Unit | None
    none: bool = False


def _is_of(actual: Type, dummy: Type, *, exact: bool) -> bool | None:
    """Whether a value has the type and kind of a dummy argument; None: it is not known."""
    if actual.base != dummy.base:
        return False
    if actual.base == "character":
        return True
    if actual.base == "derived":
        if actual.derived != dummy.derived:
            record = dummy.record
            return None if record is None or record.problem else False
        homes = {each.record.home for each in (actual, dummy) if each.record is not None and each.record.home}
        return len(homes) < 2
    if not actual.bytes or not dummy.bytes:
        return None
    return True if actual.bytes == dummy.bytes else False if exact else None
