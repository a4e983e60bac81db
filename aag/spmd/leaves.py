"""The assignments of a nest of DO loops, each with the loops around it and the conditions on the way."""

import dataclasses
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from aag.ir import statements as ir
from aag.ir.cases import as_branches
from aag.ir.cycles import without_cycle
from aag.ir.expressions import Binary, Call, Element, Expr, LogicalLit, Unary, Var
from aag.ir.intrinsics import INTRINSICS, REDUCTIONS
from aag.ir.result_types import LOGICAL
from aag.ir.visitors import children, elements_in, names_in, walk_statements
from aag.spmd.branches import HOLDS
from aag.spmd.dependence import Access
from aag.spmd.elementwise import MASKED
from aag.spmd.evaluable import have_ranges, is_evaluable
from aag.spmd.guards import both, entry_condition
from aag.spmd.lowering import Lowering
from aag.spmd.names import calls_any
from aag.spmd.needs import Use
from aag.spmd.nests import conflicts, is_inner
from aag.spmd.nodes import Index, Reference

_OPERATORS = {each.operator: each.op for each in REDUCTIONS.values() if each.operator not in ("", "+")}
_FUNCTIONS = {each.function: each.op for each in REDUCTIONS.values() if each.function and not each.located}
_GENERIC = {
    name: generic
    for generic in _FUNCTIONS
    for name, each in INTRINSICS.items()
    if each.value is INTRINSICS[generic].value
}
"""Name of a function, such as ``amax1`` -> the generic one."""


class Leaf(Struct, frozen=True):
    """One assignment of a loop nest: the loops around it (the tested one first) and the conditions on the way.

    `loops` are the statements that the `indices` belong to: two loops over the same range are two loops.
    """

    indices: tuple[Index, ...]
    loops: tuple[Hashable, ...]
    mask: Expr | None
    assign: ir.Assign


class Around(Struct, frozen=True):
    """Where a statement of a nest stands: the loops around it, the condition under which it is reached, and all names
    that the nest changes."""

    indices: tuple[Index, ...] = ()
    loops: tuple[Hashable, ...] = ()
    mask: Expr | None = None
    changes: frozenset[str] = frozenset()

    @property
    def bound(self) -> frozenset[str]:
        """Names on which a reduction may not depend that is computed once for the whole nest."""
        return self.changes.union(index.name for index in self.indices)

    def entry(self, lowering: Lowering) -> Expr | None:
        """What is known, before the nest, of whether it reaches the statement."""
        return entry_condition(self.indices, self.mask, self.bound, lowering.symbols, lowering.env)

    def inside(self, indices: Sequence[Index], loops: Sequence[Hashable], mask: Expr | None = None) -> "Around":
        """The same inside more loops, and under one more condition."""
        return Around((*self.indices, *indices), (*self.loops, *loops), both(self.mask, mask), self.changes)


def leaves_of(
    lowering: Lowering, statement: ir.Do, around: Around | None = None, *, arrays: bool = False
) -> list[Leaf] | None:
    """All assignments of a nest of DO loops in order, in element form; None where it holds anything else.

    `arrays`: whether array syntax and FORALL count as loops inside; they do in an INDEPENDENT loop, while in a
    sequential one each such statement is a parallel step of its own.

    Raises:
        Unsupported: a construct that is not modelled.
    """
    around = around or Around(changes=_assigned(statement.body))
    with lowering.only_if(around.entry(lowering)):
        index = lowering.index(statement.var, statement.lower, statement.upper, statement.step)
    if not have_ranges(lowering, (index,), around.indices, around.mask):
        return None
    within = arrays or statement.independent is not None
    inside = around.inside((index,), (statement,))
    return _body(lowering, without_cycle(statement, statement.body), inside, arrays=within)


def leaves_of_forall(lowering: Lowering, statement: ir.Forall) -> list[Leaf] | None:
    """All assignments of a FORALL as if it were loops; None where it holds anything else.

    Raises:
        Unsupported: a construct that is not modelled.
    """
    inside = _in_forall(lowering, statement, Around(changes=_assigned(statement.body)))
    return _body(lowering, statement.body, inside, arrays=True)


def _in_forall(lowering: Lowering, statement: ir.Forall, around: Around) -> Around:
    with lowering.only_if(around.entry(lowering)):
        indices = tuple(lowering.index(one.name, one.lower, one.upper, one.step) for one in statement.indices)
    return around.inside(indices, [(statement, at) for at in range(len(indices))], statement.mask)


def _assigned(body: Sequence[ir.Stmt]) -> frozenset[str]:
    """The names that assignments and loops in a body change."""
    statements = list(walk_statements(body))
    targets = {_name(each.target) for each in statements if isinstance(each, ir.Assign)}
    return frozenset(targets | {each.var for each in statements if isinstance(each, ir.Do)})


