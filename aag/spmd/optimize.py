"""Moving and dropping communication: hoisting out of loops, and redundant messages (Def 9), each switchable."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Literal

from msgspec.structs import replace

from aag.ir.evaluate import Environment, Unknown, evaluate_int
from aag.ir.expressions import Expr, Unary
from aag.ir.visitors import elements_in, names_in
from aag.mapping.layout import Layouts
from aag.spmd.dependence import Access, Dependence
from aag.spmd.effects import Effects, effects
from aag.spmd.guards import both, is_plain, is_safe, narrowed
from aag.spmd.likeness import copy_shape
from aag.spmd.names import comm_names, held_names, need_names, reference_names, scalars
from aag.spmd.needs import classify, grouped
from aag.spmd.nodes import (
    Communicate,
    Concatenate,
    DoNode,
    Exchange,
    Gather,
    Held,
    IfNode,
    Index,
    Leave,
    Multicast,
    Need,
    Node,
    NodeBranch,
    Operation,
    Reference,
    WhileNode,
    mapped,
    walk,
)
from aag.spmd.omega import ONE, combined
from aag.spmd.overlaps import Moved, Touched, covers, disjoint
from aag.spmd.program import NodeProgram
from aag.spmd.space import Space
from aag.spmd.symbols import Symbols

_MOST_STALE = 4
"""Writes remembered against one held reference; with more it is forgotten (and sent again)."""


def optimize(program: NodeProgram) -> NodeProgram:
    """The program with its communication hoisted and its redundant messages dropped, as its options say.

    Redundant messages are looked for twice: what a message inside a loop makes redundant must go before that message
    leaves the loop, and what left two loops may be the same.
    """
    symbols = Symbols(program.unit, program.layouts.arrays)
    body = program.body
    if program.options.on("hoist"):
        if program.options.on("redundant"):
            body, _ = _Redundant(symbols, program.layouts).body(body, {})
        body = _Hoist(symbols, program.layouts).body(body)
    if program.options.on("redundant"):
        body, _ = _Redundant(symbols, program.layouts).body(body, {})
    return replace(program, body=body)


def runs(loop: DoNode, env: Environment, around: Sequence[Index] = (), varying: frozenset[str] = frozenset()) -> bool:
    """Whether a loop certainly has at least one iteration (Def 9), in each iteration of the loops around it.

    `varying` are the scalars that these loops change.
    """
    step = _step(loop, env)
    if step == 0:
        return False
    space = Space(env, varying)
    places = space.indices(around, {})
    first, last = space.row(loop.lower, places), space.row(loop.upper, places)
    if first is None or last is None:
        return False
    beyond = combined(combined(first, 1, last, -1), 1 if step > 0 else -1, {ONE: -1})
    return not any(case.with_(inequalities=[beyond]).is_possible() for case in space.cases)


def _is_plain(loop: DoNode, env: Environment, around: Sequence[Index]) -> bool:
    """Whether scalars and indices alone decide the iterations of a loop, and its step is known not to be 0."""
    space = Space(env, frozenset())
    places = space.indices(around, {})
    bounds = (loop.lower, loop.upper)
    return _step(loop, env) != 0 and all(
        not elements_in(each) and space.row(each, places) is not None for each in bounds
    )


def _step(loop: DoNode, env: Environment) -> int:
    """The step of a loop; 0 where it is not known."""
    try:
        return evaluate_int(loop.step, env) if loop.step else 1
    except Unknown:
        return 0


# --- hoisting ---------------------------------------------------------------------------------------------------


class _Hoist:
    """Moves communication before the outermost loop that does not change what it moves (message vectorisation)."""

    def __init__(self, symbols: Symbols, layouts: Layouts) -> None:
        self.symbols = symbols
        self.layouts = layouts
        self.env: Environment = layouts.environment
        self.around: tuple[Index, ...] = ()
        """The loops around what is looked at."""
        self.varying: frozenset[str] = frozenset()
        """The scalars that they change."""

    def body(self, nodes: Sequence[Node]) -> tuple[Node, ...]:
        result: list[Node] = []
        for node in nodes:
            match node:
                case DoNode():
                    before, inside = self._loop(node, self._inside(node))
                    result += [*before, replace(node, body=inside)]
                case WhileNode(condition=None, body=body):
                    before, inside = self._first(self.body(body))
                    result += [*before, replace(node, body=inside)]
                case _:
                    result.append(mapped(node, self.body))
        return tuple(result)

    def _first(self, body: Sequence[Node]) -> tuple[list[Node], tuple[Node, ...]]:
        """What the first iteration of a loop that only EXIT ends surely brings, and no iteration changes; and the rest
        of its body."""
        changed = effects(body)
        written = {array for array, _ in changed.arrays}
        before: list[Node] = []
        inside: list[Node] = []
        certain = not changed.everything
        for node in body:
            match node:
                case Communicate(operation=Exchange() | Multicast() | Concatenate() as moved) if (
                    certain
                    and not moved.held
                    and moved.array not in written
                    and not any(need_names(self.symbols, each) & changed.scalars for each in moved.needs)
                ):
                    before.append(node)
                case _:
                    inside.append(node)
                    certain = certain and not any(isinstance(each, Leave) for each in walk((node,)))
        return before, tuple(inside)

    def _inside(self, loop: DoNode) -> tuple[Node, ...]:
        around, varying = self.around, self.varying
        self.varying = varying if around else effects(loop.body).scalars
        self.around = (*around, loop.index)
        try:
            return self.body(loop.body)
        finally:
            self.around, self.varying = around, varying

    def _loop(self, loop: DoNode, body: tuple[Node, ...]) -> tuple[list[Node], tuple[Node, ...]]:
        if not _is_plain(loop, self.env, self.around):
            return [], body
        return self._leaving(body, loop, effects(body), None)

    def _leaving(
        self, body: Sequence[Node], loop: DoNode, changed: Effects, guard: Expr | None
    ) -> tuple[list[Node], tuple[Node, ...]]:
        """The communication that leaves a loop, and the rest of a body in it, which runs under a guard."""
        before: list[Node] = []
        inside: list[Node] = []
        for node in body:
            match node:
                case IfNode():
                    moved, rest = self._branches(node, loop, changed, guard)
                    before += moved
                    inside.append(rest)
                case Communicate():
                    whole = self._moved(node, loop, changed, guard)
                    before += [each for each in whole if each not in before]
                    inside += () if whole else (node,)
                case _:
                    inside.append(node)
        return before, tuple(inside)

    def _branches(self, node: IfNode, loop: DoNode, changed: Effects, guard: Expr | None) -> tuple[list[Node], IfNode]:
        """The same for the branches of an IF, up to the first that more than indices decide."""
        before: list[Node] = []
        branches: list[NodeBranch] = []
        for branch in node.branches:
            own = both(guard, branch.condition)
            if own is None or not is_plain(own, self.symbols) or (names_in(own) - {loop.var}) & changed.scalars:
                break
            moved, inside = self._leaving(branch.body, loop, changed, own)
            before += moved
            branches.append(replace(branch, body=inside))
            if branch.condition is not None:
                guard = both(guard, Unary(".not.", branch.condition))
        return before, replace(node, branches=(*branches, *node.branches[len(branches) :]))

    def _moved(self, node: Communicate, loop: DoNode, changed: Effects, guard: Expr | None) -> Sequence[Node]:
        """The communication as it stands before the loop, all iterations at once; none where it must stay.

        What a loop without an iteration needs is nothing: its index is part of the references, unless it surely runs.
        What is held here may be what another message of the loop brings, so that before the loop nothing is. Where a
        part must stay, all stays: the other part would save no message, and make the first owner wait for the last.
        """
        operation = node.operation
        if isinstance(operation, Gather):
            return ()
        some = narrowed(loop.index, guard, self.env)
        certain = some.index == loop.index and some.exact and runs(loop, self.env, self.around, self.varying)
        needs = []
        for need in operation.needs:
            wide = self._widened(need, loop.index, some.index, changed, certain)
            if wide is None or not (some.exact or is_safe(wide, self.env)):
                return ()
            if classify(wide, self.layouts, self.env) is None:
                return ()
            needs.append(wide)
        found = grouped(needs, self.layouts, self.env, coalesce=True)
        result = tuple([replace(node, operation=each, uses=comm_names(self.symbols, each)) for each in found])
        if some.rest is None:
            return result
        branch = NodeBranch(condition=some.rest, body=result, span=node.span)
        return [IfNode(span=node.span, branches=(branch,), uses=scalars(self.symbols, some.rest))]

    def _widened(self, need: Need, index: Index, some: Index, changed: Effects, certain: bool) -> Need | None:
        """What is needed in `some` iterations of a loop together; None where the loop decides or changes what it is."""
        names = need_names(self.symbols, need)
        reference = replace(need.reference, indices=(some, *need.reference.indices))
        if (names - {index.name}) & changed.scalars or self._changes(changed, reference, index):
            return None
        if certain and index.name not in names:
            return need
        return Need(reference=reference, home=need.home and replace(need.home, indices=reference.indices))

    def _changes(self, changed: Effects, read: Reference, index: Index) -> bool:
        """Whether the loop may write an element before it reads it: then a message before the loop comes too early."""
        if changed.everything:
            return True
        used = Access(read.array, read.subscripts, read.indices, (index,), order=1)
        for array, write in changed.arrays:
            if array != read.array:
                continue
            if write is None:
                return True
            stored = Access(array, write.subscripts, (index, *write.indices), (index,))
            if Dependence(stored, used, self.env, changed.scalars - {index.name}).exists():
                return True
        return False


# --- redundancy -------------------------------------------------------------------------------------------------

Facts = Mapping[str, tuple[Held, ...]]
"""What is valid in overlap areas at a point of the program, on all paths: by array."""

Verdict = Literal["all", "some", "none"]


class _Redundant:
    """Forward data flow over the node tree: what earlier communication brought and no write has changed since."""

    def __init__(self, symbols: Symbols, layouts: Layouts) -> None:
        self.symbols = symbols
        self.layouts = layouts
        self.env: Environment = layouts.environment
        self.running: frozenset[str] = frozenset()
        self.touched: dict[Reference, Touched] = {}
        self.moved: dict[Need, Moved] = {}
        self.shapes: dict[Need, Hashable] = {}
        self.compared: frozenset[Need] | None = frozenset()
        """What is valid on entry to the loops around, and is compared with what is at their ends; None: in a branch, as
        other branches may bring anything."""
        self.verdicts: dict[tuple[int, int], Verdict] = {}

    def body(self, nodes: Sequence[Node], facts: Facts) -> tuple[tuple[Node, ...], Facts]:
        result: list[Node] = []
        for node in nodes:
            match node:
                case Communicate(operation=operation):
                    kept, facts = self._communicate(node, operation, facts)
                    result += [kept] if kept is not None else []
                case DoNode(body=body) | WhileNode(body=body):
                    inside, facts = self._loop(node, body, facts)
                    result.append(replace(node, body=inside))
                case IfNode(branches=branches):
                    new, facts = self._branches(branches, facts)
                    result.append(replace(node, branches=new))
                case _:
                    result.append(node)
                    facts = self._after(effects((node,)), facts) if facts else facts
        return tuple(result), facts

    def _loop(self, node: DoNode | WhileNode, body: tuple[Node, ...], facts: Facts) -> tuple[tuple[Node, ...], Facts]:
        """Facts at the top of the body hold on entry and after each iteration: iterate down to a fixed point.

        A loop that certainly runs leaves behind what its last iteration did.
        """
        own = frozenset((node.var,)) if isinstance(node, DoNode) else frozenset()
        entry = self._after(Effects((), own), facts)
        jumps = any(isinstance(node, Leave) for node in walk(body))
        if jumps:  # then only what nothing in the body changes is certain, wherever the loop is left
            entry = self._after(effects(body), entry)
        certain = not jumps and isinstance(node, DoNode) and runs(node, self.env)
        outer, self.running = self.running, self.running | own
        compared = self.compared
        try:
            while True:
                if compared is not None:
                    self.compared = compared.union(held.need for several in entry.values() for held in several)
                inside, end = self.body(body, entry)
                after = self._after(Effects((), own), _widened(end, node))
                again = _common(entry, after)
                if again == entry:
                    return inside, after if certain else entry
                entry = again
        finally:
            self.running, self.compared = outer, compared

    def _branches(self, branches: tuple[NodeBranch, ...], facts: Facts) -> tuple[tuple[NodeBranch, ...], Facts]:
        new, ends = [], []
        compared, self.compared = self.compared, None
        for branch in branches:
            body, end = self.body(branch.body, facts)
            new.append(replace(branch, body=body))
            ends.append(end)
        self.compared = compared
        if all(branch.condition is not None for branch in branches):
            ends.append(facts)
        after = ends[0]
        for end in ends[1:]:
            after = _common(after, end)
        return tuple(new), after

    def _communicate(self, node: Communicate, operation: Operation, facts: Facts) -> tuple[Communicate | None, Facts]:
        if isinstance(operation, Gather):
            return node, facts
        held = facts.get(operation.array, ())
        fresh = {self._shape(each.need) for each in held if not each.stale}
        needs = tuple(need for need in operation.needs if self._shape(need) not in fresh)
        if not needs:
            return None, facts
        again = frozenset(operation.needs)
        brought = [Held(need=need) for need in operation.needs]
        left = [each for each in held if each.need not in again and not self._replaced(each, operation)]
        later = {**facts, operation.array: (*left, *brought)}
        if not isinstance(operation, Exchange):
            return replace(node, operation=replace(operation, needs=needs)), later
        reduced = replace(operation, needs=needs, held=held)
        return replace(node, operation=reduced, uses=comm_names(self.symbols, reduced)), later

    def _replaced(self, held: Held, operation: Operation) -> bool:
        """Whether an operation brings all of what is partly stale by now: a long program brings the same many times."""
        if not held.stale or self.compared is None or held.need in self.compared:
            return False
        return any(self._shape(each) == self._shape(held.need) for each in operation.needs)

    def _shape(self, need: Need) -> Hashable:
        found = self.shapes.get(need)
        if found is None:
            found = self.shapes[need] = copy_shape(need, self.layouts)
        return found

    def _after(self, changed: Effects, facts: Facts) -> Facts:
        """What is still valid after some effects; a write to part of an array makes a held reference partly stale."""
        if changed.everything:
            return {}
        after = dict(facts)
        if changed.scalars:
            for array, own in facts.items():
                if any(self._decided(held, changed.scalars) for held in own):
                    after[array] = tuple([held for held in own if not self._decided(held, changed.scalars)])
        writes: dict[str, dict[Reference | None, None]] = {}
        for array, each in changed.arrays:
            if after.get(array):
                writes.setdefault(array, {})[each] = None
        for array, several in writes.items():
            touched = [None if each is None else self._touched(each) for each in several]
            after[array] = tuple([left for held in after[array] for left in self._written(held, touched)])
        return after

    def _decided(self, held: Held, by: frozenset[str]) -> bool:
        """Whether one of some scalars decides what a held reference is."""
        return not held.reads.isdisjoint(by) and not held_names(self.symbols, held).isdisjoint(by)

    def _written(self, held: Held, writes: Sequence[Touched | None]) -> tuple[Held, ...]:
        """What is left of a held reference after writes to its array: itself, partly stale, or nothing."""
        more: list[Reference] = []
        copies = self._copies(held.need)
        for write in writes:
            verdict = "all" if write is None else self._verdict(write, copies)
            if write is None or verdict == "all":
                return ()
            if verdict == "some" and write.reference not in held.stale:
                more.append(write.reference)
        if not more:
            return (held,)
        if len(held.stale) + len(more) > _MOST_STALE or not all(self._fixed(each) for each in more):
            return ()
        return (replace(held, stale=(*held.stale, *more)),)

    def _verdict(self, write: Touched, copies: Moved) -> Verdict:
        """How much of what was copied a write touches."""
        key = (id(write), id(copies))  # both are kept
        found = self.verdicts.get(key)
        if found is None:
            found = "all" if covers(write, copies) else "none" if disjoint(write, copies) else "some"
            self.verdicts[key] = found
        return found

    def _touched(self, reference: Reference) -> Touched:
        found = self.touched.get(reference)
        if found is None:
            found = self.touched[reference] = Touched(reference, self.env)
        return found

    def _copies(self, need: Need) -> Moved:
        found = self.moved.get(need)
        if found is None:
            found = self.moved[need] = Moved(need, self.layouts)
        return found

    def _fixed(self, write: Reference) -> bool:
        """Whether the elements of a write are known without running more than the loops around."""
        return all(name in self.env or name in self.running for name in reference_names(self.symbols, write))


def _widened(facts: Facts, loop: DoNode | WhileNode) -> Facts:
    """Facts at the end of a loop body with the writes of this iteration as those of any iteration."""
    if not isinstance(loop, DoNode):
        return facts
    index = loop.index
    if index.reads & effects(loop.body).scalars:
        return facts

    def widened(write: Reference) -> Reference:
        return replace(write, indices=(index, *write.indices)) if loop.var in write.reads else write

    def everywhere(held: Held) -> Held:
        return replace(held, stale=tuple(dict.fromkeys(map(widened, held.stale)))) if held.stale else held

    return {array: tuple(map(everywhere, own)) for array, own in facts.items()}


def _common(one: Facts, other: Facts) -> Facts:
    """What holds in both: with the writes of either side."""
    return {
        array: own if own is other[array] else _merged(own, other[array])
        for array, own in one.items()
        if other.get(array)
    }


def _merged(one: tuple[Held, ...], other: tuple[Held, ...]) -> tuple[Held, ...]:
    theirs = {held.need: held.stale for held in other}
    return tuple(
        [
            Held(need=held.need, stale=tuple(dict.fromkeys((*held.stale, *theirs[held.need]))))
            for held in one
            if held.need in theirs
        ]
    )
