"""Iterations of nests on a processor as expressions: owner-computes, as `aag.spmd.partition` counts them (Def 15, 16).

A loop level is shortened by every axis of the grid whose coordinate the indices up to that level decide.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from aag.ir.expressions import Binary, Call, Expr, IntLit, Unary, Var
from aag.ir.visitors import names_in
from aag.spmd.nodes import Index, Reference
from interpreter.symbolic.closing import positive, total
from interpreter.symbolic.facts import Facts
from interpreter.symbolic.places import DealtAxis, NotDerived, Places
from interpreter.symbolic.polynomial import ONE, Floor, Poly, atoms, extremum, floor, name, poly, substituted

Env = Mapping[str, Poly]
"""Scalars and their values; loop variables and the free parameter stand for themselves."""


def translated(expr: Expr, env: Env, facts: Facts) -> Poly:
    """An integer expression.

    Raises:
        NotDerived: a name has no expression, or an operation none.
    """
    match expr:
        case IntLit(value=value):
            return poly(value)
        case Var(name=text) if text in env:
            return env[text]
        case Unary(op="-", operand=operand):
            return -translated(operand, env, facts)
        case Unary(op="+", operand=operand):
            return translated(operand, env, facts)
        case Binary(op="+" | "-" | "*" | "/" | "**" as op, left=left, right=right):
            return _binary(op, translated(left, env, facts), translated(right, env, facts), facts)
        case Call(name="min" | "max" as which, args=args, keywords=()):
            least = which == "min"
            return extremum([translated(each, env, facts) for each in args], least=least, sign=facts.sign)
        case _:
            raise NotDerived(f"{_shown(expr)} has no expression in the parameter")


def _shown(expr: Expr) -> str:
    names = sorted(names_in(expr))
    return ", ".join(names) if names else type(expr).__name__.lower()


def _binary(op: str, left: Poly, right: Poly, facts: Facts) -> Poly:
    number = right.constant
    match op:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "**" if isinstance(number, int) and 0 <= number <= 8:
            return left**number
        case "/" if isinstance(number, int) and number > 0 and facts.sign(left) == 1:  # truncation is rounding down
            return floor(left, number)
        case _:
            raise NotDerived("a quotient or power has no expression in the parameter")


class Ranks(Struct, frozen=True):
    """Who owns what, for one processor."""

    places: Places
    facts: Facts
    rank: int
    sums: dict[tuple[object, ...], Poly] = field(default_factory=dict)
    """Sums that were computed; all processors share them."""
    roundings: dict[Poly, None] = field(default_factory=dict)
    """Quotients of the parameter in bounds of loops, such as n / 2; all processors share them."""

    def total(self, body: Poly, var: str, lower: Poly, upper: Poly) -> Poly:
        """A sum over a variable; 0 where the range is empty."""
        key = (body, var, lower, upper)
        if key not in self.sums:
            self.sums[key] = total(body, var, lower, upper, self.facts.sign)
        return self.sums[key]

    def levels(self, home: Reference | None, indices: Sequence[Index], env: Env) -> list[Poly]:
        """Executions inside each number of loops: whether the processor comes to them, then iterations of each level.

        Raises:
            NotDerived: bounds or subscripts have no expressions.
        """
        return [self._inside(home, indices[:depth], indices, env) for depth in range(len(indices) + 1)]

    def _inside(self, home: Reference | None, prefix: Sequence[Index], indices: Sequence[Index], env: Env) -> Poly:
        here = {index.name for index in prefix}
        known = {**env, **{index.name: name(index.name) for index in prefix}}
        bounds = [self._bounds(index, known) for index in prefix]
        count = ONE
        for dealt, coordinate, subscript in self._deciding(home, here, {index.name for index in indices}):
            if dealt is None:
                count = count * (1 if coordinate else 0)
                continue
            cell = translated(subscript, known, self.facts)
            if not self._narrowed(dealt, coordinate, cell, prefix, bounds):
                count = count * dealt.owns(cell, coordinate, self.facts.sign)
        for index, (lower, upper) in zip(reversed(prefix), reversed(bounds), strict=True):
            step = 1 if index.step is None else translated(index.step, known, self.facts).constant
            if step == 1:
                count = self.total(count, index.name, lower, upper)
                continue
            if not isinstance(step, int) or step == 0:
                raise NotDerived("the step of a loop depends on the parameter")
            trips = floor((upper - lower) * (1 if step > 0 else -1), abs(step))
            each = substituted(count, {index.name: lower + name(index.name) * step}, self.facts.sign)
            count = self.total(each, index.name, poly(0), trips)
        return count

    def _bounds(self, index: Index, known: Env) -> tuple[Poly, Poly]:
        lower, upper = translated(index.lower, known, self.facts), translated(index.upper, known, self.facts)
        self.note(lower, upper)
        return lower, upper

    def note(self, *bounds: Poly) -> None:
        """Note the quotients in bounds."""
        for atom in (atom for each in bounds for atom in atoms(each)):
            if isinstance(atom, Floor) and atom.arg.names == {self.facts.free}:
                self.roundings[Poly(((((atom, 1),), 1),))] = None

    def _deciding(
        self, home: Reference | None, here: set[str], nest: set[str]
    ) -> list[tuple[DealtAxis | None, int, Expr]]:
        """What shortens the loops so far: how a dimension is dealt, the processor's coordinate and the subscript; for
        an array at one coordinate None, and 1 where that is the processor's."""
        if home is None:
            return []
        if home.array not in self.places.grids:
            raise NotDerived(f"the mapping of {home.array} has no expression in the parameter")
        grid = self.places.grids[home.array]
        found: list[tuple[DealtAxis | None, int, Expr]] = []
        others = {index.name for index in home.indices} - nest
        for axis, place in enumerate(self.places.arrays[home.array]):
            own = self.rank // grid.strides[axis] % grid.shape[axis]
            if place.role == "fixed":
                found.append((None, int(own == place.coordinate), IntLit(0)))
            elif place.role == "dim":
                subscript = home.subscripts[place.dim]
                reads = names_in(subscript)
                if not reads & others and (reads & nest) <= here:
                    found.append((place.dealt, own, subscript))
        return found

    def _narrowed(
        self, dealt: DealtAxis, coordinate: int, cell: Poly, prefix: Sequence[Index], bounds: list[tuple[Poly, Poly]]
    ) -> bool:
        """Shorten the loop of the one index of a subscript to the block of the coordinate, where steps are 1."""
        deciding = [at for at, index in enumerate(prefix) if index.name in cell.names]
        if dealt.kind != "block" or len(deciding) != 1 or prefix[deciding[0]].step is not None:
            return False
        at = deciding[0]
        line = dealt.cell(cell).affine(prefix[at].name)
        if line is None or abs(line[0]) != 1:
            return False
        first, last = dealt.cells_of(coordinate, self.facts.sign)
        slope, rest = line
        ends = (first - rest, last - rest) if slope == 1 else (rest - last, rest - first)
        lower, upper = bounds[at]
        bounds[at] = (
            extremum((lower, ends[0]), least=False, sign=self.facts.sign),
            extremum((upper, ends[1]), least=True, sign=self.facts.sign),
        )
        return True


def trip_count(lower: Poly, upper: Poly, step: int, facts: Facts) -> Poly:
    """Iterations of a counted loop."""
    return positive(floor((upper - lower) * (1 if step > 0 else -1), abs(step)) + 1, facts.sign)
