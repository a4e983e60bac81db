"""Sums of work: counts add like numbers, class by class."""

from typing import cast

from aag.graph import aau as g
from aag.spmd.nodes import Nest


def add_counts(*parts: g.Counts) -> g.Counts:
    """The sum of some counts, sorted by class."""
    sums: dict[str, float] = {}
    for part in parts:
        for name, number in part:
            sums[name] = sums.get(name, 0.0) + number
    return tuple(sorted(sums.items()))


def add_work(*parts: g.Work) -> g.Work:
    """The sum of some work."""
    return g.Work(
        computation=add_counts(*(each.computation for each in parts)),
        overhead=add_counts(*(each.overhead for each in parts)),
    )


def works(aau: g.AAU) -> tuple[tuple[str, g.Work], ...]:
    """All work that an AAU itself has, with what it is the work of: a loop level, a condition, or nothing special."""
    match aau:
        case g.IterD(nest=Nest() as nest, work=work, masked=masked, guarded=guarded, outer=outer, setup=setup):
            names = [f"loop {index.name}" for index in nest.indices]
            levels = zip(names or ["once"], (*outer, work), strict=True)
            masks = [] if nest.mask is None else [("where the mask holds", masked)]
            tests = [(f"where line {each.span.line} is tested", each.test) for each in guarded if each.test.computation]
            taken = [(f"where line {each.span.line} is run", each.work) for each in guarded]
            return (("before", setup), *levels, *masks, *tests, *taken)
        case g.CondtD(branches=branches) | g.CondtSync(branches=branches):
            return tuple((f"test {at}", each.work) for at, each in enumerate(branches, start=1))
        case g.IterND(work=work):
            return (("test", work),)
        case g.IterSync(owned=owned, work=work, setup=setup) if owned is not None:
            return (("before", setup), (f"loop {owned.index.name}", work))
        case g.IterD(setup=setup) | g.IterSync(setup=setup):
            return (("before", setup),)
        case _:
            own = cast("g.Work | None", getattr(aau, "work", None))
            return () if own is None else (("once", own),)
