"""Which calls the work of an AAU belongs to, where it holds statements of several procedures or stands for calls."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from aag.diagnostics import CallSite, chain
from aag.graph import aau as g
from aag.graph.counts import CountingContext, OperationCounter, counts, nest_steps
from aag.graph.tally import add_work
from aag.ir.expressions import Call
from aag.ir.intrinsics import CALLED
from aag.ir.statements import Assign
from aag.spmd.nodes import Local, Nest, OwnedLoop

_Step = tuple[Assign | None, int, OperationCounter]


def own_call(node: Nest | OwnedLoop) -> CallSite | None:
    """The innermost call that all statements of a nest are reached through."""
    first, *others = [list(chain(each.span.call)) for each in _assigns(node) if not _is_call(each)] or [[]]
    common = [site for site in first if all(site in other for other in others)]
    return common[0] if common else None


def shares_of(
    node: Nest | Local | OwnedLoop, own: CallSite | None, context: CountingContext
) -> tuple[g.WorkShare, ...]:
    """The shares of a node's work by call; none where all of it belongs to its `own` call."""
    if all(each.span.call is own and not _is_call(each) for each in _assigns(node)):
        return ()
    if not isinstance(node, Nest):
        return _shares(_steps(node.assigns, context))
    return _shares(nest_steps(node, context))


def _assigns(node: Nest | Local | OwnedLoop) -> Iterator[Assign]:
    if isinstance(node, Nest):
        for level in node.outer:
            yield from level
    yield from node.assigns


def merged_shares(block: Sequence[g.Seq]) -> tuple[g.WorkShare, ...]:
    """The shares of statements that become one."""
    if len({each.span.call for each in block}) == 1 and not any(each.shares for each in block):
        return ()
    works: dict[CallSite | None, g.Work] = {}
    calls = Counter[CallSite | None]()
    for seq in block:
        for each in seq.shares or (g.WorkShare(site=seq.span.call, works=(seq.work,), calls=(0,)),):
            works[each.site] = add_work(works.get(each.site, g.Work()), *each.works)
            calls[each.site] += sum(each.calls)
    return tuple(g.WorkShare(site=site, works=(work,), calls=(calls[site],)) for site, work in works.items())


def _is_call(assign: Assign) -> bool:
    return isinstance(assign.value, Call) and assign.value.name == CALLED


def _steps(assigns: Iterable[Assign], context: CountingContext) -> Iterator[_Step]:
    counter = OperationCounter(context)
    yield None, 0, counter
    for each in assigns:
        counter.assign(each, 0)
        yield each, 0, counter


def _shares(steps: Iterable[_Step]) -> tuple[g.WorkShare, ...]:
    """The shares of assignments, from what each adds to a counter."""
    added: dict[CallSite | None, list[Counter[str]]] = {}
    calls: dict[CallSite | None, list[int]] = {}
    before: list[Counter[str]] = []
    for assign, level, counter in steps:
        if assign is not None:
            site = assign.span.call
            mine = added.setdefault(site, [Counter[str]() for _ in counter.levels])
            called = calls.setdefault(site, [0] * len(counter.levels))
            for at, (late, early) in enumerate(zip(counter.levels, before, strict=True)):
                mine[at] += late - early
            called[level] += _is_call(assign)
        before = [Counter(each) for each in counter.levels]
    return tuple(
        g.WorkShare(site=site, works=tuple(g.Work(computation=counts(each)) for each in mine), calls=tuple(calls[site]))
        for site, mine in added.items()
    )
