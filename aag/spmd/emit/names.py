"""Names and expressions of a node program as standard Fortran."""

from collections.abc import Iterable
from dataclasses import replace

from aag.ir.expressions import Binary, Call, Element, Expr, ImpliedDo, IntLit, RealLit, Var
from aag.ir.intrinsics import CALLED
from aag.ir.linear import add, subtract
from aag.ir.spelling import spell
from aag.ir.visitors import map_expression, names_in
from aag.spmd.elementwise import FILLED
from aag.spmd.emit.clashes import clashes, names_of
from aag.spmd.program import NodeProgram

_DEFAULT_BYTES = 4
"""Bytes of a default integer."""


class Names:
    """Names that no two things share: those of the program as they are, temporaries and our own beside them."""

    def __init__(self, program: NodeProgram) -> None:
        self._program = program
        self.packed: dict[tuple[str, int], str] = {}
        """(array, dimension) -> the table of local positions, where own indices are packed."""
        self._given = clashes(program)
        self._taken = names_of(program) | set(self._given.values())

    def of(self, name: str) -> str:
        """The Fortran name of a name of the node program: ``i$1`` becomes i_1."""
        if "$" not in name:
            return self._given.get(name, name)
        return self.fresh(name, name.replace("$", "_").replace("%", "_"))

    def fresh(self, key: str, wanted: str) -> str:
        """A name for `key`, like `wanted`; the same for the same key."""
        if key not in self._given:
            name, number = wanted, 1
            while name in self._taken:
                number += 1
                name = f"{wanted}_{number}"
            self._taken.add(name)
            self._given[key] = name
        return self._given[key]

    def expression(self, expr: Expr) -> Expr:
        """`expr` without what only node programs have."""
        return map_expression(expr, self._standard)

    def spell(self, expr: Expr) -> str:
        """An expression as text."""
        return spell(self.expression(expr))

    def subscripts(self, subscripts: Iterable[Expr]) -> str:
        """Subscripts as an array constructor, for the run-time library; what EOSHIFT reads may lie outside."""
        return f"(/ {', '.join(self.as_index(each, map_expression(each, self._inspected)) for each in subscripts)} /)"

    def as_index(self, expr: Expr, standard: Expr | None = None) -> str:
        """An integer expression as text of default kind, as the run-time library takes it. `standard`: the same as
        standard Fortran."""
        text = self.spell(expr) if standard is None else spell(standard)
        types = self._program.types
        kinds = {types[name].bytes for name in names_in(expr) if name in types and types[name].base == "integer"}
        return f"int({text})" if kinds - {_DEFAULT_BYTES} else text

    def _inspected(self, expr: Expr) -> Expr:
        match expr:
            case Call(name="eoshift$", args=(position, shift, lower, upper)):
                return Call("esp_within", (Binary("+", position, shift), lower, upper))
            case _:
                return self._standard(expr)

    def _standard(self, expr: Expr) -> Expr:
        match expr:
            case Var(name=name):
                return Var(self.of(name)) if "$" in name else expr
            case Call(name="cshift$", args=(index, shift, lower, upper)):
                return _wrapped(index, shift, lower, upper)
            case Call(name="eoshift$", args=(position, shift, lower, upper)):  # MERGE evaluates what it does not take
                return Call("max", (lower, Call("min", (upper, Binary("+", position, shift)))))
            case Call(name=name, args=(value, boundary, place, lower, upper)) if name == FILLED:
                inside = Binary(".and.", Binary(">=", place, lower), Binary("<=", place, upper))
                return Call("merge", (value, boundary, inside))
            case Call(name="infinity$", args=(_, IntLit(value=size))):
                return Var(f"esp_infinity_r{size}")
            case Call(name=name) if name == CALLED:
                return Var("esp_call")
            case Call(name="number_of_processors"):
                return IntLit(self._program.layouts.procs)
            case RealLit(text=text) if text.partition("_")[2].strip("0123456789"):
                return replace(expr, text=_unnamed(text, double=expr.double))
            case ImpliedDo(var=var) if "$" in var:
                return replace(expr, var=self.of(var))
            case Element(name=name, subscripts=subscripts):
                return Element(self.of(name), self._packed(name, subscripts))
            case _:
                return expr

    def _packed(self, name: str, subscripts: tuple[Expr, ...]) -> tuple[Expr, ...]:
        return tuple(
            Element(self.packed[name, dim], (each,)) if (name, dim) in self.packed else each
            for dim, each in enumerate(subscripts)
        )


def _unnamed(text: str, *, double: bool) -> str:
    """A real literal whose kind is a named constant, of which the node program need not know."""
    digits = text.partition("_")[0].lower()
    if not double:
        return digits
    return digits.replace("e", "d") if "e" in digits else f"{digits}d0"


def _wrapped(index: Expr, shift: Expr, lower: Expr, upper: Expr) -> Expr:
    """The index that a circular shift reads. A function would put its arguments on the stack in each iteration."""
    length = Call("max", (IntLit(1), add(subtract(upper, lower), 1)))
    return add(Call("modulo", (add(subtract(index, lower), shift), length)), lower)
