"""DO loops: parallel nests where no iteration reads what another wrote; owned and plain loops elsewhere (Def 16)."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import partial
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from aag.ir import statements as ir
from aag.ir.evaluate import Environment
from aag.ir.expressions import Call, Element, Expr, Var
from aag.ir.trips import runs
from aag.ir.visitors import bodies, elements_in, map_expression, names_in, walk_expressions, walk_statements
from aag.spmd import claims
from aag.spmd.covering import covers
from aag.spmd.expansion import expanded, with_arrays_for_scalars
from aag.spmd.groups import Groups, Obstacle, changed, home_of, parallel_groups, places, same_owner, spread_names
from aag.spmd.leaves import Leaf, leaves_of, reduced_names, reduction, scattered, summed, update_of
from aag.spmd.lowering import Lowering
from aag.spmd.names import nest_names
from aag.spmd.needs import Use, uses_of
from aag.spmd.nests import as_value, has_inner_loop, inner_loops, places_of
from aag.spmd.nodes import Nest, Node, Reference, assigns_of, walk
from aag.spmd.partials import Partial, combine
from aag.spmd.reductions import reduce_into
from aag.spmd.symbols import Unsupported
from aag.spmd.turns import in_turn

MORE = "the loop contains more than assignments"
NOTHING_SHARED = "the loop writes no distributed data"


class NestOutcome(Struct, frozen=True):
    """How a nest was lowered, empty where it was not, and why not in parallel."""

    runs: Literal["", "parallel", "in turn"]
    why: str = ""
    ordered: bool = False
    """Whether iterations that several owners could run have to keep their order."""


def lower_nest(lowering: Lowering, statement: ir.Do) -> NestOutcome:
    """Lower a DO loop, with or without INDEPENDENT, as a nest, if it is one."""
    outcome = NestOutcome("")

    def attempt() -> None:
        nonlocal outcome
        with lowering.collecting() as nodes:
            outcome = _lower_nest(lowering, statement)
        for each in nodes if outcome.runs else ():
            lowering.emit(each)

    why = lowering.attempt(attempt)
    return NestOutcome("", why) if why else outcome


def _lower_nest(lowering: Lowering, statement: ir.Do) -> NestOutcome:
    """Lower a nest of loops over distributed data as a whole, unless its owners cannot take turns.

    Raises:
        Unsupported: it is no such nest.
    """
    leaves = leaves_of(lowering, statement)
    if leaves is None:
        raise Unsupported(MORE)
    leaves = [_into_part(leaf, lowering.partials) for leaf in leaves]
    if _reads_of(lowering.pending) & {name for leaf in leaves for name in names_in(leaf.assign.target)}:
        raise Unsupported("a reduction inside the loop reads what the loop changes")
    if _has_aliases(lowering, leaves):
        raise Unsupported("the loop uses several names for the same storage")
    home = _home_clause(lowering, statement, leaves)
    promised = frozenset(_promised(statement))
    named = {name for loop in _claimed(statement) if loop.independent for name in loop.independent.reductions}
    found = lowering.options.on("reductions")
    arrays = scattered(leaves) if found else frozenset()
    more = summed(lowering, leaves) - named - arrays if found else frozenset()
    names = reduced_names(lowering, leaves, named, arrays | more) if promised or found else frozenset()
    if names & more and isinstance(parallel_groups(lowering, leaves, names), Obstacle):
        names = reduced_names(lowering, leaves, named, arrays)
    promised -= claims.check(lowering, statement, leaves, names)
    operands = [each for leaf in leaves for each in elements_in(leaf.assign.value, leaf.mask)]
    reads = any(lowering.is_distributed(each.name) for each in operands)
    open_only = lowering.is_alone or reads or not _apart(leaves)  # one that has iterations to itself walks its loops
    chosen = reads and any(leaf.mask is not None for leaf in leaves)  # messages inside an IF would not move outwards
    if home_of(lowering, leaves) is None and not (reads and names) and not chosen and open_only:
        raise Unsupported(NOTHING_SHARED)
    groups = _groups(lowering, statement, leaves, names, promised)
    if not isinstance(groups, Obstacle):
        new = _private(statement, leaves) & changed(leaves)
        claims.outlived(lowering, statement, lowering.live.wanted_after(statement, new) if new else new)
        why = lowering.attempt(partial(_lower_parallel, lowering, groups, home, names))
        if why and not _with_arrays_for_scalars(lowering, statement, leaves, home, names):
            raise Unsupported(why)
        return NestOutcome("parallel", "" if reads or home_of(lowering, leaves) else NOTHING_SHARED)
    if _with_arrays_for_scalars(lowering, statement, leaves, home, names):
        return NestOutcome("parallel")
    if home_of(lowering, leaves) is None and not reads:
        raise Unsupported(NOTHING_SHARED)
    if promised:
        raise Unsupported(groups.why)
    wanted = bool(_live(lowering, statement, leaves, frozenset(lowering.partials.values())))
    if in_turn(lowering, statement, leaves, wanted=wanted):
        return NestOutcome("in turn", groups.why)
    stored = [leaf for leaf in leaves if home_of(lowering, [leaf])]
    one = all(leaf.loops == (statement,) for leaf in stored)
    return NestOutcome("", groups.why, ordered=one and leaves[0].indices[0].name in spread_names(lowering, leaves))


def _groups(
    lowering: Lowering, statement: ir.Do, leaves: Sequence[Leaf], names: frozenset[str], promised: frozenset[Hashable]
) -> Groups | Obstacle:
    """The groups of a nest that may run in parallel, as the dependence test or INDEPENDENT says."""
    live = _live(lowering, statement, leaves, names)
    if live:
        return Obstacle(f"the value of {min(live)} is used after the loop")
    groups = parallel_groups(lowering, leaves, names)
    if isinstance(groups, Obstacle) and promised:
        found = parallel_groups(lowering, leaves, names, promised, _new(statement))
        if isinstance(found, Obstacle):
            return _with_wider_arrays(lowering, statement, leaves, names) or groups
        claims.trusted(lowering, statement)
        return found
    return groups


def _with_arrays_for_scalars(
    lowering: Lowering, statement: ir.Do, leaves: Sequence[Leaf], home: Reference | None, names: frozenset[str]
) -> bool:
    """Lower a nest with an array for each private scalar, if that makes it parallel."""
    if _live(lowering, statement, leaves, names):
        return False
    wide, added = with_arrays_for_scalars(lowering, leaves, names)
    groups = parallel_groups(lowering, wide, names) if added else Obstacle("no scalar can be an array")
    failed = isinstance(groups, Obstacle) or lowering.attempt(partial(_lower_parallel, lowering, groups, home, names))
    for each in added if failed else ():
        del lowering.arrays[each]
    return not failed


def _with_wider_arrays(
    lowering: Lowering, statement: ir.Do, leaves: Sequence[Leaf], names: frozenset[str]
) -> Groups | None:
    """The groups of a nest with an element of NEW arrays for each iteration, if that makes it parallel."""
    wide, added = expanded(lowering, list(_claimed(statement)), leaves)
    groups = parallel_groups(lowering, wide, names) if added else None
    if groups is None or isinstance(groups, Obstacle):
        for each in added:
            del lowering.arrays[each]
        return None
    claims.filled(lowering, [each.partition("$")[0] for each in added])
    return groups


def _live(lowering: Lowering, statement: ir.Do, leaves: Sequence[Leaf], names: frozenset[str]) -> frozenset[str]:
    """The scalars that the nest writes and that the program may still read after it, on all processors.

    Of a scalar that is NEW the program says itself that nobody reads it. The variable of a loop counts where it has
    no certain value afterwards: a condition stands before the loop, or there is nothing in it.
    """
    written = {leaf.assign.target.name for leaf in leaves if isinstance(leaf.assign.target, Var)}
    written |= set(_unsure(statement, frozenset(loop for leaf in leaves for loop in leaf.loops), lowering.env))
    own = frozenset(written - names - _private(statement, leaves))
    wanted = own.union(*(lowering.sharing.get(name, ()) for name in own))
    return lowering.live.wanted_after(statement, wanted) if wanted else wanted


def _private(statement: ir.Do, leaves: Sequence[Leaf]) -> frozenset[str]:
    """The NEW variables that a nest writes only in the loop for which they are."""
    return frozenset(
        name
        for loop in _claimed(statement)
        if loop.independent
        for name in loop.independent.new
        if all(loop in leaf.loops for leaf in leaves if leaf.assign.target == Var(name))
    )


def _has_aliases(lowering: Lowering, leaves: Sequence[Leaf]) -> bool:
    """Whether a nest uses two names of one storage (EQUIVALENCE)."""
    used: frozenset[str] = frozenset()
    for leaf in leaves if lowering.sharing else ():
        used |= names_in(leaf.assign.target, leaf.assign.value, leaf.mask) | places(leaf)
    return any(len(used & lowering.sharing.get(name, frozenset())) > 1 for name in used)


def _unsure(
    statement: ir.Stmt, known: frozenset[Hashable], env: Environment, *, sure: bool = True, inner: bool = False
) -> Iterator[str]:
    """Variables of DO loops of which a nest does not tell when they run last: the last iteration around may not reach
    them."""
    if isinstance(statement, ir.Do):
        if not sure or statement not in known:
            yield statement.var
        sure = sure and (not inner or runs(statement, env))
    else:
        sure = False
    for body in bodies(statement):
        reached = sure
        for each in body:
            yield from _unsure(each, known, env, sure=reached, inner=True)
            reached = reached and not any(isinstance(one, ir.Cycle | ir.Exit) for one in walk_statements((each,)))


def _reads_of(nodes: Sequence[Node]) -> frozenset[str]:
    """What nests that were computed before a loop read: reductions that do not depend on its index."""
    nests = [node for node in walk(nodes) if isinstance(node, Nest)]
    bounds = frozenset().union(*(index.reads for nest in nests for index in nest.indices))
    return bounds | names_in(
        *(part for nest in nests for part in (nest.mask, *(each.value for each in assigns_of(nest))))
    )


def _claimed(statement: ir.Do) -> Iterator[ir.Do]:
    """The loops of a nest that stand right after INDEPENDENT."""
    if statement.independent is not None:
        yield statement
    for each in statement.body:
        if isinstance(each, ir.Do):
            yield from _claimed(each)


def _new(statement: ir.Do) -> frozenset[str]:
    """The variables that are NEW in the iterations of a nest."""
    return frozenset(name for loop in _claimed(statement) if loop.independent for name in loop.independent.new)


def _promised(statement: ir.Do, listed: frozenset[str] = frozenset()) -> Iterator[Hashable]:
    """The loops that INDEPENDENT covers: those whose indices it lists, else its own; inner loops may have their own."""
    if statement.independent is not None:
        listed |= frozenset(statement.independent.indices) or {statement.var}
    if statement.var in listed:
        yield statement
    for each in statement.body:
        if isinstance(each, ir.Do):
            yield from _promised(each, listed)


def _apart(leaves: Sequence[Leaf]) -> bool:
    """Whether a loop writes array elements alone, and reads no others of these arrays, so that its loads may move
    outwards. Loops of scalars, which may decide the flow, are carried out."""
    targets = {leaf.assign.target for leaf in leaves}
    written = {each.name for each in targets if isinstance(each, Element)}
    parts = [part for leaf in leaves for part in (leaf.assign.value, leaf.mask) if part]
    used = [each for part in parts for each in walk_expressions(part)]
    others = {each.name for each in used if isinstance(each, Element | Var) and each not in targets}
    deciding = frozenset[str]().union(*map(places, leaves))
    return all(isinstance(each, Element) for each in targets) and not written & (others | deciding)


def _home_clause(lowering: Lowering, statement: ir.Do, leaves: Sequence[Leaf]) -> Reference | None:
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


# --- parallel ---------------------------------------------------------------------------------------------------


def _lower_parallel(
    lowering: Lowering, groups: Sequence[Sequence[Leaf]], home: Reference | None, names: frozenset[str]
) -> None:
    """Each group becomes one nest, with its communication before it."""
    partials = [_partials(lowering, group, names) for group in groups]
    for leaves, parts in partials:
        lowering.span = leaves[0].assign.span
        into = leaves[0].assign.target
        update = reduction(leaves[0], names) if len(leaves) == 1 else None
        scattered = isinstance(into, Element) and bool(elements_in(*into.subscripts))
        if update is not None and isinstance(into, Element) and not (scattered and lowering.is_distributed(into.name)):
            reduce_into(lowering, leaves[0].indices, leaves[0].mask, into, update)
            continue
        # Where index arrays say which elements are updated, their owners update them one after the other.
        across = frozenset(lowering.partials.values())
        own = across.union(part.name for part in parts)
        nest, uses = _nest(lowering, leaves, home, frozenset() if scattered else names - across, own)
        lowering.bring(nest, uses)
        for part in parts:
            part.begin(lowering, nest.home)
        lowering.emit(nest)
        if nest.reduce:
            combine(lowering, nest.home, nest.reduce, nest.assigns[0].target, named=False)
        for part in parts:
            part.end(lowering, nest.home)


def _partials(lowering: Lowering, group: Sequence[Leaf], names: frozenset[str]) -> tuple[list[Leaf], list[Partial]]:
    """A group with its reductions into variables of their own, unless it is one reduction and nothing else, or a loop
    around has done so."""
    names = names.difference(lowering.partials.values())
    simple = len(group) == 1 and not has_inner_loop(group[0].assign.value)
    if simple or not any(reduction(leaf, names) for leaf in group):
        return list(group), []
    parts: dict[str, Partial] = {}
    leaves: list[Leaf] = []
    for leaf in group:
        found, target = reduction(leaf, names), leaf.assign.target
        if found is None:
            leaves.append(leaf)
            continue
        assert isinstance(target, Var | Element)
        if target.name not in parts:
            parts[target.name] = Partial.of(lowering, target, found[0])
        name = parts[target.name].name
        own = Var(name) if isinstance(target, Var) else Element(name, target.subscripts, span=target.span)
        value = _renamed(leaf.assign.value, target, own)
        leaves.append(replace(leaf, assign=replace(leaf.assign, target=own, value=value)))
    return leaves, list(parts.values())


def _into_part(leaf: Leaf, partials: Mapping[str, str]) -> Leaf:
    """An assignment that reduces into the part of a processor, where a loop around it has one (`aag.spmd.across`)."""
    target = leaf.assign.target
    if not isinstance(target, Var) or target.name not in partials:
        return leaf
    own = Var(partials[target.name])
    return replace(leaf, assign=replace(leaf.assign, target=own, value=_renamed(leaf.assign.value, target, own)))


def _renamed(expr: Expr, old: Expr, new: Expr) -> Expr:
    return map_expression(expr, lambda each: new if each == old else each)


def _nest(
    lowering: Lowering, group: Sequence[Leaf], wanted: Reference | None, names: frozenset[str], parts: frozenset[str]
) -> tuple[Nest, list[Use]]:
    """One nest for a group of assignments whose loops form one chain; `parts` hold partial results."""
    combined = reduction(group[0], names) if len(group) == 1 else None
    home = _home(lowering, group, wanted, parts, reduces=bool(parts) or combined is not None)
    combined = None if home is None else combined  # every processor has all of it
    _refuse_repeated(lowering, group, home, parts)
    mask = _mask(group)
    if combined is not None and group[0].mask != mask:
        raise Unsupported("a reduction over a loop inside the condition of another one")
    deepest = max(group, key=lambda leaf: len(leaf.loops))
    chain = deepest.loops
    if any(chain[: len(leaf.loops)] != leaf.loops for leaf in group):
        raise Unsupported("loops side by side that share private scalars")
    before: list[list[ir.Assign]] = [[] for _ in chain]
    after: list[list[ir.Assign]] = [[] for _ in chain]
    own = [
        leaf.assign.target
        for leaf in group
        if isinstance(leaf.assign.target, Element) and leaf.assign.target.name in parts
    ]
    indices, uses = deepest.indices, []
    reached = False
    for leaf in group:
        value = as_value(leaf.assign.value, leaf.assign.target) if combined is None else combined[1]
        if leaf.mask is not None and mask is None:  # conditions differ: each chooses between the new and the old value
            value = Call("merge", (value, leaf.assign.target, leaf.mask))
        place = (after if reached else before)[len(leaf.loops) - 1]
        reached |= leaf.loops == chain
        if combined is not None or not has_inner_loop(value):
            place.append(replace(leaf.assign, value=value))
            for each in (value,) if leaf.assign.target not in own else _read(leaf):
                uses += uses_of(each, leaf.indices, lowering.symbols)
            continue
        if len(group) > 1:
            raise Unsupported("a reduction over a loop inside an element, among other assignments")
        indices, innermost, outer = inner_loops(lowering, leaf.assign.target, value, leaf.indices)
        before = [[*level[:1]] for level in outer] + [[*innermost]]
        after = [[*level[1:]] for level in outer] + [[]]
        for depth, level in enumerate((*outer, innermost), start=1):
            uses += [use for each in level for use in uses_of(each.value, indices[:depth], lowering.symbols)]
    uses += uses_of(mask, indices, lowering.symbols)
    nest = Nest(
        span=group[0].assign.span,
        indices=indices,
        home=home,
        assigns=(*before[-1], *after[-1]),
        outer=tuple((*first, *last) for first, last in zip(before[:-1], after[:-1], strict=True)),
        leading=tuple(map(len, before[:-1])),
        mask=mask,
        guarded=mask is None and len(group) > 1 and any(leaf.mask is not None for leaf in group),
        reduce=combined[0] if combined else "",
        continues=combined is not None,
        defines=frozenset(leaf.assign.target.name for leaf in group if isinstance(leaf.assign.target, Var)),
    )
    return replace(nest, uses=nest_names(lowering.symbols, nest)), [_at_home(use, home) for use in uses]


def _refuse_repeated(lowering: Lowering, group: Sequence[Leaf], home: Reference | None, parts: frozenset[str]) -> None:
    """A reduction in an outer loop, all of whose iterations several processors run for the loops inside, would add each
    value several times.

    Raises:
        Unsupported: there is one.
    """
    if home is None:
        return
    layout = lowering.arrays[home.array]
    for leaf in group:
        target = leaf.assign.target
        if not isinstance(target, Var | Element) or target.name not in parts:
            continue
        own = {index.name for index in leaf.indices}
        deciding = (
            names_in(home.subscripts[axis.dim]) & {index.name for index in home.indices}
            for axis, extent in zip(layout.axes, layout.grid.shape, strict=True)
            if axis.role == "dim" and extent > 1
        )
        if not all(names <= own for names in deciding):
            raise Unsupported("a reduction outside the loop that is divided among the processors")


def _read(leaf: Leaf) -> tuple[Expr, ...]:
    """What a step of a reduction into an array reads besides its own part of the array."""
    target, update = leaf.assign.target, update_of(leaf)
    assert isinstance(target, Element)
    assert update is not None
    return (update[1], *target.subscripts, *([] if leaf.mask is None else [leaf.mask]))


def _at_home(use: Use, home: Reference | None) -> Use:
    """A reference outside the innermost loop is read wherever some iteration inside runs."""
    if home is None or len(use.indices) >= len(home.indices) or home.indices[: len(use.indices)] != use.indices:
        return use
    return Use(use.element, home.indices)


def _mask(group: Sequence[Leaf]) -> Expr | None:
    """The condition that all assignments of a group share, unless one of them changes it for the next; where there is
    none each assignment keeps its own (`aag.spmd.branches`)."""
    masks = {leaf.mask for leaf in group}
    if len(masks) > 1 or changed(group[:-1]) & names_in(group[0].mask):
        return None
    (mask,) = masks
    return None if mask is None or has_inner_loop(mask) else mask


def _home(
    lowering: Lowering, group: Sequence[Leaf], wanted: Reference | None, parts: frozenset[str], *, reduces: bool
) -> Reference | None:
    """Where the group runs: as ON HOME says, else the owner of its first distributed target; what only reduces runs
    where its operand lives."""
    places = [(leaf, leaf.assign.target) for leaf in group]
    if reduces and home_of(lowering, group) is None:
        places = [
            (leaf, each) for leaf in group for each in places_of(lowering, leaf.assign, leaf.mask, update_of(leaf))
        ]
    # A scalar of the iteration counts by what reads it.
    targets = [(leaf, leaf.assign.target) for leaf in group]
    kept = [leaf for leaf, each in targets if not isinstance(each, Var) or each.name in parts]
    chosen, missing = wanted, False
    for leaf, each in places:
        if chosen is None and isinstance(each, Element) and lowering.is_distributed(each.name):
            if covers(lowering, leaf, each, kept):
                chosen = Reference(array=each.name, subscripts=each.subscripts, indices=leaf.indices)
            missing = True
    if chosen is None and missing:
        raise Unsupported("no element of distributed data exists in all iterations")
    if chosen is None:
        return None
    owner = Element(chosen.array, chosen.subscripts)
    for leaf in group:
        target = leaf.assign.target
        if (
            isinstance(target, Element)
            and target.name not in parts
            and not same_owner(lowering, chosen.indices, owner, target)
        ):
            raise Unsupported("assignments to arrays that are mapped differently")
    return chosen
