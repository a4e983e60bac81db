"""Types, ranks and shapes of expressions in one program unit."""

from collections.abc import Mapping, Sequence
from functools import lru_cache, reduce

from msgspec import Struct

from aag.diagnostics import Diagnostic, Span
from aag.ir.expressions import (
    Binary,
    Call,
    ComplexLit,
    Component,
    Constructor,
    Element,
    Expr,
    ImpliedDo,
    IntLit,
    LogicalLit,
    OpaqueExpr,
    RealLit,
    Section,
    StringLit,
    Substring,
    Unary,
    Var,
)
from aag.ir.intrinsics import INTRINSICS, Intrinsic
from aag.ir.linear import add, linear, multiply, subtract
from aag.ir.result_types import DOUBLE, INTEGER, LOGICAL, REAL, result_of, wider
from aag.ir.statements import Stmt
from aag.ir.units import Type, Unit
from aag.ir.visitors import map_expression, names_in, walk_expressions
from aag.mapping.layout import Layout
from aag.wording import plural


class Extent(Struct, frozen=True):
    """One dimension of a shape: index values lower, lower + step, ... not beyond upper."""

    lower: Expr
    upper: Expr
    step: Expr | None = None


class Symbols:
    """What the names of a unit mean. Temporaries that lowering makes are added as it goes."""

    def __init__(
        self, unit: Unit, layouts: Mapping[str, Layout], whole_functions: frozenset[str] = frozenset()
    ) -> None:
        self.whole_functions = whole_functions
        """User functions that take an array as a whole and give a scalar (not ELEMENTAL)."""
        self._types = {entity.name: entity.type for entity in unit.entities}
        self._own = whole_functions.union(
            each.name for each in unit.entities if each.shape is not None or "external" in each.attributes
        )
        """Names that cannot be intrinsic functions. A type alone, as in `real etime`, leaves a function intrinsic."""
        self._constants = frozenset(each.name for each in unit.entities if "parameter" in each.attributes)
        self._arrays = frozenset(each.name for each in unit.entities if each.shape is not None)
        self.layouts = layouts

    def declare(self, name: str, kind: Type) -> None:
        """Add a temporary."""
        self._types[name] = kind

    def types(self) -> dict[str, Type]:
        """All types, temporaries included."""
        return dict(self._types)

    def check_variable(self, target: Var | Element) -> None:
        """What is assigned to is no named constant.

        Raises:
            Mismatch: it is.
        """
        if target.name in self._constants:
            raise Mismatch(f"{target.name} is a PARAMETER and cannot be assigned", target.span)

    def check_rank(self, element: Element) -> None:
        """A reference has one subscript for each dimension of its array.

        Raises:
            Mismatch: it has not.
        """
        layout = self.layouts.get(element.name)
        given = len(element.subscripts)
        if layout is not None and layout.rank != given:
            what = element.name if layout.rank else f"{element.name} is a scalar"
            subscripts = plural(given, "subscript")
            raise Mismatch(f"{what}: found {subscripts}, expected {layout.rank or 'none'}", element.span)

    def is_array(self, name: str) -> bool:
        """Whether the name is an array."""
        layout = self.layouts.get(name)
        return layout is not None and layout.rank > 0

    def type_of(self, expr: Expr) -> Type:
        """The type of an expression (of an element, where it is an array)."""
        match expr:
            case IntLit(bytes=size):
                return Type(base="integer", bytes=size or INTEGER.bytes)
            case RealLit(double=double):
                return DOUBLE if double else REAL
            case LogicalLit():
                return LOGICAL
            case StringLit(value=text):
                return Type(base="character", bytes=len(text))
            case ComplexLit():
                return Type(base="complex", bytes=8)
            case Var(name=name) | Element(name=name):
                return self._types.get(name, INTEGER if name[:1] in "ijklmn" else REAL)
            case Unary(operand=operand):
                return self.type_of(operand)
            case Binary(op=op) if op in (".and.", ".or.", ".eqv.", ".neqv.", "==", "/=", "<", "<=", ">", ">="):
                return LOGICAL
            case Binary(left=left, right=right):
                return wider(self.type_of(left), self.type_of(right))
            case Constructor(values=(first, *_)) | ImpliedDo(values=(first, *_)):
                return self.type_of(first)
            case Call():
                return self._type_of_call(expr)
            case Substring(base=base):
                return self.type_of(base)
            case Component(base=Var(name=name) | Element(name=name)) if name in self._types:
                return INTEGER  # of a pair only the place is read
            case _:
                return REAL

    def intrinsic(self, name: str) -> Intrinsic | None:
        """The intrinsic function of a name, unless the program has a function of its own of this name."""
        return None if name in self._own else INTRINSICS.get(name)

    def _type_of_call(self, call: Call) -> Type:
        found = self.intrinsic(call.name)
        if found is None:
            default = self.type_of(call.args[0]) if call.args else REAL
            return self._types.get(call.name, default)
        given = found.bound(call)
        kind = given.pop("kind", None)
        size = kind.value if isinstance(kind, IntLit) else 0
        types = [self.type_of(each) for each in given.values()]
        return result_of(found.type, types or [REAL], size)

    def shape(self, expr: Expr) -> tuple[Extent, ...]:
        """The shape of an expression; empty for a scalar.

        Raises:
            Unsupported: the shape of a function result is not known.
        """
        match expr:
            case Var(name=name) if self.is_array(name):
                return tuple(Extent(lower, upper) for lower, upper in self.layouts[name].declared)
            case Element(name=name, subscripts=subscripts):
                bounds = self.layouts[name].declared if name in self.layouts else ()
                return tuple(
                    extent
                    for dim, each in enumerate(subscripts)
                    for extent in self._along(each, *(bounds[dim] if dim < len(bounds) else (IntLit(1), IntLit(1))))
                )
            case Unary(operand=operand) | Substring(base=operand):
                return self.shape(operand)
            case Binary(left=left, right=right):
                return self.shape(left) or self.shape(right)
            case Call():
                return self._shape_of_call(expr)
            case Constructor(values=values):
                return (Extent(IntLit(1), self._elements(values)),)
            case _:
                return ()

    def _along(self, subscript: Expr, lower: Expr, upper: Expr) -> tuple[Extent, ...]:
        """The dimension that a section or a vector subscript makes of one with these bounds."""
        if isinstance(subscript, Section):
            return (whole(self._folded(subscript), lower, upper),)
        return self.shape(subscript)

    def _folded(self, section: Section) -> Section:
        """A section with what SIZE, LBOUND and UBOUND return in its bounds."""

        def one(expr: Expr) -> Expr:
            found = self.intrinsic(expr.name) if isinstance(expr, Call) else None
            if not isinstance(expr, Call) or found is None or found.form != "bounds" or not self.shape(expr.args[0]):
                return expr
            value = inquired(self, expr, found.bound(expr))
            return expr if isinstance(value, Constructor) else value

        parts = (section.lower, section.upper, section.step)
        return Section(*(each if each is None else map_expression(each, one) for each in parts), span=section.span)

    def _elements(self, values: Sequence[Expr]) -> Expr:
        """The number of elements of an array constructor.

        Raises:
            Unsupported: it is not known.
        """
        total: Expr = IntLit(0)
        count: Expr
        for value in values:
            if isinstance(value, ImpliedDo):
                count = self._elements(value.values)
                if value.var in names_in(count):
                    raise Unsupported("the length of an array constructor is not known")
                count = multiply(count, _values(Extent(value.lower, value.upper, value.step)))
            elif any(map(self._is_vague, walk_expressions(value))):
                raise Unsupported("the length of an array constructor is not known")
            else:
                count = IntLit(1)
                for extent in self.shape(value):
                    count = multiply(count, _values(extent))
            total = add(total, count)
        return total

    def _is_vague(self, expr: Expr) -> bool:
        """Whether the shape of an expression may be another than `shape` returns."""
        match expr:
            case Var(name=name):
                return name not in self._types or (name in self._arrays and name not in self.layouts)
            case Element(name=name, subscripts=subscripts):
                vector = any(not isinstance(each, Section) and self.shape(each) for each in subscripts)
                return vector or name not in self.layouts
            case Call(name=name):
                return self.intrinsic(name) is None
            case _:
                return isinstance(expr, Component | OpaqueExpr)

    def _shape_of_call(self, call: Call) -> tuple[Extent, ...]:
        found = self.intrinsic(call.name)
        if found is None:
            return () if call.name in self.whole_functions else self._common_shape(call.args)
        given = self.arguments(call, found)
        match found.form:
            case "":
                raise Unsupported(f"{call.name.upper()} is not modelled")
            case "type" | "scalar":
                return ()
            case "expanded":
                return self.shape(self.expanded(call, found))
            case "reduction" | "location":
                shape = self.shape(call.args[0])
                dim = self.dim(given, len(shape))
                if dim is not None:
                    return shape[:dim] + shape[dim + 1 :]
                return (_count(len(shape)),) if found.form == "location" else ()
            case "transpose":
                return self.shape(call.args[0])[::-1]
            case "matmul":
                left, right = self.shape(call.args[0]), self.shape(call.args[1])
                return left[:-1] + right[1:]
            case "shift":
                return self.shape(call.args[0])
            case "spread":
                shape = self.shape(call.args[0])
                dim = self.dim(given, len(shape) + 1) or 0
                return (*shape[:dim], Extent(IntLit(1), given["ncopies"]), *shape[dim:])
            case "reshape":
                return tuple(Extent(IntLit(1), each) for each in self.reshaped(given))
            case "bounds":
                vector = call.name != "size" and "dim" not in given
                return (_count(len(self.shape(call.args[0]))),) if vector else ()
            case _:
                return self._common_shape((*call.args, *(value for _, value in call.keywords)))

    def reshaped(self, given: Mapping[str, Expr]) -> tuple[Expr, ...]:
        """The extents that RESHAPE gives.

        Raises:
            Unsupported: they are not listed, or elements are repeated or taken in another order.
        """
        shape = given["shape"]
        if isinstance(shape, Call) and (found := self.intrinsic(shape.name)) is not None and found.form == "bounds":
            shape = inquired(self, shape, found.bound(shape))
        if not isinstance(shape, Constructor) or any(isinstance(each, ImpliedDo) for each in shape.values):
            raise Unsupported("SHAPE= of RESHAPE must be a list of extents")
        if given.keys() & {"pad", "order"}:
            raise Unsupported("RESHAPE with PAD= or ORDER= is not modelled")
        return shape.values

    def _common_shape(self, args: Sequence[Expr]) -> tuple[Extent, ...]:
        return next((shape for arg in args if (shape := self.shape(arg))), ())

    def expanded(self, call: Call, found: Intrinsic) -> Expr:
        """What stands for a call of the form `expanded`."""
        assert found.expansion is not None
        return found.expansion(call, self.type_of(call.args[0]))

    def arguments(self, call: Call, found: Intrinsic) -> dict[str, Expr]:
        """The arguments of a reduction by name: the second one is MASK= where it is logical."""
        given = found.bound(call)
        if "mask" in found.arguments and "dim" in given and self.type_of(given["dim"]).base == "logical":
            given["mask"] = given.pop("dim")
        return given

    def dim(self, given: Mapping[str, Expr], rank: int) -> int | None:
        """The zero-based DIM= among arguments, or None. `rank`: of the array.

        Raises:
            Unsupported: DIM= is not a literal.
            Mismatch: the array has no such dimension.
        """
        dim = given.get("dim")
        if dim is None:
            return None
        if not isinstance(dim, IntLit):
            raise Unsupported("DIM= must be a literal")
        if not 1 <= dim.value <= rank:
            raise Mismatch(f"the array has no dimension {dim.value}", dim.span)
        return dim.value - 1


