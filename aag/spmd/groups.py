"""May every processor run its share of a loop nest by itself? Which assignments form one parallel nest each.

A nest of DO loops becomes a sequence of parallel nests, one for each group of assignments. A group fetches what it
needs from elsewhere and then runs, each processor its own iterations in their order. That is right (D13) where

- no assignment depends on what a later group does,
- inside a group no value comes from another processor: what an iteration reads there was not written by the group,
- a scalar gets its value on the processor that reads it.
"""

from collections.abc import Hashable, Sequence

from msgspec import Struct

from aag.ir.expressions import Element, Expr, Unary, Var
from aag.ir.spelling import spell
from aag.ir.visitors import elements_in, names_in
from aag.spmd.covering import conjuncts, covers
from aag.spmd.dependence import Access, Dependence
from aag.spmd.leaves import Leaf, reads_of, reduction, writes_of
from aag.spmd.lowering import Lowering
from aag.spmd.needs import classify
from aag.spmd.nests import has_inner_loop
from aag.spmd.nodes import Index, Need, Reference
from aag.wording import as_written

Groups = list[list[Leaf]]


class Obstacle(Struct, frozen=True):
    """Why a nest does not run in parallel."""

    why: str


def parallel_groups(
    lowering: Lowering,
    leaves: Sequence[Leaf],
    names: frozenset[str],
    promised: frozenset[Hashable] = frozenset(),
    new: frozenset[str] = frozenset(),
) -> Groups | Obstacle:
    """The groups of a nest that may run in parallel, or why there are none.

    `names` are the scalars that it reduces into, `promised` the loops that are INDEPENDENT: they carry nothing, but
    in the arrays that are `new` in every iteration, as all iterations use one.
    """
    foreign = frozenset().union(*(_foreign_indices(leaf, leaves) for leaf in leaves))
    if foreign:
        return Obstacle(f"an assignment reads {min(foreign)}, the variable of another loop")
    deciding = frozenset().union(*(index.reads for leaf in leaves for index in leaf.indices)) & changed(leaves)
    if deciding:
        return Obstacle(f"the bounds of a loop depend on {min(deciding)}, which the nest assigns")
    obstacle = ""
    for groups in _candidates(lowering, leaves, names):
        obstacle = _shared_scalar(lowering, groups, names) or _shared_element(lowering, groups, names, promised, new)
        if not obstacle:
            return groups
    return Obstacle(obstacle)


def _candidates(lowering: Lowering, leaves: Sequence[Leaf], names: frozenset[str]) -> list[Groups]:
    """Ways to group: as few groups as possible, then as many as the private scalars allow."""
    few: Groups = []
    for leaf in leaves:
        if few and not reduction(leaf, names) and not reduction(few[-1][-1], names):
            few[-1].append(leaf)
        else:
            few.append([leaf])
    found: list[Groups] = []
    for alike in (False, True):
        merged: Groups = []
        for group in few:
            scalars = any(isinstance(leaf.assign.target, Var) and not reduction(leaf, names) for leaf in group)
            merged += [group] if scalars else _runs(lowering, group, alike=alike)
        found.append(merged)
    found.append(_clusters(leaves, names))
    return [each for at, each in enumerate(found) if each not in found[:at]]


def _clusters(leaves: Sequence[Leaf], names: frozenset[str]) -> Groups:
    """The smallest groups in which every scalar is written and read in one group."""
    last: dict[str, int] = {}
    first: dict[str, int] = {}
    for at, leaf in enumerate(leaves):
        if isinstance(leaf.assign.target, Var) and not reduction(leaf, names):
            first.setdefault(leaf.assign.target.name, at)
    for at, leaf in enumerate(leaves):
        for name in _read_names(leaf) | names_in(leaf.assign.target):
            if name in first:
                last[name] = at
    groups: Groups = []
    open_until = -1
    for at, leaf in enumerate(leaves):
        if at <= open_until:
            groups[-1].append(leaf)
        else:
            groups.append([leaf])
        ends = [last[name] for name, start in first.items() if start <= at]
        open_until = max([open_until, *ends])
    return groups


