"""DO loops: parallel nests where no iteration reads what another wrote; owned and plain loops elsewhere (Def 16)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from aag.ir import statements as ir
from aag.ir.expressions import Call, Element, Expr, Var
from aag.spmd.dependence import Access, carried
from aag.spmd.leaves import Leaf, leaves_of, reduced_names, reduction
from aag.spmd.liveness import wanted_after
from aag.spmd.names import elements, nest_names, scalars
from aag.spmd.needs import Use, classify
from aag.spmd.nests import has_inner_loop, inner_loops, uses_of
from aag.spmd.nodes import Combine, Index, Need, Nest, Node, OwnedLoop, Reference
from aag.spmd.reductions import operation_class
from aag.spmd.symbols import Unsupported
from aag.spmd.vector import names_in

if TYPE_CHECKING:
    from aag.spmd.lower import Lowering

def lower_do(lowering: "Lowering", statement: ir.Do) -> None:
    """Lower a DO loop, with or without INDEPENDENT."""
    if not lowering.attempt(lambda: _lower_nest(lowering, statement)):
        if statement.independent is not None:
            lowering.note("W204", "INDEPENDENT has no effect here: every processor runs all iterations of this loop")
        lowering.do_node(statement)


def _lower_nest(lowering: "Lowering", statement: ir.Do) -> None:
    """Lower a nest of loops over distributed data as a whole.

    Raises:
        Unsupported: it is no such nest.
    """
    leaves = leaves_of(lowering, statement)
    if leaves is None:
        raise Unsupported("the loop holds more than assignments")
    if _reads_of(lowering.pending) & {name for leaf in leaves for name in names_in(leaf.assign.target)}:
        raise Unsupported("a reduction inside the loop reads what the loop changes")
    if any(_foreign_indices(leaf, leaves) for leaf in leaves):
        raise Unsupported("a statement reads the variable of a DO loop that it is not in")
    home = _home_clause(lowering, statement, leaves)
    if not any(_is_distributed(lowering, leaf) for leaf in leaves):
        names = reduced_names(leaves)
        operands = [each for leaf in leaves if reduction(leaf, names) for each in elements(leaf.assign.value)]
        if statement.independent is None or not any(lowering.is_distributed(each.name) for each in operands):
            raise Unsupported("the loop writes no distributed data")
    promised = _promised(statement)
    if _is_parallel(lowering, leaves, promised) and not _live(lowering, statement, leaves, promised):
        _lower_parallel(lowering, leaves, home)
    elif promised:
        raise Unsupported("a loop inside carries values from one processor to another")
    else:
        _lower_sequential(lowering, statement, leaves)


def _foreign_indices(leaf: Leaf, leaves: Sequence[Leaf]) -> frozenset[str]:
    """Variables of other loops of the nest that an assignment reads: after those loops, or between their runs."""
    own = frozenset(index.name for index in leaf.indices)
    others = frozenset(index.name for each in leaves for index in each.indices) - own
    return others & (names_in(leaf.assign.value) | names_in(leaf.mask) | _places(leaf))


def _live(lowering: "Lowering", statement: ir.Do, leaves: Sequence[Leaf], promised: frozenset[str]) -> bool:
    """Whether the program still wants the last value of a scalar that the nest writes, on all processors.

    Inside a `promised` loop a scalar is NEW or reduced, or the promise would be broken.
    """
    written = frozenset(
        leaf.assign.target.name
        for leaf in leaves
        if isinstance(leaf.assign.target, Var) and not promised & {index.name for index in leaf.indices}
    )
    return bool(written and wanted_after(statement, lowering.unit.body, written))


def _reads_of(nodes: Sequence[Node]) -> frozenset[str]:
    """What nests that were computed before a loop read: reductions in its body that do not depend on its index."""
    levels = [level for node in nodes if isinstance(node, Nest) for level in (*node.outer, node.assigns)]
    return frozenset().union(*(names_in(assign.value) for level in levels for assign in level))


def _promised(statement: ir.Do) -> frozenset[str]:
    """Indices of the loops that INDEPENDENT covers: those it lists, else its own; inner loops may have their own."""
    own: frozenset[str] = frozenset()
    if statement.independent is not None:
        own = frozenset(statement.independent.indices) or frozenset((statement.var,))
    inner = (each for each in statement.body if isinstance(each, ir.Do))
    return own.union(*map(_promised, inner))


def _home_clause(lowering: "Lowering", statement: ir.Do, leaves: Sequence[Leaf]) -> Reference | None:
    """The reference of ON HOME, which names the processor that runs an iteration."""
    home = None if statement.independent is None else statement.independent.home
    if not isinstance(home, Element) or not lowering.is_distributed(home.name):
        return None
    names = frozenset(index.name for leaf in leaves for index in leaf.indices)
    place = lowering.elementwise.element(home, (), names)
    if not isinstance(place, Element):
        return None
    indices = max((leaf.indices for leaf in leaves), key=len)
    return Reference(array=place.name, subscripts=place.subscripts, indices=indices)


def _is_distributed(lowering: "Lowering", leaf: Leaf) -> bool:
    return isinstance(leaf.assign.target, Element) and lowering.is_distributed(leaf.assign.target.name)


def _private(leaves: Sequence[Leaf]) -> frozenset[str] | None:
    """Scalars that every iteration writes before it reads them; None where one is read first or decides a place."""
    written: dict[str, list[Expr | None]] = {}
    assigned = {leaf.assign.target.name for leaf in leaves if isinstance(leaf.assign.target, Var)}
    for leaf in leaves:
        certain = {name for name, masks in written.items() if None in masks or leaf.mask in masks}
        if (names_in(leaf.assign.value) | names_in(leaf.mask)) & assigned - certain or _places(leaf) & assigned:
            return None
        if isinstance(leaf.assign.target, Var):
            written.setdefault(leaf.assign.target.name, []).append(leaf.mask)
    return frozenset(written)


def _places(leaf: Leaf) -> frozenset[str]:
    """Names that decide which elements an assignment touches, and how often it runs."""
    touched = [*elements(leaf.assign.value), *elements(leaf.assign.target)]
    touched += [] if leaf.mask is None else elements(leaf.mask)
    exprs: list[Expr | None] = [each for element in touched for each in element.subscripts]
    for index in leaf.indices:
        exprs += [index.lower, index.upper, index.step]
    return frozenset().union(*map(names_in, exprs))


def _is_parallel(lowering: "Lowering", leaves: Sequence[Leaf], promised: frozenset[str] = frozenset()) -> bool:
    """Whether every processor may run its share of the nest, group after group, with what was valid before it.

    No iteration of a loop that crosses processors reads what an earlier one wrote; one of another loop reads it only
    where it was written; and no group of assignments needs what a later group did in an earlier iteration. For the
    `promised` loops the program says so itself (INDEPENDENT).
    """
    names = reduced_names(leaves) if promised else frozenset()
    private = _private([leaf for leaf in leaves if not reduction(leaf, names)])
    if private is None:
        return False
    loops = {index.name: index for leaf in leaves for index in leaf.indices if index.name not in promised}
    spread = _spread_names(lowering, leaves)
    groups = [list(leaves)] if private else _groups(lowering, leaves, names)
    return not any(
        _carries(leaves, index, lowering) if name in spread else _carries_far(groups, leaves, index, lowering)
        for name, index in loops.items()
    ) and not any(
        _backwards(later, earlier, index, lowering)
        for at, later in enumerate(groups)
        for earlier in groups[:at]
        for index in loops.values()
    )


def _carries_far(
    groups: Sequence[Sequence[Leaf]], leaves: Sequence[Leaf], loop: Index, lowering: "Lowering"
) -> bool:
    """Whether an iteration may read on one processor what an earlier one wrote on another."""
    writes = _writes(leaves, loop)
    for group in groups:
        home = next((leaf for leaf in group if _is_distributed(lowering, leaf)), None)
        for leaf in group:
            for read in _reads([leaf], loop, lowering):
                near = home is not None and _is_local(lowering, read.element, leaf, home)
                if not near and any(
                    write.element.name == read.element.name and carried(write, read, loop, lowering.env)
                    for write in writes
                ):
                    return True
    return False


def _is_local(lowering: "Lowering", element: Element, leaf: Leaf, home: Leaf) -> bool:
    """Whether an element that a leaf reads certainly lies where the home of its group does."""
    target = home.assign.target
    if not isinstance(target, Element) or not lowering.is_distributed(element.name):
        return not lowering.is_distributed(element.name)
    return _same_owner(lowering, max(leaf.indices, home.indices, key=len), target, element)


def _backwards(later: Sequence[Leaf], earlier: Sequence[Leaf], loop: Index, lowering: "Lowering") -> bool:
    """Whether an earlier group depends on what a later one did in an iteration before."""
    first, second = _writes(later, loop), _writes(earlier, loop)
    return any(
        before.element.name == after.element.name and carried(before, after, loop, lowering.env)
        for befores, afters in (
            (first, second),
            (first, _reads(earlier, loop, lowering)),
            (_reads(later, loop, lowering), second),
        )
        for before in befores
        for after in afters
    )


def _spread_names(lowering: "Lowering", leaves: Sequence[Leaf]) -> frozenset[str]:
    """Loop indices that decide which processor runs an iteration."""
    found: frozenset[str] = frozenset()
    for leaf in leaves:
        target = leaf.assign.target
        if isinstance(target, Element) and lowering.is_distributed(target.name):
            for axis in lowering.arrays[target.name].axes:
                if axis.role == "dim":
                    found |= names_in(target.subscripts[axis.dim])
    return found


def _carries(leaves: Sequence[Leaf], loop: Index, lowering: "Lowering") -> bool:
    return any(
        carried(write, read, loop, lowering.env)
        for write in _writes(leaves, loop)
        for read in _reads(leaves, loop, lowering)
        if write.element.name == read.element.name
    )


def _inside(indices: Sequence[Index], loop: Index) -> tuple[Index, ...]:
    names = [index.name for index in indices]
    return tuple(indices[names.index(loop.name) + 1 :]) if loop.name in names else ()


def _writes(leaves: Sequence[Leaf], loop: Index) -> list[Access]:
    return [
        Access(leaf.assign.target, _inside(leaf.indices, loop))
        for leaf in leaves
        if isinstance(leaf.assign.target, Element) and loop.name in {index.name for index in leaf.indices}
    ]


def _reads(leaves: Sequence[Leaf], loop: Index, lowering: "Lowering") -> list[Access]:
    found = []
    for leaf in leaves:
        if loop.name not in {index.name for index in leaf.indices}:
            continue
        read = elements(leaf.assign.value) + ([] if leaf.mask is None else elements(leaf.mask))
        inner = _inside(leaf.indices, loop)
        found += [Access(each, inner) for each in read if lowering.symbols.is_array(each.name)]
    return found


# --- parallel ---------------------------------------------------------------------------------------------------


def _lower_parallel(lowering: "Lowering", leaves: Sequence[Leaf], home: Reference | None) -> None:
    """Groups of assignments with one owner and one chain of loops become one nest each."""
    names = reduced_names(leaves)
    private = _private([leaf for leaf in leaves if not reduction(leaf, names)])
    if private is None:
        raise Unsupported("a scalar is read before it is written")
    groups = [list(leaves)] if private else _groups(lowering, leaves, names)
    nests = [_nest(lowering, group, home, names) for group in groups]
    for group, (nest, uses) in zip(groups, nests, strict=True):
        lowering.span = group[0].assign.span
        lowering.communicate(uses, nest.home)
        lowering.emit(nest)
        if nest.reduce and nest.home is not None:
            _combine(lowering, nest)


def _groups(lowering: "Lowering", leaves: Sequence[Leaf], names: frozenset[str]) -> list[list[Leaf]]:
    groups: list[list[Leaf]] = []
    for leaf in leaves:
        if groups and _together(lowering, groups[-1][-1], leaf, names):
            groups[-1].append(leaf)
        else:
            groups.append([leaf])
    return groups


def _together(lowering: "Lowering", one: Leaf, other: Leaf, names: frozenset[str]) -> bool:
    """Whether two assignments run in the same loops, under the same condition, on the same owner."""
    if one.indices != other.indices or one.mask != other.mask or reduction(one, names) or reduction(other, names):
        return False
    if has_inner_loop(one.assign.value) or has_inner_loop(other.assign.value):
        return False
    first, second = one.assign.target, other.assign.target
    if not isinstance(first, Element) or not isinstance(second, Element):
        return False
    return _same_owner(lowering, one.indices, first, second)


def _same_owner(lowering: "Lowering", indices: tuple[Index, ...], first: Element, second: Element) -> bool:
    if not lowering.is_distributed(first.name) or not lowering.is_distributed(second.name):
        return lowering.is_distributed(first.name) == lowering.is_distributed(second.name)
    need = Need(
        reference=Reference(array=second.name, subscripts=second.subscripts, indices=indices),
        home=Reference(array=first.name, subscripts=first.subscripts, indices=indices),
    )
    return classify(need, lowering.layouts, lowering.env) is None


def _nest(
    lowering: "Lowering", group: Sequence[Leaf], wanted: Reference | None, names: frozenset[str]
) -> tuple[Nest, list[Use]]:
    """One nest for a group of assignments whose loops form one chain."""
    combined = next((found for leaf in group if (found := reduction(leaf, names))), None)
    if combined is not None and len(group) > 1:
        raise Unsupported("a reduction among other assignments")
    home = _home(lowering, group, wanted, reads=combined is not None)
    mask = _mask(lowering, group)
    bodies: list[tuple[tuple[Index, ...], ir.Assign]] = []
    for leaf in group:
        if combined is not None:
            bodies.append((leaf.indices, replace(leaf.assign, value=combined[1])))
            continue
        value = leaf.assign.value
        if leaf.mask is not None and mask is None:  # conditions differ: each chooses between the new and the old value
            value = Call("merge", (value, leaf.assign.target, leaf.mask))
        loops, innermost, outer = inner_loops(lowering, leaf.assign.target, value, leaf.indices)
        for depth, level in enumerate(outer, start=1):
            bodies += [(loops[:depth], each) for each in level]
        bodies += [(loops, each) for each in innermost]
    deepest = max((loops for loops, _ in bodies), key=len)
    if any(deepest[: len(loops)] != loops for loops, _ in bodies):
        raise Unsupported("loops side by side that share private scalars")
    assigns: list[list[ir.Assign]] = [[] for _ in deepest]
    uses: list[Use] = []
    for loops, assign in bodies:
        assigns[len(loops) - 1].append(assign)
        uses += uses_of(assign.value, loops, lowering.symbols)
    uses += uses_of(mask, deepest, lowering.symbols)
    nest = Nest(
        span=group[0].assign.span,
        indices=deepest,
        home=home,
        assigns=tuple(assigns[-1]),
        outer=tuple(tuple(level) for level in assigns[:-1]),
        mask=mask,
        reduce=combined[0] if combined else "",  # type: ignore[arg-type]  # one of the literals, see `reduction`
        defines=frozenset(leaf.assign.target.name for leaf in group if isinstance(leaf.assign.target, Var)),
    )
    return replace(nest, uses=nest_names(lowering.symbols, nest)), [_at_home(use, home) for use in uses]


def _at_home(use: Use, home: Reference | None) -> Use:
    """A reference outside the innermost loop is read wherever some iteration inside runs."""
    if home is None or len(use.indices) >= len(home.indices) or home.indices[: len(use.indices)] != use.indices:
        return use
    return Use(use.element, home.indices)


def _mask(lowering: "Lowering", group: Sequence[Leaf]) -> Expr | None:
    """The condition that all assignments of a group share."""
    masks = {leaf.mask for leaf in group}
    if len(masks) > 1:
        lowering.note("W203", "conditions inside the loop differ: what they guard is charged for all iterations")
        return None
    (mask,) = masks
    return mask


def _home(
    lowering: "Lowering", group: Sequence[Leaf], wanted: Reference | None, *, reads: bool
) -> Reference | None:
    """Where the group runs: as ON HOME says, else the owner of its first distributed target; a reduction runs where
    its operand lives."""
    chosen = wanted
    for leaf in group:
        candidates = elements(leaf.assign.value) if reads else [leaf.assign.target]
        for each in candidates:
            if chosen is None and isinstance(each, Element) and lowering.is_distributed(each.name):
                chosen = Reference(array=each.name, subscripts=each.subscripts, indices=leaf.indices)
    if chosen is None:
        return None
    owner = Element(chosen.array, chosen.subscripts)
    for leaf in group:
        target = leaf.assign.target
        if isinstance(target, Element) and not _same_owner(lowering, chosen.indices, owner, target):
            raise Unsupported("assignments to arrays that are mapped differently")
    return chosen


def _combine(lowering: "Lowering", nest: Nest) -> None:
    assert nest.home is not None
    layout = lowering.arrays[nest.home.array]
    axes = tuple(axis for axis, meaning in enumerate(layout.axes) if meaning.role != "replicated")
    if all(layout.grid.shape[axis] == 1 for axis in axes):
        return
    kind = lowering.symbols.type_of(nest.assigns[0].target)
    lowering.emit(
        Combine(
            span=nest.span,
            op=nest.reduce,
            home=nest.home,
            axes=axes,
            kept=(),
            element_bytes=kind.bytes,
            operation_class=operation_class(nest.reduce, kind),
        )
    )


# --- sequential -------------------------------------------------------------------------------------------------


def _lower_sequential(lowering: "Lowering", statement: ir.Do, leaves: Sequence[Leaf]) -> None:
    """Owners run their iterations in order; a message goes at the iteration that crosses (Def 16)."""
    targets = [leaf.assign.target for leaf in leaves]
    loop = leaves[0].indices[0]
    if loop.name in _spread_names(lowering, leaves):
        lowering.note(
            "W205",
            f"iterations of the loop over {statement.var} read what earlier ones wrote: "
            "the owners run one after the other",
            "where the iterations are independent, say so with !HPF$ INDEPENDENT",
        )
    single = all(leaf.indices == (loop,) and leaf.mask is None for leaf in leaves)
    first = targets[0]
    if not single or not isinstance(first, Element) or not lowering.is_distributed(first.name):
        lowering.do_node(statement)
        return
    if any(
        not isinstance(each, Element) or not _same_owner(lowering, (loop,), first, each) for each in targets
    ) or _has_replicas(lowering, leaves):
        lowering.do_node(statement)
        return
    home = Reference(array=first.name, subscripts=first.subscripts, indices=(loop,))
    writes = _writes(leaves, loop)
    before: list[Use] = []
    needs: list[Need] = []
    for read in _reads(leaves, loop, lowering):
        if any(
            write.element.name == read.element.name and carried(write, read, loop, lowering.env) for write in writes
        ):
            reference = Reference(array=read.element.name, subscripts=read.element.subscripts, indices=(loop,))
            need = Need(reference=reference, home=home)
            if need not in needs and classify(need, lowering.layouts, lowering.env) is not None:
                needs.append(need)
        else:
            before.append(Use(read.element, (loop,)))
    lowering.communicate(before, home)
    values = [leaf.assign.value for leaf in leaves]
    lowering.emit(
        OwnedLoop(
            span=statement.span,
            index=loop,
            home=home,
            assigns=tuple(leaf.assign for leaf in leaves),
            needs=tuple(needs),
            uses=scalars(
                lowering.symbols,
                loop.lower,
                loop.upper,
                loop.step,
                *(each for value in values for element in elements(value) for each in element.subscripts),
            )
            - {loop.name},
        )
    )


def _has_replicas(lowering: "Lowering", leaves: Sequence[Leaf]) -> bool:
    """Whether some array of a loop has several owners of an element: they do not take turns one at a time."""
    names = {each.name for leaf in leaves for each in (*elements(leaf.assign.value), *elements(leaf.assign.target))}
    layouts = [lowering.arrays[name] for name in names if lowering.is_distributed(name)]
    return any(
        axis.role == "replicated" and layout.grid.shape[at] > 1
        for layout in layouts
        for at, axis in enumerate(layout.axes)
    )
