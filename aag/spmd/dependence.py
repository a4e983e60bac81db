"""Does an iteration of a sequential loop read what an earlier one wrote (Def 16)?

The test is exact for subscripts that are affine in the loop index with equal coefficients and for constants against
ranges; where it cannot tell it says yes, which costs time in the prediction but never a wrong program.
"""


import numpy as np
from msgspec import Struct

from aag.ir.evaluate import Environment, Unknown, evaluate_int
from aag.ir.expressions import Element, Expr, Var
from aag.spmd.linear import Linear, difference, linear
from aag.spmd.nodes import Index
from aag.spmd.vector import names_in

_ENUMERATED = 1 << 20


class Access(Struct, frozen=True):
    """An array element that one statement of a loop body writes or reads, with the loops inside the tested one."""

    element: Element
    inner: tuple[Index, ...]


def carried(write: Access, read: Access, loop: Index, env: Environment) -> bool:
    """Whether some iteration of `loop` may read the element that an earlier one wrote."""
    distances: set[int] = set()
    for written, used in zip(write.element.subscripts, read.element.subscripts, strict=False):
        inner = {index.name: index for index in (*write.inner, *read.inner)}
        if (names_in(written) | names_in(used)) & inner.keys():
            if _apart(written, used, inner, env) or _apart(used, written, inner, env):
                return False
            continue
        found = _distance(written, used, loop, env)
        if found is None:
            continue
        if not found[0]:
            return False
        if found[1] is not None:
            distances.add(found[1])
    return len(distances) <= 1


def _distance(written: Expr, used: Expr, loop: Index, env: Environment) -> tuple[bool, int | None] | None:
    """(possible, distance in iterations where it is fixed); None: nothing can be said."""
    first, second = linear(written, env), linear(used, env)
    a, b = first.coefficient(loop.name), second.coefficient(loop.name)
    rest = first.without(loop.name).plus(second.without(loop.name), -1)
    if a == b:
        if not rest.is_constant:
            return None
        if a == 0:
            return rest.constant == 0, None
        step = _literal(loop.step, env)
        if step is None:
            return None
        possible = rest.constant % (a * step) == 0 and rest.constant // (a * step) > 0
        return possible, rest.constant // (a * step) if possible else None
    if b == 0 and abs(a) == 1:
        return _in_range(rest.times(-a), loop, env, write=True), None
    if a == 0 and abs(b) == 1:
        return _in_range(rest.times(b), loop, env, write=False), None
    return _enumerated(written, used, loop, env), None


def _in_range(value: Linear, loop: Index, env: Environment, *, write: bool) -> bool:
    """Whether the index can be `value` in an iteration that is not the last (of a write) or the first (of a read)."""
    if _literal(loop.step, env) != 1:
        return True
    below = value.plus(linear(loop.lower, env), -1)
    above = linear(loop.upper, env).plus(value, -1)
    too_low = below.is_constant and below.constant < (0 if write else 1)
    too_high = above.is_constant and above.constant < (1 if write else 0)
    return not (too_low or too_high)


def _enumerated(written: Expr, used: Expr, loop: Index, env: Environment) -> bool:
    """The same by looking at every iteration, where the bounds are known."""
    try:
        lower, upper = evaluate_int(loop.lower, env), evaluate_int(loop.upper, env)
        step = evaluate_int(loop.step, env) if loop.step else 1
        first, second = linear(written, env), linear(used, env)
    except Unknown:
        return True
    if step == 0 or abs(upper - lower) > _ENUMERATED * abs(step):
        return True
    at = np.arange(lower, upper + (1 if step > 0 else -1), step, dtype=np.int64)
    rest = first.without(loop.name).plus(second.without(loop.name), -1)
    if not rest.is_constant or not len(at):
        return bool(len(at))
    writes = first.coefficient(loop.name) * at + rest.constant
    reads = second.coefficient(loop.name) * at
    order = np.argsort(writes, kind="stable")
    place = np.searchsorted(writes[order], reads)
    hit = (place < len(at)) & (writes[order][np.minimum(place, len(at) - 1)] == reads)
    return bool(np.any(hit & (order[np.minimum(place, len(at) - 1)] < np.arange(len(at)))))


def _apart(one: Expr, other: Expr, inner: dict[str, Index], env: Environment) -> bool:
    """Whether `one`, an inner index with its range, never equals `other`, which has no inner index."""
    if not isinstance(one, Var) or one.name not in inner or names_in(other) & inner.keys():
        return False
    index = inner[one.name]
    below = difference(index.lower, other, env)
    above = difference(other, index.upper, env)
    return (below is not None and below > 0) or (above is not None and above > 0)


def _literal(step: Expr | None, env: Environment) -> int | None:
    if step is None:
        return 1
    try:
        value = evaluate_int(step, env)
    except Unknown:
        return None
    return value or None