def _runs(lowering: Lowering, leaves: Sequence[Leaf], *, alike: bool) -> Groups:
    """Neighbours that run in the same loops and on the same owner together; `alike`: those under one condition."""
    groups: Groups = []
    for leaf in leaves:
        one = groups[-1][-1] if groups else leaf
        if groups and _together(lowering, one, leaf) and (one.mask == leaf.mask or not alike):
            groups[-1].append(leaf)
        else:
            groups.append([leaf])
    return groups


def _together(lowering: Lowering, one: Leaf, other: Leaf) -> bool:
    if one.loops != other.loops:
        return False
    if has_inner_loop(one.assign.value) or has_inner_loop(other.assign.value):
        return False
    first, second = one.assign.target, other.assign.target
    if not isinstance(first, Element) or not isinstance(second, Element):
        return False
    if not same_owner(lowering, one.indices, first, second):
        return False
    shared = not lowering.is_distributed(first.name)
    return shared or covers(lowering, one, first, (other,)) or covers(lowering, other, second, (one,))


def same_owner(lowering: Lowering, indices: tuple[Index, ...], first: Element, second: Element) -> bool:
    """Whether two elements certainly live on the same processors, in each iteration of the indices."""
    if not lowering.is_distributed(first.name) or not lowering.is_distributed(second.name):
        return lowering.is_distributed(first.name) == lowering.is_distributed(second.name)
    need = Need(
        reference=Reference(array=second.name, subscripts=second.subscripts, indices=indices),
        home=Reference(array=first.name, subscripts=first.subscripts, indices=indices),
    )
    return classify(need, lowering.layouts, lowering.env) is None


def home_of(lowering: Lowering, group: Sequence[Leaf]) -> Leaf | None:
    """The first assignment to distributed data: its owner runs the group."""
    for leaf in group:
        if isinstance(leaf.assign.target, Element) and lowering.is_distributed(leaf.assign.target.name):
            return leaf
    return None


# --- arrays -----------------------------------------------------------------------------------------------------


def _shared_element(
    lowering: Lowering, groups: Groups, names: frozenset[str], promised: frozenset[Hashable], new: frozenset[str]
) -> str:
    """Two accesses to one element whose order would not be kept, in words; empty where there are none. Updates of
    `names` may come in any order."""
    leaves = [leaf for group in groups for leaf in group]
    number_of = [number for number, group in enumerate(groups) for _ in group]
    varying = changed(leaves)

    def comes(first: Access, second: Access) -> bool:
        return Dependence(first, second, lowering.env, varying, lowering.reach.around).exists(
            frozenset() if first.array in new else promised
        )

    writes = [each for each in writes_of(leaves) if each[1].array not in names]
    reads = [each for each in reads_of(leaves, lowering.symbols.is_array) if each[1].array not in names]
    everything = sorted((*writes, *reads), key=lambda each: each[1].order)
    for at, write in writes:
        for other, access in everything:
            if access.array != write.array:
                continue
            if number_of[other] > number_of[at] and access is not write and comes(access, write):
                return _in_words(access, write)
            if number_of[at] > number_of[other] and comes(write, access):
                return _in_words(access, write)
    homes = [home_of(lowering, group) for group in groups]
    for other, read in reads:
        number = number_of[other]
        sources = [write for at, write in writes if number_of[at] == number and write.array == read.array]
        near = not sources or _is_local(lowering, read, homes[number])
        carried = () if near else (write for write in sources if comes(write, read))
        for write in carried:
            return _in_words(read, write)
    return ""


def _in_words(access: Access, write: Access) -> str:
    """That two accesses may be to one element."""
    one, other = (
        as_written(each.array if each.subscripts is None else spell(Element(each.array, each.subscripts)))
        for each in (access, write)
    )
    if one == other:
        return f"several iterations may use the same {one}"
    return f"{one} may be the {other} that another iteration assigns"


def _is_local(lowering: Lowering, read: Access, home: Leaf | None) -> bool:
    """Whether an element that is read certainly lies where its group runs."""
    if not lowering.is_distributed(read.array):
        return True
    if home is None or read.subscripts is None:
        return False
    target = home.assign.target
    assert isinstance(target, Element)
    element = Element(read.array, read.subscripts)
    return same_owner(lowering, max(read.indices, home.indices, key=len), target, element)


