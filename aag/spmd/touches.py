"""The references that a nest makes to elements of arrays, in program order.

do j;  b(j) = 0;  do i;  a(i, j) = c(i);  end do;  end do        b(j) once in each iteration of j, c(i) and a(i, j)
                                                                 in each of i
"""

from collections.abc import Sequence

from msgspec import Struct

from aag.diagnostics import Span
from aag.ir.expressions import Element, Expr
from aag.ir.statements import Assign
from aag.ir.visitors import elements_in
from aag.mapping.layout import Layouts
from aag.spmd.acts import Step
from aag.spmd.nodes import DoNode, Nest


class Touch(Struct, frozen=True, kw_only=True):
    """A reference to an array element in a nest: in the innermost loop, or once in each iteration of a loop further
    out, before or `after` the loop inside that one. `depth`: loops around it; `source`: a number of whose it is;
    `share`: of the iterations that make it."""

    element: Element
    write: bool
    depth: int
    after: bool = False
    source: int = 0
    share: float = 1.0


class AccessSweep(Nest, frozen=True, kw_only=True, eq=False):
    """A DO nest that every processor runs whole, over copies of its own, seen as the references that it makes.

    The node program does not contain it: there the same loops are `DoNode` around `Local`.
    """

    touches: tuple[Touch, ...]
    steps: tuple[Step, ...] = ()
    """What the loops do one after the other, where the references alone do not say it; then `indices` are none."""
    instead: tuple["AccessSweep", ...] = ()
    """Sweeps that come near it, for loops with too many references to look at one by one, and what is taken of them
    (`told`)."""
    told: tuple[tuple[str, Span], ...] = ()
    loop: DoNode | None = None
    """The loop, of whose steps they are."""


def touches(nest: Nest) -> tuple[Touch, ...]:
    """The array elements that a nest touches, in program order."""
    if isinstance(nest, AccessSweep):
        return nest.touches
    depth = len(nest.indices)
    found = [Touch(element=each, write=write, depth=depth) for each, write in references(nest)]
    for level in range(depth - 1, 0, -1):
        before, after = nest.around(level)
        found = [*touched(before, level), *found, *touched(after, level, after=True)]
    return tuple(found)


def touches_of_memory(nest: Nest, layouts: Layouts) -> list[Touch]:
    """Those of them that are elements of arrays in memory."""
    arrays = layouts.arrays
    return [each for each in touches(nest) if each.element.name in arrays and arrays[each.element.name].rank]


def touched(assigns: Sequence[Assign], depth: int, *, after: bool = False, source: int = 0) -> list[Touch]:
    """What assignments touch that follow each other inside `depth` loops."""
    return [
        Touch(element=each, write=write, depth=depth, after=after, source=source)
        for each, write in elements_of(assigns, None)
    ]


def elements_touched(expr: Expr, depth: int, *, after: bool = False, source: int = 0) -> list[Touch]:
    """What the evaluation of an expression touches inside `depth` loops."""
    return [
        Touch(element=each, write=False, depth=depth, after=after, source=source)
        for each in dict.fromkeys(elements_in(expr))
    ]


def references(nest: Nest) -> list[tuple[Element, bool]]:
    """Array elements that the innermost loop touches, each distinct read once, with whether it is written.

    An element that the same iteration has just written is still in a register when it is read.
    """
    return elements_of(nest.assigns, nest.mask, bool(nest.reduce))


def elements_of(assigns: Sequence[Assign], mask: Expr | None, reduced: bool = False) -> list[tuple[Element, bool]]:
    """Array elements that assignments under a mask touch, with whether each is written; `reduced`: targets are read,
    too."""
    found: list[tuple[Element, bool]] = []
    written: dict[str, Element] = {}
    for assign in assigns:
        places = assign.target.subscripts if isinstance(assign.target, Element) else ()
        reads = elements_in(assign.value, mask, *places)
        found += [
            (each, False)
            for each in dict.fromkeys(reads)
            if (each, False) not in found and written.get(each.name) != each
        ]
        if isinstance(assign.target, Element):
            if reduced and (assign.target, False) not in found:
                found.append((assign.target, False))
            found.append((assign.target, True))
            written[assign.target.name] = assign.target
    return found
