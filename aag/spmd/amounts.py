"""How many values loops go through, as an expression: a number where the bounds are known."""

from collections.abc import Sequence

import numpy as np

from aag.ir.evaluate import Environment, Unknown
from aag.ir.expressions import Binary, Call, Expr, IntLit
from aag.ir.linear import add, multiply, subtract
from aag.spmd.nodes import Index
from aag.spmd.symbols import Unsupported
from aag.spmd.vector import Ints, TooLarge, enumerate_indices, evaluate_vector


def amount(indices: Sequence[Index], env: Environment) -> Expr:
    """How many combinations of values the indices have: a number where bounds are known, else the product of lengths.

    Raises:
        Unsupported: a bound depends on another index, and one is not known.
    """
    try:
        return IntLit(_counted(indices, env))
    except (Unknown, TooLarge) as error:
        if not is_rectangular(indices):
            what = "loops whose bounds depend on each other and on values that are not constant"
            raise Unsupported(f"{what} in an input or output list") from error
        whole: Expr = IntLit(1)
        for each in indices:
            whole = multiply(whole, _length(each))
        return whole


def is_rectangular(indices: Sequence[Index]) -> bool:
    """Whether no bound depends on another index."""
    names = {index.name for index in indices}
    return not any(index.reads & names for index in indices)


def _counted(indices: Sequence[Index], env: Environment) -> int:
    if is_rectangular(indices):
        total = 1
        for each in indices:
            total *= int(np.sum(_trips(each, env, {})))
        return total
    vectors = enumerate_indices(indices[:-1], env)
    rows = len(next(iter(vectors.values()))) if vectors else 1
    return int(np.sum(np.broadcast_to(_trips(indices[-1], env, vectors), (rows,))))


def _trips(index: Index, env: Environment, vectors: dict[str, Ints]) -> Ints:
    lower, upper = (evaluate_vector(each, env, vectors) for each in (index.lower, index.upper))
    step = np.asarray(1 if index.step is None else evaluate_vector(index.step, env, vectors))
    if not step.all():
        raise Unknown(index.name, "its step is zero")
    found: Ints = np.maximum(0, (np.asarray(upper) - lower + step) // step)
    return found


def _length(index: Index) -> Expr:
    if index.step is None:
        return Call("max", (IntLit(0), add(subtract(index.upper, index.lower), IntLit(1))))
    span = Binary("+", subtract(index.upper, index.lower), index.step)
    return Call("max", (IntLit(0), Binary("/", span, index.step)))
