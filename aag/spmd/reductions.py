"""Reductions of distributed arrays: a local nest on the owners, then a global combination (hpf.md's reduction rule)."""

from msgspec.structs import replace

from aag.ir.evaluate import Unknown, evaluate_int
from aag.ir.expressions import Binary, Call, Element, Expr, LogicalLit, Var
from aag.ir.statements import Assign
from aag.ir.units import Type
from aag.ir.visitors import names_in
from aag.mapping.layout import REPLICATED, GridAxis, Layout
from aag.spmd.foralls import forall
from aag.spmd.linear import linear
from aag.spmd.lowering import Lowering
from aag.spmd.names import nest_names
from aag.spmd.needs import Use, uses_of
from aag.spmd.nests import accumulate
from aag.spmd.nodes import Combine, Index, Nest, Reference
from aag.spmd.order import in_order
from aag.spmd.symbols import INTEGER, LOGICAL, REDUCTIONS, Unsupported, reduction_dim

_COMBINED_WITH = {"sum": "add", "product": "mul", "max": "max", "min": "min", "count": "add", "all": "and", "any": "or"}


def is_full(lowering: Lowering, call: Call) -> bool:
    """Whether a call is a reduction to a scalar."""
    if call.name == "dot_product":
        return True
    if call.name not in REDUCTIONS or not lowering.symbols.shape(call.args[0]):
        return False
    return reduction_dim(call.args, dict(call.keywords)) is None and call.name not in ("maxloc", "minloc")


def extract(lowering: Lowering, call: Call, into: str = "") -> Expr:
    """Compute a reduction beforehand; returns the variable (or temporary array) that holds its result.

    Raises:
        Unsupported: a form that is not modelled.
    """
    if call.name == "dot_product":
        call = Call("sum", (Binary("*", call.args[0], call.args[1]),), span=call.span)
    keywords = dict(call.keywords)
    dim = reduction_dim(call.args, keywords, len(lowering.symbols.shape(call.args[0])))
    op = REDUCTIONS[call.name]
    if op in ("maxloc", "minloc"):
        raise Unsupported(f"{call.name.upper()} is not modelled")
    if len(call.args) > 1 and dim is None:
        raise Unsupported(f"the second argument of {call.name.upper()} must be a literal DIM= or a keyword")
    symbols = lowering.symbols
    kind = INTEGER if op == "count" else LOGICAL if op in ("all", "any") else symbols.type_of(call.args[0])
    indices, positions = lowering.elementwise.context(symbols.shape(call.args[0]))
    names = frozenset(index.name for index in indices)
    element = lowering.elementwise.element(call.args[0], positions, names)
    mask = keywords.get("mask")
    condition = None if mask is None else lowering.elementwise.element(mask, positions, names)
    kept = () if dim is None else tuple(index for at, index in enumerate(indices) if at != dim)
    name = into or lowering.elementwise.fresh(call.name)
    symbols.declare(name, kind)
    return _reduce(lowering, name, op, element, condition, indices, None if dim is None else kept)


def reduce_into(
    lowering: Lowering, indices: tuple[Index, ...], mask: Expr | None, into: Element, update: tuple[str, Expr]
) -> None:
    """Lower ``s(j) = s(j) op expression`` in a nest of loops: a vector of partial results on each processor, one
    combination, and the update of the array with the result.

    Raises:
        Unsupported: the subscripts are not distinct indices of the nest with known ranges of their own.
    """
    op, element = update
    kept = tuple(index for index in indices if Var(index.name) in into.subscripts)
    names = frozenset(index.name for index in indices)
    used = names_in(*into.subscripts) & names
    plain = used == {index.name for index in kept}
    if not plain or len(kept) == len(indices) or any(index.reads & names or index.step for index in kept):
        raise Unsupported("a reduction into an array whose elements are not named by indices of their own")
    name = lowering.elementwise.fresh(into.name)
    lowering.symbols.declare(name, lowering.symbols.type_of(into))
    _reduce(lowering, name, op, element, mask, indices, kept)
    result = Element(name, tuple(Var(index.name) for index in kept)) if kept else Var(name)
    forall(lowering, kept, None, into, accumulate(op, into, result))


