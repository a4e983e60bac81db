"""What is private to an iteration becomes an array with a dimension for the loop, so that iterations do not share it.

Arrays that are NEW:

    do i = 1, n                                do i = 1, n
      do j = 1, m                                do j = 1, m
        w(j) = c(i, j)               -->           w$(j, i) = c(i, j)
      ...                                        ...
      c(i, 1) = w(m)                             c(i, 1) = w$(m, i)

The elements live where the iteration runs that they belong to. Scalars, where no single processor runs a whole
iteration, so that its assignments become nests of their own (Padua and Wolfe, CACM 29 (1986), "scalar expansion"):

    do j = 1, n                                do j = 1, n
      t = a(k, j)                                t$(j) = a(k, j)
      a(k, j) = a(m, j)          -->             a(k, j) = a(m, j)
      a(m, j) = t                                a(m, j) = t$(j)

The elements live where the one lives that they copy, else where the first assignment runs that reads them.
"""

from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from aag.ir import statements as ir
from aag.ir.evaluate import Unknown, evaluate_int
from aag.ir.expressions import Element, Expr, Var
from aag.ir.visitors import map_expression, names_in, walk_expressions
from aag.spmd.covering import covers
from aag.spmd.groups import has_private, home_of, places
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
    ends = _of_index(lowering, home.indices[home.loops.index(loop)], [target])
    if ends is None:
        return ""
    bounds = (*lowering.arrays[name].declared, ends)
    names = [*(f"{name}$dim{at}" for at in range(len(bounds) - 1)), loop.var]
    dims = tuple(
        Index(name=each, lower=lower, upper=upper, step=None)
        for each, (lower, upper) in zip(names, bounds, strict=True)
    )
    place = Reference(array=target.name, subscripts=target.subscripts, indices=home.indices)
    return _declared(lowering, name, place, dims)


def with_arrays_for_scalars(
    lowering: Lowering, leaves: Sequence[Leaf], kept: frozenset[str]
) -> tuple[list[Leaf], list[str]]:
    """The assignments of a nest with arrays in place of its private scalars, and the names of these. Those that are
    `kept` stay scalars."""
    found, added = list(leaves), []
    scalars = {leaf.assign.target.name for leaf in leaves if isinstance(leaf.assign.target, Var)} - kept
    scalars -= lowering.read_by_calls(*(part for leaf in leaves for part in _parts(leaf)))
    for name in sorted(scalars.difference(*map(places, leaves))):
        writers = [leaf for leaf in leaves if leaf.assign.target == Var(name)]
        readers = [at for at, leaf in enumerate(leaves) if name in names_in(leaf.assign.value, leaf.mask)]
        loops = writers[0].loops
        if any(leaf.loops != loops for leaf in writers) or not all(
            leaves[at].loops[: len(loops)] == loops and has_private(leaves, at, name, frozenset()) for at in readers
        ):
            continue
        wider = _array(lowering, name, writers, [leaves[at] for at in readers])
        if wider:
            added.append(wider)
            element = Element(wider, tuple(Var(index.name) for index in writers[0].indices))
            found = [_in_place_of(leaf, Var(name), element) for leaf in found]
    return found, added


def _array(lowering: Lowering, name: str, writers: Sequence[Leaf], readers: Sequence[Leaf]) -> str:
    """A new array with the loops around the assignments of a scalar as dimensions; empty where there can be none."""
    copied = ((leaf, each) for leaf in writers for each in (leaf.assign.value,))
    assigned = ((leaf, leaf.assign.target) for leaf in readers)
    places = [
        (leaf, each)
        for leaf, each in (*copied, *assigned)
        if isinstance(each, Element) and lowering.is_distributed(each.name) and covers(lowering, leaf, each, writers)
    ]
    ends = [_of_index(lowering, index, [each for _, each in places]) for index in writers[0].indices]
    if not places or None in ends:
        return ""
    dims = tuple(
        Index(name=index.name, lower=lower, upper=upper, step=None)
        for index, (lower, upper) in zip(writers[0].indices, filter(None, ends), strict=True)
    )
    leaf, place = places[0]
    where = Reference(array=place.name, subscripts=place.subscripts, indices=leaf.indices)
    return _declared(lowering, name, where, dims)


def _declared(lowering: Lowering, name: str, place: Reference, dims: tuple[Index, ...]) -> str:
    """A new array that lives where a reference does; empty where its bounds are not certain."""
    wider, kind = lowering.elementwise.fresh(name), lowering.symbols.type_of(Var(name))
    try:
        lowering.arrays[wider] = result_layout(wider, place, dims, kind, lowering)
    except Unsupported:
        return ""
    lowering.symbols.declare(wider, kind)
    return wider


def _of_index(lowering: Lowering, index: Index, used: Sequence[Element]) -> tuple[Expr, Expr] | None:
    """Bounds between which all values of a loop index are: its own, or those of a dimension whose subscript it is."""
    try:
        first, last = (evaluate_int(bound, lowering.env) for bound in (index.lower, index.upper))
    except Unknown:
        for element in used:
            bounds = zip(element.subscripts, lowering.arrays[element.name].declared, strict=True)
            for subscript, ends in bounds:
                if subscript == Var(index.name):
                    return ends
        return None
    return (index.lower, index.upper) if first <= last else (index.upper, index.lower)


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

    return _mapped(leaf, other)


def _in_place_of(leaf: Leaf, old: Expr, new: Expr) -> Leaf:
    return _mapped(leaf, lambda each: new if each == old else each)


def _mapped(leaf: Leaf, other: Callable[[Expr], Expr]) -> Leaf:
    assign = leaf.assign
    target, value = map_expression(assign.target, other), map_expression(assign.value, other)
    mask = None if leaf.mask is None else map_expression(leaf.mask, other)
    return replace(leaf, assign=replace(assign, target=target, value=value), mask=mask)
