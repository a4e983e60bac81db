"""EXITs of loops whose trip counts are known: their conditions decide nothing any more.

do it = 1, most                     it is known how often the loop runs: the walk ends it then, and need not follow
  z = z*z + c                       what z is
  if (abs(z) > 2) exit
end do
"""

from collections.abc import Collection, Iterator

from msgspec.structs import replace

from aag.graph.aau import AAU, AauBranch, CondtD, CondtSync, Graph, IterD, IterND, IterSync, Seq, children, mapped, walk
from aag.ir.expressions import Var
from interpreter.evaluate import closure, decides, touching

ENDS = "exit$"
"""A name that has no value, in place of a condition."""


def without_conditions(graph: Graph, lines: Collection[int]) -> Graph:
    """The graph with such names as conditions of branches that leave the loops in these lines."""
    if not lines or not any(each.span.line in lines for each in walk(graph.body)):
        return graph
    body = _body(graph.body, lines, frozenset())
    pairs = zip(walk(graph.body), walk(body), strict=True)
    dropped = frozenset[str]().union(*(decides(old) - decides(new) for old, new in pairs))
    homes = (each.loop.home for each in walk(body) if isinstance(each, IterD | IterSync) and each.loop)
    kept = frozenset[str]().union(*map(decides, walk(body)), *(each.reads for each in homes if each is not None))
    free = closure(dropped, body) - closure(kept | touching(body), body)
    return replace(graph, body=body, critical=graph.critical - free)


def leaving_exits(
    body: tuple[AAU, ...], name: str, inner: frozenset[str] = frozenset(), *, inside: bool = False
) -> Iterator[AAU]:
    """The EXITs that leave a loop with this name, and each CYCLE of a loop around it. An EXIT without a name belongs to
    the innermost loop around it, one with another name to a loop inside (`inner`) or to one around."""
    for each in body:
        if isinstance(each, Seq):
            outside = each.leave_name not in inner if each.leave_name else not inside
            if outside and (each.leave == "exit" or (each.leave == "cycle" and each.leave_name not in ("", name))):
                yield each
        loop = name_of(each)
        yield from leaving_exits(
            children(each), name, inner | ({loop} if loop else set()), inside=inside or loop is not None
        )


def name_of(aau: AAU) -> str | None:
    """The name of a loop; None: it is none."""
    if isinstance(aau, IterND):
        return aau.name
    if not isinstance(aau, IterD | IterSync):
        return None
    return aau.loop.name if aau.loop is not None else ""


def _body(body: tuple[AAU, ...], lines: Collection[int], ends: frozenset[int]) -> tuple[AAU, ...]:
    """`ends`: the ids of the EXITs that leave the loops around."""
    return tuple(_one(each, lines, ends) for each in body)


def _one(aau: AAU, lines: Collection[int], ends: frozenset[int]) -> AAU:
    name = name_of(aau)
    if name is not None and aau.span.line in lines:
        ends |= {
            each.id for each in leaving_exits(children(aau), name) if isinstance(each, Seq) and each.leave == "exit"
        }
    found = mapped(aau, lambda inner: _body(inner, lines, ends))
    if isinstance(found, IterND) and found.condition is not None and aau.span.line in lines:
        return replace(found, condition=Var(f"{ENDS}{aau.span.line}"))
    if isinstance(found, CondtD | CondtSync) and ends:
        return replace(found, branches=tuple(_branch(each, ends) for each in found.branches))
    return found


def _branch(branch: AauBranch, ends: frozenset[int]) -> AauBranch:
    found = next((each for each in branch.body if each.id in ends), None)
    if found is None or branch.condition is None:
        return branch
    return replace(branch, condition=Var(f"{ENDS}{found.span.line}"))
