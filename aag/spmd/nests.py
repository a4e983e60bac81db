"""Building one parallel nest: what it reads, its inner reduction loops, its loop order, whether it needs a copy."""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from aag.ir.evaluate import Environment
from aag.ir.expressions import Binary, Call, Element, Expr, IntLit, Unary, Var
from aag.ir.intrinsics import REDUCTIONS
from aag.ir.result_types import INTEGER
from aag.ir.statements import Assign
from aag.ir.units import Type
from aag.ir.visitors import children, elements_in, map_expression, names_in
from aag.spmd.dependence import Access, Dependence
from aag.spmd.elementwise import INNER, MASKED
from aag.spmd.lowering import Lowering
from aag.spmd.needs import Use
from aag.spmd.nodes import Index, Nest, Reference
from aag.spmd.symbols import Unsupported


def inner_loops(
    lowering: Lowering, target: Expr, value: Expr, indices: tuple[Index, ...]
) -> tuple[tuple[Index, ...], tuple[Assign, ...], tuple[tuple[Assign, ...], ...]]:
    """All loops of an assignment, what runs innermost, and what runs around the inner loops.

    A value without an inner reduction is one assignment in the innermost loop. ``y(i) = c + sum$(a(i,k)*x(k), k, ..)``
    becomes: in loop k ``s = s + a(i,k)*x(k)``; in loop i ``s = 0`` and ``y(i) = c + s``. So does a reduction inside
    another one, which has loops inside those of the outer one.
    """
    span = lowering.span
    found = inner_reductions(value)
    if not found:
        return indices, (Assign(span=span, target=target, value=value),), ()
    if len(found) > 1:
        raise Unsupported("more than one reduction over a loop inside an element of an array expression")
    call = found[0]
    name = lowering.elementwise.fresh("s")
    loops, element = _unnest(call)
    op = REDUCTIONS[call.name.removesuffix(INNER)]
    lowering.symbols.declare(name, reduced_type(lowering, call))
    match element:
        case Call(name=wrapped, args=(taken, mask)) if wrapped == MASKED:
            step: Expr = Call("merge", (op.accumulated(Var(name), taken), Var(name), mask))
        case _:
            step = op.accumulated(Var(name), element)
    first = Assign(span=span, target=Var(name), value=op.first or IntLit(0))
    whole = map_expression(value, lambda each: Var(name) if each == call else each)
    around = (first, Assign(span=span, target=target, value=whole))
    depth = len(indices)
    if not depth:
        raise Unsupported("an inner reduction without a loop around it")
    every, innermost, deeper = inner_loops(lowering, Var(name), step, indices + loops)
    deeper = deeper or ((),) * (len(every) - 1)
    return every, innermost, (*deeper[: depth - 1], around, *deeper[depth:])


def inner_reductions(expr: Expr) -> list[Call]:
    """The reductions over a loop of their own in an element of an array expression, without those inside them."""
    return [each for each in _calls(expr) if is_inner(each)]


def reduced_type(lowering: Lowering, call: Call) -> Type:
    """The type of such a reduction."""
    if REDUCTIONS[call.name.removesuffix(INNER)].op == "count":
        return INTEGER
    return lowering.symbols.type_of(_unnest(call)[1])


def as_value(value: Expr, target: Expr) -> Expr:
    """The value of an assignment of the source: MERGE with its own target is a choice of values, no IF
    (`aag.spmd.branches`)."""
    match value:
        case Call(name="merge", args=(new, old, condition)) if old == target and not has_inner_loop(value):
            return Call("merge", (old, new, Unary(".not.", condition)), span=value.span)
        case _:
            return value


def has_inner_loop(expr: Expr) -> bool:
    """Whether an expression holds a reduction that has to be a loop inside."""
    return any(is_inner(each) for each in _calls(expr))


def places_of(lowering: Lowering, assign: Assign, mask: Expr | None, update: tuple[str, Expr] | None) -> list[Element]:
    """The elements of distributed arrays at whose owners a reduction may run: those that its iterations read.

    Raises:
        Unsupported: it reads distributed arrays only in reductions inside it, which no owner of a part can finish.
    """
    together = _undivided(lowering, assign.value, update)
    found, left = [], False
    for each in elements_in(assign.value, mask):
        if not lowering.is_distributed(each.name) or elements_in(*each.subscripts):
            continue
        layout = lowering.arrays[each.name]
        decisive = {axis.dim for axis in layout.axes if axis.role == "dim"}
        if any(names_in(each.subscripts[dim]) & together for dim in decisive):
            left = True
            continue
        lowest = (lower for lower, _ in layout.declared)
        places = (low if names_in(own) & together else own for own, low in zip(each.subscripts, lowest, strict=True))
        found.append(Element(each.name, tuple(places), span=each.span))
    if left and not found:
        raise Unsupported("it reduces more than the results of the reductions inside it")
    return found


