"""Reductions of distributed arrays: a local nest on the owners, then a global combination (hpf.md's reduction rule)."""

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from aag.ir.evaluate import Unknown, evaluate_int
from aag.ir.expressions import Binary, Call, Component, Constructor, Element, Expr, IntLit, Var
from aag.ir.intrinsics import REDUCTIONS, Reduction
from aag.ir.linear import add, linear, multiply, subtract
from aag.ir.result_types import INTEGER
from aag.ir.statements import Assign
from aag.ir.units import Type
from aag.ir.visitors import map_expression, names_in
from aag.mapping.axes import REPLICATED, GridAxis
from aag.mapping.layout import Layout
from aag.spmd.foralls import forall
from aag.spmd.lowering import Lowering
from aag.spmd.names import nest_names
from aag.spmd.needs import Use, reference_to, uses_of
from aag.spmd.nodes import Combine, Index, Local, Nest, Reference
from aag.spmd.order import in_order
from aag.spmd.symbols import Unsupported

PLACES = "$at"
"""Suffix of what holds the place that a reduction of pairs found: a vector, or with DIM= a scalar."""


def is_full(lowering: Lowering, call: Call) -> bool:
    """Whether a call is a reduction to a scalar."""
    found = lowering.symbols.intrinsic(call.name)
    if found is None or found.form not in ("reduction", "expanded"):
        return False
    if found.form == "expanded":
        expanded = lowering.symbols.expanded(call, found)
        return isinstance(expanded, Call) and is_full(lowering, expanded)
    return bool(lowering.symbols.shape(call.args[0])) and not lowering.symbols.shape(call)


def extract(lowering: Lowering, call: Call | Constructor, into: str = "") -> Expr:
    """Compute a reduction, a product of matrices or a vector of scalars beforehand; returns the variable (or temporary
    array) that holds it.

    Raises:
        Unsupported: a form that is not modelled.
    """
    if isinstance(call, Constructor):
        values = tuple(map(lowering.replicated, call.values))
        return _vector(lowering, lowering.elementwise.fresh("vector"), values, lowering.symbols.type_of(call))
    symbols = lowering.symbols
    found = symbols.intrinsic(call.name)
    assert found is not None
    if found.form == "expanded":
        expanded = symbols.expanded(call, found)
        assert isinstance(expanded, Call)
        return extract(lowering, expanded, into)
    if found.form == "matmul":
        return _product(lowering, call)
    assert found.reduction is not None
    given = symbols.arguments(call, found)
    shape = symbols.shape(call.args[0])
    dim = symbols.dim(given, len(shape))
    indices, positions = lowering.elementwise.context(shape)
    element = lowering.elementwise.element(call.args[0], positions, frozenset())
    mask = given.get("mask")
    if mask is call.args[0]:  # the MASK of ALL, ANY and COUNT is what is reduced
        mask = None
    condition = None if mask is None else lowering.elementwise.element(mask, positions, frozenset())
    kept = None if dim is None else tuple(index for at, index in enumerate(indices) if at != dim)
    name = into or lowering.elementwise.fresh(call.name)
    if found.form == "reduction":
        symbols.declare(name, symbols.type_of(call))
        return reduce_to(lowering, name, found.reduction, element, condition, indices, kept)
    if "back" in given:
        raise Unsupported(f"{call.name.upper()} with BACK= is not modelled")
    symbols.declare(name, pair_of(symbols.type_of(call.args[0])))
    pair = Call("pair$", (element, element_place(indices, dim)))
    place = Component(reduce_to(lowering, name, found.reduction, pair, condition, indices, kept), "place")
    if kept:
        return place
    if kept is None:
        return _vector(lowering, f"{name}{PLACES}", places_in(place, indices), INTEGER)
    found_at = Var(f"{name}{PLACES}")
    symbols.declare(found_at.name, INTEGER)
    assign = Assign(span=lowering.span, target=found_at, value=place)
    lowering.emit(Local(span=lowering.span, assigns=(assign,), defines=frozenset((found_at.name,))))
    return found_at


def _product(lowering: Lowering, call: Call) -> Expr:
    """MATMUL into an array of its own, as a reduction of products that keeps the indices of the result."""
    name = lowering.elementwise.fresh(call.name)
    indices, positions = lowering.elementwise.context(lowering.symbols.shape(call))
    op, element, index = lowering.elementwise.product(call, positions, frozenset())
    lowering.symbols.declare(name, lowering.symbols.type_of(call))
    return reduce_to(lowering, name, REDUCTIONS[op], element, None, (*indices, index), indices)


