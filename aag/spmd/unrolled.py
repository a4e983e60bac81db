"""Loops over the dimensions of an array: each iteration gets the number of its dimension.

Lattice codes shift along dimension `mu`, or `2 + mu`, in a loop over `mu`. Which processors talk is known only where
DIM= is a number, so such a loop becomes a loop of one iteration for each of its values.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache

from msgspec.structs import replace

from aag.ir import statements as s
from aag.ir.evaluate import Environment, Unknown, evaluate_int
from aag.ir.expressions import Call, Expr, IntLit, Var
from aag.ir.intrinsics import INTRINSICS
from aag.ir.visitors import map_expression, map_own, mapped, names_in, walk_expressions, walk_statements

_MOST = 16
"""Iterations of a loop over dimensions: arrays have at most 15."""

Body = tuple[s.Stmt, ...]


def unrolled(body: Body, env: Environment) -> Body:
    """Statements whose loops over dimensions are one loop of one iteration for each value; the same object if there is
    none, as results are kept by statement."""
    if not _has_any(body):
        return body
    return tuple(made for each in body for made in _statement(each, env))


@lru_cache(maxsize=256)
def _has_any(body: Body) -> bool:
    return any(isinstance(each, s.Do) and _selects(each) for each in walk_statements(body))


def _statement(statement: s.Stmt, env: Environment) -> Iterator[s.Stmt]:
    values = _values(statement, env) if isinstance(statement, s.Do) and _selects(statement) else None
    if values is None or not isinstance(statement, s.Do):
        yield mapped(statement, lambda body: unrolled(body, env))
        return
    for value in values:
        number = IntLit(value)
        body = unrolled(tuple(_with(statement.body, statement.var, number)), {**env, statement.var: value})
        step = None if values.step == 1 else IntLit(values.step)
        yield replace(statement, lower=number, upper=number, step=step, body=body)
    if not values:
        yield s.Assign(span=statement.span, target=Var(statement.var), value=statement.lower)


def _selects(loop: s.Do) -> bool:
    """Whether the variable of a loop decides the DIM= of some function, and the loop runs to its end."""
    leaves = (each for each in walk_statements(loop.body) if isinstance(each, s.Exit))
    if any(each.name in ("", loop.name) for each in leaves):
        return False
    dims = (_dim(each) for each in walk_expressions(loop.body) if isinstance(each, Call))
    return any(loop.var in names_in(each) for each in dims if each is not None)


def _dim(call: Call) -> Expr | None:
    found = INTRINSICS.get(call.name)
    return None if found is None or "dim" not in found.arguments else found.bound(call).get("dim")


def _values(loop: s.Do, env: Environment) -> range | None:
    try:
        lower, upper = evaluate_int(loop.lower, env), evaluate_int(loop.upper, env)
        step = 1 if loop.step is None else evaluate_int(loop.step, env)
    except Unknown:
        return None
    values = range(lower, upper + (1 if step > 0 else -1), step) if step else None
    return values if values is not None and len(values) <= _MOST else None


def _with(body: Iterable[s.Stmt], var: str, number: IntLit) -> Iterator[s.Stmt]:
    """Statements with a number where the variable decides a DIM=."""

    def dim(expr: Expr) -> Expr:
        made = map_expression(expr, lambda part: number if part == Var(var) else part)
        try:
            return IntLit(evaluate_int(made, {}), span=expr.span)
        except Unknown:
            return made

    def one(expr: Expr) -> Expr:
        found = _dim(expr) if isinstance(expr, Call) else None
        if found is None or var not in names_in(found) or not isinstance(expr, Call):
            return expr
        args = tuple(dim(each) if _is_dim(expr, at) else each for at, each in enumerate(expr.args))
        pairs = tuple((key, dim(value) if key == "dim" else value) for key, value in expr.keywords)
        return Call(expr.name, args, pairs, span=expr.span)

    for each in body:
        made = map_own(each, lambda expr: map_expression(expr, one))
        yield mapped(made, lambda inner: tuple(_with(inner, var, number)))


def _is_dim(call: Call, at: int) -> bool:
    arguments = INTRINSICS[call.name].arguments
    return at < len(arguments) and arguments[at] == "dim"
