"""WHERE and FORALL evaluate a mask once: a mask that its own construct changes is kept in a temporary array."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from aag.ir import statements as ir
from aag.ir.evaluate import Environment, Unknown, evaluate_int
from aag.ir.expressions import Element, Expr, IntLit, Section, Var
from aag.ir.linear import add, linear
from aag.ir.result_types import LOGICAL
from aag.ir.units import Type
from aag.ir.visitors import names_in, walk_statements
from aag.mapping.axes import REPLICATED, GridAxis
from aag.mapping.layout import Layout
from aag.spmd.lowering import Lowering
from aag.spmd.nodes import Index
from aag.spmd.symbols import Unsupported


def first_target(branches: Sequence[ir.WhereBranch]) -> Var | Element | None:
    """The first array that a WHERE construct assigns."""
    for statement in _assigned(branches):
        if isinstance(statement.target, Var | Element):
            return statement.target
    return None


def must_be_kept(lowering: Lowering, mask: Expr, later: Sequence[ir.Stmt]) -> bool:
    """Whether an assignment from this mask on, the last one excepted, writes what the mask reads."""
    found = (each for each in walk_statements(tuple(later)) if isinstance(each, ir.Assign))
    written = [each.target.name for each in found if isinstance(each.target, Var | Element)]
    shared = {name for each in written[:-1] for name in lowering.sharing.get(each, ())}
    return bool((names_in(mask) | lowering.read_by_calls(mask)) & {*written[:-1], *shared})


def section_of(
    lowering: Lowering, indices: Sequence[Index], target: Expr, *, shaped: bool = False
) -> tuple[Element, tuple[Expr, ...]] | None:
    """The section that `target` is for all values of some indices: each index alone in a subscript, but for a constant;
    and the place in the section, from 1, that belongs to the values. None: there is none, or it leaves its array.
    `shaped`: the target may be a section itself; then the place is one, too."""
    if not isinstance(target, Element):
        return None
    layout, found, places = lowering.arrays[target.name], list[Expr](), list[Expr]()
    left = {each.name: each for each in indices}
    for subscript, (lower, upper) in zip(target.subscripts, layout.bounds, strict=True):
        if isinstance(subscript, Section):
            if not shaped or names_in(subscript) & {each.name for each in indices}:
                return None
            found.append(subscript)
            places.append(Section(None, None, None))
            continue
        form = linear(subscript, lowering.env)
        own = names_in(subscript) & {each.name for each in indices}
        if not own:
            found.append(subscript)
            continue
        index = left.pop(next(iter(own)), None)
        rest = None if index is None else form.without(index.name)
        if index is None or rest is None or not rest.is_constant:
            return None
        factor = form.coefficient(index.name)
        try:
            ends = sorted(factor * each + rest.constant for each in _ends(index, lowering.env))
        except Unknown:
            return None
        if ends[0] < lower or ends[1] > upper:
            return None
        found.append(Section(IntLit(ends[0]), IntLit(ends[1]), None))
        places.append(add(subscript, 1 - ends[0]))
    return None if left else (replace(target, subscripts=tuple(found)), tuple(places))


def _ends(index: Index, env: Environment) -> tuple[int, int]:
    """The first and the last value of an index; of one without values, twice where it would begin."""
    first, last = evaluate_int(index.lower, env), evaluate_int(index.upper, env)
    step = 1 if index.step is None else evaluate_int(index.step, env)
    return first, first + (max(0, (last - first) // step) * step if step else 0)


def _assigned(branches: Sequence[ir.WhereBranch]) -> Iterator[ir.Assign]:
    """The assignments of a WHERE construct, those of constructs inside included."""
    for branch in branches:
        yield from (each for each in walk_statements(branch.body) if isinstance(each, ir.Assign))


def temporary(lowering: Lowering, like: Var | Element, of: Type = LOGICAL) -> Var:
    """A new array of the shape of `like`, each element beside the one of `like` that it belongs to.

    Raises:
        Unsupported: the section has bounds that are not known before the program runs.
    """
    layout = lowering.arrays[like.name]
    subscripts = like.subscripts if isinstance(like, Element) else (Section(None, None, None),) * layout.rank
    try:
        places = [
            _place(each, *layout.bounds[dim], lowering)
            if isinstance(each, Section) or (layout.axis_of_dim(dim) is not None and not lowering.is_alone)
            else (0, 1, None)
            for dim, each in enumerate(subscripts)
        ]
    except Unknown as error:
        raise Unsupported(f"a WHERE that changes its own mask, in a section that depends on {error.name}") from error
    kept = [dim for dim, (_, _, extent) in enumerate(places) if extent is not None]
    axes = [
        REPLICATED if lowering.is_alone else _axis(axis, layout, at, places, kept)
        for at, axis in enumerate(layout.axes)
    ]
    name = lowering.elementwise.fresh("mask" if of == LOGICAL else "part")
    lowering.symbols.declare(name, of)
    lowering.arrays[name] = Layout(
        array=name,
        element_bytes=of.bytes,
        bounds=tuple((1, places[dim][2] or 0) for dim in kept),
        grid=layout.grid,
        axes=tuple(axes),
        template="",
        span=lowering.span,
    )
    return Var(name)


def _place(subscript: Expr, lower: int, upper: int, lowering: Lowering) -> tuple[int, int, int | None]:
    """First index, step and extent of a section subscript; a single index has no extent."""
    if not isinstance(subscript, Section):
        return evaluate_int(subscript, lowering.env), 1, None
    first = lower if subscript.lower is None else evaluate_int(subscript.lower, lowering.env)
    last = upper if subscript.upper is None else evaluate_int(subscript.upper, lowering.env)
    step = 1 if subscript.step is None else evaluate_int(subscript.step, lowering.env)
    return first, step, max(0, (last - first + step) // step)


def _axis(
    axis: GridAxis, layout: Layout, at: int, places: Sequence[tuple[int, int, int | None]], kept: Sequence[int]
) -> GridAxis:
    if axis.role != "dim":
        return axis
    if axis.distribution is None:
        return REPLICATED
    first, step, extent = places[axis.dim]
    if extent is None:
        coordinate = int(layout.owner_coordinate(at, first))
        cell = axis.stride * first + axis.offset
        return GridAxis(role="fixed", offset=cell, distribution=axis.distribution, coordinate=coordinate)
    return GridAxis(
        role="dim",
        dim=kept.index(axis.dim),
        stride=axis.stride * step,
        offset=axis.stride * (first - step) + axis.offset,
        distribution=axis.distribution,
    )