def element_place(indices: Sequence[Index], dim: int | None = None, *, from_end: bool = False) -> Expr:
    """The place of an element along one dimension, or in array element order, counted from 1."""
    place: Expr = IntLit(1)
    stride: Expr = IntLit(1)
    for at, index in enumerate(indices):
        if dim is not None and at != dim:
            continue
        ends = (index.upper, Var(index.name)) if from_end else (Var(index.name), index.lower)
        place = add(place, multiply(stride, subtract(*ends)))
        stride = multiply(stride, add(subtract(index.upper, index.lower), 1))
    return place


def places_in(place: Expr, indices: Sequence[Index]) -> Iterator[Expr]:
    """The subscripts, counted from 1, of the element at a place in array element order; of place 0, all 0."""
    if len(indices) == 1:
        yield place
        return
    before: Expr = subtract(place, IntLit(1))
    for index in indices[:-1]:
        extent = _at_least_one(add(subtract(index.upper, index.lower), 1))
        yield Call("min", (place, add(Call("mod", (before, extent)), 1)))
        before = Binary("/", before, extent)
    yield Call("min", (place, add(before, 1)))


def _at_least_one(extent: Expr) -> Expr:
    """An extent to divide by: nothing is found in an empty range, but Fortran divides all the same."""
    if isinstance(extent, IntLit):
        return IntLit(max(1, extent.value))
    return Call("max", (IntLit(1), extent))


def _vector(lowering: Lowering, name: str, values: Iterable[Expr], kind: Type) -> Var:
    """A temporary vector that every processor has."""
    assigns = tuple(
        Assign(span=lowering.span, target=Element(name, (IntLit(at),)), value=each)
        for at, each in enumerate(values, start=1)
    )
    lowering.symbols.declare(name, kind)
    index = Index(name=name, lower=IntLit(1), upper=IntLit(len(assigns)), step=None)
    lowering.arrays[name] = result_layout(name, None, (index,), kind, lowering)
    lowering.emit(Local(span=lowering.span, assigns=assigns, defines=frozenset((name,))))
    return Var(name)


def pair_of(kind: Type) -> Type:
    """The type of a value and its place, which is an integer of the same size (of 4 bytes at least).

    Raises:
        Unsupported: values of this type have no order, or no place beside them.
    """
    if kind.base not in ("real", "integer"):
        raise Unsupported(f"the place of a value of type {kind.base.upper()} is not modelled")
    return Type(base="derived", bytes=2 * max(4, kind.bytes), derived=f"esp_pair_{kind.base[0]}{kind.bytes}")


def reduce_into(
    lowering: Lowering, indices: tuple[Index, ...], mask: Expr | None, into: Element, update: tuple[str, Expr]
) -> None:
    """Lower ``s(j) = s(j) op expression`` in a nest of loops: a vector of partial results on each processor, one
    combination, and the update of the array with the result.

    Where the subscripts are other expressions, as in ``s(cell(i))``, and every processor has all of the array, the
    partial results are an array like it.

    Raises:
        Unsupported: such an array is distributed.
    """
    op, element = REDUCTIONS[update[0]], update[1]
    kept = tuple(index for index in indices if Var(index.name) in into.subscripts)
    names = frozenset(index.name for index in indices)
    used = names_in(*into.subscripts) & names
    plain = used == {index.name for index in kept}
    name = lowering.elementwise.fresh(into.name)
    lowering.symbols.declare(name, lowering.symbols.type_of(into))
    places: tuple[Expr, ...] = ()
    if not plain or len(kept) == len(indices) or any(index.reads & names or index.step for index in kept):
        if lowering.is_distributed(into.name):
            raise Unsupported("a reduction into an array whose elements are not named by indices of their own")
        places = into.subscripts
        kept, whole = lowering.elementwise.context(lowering.symbols.shape(Var(into.name)))
        into = Element(into.name, tuple(each.at for each in whole), span=into.span)
    reduce_to(lowering, name, op, element, mask, indices, kept, places)
    result = Element(name, tuple(Var(index.name) for index in kept)) if kept else Var(name)
    forall(lowering, kept, None, into, op.accumulated(into, result))