def _body(lowering: Lowering, body: Sequence[ir.Stmt], around: Around, *, arrays: bool) -> list[Leaf] | None:
    found: list[Leaf] = []
    for each in body:
        match each:
            case ir.Continue():
                continue
            case ir.Assign():
                inner = _assignment(lowering, each, around, arrays=arrays)
            case ir.Do():
                inner = leaves_of(lowering, each, around, arrays=arrays)
            case ir.Forall(body=nested) if arrays:
                within = _in_forall(lowering, each, around)
                added = within.indices[len(around.indices) :]
                hold = have_ranges(lowering, added, around.indices, around.mask)
                inner = _body(lowering, nested, within, arrays=True) if hold else None
                if inner is not None and _reads_itself(lowering, inner, len(around.indices)):
                    inner = None
            case ir.If(branches=branches):
                inner = _conditional(lowering, branches, around, arrays=arrays)
            case ir.SelectCase():
                inner = _conditional(lowering, as_branches(each), around, arrays=arrays)
            case _:
                return None
        if inner is None:
            return None
        found += inner
    return found


def _assignment(lowering: Lowering, statement: ir.Assign, around: Around, *, arrays: bool) -> list[Leaf] | None:
    target = statement.target
    if not isinstance(target, Var | Element):
        return None
    shape = lowering.symbols.shape(target)
    if (shape and not arrays) or any(calls_any(each, lowering.impure) for each in (target, statement.value)):
        return None
    inner, positions = lowering.elementwise.context(shape)
    if not have_ranges(lowering, inner, around.indices, around.mask):
        return None
    here = around.inside(inner, [(statement, at) for at in range(len(inner))])
    with lowering.only_if(around.entry(lowering)):
        place = lowering.elementwise.element(target, positions, here.bound)
        value = lowering.elementwise.element(statement.value, positions, here.bound)
    leaf = Leaf(here.indices, here.loops, here.mask, replace(statement, target=place, value=value))
    return None if inner and _reads_itself(lowering, [leaf], len(around.indices)) else [leaf]


def _reads_itself(lowering: Lowering, leaves: Sequence[Leaf], outside: int) -> bool:
    """Whether array syntax may read what it writes elsewhere: all right-hand sides come first, unlike in a loop.

    The first `outside` loops are DO loops around it: what one of their iterations writes another may read.
    """
    for leaf in leaves:
        target = leaf.assign.target
        if not isinstance(target, Element):
            continue
        home = Reference(array=target.name, subscripts=target.subscripts, indices=leaf.indices)
        read = elements_in(leaf.assign.value, leaf.mask)
        uses = [Use(each, leaf.indices) for each in read]
        if conflicts(home, uses, lowering.env, outside=outside):
            return True
    return False


def _conditional(
    lowering: Lowering, branches: Sequence[ir.Branch], around: Around, *, arrays: bool
) -> list[Leaf] | None:
    """The assignments of an IF, each under its condition. Conditions that a branch changes, and those that have no
    value where a condition around them does not hold, are kept in logical scalars of the iteration first."""
    tests: list[Leaf] = []
    found: list[Leaf] = []
    reached: Expr | None = None
    kept = _is_changed(branches)
    for branch in branches:
        condition = branch.condition
        if calls_any(condition, lowering.impure):
            return None
        if condition is not None:
            with lowering.only_if(around.inside((), (), reached).entry(lowering)):
                condition = lowering.elementwise.element(condition, (), around.bound)
        before = around.inside((), (), reached)
        if condition is not None and (kept or not _can_join(lowering, branches, condition, before)):
            own = Var(lowering.elementwise.fresh(HOLDS))
            lowering.symbols.declare(own.name, LOGICAL)
            # Where an earlier branch is taken this one is not tested, and says no.
            first = ir.Assign(span=branch.span, target=own, value=LogicalLit(False))
            test = ir.Assign(span=branch.span, target=own, value=condition)
            tests += [] if reached is None else [Leaf(around.indices, around.loops, around.mask, first)]
            tests.append(Leaf(before.indices, before.loops, before.mask, test))
            condition = own
        holds = both(reached, condition)
        holds = None if holds is None else dataclasses.replace(holds, span=branch.span)
        inner = _body(lowering, branch.body, around.inside((), (), holds), arrays=arrays)
        if inner is None:
            return None
        if len(branches) == len(inner) == 1 and condition is not None:
            inner = [_extreme(inner[0], condition, around)]
        found += inner
        reached = reached if condition is None else both(reached, Unary(".not.", condition))
    return tests + found


