"""What the statements of a nest of loops in a Fortran text do, by loop and by branch."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from itertools import groupby

from fparser.two.utils import Base
from msgspec.structs import replace

from aag.ir.operations import operations
from esp.simulate.operations import Operations
from esp.simulate.tree import LoopNest, NestBranch, begin_of, is_helping, pair_of

Tally = dict[int, Counter[str]]
"""Operations by the line of the text where they stand."""


Branches = list[tuple[NestBranch, Tally]]


def count_steps(
    nest: LoopNest,
    counter: Operations,
    does: Sequence[Tally],
    helpers: Collection[str],
    step: Callable[[Base, int], None],
) -> Branches:
    """Count the statements of a nest.

    Args:
        nest: the loops.
        counter: what has been counted of them.
        does: for each level, what is done in each of its iterations; more is entered.
        helpers: variables that only emission needs.
        step: counts a statement at a level.

    Returns:
        What is done where each branch is taken; of number -1: where none is, behind the tests of all.
    """
    found: Branches = []
    last: tuple[NestBranch, int] | None = None
    for node, steps in groupby(nest.statements, key=lambda each: None if each[1] is None else each[1].node):
        outside, tests = counter.seen(), Tally()
        for branch, group in groupby(steps, key=lambda each: each[1]):
            statements = list(group)
            level = statements[0][0]
            taken = Tally()
            if branch is not None:
                former = copied(counter)
                counter.expression(branch.test, level)
                for at, more in added(counter, former):
                    enter(tests if at == level and branch.number else does[at], branch.head or branch.node, more)
                if not branch.number:
                    outside = counter.seen()
                found.append((branch, taken))
                for at, more in tests.items():
                    taken.setdefault(at, Counter()).update(more)
            tested = counter.seen()
            for own, _, statement in statements:
                if is_helping(statement, helpers):
                    continue
                former = copied(counter)
                step(statement, own)
                for at, more in added(counter, former):
                    enter(does[at] if branch is None or at < level else taken, statement, more)
            if branch is not None:
                counter.forget(tested, level)
                last = branch, level
        if node is not None and last is not None:
            branch, level = last
            counter.forget(outside, level)
            if branch.test is not None and tests:
                found.append((replace(branch, number=-1), tests))
    return found


def keep_better(counter: Operations, node: Base, level: int) -> None:
    """Count a step of MAXLOC or MINLOC: a comparison, as for MAXVAL. That of places only makes the answer that of one
    processor."""
    pair = pair_of(node)
    for each in pair:
        counter.expression(each, level)
    counter.levels[level].update(operations(counter.scope.type_of(pair[0]), "cmp"))


def copied(counter: Operations) -> list["Counter[str]"]:
    """The counters as they are."""
    return [Counter(each) for each in counter.levels]


def added(counter: Operations, former: Sequence["Counter[str]"]) -> list[tuple[int, "Counter[str]"]]:
    """What was counted since then, by level."""
    return [(at, late - early) for at, (late, early) in enumerate(zip(counter.levels, former, strict=True))]


def enter(tally: Tally, node: Base, does: "Counter[str]") -> None:
    """Add what a statement does."""
    at = begin_of(node)
    if does and at is not None:
        tally.setdefault(at, Counter()).update(does)
