"""Which references of a statement need communication, and what the run-time library would call it.

The counts come from ownership (`aag.spmd.relation`); what is decided here is the name, and with it whether a
collective along some grid axes does the work (hpf.md's table: patterns that are dense in the number of processors are
recognised from the subscripts before anyone enumerates pairs, design decision D2).
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from aag.ir.evaluate import Environment
from aag.ir.expressions import Call, Element, Expr, IntLit, Var
from aag.ir.linear import Linear, linear
from aag.ir.visitors import children, elements_in, names_in
from aag.mapping.axes import GridAxis
from aag.mapping.layout import Layout, Layouts
from aag.spmd.nodes import (
    Concatenate,
    Exchange,
    Index,
    Multicast,
    Need,
    Nest,
    Operation,
    Pattern,
    Reference,
    assigns_of,
    deciding_indices,
)
from aag.spmd.symbols import Symbols, Unsupported

ANYWHERE = "any$"
"""Stem of the index that runs over the whole dimension of an array whose subscript goes through another array."""


class Use(Struct, frozen=True):
    """A reference as a statement makes it: the element, and the indices whose space it is read in."""

    element: Element
    indices: tuple[Index, ...]


def uses_of(expr: Expr | None, indices: Sequence[Index], symbols: Symbols) -> list[Use]:
    """The array elements that an expression reads in the space of `indices`, those in subscripts first."""
    if expr is None:
        return []
    found: list[Use] = []
    if isinstance(expr, Element) and symbols.is_array(expr.name):
        found += [use for each in expr.subscripts for use in uses_of(each, indices, symbols)]
        found.append(Use(expr, tuple(indices)))
        return found
    if isinstance(expr, Var) and symbols.is_array(expr.name):
        raise Unsupported(f"the whole array {expr.name} stands where an element is needed")
    for child in children(expr):
        found += uses_of(child, indices, symbols)
    return found


def reference_to(element: Element, indices: Sequence[Index], layouts: Mapping[str, Layout]) -> Reference:
    """What a reference in the space of some indices may touch: where a subscript goes through another array, any
    element of that dimension."""
    bounds = layouts[element.name].bounds
    subscripts, more = list(element.subscripts), list[Index]()
    for dim, each in enumerate(element.subscripts):
        if elements_in(each):
            name = f"{ANYWHERE}{dim + 1}"
            lower, upper = map(IntLit, bounds[dim])
            subscripts[dim] = Var(name)
            more.append(Index(name=name, lower=lower, upper=upper, step=None))
    return Reference(array=element.name, subscripts=tuple(subscripts), indices=(*indices, *more))


def need_of(element: Element, indices: Sequence[Index], home: Reference | None, layouts: Layouts) -> Need | None:
    """What has to be brought for a reference of iterations that run at `home`, as far as the text says; None: nothing.

    Where index arrays decide what is read, all that it may be; where they decide who runs an iteration, for everybody,
    unless the element lives where the iteration runs.
    """
    if home is not None and home.is_indirect:
        own = Reference(array=element.name, subscripts=element.subscripts, indices=tuple(indices))
        if classify(Need(reference=own, home=home), layouts, layouts.environment) is None:
            return None
        home = None
    reference = reference_to(element, indices, layouts.arrays)
    if len(reference.indices) > len(indices):
        reference = replace(reference, indices=_deciding(reference, home))
    need = Need(reference=reference, home=home)
    return None if classify(need, layouts, layouts.environment) is None else need


def _deciding(reference: Reference, home: Reference | None) -> tuple[Index, ...]:
    """The indices of a reference that decide what is read, and where; the others only say how often."""
    names = names_in(*reference.subscripts, *(() if home is None else home.subscripts))
    return deciding_indices(reference.indices, names)


def deciding(nest: Nest, symbols: Symbols) -> tuple[list[Use], list[Use]]:
    """The array elements that decide what a nest does: those that all processors need, and those that whoever runs an
    iteration needs.

    Who runs it is found out by all. Bounds of inner loops are of interest where the loops around them run, and so is
    to which element an iteration contributes where each processor reduces into an array of its own.
    """
    subscripts = [] if nest.home is None else list(nest.home.subscripts)
    targets = [each.target for each in assigns_of(nest)]
    places = [part for each in targets if isinstance(each, Element) for part in each.subscripts]
    everywhere = [use for each in subscripts for use in uses_of(each, nest.indices, symbols)]
    own = [use for each in places for use in uses_of(each, nest.indices, symbols)]
    if not nest.reduce:
        everywhere, own = everywhere + own, []
    where = frozenset() if nest.home is None else names_in(*nest.home.subscripts)
    for depth, index in enumerate(nest.indices):
        found = [use for part in index.bounds for use in uses_of(part, nest.indices[:depth], symbols)]
        decided = not where & {each.name for each in nest.indices[depth:]}
        (own if depth and decided else everywhere).extend(found)
    return everywhere, own


_RANKED: tuple[Pattern, ...] = ("overlap_shift", "temporary_shift", "transfer", "transpose")


def operations(
    uses: Iterable[Use], home: Reference | None, layouts: Layouts, env: Environment, *, coalesce: bool
) -> tuple[Operation, ...]:
    """The communication that a statement with this home needs before it runs, in order of first mention.

    With `coalesce` the references to one array that go the same way share an operation (their union, Def 10).
    """
    needs = []
    for use in dict.fromkeys(uses):
        layout = layouts.arrays.get(use.element.name)
        if layout is not None and layout.is_distributed:
            needs.append(need_of(use.element, use.indices, home, layouts))
    return grouped((each for each in needs if each is not None), layouts, env, coalesce=coalesce)


def grouped(needs: Iterable[Need], layouts: Layouts, env: Environment, *, coalesce: bool) -> tuple[Operation, ...]:
    """The operations that bring some needs, as in `operations`; none for what is there already."""
    groups: dict[tuple[object, ...], list[Need]] = {}
    names: dict[tuple[object, ...], tuple[Pattern, tuple[int, ...]]] = {}
    for number, need in enumerate(needs):
        found = classify(need, layouts, env)
        if found is None:
            continue
        pattern, axes = found
        key = (need.reference.array, axes, pattern == "concatenation", 0 if coalesce else number)
        groups.setdefault(key, []).append(need)
        names[key] = max(names.get(key, found), found, key=lambda each: _rank(each[0]))
    return tuple(rebuild(tuple(some), *names[key]) for key, some in groups.items())


def _rank(pattern: Pattern) -> int:
    return _RANKED.index(pattern) if pattern in _RANKED else len(_RANKED)


def rebuild(needs: tuple[Need, ...], pattern: Pattern, axes: tuple[int, ...]) -> Operation:
    """The operation that a pattern and the axes of its collective ask for."""
    array = needs[0].reference.array
    if pattern == "concatenation":
        return Concatenate(array=array, needs=needs, axes=axes)
    if axes:
        return Multicast(array=array, needs=needs, axes=axes, pattern=pattern)
    return Exchange(array=array, needs=needs, pattern=pattern)


def classify(need: Need, layouts: Layouts, env: Environment) -> tuple[Pattern, tuple[int, ...]] | None:
    """The pattern of one reference and the grid axes of its collective; None where all data are already there."""
    layout = layouts.arrays[need.reference.array]
    home = None if need.home is None else layouts.arrays[need.home.array]
    if home is not None and not home.is_distributed:
        home = None
    if home is not None and home.grid.shape != layout.grid.shape:
        return "transfer", ()
    kinds = {
        axis: _axis_kind(meaning, axis, need, layout, home, env)
        for axis, meaning in enumerate(layout.axes)
        if meaning.role != "replicated"
    }
    gathered = tuple(axis for axis, kind in kinds.items() if kind in ("concatenation", "multicast"))
    if any(kind == "concatenation" for kind in kinds.values()):
        return "concatenation", gathered
    moved = [kind for kind in kinds.values() if kind in _RANKED]
    if gathered:
        return ("multicast_shift" if moved else "multicast"), gathered
    if not moved:
        return None
    return max(moved, key=_rank), ()


def _axis_kind(
    meaning: GridAxis, axis: int, need: Need, layout: Layout, home: Layout | None, env: Environment
) -> Pattern | None:
    """What one grid axis of the referenced array asks for."""
    known = frozenset(index.name for index in need.reference.indices)
    source = need.reference.subscripts[meaning.dim] if meaning.role == "dim" else None
    reads = names_in(source) & known
    if home is None or need.home is None or home.axes[axis].role == "replicated":
        return "concatenation" if reads else "multicast"
    target_meaning = home.axes[axis]
    target = need.home.subscripts[target_meaning.dim] if target_meaning.role == "dim" else None
    writes = names_in(target) & known
    if writes and not reads:
        return "multicast"
    if writes and reads.isdisjoint(writes) and reads.isdisjoint(_home_names(need)):
        return "concatenation"  # each processor along the axis wants the whole row: MATMUL
    return _point_to_point(meaning, source, target_meaning, target, reads, writes, layout, axis, env)


def _home_names(need: Need) -> frozenset[str]:
    """Names that decide where an iteration runs."""
    return frozenset() if need.home is None else names_in(*need.home.subscripts)


def _point_to_point(
    meaning: GridAxis,
    source: Expr | None,
    target_meaning: GridAxis,
    target: Expr | None,
    reads: frozenset[str],
    writes: frozenset[str],
    layout: Layout,
    axis: int,
    env: Environment,
) -> Pattern | None:
    if meaning.distribution != target_meaning.distribution:
        return "transfer"
    circular = source if isinstance(source, Call) and source.name == "cshift$" else None
    plain = source.args[0] if isinstance(source, Call) and source.name in ("cshift$", "eoshift$") else source
    cell = _cell(plain, meaning, env).plus(_cell(target, target_meaning, env), -1)
    if isinstance(source, Call) and source.name in ("cshift$", "eoshift$"):
        cell = cell.plus(linear(source.args[1], env), meaning.stride)
    if not cell.is_constant:
        return "transpose" if reads and writes and not reads & writes else _unequal(reads, writes)
    if cell.constant == 0:
        # what wraps is elsewhere
        return None if circular is None or _is_zero(circular.args[1], env) else "temporary_shift"
    if not reads:
        return None if _same_block(meaning, source, target_meaning, target, env) else "transfer"
    if _fits_overlap(abs(cell.constant), layout, axis) and (
        circular is None or _whole_dimension(circular, meaning, layout, env)
    ):
        return "overlap_shift"
    return "temporary_shift"


def _unequal(reads: frozenset[str], writes: frozenset[str]) -> Pattern:
    """Equal indices with an offset that is not known, or with other coefficients."""
    return "temporary_shift" if reads and reads == writes else "transfer"


def _cell(subscript: Expr | None, meaning: GridAxis, env: Environment) -> Linear:
    """The template cell of a subscript as a linear form."""
    if subscript is None:
        return Linear(meaning.offset, {})
    return Linear(meaning.offset, {}).plus(linear(subscript, env), meaning.stride)


def _same_block(
    meaning: GridAxis, source: Expr | None, target_meaning: GridAxis, target: Expr | None, env: Environment
) -> bool:
    """Whether two cells without loop indices certainly have one owner."""
    first, second = _cell(source, meaning, env), _cell(target, target_meaning, env)
    if meaning.distribution is None or not (first.is_constant and second.is_constant):
        return False
    owners = meaning.distribution.owner(np.array([first.constant, second.constant]))
    return bool(owners[0] == owners[1])


def _fits_overlap(width: int, layout: Layout, axis: int) -> bool:
    """Whether a shift of `width` cells stays within the neighbour's block (Def 7)."""
    distribution = layout.axes[axis].distribution
    if distribution is None or distribution.kind != "block":
        return False
    least = (
        min(distribution.sizes)
        if distribution.sizes
        else distribution.extent % distribution.block or distribution.block
    )
    return distribution.extent == 0 or width <= least


def _whole_dimension(shifted: Call, meaning: GridAxis, layout: Layout, env: Environment) -> bool:
    """Whether a circular shift goes over a whole dimension that fills its template, so that it wraps to the other end's
    neighbour."""
    first, last = (linear(each, env) for each in shifted.args[2:])
    goes_over = last.plus(first, -1)
    extent = layout.extents[meaning.dim]
    whole = goes_over.is_constant and goes_over.constant == extent - 1
    return whole and meaning.distribution is not None and extent == meaning.distribution.extent


def _is_zero(shift: Expr, env: Environment) -> bool:
    form = linear(shift, env)
    return form.is_constant and form.constant == 0
