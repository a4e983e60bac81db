"""Type specifications and shapes."""

from collections.abc import Callable, Mapping
from typing import Any

from aag.diagnostics import Diagnostic, Span
from aag.ir.directives import Bound
from aag.ir.evaluate import Unknown, evaluate
from aag.ir.expressions import Expr
from aag.ir.units import SIZES, Record, Type
from aag.source.declarations import Declarations, Known
from aag.source.expressions import Locator, Reader

_DEFAULT_BYTES = {"integer": 4, "real": 4, "complex": 8, "logical": 4, "character": 1}


class TypeReader:
    """Reads the types and shapes of one unit, whose declarations are collected in `into`. `cuts`: see `Reader`."""

    def __init__(self, into: Declarations, locate: Callable[[Any], Locator], cuts: Mapping[str, Expr]) -> None:
        self.into = into
        self.locate = locate
        self.cuts = cuts

    def reader(self, at: Locator) -> Reader:
        """A reader of the expressions of the statement at `at`."""
        return Reader(at, self.into, self.cuts)

    # --- types ---

    def type_spec(self, node: Any, reader: Reader) -> Type:
        """The type that a type specification names."""
        if type(node).__name__ == "Declaration_Type_Spec":
            name = str(node.items[1]).lower()
            reader.at.find(name)
            return self.derived_type(name, polymorphic=str(node.items[0]).lower() == "class")
        word, selector = node.items
        match word.upper():
            case "DOUBLE PRECISION":
                return Type(base="real", bytes=8)
            case "DOUBLE COMPLEX":
                return Type(base="complex", bytes=16)
            case "CHARACTER":
                return Type(base="character", bytes=self._length(selector, reader))
            case "INTEGER":
                return Type(base="integer", bytes=self._kind("integer", selector, reader))
            case "REAL":
                return Type(base="real", bytes=self._kind("real", selector, reader))
            case "COMPLEX":
                return Type(base="complex", bytes=self._kind("complex", selector, reader))
            case _:
                return Type(base="logical", bytes=self._kind("logical", selector, reader))

    def derived_type(self, name: str, *, polymorphic: bool = False) -> Type:
        """The derived type of a name; one that is not modelled where it is not defined, or CLASS."""
        problem = f"the type {name} is not defined in this source" if name not in self.into.derived else ""
        if polymorphic:
            problem = f"CLASS({name}) is not modelled"
        unknown = Record(name=name, home="", fields=(), problem=problem)
        record = unknown if problem else self.into.derived[name]
        return Type(base="derived", bytes=record.bytes, derived=record.name, record=record)

    def _kind(self, base: str, selector: Any, reader: Reader) -> int:
        if selector is None:
            return _DEFAULT_BYTES[base]
        starred = selector.items[0] == "*"
        value = self._value(selector.items[1], reader)
        if value is None:
            self._unknown(str(selector.items[1]), _DEFAULT_BYTES[base], reader.at)
            return _DEFAULT_BYTES[base]
        size = value if starred or base != "complex" else 2 * value
        if size not in SIZES[base]:
            self._refuse(base, value, starred=starred, at=reader.at)
            return _DEFAULT_BYTES[base]
        return size

    def _unknown(self, kind: str, size: int, at: Locator) -> None:
        """A kind without a value; a name is reported once."""
        if self.into.open:
            return
        name = kind.lower()
        self.into.diagnostics.append(
            Diagnostic(
                code="E133",
                message=f"the kind {kind} is not known",
                span=at.whole,
                hint=f"declare it before, for example integer, parameter :: {kind} = kind(1.0d0)"
                if name.isidentifier()
                else "write a kind with a constant value, such as 8",
            )
        )
        self.into.constants.setdefault(name, size)

    def _refuse(self, base: str, value: int, *, starred: bool, at: Locator) -> None:
        """A kind whose values are neither predicted nor compiled."""
        known = [size if starred or base != "complex" else size // 2 for size in SIZES[base]]
        given = f"{base.upper()}*{value}" if starred else f"{base.upper()}({value})"
        self.into.diagnostics.append(
            Diagnostic(
                code="E133",
                message=f"{given} is not supported",
                span=at.whole,
                hint=f"use {', '.join(map(str, known[:-1]))} or {known[-1]}",
            )
        )

    def _length(self, selector: Any, reader: Reader) -> int:
        """Bytes of a character entity; 0 where the length is assumed or deferred."""
        if selector is None:
            return 1
        length = selector.items[1] if type(selector).__name__ == "Length_Selector" else selector.items[0]
        if length is None:
            return 1
        return self._value(length, reader) or 0

    def _value(self, node: Any, reader: Reader) -> int | None:
        inner = node.items[1] if type(node).__name__ == "Char_Length" else node
        if type(inner).__name__ == "Type_Param_Value" or str(inner) in ("*", ":"):
            return None
        try:
            value = evaluate(reader.read(inner), self.into.constants)
        except Unknown:
            return None
        return value if isinstance(value, int) else None

    # --- shapes ---

    def shape(self, node: Any, reader: Reader) -> tuple[tuple[Bound, ...], bool]:
        """Bounds, and whether the last one is assumed size (``*``)."""
        kind = type(node).__name__
        if kind == "Assumed_Size_Spec":
            known, lower = node.items
            bounds = () if known is None else self.shape(known, reader)[0]
            return (*bounds, Bound(lower=reader.read_or_none(lower), upper=None)), True
        if kind.endswith("_List"):
            return tuple(self._bound(each, reader) for each in node.items), False
        return (self._bound(node, reader),), False

    def _bound(self, node: Any, reader: Reader) -> Bound:
        if type(node).__name__ == "Deferred_Shape_Spec":
            return Bound(lower=None, upper=None)
        lower, upper = node.items[0], node.items[1]
        return Bound(lower=reader.read_or_none(lower), upper=reader.read_or_none(upper))

    def set_shape(self, name: Known, node: Any, reader: Reader) -> None:
        """Give `name` the shape that `node` writes."""
        self.give(name, self.shape(node, reader), reader.at)

    def give(self, name: Known, shape: tuple[tuple[Bound, ...], bool], at: Locator) -> None:
        """Give `name` a shape of `shape`."""
        if name.shape is not None:
            self.twice(name, f"the shape of {name.shown} is declared twice", at.whole)
        name.shape, assumed_size = shape
        if assumed_size:
            name.attributes.add("assumed_size")

    def twice(self, name: Known, message: str, span: Span) -> None:
        """An error for a second declaration; one is enough for a name."""
        if name.repeated:
            return
        name.repeated = True
        hint = f"the first declaration is in {name.span.line_from(span)}"
        self.into.diagnostics.append(Diagnostic(code="E131", message=message, span=span, hint=hint))
