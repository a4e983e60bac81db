"""Assignments of a nest under conditions of their own: the IF blocks of the node program.

Lowering keeps each such assignment by itself, as a choice between the new and the old value:

    a(i) = merge(x, a(i), c)              if (c) then
    b(i) = merge(y, b(i), c)                a(i) = x; b(i) = y
    b(i) = merge(z, b(i), .not. c)        else
                                            b(i) = z
                                          end if

Neighbours with one condition form a branch, and branches that exclude the ones before them a chain.
"""

from collections.abc import Container, Iterator, Sequence
from functools import lru_cache, reduce

from msgspec import Struct
from msgspec.structs import replace

from aag.ir.expressions import Binary, Call, Element, Expr, LogicalLit, Unary, Var
from aag.ir.statements import Assign
from aag.ir.visitors import names_in
from aag.spmd.nodes import DoNode, IfNode, Nest, assigns_of, walk

HOLDS = "holds"
"""What names of scalars begin with that keep a condition which a branch changes."""


class GuardedBranch(Struct, frozen=True, kw_only=True):
    """Assignments that are made where `holds`. `test`: what is tested for that once no earlier branch of the chain is
    taken; None: nothing."""

    holds: Expr
    test: Expr | None
    assigns: tuple[Assign, ...]


class GuardedChain(Struct, frozen=True):
    """Branches of which an iteration takes one at most."""

    branches: tuple[GuardedBranch, ...]


def guard_of(assign: Assign) -> Expr | None:
    """The condition of an assignment that else leaves the old value; None: it has none."""
    match assign.value:
        case Call(name="merge", args=(_, old, condition)) if old == assign.target:
            return condition
        case _:
            return None


def chained(nest: Nest, assigns: Sequence[Assign]) -> Sequence[Assign | GuardedChain]:
    """Assignments of a nest that follow each other, those under conditions of their own as chains."""
    return _chained(tuple(assigns)) if nest.guarded else assigns


@lru_cache(maxsize=256)
def _chained(assigns: tuple[Assign, ...]) -> tuple[Assign | GuardedChain, ...]:
    found: list[Assign | GuardedChain] = []
    changed: set[str] = set()
    for assign in assigns:
        holds = guard_of(assign)
        last = found[-1] if found else None
        if holds is None:
            found.append(assign)
            continue
        own = _unguarded(assign)
        if isinstance(last, GuardedChain) and not names_in(holds) & changed and (more := _joined(last, holds, own)):
            found[-1] = more
        else:
            found.append(GuardedChain((GuardedBranch(holds=holds, test=holds, assigns=(own,)),)))
            changed = set()
        changed.add(_name(own))
    return tuple(found)


def _unguarded(assign: Assign) -> Assign:
    assert isinstance(assign.value, Call)
    return replace(assign, value=assign.value.args[0])


def _joined(chain: GuardedChain, holds: Expr, assign: Assign) -> GuardedChain | None:
    """The chain with one more assignment; None: its condition is another one, which does not exclude the others."""
    *before, last = chain.branches
    if holds == last.holds:
        return GuardedChain((*before, replace(last, assigns=(*last.assigns, assign))))
    parts = list(_conjuncts(holds))
    opposite = {each.operand: each for each in parts if isinstance(each, Unary) and each.op == ".not."}
    implied: dict[Expr, None] = {}
    for branch in chain.branches:
        excluding: Expr | None = None if branch.test is None else opposite.get(branch.test)  # as in most chains
        if excluding is None:
            tested = [] if branch.test is None else list(_conjuncts(branch.test))
            open_ = dict.fromkeys(each for each in parts if each not in implied)
            excluding = next((each for each in parts if _excludes(each, tested, open_.keys() - {each})), None)
        if excluding is None:
            return None
        implied[excluding] = None
    left = [each for each in parts if each not in implied]
    test = reduce(lambda one, other: Binary(".and.", one, other), left) if left else None
    return GuardedChain((*chain.branches, GuardedBranch(holds=holds, test=test, assigns=(assign,))))


def _excludes(part: Expr, tested: Sequence[Expr], others: Container[Expr]) -> bool:
    """Whether a part of a condition is certain where a test has failed and the `others` hold: it is the opposite of
    what of the test these leave open."""
    if not isinstance(part, Unary) or part.op != ".not.":
        return False
    opposite = list(_conjuncts(part.operand))
    return all(each in tested for each in opposite) and all(each in opposite or each in others for each in tested)


def _conjuncts(condition: Expr) -> Iterator[Expr]:
    pending = [condition]
    while pending:
        part = pending.pop()
        if isinstance(part, Binary) and part.op == ".and.":
            pending += [part.right, part.left]
        else:
            yield part


def levels_of(nest: Nest) -> Iterator[tuple[int, tuple[Assign, ...]]]:
    """What follows each other in a nest: the number of loops around it, and the assignments."""
    for level in range(1, len(nest.outer) + 1):
        yield from ((level, each) for each in nest.around(level))
    yield len(nest.indices), nest.assigns


def chains_of(nest: Nest) -> tuple[tuple[int, GuardedChain], ...]:
    """The chains of a nest in the order of `levels_of`, with the number of loops around each."""
    if not nest.guarded:
        return ()
    return tuple(
        (level, each)
        for level, assigns in levels_of(nest)
        for each in chained(nest, assigns)
        if isinstance(each, GuardedChain)
    )


def has_conditions(nest: Nest) -> bool:
    """Whether a nest does not do the same in all iterations."""
    return nest.mask is not None or nest.guarded


def kept_of(branch: GuardedBranch) -> str:
    """What a branch does besides what the source says: ``test`` keeps a condition of an IF, ``set`` says before that it
    does not hold, where it is not tested; empty: nothing."""
    assign = branch.assigns[0]
    if not _name(assign).startswith(f"{HOLDS}$"):
        return ""
    return "set" if assign.value == LogicalLit(False) else "test"


def conditions_of(nest: Nest) -> tuple[Expr, ...]:
    """All conditions of a nest, each as a whole."""
    own = () if nest.mask is None else (nest.mask,)
    return (*own, *(branch.holds for _, chain in chains_of(nest) for branch in chain.branches))


def tests_of(loop: DoNode | None) -> tuple[IfNode, ...]:
    """The IFs of a DO nest that every processor runs, in order."""
    return () if loop is None else tuple(each for each in walk((loop,)) if isinstance(each, IfNode))


def may_change(nest: Nest, condition: Expr) -> bool:
    """Whether iterations assign what a condition reads."""
    return bool(names_in(condition) & {_name(each) for each in assigns_of(nest)})


def _name(assign: Assign) -> str:
    assert isinstance(assign.target, Var | Element)
    return assign.target.name
