"""Subscripts that follow a straight line but for some jumps: those of CSHIFT, EOSHIFT, MODULO and MOD.

    c(cshift$(i, 1, 1, n))   2, 3, ..., n, 1        one jump in each sweep over i
    c(modulo(i, n))          1, 2, ..., n-1, 0

`straight` gives the line, `turns` the lengths after which an index is back where it was.
"""

from collections.abc import Callable, Iterator, Mapping

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from aag.ir.expressions import Call, Expr
from aag.ir.linear import add, subtract
from aag.ir.visitors import children, map_operands, names_in

Ints = NDArray[np.int64]


class LoopSteps(Struct, frozen=True, eq=False):
    """The loops around a subscript on C processors, by the names of their indices, outermost first; each array (C,)."""

    first: Mapping[str, Ints]
    step: Mapping[str, Ints]
    count: Mapping[str, Ints]


class StraightLine(Struct, frozen=True, eq=False):
    """Where a subscript begins, how far one step of each loop moves it, and how many places each loop reaches, (C,)."""

    begin: Ints
    moves: Mapping[str, Ints]
    places: Mapping[str, Ints]


def line_of(
    subscript: Expr, sweep: LoopSteps, value: Callable[[Expr, Mapping[str, Ints]], Ints], bounds: tuple[int, int] | None
) -> StraightLine:
    """The line that reaches the same elements as a subscript that jumps.

    It goes through the middle of the loops: the longer side of a single jump lies on it. What EOSHIFT would read beyond
    the bounds is at the edge. Of a subscript that goes round more than once the line is one turn within the bounds.

    Args:
        subscript: One of which `wraps` holds.
        sweep: The loops around it.
        value: Evaluates an expression for values of the indices.
        bounds: First and last index of the dimension; None where elements beyond a part lie beside it.

    Raises:
        Unknown: by `value`.
    """
    used = names_in(subscript)
    names = [name for name in sweep.count if name in used]
    among = frozenset(names)

    def moves_of(expr: Expr) -> dict[str, Ints]:
        begin = value(expr, sweep.first)
        return {
            name: value(expr, {**sweep.first, name: sweep.first[name] + sweep.step[name]}) - begin for name in names
        }

    plain = straight(subscript, among)
    moves, places = moves_of(plain), {name: sweep.count[name] for name in names}
    if is_shifted_off(subscript):
        begin = value(plain, sweep.first)
        if bounds is not None:
            places = {name: _inside(begin, moves[name], places[name], bounds) for name in names}
            begin = np.clip(begin, *bounds)
    else:
        half = {name: sweep.count[name] // 2 for name in names}
        middle = {name: sweep.first[name] + sweep.step[name] * half[name] for name in names}
        begin = value(subscript, {**sweep.first, **middle}) - sum(moves[name] * half[name] for name in names)
        for inner, length in turns(subscript, among):
            around = np.abs(value(length, sweep.first))
            for name, step in moves_of(inner).items():
                different = around // np.maximum(np.gcd(step, around), 1)
                places[name] = np.where(step == 0, places[name], np.clip(different, 1, places[name]))
        if bounds is not None:
            begin = np.where(_goes_round(sweep, places), _moved_into(bounds, begin, moves, places), begin)
    return StraightLine(begin, moves, places)


def _inside(begin: Ints, move: Ints, count: Ints, bounds: tuple[int, int]) -> Ints:
    """How many of some places in a row lie inside an array; those beyond are all at its edge."""
    off = np.zeros_like(begin)
    for end in (begin, begin + move * (count - 1)):
        off += np.maximum(bounds[0] - end, 0) + np.maximum(end - bounds[1], 0)
    inside: Ints = np.maximum(count - off // np.maximum(np.abs(move), 1), 1)
    return inside


def _goes_round(sweep: LoopSteps, places: Mapping[str, Ints]) -> NDArray[np.bool_]:
    """Where a loop reaches all its places before its end."""
    found: NDArray[np.bool_] = np.any([count < sweep.count[name] for name, count in places.items()], axis=0)
    return found


def _moved_into(bounds: tuple[int, int], begin: Ints, moves: Mapping[str, Ints], places: Mapping[str, Ints]) -> Ints:
    """The start of a line, shifted so that the whole line lies inside the array if it fits there."""
    ends = [moves[name] * (count - 1) for name, count in places.items()]
    below, above = (sum(side(end, 0) for end in ends) for side in (np.minimum, np.maximum))
    moved: Ints = np.maximum(np.minimum(begin, bounds[1] - above), bounds[0] - below)
    return moved


def wraps(subscript: Expr, names: frozenset[str]) -> bool:
    """Whether a subscript jumps while the indices in `names` move evenly."""
    return next(_jumps(subscript, names), None) is not None


def straight(subscript: Expr, names: frozenset[str]) -> Expr:
    """The subscript as it would be without its jumps."""
    inner = map_operands(subscript, lambda each: straight(each, names))
    return _line(inner) if isinstance(inner, Call) and _is_jump(inner, names) else inner


def turns(subscript: Expr, names: frozenset[str]) -> Iterator[tuple[Expr, Expr]]:
    """What goes round in a subscript, as a straight line, and after how much it is back where it was."""
    for call in _jumps(subscript, names):
        if call.name == "cshift$":
            _, _, lower, upper = call.args
            yield straight(_line(call), names), add(subtract(upper, lower), 1)
        elif call.name != "eoshift$":
            yield straight(call.args[0], names), call.args[1]


def is_shifted_off(subscript: Expr) -> bool:
    """Whether it is that of an EOSHIFT, which may leave the array; the emitted program reads at its edge then."""
    return (isinstance(subscript, Call) and subscript.name == "eoshift$") or any(
        map(is_shifted_off, children(subscript))
    )


def _jumps(subscript: Expr, names: frozenset[str]) -> Iterator[Call]:
    if isinstance(subscript, Call) and _is_jump(subscript, names):
        yield subscript
    for each in children(subscript):
        yield from _jumps(each, names)


def _is_jump(call: Call, names: frozenset[str]) -> bool:
    if call.name not in {"cshift$", "eoshift$", "modulo", "mod"}:
        return False
    moved, *fixed = call.args
    return bool(names_in(moved) & names) and not names_in(*fixed) & names


def _line(call: Call) -> Expr:
    return add(call.args[0], call.args[1]) if call.name.endswith("$") else call.args[0]
