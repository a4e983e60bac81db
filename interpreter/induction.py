"""Induction variables: scalars that each iteration of a loop changes by the same whole number.

Where nothing else that is known decides when a WHILE loop ends, its iterations need not be carried out one by one.
"""

from collections.abc import Iterable, Iterator, Mapping
from math import inf

from aag.graph import aau as g
from aag.ir.evaluate import Environment, Unknown, Value, evaluate_int
from aag.ir.expressions import Binary, Expr, IntLit, Var
from aag.ir.linear import linear
from aag.ir.statements import Assign
from aag.ir.values import ArrayValues
from aag.ir.visitors import names_in

Body = tuple[g.AAU, ...]


def assigns(body: Body) -> Iterator[Assign]:
    """All scalar assignments inside a body."""
    for each in g.walk(body):
        if isinstance(each, g.Seq):
            yield from (one for one in each.assigns if isinstance(one.target, Var))


def steps_of(names: Iterable[str], body: Body, env: Environment, changed: frozenset[str]) -> dict[str, int]:
    """The steps of those scalars that the body changes by ``name = name + constant`` only, once and always."""
    own: dict[str, list[Assign]] = {}
    for one in assigns(body):
        if isinstance(one.target, Var):
            own.setdefault(one.target.name, []).append(one)
    here = {id(one) for each in body if isinstance(each, g.Seq) for one in each.assigns}
    found = {}
    for name in names:
        match own.get(name):
            case [one] if id(one) in here:
                step = _step(name, one.value, env, changed)
                if step is not None:
                    found[name] = step
    return found


def _step(name: str, value: Expr, env: Environment, changed: frozenset[str]) -> int | None:
    """The step of a scalar to which this value is assigned."""
    match value:
        case Binary(op="+", left=Var(name=left), right=step) if left == name:
            sign = 1
        case Binary(op="-", left=Var(name=left), right=step) if left == name:
            sign = -1
        case Binary(op="+", left=step, right=Var(name=right)) if right == name:
            sign = 1
        case _:
            return None
    if isinstance(step, IntLit):
        return sign * step.value
    if names_in(step) & changed:
        return None
    try:
        return sign * evaluate_int(step, env)
    except Unknown:
        return None


def iterations_left(
    condition: Expr | None, env: Mapping[str, Value | ArrayValues], steps: Mapping[str, int]
) -> float | None:
    """How many iterations it takes until a condition that does not fail now fails: infinitely many if what is known
    never lets it fail; None if that is not seen.

    Args:
        condition: comparisons joined by .and.; those without an induction variable stay as they are.
        env: the values before the next iteration.
        steps: induction variable -> step.
    """
    least: float = inf
    others = {name: value for name, value in env.items() if name not in steps}
    for part in _conjuncts(condition):
        if not names_in(part) & steps.keys():
            continue
        match part:
            case Binary(op="<" | "<=" as op, left=left, right=right):
                form = linear(Binary("-", left, right), others)
            case Binary(op=">" | ">=" as op, left=left, right=right):
                form = linear(Binary("-", right, left), others)
            case _:
                return None
        now, slope = form.constant, 0
        for atom, factor in form.terms.items():
            value = env.get(atom.name) if isinstance(atom, Var) else None
            if not isinstance(atom, Var) or atom.name not in steps or not isinstance(value, int):
                return None
            now, slope = now + factor * value, slope + factor * steps[atom.name]
        if slope > 0:  # it holds while now + slope * t is negative, or not positive
            least = min(least, -now // slope + 1 if op in ("<=", ">=") else -(now // slope))
    return least


def _conjuncts(condition: Expr | None) -> Iterator[Expr]:
    match condition:
        case None:
            return
        case Binary(op=".and.", left=left, right=right):
            yield from _conjuncts(left)
            yield from _conjuncts(right)
        case _:
            yield condition
