"""Do two references certainly touch different elements, or does one certainly cover the other?

Decided one dimension at a time from the values that its subscript takes, where these are known before the program
runs; anything else is answered with no.
"""

from collections.abc import Sequence
from functools import cached_property, lru_cache

import numpy as np

from aag.distinct import distinct, is_among
from aag.ir.evaluate import Environment, Unknown
from aag.ir.expressions import Expr
from aag.ir.visitors import names_in
from aag.spmd.components import Partition, tie_bounds
from aag.spmd.nodes import Index, Reference
from aag.spmd.vector import Ints, TooLarge, enumerate_indices, evaluate_vector

_MOST = 1 << 20


class Touched:
    """The elements that a reference touches, dimension by dimension."""

    def __init__(self, reference: Reference, env: Environment) -> None:
        self.reference = reference
        self._env = env

    @cached_property
    def values(self) -> tuple[Ints | None, ...]:
        """The distinct values of each subscript, None where they are not known."""
        return tuple([_values(each, self.reference.indices, self._env) for each in self.reference.subscripts])

    @cached_property
    def is_product(self) -> bool:
        """Whether all combinations of the values of its subscripts are touched."""
        return _independent(self.reference)


def disjoint(one: Touched, other: Touched) -> bool:
    """Whether no element is touched by both: in some dimension the values differ throughout."""
    return any(
        first is not None and second is not None and not is_among(first, second).any()
        for first, second in zip(one.values, other.values, strict=False)
    )


def covers(whole: Touched, part: Touched) -> bool:
    """Whether each element of `part` is touched by `whole`: its dimensions are independent and each is covered."""
    return whole.is_product and all(
        first is not None and second is not None and is_among(second, first).all()
        for first, second in zip(whole.values, part.values, strict=False)
    )


def _independent(reference: Reference) -> bool:
    """Whether the reference touches the full product of the values of its dimensions."""
    known = {index.name for index in reference.indices}
    partition = Partition()
    tie_bounds(partition, 0, reference.indices)
    used: list[object] = []
    for subscript in reference.subscripts:
        roots = {partition.find((0, name)) for name in names_in(subscript) & known}
        used += roots
    return len(used) == len(set(used))


def _values(subscript: Expr, indices: Sequence[Index], env: Environment) -> Ints | None:
    """The distinct values of a subscript over its index space, or None where they are not known."""
    known = {index.name: index for index in indices}
    names = names_in(subscript) & known.keys()
    pending = list(names)
    while pending:
        more = known[pending.pop()].reads & known.keys() - names
        names |= more
        pending += more
    used = tuple(index for index in indices if index.name in names)
    try:
        return _enumerated(subscript, used, tuple(sorted(env.items(), key=lambda item: item[0])))
    except (Unknown, TooLarge):
        return None


@lru_cache(maxsize=256)
def _enumerated(subscript: Expr, indices: tuple[Index, ...], env: tuple[tuple[str, object], ...]) -> Ints:
    values = dict(env)
    vectors = enumerate_indices(indices, values)  # type: ignore[arg-type]  # values came from an Environment
    found = distinct(np.asarray(evaluate_vector(subscript, values, vectors)))  # type: ignore[arg-type]  # as above
    if len(found) > _MOST:
        raise TooLarge(str(subscript))
    return found