class Mismatch(Exception):
    """The program contradicts its own declarations; the text says how, `span` where (no line: the statement)."""

    def __init__(self, message: str, span: Span) -> None:
        self.span = span
        super().__init__(message)

    def finding(self, statement: Span) -> Diagnostic:
        """What a person is told; `statement`: where, if nothing better is known."""
        hint = "correct the reference or the declaration"
        return Diagnostic(code="E402", message=str(self), span=self.span if self.span.line else statement, hint=hint)


class Unsupported(Exception):
    """A construct that lowering does not model; the text says which."""


def assigned(target: Expr, span: Span) -> Element:
    """The target of an assignment for many index values.

    Raises:
        Mismatch: it is no element of an array.
    """
    if not isinstance(target, Element):
        raise Mismatch("FORALL must assign to array elements", span)
    return target


def check_arguments(statement: Stmt, symbols: Symbols) -> None:
    """Intrinsic functions have the arguments that they need.

    Raises:
        Mismatch: one has not.
    """
    if _has_arguments(statement):
        return
    for each in walk_expressions(statement):
        if not isinstance(each, Call) or _enough(each) or symbols.intrinsic(each.name) is None:
            continue
        missing = INTRINSICS[each.name].arguments[len(each.args)].upper()
        raise Mismatch(f"{each.name.upper()} lacks its argument {missing}", each.span)


