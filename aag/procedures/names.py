"""A procedure's expressions, statements and directives with the names that they have where it is called."""

import itertools
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from aag.ir import directives as d
from aag.ir import statements as s
from aag.ir.evaluate import Environment
from aag.ir.expressions import Binary, Call, Element, Expr, ImpliedDo, IntLit, LogicalLit, Section, Unary, Var
from aag.ir.intrinsics import INTRINSICS
from aag.ir.linear import add, linear, multiply, subtract
from aag.ir.units import Entity
from aag.ir.visitors import map_operands, map_own, mapped

ABSENT = "absent$"
"""The name of an optional argument that is not there."""


class Refused(Exception):
    """A call that cannot be replaced by the procedure's statements; the text says why."""


class OtherShape(Refused):
    """A dummy array with other extents than the actual one."""


class ActualDim(Struct, frozen=True, kw_only=True):
    """A dimension of a dummy array in one of the actual array: its index `lower` is `start` there, and so on by `step`.

    `upper`: its last index; None: the actual dimension ends where it ends.
    """

    lower: Expr
    upper: Expr | None
    start: Expr
    step: Expr = field(default_factory=lambda: IntLit(1))
    whole: bool = False
    """Whether it is all of the actual dimension."""
    maybe_empty: bool = False
    """Whether `upper` may be less than `lower` - 1, for want of elements."""

    def index(self, subscript: Expr) -> Expr:
        """The index in the actual array."""
        if self.lower == self.start and self.step == IntLit(1):
            return subscript
        if self.step == IntLit(1):  # x(i) is a(i + 1) rather than a(i - 1 + 2)
            return add(subscript, subtract(self.start, self.lower))
        return add(multiply(self.step, subtract(subscript, self.lower)), self.start)

    def extent(self) -> Expr | None:
        """How many indices it has; None: as the actual array."""
        if self.upper is None:
            return None
        found = extent(self.lower, self.upper)
        return Call("max", (IntLit(0), found)) if self.maybe_empty else found

    def section(self, section: Section) -> Expr:
        """A section of the dummy's dimension in the actual array."""
        if self.whole and section.lower is None and section.upper is None:
            return section
        step = self.step if section.step is None else multiply(section.step, self.step)
        lower, upper = section.lower or self.lower, section.upper or self.upper
        return Section(
            self.index(lower),
            None if upper is None else self.index(upper),
            None if step == IntLit(1) else step,
            span=section.span,
        )


class ActualPart(Struct, frozen=True):
    """A dummy array as part of an actual one. `dims`: for each dimension of the actual one a subscript that is fixed,
    or what a dimension of the dummy is there, in their order."""

    array: str
    dims: tuple[Expr | ActualDim, ...]

    @property
    def is_whole(self) -> bool:
        """Whether the dummy is all of the actual array."""
        return all(isinstance(each, ActualDim) and each.whole for each in self.dims)

    @property
    def is_same(self) -> bool:
        """Whether it is that with the same indices."""
        return self.is_whole and all(isinstance(each, ActualDim) and each.lower == each.start for each in self.dims)

    @property
    def is_contiguous(self) -> bool:
        """Whether its elements are neighbours in memory, as those of the dummy."""
        rest = itertools.dropwhile(lambda each: isinstance(each, ActualDim) and each.whole, self.dims)
        first = next(rest, None)
        stepped = isinstance(first, ActualDim) and first.step != IntLit(1)
        return not stepped and not any(isinstance(each, ActualDim) for each in rest)

    def shape(self) -> Iterator[d.Bound]:
        """The shape of the dummy."""
        for each in self.dims:
            if isinstance(each, ActualDim):
                yield d.Bound(lower=each.lower, upper=each.upper)

    def all(self, name: Expr) -> Expr:
        """The dummy as a whole."""
        if self.is_whole:
            return Var(self.array, span=name.span)
        every = Section(None, None, None)
        parts = (each.section(every) if isinstance(each, ActualDim) else each for each in self.dims)
        return Element(self.array, tuple(parts), span=name.span)

    def element(self, element: Element) -> Expr:
        """An element or a section of the dummy."""
        given = iter(element.subscripts)
        subscripts = []
        for each in self.dims:
            if isinstance(each, ActualDim):
                one = next(given)
                subscripts.append(each.section(one) if isinstance(one, Section) else each.index(one))
            else:
                subscripts.append(each)
        return Element(self.array, tuple(subscripts), span=element.span)

    def places(self, subscripts: Iterable[Expr | d.Star]) -> Iterator[Expr | d.Star]:
        """What subscripts of the dummy in ALIGN are in the actual array."""
        given = iter(subscripts)
        for each in self.dims:
            if isinstance(each, ActualDim):
                one = next(given)
                yield (
                    one
                    if isinstance(one, d.Star)
                    else each.section(one)
                    if isinstance(one, Section)
                    else each.index(one)
                )
            else:
                yield each

    def extents(self) -> list[Expr | None]:
        """How many indices each dimension of the dummy has; None: as the actual array."""
        return [each.extent() for each in self.dims if isinstance(each, ActualDim)]

    def bound(self, name: str, dim: int) -> Expr | None:
        """LBOUND or UBOUND of a dimension of the dummy, counted from 1; None: it equals that of the actual array.

        Raises:
            Refused: it depends on whether there are elements.
        """
        along = [each for each in self.dims if isinstance(each, ActualDim)][dim - 1]
        if along.maybe_empty and along.upper is not None:
            if along.lower != IntLit(1):
                raise Refused(f"it asks for the bounds of a section of {self.array} that may have no elements")
            return along.lower if name == "lbound" else Call("max", (IntLit(0), along.upper))
        return along.lower if name == "lbound" else along.upper


