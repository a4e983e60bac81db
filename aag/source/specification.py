"""Specification statements, one method each."""

from collections.abc import Callable, Iterator
from typing import Any

from msgspec.structs import replace

from aag.diagnostics import Diagnostic, Span
from aag.ir.expressions import Element, Expr, Var
from aag.ir.units import Common, Equivalence, Unit
from aag.source.data_values import give
from aag.source.declarations import Declarations, Known
from aag.source.derived_types import DerivedTypeReader
from aag.source.expression_parser import MODERN, operator
from aag.source.expressions import INTRINSIC_OPERATORS, Locator, Reader
from aag.source.parsing import NOT_UNDERSTOOD, UNFORESEEN
from aag.source.shapes import TypeReader

_LISTED = {
    "Allocatable_Stmt": "allocatable",
    "Save_Stmt": "save",
    "Target_Stmt": "target",
    "Pointer_Stmt": "pointer",
    "External_Stmt": "external",
    "Intrinsic_Stmt": "intrinsic",
    "Optional_Stmt": "optional",
    "Intent_Stmt": "intent",
    "Value_Stmt": "value",
    "Volatile_Stmt": "volatile",
}
_TOLERATED = frozenset(
    "Import_Stmt Format_Stmt Comment Contiguous_Stmt Protected_Stmt"
    " Asynchronous_Stmt Bind_Stmt Procedure_Declaration_Stmt Enum_Def".split()
)
_KEPT = frozenset("parameter allocatable save target pointer external intrinsic optional value volatile".split())


