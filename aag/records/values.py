"""Expressions: references to components become references to the variables that hold them."""

import dataclasses
from collections.abc import Callable

from msgspec import Struct, field

from aag.diagnostics import Diagnostic, Span
from aag.ir import expressions as e
from aag.ir import statements as s
from aag.ir.intrinsics import INTRINSICS
from aag.ir.nearest import did_you_mean
from aag.ir.spelling import spell
from aag.ir.units import Entity, Record, RecordField, Type
from aag.ir.visitors import map_operands
from aag.records.designators import Designator, NamePart
from aag.records.leaves import ComponentPath, NotSplit, leaf_name, leaves
from aag.records.scopes import RecordScope

_BOUNDS = frozenset(("lbound", "ubound"))
_ABOUT_ONE = frozenset(("size", "shape", "allocated", "present", *_BOUNDS))
"""Intrinsic functions of a variable, whatever its type."""
_MOVING = frozenset(("cshift", "merge", "transpose"))
"""Intrinsic functions that return values of a derived type; other arguments than these are as they are."""


class RecordValue(Struct, frozen=True):
    """A value of a derived type. `of`: the expression of a component; `rank`: its dimensions as a whole; `variable`:
    the variable that it is."""

    record: Record
    rank: int
    of: Callable[[ComponentPath], e.Expr]
    variable: Designator | None = None


