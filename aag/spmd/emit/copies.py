"""How much memory a processor needs for elements that it does not own: overlap areas and buffers.

Overlap shifts fill an area around the own part, as wide as the widest of them. Any other communication fills a buffer
as large as the box of what the processor reads of it, and no buffer is given back before the end. Where elements have
to lie at their own place in the array instead (`buffers`), copies are at most what the processor does not own of it.
"""

from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from aag.diagnostics import Span
from aag.ir.evaluate import Environment, Unknown, evaluate_int
from aag.ir.expressions import Call, Element, Expr
from aag.ir.values import ArrayValues
from aag.ir.visitors import names_in, walk_expressions, walk_statements
from aag.mapping.layout import Layout
from aag.spmd.access import AccessWalk
from aag.spmd.emit.buffers import Buffers
from aag.spmd.emit.storage import Width, width_of
from aag.spmd.local_parts import AccessParts
from aag.spmd.nodes import Communicate, DoNode, Exchange, IfNode, Need, Nest, Node, OwnedLoop, WhileNode
from aag.spmd.partition import trips
from aag.spmd.program import NodeProgram
from aag.spmd.vector import TooLarge
from aag.spmd.wraps import straight

Ints = NDArray[np.int64]

_ROUND = frozenset({"cshift$", "modulo", "mod"})

NOWHERE = 1 << 40
"""A subscript beyond all arrays: where the box begins of a processor that reads nothing."""

PLACES = (0.0, 0.5, 1.0)
"""Where in the loops around it a communication is looked at: what it brings grows or shrinks along them."""


def bytes_copied(program: NodeProgram, env: Environment) -> Ints:
    """(P,) bytes of overlap areas and buffers on each processor.

    Args:
        program: The node program.
        env: The values of constants and of scalars that are known.
    """
    statements = {(each.span.line, each.span.column): each for each in walk_statements(program.unit.body)}
    copies = _Copies(program, Buffers(program, dict(statements)))
    for place in PLACES:
        copies.walk(program.body, env, place)
    return copies.total()


