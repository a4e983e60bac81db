"""What the names of a Fortran program unit are: type, rank, whether the compiler knows the value.

Read from the text that runs, with the parser alone: what counts operations of a program shares nothing with what
predicts them.
"""

from collections.abc import Iterable, Mapping
from typing import Any, cast

from fparser.two import Fortran2003
from fparser.two.utils import Base, BinaryOpBase, UnaryOpBase, walk
from msgspec import Struct

from aag.ir.intrinsics import INTRINSICS
from aag.ir.units import Type


def typed(base: str, size_bytes: int) -> Type:
    """A type by its base and the bytes of an element."""
    return Type(base=cast("Any", base), bytes=size_bytes)


INTEGER = typed("integer", 4)
REAL = typed("real", 4)
DOUBLE = typed("real", 8)
LOGICAL = typed("logical", 4)
TEXT = typed("character", 1)

_RANK = ("logical", "character", "integer", "real", "complex")
"""The type of an operation is that of the operand further right, or of more bytes."""
_COMPARISONS = frozenset(("==", "/=", "<", "<=", ">", ">=", ".EQ.", ".NE.", ".LT.", ".LE.", ".GT.", ".GE."))
_LOGICAL = frozenset((".AND.", ".OR.", ".EQV.", ".NEQV.", ".NOT."))


class DeclaredName(Struct, frozen=True):
    """What a name stands for. `rank`: 0 for a scalar; `value`: what a scalar PARAMETER is; `function`: one of this
    file."""

    type: Type
    rank: int = 0
    value: Any = None
    function: bool = False

    @property
    def known(self) -> bool:
        """Whether the compiler knows the value."""
        return self.value is not None