class SpecificationReader(TypeReader):
    """Reads the specification part of one unit."""

    def read(self, node: Any) -> None:
        """One statement or construct of the specification part."""
        kind = type(node).__name__
        method = _METHODS.get(kind)
        if method is not None:
            try:
                method(self, node)
            except UNFORESEEN:
                self._unused(node, f"{NOT_UNDERSTOOD}: this declaration is not used")
        elif kind in _LISTED:
            self._listed(node, _LISTED[kind])
        elif kind not in _TOLERATED:
            self._unused(node, f"this declaration ({kind.removesuffix('_Stmt').replace('_', ' ').lower()}) is not used")

    def _unused(self, node: Any, message: str) -> None:
        self.into.incomplete = True
        self._warn("W107", message, self.locate(node).whole, "check that the flow does not depend on it")

    def _warn(self, code: str, message: str, span: Span, hint: str) -> None:
        self.into.diagnostics.append(Diagnostic(code=code, message=message, span=span, hint=hint))

    # --- types ---

    def _type_declaration(self, node: Any) -> None:
        at = self.locate(node)
        reader = self.reader(at)
        spec, attrs, entities = node.items
        declared = self.type_spec(spec, reader)
        attributes: set[str] = set()
        dimension: Any = None
        for attr in () if attrs is None else attrs.items:
            match type(attr).__name__:
                case "Dimension_Attr_Spec":
                    dimension = attr.items[1]
                case "Intent_Attr_Spec":
                    attributes.add(_intent(attr.items[1]))
                case _:
                    word = str(attr).lower()
                    if word in _KEPT:
                        attributes.add(word)
        # The shape of DIMENSION stands before the names, so it is read first.
        before = at.at
        shape = None if dimension is None else self.shape(dimension, reader)
        after = next((i + 1 for i, t in enumerate(at.tokens) if t.text == "::"), before)
        at.at = max(after, 0) if attrs is not None or after > before else before
        for entity in entities.items:
            name, own, length, initial = entity.items
            known = self._declare(str(name), at)
            known.type = declared
            known.attributes |= attributes
            if own is not None:
                self.set_shape(known, own, reader)
            elif shape is not None:
                self.give(known, shape, at)
            if length is not None:
                known.type = replace(declared, bytes=self._value(length, reader) or 0)
            if initial is not None:
                self._initial(str(name).lower(), known, initial, reader)

    def _declare(self, name: str, at: Locator) -> Known:
        known = self.into.names.get(name.lower())
        if known is None:
            return self.into.entry(name, at)
        span = at.span(name)
        if known.type is not None:
            self.twice(known, f"{name} is declared twice", span)
        return known

    def _initial(self, name: str, known: Known, initial: Any, reader: Reader) -> None:
        if str(initial.items[0]) == "=>":
            return
        value = reader.read(initial.items[1])
        if "parameter" in known.attributes:
            self.into.define_constant(name, value)
        else:
            known.initial = value

    def _derived_type(self, node: Any) -> None:
        record = DerivedTypeReader(self.into, self.locate, self.cuts).record(node)
        self.into.derived[record.name] = record
        first, last = self.locate(node.content[0]).whole, self.locate(node.content[-1]).whole
        self.into.ranges[record.name] = Span(first.file, first.line, 0, last.line)

    # --- attributes ---

    def _implicit(self, node: Any) -> None:
        at = self.locate(node)
        if isinstance(node.items[0], str):
            self.into.implicit_none = True
            return
        for spec in node.items[0].items:
            declared = self.type_spec(spec.items[0], self.reader(at))
            for letters in spec.items[1].items:
                first, last = str(letters.items[0]).lower(), str(letters.items[1] or letters.items[0]).lower()
                for code in range(ord(first), ord(last) + 1):
                    self.into.implicit[chr(code)] = declared

    def _parameter(self, node: Any) -> None:
        at = self.locate(node)
        reader = self.reader(at)
        for definition in node.items[1].items:
            name = str(definition.items[0]).lower()
            known = self.into.entry(name, at)
            if "parameter" in known.attributes:
                self.twice(known, f"{known.shown} is a PARAMETER twice", at.whole)
            self.into.define_constant(name, reader.read(definition.items[1]))

    def _dimension(self, node: Any) -> None:
        at = self.locate(node)
        reader = self.reader(at)
        for name, shape in node.items[0]:
            self.set_shape(self.into.entry(str(name), at), shape, reader)

    def _listed(self, node: Any, attribute: str) -> None:
        at = self.locate(node)
        reader = self.reader(at)
        at.find(attribute)
        items = list(_names(node))
        if attribute == "intent":
            attribute = _intent(node.items[0])
            at.find(attribute.partition("(")[2].rstrip(")"))
        for item in items:
            parts = getattr(item, "items", None)
            name = str(parts[0] if parts else item).strip("/ ").lower()
            if not name.isidentifier():
                continue
            if attribute == "save" and str(item).startswith("/"):
                continue
            known = self.into.entry(name, at)
            known.attributes.add(attribute)
            if parts and len(parts) > 1 and parts[1] is not None and hasattr(parts[1], "items"):
                self.set_shape(known, parts[1], reader)

    # --- storage ---

    def _common(self, node: Any) -> None:
        at = self.locate(node)
        reader = self.reader(at)
        for block, objects in node.items[0]:
            names: list[str] = []
            for item in objects.items:
                shaped = type(item).__name__ == "Common_Block_Object"
                name = str(item.items[0] if shaped else item).lower()
                known = self.into.entry(name, at)
                known.attributes.add("common")
                if shaped:
                    self.set_shape(known, item.items[1], reader)
                names.append(name)
            self._add_common("" if block is None else str(block).lower(), tuple(names))

    def _add_common(self, block: str, names: tuple[str, ...]) -> None:
        """COMMON statements that name the same block continue it."""
        for index, each in enumerate(self.into.commons):
            if each.block == block:
                self.into.commons[index] = Common(block=block, names=each.names + names)
                return
        self.into.commons.append(Common(block=block, names=names))

    def _namelist(self, node: Any) -> None:
        at = self.locate(node)
        for group, objects in node.items:
            names = tuple(str(each).lower() for each in getattr(objects, "items", (objects,)))
            for name in names:
                self.into.entry(name, at)
            own = str(group).lower()
            self.into.namelists[own] = (*self.into.namelists.get(own, ()), *names)

    def _data(self, node: Any) -> None:
        """DATA gives variables and parts of arrays their initial values."""
        at = self.locate(node)
        reader = self.reader(at)
        for each in node.items:
            if not give(each, self.into, reader, at):
                self._unused(node, "the values of DATA do not fit its variables and are not used")

    def _equivalence(self, node: Any) -> None:
        at = self.locate(node)
        reader = self.reader(at)
        for each in node.items[1].items:
            first, others = each.items
            members = tuple(self._equivalenced(item, reader, at) for item in (first, *others.items))
            self.into.equivalences.append(Equivalence(members=members, span=at.whole))

    def _equivalenced(self, item: Any, reader: Reader, at: Locator) -> Expr:
        """A member of an EQUIVALENCE set; its shape may be declared later."""
        if type(item).__name__ == "Name":
            self.into.entry(str(item), at)
            return Var(str(item).lower())
        name, subscripts = item.items
        self.into.entry(str(name), at)
        return Element(str(name).lower(), tuple(reader.read(each) for each in subscripts.items))

    # --- procedures ---

    def _access(self, node: Any) -> None:
        """PUBLIC and PRIVATE, of names or of all others."""
        said, listed = node.items
        for name in ("",) if listed is None else (str(each).lower() for each in listed.items):
            self.into.access[name] = said.lower()

    def _use(self, node: Any) -> None:
        name = str(node.items[2]).lower()
        if name not in self.into.uses:
            self.into.uses.append(name)

    def _interface(self, node: Any) -> None:
        """Names that an interface declares are procedures; a function also has a type here."""
        generic = ""
        specific: list[str] = []
        for part in node.content:
            match type(part).__name__:
                case "Interface_Stmt" if part.items[0] is not None and not isinstance(part.items[0], str):
                    generic = _generic(part.items[0])
                    self.into.procedures.add(generic)
                case "Procedure_Stmt":
                    specific += (self.into.specific(str(each).lower()) for each in part.items[0].items)
                case "Subroutine_Body" | "Function_Body":
                    specific.append(self._body(part))
        if generic:
            self.into.generics[generic] = (*self.into.generics.get(generic, ()), *specific)
            word = generic.removeprefix("operator(").removesuffix(")")
            if generic == operator(word) and word.startswith(".") and word not in INTRINSIC_OPERATORS:
                self.into.operators.add(word)

    def _body(self, node: Any) -> str:
        """The name of a procedure that an interface describes. A function becomes an entity, as its type is known."""
        opening = node.content[0]
        prefix, shown, arguments, suffix = opening.items
        name = result = str(shown).lower()
        if type(node).__name__ == "Subroutine_Body":
            self.into.procedures.add(name)
        elif suffix is not None and getattr(suffix, "items", (None,))[0] is not None:
            result = str(suffix.items[0]).lower()
        own_names = Declarations(outside=self.into.constants, operands=self.into.operands)
        inner = SpecificationReader(own_names, self.locate, self.cuts)
        inner.into.derived = dict(self.into.derived)
        at = self.locate(opening)
        for part in node.content[1:]:
            for statement in part.content if type(part).__name__ == "Specification_Part" else ():
                inner.read(statement)
        listed = () if arguments is None else tuple(str(each).lower() for each in arguments.items)
        for each in listed:
            if each != "*":
                inner.into.entry(each)
        prefixes = prefix.items if prefix is not None else ()
        words = frozenset(str(each).lower() for each in prefixes if type(each).__name__ == "Prefix_Spec")
        is_function = type(node).__name__ == "Function_Body"
        if is_function:
            known = self.into.entry(name, at)
            known.attributes.add("external")
            own = inner.into.entry(result)
            for spec in prefixes:
                if type(spec).__name__ in ("Intrinsic_Type_Spec", "Declaration_Type_Spec"):
                    own.type = self.type_spec(spec, self.reader(at))
            known.type = inner.into.type_of(result)
        self.into.interfaces[name] = Unit(
            kind="function" if is_function else "subroutine",
            name=name,
            arguments=listed,
            result=result if is_function else "",
            prefixes=words,
            uses=(),
            entities=inner.into.entities(),
            commons=(),
            directives=(),
            body=(),
            contains=(),
            span=at.whole,
            end=at.whole,
        )
        return name

    def _group(self, node: Any) -> None:
        for part in node.content:
            self.read(part)


