"""Scans (SUM_PREFIX and its like): partial results, an exclusive scan over processors, then running results.

    processor   0          1          2             t: what each processor combines of its own elements,
    x           1 2 3    | 4 5 6    | 7 8 9            then what those before it have combined
    t           6 -> 0     15 -> 6    24 -> 21      y: t, combined with x up to each element
    y           1 3 6    | 10 15 21 | 28 36 45

The partial results are a reduction along one dimension, so `t` has an element for each index of the other dimensions.
Processors must hold parts that follow each other. A CYCLIC dimension is copied to a BLOCK one, and back.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from aag.ir.expressions import Call, Element, Expr, IntLit, LogicalLit, Var
from aag.ir.intrinsics import Intrinsic, Reduction
from aag.ir.linear import linear
from aag.ir.statements import Assign
from aag.ir.visitors import names_in
from aag.mapping.layout import Layout
from aag.spmd.foralls import forall
from aag.spmd.lowering import Lowering
from aag.spmd.names import nest_names
from aag.spmd.needs import uses_of
from aag.spmd.nests import has_inner_loop
from aag.spmd.nodes import Combine, Index, Local, Nest, Reference
from aag.spmd.order import in_order
from aag.spmd.reductions import result_layout
from aag.spmd.symbols import Unsupported, assigned, zero


def is_scan(lowering: Lowering, value: Expr) -> bool:
    """Whether a value is a scan of one dimension."""
    found = lowering.symbols.intrinsic(value.name) if isinstance(value, Call) else None
    return found is not None and found.form == "prefix"


def lower_scan(lowering: Lowering, target: Var | Element, call: Call) -> None:
    """Lower ``target = sum_prefix(array, dim=d)``, or another scan of one dimension.

    Raises:
        Unsupported: what is scanned is not known element by element, or is the target.
    """
    symbols = lowering.symbols
    found = symbols.intrinsic(call.name)
    assert found is not None
    given = symbols.arguments(call, found)
    shape = symbols.shape(target)
    dim = symbols.dim(given, len(shape)) or 0
    if given.keys() - {found.arguments[0], "dim", "exclusive"} or ("dim" not in given and len(shape) > 1):
        raise Unsupported(f"{call.name.upper()} is not modelled in this form")
    indices, positions = lowering.elementwise.context(shape)
    names = frozenset(index.name for index in indices)
    element = assigned(lowering.elementwise.element(target, positions, names), lowering.span)
    value = lowering.elementwise.element(call.args[0], positions, names)
    if has_inner_loop(value) or element.name in names_in(value):
        raise Unsupported(f"{call.name.upper()} of a reduction, or of what it is assigned to, is not modelled")
    scan = _Scan(lowering, found, indices, dim, exclusive=given.get("exclusive") == LogicalLit(True))
    axis = scan.axis(element)
    if axis is None or _is_in_blocks(lowering.arrays[element.name], axis):
        scan.lower(element, value, axis)
        return
    lowering.note(
        "W220",
        f"{call.name.upper()} along a CYCLIC dimension of {element.name}: the array is copied to BLOCK, and back",
        "distribute the dimension BLOCK",
    )
    copy = _in_blocks(lowering, element, axis)
    forall(lowering, indices, None, copy, value)
    running = Element(lowering.elementwise.fresh(f"{element.name}$run"), copy.subscripts)
    _like(lowering, running.name, copy.name)
    scan.lower(running, copy, axis)
    forall(lowering, indices, None, element, running)


def _is_in_blocks(layout: Layout, axis: int) -> bool:
    meaning = layout.axes[axis]
    return meaning.distribution is not None and meaning.distribution.kind == "block"


def _in_blocks(lowering: Lowering, element: Element, axis: int) -> Element:
    """An element of a new array as `element`, but with blocks along a grid axis."""
    layout = lowering.arrays[element.name]
    meaning = layout.axes[axis]
    dealt = meaning.distribution
    assert dealt is not None
    block = replace(dealt, kind="block", block=-(-dealt.extent // dealt.procs), sizes=())
    axes = [replace(each, distribution=block) if at == axis else each for at, each in enumerate(layout.axes)]
    name = lowering.elementwise.fresh(f"{element.name}$block")
    lowering.symbols.declare(name, lowering.symbols.type_of(element))
    lowering.arrays[name] = replace(layout, array=name, axes=tuple(axes), template="", span=lowering.span)
    return Element(name, element.subscripts)


def _like(lowering: Lowering, name: str, other: str) -> None:
    lowering.symbols.declare(name, lowering.symbols.type_of(Var(other)))
    lowering.arrays[name] = replace(lowering.arrays[other], array=name)


class _Scan:
    """One scan along the index `dim` of some indices."""

    def __init__(
        self, lowering: Lowering, found: Intrinsic, indices: tuple[Index, ...], dim: int, *, exclusive: bool
    ) -> None:
        assert found.reduction is not None
        self._lowering = lowering
        self._op: Reduction = found.reduction
        self._indices = indices
        self._dim = dim
        self._exclusive = exclusive
        self._backwards = found.name.endswith("_suffix")

    def axis(self, element: Element) -> int | None:
        """The grid axis over which processors share the scanned dimension; None: each has all of it."""
        layout = self._lowering.arrays[element.name]
        if not self._lowering.is_distributed(element.name):
            return None
        name = self._indices[self._dim].name
        dims = [at for at, each in enumerate(element.subscripts) if name in names_in(each)]
        axis = layout.axis_of_dim(dims[0]) if dims else None
        return axis if axis is not None and layout.grid.shape[axis] > 1 else None

    def lower(self, element: Element, value: Expr, axis: int | None) -> None:
        """The nests and the scan over processors: ``element = scan of value``."""
        lowering, op = self._lowering, self._op
        kind = lowering.symbols.type_of(element)
        place = Reference(array=element.name, subscripts=element.subscripts, indices=self._indices)
        home = place if lowering.is_distributed(element.name) else None
        kept = tuple(each for at, each in enumerate(self._indices) if at != self._dim)
        name = lowering.elementwise.fresh("carry")
        lowering.symbols.declare(name, kind)
        carry: Var | Element = Var(name)
        if kept:
            lowering.arrays[name] = result_layout(name, home, kept, kind, lowering)
            carry = Element(name, tuple(Var(each.name) for each in kept))
        if axis is None or home is None:
            self._begin(carry, kept, op.start(zero(kind), kind, some=False))
        else:
            nest = Nest(
                span=lowering.span,
                indices=self._indices,
                home=home,
                assigns=(Assign(span=lowering.span, target=carry, value=value),),
                reduce=op.op,
                defines=frozenset() if kept else frozenset((name,)),
            )
            self._emit(nest, value, place)
            results = (
                Reference(array=name, subscripts=carry.subscripts, indices=kept) if isinstance(carry, Element) else None
            )
            lowering.emit(
                Combine(
                    span=lowering.span,
                    op=op.sent or op.op,
                    home=home,
                    axes=(axis,),
                    kept=results,
                    element_bytes=kind.bytes,
                    operation_class=op.step_class(kind),
                    prefix="down" if self._is_downwards(home, axis) else "up",
                )
            )
        step = Assign(span=lowering.span, target=carry, value=op.accumulated(carry, value))
        store = Assign(span=lowering.span, target=element, value=carry)
        nest = Nest(
            span=lowering.span,
            indices=tuple(self._turned(each, at) for at, each in enumerate(self._indices)),
            home=home,
            assigns=(store, step) if self._exclusive else (step, store),
            defines=frozenset() if kept else frozenset((name,)),
        )
        self._emit(nest, value, place)

    def _begin(self, carry: Var | Element, kept: Sequence[Index], start: Expr) -> None:
        if isinstance(carry, Element):
            forall(self._lowering, tuple(kept), None, carry, start)
            return
        assign = Assign(span=self._lowering.span, target=carry, value=start)
        self._lowering.emit(Local(span=self._lowering.span, assigns=(assign,), defines=frozenset((carry.name,))))

    def _emit(self, nest: Nest, value: Expr, place: Reference) -> None:
        lowering = self._lowering
        lowering.bring(nest, uses_of(value, self._indices, lowering.symbols))
        nest = in_order(nest, place, lowering.options)
        lowering.emit(replace(nest, uses=nest_names(lowering.symbols, nest)))

    def _turned(self, index: Index, at: int) -> Index:
        """An index in the direction of the scan."""
        if at != self._dim or not self._backwards:
            return index
        return replace(index, lower=index.upper, upper=index.lower, step=IntLit(-1))

    def _is_downwards(self, home: Reference, axis: int) -> bool:
        """Whether processors with higher coordinates come first."""
        meaning = self._lowering.arrays[home.array].axes[axis]
        subscript = linear(home.subscripts[meaning.dim], self._lowering.env)
        falls = meaning.stride * subscript.coefficient(self._indices[self._dim].name) < 0
        return falls != self._backwards