class NameTable(Struct, frozen=True):
    """The names of a program unit, its own first."""

    names: Mapping[str, DeclaredName]
    translations: frozenset[str] = frozenset()
    """Arrays that only say where the run-time library keeps an element."""

    def entity(self, name: str) -> DeclaredName | None:
        """What a name stands for; None: it is declared elsewhere."""
        return self.names.get(name.lower())

    def is_array(self, node: Base) -> bool:
        """Whether an expression is an array, a section or an element of one."""
        if not isinstance(node, Fortran2003.Part_Ref | Fortran2003.Name):
            return False
        found = self.entity(str(node if isinstance(node, Fortran2003.Name) else node.items[0]))
        return found is not None and found.rank > 0

    def type_of(self, node: Any) -> Type:
        """The type of an expression."""
        match node:
            case Fortran2003.Real_Literal_Constant():
                return _of_literal(node, DOUBLE if "D" in str(node.items[0]).upper() else REAL, self.names)
            case Fortran2003.Int_Literal_Constant():
                return _of_literal(node, INTEGER, self.names)
            case Fortran2003.Logical_Literal_Constant():
                return LOGICAL
            case Fortran2003.Char_Literal_Constant():
                return TEXT
            case Fortran2003.Complex_Literal_Constant():
                part = wider(REAL, self.type_of(node.items[0]))
                return typed("complex", 2 * part.bytes)
            case Fortran2003.Parenthesis():
                return self.type_of(node.items[1])
            case Fortran2003.Name():
                found = self.entity(str(node))
                return found.type if found else _implicit(str(node))
            case Fortran2003.Intrinsic_Function_Reference():
                return self._of_intrinsic(node)
            case Fortran2003.Part_Ref() | Fortran2003.Function_Reference() | Fortran2003.Structure_Constructor():
                return self.type_of_name(str(node.items[0]))
            case BinaryOpBase():
                left, operator, right = node.items
                if str(operator).upper() in _COMPARISONS | _LOGICAL:
                    return LOGICAL
                return wider(self.type_of(left), self.type_of(right))
            case UnaryOpBase():
                return self.type_of(node.items[-1])
        return INTEGER

    def type_of_name(self, name: str) -> Type:
        """The type of a variable, or of what a function returns."""
        found = self.entity(name)
        return found.type if found else _implicit(name)

    def _of_intrinsic(self, node: Fortran2003.Intrinsic_Function_Reference) -> Type:
        name, arguments = called(node)
        types = [self.type_of(each) for each in arguments]
        kind = next((each for key, each in keywords(node) if key == "kind"), None)
        bytes_ = bytes_of(kind, self.names) if kind is not None else 0
        match name:
            case "dble" | "dprod":
                return DOUBLE
            case "real" | "float" | "sngl":
                first = types[0]
                if bytes_ or len(arguments) < 2:
                    return typed("real", bytes_ or (first.bytes // 2 if first.base == "complex" else 4))
                return typed("real", bytes_of(arguments[1], self.names))
            case "int" | "nint" | "floor" | "ceiling":
                return typed("integer", bytes_ or (bytes_of(arguments[1], self.names) if len(arguments) > 1 else 4))
            case "cmplx":
                return typed(
                    "complex", 2 * (bytes_ or (bytes_of(arguments[2], self.names) if len(arguments) > 2 else 4))
                )
            case "dcmplx":
                return typed("complex", 16)
            case "aimag" | "abs":
                first = types[0]
                return typed("real", first.bytes // 2) if first.base == "complex" else first
            case "size" | "len" | "lbound" | "ubound" | "iachar" | "ichar" | "index" | "count" | "kind" | "popcnt":
                return INTEGER
            case "all" | "any" | "allocated" | "present" | "btest" | "associated":
                return LOGICAL
            case "dot_product" | "matmul":
                return wider(types[0], types[1])
        return types[0] if types else INTEGER


def called(node: Fortran2003.Intrinsic_Function_Reference) -> tuple[str, list[Base]]:
    """The name of an intrinsic function and its arguments without keywords."""
    name, arguments = node.items
    values = list(arguments.items) if arguments is not None and hasattr(arguments, "items") else []
    if arguments is not None and not isinstance(arguments, Fortran2003.Actual_Arg_Spec_List):
        values = [arguments]
    return str(name).lower(), [each for each in values if not isinstance(each, Fortran2003.Actual_Arg_Spec)]


def keywords(node: Fortran2003.Intrinsic_Function_Reference) -> list[tuple[str, Base]]:
    """The arguments with keywords."""
    found = walk(node.items[1], Fortran2003.Actual_Arg_Spec) if node.items[1] is not None else []
    return [(str(each.items[0]).lower(), each.items[1]) for each in found]


def wider(one: Type, other: Type) -> Type:
    """The type in which two operands are combined."""
    if one.base == other.base:
        return one if one.bytes >= other.bytes else other
    low, high = sorted((one, other), key=lambda each: _RANK.index(each.base) if each.base in _RANK else 0)
    if low.base == "real" and high.base == "complex":
        return typed("complex", max(high.bytes, 2 * low.bytes))
    return high


def scope_of(unit: Base, functions: Mapping[str, DeclaredName], outer: NameTable | None = None) -> NameTable:
    """The names that a program unit declares. `functions`: those of the file; `outer`: of the unit around it."""
    names = {**(outer.names if outer else {}), **functions}
    specification = next((each for each in unit.content if isinstance(each, Fortran2003.Specification_Part)), None)
    for statement in walk(specification, Fortran2003.Type_Declaration_Stmt) if specification is not None else []:
        names.update(_declared(statement, names))
    for statement in walk(specification, Fortran2003.Dimension_Stmt) if specification is not None else []:
        for name, shape in statement.items[0]:
            names[str(name).lower()] = DeclaredName(
                names.get(str(name).lower(), DeclaredName(_implicit(str(name)))).type, _rank(shape)
            )
    calls = [each for each in walk(unit, Fortran2003.Call_Stmt) if str(each.items[0]).lower() == "esp_pack"]
    translations = {str(each.items[1].items[-1]).lower() for each in calls}
    return NameTable(names, frozenset(translations) | (outer.translations if outer else frozenset()))


def functions_of(tree: Base) -> dict[str, DeclaredName]:
    """The functions of a file, with what they return."""
    found: dict[str, DeclaredName] = {}
    for unit in walk(tree, Fortran2003.Function_Subprogram):
        head = unit.content[0]
        name = str(head.items[1]).lower()
        suffix = walk(head, Fortran2003.Suffix)
        result = str(suffix[0].items[0]).lower() if suffix else name
        kinds = walk(head.items[0], Fortran2003.Intrinsic_Type_Spec) if head.items[0] is not None else []
        inner = scope_of(unit, {})
        found[name] = DeclaredName(_type(kinds[0], {}) if kinds else inner.type_of_name(result), function=True)
    return found


def _declared(
    statement: Fortran2003.Type_Declaration_Stmt, names: Mapping[str, DeclaredName]
) -> Iterable[tuple[str, DeclaredName]]:
    spec, attributes, entities = statement.items
    kind = _type(spec, names)
    texts = [str(each).upper() for each in attributes.items] if attributes is not None else []
    common = walk(attributes, Fortran2003.Dimension_Attr_Spec) if attributes is not None else []
    around = _rank(common[0].items[1]) if common else 0
    for each in entities.items:
        name, shape = str(each.items[0]).lower(), each.items[1]
        rank = around if shape is None else _rank(shape)
        old = names.get(name)
        if old is not None and old.function:
            continue
        value = each.items[3].items[1] if "PARAMETER" in texts and not rank and each.items[3] is not None else None
        yield name, DeclaredName(kind, rank, value)


def _rank(shape: Base) -> int:
    return len(shape.items) if hasattr(shape, "items") and type(shape).__name__.endswith("_List") else 1


def _type(spec: Base, names: Mapping[str, DeclaredName]) -> Type:
    if not isinstance(spec, Fortran2003.Intrinsic_Type_Spec):
        return typed("derived", 0)
    name = str(spec.items[0]).upper()
    kind = spec.items[1]
    if name == "DOUBLE PRECISION":
        return DOUBLE
    if name == "DOUBLE COMPLEX":
        return typed("complex", 16)
    if name == "CHARACTER":
        return TEXT
    base = name.lower()
    size = 4
    if isinstance(kind, Fortran2003.Kind_Selector):
        star = str(kind.items[0]) == "*"
        size = bytes_of(kind.items[1], names)
        if star and base == "complex":
            return typed("complex", size)
    return typed(base, 2 * size if base == "complex" else size)


_KINDS = {
    "real32": 4,
    "real64": 8,
    "int8": 1,
    "int16": 2,
    "int32": 4,
    "int64": 8,
    "c_double": 8,
    "c_float": 4,
    "c_int": 4,
}


def bytes_of(kind: Base, names: Mapping[str, DeclaredName]) -> int:
    """How many bytes a kind has."""
    text = str(kind).lower().replace(" ", "")
    if text.isdigit():
        return int(text)
    if text in _KINDS:
        return _KINDS[text]
    named = names.get(text)
    if named is not None and named.known:
        return bytes_of(named.value, names)
    if "selected_real_kind" in text:
        digits = "".join(each for each in text.split("(")[1] if each.isdigit() or each == ",").split(",")[0]
        return 8 if digits and int(digits) > 6 else 4
    if "selected_int_kind" in text:
        digits = "".join(each for each in text if each.isdigit())
        return 8 if digits and int(digits) > 9 else 4
    if text.startswith("kind("):
        return 8 if "d" in text[5:] else 4
    return 8  # a named constant: working precision, as in nearly every program that names one


def _of_literal(node: Base, otherwise: Type, names: Mapping[str, DeclaredName]) -> Type:
    kind = node.items[1]
    if kind is None:
        return otherwise
    return typed(otherwise.base, bytes_of(kind, names))


def _implicit(name: str) -> Type:
    return INTEGER if name[:1].lower() in "ijklmn" else REAL


def is_intrinsic(name: str) -> bool:
    """Whether a name is that of an intrinsic function."""
    return name in INTRINSICS
