"""Names and expressions of a node program as standard Fortran."""

from collections.abc import Iterable

from aag.ir.expressions import Binary, Call, Element, Expr, IntLit, LogicalLit, RealLit, Var
from aag.ir.spelling import spell
from aag.ir.units import Type
from aag.ir.visitors import map_expression
from aag.spmd.emit.clashes import clashes, names_of
from aag.spmd.program import NodeProgram


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
        return self.fresh(name, name.replace("$", "_"))

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
        """Subscripts as an array constructor; what EOSHIFT reads may lie outside."""
        return f"(/ {', '.join(self.spell(_plain(each)) for each in subscripts)} /)"

    def _standard(self, expr: Expr) -> Expr:
        match expr:
            case Var(name=name):
                return Var(self.of(name)) if "$" in name else expr
            case Call(name="cshift$", args=args):
                return Call("esp_wrap", args)
            case Call(name="number_of_processors"):
                return IntLit(self._program.layouts.procs)
            case Element(name=name, subscripts=subscripts):
                return self._element(name, subscripts)
            case _:
                return expr

    def _packed(self, name: str, subscripts: tuple[Expr, ...]) -> tuple[Expr, ...]:
        return tuple(
            Element(self.packed[name, dim], (each,)) if (name, dim) in self.packed else each
            for dim, each in enumerate(subscripts)
        )

    def _element(self, name: str, subscripts: tuple[Expr, ...]) -> Expr:
        layout = self._program.layouts.arrays.get(name)
        if layout is None or not any(isinstance(each, Call) and each.name == "eoshift$" for each in subscripts):
            return Element(self.of(name), self._packed(name, subscripts))
        inside: Expr = LogicalLit(True)
        places: list[Expr] = []
        for each, (lower, upper) in zip(subscripts, layout.bounds, strict=True):
            if not (isinstance(each, Call) and each.name == "eoshift$"):
                places.append(each)
                continue
            moved = _sum(*each.args)
            places.append(Call("max", (IntLit(lower), Call("min", (IntLit(upper), moved)))))
            inside = _both(_both(inside, _compare(">=", moved, lower)), _compare("<=", moved, upper))
        element = Element(self.of(name), self._packed(name, tuple(places)))
        return Call("merge", (element, nothing(self._program.types[name]), inside))


def _sum(left: Expr, right: Expr) -> Expr:
    return Binary("+", _plain(left), right)


def _plain(expr: Expr) -> Expr:
    match expr:
        case Call(name="eoshift$", args=(position, shift)):
            return _sum(position, shift)
        case _:
            return expr


def _both(left: Expr, right: Expr) -> Expr:
    return right if left == LogicalLit(True) else Binary(".and.", left, right)


def _compare(op: str, left: Expr, bound: int) -> Expr:
    return Binary(op, left, IntLit(bound))


def nothing(kind: Type) -> Expr:
    """The zero of a type: what EOSHIFT fills in."""
    match kind.base:
        case "real":
            return RealLit(0.0, "0.0d0", double=True) if kind.bytes == 8 else RealLit(0.0, "0.0")
        case "logical":
            return LogicalLit(False)
        case _:
            return IntLit(0)