def changed(leaves: Sequence[Leaf]) -> frozenset[str]:
    """The names that a nest assigns."""
    targets = [leaf.assign.target for leaf in leaves]
    return frozenset(each.name for each in targets if isinstance(each, Var | Element))


# --- scalars ----------------------------------------------------------------------------------------------------


def _shared_scalar(lowering: Lowering, groups: Groups, names: frozenset[str]) -> str:
    """A scalar that the nest assigns and that is not private, in words: a processor may read what another one wrote.
    Empty where there is none."""
    leaves = [leaf for group in groups for leaf in group if not reduction(leaf, names)]
    assigned = {leaf.assign.target.name for leaf in leaves if isinstance(leaf.assign.target, Var)}
    deciding = frozenset().union(*map(places, leaves)) & assigned
    if deciding:
        return f"{min(deciding)}, which the nest assigns, decides which elements it uses"
    for group in groups:
        own = {leaf.assign.target.name for leaf in group if isinstance(leaf.assign.target, Var)}
        spread = spread_names(lowering, group)
        for at, leaf in enumerate(group):
            read = _read_names(leaf) & assigned
            shared = [name for name in sorted(read) if name not in own or not has_private(group, at, name, spread)]
            if shared and shared[0] in own and has_private(group, at, shared[0], frozenset()):
                return f"several processors run parts of one iteration, and share {shared[0]}"
            if shared:
                return f"an iteration may read the value of {shared[0]} from another one"
    return ""


def has_private(group: Sequence[Leaf], at: int, name: str, spread: frozenset[str]) -> bool:
    """Whether the value of a scalar that an assignment reads was certainly written on the same processor: by
    assignments before it in the same iteration, or since then in a loop that one processor runs."""
    reader = group[at]
    writers = [leaf for leaf in group if leaf.assign.target == Var(name)]
    before = [
        leaf
        for number, leaf in enumerate(group[:at])
        if leaf.assign.target == Var(name)
        and leaf.loops == reader.loops[: len(leaf.loops)]
        and not changed(group[number:at]) & names_in(leaf.mask)
    ]
    for depth in range(len(reader.loops), 0, -1):
        inner = [conjuncts(leaf.mask) - conjuncts(reader.mask) for leaf in before if len(leaf.loops) >= depth]
        if _one_holds(inner):
            return not {index.name for leaf in writers for index in leaf.indices[depth:]} & spread
    return False


def _one_holds(masks: Sequence[frozenset[Expr]]) -> bool:
    """Whether one of these conjunctions holds in any case, such as that of an IF and that of its ELSE."""
    if frozenset() in masks:
        return True
    for each in frozenset().union(*masks):
        contrary = Unary(".not.", each)
        if any(contrary in mask for mask in masks):
            holds = [mask - {each} for mask in masks if contrary not in mask]
            fails = [mask - {contrary} for mask in masks if each not in mask]
            return _one_holds(holds) and _one_holds(fails)
    return False


def _read_names(leaf: Leaf) -> frozenset[str]:
    return names_in(leaf.assign.value, leaf.mask)


def places(leaf: Leaf) -> frozenset[str]:
    """Names that decide which elements an assignment touches, and how often it runs."""
    touched = elements_in(leaf.assign.value, leaf.assign.target, leaf.mask)
    subscripts = (each for element in touched for each in element.subscripts)
    return names_in(*subscripts).union(*(index.reads for index in leaf.indices))


def _foreign_indices(leaf: Leaf, leaves: Sequence[Leaf]) -> frozenset[str]:
    """Variables of other loops of the nest that an assignment reads: after those loops, or between their runs."""
    own = frozenset(index.name for index in leaf.indices)
    others = frozenset(index.name for each in leaves for index in each.indices) - own
    return others & (_read_names(leaf) | places(leaf))


def spread_names(lowering: Lowering, group: Sequence[Leaf]) -> frozenset[str]:
    """Loop indices that decide which processor runs an iteration of the group."""
    found: frozenset[str] = frozenset()
    for leaf in group:
        target = leaf.assign.target
        if isinstance(target, Element) and lowering.is_distributed(target.name):
            for axis in lowering.arrays[target.name].axes:
                if axis.role == "dim":
                    found |= names_in(target.subscripts[axis.dim])
    return found