def reduce_to(
    lowering: Lowering,
    name: str,
    op: Reduction,
    element: Expr,
    mask: Expr | None,
    indices: tuple[Index, ...],
    kept: tuple[Index, ...] | None,
    places: tuple[Expr, ...] = (),
    *,
    written: bool = False,
) -> Expr:
    """A nest of partial results and their combination, into the variable `name`: one value, or (`kept` indices) an
    array of them. An iteration contributes to the element at `places`, by default that of its `kept` indices.
    `written`: the loops are those of the source, whose order stays."""
    symbols = lowering.symbols
    kind = symbols.type_of(Var(name))
    names = frozenset(index.name for index in indices)
    uses = uses_of(element, indices, symbols) + uses_of(mask, indices, symbols)
    home = _home(uses, names, lowering)
    target: Var | Element = Var(name)
    result: Reference | None = None
    if kept:
        lowering.arrays[name] = result_layout(name, home, kept, kind, lowering)
        own = tuple(Var(index.name) for index in kept)
        target = Element(name, places or own)
        result = Reference(array=name, subscripts=own, indices=kept)
    nest = Nest(
        span=lowering.span,
        indices=indices,
        home=home,
        assigns=(Assign(span=lowering.span, target=target, value=element),),
        mask=mask,
        reduce=op.op,
        defines=frozenset() if kept else frozenset((name,)),
    )
    lowering.bring(nest, uses)
    if not written:
        order = home or Reference(array="", subscripts=tuple(Var(index.name) for index in indices), indices=indices)
        nest = in_order(nest, order, lowering.options)
    lowering.emit(replace(nest, uses=nest_names(symbols, nest)))
    if home is not None:
        step = op.step_class(symbols.type_of(element) if op.located else kind)
        _combine(lowering, home, result, op, kind.bytes, step)
    return Var(name)


def _home(uses: list[Use], names: frozenset[str], lowering: Lowering) -> Reference | None:
    """The operand whose owners compute the partial results: the one that is spread over most grid axes.

    A shifted operand stands for its own place before the shift: EOSHIFT may leave the array, where nobody owns.
    """
    best: Reference | None = None
    most = 0
    for use in () if lowering.is_alone else uses:
        layout = lowering.arrays[use.element.name]
        place = reference_to(use.element, use.indices, lowering.arrays)  # no index array decides who computes
        subscripts = tuple(_unshifted(each) for each in place.subscripts)
        spread = sum(axis.role == "dim" and bool(names_in(subscripts[axis.dim]) & names) for axis in layout.axes)
        if spread > most:
            best = Reference(array=use.element.name, subscripts=subscripts, indices=use.indices)
            most = spread
    return best


def _unshifted(subscript: Expr) -> Expr:
    return map_expression(subscript, _before_shift)


def _before_shift(expr: Expr) -> Expr:
    return expr.args[0] if isinstance(expr, Call) and expr.name in ("cshift$", "eoshift$") else expr


def _combine(
    lowering: Lowering,
    home: Reference,
    result: Reference | None,
    op: Reduction,
    element_bytes: int,
    operation_class: str,
) -> None:
    """Combine partial results along each axis that decides which processor computes them, except (with DIM=) those
    that spread the array of results in the same way."""
    layout = lowering.arrays[home.array]
    axes = tuple(axis for axis, meaning in enumerate(layout.axes) if meaning.role != "replicated")
    if result is not None:
        spread = lowering.arrays[result.array].axes
        axes = tuple(axis for axis in axes if spread[axis].role == "replicated")
    if not axes or all(layout.grid.shape[axis] == 1 for axis in axes):
        return
    lowering.emit(
        Combine(
            span=lowering.span,
            op=op.sent or op.op,
            home=home,
            axes=axes,
            kept=result,
            element_bytes=element_bytes,
            operation_class=operation_class,
        )
    )


def result_layout(name: str, home: Reference | None, kept: tuple[Index, ...], kind: Type, lowering: Lowering) -> Layout:
    """The layout of an array with these indices as dimensions: where they decide the place of `home` its elements are
    there, along all other axes all have them."""
    try:
        bounds = tuple(
            (evaluate_int(index.lower, lowering.env), evaluate_int(index.upper, lowering.env)) for index in kept
        )
    except Unknown as error:
        raise Unsupported(f"the shape of a reduction along one dimension depends on {error.name}") from error
    grid = lowering.layouts.grid if home is None else lowering.arrays[home.array].grid
    axes: list[GridAxis] = [REPLICATED] * len(grid.shape)
    for axis, meaning in enumerate(lowering.arrays[home.array].axes if home else ()):
        if home is None or meaning.role != "dim":
            axes[axis] = meaning
            continue
        form = linear(home.subscripts[meaning.dim], lowering.env)
        for at, index in enumerate(kept):
            factor = form.coefficient(index.name)
            free = all(each.role != "dim" or each.dim != at for each in axes)  # a diagonal: along one axis all have it
            if factor and free and form.without(index.name).is_constant:
                axes[axis] = replace(
                    meaning,
                    dim=at,
                    stride=meaning.stride * factor,
                    offset=meaning.offset + meaning.stride * form.constant,
                )
    return Layout(
        array=name,
        element_bytes=kind.bytes,
        bounds=bounds,
        written=tuple((index.lower, index.upper) for index in kept),
        grid=grid,
        axes=tuple(axes),
        template="",
        span=lowering.span,
    )