class ExpressionSplitter(Struct):
    """Rewrites the expressions of one unit. `before`: calls of functions that must run before the statement, None where
    none can; `made`: the variables that they fill."""

    scope: RecordScope
    found: list[Diagnostic]
    before: list[s.Stmt] | None = None
    made: dict[str, Entity] = field(default_factory=dict)

    # --- values of other types ---

    def value(self, expr: e.Expr) -> e.Expr:
        """An expression that is not of a derived type.

        Raises:
            NotSplit: it is, or uses something that is not modelled.
        """
        match expr:
            case e.Var() | e.Element() | e.Component():
                designator = self.designator(expr)
                if designator is None:
                    return self._plain(expr)
                if designator.type.record is not None:
                    raise NotSplit(f"{spell(expr)} is of type {designator.type.derived}, and not one of its components")
                return self._component(expr, designator)
            case e.Call(name=name, args=args) if name in _ABOUT_ONE and args:
                return self._about(expr)
            case e.Call(name=name) if name in self.scope.functions or name in self.scope.records:
                raise NotSplit(f"{spell(expr)} is of a derived type")
            case e.Call(args=args, keywords=keywords):
                given, named = self.arguments(args, keywords)
                return dataclasses.replace(expr, args=given, keywords=named)
            case e.Binary(left=left, right=right, op=op) if self.is_record(left) or self.is_record(right):
                raise NotSplit(f"{op} of values of a derived type is not modelled")
        return map_operands(expr, self.value)

    def _plain(self, expr: e.Expr) -> e.Expr:
        if isinstance(expr, e.Component):
            raise NotSplit(f"{spell(expr)} is not modelled")
        return map_operands(expr, self.value)

    def _component(self, expr: e.Expr, designator: Designator) -> e.Expr:
        last = designator.parts[-1]
        if designator.type.base == "character" and not last.rank and last.subscripts:
            (part,) = last.subscripts if len(last.subscripts) == 1 else (None,)
            if not isinstance(part, e.Section) or part.step is not None:
                raise NotSplit(f"{spell(expr)} is not modelled")
            base = dataclasses.replace(expr)
            assert isinstance(base, e.Component)
            text = self.value(dataclasses.replace(base, subscripts=()))
            assert isinstance(text, e.Var | e.Element)
            return e.Substring(text, part.lower, part.upper, span=expr.span)
        return designator.reference()

    def _about(self, call: e.Call) -> e.Expr:
        """SIZE and its like: of a component that has no dimensions of its own, where there is one."""
        designator = self.designator(call.args[0])
        if designator is None:
            return map_operands(call, self.value)
        first = designator.reference()
        if designator.type.record is not None:
            found = min(leaves(designator.type.record), key=lambda each: each.rank)
            first = designator.reference(found)
            if found.rank and call.name in ("size", "shape"):
                name = leaf_name(designator.entity.name, (*designator.path, *found.path))
                first = e.Element(name, (*designator.sections, *(e.IntLit(1),) * found.rank))
        elif call.name in _BOUNDS and designator.is_whole and not designator.parts[-1].rank:
            first = designator.section() if designator.sections else first
        others = tuple(self.value(each) for each in call.args[1:])
        named = tuple((key, self.value(each)) for key, each in call.keywords)
        return dataclasses.replace(call, args=(first, *others), keywords=named)

    # --- variables ---

    def designator(self, expr: e.Expr) -> Designator | None:
        """The variable of a derived type, or the component of one, that an expression is; None: it is neither.

        Raises:
            NotSplit: the type is not modelled.
        """
        match expr:
            case e.Var(name=name):
                entity, subscripts = self.scope.variable(name), None
            case e.Element(name=name, subscripts=given):
                entity, subscripts = self.scope.variable(name), given
            case e.Component(base=base):
                designator = self.designator(base)
                return None if designator is None else self._behind(expr, designator)
            case _:
                return None
        if entity is None:
            return None
        assert entity.type.record is not None
        problem = f"{entity.shown} is a POINTER" if "pointer" in entity.attributes else entity.type.record.problem
        if problem:
            raise NotSplit(problem)
        part = NamePart(len(entity.shape or ()), self._all(subscripts))
        return Designator(entity, (), (part,), entity.type, expr.span)

    def _behind(self, expr: e.Component, base: Designator) -> Designator:
        record, name = base.type.record, expr.field_name
        if record is None:
            self.error(f"{spell(expr.base)} has no components", expr.span)
            raise NotSplit("")
        component = record.component(name)
        if component is None and name in record.bound:
            raise NotSplit("type-bound procedures are not modelled")
        if component is None:
            hint = did_you_mean(name, sorted(each.name for each in record.fields))
            self.error(f"type {record.name} has no component {name}", expr.span, hint or "correct the name")
            raise NotSplit("")
        part = NamePart(len(component.shape or ()), self._all(expr.subscripts or None))
        path, parts = (*base.path, component.name), (*base.parts, part)
        return Designator(base.entity, path, parts, component.type, expr.span)

    def _all(self, subscripts: tuple[e.Expr, ...] | None) -> tuple[e.Expr, ...] | None:
        return None if subscripts is None else tuple(map(self.value, subscripts))

    def error(self, message: str, span: Span, hint: str = "") -> None:
        """An error of the source."""
        self.found.append(Diagnostic(code="E143", message=message, span=span, hint=hint))

    # --- values of derived types ---

    def is_record(self, expr: e.Expr) -> bool:
        """Whether the value of an expression is of a derived type."""
        match expr:
            case e.Call(name=name, args=args):
                if name in self.scope.functions or name in self.scope.records:
                    return True
                return name in _MOVING and bool(args) and self.is_record(args[0])
            case e.Constructor(values=values) | e.ImpliedDo(values=values):
                return bool(values) and self.is_record(values[0])
        designator = self.designator(expr)
        return designator is not None and designator.type.record is not None

    def record(self, expr: e.Expr) -> RecordValue:
        """A value of a derived type.

        Raises:
            NotSplit: it is none, or is not modelled.
        """
        match expr:
            case e.Call(name=name) if name in self.scope.functions:
                return self.called(expr)
            case e.Call(name=name) if name in self.scope.records:
                return self._structure(expr, self.scope.records[name])
            case e.Call(name=name, args=args) if name in _MOVING and self.is_record(expr):
                return self._moved(expr, [self.record(each) if self.is_record(each) else None for each in args])
            case e.Constructor(values=values) if self.is_record(expr):
                listed = [self.record(each) for each in values]
                return RecordValue(
                    listed[0].record, 1, lambda leaf: e.Constructor(_scalars(listed, leaf), span=expr.span)
                )
            case e.ImpliedDo(values=values) if self.is_record(expr):
                listed = [self.record(each) for each in values]
                step = None if expr.step is None else self.value(expr.step)
                lower, upper = self.value(expr.lower), self.value(expr.upper)
                made = dataclasses.replace(expr, step=step, lower=lower, upper=upper)
                return RecordValue(
                    listed[0].record, 0, lambda leaf: dataclasses.replace(made, values=_scalars(listed, leaf))
                )
            case e.Binary(op=op) | e.Unary(op=op):
                raise NotSplit(f"{op} of values of a derived type is not modelled")
        designator = self.designator(expr)
        if designator is None or designator.type.record is None:
            raise NotSplit(f"{spell(expr)} is not of a derived type")
        return RecordValue(designator.type.record, self.rank(designator), designator.reference, designator)

    def rank(self, designator: Designator) -> int:
        """How many dimensions a variable has as it is referenced."""
        total = 0
        for each in designator.parts:
            total += each.rank if each.subscripts is None else sum(map(self.is_array, each.subscripts))
        return total

    def is_array(self, expr: e.Expr) -> bool:
        """Whether an expression without derived types is an array."""
        match expr:
            case e.Section() | e.Constructor():
                return True
            case e.Var(name=name):
                return self._declared_rank(name) > 0
            case e.Element(subscripts=subscripts):
                return any(map(self.is_array, subscripts))
            case e.Unary(operand=operand):
                return self.is_array(operand)
            case e.Binary(left=left, right=right):
                return self.is_array(left) or self.is_array(right)
            case e.Call(name=name, args=args):
                row = INTRINSICS.get(name)
                return row is not None and row.form == "elemental" and any(map(self.is_array, args))
        return False

    def _declared_rank(self, name: str) -> int:
        root, *path = name.split("%")
        entity = self.scope.entities.get(root)
        total, kind = 0, None if entity is None else entity.type
        total += len((entity.shape or ()) if entity is not None else ())
        for each in path:
            component = None if kind is None or kind.record is None else kind.record.component(each)
            if component is not None:
                total, kind = total + len(component.shape or ()), component.type
        return total

    def _structure(self, call: e.Call, record: Record) -> RecordValue:
        """``t(1, y=2.0)``."""
        if record.problem:
            raise NotSplit(record.problem)
        if len(call.args) > len(record.fields):
            counts = f"{len(record.fields)} components, and {len(call.args)} values are given"
            self.error(f"type {record.name} has {counts}", call.span)
            raise NotSplit("")
        values = {each.name: value for each, value in zip(record.fields, call.args, strict=False)}
        for key, value in call.keywords:
            if record.component(key) is None:
                self.error(f"type {record.name} has no component {key}", call.span)
                raise NotSplit("")
            values[key] = value
        simple: dict[str, e.Expr] = {}
        nested: dict[str, RecordValue] = {}
        for each in record.fields:
            given = values.get(each.name, each.initial)
            if given is None:
                self.error(f"the component {each.shown} of type {record.name} has no value", call.span)
                raise NotSplit("")
            if each.type.record is not None:
                nested[each.name] = self.record(given)
            else:
                simple[each.name] = _converted(self.value(given), each)
                if each.shape is None and self.is_array(simple[each.name]):
                    self.error(
                        f"the component {each.shown} of type {record.name} is a scalar, its value an array", call.span
                    )
                    raise NotSplit("")

        def of(leaf: ComponentPath) -> e.Expr:
            if leaf.path[0] in simple:
                return simple[leaf.path[0]]
            return nested[leaf.path[0]].of(inner_leaf(leaf))

        return RecordValue(record, 0, of)

    def _moved(self, call: e.Call, args: list[RecordValue | None]) -> RecordValue:
        first = args[0]
        assert first is not None
        plain = [each if known is not None else self.value(each) for each, known in zip(call.args, args, strict=True)]
        named = tuple((key, self.value(each)) for key, each in call.keywords)

        def of(leaf: ComponentPath) -> e.Expr:
            if leaf.rank:
                raise NotSplit(f"{call.name} of values with the array component {leaf.shown} is not modelled")
            given = (mine if known is None else known.of(leaf) for mine, known in zip(plain, args, strict=True))
            return dataclasses.replace(call, args=tuple(given), keywords=named)

        return RecordValue(first.record, max(1, first.rank), of)

    # --- functions and arguments ---

    def called(self, call: e.Call) -> RecordValue:
        """What a function of a derived type returns, in a variable that a call before the statement fills.

        Raises:
            NotSplit: no call can stand before the statement.
        """
        unit = self.scope.functions[call.name]
        result = unit.entity(unit.result)
        if self.before is None:
            raise NotSplit(f"{call.name} returns a derived type, and cannot be called before this statement")
        if result is None or result.shape is not None:
            raise NotSplit(f"{call.name} returns an array of a derived type")
        args, keywords = self.arguments(call.args, call.keywords)
        kept = self.temporary(f"{call.name}$value", result.type, call.span)
        assert result.type.record is not None
        filled = tuple(kept.reference(leaf) for leaf in leaves(result.type.record))
        self.before.append(s.CallStmt(span=call.span, name=call.name, args=(*filled, *args), keywords=keywords))
        return RecordValue(result.type.record, 0, kept.reference, kept)

    def temporary(self, wanted: str, kind: Type, span: Span) -> Designator:
        """A new variable of a derived type."""
        assert kind.record is not None
        name, number = wanted, 1
        while leaf_name(name, next(leaves(kind.record)).path) in self.made:
            number += 1
            name = f"{wanted}{number}"
        whole = Entity(name=name, shown=name, type=kind, shape=None, attributes=frozenset(), initial=None, span=span)
        for leaf in leaves(kind.record):
            inner = leaf_name(name, leaf.path)
            self.made[inner] = Entity(
                name=inner,
                shown=inner,
                type=leaf.type,
                shape=self.scope.shape(leaf) or None,
                attributes=frozenset(),
                initial=None,
                span=span,
            )
        return Designator(whole, (), (NamePart(0, None),), kind, span)

    def arguments(
        self, args: tuple[e.Expr, ...], keywords: tuple[tuple[str, e.Expr], ...]
    ) -> tuple[tuple[e.Expr, ...], tuple[tuple[str, e.Expr], ...]]:
        """Actual arguments: all components of those that are of a derived type."""
        given: list[e.Expr] = []
        for each in args:
            given += (value for _, value in self.argument(each))
        named: list[tuple[str, e.Expr]] = []
        for key, each in keywords:
            named += ((leaf_name(key, path), value) for path, value in self.argument(each))
        return tuple(given), tuple(named)

    def argument(self, expr: e.Expr) -> list[tuple[tuple[str, ...], e.Expr]]:
        """The components of an actual argument, or itself."""
        if not self.is_record(expr):
            return [((), self.value(expr))]
        value = self.record(expr)
        if value.variable is None:
            value = self.kept(value, expr)
        return [(leaf.path, value.of(leaf)) for leaf in leaves(value.record)]

    def kept(self, value: RecordValue, expr: e.Expr) -> RecordValue:
        """A structure constructor in a variable of its own.

        Raises:
            NotSplit: it is another expression, or no assignment can stand before the statement.
        """
        if self.before is None or value.rank or not isinstance(expr, e.Call):
            raise NotSplit(f"{spell(expr)} is not modelled as an argument")
        kind = Type(base="derived", bytes=value.record.bytes, derived=value.record.name, record=value.record)
        kept = self.temporary(f"{expr.name}$value", kind, expr.span)
        for leaf in leaves(value.record):
            self.before.append(s.Assign(span=expr.span, target=kept.reference(leaf), value=value.of(leaf)))
        return RecordValue(value.record, 0, kept.reference, kept)


def inner_leaf(leaf: ComponentPath) -> ComponentPath:
    """A component as one of the component that it is in."""
    return ComponentPath(leaf.path[1:], leaf.shown.partition("%")[2], leaf.type, leaf.parts[1:], leaf.homes[1:])


def _scalars(values: list[RecordValue], leaf: ComponentPath) -> tuple[e.Expr, ...]:
    if leaf.rank:
        raise NotSplit(f"a list of values with the array component {leaf.shown} is not modelled")
    return tuple(each.of(leaf) for each in values)


def _converted(value: e.Expr, component: RecordField) -> e.Expr:
    """A literal in the type of its component, so that lists of values have one type."""
    kind = component.type
    if kind.base == "real" and isinstance(value, e.IntLit) and kind.bytes in (4, 8):
        double = kind.bytes == 8
        return e.RealLit(float(value.value), f"{value.value}.0{'d0' if double else ''}", double, span=value.span)
    return value
