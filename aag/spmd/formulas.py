"""What values arrays have where it can be computed: the data that decide a mask (D8).

An array whose elements an assignment computes from constants, indices and arrays of the same kind has a formula. A mask
that reads it is as good as one of indices. Where a later assignment writes a part of the array, its formula comes on
top of the one before. What a loop writes is not known inside it before it is written anew.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from aag.ir.evaluate import Environment, Unknown
from aag.ir.expressions import Binary, Call, Element, Expr, LogicalLit, RealLit, Unary, Var
from aag.ir.linear import linear
from aag.ir.statements import Assign
from aag.ir.units import Type
from aag.ir.values import ArrayValues
from aag.ir.visitors import elements_in, names_in
from aag.spmd.branches import guard_of, has_conditions
from aag.spmd.elementwise import FILLED
from aag.spmd.guards import both
from aag.spmd.nodes import (
    CallNode,
    DoNode,
    HostIo,
    IfNode,
    Index,
    LibraryCall,
    Local,
    Nest,
    Node,
    OwnedLoop,
    Unmodelled,
    WhileNode,
    written,
)
from aag.spmd.program import NodeProgram
from aag.spmd.vector import (
    COMPARISONS,
    CONNECTIVES,
    FUNCTIONS,
    TooLarge,
    alike,
    divide,
    evaluate_vector,
    is_decided_by_indices,
    is_integer,
)

Values = NDArray[Any]
Vectors = Mapping[str, Values]
Known = Mapping[str, "Formula"]

DEEPEST = 64
"""Assignments on which a formula may rest; beyond it the array is not followed."""
_FOLLOWED = frozenset(("integer", "real", "logical"))
LARGEST = 1 << 20
"""Elements that are computed at once."""


class Formula(Struct, frozen=True, kw_only=True, eq=False):
    """The values of an array or scalar: `value` at the elements `targets` where `mask` holds, else as `before`.

    `known`: what held when it was assigned. `depth`: assignments on which it rests.
    """

    targets: tuple[Expr, ...]
    indices: tuple[Index, ...]
    value: Expr
    mask: Expr | None
    kind: Type
    known: Known
    before: "Formula | None"
    bounds: tuple[tuple[int, int], ...]
    depth: int


def formulas_at(program: NodeProgram) -> dict[int, Known]:
    """For each nest with conditions, by identity, what is known when it is reached, and for each DO loop all along."""
    finder = _Finder(program)
    finder.body(program.body, {})
    return finder.found


class _Finder:
    """Walks through a program and keeps what is known at each place."""

    def __init__(self, program: NodeProgram) -> None:
        self.types = program.types
        self.constants = program.layouts.constants
        self.arrays = program.layouts.arrays
        self.found: dict[int, Known] = {}

    def body(self, body: Sequence[Node], known: dict[str, Formula]) -> None:
        """Walk through some nodes; `known` changes."""
        for node in body:
            match node:
                case Nest():
                    if has_conditions(node):
                        self.found[id(node)] = dict(known)
                    self._nest(node, known)
                case Local(assigns=assigns):
                    for each in assigns:
                        self._assign(each, (), None, known, None)
                case DoNode() | WhileNode():
                    _forget(known, written((node,)))
                    self.found[id(node)] = dict(known)
                    self.body(node.body, dict(known))
                case IfNode(branches=branches):
                    for branch in branches:
                        self.body(branch.body, dict(known))
                    _forget(known, written((node,)))
                case OwnedLoop():
                    _forget(known, written((node,)))
                case HostIo(kind="write"):
                    pass
                case CallNode(entered=True):
                    pass
                case CallNode(library=LibraryCall()):
                    _forget(known, node.defines)
                case HostIo() | CallNode() | Unmodelled():
                    known.clear()
                case _:
                    _forget(known, node.defines)

    def _nest(self, node: Nest, known: dict[str, Formula]) -> None:
        if node.reduce or any(node.outer):
            _forget(known, written((node,)))
            return
        within = _Within(dict(known), {})
        for each in node.assigns:
            self._assign(each, node.indices, node.mask, known, within)

    def _assign(
        self,
        each: Assign,
        indices: tuple[Index, ...],
        mask: Expr | None,
        known: dict[str, Formula],
        within: "_Within | None",
    ) -> None:
        """Note what an assignment does. `within`: of the iteration of a nest; None: every processor makes it."""
        target, value = each.target, each.value
        if not isinstance(target, Var | Element):
            known.clear()
            return
        tested: Expr | None = None
        if (guard := guard_of(each)) is not None and isinstance(value, Call):  # else the old value stays
            value, tested = value.args[0], guard
        names = {index.name for index in indices} | self.constants.keys()
        then = _then(known, names, mask, (value, tested), within)
        subscripts = target.subscripts if isinstance(target, Element) else ()
        if within is not None:
            within.written.setdefault(target.name, set()).add(subscripts)
        before = known.pop(target.name, None)
        kind = self.types.get(target.name)
        if kind is None or kind.base not in _FOLLOWED or (within is None and isinstance(target, Element)):
            return
        if then is None or any(index.reads - names for index in indices):
            return
        # Without a formula from before, elements that are not assigned are unknown.
        depth = 1 + sum(one.depth for one in then.values()) + (before.depth if before is not None else 0)
        if depth <= DEEPEST:
            known[target.name] = Formula(
                targets=subscripts,
                indices=indices,
                value=value,
                mask=both(mask, tested),
                kind=kind,
                known=then,
                before=before,
                bounds=self._bounds(target.name),
                depth=depth,
            )

    def _bounds(self, name: str) -> tuple[tuple[int, int], ...]:
        layout = self.arrays.get(name)
        return () if layout is None else layout.bounds


class _Within(Struct, frozen=True):
    """What is known when the iterations of a nest begin, and the elements that each has assigned so far."""

    entry: Known
    written: dict[str, set[tuple[Expr, ...]]]


def _then(
    known: Known, names: Collection[str], mask: Expr | None, parts: Sequence[Expr | None], within: _Within | None
) -> dict[str, Formula] | None:
    """What holds of all that an assignment reads; None where that is not known.

    The mask of a nest is tested before anything is assigned. What the iteration itself has assigned is read as it is
    now; any other element of such an array as it was before the nest, as no iteration needs what another one assigns.
    """
    found: dict[str, Formula] = {}
    for part, first in ((mask, True), *((each, False) for each in parts)):
        for name in names_in(part) - set(names):
            written = within.written.get(name) if within is not None else None
            source = known
            if within is not None and written:
                own = {each.subscripts in written for each in elements_in(part) if each.name == name} or {True}
                if first or own == {False}:
                    source = within.entry
                elif len(own) > 1 or len(written) > 1:
                    return None
            formula = source.get(name)
            if formula is None or found.setdefault(name, formula) is not formula:
                return None
    return found


def _forget(known: dict[str, Formula], names: Iterable[str]) -> None:
    for name in names:
        known.pop(name, None)


# --- values ---------------------------------------------------------------------------------------------------------


def mask_holds(mask: Expr, known: Known, env: Environment, vectors: Vectors) -> NDArray[np.bool_]:
    """Whether a mask holds in each of some iterations.

    Raises:
        Unknown: it reads what is not known.
        TooLarge: there are too many of them.
    """
    sizes = {each.size for each in vectors.values()}
    count = 0 if 0 in sizes else max(sizes, default=1)
    if count > LARGEST and not is_decided_by_indices(mask):
        raise TooLarge(f"{count:,} elements are too many to compute what is in them")
    # What does not divide or overflows is as in the program: no number.
    with np.errstate(all="ignore"):
        value = _Evaluation(known, env, vectors, count).of(mask)
    return np.broadcast_to(np.asarray(value, np.bool_), (count,))


class _Evaluation:
    """Values of expressions in each of `count` iterations."""

    def __init__(self, known: Known, env: Environment, vectors: Vectors, count: int) -> None:
        self.known, self.env, self.vectors, self.count = known, env, vectors, count
        self._elements: dict[Element, Values] = {}
        """Those that were asked for: conditions of long IF constructs mention some again and again."""

    def of(self, expr: Expr) -> Values:
        """The value of an expression."""
        match expr:
            case _ if is_integer(expr) and all(map(self._is_whole, names_in(expr))):
                return np.asarray(evaluate_vector(expr, self.env, self.vectors), np.int64)
            case LogicalLit(value=truth):
                return np.asarray(truth)
            case RealLit(value=number, double=double):
                return np.asarray(number, np.float64 if double else np.float32)
            case Var(name=name):
                return self._variable(name)
            case Element(name=name, subscripts=subscripts) if name in self.known:
                if expr not in self._elements:
                    places = [self.of(each) for each in subscripts]
                    self._elements[expr] = self._shifted(self.known[name], subscripts, places)
                return self._elements[expr]
            case Element(name=name) if isinstance(self.env.get(name), ArrayValues):
                return np.asarray(evaluate_vector(expr, self.env, self.vectors), np.int64)
            case Unary(op=op, operand=operand):
                value = self.of(operand)
                return ~value if op == ".not." else -value if op == "-" else value
            case Binary(op=op, left=left, right=right) if op in _BINARY:
                one, other = self.of(left), self.of(right)
                whole_numbers = one.dtype.kind == other.dtype.kind == "i"
                if op == "/" and whole_numbers:
                    return divide(one, other)
                if op == "**" and whole_numbers and (np.asarray(other) < 0).any():
                    raise Unknown("**", "a power of a whole number with a negative exponent")
                return _BINARY[op](*alike(one, other))
            case Call(name=name, args=args, keywords=()):
                return self._call(name, [self.of(each) for each in args])
            case _:
                raise Unknown(type(expr).__name__.lower(), "esp does not follow its value")

    def _is_whole(self, name: str) -> bool:
        return name in self.vectors or (name not in self.known and type(self.env.get(name)) is int)

    def _variable(self, name: str) -> Values:
        if name in self.vectors:
            return self.vectors[name]
        if name in self.known:
            return self._element(self.known[name], [])
        value = self.env.get(name)
        if value is None or isinstance(value, str | complex):
            raise Unknown(name)
        return np.asarray(value)

    def _call(self, name: str, args: list[Values]) -> Values:
        if name in _REAL and args:
            return _REAL[name](args[0] if args[0].dtype.kind == "f" else args[0].astype(np.float64))
        if name in _CONVERSIONS and args:
            return _CONVERSIONS[name](args[0])
        if name in _FUNCTIONS:
            return np.asarray(_FUNCTIONS[name](*args))
        raise Unknown(name, "esp does not follow its value")

    def _shifted(self, formula: Formula, subscripts: Sequence[Expr], places: list[Values]) -> Values:
        """The elements of an array, and zeros where an EOSHIFT leaves it."""
        inside = np.ones(self.count, np.bool_)
        for dim, (each, (lower, upper)) in enumerate(zip(subscripts, formula.bounds, strict=True)):
            if isinstance(each, Call) and each.name == "eoshift$":
                inside &= (places[dim] >= lower) & (places[dim] <= upper)
                places[dim] = np.clip(places[dim], lower, upper)
        found = self._element(formula, places)
        return found if inside.all() else np.asarray(np.where(inside, found, found.dtype.type(0)))

    def _element(self, formula: Formula, places: Sequence[Values]) -> Values:
        """The elements of an array at some places, by the last assignment that reached each."""
        places = [np.broadcast_to(each, (self.count,)) for each in places]
        values, holds = self._indices(formula, places)
        dtype = {"integer": np.int64, "logical": np.bool_}.get(
            formula.kind.base, np.float64 if formula.kind.bytes == 8 else np.float32
        )
        if formula.mask is not None and holds.any():
            chosen = holds.nonzero()[0]
            holds = holds.copy()
            holds[chosen] = self._at(formula, values, chosen).of(formula.mask)
        inside, outside = holds.nonzero()[0], (~holds).nonzero()[0]
        found: Values = np.empty(self.count, dtype)
        if inside.size:
            found[inside] = self._at(formula, values, inside).of(formula.value).astype(dtype)
        if outside.size:
            if formula.before is None:
                raise Unknown("an element", "it has no value")
            rest = _Evaluation(formula.known, self.env, {}, outside.size)
            found[outside] = rest._element(formula.before, [each[outside] for each in places])
        return found

    def _at(self, formula: Formula, values: Vectors, chosen: Values) -> "_Evaluation":
        some = {name: each[chosen] for name, each in values.items()}
        return _Evaluation(formula.known, self.env, some, chosen.size)

    def _indices(self, formula: Formula, places: Sequence[Values]) -> tuple[dict[str, Values], Values]:
        """The values of the indices at which an assignment reaches some places, and whether it does."""
        names = {index.name: index for index in formula.indices}
        values: dict[str, Values] = {}
        holds = np.ones(self.count, np.bool_)
        env = {name: value for name, value in self.env.items() if name not in names}
        for subscript, place in zip(formula.targets, places, strict=True):
            form = linear(subscript, env)
            if not form.terms:
                holds &= place == form.constant
                continue
            ((atom, factor),) = form.terms.items() if len(form.terms) == 1 else ((subscript, 0),)
            if not isinstance(atom, Var) or atom.name not in names or not factor:
                raise Unknown("a subscript", "esp does not follow which elements an assignment changes")
            number, rest = np.divmod(place - form.constant, factor)
            holds &= rest == 0
            if atom.name in values:
                holds &= values[atom.name] == number
            values[atom.name] = number
        for name, index in names.items():
            if name not in values:
                raise Unknown(name, "esp does not follow which elements an assignment changes")
            lower, upper = (evaluate_vector(each, env, values) for each in (index.lower, index.upper))
            step = 1 if index.step is None else evaluate_vector(index.step, env, values)
            down = np.less(step, 0)
            holds &= np.where(down, values[name] <= lower, values[name] >= lower)
            holds &= np.where(down, values[name] >= upper, values[name] <= upper)
            holds &= (values[name] - lower) % step == 0
        return values, holds


_BINARY: Mapping[str, Callable[..., Values]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "**": np.power,
    **COMPARISONS,
    **CONNECTIVES,
}
_REAL: Mapping[str, Callable[[Values], Values]] = {
    "sqrt": np.sqrt,
    "exp": np.exp,
    "log": np.log,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "atan": np.arctan,
}
_CONVERSIONS: Mapping[str, Callable[[Values], Values]] = {
    "dble": lambda x: x.astype(np.float64),
    "real": lambda x: x.astype(np.float32),
    "float": lambda x: x.astype(np.float32),
    "int": lambda x: np.trunc(x).astype(np.int64),
    "nint": lambda x: np.asarray(np.where(x < 0, np.ceil(x - 0.5), np.floor(x + 0.5))).astype(np.int64),
}
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    **FUNCTIONS,
    "sign": lambda a, b: np.where(b < 0, -np.abs(a), np.abs(a)),
    "merge": lambda a, b, mask: np.where(mask, *alike(a, b)),
    FILLED: lambda a, b, at, low, high: np.where((low <= at) & (at <= high), *alike(a, b)),
}
