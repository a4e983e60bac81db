"""Scalars that only choose a plane of the arrays: who runs what, how often, and what moves is the same in each.

do j = 1, n                      A(BLOCK,*): the loop inside runs and sends the same in each column;
  do i = 2, n                    only the lines of the caches differ.
    a(i,j) = a(i-1,j) + b(i,j)
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from aag.ir.expressions import Element, Expr
from aag.ir.linear import linear
from aag.ir.visitors import elements_in, names_in
from aag.mapping.layout import Layouts
from aag.spmd.branches import conditions_of
from aag.spmd.local_parts import pitch_of
from aag.spmd.nodes import Index, Nest, Operation, OwnedLoop, Reference, assigns_of


def only_chooses_plane(node: Nest | OwnedLoop | Operation, name: str, ends: Sequence[int], layouts: Layouts) -> bool:
    """Whether a scalar, whose least and largest value are `ends`, stands only in subscripts of dimensions that are not
    divided, alone and inside the array, and in equal ones of all references that may name one element."""
    match node:
        case Nest():
            own = [] if node.home is None else [node.home]
            is_masked = name in names_in(*conditions_of(node))
            indices, compared = node.indices, list[Reference]()
        case OwnedLoop():
            own, is_masked, indices = [node.home], False, (node.index,)
            targets = [each.target for each in node.assigns if isinstance(each.target, Element)]
            written = [Reference(array=each.name, subscripts=each.subscripts, indices=indices) for each in targets]
            compared = [each.reference for each in node.needs]
            compared += [each for each in written if each.array in {one.array for one in compared}]
        case _:
            needs = [*node.needs, *(each.need for each in node.held)]
            own = [each.home for each in needs if each.home is not None]
            compared = [each.reference for each in needs] + [each for held in node.held for each in held.stale]
            is_masked, indices = False, tuple(each for one in (*own, *compared) for each in one.indices)
    if is_masked or _bounds(indices, name) or any(each.is_indirect for each in (*own, *compared)):
        return False
    return all(_is_free(each, name, ends, layouts) for each in (*own, *compared)) and _are_alike(
        compared, name, layouts
    )


def move_alike(nodes: Iterable[Nest | OwnedLoop], name: str, layouts: Layouts) -> bool:
    """Whether all elements that nests touch move by the same number of bytes from each value of a scalar to the next,
    or not at all: then what they find in a cache does not depend on the value, but for what stays where it is."""
    ranks = np.arange(layouts.procs)
    known: NDArray[np.int64] | None = None
    parts = [part for node in nodes for part in _touched(node)]
    for each in elements_in(*parts):
        layout = layouts.arrays.get(each.name)
        if layout is None or name not in names_in(*each.subscripts):
            continue
        forms = [linear(subscript, layouts.environment) for subscript in each.subscripts]
        if any(name in names_in(*form.without(name).terms) for form in forms):
            return False
        factors = np.array([form.coefficient(name) for form in forms])
        step = pitch_of(layout, ranks, whole=False)[:, :-1] @ factors
        if known is not None and not np.array_equal(step, known):
            return False
        known = step
    return True


def _touched(node: Nest | OwnedLoop) -> Iterator[Expr | None]:
    for each in assigns_of(node):
        yield each.target
        yield each.value
    if isinstance(node, Nest):
        yield node.mask


def _bounds(indices: Iterable[Index], name: str) -> bool:
    return any(name in index.reads for index in indices)


def _is_free(reference: Reference, name: str, ends: Sequence[int], layouts: Layouts) -> bool:
    """Whether a reference stays inside its array at the same places of the grid, whatever the value."""
    layout = layouts.arrays[reference.array]
    divided = {axis.dim for axis in layout.axes if axis.role == "dim"}
    for dim, subscript in enumerate(reference.subscripts):
        if name not in names_in(subscript):
            continue
        form = linear(subscript, layouts.environment)
        factor, (lower, upper) = form.coefficient(name), layout.bounds[dim]
        if dim in divided or not factor or form.without(name).terms:
            return False
        if not all(lower <= form.constant + factor * end <= upper for end in ends):
            return False
    return True


def _are_alike(references: Sequence[Reference], name: str, layouts: Layouts) -> bool:
    """Whether references to one array move alike with the value."""
    factors: dict[str, tuple[int, ...]] = {}
    for each in references:
        own = tuple(linear(subscript, layouts.environment).coefficient(name) for subscript in each.subscripts)
        if factors.setdefault(each.array, own) != own:
            return False
    return True
