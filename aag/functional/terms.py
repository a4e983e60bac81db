"""Expressions as Python text: scalars with Python's numbers, arrays and the values of many iterations with NumPy.

Names in the text: ``v_x`` is a scalar, ``a_x`` an array, ``m_x`` its memory, from which single elements come fastest.
Types are static, so every conversion is written where Fortran makes it.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from aag.functional.tables import NotComputable
from aag.ir import expressions as e
from aag.ir.evaluate import Value
from aag.ir.linear import linear
from aag.ir.result_types import DOUBLE, INTEGER, LOGICAL, REAL, wider
from aag.ir.spelling import spell
from aag.ir.units import Type, Unit
from aag.ir.visitors import names_in, walk_expressions

_COMPARED = {"==": "==", "/=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_SMALL = 2**20
_LETTER = {"integer": "i", "real": "f"}


class PythonTerm(NamedTuple):
    """Text and type of an expression. `many`: a NumPy array; `wide`: an integer that may need to be wrapped, 1 if a
    sum, 2 if a product."""

    text: str
    type: Type
    many: bool = False
    wide: int = 0


class Storage(Struct, frozen=True):
    """An array: its type, and the text of each lower bound."""

    type: Type
    lower: tuple[str, ...]

    @property
    def lowers(self) -> str:
        """All lower bounds as a tuple."""
        return f"({', '.join(self.lower)},)"


class Iterations(Struct, frozen=True):
    """Iterations that are computed together: names with a value for each of them -> text.

    `loops`: names of loop variables, outermost first, where all combinations of their values are taken, each along a
    dimension of its own; None: the values are listed one by one.
    """

    values: Mapping[str, str]
    loops: tuple[str, ...] | None
    axes: str = ""


def variable(name: str) -> str:
    """The name of a scalar."""
    return "v_" + _python(name)


def array(name: str) -> str:
    """The name of an array."""
    return "a_" + _python(name)


def memory(name: str) -> str:
    """The name of the memory of an array."""
    return "m_" + _python(name)


def _python(name: str) -> str:
    return name.replace("$", "_S_").replace("%", "_P_")


def dtype(kind: Type) -> str:
    """The NumPy type of an element.

    Raises:
        NotComputable: there is none.
    """
    if kind.base == "logical":
        return "?"
    if kind.base not in _LETTER or kind.bytes > 8:
        raise NotComputable(f"{kind.base.upper()} values of {kind.bytes} bytes are not followed")
    return _LETTER[kind.base] + str(kind.bytes)


class Terms:
    """Writes expressions of one unit."""

    def __init__(self, unit: Unit, constants: Mapping[str, Value], arrays: Mapping[str, Storage]) -> None:
        self.types = {each.name: each.type for each in unit.entities}
        self.constants = constants
        self.arrays = arrays
        self.least: dict[str, int] = {}
        """Loop variables -> a value that they are never below."""
        self.many: Iterations | None = None
        self._renamed: dict[str, str] = {}

    @contextmanager
    def renamed(self, names: Mapping[str, str]) -> Iterator[None]:
        """Scalars under other names."""
        before = self._renamed
        self._renamed = {**before, **names}
        try:
            yield
        finally:
            self._renamed = before

    @contextmanager
    def together(self, many: Iterations | None) -> Iterator[None]:
        """Expressions of many iterations at once."""
        before = self.many
        self.many = many
        try:
            yield
        finally:
            self.many = before

    def type_of(self, name: str) -> Type:
        """The type of a variable."""
        return self.types.get(name, INTEGER if name[:1] in "ijklmn" else REAL)

    def is_array(self, expr: e.Expr) -> bool:
        """Whether an expression is an array, by the names of arrays and sections in it."""
        match expr:
            case e.Var(name=name):
                return name in self.arrays
            case e.Element(name=name, subscripts=subscripts):
                return any(isinstance(each, e.Section) or self.is_array(each) for each in subscripts)
            case e.Constructor():
                return True
            case e.Call(name=name, args=args, keywords=keywords):
                from_arrays = any(self.is_array(each) for each in (*args, *(value for _, value in keywords)))
                return from_arrays and self.call_is_array(expr)
            case e.Unary(operand=operand):
                return self.is_array(operand)
            case e.Binary(left=left, right=right):
                return self.is_array(left) or self.is_array(right)
            case _:
                return False

    def call_is_array(self, call: e.Call) -> bool:
        """Whether a function of arrays returns one."""
        raise NotImplementedError

    # --- expressions ---

    def term(self, expr: e.Expr) -> PythonTerm:
        """The text of an expression.

        Raises:
            NotComputable: it is not followed.
        """
        match expr:
            case e.IntLit(value=value, bytes=size):
                of = Type(base="integer", bytes=size or INTEGER.bytes)
                return PythonTerm(f"({value})" if value < 0 else str(value), of)
            case e.RealLit(value=value, double=double):
                return self.literal(value, DOUBLE if double else REAL)
            case e.LogicalLit(value=value):
                return PythonTerm(str(value), LOGICAL)
            case e.Var(name=name):
                return self._variable(name)
            case e.Element():
                return self.element(expr)
            case e.Unary(op=op, operand=operand):
                return self._unary(op, self.term(operand))
            case e.Binary(op=op, left=left, right=right):
                return self._binary(op, self.term(left), self.term(right), right)
            case e.Call():
                return self.call(expr)
            case e.Constructor(values=values):
                return self._constructor(values)
        raise NotComputable(f"{spell(expr)} is not followed")

    def call(self, call: e.Call) -> PythonTerm:
        """The text of a function reference."""
        raise NotImplementedError

    def literal(self, value: Value, kind: Type) -> PythonTerm:
        """A constant of a type."""
        match kind.base:
            case "real":
                number = float(value)  # type: ignore[arg-type]  # a constant of that type
                with np.errstate(over="ignore"):
                    held = number if kind.bytes == 8 else float(np.float32(number))
                if not np.isfinite(held):
                    raise NotComputable("a constant is too large for its type")
                return PythonTerm(f"({held!r})", kind)
            case "integer" | "logical":
                return PythonTerm(f"({value!r})", kind)
        raise NotComputable(f"{kind.base.upper()} is not followed")

    def _variable(self, name: str) -> PythonTerm:
        kind = self.type_of(name)
        if name in self._renamed:
            return PythonTerm(self._renamed[name], kind)
        if self.many is not None and name in self.many.values:
            return PythonTerm(self.many.values[name], kind, many=True)
        if name in self.arrays:
            return PythonTerm(array(name), kind, many=True)
        if name in self.constants:
            return self.literal(self.constants[name], kind)
        if kind.base not in ("integer", "real", "logical"):
            raise NotComputable(f"{name} is of type {kind.base.upper()}")
        return PythonTerm(variable(name), kind)

    def exact(self, term: PythonTerm, least: int = 2) -> str:
        """The text, wrapped where an integer may be too large for its type."""
        if term.many or term.wide < least or term.type.base != "integer":
            return term.text
        half = 1 << (8 * term.type.bytes - 1)
        return f"(({term.text} + {half} & {2 * half - 1}) - {half})"

    def number(self, expr: e.Expr) -> str:
        """The text of a bound, a subscript or another integer."""
        return self.exact(self.term(expr))

    def as_type(self, term: PythonTerm, kind: Type) -> str:
        """An operand of an operation of some type."""
        if not term.many:
            if kind.base == "real" and kind.bytes == 4 and term.type.base == "integer" and not term.text.isdigit():
                return f"r4({self.exact(term)})"
            return self.exact(term)
        if (term.type.base, term.type.bytes) == (kind.base, kind.bytes) or kind.base == "logical":
            return term.text
        return f"{term.text}.astype({dtype(kind)!r})"

    def converted(self, term: PythonTerm, kind: Type) -> str:
        """A value as it is assigned to a variable of a type."""
        if term.many:
            return f"many_whole({term.text})" if (kind.base, term.type.base) == ("integer", "real") else term.text
        match kind.base, term.type.base:
            case "real", _ if kind.bytes == 4 and (term.type.base, term.type.bytes) != ("real", 4):
                return f"r4({self.exact(term)})"
            case "real", "integer":
                return f"float({self.exact(term)})"
            case "integer", "real":
                return f"int({term.text})"
            case "integer", "integer" if kind.bytes < term.type.bytes:
                return self.exact(PythonTerm(term.text, kind, wide=2))
            case "integer", "integer":
                return self.exact(term, 1)
            case "logical", "logical":
                return term.text
            case "real", "real":
                return term.text
        raise NotComputable(f"{term.type.base.upper()} is assigned to {kind.base.upper()}")

    def _unary(self, op: str, term: PythonTerm) -> PythonTerm:
        if op == ".not.":
            return PythonTerm(f"(~{term.text})" if term.many else f"(not {term.text})", LOGICAL, term.many)
        return PythonTerm(f"({op}{term.text})", term.type, term.many, term.wide)

    def _binary(self, op: str, left: PythonTerm, right: PythonTerm, second: e.Expr) -> PythonTerm:
        many = left.many or right.many
        if op in (".and.", ".or.", ".eqv.", ".neqv."):
            words = {".and.": "and", ".or.": "or", ".eqv.": "==", ".neqv.": "!="}
            signs = {".and.": "&", ".or.": "|", ".eqv.": "==", ".neqv.": "!="}
            return PythonTerm(f"({left.text} {(signs if many else words)[op]} {right.text})", LOGICAL, many)
        kind = wider(left.type, right.type)
        if op in _COMPARED:
            if many:
                return PythonTerm(
                    f"({self.as_type(left, kind)} {_COMPARED[op]} {self.as_type(right, kind)})", LOGICAL, many
                )
            return PythonTerm(f"({self.exact(left)} {_COMPARED[op]} {self.exact(right)})", LOGICAL)
        if op == "**":
            return self._power(left, right, kind, second)
        if kind.base not in ("integer", "real"):
            raise NotComputable(f"{kind.base.upper()} operands of {op} are not followed")
        if op == "/" and kind.base == "integer":
            return self._quotient(left, right, kind)
        if kind.base == "integer" and not many:
            wide = max(left.wide, right.wide, 2 if op == "*" else 0 if _is_small(left) or _is_small(right) else 1)
            return PythonTerm(f"({left.text} {op} {right.text})", kind, wide=wide)
        text = f"({self.as_type(left, kind)} {op} {self.as_type(right, kind)})"
        return PythonTerm(f"r4{text}" if kind.bytes == 4 and not many else text, kind, many)

    def _quotient(self, left: PythonTerm, right: PythonTerm, kind: Type) -> PythonTerm:
        over, under = self.as_type(left, kind), self.as_type(right, kind)
        if left.many or right.many:
            return PythonTerm(f"many_divide({over}, {under})", kind, many=True)
        if under.strip("()").isdigit() and under.strip("(0)") and left.text.isidentifier():
            return PythonTerm(f"({over} // {under} if {over} >= 0 else -(-{over} // {under}))", kind)
        return PythonTerm(f"divide({over}, {under})", kind)

    def _power(self, left: PythonTerm, right: PythonTerm, kind: Type, second: e.Expr) -> PythonTerm:
        if kind.base not in ("integer", "real"):
            raise NotComputable(f"{kind.base.upper()} powers are not followed")
        many = left.many or right.many
        if right.type.base == "integer":
            base, exponent = self.exact(left), self.exact(right)
            if second == e.IntLit(2) and (left.text.isidentifier()):
                text = f"({base} * {base})"
                return PythonTerm(f"r4{text}" if _is_single(left) else text, left.type, many, 0 if many else 2)
            if many:
                return PythonTerm(f"many_power({base}, {exponent})", left.type, many=True)
            name = "power4" if _is_single(left) else "power"
            return PythonTerm(f"{name}({base}, {exponent})", left.type, wide=2)
        base, exponent = self.as_type(left, kind), self.as_type(right, kind)
        if many:
            return PythonTerm(f"np.power({base}, {exponent})", kind, many=True)
        return PythonTerm(
            f"r4(math.pow({base}, {exponent}))" if kind.bytes == 4 else f"math.pow({base}, {exponent})", kind
        )

    def _constructor(self, values: tuple[e.Expr, ...]) -> PythonTerm:
        if self.many is not None:
            raise NotComputable("an array constructor in a loop")
        parts, kind = [], None
        for value in values:
            text, of = self._constructed(value)
            parts.append(text)
            kind = of if kind is None else wider(kind, of)
        kind = kind or INTEGER
        return PythonTerm(f"joined([{', '.join(parts)}], {dtype(kind)!r})", kind, many=True)

    def _constructed(self, value: e.Expr) -> tuple[str, Type]:
        if not isinstance(value, e.ImpliedDo):
            term = self.term(value)
            return (term.text if term.many else self.exact(term, 1)), term.type
        name = variable(value.var) + "_"
        first, last = (self.number(each) for each in (value.lower, value.upper))
        step = "1" if value.step is None else self.number(value.step)
        with self.renamed({value.var: name}):
            inner = [self._constructed(each) for each in value.values]
        kind = inner[0][1]
        for _, other in inner[1:]:
            kind = wider(kind, other)
        items = ", ".join(text for text, _ in inner)
        loop = f"for {name} in meter.counted({first}, {last}, {step})"
        return f"joined([each_ {loop} for each_ in ({items},)], {dtype(kind)!r})", kind

    # --- elements and sections ---

    def element(self, expr: e.Element) -> PythonTerm:
        """An element or a section."""
        storage = self.arrays.get(expr.name)
        if storage is None:
            raise NotComputable(f"{expr.name} is not an array")
        if len(storage.lower) != len(expr.subscripts):
            raise NotComputable(f"{expr.name} has {len(storage.lower)} dimensions")
        if self.is_array(expr):
            if self.many is not None:
                raise NotComputable("a section in a loop")
            return PythonTerm(f"take({self.section(expr, storage)})", storage.type, many=True)
        if self.varies(expr):
            return PythonTerm(self.elements(expr), storage.type, many=True)
        return PythonTerm(self.place(expr), storage.type)

    def varies(self, expr: e.Expr) -> bool:
        """Whether an expression has several values in the iterations that are computed together."""
        return self.many is not None and not names_in(expr).isdisjoint(self.many.values)

    def section(self, expr: e.Element, storage: Storage) -> str:
        """The arguments of `support.part`: array, lower bounds, subscripts."""
        parts = []
        for each in expr.subscripts:
            if isinstance(each, e.Section):
                ends = [None if end is None else self.number(end) for end in (each.lower, each.upper, each.step)]
                parts.append(f"slice({ends[0]}, {ends[1]}, {ends[2]})")
            else:
                parts.append(self.number(each))
        return f"{array(expr.name)}, {storage.lowers}, ({', '.join(parts)},)"

    def place(self, expr: e.Element) -> str:
        """One element, to read or to assign."""
        storage = self.arrays[expr.name]
        places = [self._offset(one, low) for one, low in zip(expr.subscripts, storage.lower, strict=True)]
        return f"{memory(expr.name)}[{', '.join(places)}]"

    def _offset(self, subscript: e.Expr, lower: str) -> str:
        """A subscript counted from 0, never negative."""
        form = linear(subscript, self.constants)
        known = lower.lstrip("-").isdigit()
        constant = form.constant - (int(lower) if known else 0)
        atoms = [(self.number(atom), factor, atom) for atom, factor in form.terms.items()]
        if not atoms and known:
            return str(constant) if constant >= 0 else "outside()"
        text = " + ".join(one if factor == 1 else f"{factor} * {one}" for one, factor, _ in atoms) or "0"
        text += f" + {constant}" if constant > 0 else f" - {-constant}" if constant else ""
        text += "" if known else f" - {lower}"
        if not known:
            return f"(t_ if (t_ := {text}) >= 0 else outside())"
        least = constant
        for _, factor, atom in atoms:
            if factor < 0 or not isinstance(atom, e.Var) or atom.name not in self.least:
                break
            least += factor * self.least[atom.name]
        else:
            if least >= 0:
                return text
        if len(atoms) == 1 and atoms[0][1] == 1 and atoms[0][0].isidentifier():
            return f"({text} if {atoms[0][0]} >= {-constant} else outside())"
        return f"(t_ if (t_ := {text}) >= 0 else outside())"

    def elements(self, expr: e.Element) -> str:
        """The elements of many iterations, to read or (where each iteration has its own) to assign."""
        assert self.many is not None
        storage = self.arrays[expr.name]
        affine = self._affine(expr)
        if affine is not None:
            return f"box({array(expr.name)}, {storage.lowers}, ({', '.join(affine)},), {self.many.axes})"
        return f"{array(expr.name)}[{self.places(expr)}]"

    def places(self, expr: e.Element) -> str:
        """The index of the elements of many iterations, one by one."""
        storage = self.arrays[expr.name]
        subscripts = [self.number(each) for each in expr.subscripts]
        return f"places({array(expr.name)}, {storage.lowers}, ({', '.join(subscripts)},))"

    def is_box(self, expr: e.Element) -> bool:
        """Whether the elements are a section."""
        return self._affine(expr) is not None

    def _affine(self, expr: e.Element) -> list[str] | None:
        """Subscripts as `support.box` takes them; None: the elements are no section."""
        if self.many is None or self.many.loops is None:
            return None
        found, used = [], set[str]()
        for subscript in expr.subscripts:
            if not self.varies(subscript):
                found.append(self.number(subscript))
                continue
            form = linear(subscript, self.constants)
            moving = [(atom, factor) for atom, factor in form.terms.items() if self.varies(atom)]
            if len(moving) != 1 or not isinstance(moving[0][0], e.Var):
                return None
            ((atom, factor),) = moving
            assert isinstance(atom, e.Var)
            if atom.name not in self.many.loops or atom.name in used:
                return None
            used.add(atom.name)
            rest = [f"{times} * {self.number(other)}" for other, times in form.terms.items() if other != atom]
            offset = " + ".join([str(form.constant), *rest])
            found.append(f"({self.many.loops.index(atom.name)}, {factor}, {offset})")
        return found


def _is_small(term: PythonTerm) -> bool:
    digits = term.text.strip("()-")
    return digits.isdigit() and int(digits) < _SMALL


def _is_single(term: PythonTerm) -> bool:
    return term.type.base == "real" and term.type.bytes == 4 and not term.many


def cost_of(*exprs: e.Expr) -> int:
    """The number of operations in expressions; a power by squaring has some for each digit of its exponent."""
    operations = (e.Binary, e.Unary, e.Call, e.Element)
    found = [each for expr in exprs for each in walk_expressions(expr) if isinstance(each, operations)]
    squared = (each.right for each in found if isinstance(each, e.Binary) and each.op == "**")
    return len(found) + sum(4 * each.value.bit_length() for each in squared if isinstance(each, e.IntLit))