class CallNames(Struct, kw_only=True):
    """What the names of a procedure mean where it is called; those that are absent mean the same."""

    renamed: dict[str, str] = field(default_factory=dict)
    values: dict[str, Expr] = field(default_factory=dict)
    parts: dict[str, ActualPart] = field(default_factory=dict)
    procedures: dict[str, str] = field(default_factory=dict)
    """Dummies that are procedures."""
    present: dict[str, bool] = field(default_factory=dict)
    """Optional dummies."""
    results: Mapping[str, Expr] = field(default_factory=dict)
    mark: str = ""
    """What the names of its loops end with."""

    def of(self, name: str) -> str:
        """Another name."""
        return self.parts[name].array if name in self.parts else self.renamed.get(name, name)

    def expression(self, expr: Expr, *, sizes: bool = False) -> Expr:
        """An expression of the procedure. `sizes`: SIZE of a dummy becomes an expression of its bounds."""
        match expr:
            case Call(name="size", args=(Var(name=name), *_)) if sizes and name in self.parts:
                found = self._size(expr, self.parts[name].extents())
                if found is not None:
                    return found
            case Call(name="present", args=(Var(name=name),)) if name in self.present:
                return LogicalLit(self.present[name], span=expr.span)
            case Call(name="lbound" | "ubound" as kind, args=(Var(name=name), IntLit(value=dim))) if name in self.parts:
                found = self.parts[name].bound(kind, dim)
                if found is not None:
                    return found
        return self._one(map_operands(expr, lambda part: self.expression(part, sizes=sizes)))

    def _one(self, expr: Expr) -> Expr:
        match expr:
            case Var(name=name):
                if name in self.values:
                    return self.values[name]
                return self.parts[name].all(expr) if name in self.parts else Var(self.of(name), span=expr.span)
            case Element(name=name, subscripts=subscripts):
                if name in self.parts:
                    return self.parts[name].element(expr)
                return Element(self.of(name), subscripts, span=expr.span)
            case ImpliedDo(var=var):
                return _with_var(expr, self.of(var))
            case Call(name=name) if name in self.procedures:
                return Call(self.procedures[name], expr.args, expr.keywords, span=expr.span)
            case _:
                return expr

    def statements(self, body: Iterable[s.Stmt]) -> tuple[s.Stmt, ...]:
        """Statements of the procedure."""
        return tuple(map(self._statement, body))

    def _statement(self, statement: s.Stmt) -> s.Stmt:
        return mapped(self.head(statement), self.statements)

    def head(self, statement: s.Stmt) -> s.Stmt:
        """A statement of the procedure, without the statements inside of it: these stay as they are."""
        if isinstance(statement, s.Remap):
            return replace(statement, directive=self._remap(statement.directive))
        if isinstance(statement, s.CallStmt) and statement.cost is not None:
            self._check_elements(statement)
        made = map_own(self._named(statement), self.expression)
        if isinstance(made, s.If) and self.present:
            made = decided(made)
        return made

    def _check_elements(self, call: s.CallStmt) -> None:
        """A library procedure that gets an element may use those behind it in memory.

        Raises:
            Refused: what is behind it is not what is behind it in the dummy.
        """
        for each in call.args:
            if not isinstance(each, Element) or any(isinstance(one, Section) for one in each.subscripts):
                continue
            part = self.parts.get(each.name)
            if part is not None and not part.is_contiguous:
                raise Refused(f"it passes an element of {each.name}, a part of {part.array}, to {call.name}")

    def _named(self, statement: s.Stmt) -> s.Stmt:
        """The statement with what is a name in it."""
        match statement:
            case s.Do(var=var, name=name, independent=claim):
                return replace(statement, var=self.of(var), name=self._loop(name), independent=self._claim(claim))
            case s.CallStmt(name=name) if name in self.procedures:
                return replace(statement, name=self.procedures[name])
            case s.DoWhile(name=name) | s.Exit(name=name) | s.Cycle(name=name):
                return replace(statement, name=self._loop(name))
            case s.Forall(indices=indices, independent=claim):
                named = tuple(replace(each, name=self.of(each.name)) for each in indices)
                return replace(statement, indices=named, independent=self._claim(claim))
            case _:
                return statement

    def _loop(self, name: str) -> str:
        return f"{name}{self.mark}" if name else name

    def _claim(self, claim: d.Independent | None) -> d.Independent | None:
        if claim is None:
            return None
        return replace(
            claim,
            indices=tuple(map(self.of, claim.indices)),
            new=tuple(map(self.of, claim.new)),
            reductions=tuple(map(self.of, claim.reductions)),
            home=None if claim.home is None else self.expression(claim.home),
        )

    def _remap(self, directive: d.Align | d.Distribute) -> d.Align | d.Distribute:
        found = self.directive(directive)
        assert isinstance(found, d.Align | d.Distribute)
        return found

    def directive(self, directive: d.Directive) -> d.Directive:
        """A directive of the procedure."""
        match directive:
            case d.Processors(name=name, shape=shape) | d.Template(name=name, shape=shape):
                return replace(directive, name=self.of(name), shape=self.shape(shape))
            case d.Align(alignee=alignee, axes=axes, target=target, subscripts=subscripts):
                kept = CallNames(
                    renamed={name: to for name, to in self.renamed.items() if name not in (axes or ())},
                    values={name: to for name, to in self.values.items() if name not in (axes or ())},
                )
                placed = subscripts and tuple(
                    each if isinstance(each, d.Star) else kept.expression(each) for each in subscripts
                )
                part = self.parts.get(target)
                if part is not None and not part.is_same:
                    every = (Section(None, None, None),) * len(part.extents())
                    axes = (":",) * len(every) if axes is None else axes
                    placed = tuple(part.places(placed or every))
                    directive = replace(directive, axes=axes)
                return replace(directive, alignee=self.of(alignee), target=self.of(target), subscripts=placed)
            case d.Distribute(distributee=name, formats=formats, onto=onto):
                sized = formats and tuple(
                    each if each.size is None else replace(each, size=self.expression(each.size)) for each in formats
                )
                there = None if onto is None else self.of(onto)
                return replace(directive, distributee=self.of(name), formats=sized, onto=there)
            case d.Dynamic(names=names) | d.Inherit(names=names) | d.Sequence(names=names):
                return replace(directive, names=tuple(map(self.of, names)))
        return directive

    def shape(self, shape: tuple[d.Bound, ...]) -> tuple[d.Bound, ...]:
        """A declared shape."""

        def one(expr: Expr | None) -> Expr | None:
            return None if expr is None else self.expression(expr, sizes=True)

        return tuple(d.Bound(lower=one(each.lower), upper=one(each.upper)) for each in shape)

    def _size(self, call: Call, extents: list[Expr | None]) -> Expr | None:
        """SIZE of an array with these extents; None: it stays a call."""
        match INTRINSICS["size"].bound(call).get("dim"):
            case None:
                found = extents
            case IntLit(value=dim):
                found = extents[dim - 1 : dim]
            case _:
                return None
        known = [each for each in found if each is not None]
        product: Expr = IntLit(1)
        for each in known:
            product = multiply(product, each)
        return product if found and len(known) == len(found) else None

    def entity(self, entity: Entity) -> Entity:
        """A declaration."""
        name = self.of(entity.name)
        return replace(
            entity,
            name=name,
            shown=entity.shown if name == entity.name else name,
            shape=None if entity.shape is None else self.shape(entity.shape),
            initial=None if entity.initial is None else self.expression(entity.initial),
        )


