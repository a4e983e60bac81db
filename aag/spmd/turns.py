"""Sequential DO loops over distributed data: the owners run their iterations in order (Def 16)."""

from collections.abc import Collection, Sequence

from msgspec.structs import replace

from aag.ir import statements as ir
from aag.ir.expressions import Call, Element, Var
from aag.ir.statements import Assign
from aag.ir.visitors import elements_in, names_in
from aag.spmd.dependence import Access, Dependence, may_leave
from aag.spmd.groups import changed, has_private, home_of, places, same_owner, spread_names
from aag.spmd.leaves import Leaf, reads_of, writes_of
from aag.spmd.lowering import Lowering
from aag.spmd.names import scalars
from aag.spmd.needs import Use, classify
from aag.spmd.nests import has_inner_loop
from aag.spmd.nodes import CarriedScalar, Need, OwnedLoop, Reference
from aag.spmd.vector import is_decided_by_indices


def in_turn(lowering: Lowering, statement: ir.Do, leaves: Sequence[Leaf], *, wanted: bool) -> bool:
    """Lower a loop whose owners run their iterations in order; a message goes at the iteration that crosses. False
    where an iteration has no one owner, or all can compute what goes from one iteration to the next.

    `wanted`: whether something reads scalars of the loop after it.
    """
    loop, first = leaves[0].indices[0], home_of(lowering, leaves)
    has_turns = first is not None and not wanted and _has_turns(lowering, statement, leaves, first)
    passed = _carried(leaves, lowering.partials.values()) if has_turns else ()
    before, needs = _reads(lowering, leaves, first) if first is not None and has_turns else ([], [])
    if passed and not needs and not of_data(lowering, leaves) & frozenset(passed):
        has_turns = False
    if first is None or not has_turns:
        return False
    if loop.name in spread_names(lowering, leaves):
        note_order(lowering, statement, "the owners run one after the other")
    home = _home(first)
    lowering.communicate(before, home)
    deciding = (frozenset().union(*map(places, leaves)) - {loop.name}) | _tested(lowering, leaves)
    lowering.emit(
        OwnedLoop(
            span=statement.span,
            index=loop,
            home=home,
            assigns=tuple(_guarded(leaf) for leaf in leaves),
            guarded=any(leaf.mask is not None for leaf in leaves),
            needs=tuple(needs),
            carried=tuple(CarriedScalar(name=name, bytes=lowering.symbols.type_of(Var(name)).bytes) for name in passed),
            uses=frozenset(name for name in deciding if not lowering.symbols.is_array(name)),
            defines=frozenset(leaf.assign.target.name for leaf in leaves if isinstance(leaf.assign.target, Var)),
        )
    )
    return True


def note_order(lowering: Lowering, statement: ir.Do, how: str) -> None:
    """Note that the order of the iterations is kept, and how."""
    lowering.note(
        "W205",
        f"iterations of the loop over {statement.var} read what earlier ones wrote: {how}",
        "if the iterations are independent, write !HPF$ INDEPENDENT before the loop",
    )


def _home(first: Leaf) -> Reference:
    target = first.assign.target
    assert isinstance(target, Element)
    return Reference(array=target.name, subscripts=target.subscripts, indices=first.indices)


def _reads(lowering: Lowering, leaves: Sequence[Leaf], first: Leaf) -> tuple[list[Use], list[Need]]:
    """What the iterations read that is there before the loop, and what earlier iterations may write elsewhere."""
    home = _home(first)
    writes = [write for _, write in writes_of(leaves)]
    varying = changed(leaves)
    before: list[Use] = []
    needs: list[Need] = []
    for _, read in reads_of(leaves, lowering.symbols.is_array):
        assert read.subscripts is not None
        flows = (
            Dependence(write, read, lowering.env, varying, lowering.reach.around)
            for write in writes
            if write.array == read.array
        )
        if any(each.exists() for each in flows):
            reference = Reference(array=read.array, subscripts=read.subscripts, indices=first.indices)
            need = Need(reference=reference, home=home)
            if need not in needs and classify(need, lowering.layouts, lowering.env) is not None:
                needs.append(need)
        else:
            before.append(Use(Element(read.array, read.subscripts), first.indices))
    return before, needs