@lru_cache(maxsize=1024)
def _has_arguments(statement: Stmt) -> bool:
    """Whether no reference lacks an argument, be its function intrinsic or not. It is asked for each choice anew."""
    return all(_enough(each) for each in walk_expressions(statement) if isinstance(each, Call))


def _enough(call: Call) -> bool:
    found = INTRINSICS.get(call.name)
    return found is None or len(call.args) >= found.required


def inquired(symbols: "Symbols", call: Call, given: dict[str, Expr]) -> Expr:
    """What SIZE, SHAPE, LBOUND or UBOUND say; a section and an expression count from 1.

    Raises:
        Unsupported: DIM= is not a literal.
        Mismatch: the array has no such dimension.
    """
    shape = symbols.shape(call.args[0])
    dim = symbols.dim(given, len(shape))
    declared = isinstance(call.args[0], Var)
    if call.name == "lbound":
        each = [extent.lower if declared else IntLit(1) for extent in shape]
    else:
        each = [extent.upper if declared and call.name == "ubound" else length(extent) for extent in shape]
    if dim is not None:
        return each[dim]
    return reduce(multiply, each) if call.name == "size" else Constructor(tuple(each))


def length(extent: Extent) -> Expr:
    """Number of values of one dimension of a shape."""
    last = add(subtract(extent.upper, extent.lower), 1)
    if extent.step is None or extent.step == IntLit(1):
        return last
    return Binary("/", add(subtract(extent.upper, extent.lower), extent.step), extent.step)


