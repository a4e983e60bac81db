"""What each processor stores of an array: its own part, an overlap area around it, or the whole dimension.

Subscripts stay global: Fortran's lower bounds do the translation. A BLOCK dimension that only overlap shifts cross
gets an overlap area as wide as the widest of them. Where elements come from afar (a temporary shift, a multicast, a
gather, ...) or are dealt out cyclically, the dimension is stored whole: received elements lie at their own place.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from aag.ir.evaluate import Environment
from aag.ir.expressions import Call, Expr
from aag.ir.linear import add, linear
from aag.mapping.layout import Layout, Layouts
from aag.spmd.emit.buffers import Buffers
from aag.spmd.nodes import Communicate, Exchange, Need, Node, OwnedLoop, walk
from aag.spmd.program import NodeProgram


class Width(Struct, frozen=True):
    """Overlap area of one dimension in elements; `whole`: the dimension is stored whole; `packed`: its own indices,
    which are no interval, lie one after the other."""

    below: int = 0
    above: int = 0
    whole: bool = False
    packed: bool = False

    def joined(self, other: "Width") -> "Width":
        """Room for both."""
        return Width(
            max(self.below, other.below),
            max(self.above, other.above),
            self.whole or other.whole,
            self.packed and other.packed and not self.whole and not other.whole,
        )


WHOLE = Width(whole=True)


def storage(program: NodeProgram, buffers: Buffers) -> dict[str, tuple[Width, ...]]:
    """The widths of every dimension of every distributed array."""
    found = {
        name: tuple(_start(layout, dim, packs=name not in buffers.inside) for dim in range(layout.rank))
        for name, layout in program.layouts.arrays.items()
        if layout.rank and layout.is_distributed
    }
    env = program.layouts.environment
    for array, needs, plain in _moves(program.body, buffers):
        layout = program.layouts.arrays[array]
        for need in needs:
            widths = (
                width_of(need, layout, dim, program.layouts, env, plain=plain and _all_hold(layout, dim))
                for dim in range(layout.rank)
            )
            found[array] = tuple(one.joined(other) for one, other in zip(found[array], widths, strict=True))
    return found


def _all_hold(layout: Layout, dim: int) -> bool:
    """Whether every processor owns elements along a dimension. If one does not, its neighbours have no overlap area."""
    axis = layout.axis_of_dim(dim)
    return axis is None or bool(layout.held(axis).all())


def _start(layout: Layout, dim: int, *, packs: bool) -> Width:
    axis = layout.axis_of_dim(dim)
    if axis is None:
        return WHOLE
    distribution = layout.axes[axis].distribution
    if distribution is not None and distribution.kind == "block":
        return Width()
    return Width(packed=True) if packs else WHOLE


def _moves(body: Sequence[Node], buffers: Buffers) -> Iterator[tuple[str, tuple[Need, ...], bool]]:
    for node in walk(body):
        match node:
            case Communicate(operation=operation) if not buffers.is_buffered(node):
                yield operation.array, operation.needs, isinstance(operation, Exchange)
            case OwnedLoop(needs=needs):
                yield from ((need.reference.array, (need,), True) for need in needs)
            case _:
                pass


def width_of(need: Need, layout: Layout, dim: int, layouts: Layouts, env: Environment, *, plain: bool) -> Width:
    """How far beyond the own part one reference reaches; the whole dimension where that is not a small constant."""
    axis = layout.axis_of_dim(dim)
    if axis is not None and _is_local(need, layout, dim, axis, layouts, env):
        return Width(packed=True)
    home = None if need.home is None else layouts.arrays[need.home.array]
    if axis is None or home is None or need.home is None or home.grid != layout.grid:
        return WHOLE
    mine, theirs = layout.axes[axis], home.axes[axis]
    same = mine.distribution == theirs.distribution and mine.stride == theirs.stride
    if not same or theirs.role != "dim" or mine.distribution is None or mine.distribution.kind != "block":
        return WHOLE
    source = need.reference.subscripts[dim]
    if isinstance(source, Call) and source.name == "cshift$":
        return WHOLE
    apart = (
        linear(_without_eoshift(source), env)
        .times(mine.stride)
        .plus(linear(need.home.subscripts[theirs.dim], env), -theirs.stride)
    )
    if not apart.is_constant:
        return WHOLE
    cells = apart.constant + mine.offset - theirs.offset
    far = -(-cells // abs(mine.stride)) if cells > 0 else -(cells // abs(mine.stride))
    if cells and not plain:
        return WHOLE
    shifted_up = (cells > 0) == (mine.stride > 0)
    return Width(0, abs(far)) if shifted_up else Width(abs(far), 0)


def _is_local(need: Need, layout: Layout, dim: int, axis: int, layouts: Layouts, env: Environment) -> bool:
    """Whether a reference reads just what is owned along a dimension."""
    home = None if need.home is None else layouts.arrays[need.home.array]
    if home is None or need.home is None or home.grid != layout.grid or home.axes[axis].role != "dim":
        return False
    mine, theirs = layout.axes[axis], home.axes[axis]
    source = need.reference.subscripts[dim]
    if mine.distribution != theirs.distribution or (isinstance(source, Call) and source.name.endswith("$")):
        return False
    here = linear(source, env).times(mine.stride)
    there = linear(need.home.subscripts[theirs.dim], env)
    apart = here.plus(there, -theirs.stride)
    return apart.is_constant and apart.constant + mine.offset - theirs.offset == 0


def _without_eoshift(subscript: Expr) -> Expr:
    match subscript:
        case Call(name="eoshift$", args=(position, shift, *_)):
            return add(_without_eoshift(position), shift)
        case _:
            return subscript