def _carried(leaves: Sequence[Leaf], partials: Collection[str]) -> tuple[str, ...]:
    """The scalars that an iteration reads as the one before left them; of `partials` each processor has its own."""
    assigned = {leaf.assign.target.name for leaf in leaves if isinstance(leaf.assign.target, Var)}.difference(partials)
    found: set[str] = set()
    for at, leaf in enumerate(leaves):
        read = names_in(leaf.assign.value, leaf.mask) & assigned
        found |= {name for name in read if not has_private(leaves, at, name, frozenset())}
    return tuple(sorted(found))


def of_data(lowering: Lowering, leaves: Sequence[Leaf]) -> frozenset[str]:
    """The scalars of a loop whose values, or whether they have them, come from distributed data, perhaps by way of
    others."""
    reads = [
        (leaf.assign.target.name, names_in(leaf.assign.value) | (names_in(leaf.mask) if leaf.mask else frozenset()))
        for leaf in leaves
        if isinstance(leaf.assign.target, Var)
    ]
    found = {name for name, read in reads if any(map(lowering.is_distributed, read))}
    while more := {name for name, read in reads if read & found} - found:
        found |= more
    return frozenset(found)


def _has_turns(lowering: Lowering, statement: ir.Do, leaves: Sequence[Leaf], first: Leaf) -> bool:
    """Whether each iteration of a loop has one owner, who can run all of it."""
    targets = [leaf.assign.target for leaf in leaves]
    is_array = lowering.symbols.is_array
    elements_written = [each for each in targets if isinstance(each, Element)]
    home = first.assign.target
    assert isinstance(home, Element)
    return (
        all(leaf.loops == (statement,) for leaf in leaves)
        and not _may_leave(lowering, leaves)
        and all(same_owner(lowering, first.indices, home, each) for each in elements_written)
        and not changed(leaves) & frozenset().union(*map(places, leaves))
        and not any(has_inner_loop(each) for leaf in leaves for each in (leaf.assign.value, leaf.mask) if each)
        and not any(is_array(name) for leaf in leaves for name in places(leaf))
        and not _has_replicas(lowering, leaves)
    )


def _guarded(leaf: Leaf) -> Assign:
    """An assignment under a condition, as a choice between the new and the old value (`aag.spmd.branches`)."""
    if leaf.mask is None:
        return leaf.assign
    return replace(leaf.assign, value=Call("merge", (leaf.assign.value, leaf.assign.target, leaf.mask)))


def _tested(lowering: Lowering, leaves: Sequence[Leaf]) -> frozenset[str]:
    """The scalars in conditions that loop indices decide."""
    own = {index.name for leaf in leaves for index in leaf.indices}
    masks = {leaf.mask for leaf in leaves if leaf.mask is not None}
    return frozenset().union(*(scalars(lowering.symbols, each) for each in masks if is_decided_by_indices(each))) - own


def _may_leave(lowering: Lowering, leaves: Sequence[Leaf]) -> bool:
    """Whether an element that is used under a condition may be outside its array where the condition does not hold:
    owners look for it in each iteration."""
    if all(leaf.mask is None for leaf in leaves):
        return False

    def accesses(some: Sequence[Leaf]) -> list[tuple[Access, Sequence[tuple[int, int]]]]:
        listed = [each for _, each in (*reads_of(some, lowering.symbols.is_array), *writes_of(some))]
        return [(each, lowering.arrays[each.array].bounds) for each in listed if lowering.is_distributed(each.array)]

    certain = accesses([leaf for leaf in leaves if leaf.mask is None])
    around = lowering.reach.around
    return any(may_leave(each, bounds, lowering.env, around, certain) for each, bounds in accesses(leaves))


def _has_replicas(lowering: Lowering, leaves: Sequence[Leaf]) -> bool:
    """Whether some array of a loop has several owners of an element: they do not take turns one at a time."""
    names = {each.name for leaf in leaves for each in elements_in(leaf.assign.value, leaf.assign.target)}
    layouts = [lowering.arrays[name] for name in names if lowering.is_distributed(name)]
    return any(
        axis.role == "replicated" and layout.grid.shape[at] > 1
        for layout in layouts
        for at, axis in enumerate(layout.axes)
    )
