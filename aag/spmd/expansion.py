"""Arrays that are NEW get a dimension for the loop, so that its iterations do not share them.

    do i = 1, n                                do i = 1, n
      do j = 1, m                                do j = 1, m
        w(j) = c(i, j)               -->           w$(j, i) = c(i, j)
      ...                                        ...
      c(i, 1) = w(m)                             c(i, 1) = w$(m, i)

The elements live where the iteration runs that they belong to.
"""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from aag.ir import statements as ir
from aag.ir.evaluate import Unknown, evaluate_int
from aag.ir.expressions import Element, Expr, Var
from aag.ir.visitors import map_expression, names_in, walk_expressions
from aag.spmd.groups import home_of
from aag.spmd.leaves import Leaf
from aag.spmd.lowering import Lowering
from aag.spmd.nodes import Index, Reference
from aag.spmd.reductions import result_layout
from aag.spmd.symbols import Unsupported


def expanded(lowering: Lowering, loops: Sequence[ir.Do], leaves: Sequence[Leaf]) -> tuple[list[Leaf], list[str]]:
    """The assignments of a nest with wider arrays, and the names of these."""
    found, added = list(leaves), []
    for loop in loops:
        for name in () if loop.independent is None else loop.independent.new:
            inside = [leaf for leaf in leaves if name in _names(leaf)]
            if inside and lowering.symbols.is_array(name) and not lowering.is_distributed(name):
                wider = _wider(lowering, name, loop, inside)
                if wider:
                    added.append(wider)
                    found = [_with(leaf, name, wider, loop.var) for leaf in found]
    return found, added


def _wider(lowering: Lowering, name: str, loop: ir.Do, leaves: Sequence[Leaf]) -> str:
    """A new array with a last dimension for the iterations of a loop; empty where there can be none."""
    home = home_of(lowering, [leaf for leaf in leaves if loop in leaf.loops])
    if home is None or any(loop not in leaf.loops or _is_whole(leaf, name) for leaf in leaves):
        return ""
    target = home.assign.target
    assert isinstance(target, Element)
    ends = _range(lowering, loop, target)
    if ends is None:
        return ""
    bounds = (*lowering.arrays[name].declared, ends)
    names = [*(f"{name}$dim{at}" for at in range(len(bounds) - 1)), loop.var]
    dims = tuple(
        Index(name=each, lower=lower, upper=upper, step=None)
        for each, (lower, upper) in zip(names, bounds, strict=True)
    )
    place = Reference(array=target.name, subscripts=target.subscripts, indices=home.indices)
    wider, kind = lowering.elementwise.fresh(name), lowering.symbols.type_of(Var(name))
    try:
        lowering.arrays[wider] = result_layout(wider, place, dims, kind, lowering)
    except Unsupported:
        return ""
    lowering.symbols.declare(wider, kind)
    return wider


def _range(lowering: Lowering, loop: ir.Do, target: Element) -> tuple[Expr, Expr] | None:
    """The first and last value of a loop variable, or those that a subscript of an assigned element may have."""
    try:
        first, last = (evaluate_int(bound, lowering.env) for bound in (loop.lower, loop.upper))
    except Unknown:
        bounds = zip(target.subscripts, lowering.arrays[target.name].declared, strict=True)
        return next((ends for subscript, ends in bounds if subscript == Var(loop.var)), None)
    return (loop.lower, loop.upper) if first <= last else (loop.upper, loop.lower)


def _names(leaf: Leaf) -> frozenset[str]:
    return names_in(*_parts(leaf)).union(*(index.reads for index in leaf.indices))


def _parts(leaf: Leaf) -> Iterator[Expr]:
    yield leaf.assign.target
    yield leaf.assign.value
    if leaf.mask is not None:
        yield leaf.mask


def _is_whole(leaf: Leaf, name: str) -> bool:
    """Whether an array stands somewhere without subscripts, or decides how often a loop runs."""
    decides = any(name in index.reads for index in leaf.indices)
    return decides or any(each == Var(name) for part in _parts(leaf) for each in walk_expressions(part))


def _with(leaf: Leaf, old: str, new: str, index: str) -> Leaf:
    def other(expr: Expr) -> Expr:
        if isinstance(expr, Element) and expr.name == old:
            return Element(new, (*expr.subscripts, Var(index)), span=expr.span)
        return expr

    assign = leaf.assign
    target, value = map_expression(assign.target, other), map_expression(assign.value, other)
    mask = None if leaf.mask is None else map_expression(leaf.mask, other)
    return replace(leaf, assign=replace(assign, target=target, value=value), mask=mask)