def _can_join(lowering: Lowering, branches: Sequence[ir.Branch], condition: Expr, before: Around) -> bool:
    """Whether assignments can test a condition together with those before it."""
    return _is_extreme(branches) or is_evaluable(lowering, condition, before.indices, before.mask)


def _is_extreme(branches: Sequence[ir.Branch]) -> bool:
    """Whether an IF is one that `_extreme` turns into an assignment without condition."""
    match branches:
        case (
            ir.Branch(
                condition=Binary(op="<" | "<=" | ">" | ">=", left=left, right=right),
                body=(ir.Assign(target=Var() as target, value=value),),
            ),
        ):
            return (left, right) in ((value, target), (target, value))
        case _:
            return False


def _extreme(leaf: Leaf, condition: Expr, around: Around) -> Leaf:
    """``if (x > m) m = x`` as ``m = max(m, x)``, which is a reduction; other assignments as they are."""
    target, value = leaf.assign.target, leaf.assign.value
    if not isinstance(target, Var) or not isinstance(condition, Binary) or leaf.loops != around.loops:
        return leaf
    above, below = (">", ">="), ("<", "<=")
    sides = {(value, target): (above, below), (target, value): (below, above)}.get((condition.left, condition.right))
    if sides is None or condition.op not in (*above, *below):
        return leaf
    found = Call("max" if condition.op in sides[0] else "min", (target, value))
    return replace(leaf, mask=around.mask, assign=replace(leaf.assign, value=found))


def _is_changed(branches: Sequence[ir.Branch]) -> bool:
    """Whether a branch changes what a condition reads and the condition is tested again after that: each assignment
    tests it by itself, so that only the last one of a single branch may change it."""
    read = names_in(*(branch.condition for branch in branches))
    if len(branches) == 1 and branches[0].body and isinstance(branches[0].body[-1], ir.Assign):
        body: Sequence[ir.Stmt] = branches[0].body[:-1]
    else:
        body = [each for branch in branches for each in branch.body]
    return any(isinstance(each, ir.Assign) and _name(each.target) in read for each in walk_statements(body))


def writes_of(leaves: Sequence[Leaf]) -> list[tuple[int, Access]]:
    """The array elements that assignments write, each with the number of its assignment."""
    return [
        (number, _access(leaf, leaf.assign.target, 2 * number + 1))
        for number, leaf in enumerate(leaves)
        if isinstance(leaf.assign.target, Element)
    ]


def reads_of(leaves: Sequence[Leaf], is_array: Callable[[str], bool]) -> list[tuple[int, Access]]:
    """The array elements that assignments read, in conditions and subscripts, too; each with the number of its
    assignment. An assignment reads before it writes."""
    found = []
    for number, leaf in enumerate(leaves):
        target = leaf.assign.target
        around = Around(leaf.indices, leaf.loops, leaf.mask)
        parts = [leaf.assign.value, leaf.mask, *(target.subscripts if isinstance(target, Element) else ())]
        read = [one for part in parts if part is not None for one in _read(part, around)]
        found += [(number, _access(here, each, 2 * number)) for each, here in read if is_array(each.name)]
    return found


def _read(expr: Expr, around: Around) -> Iterator[tuple[Element, Around]]:
    """The elements that an expression reads, those of reductions in the loops inside it."""
    match expr:
        case Call(args=(reduced, Var(name=name), lower, upper)) if is_inner(expr):
            yield from _read(lower, around)
            yield from _read(upper, around)
            index = Index(name=name, lower=lower, upper=upper, step=None)
            yield from _read(reduced, around.inside((index,), (("reduction", name),)))
            return
        case Call(name=wrapped, args=(taken, mask)) if wrapped == MASKED:
            yield from _read(mask, around)
            yield from _read(taken, around.inside((), (), mask))
            return
        case Element():
            yield expr, around
        case _:
            pass
    for child in children(expr):
        yield from _read(child, around)


def _access(around: Leaf | Around, element: Element, order: int) -> Access:
    masks = () if around.mask is None else (around.mask,)
    return Access(element.name, element.subscripts, around.indices, around.loops, order, masks)


def reduced_names(
    lowering: Lowering, leaves: Sequence[Leaf], claimed: Collection[str] = (), arrays: Collection[str] = ()
) -> frozenset[str]:
    """Scalars (and those of some `arrays`) that the nest as a whole reduces into: every mention of them is
    ``s = s op expression``, with one operation. An integer to which reals are added is cut off in each iteration, so
    that parts do not add up to the same: it must be one of the `claimed`."""
    operations: dict[str, set[str]] = {}
    for leaf in leaves:
        target, found = leaf.assign.target, update_of(leaf)
        if found is None or (_name(target) not in claimed and _is_cut(lowering, target, found[1])):
            continue
        if isinstance(target, Var) or _name(target) in (*claimed, *arrays):
            operations.setdefault(_name(target), set()).add(found[0])
    candidates = {name for name, found in operations.items() if len(found) == 1}
    for leaf in leaves:
        target, found = leaf.assign.target, update_of(leaf)
        places = frozenset().union(*(index.reads for index in leaf.indices))
        if isinstance(target, Element):
            places |= names_in(*target.subscripts)
        own = frozenset((_name(target),)) if found is None else frozenset()
        operand = names_in(leaf.assign.value) if found is None else names_in(found[1])
        candidates -= places | own | operand | names_in(leaf.mask)
    return frozenset(candidates)


