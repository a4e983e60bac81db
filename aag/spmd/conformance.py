"""What the source contradicts: arrays of different shapes in one expression, and elements outside of their arrays.

Both are looked at where the values are known before the program runs, and only in what certainly runs: one shape or one
element that differs is a mistake of the program, and the prediction would be that of another program.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import product

from aag.diagnostics import Diagnostic, Span
from aag.ir import statements as ir
from aag.ir.evaluate import Environment, Unknown, evaluate_int
from aag.ir.expressions import Binary, Call, Element, Expr, Section, Unary, Var
from aag.ir.intrinsics import INTRINSICS
from aag.ir.linear import linear
from aag.ir.spelling import spell
from aag.ir.steady import all_passed, steady
from aag.ir.units import Unit
from aag.ir.values import ArrayValues
from aag.ir.visitors import children, names_in, own_expressions, walk_statements
from aag.mapping.layout import Layout
from aag.spmd.symbols import Extent, Mismatch, Symbols, Unsupported

_MOST_NAMES = 3
"""Loop variables in a subscript up to which all ends of their ranges are tried."""

_LONGEST = 30
"""Characters of an expression in a message."""

Ranges = Mapping[str, tuple[int, int]]
"""Loop variable -> its first and last value."""


# --- shapes -----------------------------------------------------------------------------------------------------


def check_shapes(statement: ir.Stmt, symbols: Symbols, env: Environment) -> None:
    """All arrays of an expression have one shape, and an assignment gives an array to an array of its shape.

    Raises:
        Mismatch: two have not.
    """
    match statement:
        case ir.Assign(target=target, value=value):
            shape = _shape(value, symbols, env)
            if shape is None:
                return
            own = _shape(target, symbols, env)
            if own == () and shape:
                raise Mismatch(f"a scalar cannot hold an array of rank {len(shape)}", statement.span)
            if own is not None:
                _same(target, own, value, shape, statement.span)
        case ir.Where(branches=branches):
            _check_masks(branches, symbols, env)
            for each in (each for branch in branches for each in branch.body):
                check_shapes(each, symbols, env)
        case ir.Forall(body=body):
            for each in body:
                check_shapes(each, symbols, env)
        case _:
            return


def _check_masks(branches: Iterable[ir.WhereBranch], symbols: Symbols, env: Environment) -> None:
    """Masks and the arrays that they guard have one shape."""
    first: Expr | None = None
    shape: Shape | None = None
    for branch in branches:
        if branch.mask is not None:
            own = _shape(branch.mask, symbols, env)
            if first is None:
                first, shape = branch.mask, own
            elif shape is not None and own is not None:
                _same(first, shape, branch.mask, own, branch.mask.span)
        for each in branch.body:
            if isinstance(each, ir.Assign) and first is not None and shape is not None:
                own = _shape(each.target, symbols, env)
                if own is not None:
                    _same(first, shape, each.target, own, each.span)


Shape = tuple[int | None, ...]
"""Elements in each dimension, None where that is not known."""


def _shape(expr: Expr, symbols: Symbols, env: Environment) -> Shape | None:
    """The shape of an expression, its operands compared; None: the rank is not known.

    Raises:
        Mismatch: operands differ.
    """
    match expr:
        case Unary(operand=operand):
            return _shape(operand, symbols, env)
        case Binary(left=left, right=right):
            return _agreed((left, right), symbols, env, expr.span)
        case Call(name=name, args=args) if (found := symbols.intrinsic(name)) is not None and found.form == "elemental":
            return _agreed(args, symbols, env, expr.span)
    try:
        return tuple(_length(each, env) for each in symbols.shape(expr))
    except (Unsupported, Mismatch, KeyError, IndexError):
        return None


def _agreed(operands: Iterable[Expr], symbols: Symbols, env: Environment, span: Span) -> Shape | None:
    found: Shape = ()
    first: Expr | None = None
    for operand in operands:
        shape = _shape(operand, symbols, env)
        if shape is None:
            return None
        if first is not None:
            _same(first, found, operand, shape, span)
        if shape and not found:
            first, found = operand, shape
    return found


def _same(one: Expr, shape: Shape, other: Expr, given: Shape, span: Span) -> None:
    if not shape or not given:
        return
    if len(shape) != len(given):
        raise Mismatch(f"{_named(one)} has rank {len(shape)}, but {_named(other)} has rank {len(given)}", span)
    for dim, (length, its) in enumerate(zip(shape, given, strict=True), 1):
        if length is not None and its is not None and length != its:
            raise Mismatch(
                f"shapes differ: dimension {dim} has {length} elements in {_named(one)}, {its} in {_named(other)}", span
            )


def _length(extent: Extent, env: Environment) -> int | None:
    try:
        first, last = evaluate_int(extent.lower, env), evaluate_int(extent.upper, env)
        step = 1 if extent.step is None else evaluate_int(extent.step, env)
    except Unknown:
        return None
    return max(0, (last - first + step) // step) if step else None


def _named(expr: Expr) -> str:
    text = spell(expr)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


# --- bounds -----------------------------------------------------------------------------------------------------


def outside(unit: Unit, layouts: Mapping[str, Layout], env: Environment) -> Iterator[Diagnostic]:
    """Subscripts that certainly leave the bounds of their arrays, each once."""
    assigns = (each.target for each in walk_statements(unit.body) if isinstance(each, ir.Assign))
    changed = {target.name for target in assigns if isinstance(target, Var)}
    shared = frozenset[str]().union(*(names_in(*each.members) for each in unit.equivalences))
    known = {name: value for name, value in env.items() if name not in changed}
    scalars = {name: value for name, value in known.items() if not isinstance(value, ArrayValues)}
    known |= {name: value for name, value in steady(unit, scalars, all_passed).items() if name not in shared}
    checker = _Bounds({name: each for name, each in layouts.items() if name not in shared}, known)
    yield from dict.fromkeys(checker.body(unit.body, {}))


class _Bounds:
    """Walks what certainly runs."""

    def __init__(self, layouts: Mapping[str, Layout], env: Environment) -> None:
        self.layouts = layouts
        self.env = env

    def body(self, statements: Iterable[ir.Stmt], ranges: Ranges) -> Iterator[Diagnostic]:
        for statement in statements:
            if _may_end(statement):
                return
            for expr in own_expressions(statement) if not isinstance(statement, ir.Forall) else ():
                yield from self.expression(expr, ranges)
            match statement:
                case ir.Do(body=body):
                    yield from self.loop(
                        body, ranges, {statement.var: (statement.lower, statement.upper, statement.step)}
                    )
                case ir.Forall(body=body, mask=None):
                    indices = {each.name: (each.lower, each.upper, each.step) for each in statement.indices}
                    yield from self.loop(body, ranges, indices)

    def loop(
        self, body: tuple[ir.Stmt, ...], ranges: Ranges, indices: Mapping[str, tuple[Expr, Expr, Expr | None]]
    ) -> Iterator[Diagnostic]:
        """A body for all values of its indices, if it runs at all and nothing leaves it."""
        found = dict(ranges)
        for name, bounds in indices.items():
            range_ = self.range_of(*bounds)
            if range_ is None:
                return
            found[name] = range_
        if not any(map(_leaves, walk_statements(body))):
            yield from self.body(body, found)

    def range_of(self, lower: Expr, upper: Expr, step: Expr | None) -> tuple[int, int] | None:
        """The first and last value of an index; None: not known, or it has none."""
        try:
            first, last = evaluate_int(lower, self.env), evaluate_int(upper, self.env)
            by = 1 if step is None else evaluate_int(step, self.env)
        except Unknown:
            return None
        count = (last - first + by) // by if by else 0
        return (first, first + (count - 1) * by) if count > 0 else None

    def expression(self, expr: Expr, ranges: Ranges) -> Iterator[Diagnostic]:
        if isinstance(expr, Call) and expr.name in _NOT_READ:
            return
        if isinstance(expr, Binary) and expr.op in (".and.", ".or."):  # the other side may not be evaluated
            yield from self.expression(expr.left, ranges)
            return
        if isinstance(expr, Element) and expr.name in self.layouts:
            yield from self.element(expr, ranges)
        for each in children(expr):
            yield from self.expression(each, ranges)

    def element(self, element: Element, ranges: Ranges) -> Iterator[Diagnostic]:
        bounds = self.layouts[element.name].bounds
        if len(bounds) != len(element.subscripts):
            return
        for dim, (subscript, (first, last)) in enumerate(zip(element.subscripts, bounds, strict=True), 1):
            if first == last and dim == len(bounds):  # A(1) says nothing of the size in old programs
                continue
            values = self.values(subscript, ranges)
            far = [each for each in values if not first <= each <= last]
            if far:
                yield Diagnostic(
                    code="W211",
                    message=f"subscript {dim} of {element.name} reaches {far[0]}, outside of its bounds {first}:{last}",
                    span=element.span,
                    hint="correct the subscript, the bounds of its loop, or the declaration",
                )

    def values(self, subscript: Expr, ranges: Ranges) -> list[int]:
        """The values of a subscript at the ends of what it depends on; none where they are not known."""
        if isinstance(subscript, Section):
            return list(self.section(subscript))
        names = sorted(names_in(subscript) & ranges.keys())
        form = linear(subscript, self.env)
        if len(names) > _MOST_NAMES or any(not isinstance(atom, Var) or atom.name not in names for atom in form.terms):
            return []
        terms = [(atom.name, count) for atom, count in form.terms.items() if isinstance(atom, Var)]
        places = (dict(zip(names, ends, strict=True)) for ends in product(*(ranges[name] for name in names)))
        return [form.constant + sum(count * place[name] for name, count in terms) for place in places]

    def section(self, section: Section) -> tuple[int, ...]:
        """The first and last value of a section whose ends are both given and known."""
        if section.lower is None or section.upper is None:
            return ()
        return self.range_of(section.lower, section.upper, section.step) or ()


_NOT_READ = frozenset(name for name, each in INTRINSICS.items() if each.form in ("bounds", "type"))
"""Functions that do not read the elements of their argument."""


def _leaves(statement: ir.Stmt) -> bool:
    return isinstance(statement, ir.Stop | ir.Return | ir.Exit | ir.Cycle | ir.Opaque)


def _may_end(statement: ir.Stmt) -> bool:
    """Whether what follows a statement may not run. EXIT and CYCLE in a loop inside are that loop's own."""
    own = isinstance(statement, ir.Do | ir.DoWhile)
    return any(
        _leaves(each) and not (own and isinstance(each, ir.Exit | ir.Cycle)) for each in walk_statements((statement,))
    )
