"""Array syntax -> element form: what one element of an array expression is, at given index positions.

    b(2:n) = a(1:n-1) + cshift(c, 1)      becomes, for i = 2:n      b(i) = a(i-1) + c(cshift$(i - 1, 1, 1, n))

A reduction that does not depend on the indices, and a vector of scalars, are handed to `extract`, which computes them
beforehand; a reduction that does becomes an inner loop, written as the call ``sum$(element, k, lower, upper)``, as does
MATMUL where a loop stores its elements. An array constructor that is one implied DO is its value at the index; others
are vectors of scalars. EOSHIFT chooses between an element at ``eoshift$(i, s, lower, upper)`` and its
BOUNDARY.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import count, product

from msgspec import Struct

from aag.ir.evaluate import Environment, Unknown, evaluate_int
from aag.ir.expressions import (
    Binary,
    Call,
    Component,
    Constructor,
    Element,
    Expr,
    ImpliedDo,
    IntLit,
    Section,
    StringLit,
    Substring,
    Unary,
    Var,
)
from aag.ir.intrinsics import Intrinsic
from aag.ir.linear import add, multiply, subtract
from aag.ir.visitors import map_expression, names_in
from aag.spmd.nodes import Index
from aag.spmd.symbols import Extent, Mismatch, Symbols, Unsupported, converted, inquired, length, shifted, zero

FILLED = "merge$eoshift"
"""The call (value, boundary, place, lower, upper): the value where the place is within bounds, else the boundary."""

MASKED = "masked$"
"""The call (value, mask): what an inner reduction loop takes only where the mask holds."""

INNER = "$"
"""Suffix of the calls that stand for an inner reduction loop."""


MOST_LISTED = 256
"""Elements of an array constructor that are written out one by one."""


class Position(Struct, frozen=True):
    """Where we are in one dimension: the value `at`, in a context whose first value is `lower` (step 1)."""

    at: Expr
    lower: Expr


class Elementwise:
    """Rewrites array expressions of one program unit."""

    def __init__(self, symbols: Symbols, env: Environment, extract: Callable[[Call | Constructor], Expr]) -> None:
        self._symbols = symbols
        self._env = env
        self._extract = extract
        self._fresh = count(1)

    def fresh(self, stem: str) -> str:
        """A name that no Fortran program can contain."""
        return f"{stem}{INNER}{next(self._fresh)}"

    def context(self, shape: Sequence[Extent]) -> tuple[tuple[Index, ...], tuple[Position, ...]]:
        """Indices that run over a shape, and the positions they stand for. A strided dimension is counted from 0."""
        indices, positions = [], []
        for extent in shape:
            name = self.fresh("i")
            if extent.step is None or extent.step == IntLit(1):
                index = Index(name=name, lower=extent.lower, upper=extent.upper, step=None)
            else:
                index = Index(name=name, lower=IntLit(0), upper=self._last(extent, extent.step), step=None)
            indices.append(index)
            positions.append(Position(Var(name), index.lower))
        return tuple(indices), tuple(positions)

    def _last(self, extent: Extent, step: Expr) -> Expr:
        """The last of the numbers 0, 1, ... of a strided dimension; -1 where it is empty, as division rounds to 0."""
        span = subtract(extent.upper, extent.lower)
        try:
            known, stride = evaluate_int(span, self._env), evaluate_int(step, self._env)
        except Unknown:
            return subtract(Binary("/", add(span, step), step), IntLit(1))
        return Binary("/", span, step) if known * stride >= 0 else IntLit(-1)

    def element(self, expr: Expr, positions: Sequence[Position], bound: frozenset[str]) -> Expr:
        """The element of `expr` at `positions` (as many as it has dimensions, or it is a scalar).

        `bound`: names of the loop indices around; a reduction that mentions one of them becomes an inner loop. Without
        them nothing is stored element by element: MATMUL is computed beforehand, too.

        Raises:
            Unsupported: a construct that is not modelled.
        """
        match expr:
            case Var(name=name) if self._symbols.is_array(name):
                shape = self._symbols.shape(expr)
                return Element(name, _subscripts(shape, positions, name))
            case Element():
                return self._section(expr, positions, bound)
            case Unary(op=op, operand=operand):
                return Unary(op, self.element(operand, positions, bound), span=expr.span)
            case Binary(op=op, left=left, right=right):
                return Binary(
                    op, self.element(left, positions, bound), self.element(right, positions, bound), span=expr.span
                )
            case Call():
                return self._call(expr, positions, bound)
            case Substring(base=base, lower=lower, upper=upper):
                ends = (each if each is None else self.element(each, (), bound) for each in (lower, upper))
                text = self.element(base, positions, bound)
                assert isinstance(text, Var | Element)
                return Substring(text, *ends, span=expr.span)
            case Component(base=Var(name=name) as base, field_name=field) if "$" in name:
                return Component(self.element(base, positions, bound), field)
            case Constructor() if positions:
                return self._constructed(expr, positions, bound)
            case _:
                return expr

    def _section(self, expr: Element, positions: Sequence[Position], bound: frozenset[str]) -> Expr:
        name, subscripts = expr.name, expr.subscripts
        self._symbols.check_rank(expr)
        shape = self._symbols.shape(expr)
        if not shape:
            return Element(name, tuple(self.element(each, (), bound) for each in subscripts), span=expr.span)
        inner = iter(zip(_subscripts(shape, positions, name), positions, strict=True))
        found = []
        for each in subscripts:
            if isinstance(each, Section):
                found.append(next(inner)[0])
            else:  # a vector subscript has one dimension
                own = (next(inner)[1],) if self._symbols.shape(each) else ()
                found.append(self.element(each, own, bound))
        return Element(name, tuple(found), span=expr.span)

    def _constructed(self, expr: Constructor, positions: Sequence[Position], bound: frozenset[str]) -> Expr:
        if len(positions) != 1:
            raise Mismatch("an array constructor has rank 1, which does not fit here", expr.span)
        (position,) = positions
        match expr.values:
            case (ImpliedDo(values=(value,), var=var, lower=lower, upper=_, step=step),) if self._is_scalar(value):
                number = subtract(position.at, position.lower)
                at = add(lower, number if step is None else multiply(number, step))
                return self.element(_with(value, var, at), (), bound)
        values = tuple(self._listed(expr.values))
        if names_in(*values) & bound:
            raise Unsupported("an array constructor of several values that depend on loop indices is not modelled")
        vector = self._extract(Constructor(values, span=expr.span))
        return self.element(vector, positions, bound)

    def _is_scalar(self, value: Expr) -> bool:
        return not isinstance(value, ImpliedDo | Constructor) and not self._symbols.shape(value)

    def _listed(self, values: Sequence[Expr]) -> Iterator[Expr]:
        """The elements of an array constructor.

        Raises:
            Unsupported: they are not known here, or too many.
        """
        left = MOST_LISTED
        for each in self._scalars(values):
            left -= 1
            if left < 0:
                raise Unsupported(f"an array constructor of more than {MOST_LISTED} elements is not modelled")
            yield each

    def _scalars(self, values: Sequence[Expr]) -> Iterator[Expr]:
        for value in values:
            match value:
                case ImpliedDo(values=inner, var=var, lower=lower, upper=upper, step=step):
                    for at in self._range(lower, upper, step):
                        yield from self._scalars([_with(each, var, IntLit(at)) for each in inner])
                case Constructor(values=inner):
                    yield from self._scalars(inner)
                case _ if shape := self._symbols.shape(value):
                    ranges = [self._range(IntLit(1), length(extent), None) for extent in shape]
                    for place in product(*reversed(ranges)):  # the first subscript changes fastest
                        positions = tuple(Position(IntLit(at), IntLit(1)) for at in reversed(place))
                        yield self.element(value, positions, frozenset())
                case _:
                    yield value

    def _range(self, lower: Expr, upper: Expr, step: Expr | None) -> range:
        try:
            first, last = evaluate_int(lower, self._env), evaluate_int(upper, self._env)
            by = 1 if step is None else evaluate_int(step, self._env)
        except Unknown as unknown:
            raise Unsupported("the length of an array constructor is not known") from unknown
        if not by:
            raise Unsupported("an implied DO with step 0")
        return range(first, last + (1 if by > 0 else -1), by)

    def _call(self, call: Call, positions: Sequence[Position], bound: frozenset[str]) -> Expr:
        found = self._symbols.intrinsic(call.name)
        match found.form if found is not None else "":
            case "expanded" if found is not None:
                return self.element(self._symbols.expanded(call, found), positions, bound)
            case "reduction" | "location" if found is not None and self._symbols.shape(call.args[0]):
                return self._reduction(call, found, positions, bound)
            case "matmul":
                if not bound:
                    return self.element(self._extract(call), positions, bound)
                op, product, index = self.product(call, positions, bound)
                return _inner_loop(op, product, (index,))
            case "transpose":
                return self.element(call.args[0], tuple(positions)[::-1], bound)
            case "shift" if found is not None:
                return self._shift(call, found.bound(call), positions, bound)
            case "spread" if found is not None:
                return self._spread(call, found.bound(call), positions, bound)
            case "reshape" if found is not None:
                return self._reshape(call, found.bound(call), positions, bound)
            case "bounds" if found is not None and self._symbols.shape(call.args[0]):
                return self._inquiry(call, found.bound(call), positions, bound)
            case "type" if self._symbols.shape(call.args[0]) or isinstance(call.args[0], StringLit):
                kind = self._symbols.type_of(call.args[0])
                return IntLit(kind.bytes) if call.name == "len" else Call(call.name, (zero(kind),), span=call.span)
            case "scalar" if call.name == "transfer" and self._has_arrays(call):
                raise Unsupported("TRANSFER of arrays is not modelled")
            case "" | "prefix" if found is not None:
                raise Unsupported(f"{call.name.upper()} is not modelled here")
            case _ if call.name in self._symbols.whole_functions:
                # Its arrays go by reference; what it reads of them is not known here (lowering says so).
                scalars = [arg for arg in call.args if not self._symbols.shape(arg)]
                return Call(call.name, tuple(self.element(arg, (), bound) for arg in scalars), (), span=call.span)
            case _:
                args = tuple(self.element(arg, positions, bound) for arg in call.args)
                named = tuple((key, self.element(value, positions, bound)) for key, value in call.keywords)
                return Call(call.name, args, named, span=call.span)

    def _has_arrays(self, call: Call) -> bool:
        given = (*call.args, *(value for _, value in call.keywords))
        return any(map(self._symbols.shape, given)) or len(given) > 2

    def _shift(self, call: Call, given: dict[str, Expr], positions: Sequence[Position], bound: frozenset[str]) -> Expr:
        shape = self._symbols.shape(call.args[0])
        shift, dim = given["shift"], given.get("dim", IntLit(1))
        if not isinstance(dim, IntLit) or self._symbols.shape(shift):
            raise Unsupported(f"{call.name.upper()} with an array SHIFT or a variable DIM is not modelled")
        if not 1 <= dim.value <= len(shape):
            raise Mismatch(f"the array has no dimension {dim.value}", dim.span if dim.span.line else call.span)
        if len(positions) != len(shape):
            raise Mismatch(f"{call.name.upper()} of an array of rank {len(shape)} does not fit here", call.span)
        at = dim.value - 1
        extent, position = shape[at], positions[at]
        own = shifted(position.at, position.lower, extent.lower)
        last = extent.upper  # a strided dimension is counted by ones from its lower bound
        if extent.step is not None and extent.step != IntLit(1):
            last = add(extent.lower, subtract(length(extent), IntLit(1)))
        moved = Call(f"{call.name}$", (own, shift, extent.lower, last))
        places = [*positions[:at], Position(moved, extent.lower), *positions[at + 1 :]]
        value = self.element(call.args[0], places, bound)
        if call.name == "cshift":
            return value
        filled = given.get("boundary")
        if filled is None:
            filled = zero(self._symbols.type_of(call.args[0]))
        else:
            around = (*positions[:at], *positions[at + 1 :]) if self._symbols.shape(filled) else ()
            filled = converted(self.element(filled, around, bound), self._symbols, self._symbols.type_of(call.args[0]))
        return Call(FILLED, (value, filled, add(own, shift), extent.lower, last), span=call.span)

    def _spread(self, call: Call, given: dict[str, Expr], positions: Sequence[Position], bound: frozenset[str]) -> Expr:
        """The element of SPREAD's source: the dimension of the copies does not matter."""
        rank = len(self._symbols.shape(call.args[0])) + 1
        at = self._symbols.dim(given, rank) or 0
        if len(positions) != rank:
            raise Mismatch(f"SPREAD makes an array of rank {rank}, which does not fit here", call.span)
        return self.element(call.args[0], (*positions[:at], *positions[at + 1 :]), bound)

    def _reshape(
        self, call: Call, given: dict[str, Expr], positions: Sequence[Position], bound: frozenset[str]
    ) -> Expr:
        """The element of RESHAPE's source that has the same place in array element order."""
        extents = self._symbols.reshaped(given)
        if len(positions) != len(extents):
            raise Mismatch(f"RESHAPE makes an array of rank {len(extents)}, which does not fit here", call.span)
        number: Expr = IntLit(0)
        stride: Expr = IntLit(1)
        for position, extent in zip(positions, extents, strict=True):
            number = add(number, multiply(stride, subtract(position.at, position.lower)))
            stride = multiply(stride, extent)
        places = []
        source = self._symbols.shape(given["source"])
        for extent in map(length, source[:-1]):
            places.append(Position(Call("mod", (number, extent)), IntLit(0)))
            number = Binary("/", number, extent)
        return self.element(given["source"], (*places, Position(number, IntLit(0))), bound)

    def _inquiry(
        self, call: Call, given: dict[str, Expr], positions: Sequence[Position], bound: frozenset[str]
    ) -> Expr:
        """SIZE, SHAPE, LBOUND or UBOUND of an array whose bounds are declared."""
        found = inquired(self._symbols, call, given)
        if not isinstance(found, Constructor):
            return found
        if len(positions) != 1:
            raise Mismatch(f"{call.name.upper()} makes an array of rank 1, which does not fit here", call.span)
        return self.element(self._extract(found), positions, bound)

    def product(self, call: Call, positions: Sequence[Position], bound: frozenset[str]) -> tuple[str, Expr, Index]:
        """An element of MATMUL: the reduction, what it reduces, and over which index."""
        left = self._symbols.shape(call.args[0])
        if sorted((len(left), len(self._symbols.shape(call.args[1])))) not in ([1, 2], [2, 2]):
            raise Mismatch("MATMUL needs a matrix, and a matrix or vector", call.span)
        index, place = self._inner(left[-1])
        row = tuple(positions[: len(left) - 1])
        column = tuple(positions[len(left) - 1 :])
        first = self.element(call.args[0], (*row, place), bound)
        second = self.element(call.args[1], (place, *column), bound)
        if self._symbols.type_of(call).base == "logical":
            return "any", Binary(".and.", first, second), index
        return "sum", Binary("*", first, second), index

    def _inner(self, extent: Extent) -> tuple[Index, Position]:
        (index,), (position,) = self.context((extent,))
        return index, position

    def _reduction(self, call: Call, found: Intrinsic, positions: Sequence[Position], bound: frozenset[str]) -> Expr:
        shape = self._symbols.shape(call.args[0])
        given = self._symbols.arguments(call, found)
        dim = self._symbols.dim(given, len(shape))
        if not names_in(call) & bound:
            return self.element(self._extract(call), positions, bound)
        if found.reduction is None or found.form == "location":
            raise Unsupported(f"{call.name.upper()} inside a loop is not modelled in this form")
        reduced = shape if dim is None else (shape[dim],)
        indices, places = self.context(reduced)
        every = places if dim is None else (*positions[:dim], places[0], *positions[dim:])
        element = self.element(call.args[0], every, bound)
        mask = given.get("mask")
        if mask is not None and mask is not call.args[0]:
            element = Call(MASKED, (element, self.element(mask, every, bound)))
        return _inner_loop(found.reduction.op, element, indices)


def _inner_loop(op: str, element: Expr, indices: Sequence[Index]) -> Expr:
    for index in reversed(indices):
        element = Call(f"{op}{INNER}", (element, Var(index.name), index.lower, index.upper))
    return element


def _subscripts(shape: Sequence[Extent], positions: Sequence[Position], name: str) -> tuple[Expr, ...]:
    if len(shape) != len(positions):
        raise Unsupported(f"the shape of {name} does not conform to the rest of the statement")
    result = []
    for extent, position in zip(shape, positions, strict=True):
        if extent.step is None or extent.step == IntLit(1):
            result.append(shifted(position.at, position.lower, extent.lower))
        else:
            offset = multiply(extent.step, subtract(position.at, position.lower))
            result.append(add(extent.lower, offset))
    return tuple(result)


def _with(expr: Expr, name: str, value: Expr) -> Expr:
    """An expression with a value in place of a variable."""
    return map_expression(expr, lambda each: value if isinstance(each, Var) and each.name == name else each)
