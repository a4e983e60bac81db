"""Types and ranks of expressions as they are read, derived types included."""

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from aag.ir import expressions as e
from aag.ir.evaluate import Unknown, Value, evaluate
from aag.ir.intrinsics import INTRINSICS, Intrinsic
from aag.ir.ranks import rank_of_call
from aag.ir.result_types import DOUBLE, INTEGER, LOGICAL, REAL, result_of, wider
from aag.ir.units import Entity, Record, RecordField, Type, Unit
from aag.ir.visitors import children

_COMPARISONS = frozenset(("==", "/=", "<", "<=", ">", ">="))
_NO_VALUE = frozenset(("external", "intrinsic"))


class Meanings(Struct, frozen=True):
    """What names mean in a unit.

    Attributes:
        entities: Variables, constants and functions that are declared.
        records: Derived types.
        procedures: Procedures whose arguments are known.
        constants: The values of named constants.
    """

    entities: Mapping[str, Entity]
    records: Mapping[str, Record]
    procedures: Mapping[str, Unit]
    constants: Mapping[str, Value]

    # --- types ---

    def type_of(self, expr: e.Expr) -> Type | None:
        """The type of an expression; None: it is not known. A type of 0 bytes is of an unknown kind."""
        match expr:
            case e.IntLit(bytes=size):
                return INTEGER if size == INTEGER.bytes else replace(INTEGER, bytes=size)
            case e.RealLit(double=double, text=text):
                return replace(REAL, bytes=0) if "_" in text and not double else DOUBLE if double else REAL
            case e.LogicalLit():
                return LOGICAL
            case e.StringLit(value=text):
                return Type(base="character", bytes=len(text))
            case e.ComplexLit(real=real, imag=imag):
                parts = [self.type_of(real), self.type_of(imag)]
                known = [each.bytes for each in parts if each is not None and each.base == "real"]
                return Type(base="complex", bytes=2 * max((*known, REAL.bytes)))
            case e.Var(name=name) | e.Element(name=name):
                entity = self.entities.get(name)
                return None if entity is None or entity.attributes & _NO_VALUE else entity.type
            case e.Component():
                component = self._component(expr)
                return None if component is None else component.type
            case e.Substring(base=part) | e.Unary(operand=part):
                return self.type_of(part)
            case e.Constructor(values=(first, *_)) | e.ImpliedDo(values=(first, *_)):
                return self.type_of(first)
            case e.Binary():
                return self._type_of_operation(expr)
            case e.Call():
                return self._type_of_call(expr)
        return None

    def _component(self, expr: e.Component) -> RecordField | None:
        base = self.type_of(expr.base)
        return None if base is None or base.record is None else base.record.component(expr.field_name)

    def _type_of_operation(self, expr: e.Binary) -> Type | None:
        left, right = self.type_of(expr.left), self.type_of(expr.right)
        if left is None or right is None or "derived" in (left.base, right.base):
            return None  # an operator of the program
        if expr.op in _COMPARISONS:
            return LOGICAL
        found = wider(left, right)
        known = found.base == "character" or (left.bytes and right.bytes)
        return found if known else replace(found, bytes=0)

    def _type_of_call(self, call: e.Call) -> Type | None:
        unit, entity, row = self.procedures.get(call.name), self.entities.get(call.name), INTRINSICS.get(call.name)
        if unit is not None:
            result = unit.entity(unit.result)
            return None if result is None else result.type
        if call.name in self.records:
            record = self.records[call.name]
            return Type(base="derived", bytes=record.bytes, derived=record.name, record=record)
        if entity is not None and "intrinsic" not in entity.attributes:
            return entity.type
        return None if row is None or not row.form else self._type_of_intrinsic(call, row)

    def _type_of_intrinsic(self, call: e.Call, row: Intrinsic) -> Type | None:
        given = row.bound(call)
        kind = given.pop("kind", None)
        types = [self.type_of(each) for each in given.values()]
        known = [each for each in types if each is not None]
        if row.type in ("first", "second", "common", "kind", "part") and (not known or len(known) < len(types)):
            return None
        try:
            size = 0 if kind is None else evaluate(kind, self.constants)
        except Unknown:
            return replace(result_of(row.type, known or [REAL], 0), bytes=0)
        return result_of(row.type, known or [REAL], size if isinstance(size, int) else 0)

    # --- ranks ---

    def rank_of(self, expr: e.Expr) -> int | None:
        """How many dimensions the value of an expression has; None: it is not known."""
        try:
            return self._rank(expr)
        except _NotKnown:
            return None

    def _rank(self, expr: e.Expr) -> int:
        match expr:
            case e.Var(name=name):
                entity = self.entities.get(name)
                if entity is None or entity.attributes & _NO_VALUE:
                    raise _NotKnown
                return len(entity.shape or ())
            case e.Element(subscripts=subscripts):
                return sum(map(self._along, subscripts))
            case e.Component(base=base, subscripts=subscripts):
                component = self._component(expr)
                if component is None:
                    raise _NotKnown
                whole = len(component.shape or ())
                return self._rank(base) + (sum(map(self._along, subscripts)) if whole and subscripts else whole)
            case e.Substring(base=base):
                return self._rank(base)
            case e.Constructor():
                return 1
            case e.OpaqueExpr() | e.ImpliedDo():
                raise _NotKnown
            case e.Call():
                return self._rank_of_call(expr)
        return max(map(self._rank, children(expr)), default=0)

    def _along(self, subscript: e.Expr) -> int:
        return 1 if isinstance(subscript, e.Section) else self._rank(subscript)

    def _rank_of_call(self, call: e.Call) -> int:
        unit, row = self.procedures.get(call.name), INTRINSICS.get(call.name)
        if unit is not None:
            result = unit.entity(unit.result)
            if "elemental" in unit.prefixes:
                return max(map(self._rank, children(call)), default=0)
            return 0 if result is None else len(result.shape or ())
        if call.name in self.records or "external" in getattr(self.entities.get(call.name), "attributes", ()):
            return 0
        if row is None or not row.form or (row.form == "reshape" and not isinstance(call.args[1], e.Constructor)):
            raise _NotKnown
        return rank_of_call(call, self._rank)


class _NotKnown(Exception):
    """The rank of an expression is not known."""