def decided(statement: s.If) -> s.If | s.Continue:
    """An IF without the branches that are never taken, as they may use what is not there."""
    branches: list[s.Branch] = []
    for each in statement.branches:
        taken = None if each.condition is None else truth(each.condition)
        if taken is None:
            branches.append(each)
        elif taken:
            branches.append(replace(each, condition=None) if branches else each)
            break
    if not branches or (len(branches) == 1 and branches[0].condition is None and not branches[0].body):
        return s.Continue(span=statement.span)
    if branches[0].condition is None:
        branches[0] = replace(branches[0], condition=LogicalLit(True))
    return replace(statement, branches=tuple(branches))


def truth(expr: Expr) -> bool | None:
    """What a condition of logical constants is; None: it is not known."""
    match expr:
        case LogicalLit(value=value):
            return value
        case Unary(op=".not.", operand=operand):
            found = truth(operand)
            return None if found is None else not found
        case Binary(op=".and." | ".or." as op, left=left, right=right):
            pair = (truth(left), truth(right))
            decisive = op == ".or."
            if decisive in pair:
                return decisive
            return None if None in pair else not decisive
        case _:
            return None


def _with_var(expr: ImpliedDo, var: str) -> Expr:
    return ImpliedDo(expr.values, var, expr.lower, expr.upper, expr.step, span=expr.span)


def same(left: Expr | None, right: Expr | None, env: Environment) -> bool:
    """Whether two bounds are equal, as far as the constants in `env` say; None: nothing is written, which is 1."""
    form = linear(subtract(left or IntLit(1), right or IntLit(1)), env)
    return form.is_constant and form.constant == 0


def extent(lower: Expr | None, upper: Expr) -> Expr:
    """How many indices a dimension has."""
    first = lower or IntLit(1)
    return upper if first == IntLit(1) else add(Binary("-", upper, first), 1)