def _reduce(
    lowering: Lowering,
    name: str,
    op: str,
    element: Expr,
    mask: Expr | None,
    indices: tuple[Index, ...],
    kept: tuple[Index, ...] | None,
) -> Expr:
    """A nest of partial results and their combination, into the variable `name`: one value, or (`kept` indices) an
    array of them."""
    symbols = lowering.symbols
    kind = symbols.type_of(Var(name))
    names = frozenset(index.name for index in indices)
    uses = uses_of(element, indices, symbols) + uses_of(mask, indices, symbols)
    home = _home(uses, names, lowering)
    lowering.communicate(uses, home)
    target: Var | Element = Var(name)
    if kept:
        lowering.arrays[name] = _result_layout(name, home, kept, kind, lowering)
        target = Element(name, tuple(Var(index.name) for index in kept))
    nest = Nest(
        span=lowering.span,
        indices=indices,
        home=home,
        assigns=(Assign(span=lowering.span, target=target, value=_value(op, element)),),
        mask=mask,
        reduce=op,  # type: ignore[arg-type]  # one of the literals: a value of REDUCTIONS
        defines=frozenset() if kept else frozenset((name,)),
    )
    order = home or Reference(array="", subscripts=tuple(Var(index.name) for index in indices), indices=indices)
    nest = in_order(nest, order, lowering.options)
    lowering.emit(replace(nest, uses=nest_names(symbols, nest)))
    if home is not None:
        _combine(lowering, home, indices, kept, op, kind)
    return Var(name)


def _value(op: str, element: Expr) -> Expr:
    return LogicalLit(True) if op == "count" and not isinstance(element, Element | Binary | Call) else element


def _home(uses: list[Use], names: frozenset[str], lowering: Lowering) -> Reference | None:
    """The operand whose owners compute the partial results: the one that is spread over most grid axes.

    A shifted operand stands for its own place before the shift: EOSHIFT may leave the array, where nobody owns.
    """
    best: Reference | None = None
    most = 0
    for use in uses:
        layout = lowering.arrays[use.element.name]
        subscripts = tuple(_unshifted(each) for each in use.element.subscripts)
        spread = sum(axis.role == "dim" and bool(names_in(subscripts[axis.dim]) & names) for axis in layout.axes)
        if spread > most:
            best = Reference(array=use.element.name, subscripts=subscripts, indices=use.indices)
            most = spread
    return best


def _unshifted(subscript: Expr) -> Expr:
    match subscript:
        case Call(name="cshift$" | "eoshift$", args=(position, *_)):
            return _unshifted(position)
        case _:
            return subscript


def _combine(
    lowering: Lowering, home: Reference, indices: tuple[Index, ...], kept: tuple[Index, ...] | None, op: str, kind: Type
) -> None:
    layout = lowering.arrays[home.array]
    axes = tuple(axis for axis, meaning in enumerate(layout.axes) if meaning.role != "replicated")
    if kept is not None:
        reduced = {index.name for index in indices} - {index.name for index in kept}
        axes = tuple(
            axis
            for axis in axes
            if layout.axes[axis].role == "dim" and reduced & names_in(home.subscripts[layout.axes[axis].dim])
        )
    if not axes or all(layout.grid.shape[axis] == 1 for axis in axes):
        return
    lowering.emit(
        Combine(
            span=lowering.span,
            op=_COMBINED_WITH[op],
            home=home,
            axes=axes,
            kept=kept or (),
            element_bytes=kind.bytes,
            operation_class=operation_class(op, kind),
        )
    )


def operation_class(op: str, kind: Type) -> str:
    """The operation class of combining two partial results."""
    if op in ("all", "any"):
        return "logical"
    step = {"sum": "add", "count": "add", "product": "mul"}.get(op, "cmp")
    return f"{kind.operation_kind}.{step}"


def _result_layout(
    name: str, home: Reference | None, kept: tuple[Index, ...], kind: Type, lowering: Lowering
) -> Layout:
    """The layout of a reduction along some dimensions: as its operand, and known to all along these dimensions."""
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
            if factor and form.without(index.name).is_constant:
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
        grid=grid,
        axes=tuple(axes),
        template="",
        span=lowering.span,
    )