class _Copies:
    """What is found of it, communication by communication."""

    def __init__(self, program: NodeProgram, buffers: Buffers) -> None:
        self.layouts = program.layouts
        self.buffers = buffers
        self.parts = AccessParts(np.arange(program.layouts.procs))
        self.brought: dict[int, tuple[str, Ints]] = {}
        self.widths: dict[str, tuple[Width, ...]] = {}
        self.circular: set[tuple[str, int]] = set()
        """Dimensions of arrays whose overlap area goes on across the edges."""
        self.seen: set[tuple[object, ...]] = set()

    def walk(self, body: Sequence[Node], env: Environment, place: float) -> None:
        """Look at all communications, those in loops at a place of these: 0 the first iteration, 1 the last."""
        for node in body:
            match node:
                case Communicate() | OwnedLoop():
                    used = [(name, env[name]) for name in sorted(node.uses) if name in env]
                    key = (id(node), *[each for each in used if not isinstance(each[1], ArrayValues)])
                    if key not in self.seen:
                        self.seen.add(key)
                        self._look_at(node, env)
                case DoNode(body=inner):
                    self.walk(inner, _inside(node, env, place), place)
                case WhileNode(body=inner):
                    self.walk(inner, env, place)
                case IfNode(branches=branches):
                    for branch in branches:
                        self.walk(branch.body, env, place)
                case _:
                    pass

    def total(self) -> Ints:
        """(P,) bytes of all of it."""
        found = np.zeros(self.layouts.procs, np.int64)
        arrays: dict[str, Ints] = {}
        for array, size in self.brought.values():
            arrays[array] = arrays.get(array, 0) + size
        for array, size in arrays.items():
            found += np.minimum(size, self._missing(array)) if array in self.buffers.inside else size
        for array, widths in self.widths.items():
            found += self._around(self.layouts.arrays[array], widths)
        return found

    def _look_at(self, node: Communicate | OwnedLoop, env: Environment) -> None:
        if isinstance(node, OwnedLoop):
            for need in node.needs:
                self._widen(need.reference.array, (need,))
        elif isinstance(node.operation, Exchange) and node.operation.pattern == "overlap_shift":
            self._widen(node.operation.array, node.operation.needs)
        else:
            self._bring(node, env)

    def _widen(self, array: str, needs: Sequence[Need]) -> None:
        layout, env = self.layouts.arrays[array], self.layouts.environment
        widths = self.widths.get(array, (Width(),) * layout.rank)
        for need in needs:
            even = _without_jumps(need)
            self.circular |= {(array, dim) for dim, each in enumerate(need.reference.subscripts) if _goes_round(each)}
            own = [width_of(even, layout, dim, self.layouts, env, plain=True) for dim in range(layout.rank)]
            widths = tuple(one.joined(other) for one, other in zip(widths, own, strict=True))
        self.widths[array] = widths

    def _around(self, layout: Layout, widths: Sequence[Width]) -> Ints:
        """(P,) bytes of the overlap area of an array. A dimension that is not divided has none."""
        held = layout.local_extents(self.parts.ranks)
        stored = held.copy()
        for dim, width in enumerate(widths):
            axis = layout.axis_of_dim(dim)
            if axis is None or layout.grid.shape[axis] == 1 or width.whole or not width.below + width.above:
                continue
            first, last = (side[self.parts.coordinate(layout.grid, axis)] for side in layout.held_interval(axis))
            below, above = np.full_like(first, width.below), np.full_like(first, width.above)
            if (layout.array, dim) not in self.circular:
                low, high = layout.bounds[dim]
                below, above = np.minimum(below, first - low), np.minimum(above, high - last)
            stored[:, dim] += np.where(held[:, dim] > 0, below + above, 0)
        around: Ints = (stored.prod(axis=1) - held.prod(axis=1)) * layout.element_bytes
        return around

    def _bring(self, node: Communicate, env: Environment) -> None:
        """The box of what a processor reads of a communication: the largest so far."""
        layout = self.layouts.arrays[node.operation.array]
        boxes = [self._box(need, layout, env, node.span) for need in node.operation.needs]
        if not boxes:
            return
        low = np.minimum.reduce([each[0] for each in boxes])
        high = np.maximum.reduce([each[1] for each in boxes])
        size = np.maximum(high - low + 1, 0).prod(axis=1) * layout.element_bytes
        _, known = self.brought.get(id(node), ("", size))
        self.brought[id(node)] = layout.array, np.maximum(known, size)

    def _box(self, need: Need, layout: Layout, env: Environment, span: Span) -> tuple[Ints, Ints]:
        """(P, rank) the first and the last subscripts that one reference reads; the whole array where data decide."""
        reference = need.reference
        even = _without_jumps(need).reference.subscripts
        subscripts = tuple(
            each if _goes_round(each) else plain for each, plain in zip(reference.subscripts, even, strict=True)
        )
        nest = Nest(span=span, indices=reference.indices, home=need.home, assigns=())
        idle: NDArray[np.bool_] = np.zeros(self.layouts.procs, np.bool_)
        try:
            low, high = AccessWalk(nest, self.layouts, env, self.parts).box(
                Element(reference.array, subscripts), layout
            )
            idle = trips(nest, self.layouts, env)[0].count == 0
        except (Unknown, TooLarge):
            shape = (self.layouts.procs, layout.rank)
            low, high = (np.broadcast_to([bound[side] for bound in layout.bounds], shape).copy() for side in (0, 1))
        names = {index.name for index in reference.indices}
        for dim, subscript in enumerate(reference.subscripts):
            if not names_in(subscript) & names:
                high[:, dim] = low[:, dim]
        low[idle], high[idle] = NOWHERE, -NOWHERE
        return low, high

    def _missing(self, array: str) -> Ints:
        """(P,) bytes of what a processor does not own of an array."""
        layout = self.layouts.arrays[array]
        held = layout.local_extents(self.parts.ranks).prod(axis=1)
        missing: Ints = (int(np.prod(layout.extents)) - held) * layout.element_bytes
        return missing


def _without_jumps(need: Need) -> Need:
    """The need without the jumps of CSHIFT and EOSHIFT: an overlap area goes on where they jump."""
    reference = need.reference
    names = frozenset(index.name for index in reference.indices)
    subscripts = tuple(straight(each, names) for each in reference.subscripts)
    return replace(need, reference=replace(reference, subscripts=subscripts))


def _goes_round(subscript: Expr) -> bool:
    """Whether a subscript jumps back to the other end of its dimension."""
    return any(isinstance(each, Call) and each.name in _ROUND for each in walk_expressions(subscript))


def _inside(node: DoNode, env: Environment, place: float) -> Environment:
    """The environment in an iteration of a loop; where its bounds are not known its variable is not, either."""
    inside = {name: value for name, value in env.items() if name != node.var}
    try:
        first, last = evaluate_int(node.lower, env), evaluate_int(node.upper, env)
        step = 1 if node.step is None else evaluate_int(node.step, env)
    except Unknown:
        return inside
    trips = (last - first + step) // step if step else 0
    return {**inside, node.var: first + step * round(place * max(trips - 1, 0))}