def _generic(node: Any) -> str:
    """The name that an interface gives to several procedures; an operator is spelled in the modern form."""
    name = "".join(str(node).lower().split())
    word = name.removeprefix("operator(").removesuffix(")")
    return operator(MODERN.get(word, word)) if name == operator(word) else name


def _intent(node: Any) -> str:
    return f"intent({str(node).lower().replace(' ', '')})"


def _names(node: Any) -> Iterator[Any]:
    """The items of the list that a statement such as SAVE or EXTERNAL carries."""
    for part in reversed(node.items):
        if hasattr(part, "items") and type(part).__name__.endswith("_List"):
            yield from part.items
            return
        if isinstance(part, list | tuple):
            yield from part
            return
        if part is not None and not isinstance(part, str):
            yield part
            return


_METHODS: dict[str, Callable[[SpecificationReader, Any], None]] = {
    "Type_Declaration_Stmt": SpecificationReader._type_declaration,
    "Derived_Type_Def": SpecificationReader._derived_type,
    "Implicit_Stmt": SpecificationReader._implicit,
    "Implicit_Part": SpecificationReader._group,
    "Parameter_Stmt": SpecificationReader._parameter,
    "Dimension_Stmt": SpecificationReader._dimension,
    "Common_Stmt": SpecificationReader._common,
    "Access_Stmt": SpecificationReader._access,
    "Data_Stmt": SpecificationReader._data,
    "Equivalence_Stmt": SpecificationReader._equivalence,
    "Namelist_Stmt": SpecificationReader._namelist,
    "Use_Stmt": SpecificationReader._use,
    "Interface_Block": SpecificationReader._interface,
}
