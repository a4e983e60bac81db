"""Index spaces and subscripts as linear constraints, for the dependence test.

A `Space` grows by translating integer expressions into rows (`aag.spmd.omega`). What is not linear but exact all the
same (MIN, MAX, MOD, division by a constant, circular shifts) becomes a new variable with constraints, in several
cases where the value depends on a sign. What cannot be translated constrains nothing; the space is then not `exact`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count

from msgspec import Struct

from aag.ir.evaluate import Environment, Unknown, evaluate_int
from aag.ir.expressions import Binary, Call, Element, Expr, LogicalLit, Unary, Var
from aag.ir.visitors import names_in
from aag.spmd.nodes import Index
from aag.spmd.omega import ONE, Row, Undecided, combined, feasible

_MOST_CASES = 64


class SpaceCase(Struct, frozen=True):
    """Constraints that hold together: rows that are 0, and rows that are at least 0."""

    equations: tuple[Row, ...] = ()
    inequalities: tuple[Row, ...] = ()

    def with_(self, equations: Sequence[Row] = (), inequalities: Sequence[Row] = ()) -> "SpaceCase":
        """The case with more constraints."""
        return SpaceCase((*self.equations, *equations), (*self.inequalities, *inequalities))

    def is_possible(self) -> bool:
        """Whether whole numbers satisfy it; yes where that is too much to decide."""
        try:
            return feasible(self.equations, self.inequalities)
        except Undecided:
            return True


class SpacePlace(Struct, frozen=True):
    """An index at one end of a dependence: its value, and a number that grows from iteration to iteration (None: in
    an unknown direction)."""

    value: Row
    position: Row | None


class Space:
    """Constraints on variables, as alternative cases; `exact` until something could not be translated, `closed` until
    a value was needed that is not known before the program runs."""

    def __init__(self, env: Environment, varying: frozenset[str]) -> None:
        self.env = env
        self.varying = varying
        self.cases: tuple[SpaceCase, ...] = (SpaceCase(),)
        self.exact = True
        self.closed = True
        self._fresh = count()

    def indices(self, indices: Sequence[Index], known: Mapping[str, SpacePlace]) -> dict[str, SpacePlace]:
        """Add the ranges of nested indices, outermost first; `known` are the indices around them."""
        places = dict(known)
        for index in indices:
            places[index.name] = self._index(index, places)
        return places

    def _index(self, index: Index, places: Mapping[str, SpacePlace]) -> SpacePlace:
        variable = self.variable()
        step = 1
        if index.step is not None:
            try:
                step = evaluate_int(index.step, self.env)
            except Unknown:
                step = 0
        if step == 0:
            self.exact = False
            return SpacePlace(variable, None)
        forward = step > 0
        if abs(step) == 1:
            for bound in _parts(index.lower, "max" if forward else "min"):
                self._at_least(variable, self.row(bound, places), step)
            for bound in _parts(index.upper, "min" if forward else "max"):
                self._at_least(variable, self.row(bound, places), -step)
            return SpacePlace(variable, combined(variable, step, {}))
        first = self.row(index.lower, places)
        self._add(inequalities=[variable])
        value = combined(first, 1, variable, step) if first is not None else self.variable()
        for bound in _parts(index.upper, "min" if forward else "max"):
            self._at_least(value, self.row(bound, places), -1 if forward else 1)
        return SpacePlace(value, variable)

    def _at_least(self, value: Row, bound: Row | None, sign: int) -> None:
        """sign * value >= sign * bound."""
        if bound is not None:
            self._add(inequalities=[combined(value, sign, bound, -sign)])

    def variable(self) -> Row:
        """A new variable."""
        return {f"x{next(self._fresh)}": 1}

    def _add(self, equations: Sequence[Row] = (), inequalities: Sequence[Row] = ()) -> None:
        self.cases = tuple(case.with_(equations, inequalities) for case in self.cases)

    def _split(self, *parts: tuple[Sequence[Row], Sequence[Row]]) -> bool:
        """Each case once with each of several sets of constraints; False where that makes too many."""
        if len(self.cases) * len(parts) > _MOST_CASES:
            self.exact = False
            return False
        self.cases = tuple(case.with_(*part) for case in self.cases for part in parts)
        return True

    # --- expressions ----------------------------------------------------------------------------------------------

    def row(self, expr: Expr, places: Mapping[str, SpacePlace]) -> Row | None:
        """The value of an integer expression; None where nothing is known of it."""
        if not names_in(expr) & places.keys():
            return self._outside(expr)
        match expr:
            case Var(name=name):
                return places[name].value
            case Unary(op="-" | "+" as op, operand=operand):
                inner = self.row(operand, places)
                return inner if op == "+" or inner is None else combined(inner, -1, {})
            case Binary(op="+" | "-" as op, left=left, right=right):
                first, second = self.row(left, places), self.row(right, places)
                if first is not None and second is not None:
                    return combined(first, 1, second, 1 if op == "+" else -1)
                return None
            case Binary(op="*", left=left, right=right):
                first, second = self.row(left, places), self.row(right, places)
                if first is not None and second is not None:
                    for one, other in ((first, second), (second, first)):
                        if one.keys() <= {ONE}:
                            return combined(other, one.get(ONE, 0), {})
            case Binary(op="/", left=left, right=right):
                return self._quotient(self.row(left, places), self.row(right, places))
            case Call(name=name, args=args) if name in _FUNCTIONS and not expr.keywords:
                rows = [row for each in args if (row := self.row(each, places)) is not None]
                if len(rows) == len(args):
                    found = _FUNCTIONS[name](self, rows)
                    if found is not None:
                        return found
            case _:
                pass
        self.exact = False
        return None

    def _outside(self, expr: Expr) -> Row | None:
        """An expression without an index of the space: a number, or an unknown one that both ends share."""
        try:
            return {ONE: evaluate_int(expr, self.env)}
        except Unknown:
            pass
        match expr:
            case Unary(op="-" | "+" as op, operand=operand):
                inner = self._outside(operand)
                return inner if op == "+" or inner is None else combined(inner, -1, {})
            case Binary(op="+" | "-" as op, left=left, right=right):
                first, second = self._outside(left), self._outside(right)
                if first is None or second is None:
                    return None
                return combined(first, 1, second, 1 if op == "+" else -1)
            case Binary(op="*", left=left, right=right):
                first, second = self._outside(left), self._outside(right)
                if first is not None and second is not None:
                    for one, other in ((first, second), (second, first)):
                        if one.keys() <= {ONE}:
                            return combined(other, one.get(ONE, 0), {})
        self.closed = False
        if names_in(expr) & self.varying or not _is_fixed(expr):
            self.exact = False
            return None
        return {f"? {expr!r}": 1}

    def _quotient(self, left: Row | None, right: Row | None) -> Row | None:
        """Fortran's division by a number other than 0, which rounds towards 0."""
        if left is None or right is None or not right.keys() <= {ONE} or not right.get(ONE, 0):
            self.exact = False
            return None
        divisor = abs(right[ONE])
        quotient = self.variable()
        remainder = combined(left, 1, quotient, -divisor)
        most = {ONE: divisor - 1}
        positive = [left, remainder, combined(most, 1, remainder, -1)]
        negative = [combined(left, -1, {ONE: -1}), combined(remainder, -1, {}), combined(most, 1, remainder)]
        if not self._split(((), positive), ((), negative)):
            return None
        return combined(quotient, 1 if right[ONE] > 0 else -1, {})

    def _remainder(self, rows: Sequence[Row]) -> Row | None:
        """MOD: it has the sign of its first argument."""
        left, right = rows
        quotient = self._quotient(left, right)
        return None if quotient is None else combined(left, 1, quotient, -right[ONE])

    def _modulo(self, rows: Sequence[Row]) -> Row | None:
        """MODULO by a positive number."""
        left, right = rows
        if not right.keys() <= {ONE} or right.get(ONE, 0) <= 0:
            return None
        value = combined(left, 1, self.variable(), -right[ONE])
        self._add(inequalities=[value, combined({ONE: right[ONE] - 1}, 1, value, -1)])
        return value

    def _shifted(self, rows: Sequence[Row]) -> Row | None:
        """``cshift$(i, s, lo, hi)``: i + s wrapped into lo..hi."""
        position, shift, low, high = rows
        size = combined(combined(high, 1, low, -1), 1, {ONE: 1})
        if not size.keys() <= {ONE} or size.get(ONE, 0) <= 0:
            return None
        value = combined(combined(position, 1, shift), 1, self.variable(), -size[ONE])
        self._add(inequalities=[combined(value, 1, low, -1), combined(high, 1, value, -1)])
        return value

    def _extreme(self, rows: Sequence[Row], sign: int) -> Row | None:
        """MAX (sign 1) or MIN (sign -1)."""
        best = rows[0]
        for other in rows[1:]:
            value = self.variable()
            more = combined(best, sign, other, -sign)
            split = self._split(
                ([combined(value, 1, best, -1)], [more]),
                ([combined(value, 1, other, -1)], [combined(combined(more, -1, {}), 1, {ONE: -1})]),
            )
            if not split:
                return None
            best = value
        return best

    # --- conditions -----------------------------------------------------------------------------------------------

    def holds(self, mask: Expr, places: Mapping[str, SpacePlace], *, wanted: bool = True) -> None:
        """Add that a condition holds (or does not), as far as it is a condition on indices."""
        match mask:
            case LogicalLit(value=value):
                if value is not wanted:
                    self._add(inequalities=[{ONE: -1}])
            case Unary(op=".not.", operand=operand):
                self.holds(operand, places, wanted=not wanted)
            case Binary(op=".and." | ".or." as op, left=left, right=right) if (op == ".and.") is wanted:
                self.holds(left, places, wanted=wanted)
                self.holds(right, places, wanted=wanted)
            case Binary(op=op, left=left, right=right) if op in OPPOSITE:
                self._compare(op if wanted else OPPOSITE[op], self.row(left, places), self.row(right, places))
            case _:
                self.exact = False

    def _compare(self, op: str, left: Row | None, right: Row | None) -> None:
        if left is None or right is None:
            self.exact = False
            return
        apart = combined(left, 1, right, -1)
        less, more = combined(combined(apart, -1, {}), 1, {ONE: -1}), combined(apart, 1, {ONE: -1})
        match op:
            case "==":
                self._add(equations=[apart])
            case "/=":
                self._split(((), [less]), ((), [more]))
            case "<":
                self._add(inequalities=[less])
            case "<=":
                self._add(inequalities=[combined(apart, -1, {})])
            case ">":
                self._add(inequalities=[more])
            case ">=":
                self._add(inequalities=[apart])


