"""What a condition on indices says about one of them: communication that it guards leaves the loop with fewer
iterations.

    do i = 1, n                          multicast a(i, j) for i in max(1, j + 1):n
      if (i > j) s = s + a(i, j)   -->   do i = 1, n
    end do                                 if (i > j) s = s + a(i, j)

A part of the condition that says nothing about the ends of the range shrinks nothing (Def 10).
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from aag.ir.evaluate import Environment, Unknown, evaluate_int
from aag.ir.expressions import Binary, Call, Expr, IntLit, LogicalLit, Unary, Var
from aag.ir.linear import Linear, add, linear, multiply, subtract
from aag.ir.visitors import names_in
from aag.spmd.nodes import Index, Need
from aag.spmd.space import OPPOSITE
from aag.spmd.symbols import Symbols
from aag.spmd.vector import is_decided_by_indices

_MIRRORED = {"==": "==", "/=": "/=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}


def both(left: Expr | None, right: Expr | None) -> Expr | None:
    """The conjunction of two conditions, at the place of the second one. Each may be absent."""
    if left is None or right is None:
        return right if left is None else left
    return Binary(".and.", left, right, span=right.span)


def is_plain(guard: Expr, symbols: Symbols) -> bool:
    """Whether whole-number scalars and indices alone decide a condition."""
    return is_decided_by_indices(guard) and all(
        not symbols.is_array(name) and symbols.type_of(Var(name)).base == "integer" for name in names_in(guard)
    )


def entry_condition(
    indices: Sequence[Index], mask: Expr | None, changes: frozenset[str], symbols: Symbols, env: Environment
) -> Expr | None:
    """What can be said before a nest of whether it reaches a statement inside: loops have an iteration, and conditions
    on scalars hold. None: nothing, or it is certain. `changes`: the names that the nest changes."""
    some = [_has_iterations(each, env) for each in indices]
    found: Expr | None = None
    for each in (*some, *(_parts(mask, wanted=True) if mask is not None else ())):
        if each is not None and is_plain(each, symbols) and not names_in(each) & changes:
            found = both(found, each)
    return found


def _has_iterations(index: Index, env: Environment) -> Expr | None:
    """The condition under which a loop has an iteration; None where it surely has one, or the sign of its step is
    unknown."""
    try:
        step = 1 if index.step is None else evaluate_int(index.step, env)
    except Unknown:
        return None
    try:
        first, last = evaluate_int(index.lower, env), evaluate_int(index.upper, env)
    except Unknown:
        return Binary("<=" if step > 0 else ">=", index.lower, index.upper)
    return None if (last - first) * step >= 0 else LogicalLit(False)


class Narrowed(Struct, frozen=True):
    """The iterations of a loop in which a condition may hold: `exact` where it holds in all of them, apart from the
    `rest`, which does not depend on the index."""

    index: Index
    rest: Expr | None
    exact: bool


def narrowed(index: Index, guard: Expr | None, env: Environment) -> Narrowed:
    """A loop under a condition that is tested in each iteration."""
    try:
        step = 1 if index.step is None else evaluate_int(index.step, env)
    except Unknown:
        step = 0
    found = Narrowed(index, None, exact=True)
    for part in () if guard is None else _parts(guard, wanted=True):
        if index.name not in names_in(part):
            found = replace(found, rest=both(found.rest, part))
            continue
        bounds = _bounds(part, index.name, env) if abs(step) == 1 else None
        found = replace(found, exact=found.exact and bounds is not None)
        for bound, op in bounds or ():
            found = replace(found, index=_within(found.index, bound, op, at_first=(op == "max") == (step == 1)))
    return found


def _within(index: Index, bound: Expr, op: str, *, at_first: bool) -> Index:
    own = index.lower if at_first else index.upper
    end = bound if own == bound else Call(op, (own, bound))
    return replace(index, lower=end) if at_first else replace(index, upper=end)


def is_safe(need: Need, env: Environment) -> bool:
    """Whether the subscripts of what is needed, and of where, have values in all iterations: those that a guard keeps
    from a division by 0 may not be asked for without it."""
    subscripts = (*need.reference.subscripts, *(() if need.home is None else need.home.subscripts))
    return all(isinstance(atom, Var) for each in subscripts for atom in linear(each, env).terms)


def _parts(guard: Expr, *, wanted: bool) -> Iterator[Expr]:
    """What a condition (or its contrary) says, as conditions that all hold."""
    match guard:
        case Unary(op=".not.", operand=operand):
            yield from _parts(operand, wanted=not wanted)
        case Binary(op=".and." | ".or." as op, left=left, right=right) if (op == ".and.") is wanted:
            yield from _parts(left, wanted=wanted)
            yield from _parts(right, wanted=wanted)
        case Binary(op=op, left=left, right=right) if op in OPPOSITE and not wanted:
            yield Binary(OPPOSITE[op], left, right)
        case _:
            yield guard if wanted else Unary(".not.", guard)


def _bounds(part: Expr, name: str, env: Environment) -> list[tuple[Expr, str]] | None:
    """The bounds that a comparison sets to an index: at least (``max``) or at most (``min``) so much; None: others."""
    if not isinstance(part, Binary) or part.op not in _MIRRORED or part.op == "/=":
        return None
    form = linear(part.left, env).plus(linear(part.right, env), -1)
    other = _other_side(part, name, form)
    if other is None:
        return None
    op = part.op if form.coefficient(name) > 0 else _MIRRORED[part.op]
    match op:
        case "==":
            return [(other, "max"), (other, "min")]
        case ">" | ">=":
            return [(add(other, 1 if op == ">" else 0), "max")]
        case _:
            return [(add(other, -1 if op == "<" else 0), "min")]


def _other_side(part: Binary, name: str, form: Linear) -> Expr | None:
    """What an index is compared with, as it is written or from the difference of both sides; None where it does not
    stand alone with a factor of 1 or -1."""
    for own, other in ((part.left, part.right), (part.right, part.left)):
        if own == Var(name) and name not in names_in(other):
            return other
    factor, rest = form.coefficient(name), form.without(name)
    if abs(factor) != 1 or any(name in names_in(atom) for atom in rest.terms):
        return None
    return _expression(rest.times(-factor))


def _expression(form: Linear) -> Expr:
    """A linear form as it is written."""
    total: Expr = IntLit(form.constant)
    for atom, coefficient in form.terms.items():
        term = multiply(IntLit(abs(coefficient)), atom)
        total = add(total, term) if coefficient > 0 else subtract(total, term)
    return total
