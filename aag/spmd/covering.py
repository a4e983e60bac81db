"""Does an element exist in every iteration in which something runs? Only then can its owner be who runs it.

do j = 1, n                 e(1) does not exist where e is declared e(2:n): iteration 1 of f(j) = j
  if (j > 1) e(j) = j       would be run by nobody if the owner of e(j) ran each iteration.
  f(j) = j
end do
"""

from collections.abc import Iterator, Sequence

from aag.ir.expressions import Binary, Call, Element, Expr
from aag.ir.visitors import elements_in, names_in, walk_expressions
from aag.spmd.dependence import Access, Bounds, may_leave
from aag.spmd.leaves import Leaf
from aag.spmd.lowering import Lowering
from aag.spmd.nests import has_inner_loop


def covers(lowering: Lowering, home: Leaf, place: Element, others: Sequence[Leaf]) -> bool:
    """Whether an element that an assignment uses certainly exists in all iterations in which others run, too."""
    return all(_exists(lowering, home, place, each) for each in others)


def conjuncts(mask: Expr | None) -> frozenset[Expr]:
    """The conditions that a condition consists of."""
    match mask:
        case None:
            return frozenset()
        case Binary(op=".and.", left=left, right=right):
            return conjuncts(left) | conjuncts(right)
        case _:
            return frozenset((mask,))


def _exists(lowering: Lowering, home: Leaf, place: Element, leaf: Leaf) -> bool:
    if home.loops == leaf.loops[: len(home.loops)] and conjuncts(home.mask) <= conjuncts(leaf.mask):
        return True  # the program itself uses it there
    own = {index.name for index in leaf.indices}
    indices = (
        leaf.indices if not names_in(*place.subscripts) & {each.name for each in home.indices} - own else home.indices
    )
    access = Access(place.name, place.subscripts, indices, ())
    certain = [(Access(name, subscripts, indices, ()), bounds) for name, subscripts, bounds in _used(lowering, leaf)]
    return not may_leave(access, lowering.arrays[place.name].bounds, lowering.env, lowering.reach.around, certain)


def _used(lowering: Lowering, leaf: Leaf) -> Iterator[tuple[str, tuple[Expr, ...], Bounds]]:
    """The elements that an assignment uses whenever it is carried out."""
    target, value = leaf.assign.target, leaf.assign.value
    chosen = has_inner_loop(value) or any(isinstance(each, Call) for each in walk_expressions(value))
    for each in (*elements_in(target), *(() if chosen else elements_in(value))):
        if each.name in lowering.arrays:
            yield each.name, each.subscripts, lowering.arrays[each.name].bounds