def _values(extent: Extent) -> Expr:
    """How many values one dimension has."""
    step = IntLit(1) if extent.step is None else extent.step
    count = add(subtract(extent.upper, extent.lower), step)
    return Call("max", (IntLit(0), count if step == IntLit(1) else Binary("/", count, step)))


def _count(rank: int) -> Extent:
    return Extent(IntLit(1), IntLit(rank))


def whole(section: Section, lower: Expr, upper: Expr) -> Extent:
    """A section with its missing bounds filled in from the declared ones."""
    return Extent(section.lower or lower, section.upper or upper, section.step)


def zero(kind: Type) -> Expr:
    """The zero of a type, of just that type: what EOSHIFT fills in by default."""
    match kind.base, kind.bytes:
        case "real", 4:
            return RealLit(0.0, "0.0")
        case "real", 8:
            return RealLit(0.0, "0.0d0", double=True)
        case "real", size:
            return Call("real", (IntLit(0), IntLit(size)))
        case "complex", size:
            return Call("cmplx", (IntLit(0), IntLit(0), IntLit(size // 2)))
        case "logical", size:
            return LogicalLit(False) if size == 4 else Call("logical", (LogicalLit(False), IntLit(size)))
        case "character", size:
            return StringLit(" " * size)
        case _, size:
            return IntLit(0) if size == 4 else Call("int", (IntLit(0), IntLit(size)))


def converted(value: Expr, symbols: Symbols, kind: Type) -> Expr:
    """A value of the same base type as one of just that type."""
    own = symbols.type_of(value)
    if own == kind or own.base != kind.base or kind.base == "character":
        return value
    if kind.base == "complex":
        return Call("cmplx", (value,), (("kind", IntLit(kind.bytes // 2)),))
    return Call({"integer": "int"}.get(kind.base, kind.base), (value, IntLit(kind.bytes)))


def shifted(position: Expr, context_lower: Expr, own_lower: Expr) -> Expr:
    """The subscript of an operand whose dimension starts at `own_lower`, the context's at `context_lower`."""
    if context_lower == own_lower:
        return position
    apart = subtract(own_lower, context_lower)
    form = linear(apart, {})
    return add(position, IntLit(form.constant) if form.is_constant else apart)


def result_type(function: Unit | None, call: Call, symbols: Symbols) -> Type:
    """The type of what a user function returns; without its source, what the name stands for where it is called."""
    if function is None:
        return symbols.type_of(Var(call.name))
    found = {entity.name: entity.type for entity in function.entities}
    return found.get(function.name) or symbols.type_of(Var(call.name))