def _is_cut(lowering: Lowering, target: Expr, operand: Expr) -> bool:
    """Whether an update converts its result to an integer."""
    mine, theirs = (lowering.symbols.type_of(each).base for each in (target, operand))
    return mine == "integer" and theirs in ("real", "complex")


def scattered(leaves: Sequence[Leaf]) -> frozenset[str]:
    """Arrays of which index arrays say what is assigned: owners update them in the order of the iterations."""
    targets = [leaf.assign.target for leaf in leaves]
    return frozenset(each.name for each in targets if isinstance(each, Element) and elements_in(*each.subscripts))


def summed(lowering: Lowering, leaves: Sequence[Leaf]) -> frozenset[str]:
    """Replicated arrays of which several iterations update an element with distributed data."""
    found = set()
    for leaf in leaves:
        target, update = leaf.assign.target, update_of(leaf)
        if not isinstance(target, Element) or update is None or lowering.is_distributed(target.name):
            continue
        indices = {index.name for index in leaf.indices}
        plain = all(isinstance(each, Var) or not names_in(each) & indices for each in target.subscripts)
        several = indices - names_in(*target.subscripts)
        if plain and several and any(lowering.is_distributed(each.name) for each in elements_in(update[1], leaf.mask)):
            found.add(target.name)
    return frozenset(found)


def reduction(leaf: Leaf, names: frozenset[str]) -> tuple[str, Expr] | None:
    """The operation and operand of an assignment that reduces into one of `names`, else None."""
    return update_of(leaf) if _name(leaf.assign.target) in names else None


def _name(target: Expr) -> str:
    return target.name if isinstance(target, Var | Element) else ""


def update_of(leaf: Leaf) -> tuple[str, Expr] | None:
    """The operation and operand of ``s = s op expression`` or ``s = max(s, expression)``, else None.

    ``s = a + s - b`` is a sum with the operand a - b, and ``s = .true.`` says whether that is done in any iteration.
    """
    target, value = leaf.assign.target, leaf.assign.value
    match value:
        case LogicalLit(value=holds) if isinstance(target, Var):
            return "any" if holds else "all", value
        case Binary(op="+" | "-"):
            found = _without(target, list(_terms(value, _name(target))))
            return None if found is None else ("sum", found)
        case Binary(op=op) if op in _OPERATORS:
            operands = list(_operands(value, op, _name(target)))
        case Call(name=name, args=args, keywords=()) if name in _GENERIC:
            op, operands = _GENERIC[name], list(args)
        case _:
            return None
    if operands.count(target) != 1:
        return None
    operands.remove(target)
    rest = operands[0]
    for each in operands[1:]:
        rest = Call(op, (rest, each)) if op in _FUNCTIONS else Binary(op, rest, each)
    return None if _name(target) in names_in(rest) else ((_OPERATORS | _FUNCTIONS)[op], rest)


def _operands(expr: Expr, op: str, name: str) -> Iterator[Expr]:
    """What is combined with a variable. What does without it stays as it is: its kind may be another."""
    if isinstance(expr, Binary) and expr.op == op and name in names_in(expr):
        yield from _operands(expr.left, op, name)
        yield from _operands(expr.right, op, name)
    else:
        yield expr


def _terms(expr: Expr, name: str, sign: int = 1) -> Iterator[tuple[int, Expr]]:
    """The terms of a sum with a variable, each with its sign; as `_operands`."""
    match expr:
        case Binary(op="+" | "-" as op, left=left, right=right) if name in names_in(expr):
            yield from _terms(left, name, sign)
            yield from _terms(right, name, sign if op == "+" else -sign)
        case _:
            yield sign, expr


def _without(target: Expr, terms: list[tuple[int, Expr]]) -> Expr | None:
    """A sum without one term; None where that is not there once, or mentioned elsewhere."""
    if terms.count((1, target)) != 1:
        return None
    terms.remove((1, target))
    (sign, rest), *others = sorted(terms, key=lambda term: -term[0])
    rest = rest if sign > 0 else Unary("-", rest)
    for sign, each in others:
        rest = Binary("+" if sign > 0 else "-", rest, each)
    return None if _name(target) in names_in(rest) else rest