def _undivided(lowering: Lowering, value: Expr, update: tuple[str, Expr] | None) -> frozenset[str]:
    """The indices of reductions inside a value over which processors may not divide the work: each would use its own
    part of the inner result. `update`: the operation and operand, if the value is that of a reduction around them; its
    operand may be divided where it is an inner reduction of the same kind, and for sums a linear function of one."""
    if update is not None:
        op, operand = update
        if op == "sum":
            operand = _summed(lowering, operand)
        if isinstance(operand, Call) and is_inner(operand):
            inner = operand.name.removesuffix(INNER)
            if op == ("sum" if inner == "count" else inner):
                value = _unnest(operand)[1]
    return frozenset(_inner_indices(value))


_LINEAR = frozenset(("real", "dble", "dreal", "aimag", "dimag", "conjg", "dconjg", "sngl"))
"""Functions of which the sum is the function of the sum."""


def _summed(lowering: Lowering, operand: Expr) -> Expr:
    """The sum of which an operand is a multiple, else the operand."""
    match operand:
        case Unary(op="-" | "+", operand=inner):
            return _summed(lowering, inner)
        case Call(name=name, args=(inner, *_)) if name in _LINEAR:
            return _summed(lowering, inner)
        case Binary(op="*", left=left, right=right) if has_inner_loop(left) != has_inner_loop(right):
            return _summed(lowering, left if has_inner_loop(left) else right)
        case Binary(op="/", left=left, right=right) if not has_inner_loop(right):
            return operand if lowering.symbols.type_of(left).base == "integer" else _summed(lowering, left)
        case _:
            return operand


def _inner_indices(expr: Expr) -> Iterator[str]:
    """The indices of all reductions inside an expression."""
    if isinstance(expr, Call) and is_inner(expr):
        loops, element = _unnest(expr)
        yield from (index.name for index in loops)
        yield from _inner_indices(element)
        return
    for child in children(expr):
        yield from _inner_indices(child)


def _calls(expr: Expr) -> list[Call]:
    """Function references in an expression, an inner reduction without those inside it."""
    if isinstance(expr, Call) and is_inner(expr):
        return [expr]
    found = [expr] if isinstance(expr, Call) else []
    for child in children(expr):
        found += _calls(child)
    return found


def is_inner(call: Call) -> bool:
    """Whether a call stands for an inner reduction loop."""
    return call.name.endswith(INNER) and call.name.removesuffix(INNER) in REDUCTIONS


def _unnest(call: Call) -> tuple[tuple[Index, ...], Expr]:
    """The loops of an inner reduction over one or more indices, and what it reduces."""
    loops = []
    element: Expr = call
    while isinstance(element, Call) and element.name == call.name:
        element, index, lower, upper = element.args
        assert isinstance(index, Var)
        loops.append(Index(name=index.name, lower=lower, upper=upper, step=None))
    return tuple(loops), element


def conflicts(home: Reference, uses: Sequence[Use], env: Environment, outside: int = 0) -> bool:
    """Whether a FORALL may read what it writes at another index: then it needs a temporary.

    The first `outside` indices are those of DO loops around it: both are in one iteration of them.
    """
    around, indices = home.indices[:outside], home.indices[outside:]
    for use in uses:
        if use.element.name != home.array or use.element.subscripts == home.subscripts:
            continue
        inner = use.indices[outside:]
        loops = tuple(index.name for index in inner)
        write = Access(home.array, home.subscripts, indices, loops[: len(indices)])
        read = Access(home.array, use.element.subscripts, inner, loops)
        # The reduction loops inside an element come after the common ones: they belong to one iteration.
        if any(Dependence(*ends, env, around=around).exists() for ends in ((write, read), (read, write))):
            return True
    return False


def ordered(nest: Nest, home: Reference, *, interchange: bool) -> Nest:
    """The nest with its loops in the order in which they run: stride 1 innermost where that is allowed.

    Fortran arrays are column-major, so the index of the first subscript goes innermost. Inner reduction loops and
    loops whose bounds depend on others stay where they are.
    """
    depth = len(home.indices)
    names = [index.name for index in home.indices]
    rectangular = not any(names_in(index.lower, index.upper) & set(names) for index in home.indices)
    if not interchange or not rectangular or depth < 2:
        return nest
    position = {}
    for name in names:
        dims = [dim for dim, each in enumerate(home.subscripts) if name in names_in(each)]
        position[name] = dims[0] if dims else len(home.subscripts)
    loops = tuple(sorted(nest.indices[:depth], key=lambda index: -position[index.name]))
    return replace(nest, indices=loops + nest.indices[depth:])