def _parts(bound: Expr, name: str) -> Iterator[Expr]:
    """The arguments of MAX in a lower bound or MIN in an upper one: each is a bound of its own."""
    if isinstance(bound, Call) and bound.name == name and not bound.keywords:
        for each in bound.args:
            yield from _parts(each, name)
    else:
        yield bound


def _is_fixed(expr: Expr) -> bool:
    """Whether an expression has one value as long as no variable in it changes: it calls no function of the user."""
    match expr:
        case Call(name=name, args=args, keywords=keywords):
            return name in _FUNCTIONS and not keywords and all(map(_is_fixed, args))
        case Element(subscripts=subscripts):
            return all(map(_is_fixed, subscripts))
        case Binary(left=left, right=right):
            return _is_fixed(left) and _is_fixed(right)
        case Unary(operand=operand):
            return _is_fixed(operand)
        case _:
            return isinstance(expr, Var)


OPPOSITE = {"==": "/=", "/=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
"""The comparison that holds where another one does not."""

_FUNCTIONS: Mapping[str, Callable[[Space, Sequence[Row]], Row | None]] = {
    "min": lambda space, rows: space._extreme(rows, -1),
    "max": lambda space, rows: space._extreme(rows, 1),
    "abs": lambda space, rows: space._extreme([rows[0], combined(rows[0], -1, {})], 1),
    "mod": Space._remainder,
    "modulo": Space._modulo,
    "cshift$": Space._shifted,
    "eoshift$": lambda _, rows: combined(rows[0], 1, rows[1]),
}
