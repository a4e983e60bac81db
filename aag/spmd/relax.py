"""Upper bounds where indices are coupled in too many combinations to be counted (design decision D2).

First bounds that depend on other indices give way to the box around them; where that is not enough, each subscript
gets an index of its own, so that every dimension can be counted apart. Both name at least the elements that the
program touches, so messages and iterations counted from them are upper bounds.
"""

from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from aag.ir.evaluate import Environment
from aag.ir.expressions import Expr, IntLit, Var
from aag.ir.linear import linear
from aag.ir.visitors import map_expression, names_in
from aag.mapping.layout import Layout, Layouts
from aag.spmd.nodes import Index, Need, Reference
from aag.spmd.vector import TooLarge, enumerate_indices, evaluate_vector


def box(indices: Sequence[Index], env: Environment) -> tuple[Index, ...]:
    """The indices with bounds that do not depend on each other: the smallest box around all combinations.

    Raises:
        TooLarge: a bound alone depends on too many combinations, or a step changes its sign.
    """
    done: dict[str, Index] = {}
    for index in indices:
        used = index.reads & done.keys()
        done[index.name] = _widest(index, tuple(each for each in done.values() if each.name in used), env)
    return tuple(done.values())


def _widest(index: Index, around: tuple[Index, ...], env: Environment) -> Index:
    if not around:
        return index
    vectors = enumerate_indices(around, env)
    length = len(next(iter(vectors.values())))
    step = np.asarray(1 if index.step is None else evaluate_vector(index.step, env, vectors))
    lower, upper = (np.asarray(evaluate_vector(each, env, vectors)) for each in (index.lower, index.upper))
    if not length:
        return Index(name=index.name, lower=IntLit(1), upper=IntLit(0), step=None)
    if step.min() <= 0 <= step.max():
        raise TooLarge(f"the step of {index.name} is not of one sign")
    rising = bool(step.min() > 0)
    first, last = (lower.min(), upper.max()) if rising else (lower.max(), upper.min())
    pace = int(step.flat[0]) if lower.min() == lower.max() and step.min() == step.max() else 1 if rising else -1
    return Index(name=index.name, lower=IntLit(int(first)), upper=IntLit(int(last)), step=IntLit(pace))


def boxed(need: Need, env: Environment) -> Need:
    """A need whose indices are those of `box`."""
    return Need(reference=replace(need.reference, indices=box(need.reference.indices, env)), home=need.home)


def apart(need: Need, layouts: Layouts, env: Environment) -> Need:
    """A need of which no two subscripts share an index: each runs over all its values by itself.

    Where the home lives on a grid of another shape, every processor is taken to need everything.
    """
    indices: list[Index] = []
    known = {index.name: index for index in box(need.reference.indices, env)}
    read = _alone(need.reference, layouts.arrays[need.reference.array], "read", known, indices, env)
    written = None
    layout = layouts.arrays[need.reference.array]
    home = need.home
    if home is not None and layouts.arrays[home.array].grid.shape != layout.grid.shape:
        home = None
    if home is not None:
        written = _alone(home, layouts.arrays[home.array], "home", known, indices, env)
    space = tuple(indices)
    return Need(
        reference=replace(need.reference, subscripts=read, indices=space),
        home=None if home is None or written is None else replace(home, subscripts=written, indices=space),
    )


def _alone(
    reference: Reference, layout: Layout, place: str, known: dict[str, Index], indices: list[Index], env: Environment
) -> tuple[Expr, ...]:
    """The subscripts of a reference with an index of their own each, which is added to `indices`."""
    result: list[Expr] = []
    for dim, subscript in enumerate(reference.subscripts):
        names = names_in(subscript) & known.keys()
        if not names:
            result.append(subscript)
            continue
        name = f"{place}${dim}"
        if len(names) == 1:
            (old,) = names
            given = known[old]
            indices.append(Index(name=name, lower=given.lower, upper=given.upper, step=given.step))
            result.append(_renamed(subscript, Var(old), Var(name)))
            continue
        lower, upper = _values(subscript, names, known, layout.bounds[dim], env)
        indices.append(Index(name=name, lower=IntLit(lower), upper=IntLit(upper), step=None))
        result.append(Var(name))
    return tuple(result)


def _values(
    subscript: Expr, names: frozenset[str], known: dict[str, Index], bounds: tuple[int, int], env: Environment
) -> tuple[int, int]:
    """The least and the largest value of a subscript; those of the whole dimension where it is not affine."""
    form = linear(subscript, env)
    rest = form
    lower = upper = 0
    for name in names:
        rest = rest.without(name)
        bounds_of = (known[name].lower, known[name].upper)
        ends = [form.coefficient(name) * int(evaluate_vector(each, env, {})) for each in bounds_of]
        lower += min(ends)
        upper += max(ends)
    if not rest.is_constant:
        return bounds
    return max(bounds[0], lower + rest.constant), min(bounds[1], upper + rest.constant)


def _renamed(expr: Expr, old: Var, new: Var) -> Expr:
    return map_expression(expr, lambda each: new if each == old else each)
