"""Definitions of derived types."""

from collections.abc import Iterator, Mapping
from typing import Any

from aag.diagnostics import Span
from aag.ir.directives import Align, Directive, Distribute, OfType
from aag.ir.evaluate import Unknown
from aag.ir.units import Record, RecordField
from aag.source.data_values import size_of
from aag.source.declarations import Known
from aag.source.expressions import Reader
from aag.source.shapes import TypeReader

_WORDS = {"POINTER": "a POINTER", "ALLOCATABLE": "ALLOCATABLE"}


class DerivedTypeReader(TypeReader):
    """Reads the definitions of derived types of one unit."""

    def record(self, node: Any) -> Record:
        """The type that `node` defines. What is not modelled about it is its problem."""
        statement = node.content[0]
        name = str(statement.items[1]).lower()
        problems: list[str] = []
        attributes = getattr(statement.items[0], "items", ())
        if any("EXTENDS" in str(each).upper() for each in attributes):
            problems.append(f"type {name} extends another type")
        if statement.items[2] is not None:
            problems.append(f"type {name} has parameters")
        fields: list[RecordField] = []
        bound: set[str] = set()
        for part in node.content[1:]:
            if type(part).__name__ == "Component_Part":
                for each in part.content:
                    fields += self._fields(each, name, problems)
            elif type(part).__name__ == "Type_Bound_Procedure_Part":
                bound |= {str(each.items[3]).lower() for each in part.content if len(getattr(each, "items", ())) > 3}
        for each in fields:
            inner = each.type.record
            if inner is not None and inner.problem:
                problems.append(inner.problem)
        return Record(
            name=name,
            home=self.into.unit,
            fields=tuple(fields),
            bytes=sum(each.type.bytes * self._count(each) for each in fields),
            bound=frozenset(bound),
            problem=problems[0] if problems else "",
        )

    def _fields(self, node: Any, owner: str, problems: list[str]) -> Iterator[RecordField]:
        if type(node).__name__ != "Data_Component_Def_Stmt":
            if type(node).__name__ == "Proc_Component_Def_Stmt":
                problems.append(f"type {owner} has a component that is a procedure")
            return
        at = self.locate(node)
        reader = self.reader(at)
        spec, attrs, components = node.items
        words = [str(each).upper() for each in (attrs.items if attrs else ())]
        shared = [each.items[1] for each in (attrs.items if attrs else ()) if type(each).__name__.startswith("Dim")]
        refused = next((shown for word, shown in _WORDS.items() if word in words), "")
        if refused:
            problems.append(f"component {components.items[0].items[0]} of type {owner} is {refused}")
            return
        declared = self.type_spec(spec, reader)
        for each in components.items:
            name, own, length, initial = each.items
            kind = declared
            if length is not None:
                kind = type(declared)(base="character", bytes=self._value(length, reader) or 0)
            shape = own if own is not None else shared[0] if shared else None
            yield RecordField(
                name=str(name).lower(),
                shown=at.shown(str(name)),
                type=kind,
                shape=None if shape is None else self.shape(shape, reader)[0],
                initial=self._default(initial, reader),
            )

    def _default(self, initial: Any, reader: Reader) -> Any:
        return None if initial is None or str(initial.items[0]) == "=>" else reader.read(initial.items[1])

    def _count(self, component: RecordField) -> int:
        try:
            return size_of(Known(shown="", span=Span("", 0), shape=component.shape or ()), self.into.constants)
        except Unknown:
            return 0


def of_type(directive: Directive, ranges: Mapping[str, Span]) -> Directive:
    """A mapping directive, as one of a derived type where it is inside of a definition. `ranges`: their lines."""
    place = directive.span
    if isinstance(directive, Align | Distribute):
        for name, lines in ranges.items():
            if place.file == lines.file and lines.line < place.line < lines.end_line:
                return OfType(span=place, type=name, directive=directive)
    return directive
