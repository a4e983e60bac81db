"""A graph as flat lists, from which every view and every format is made: its units with their place, and its links."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Literal

from msgspec import Struct

from aag.graph import aau as g

Kind = Literal["contains", "next", "communication"]


class LinkPlace(Struct, frozen=True, kw_only=True):
    """An AAU and where it stands: the id of the AAU around it (None: outermost), the branch of a conditional that it is
    in (from 1; 0: in none) and its depth."""

    aau: g.AAU
    parent: int | None
    branch: int
    depth: int


class Link(Struct, frozen=True, kw_only=True):
    """An edge. `contains`: a compound AAU and the first AAU of one of its bodies; `next`: in sequence; `communication`:
    from the producer to the Comm or SyncSeq, and from there to the AAU that needs the data; `label`: what is moved."""

    source: int
    target: int
    kind: Kind
    label: str = ""


def places(graph: g.Graph) -> tuple[LinkPlace, ...]:
    """All AAUs in program order."""
    return tuple(_places(graph.body, None, 0, 0))


def _places(body: tuple[g.AAU, ...], parent: int | None, branch: int, depth: int) -> Iterator[LinkPlace]:
    for aau in body:
        yield LinkPlace(aau=aau, parent=parent, branch=branch, depth=depth)
        for number, inner in bodies(aau):
            yield from _places(inner, aau.id, number, depth + 1)


def bodies(aau: g.AAU) -> tuple[tuple[int, tuple[g.AAU, ...]], ...]:
    """The bodies of a compound AAU, each with the number of its branch (0: it is not one of several)."""
    match aau:
        case g.CondtD(branches=branches) | g.CondtSync(branches=branches):
            return tuple((at, each.body) for at, each in enumerate(branches, start=1))
        case _:
            inside = g.children(aau)
            return ((0, inside),) if inside else ()


def links(graph: g.Graph, *, synchronized: bool = True) -> tuple[Link, ...]:
    """All edges: the control structure, then, if `synchronized`, the communication edges. No edge occurs twice."""
    found = list(_control(graph.body))
    if synchronized:
        for edge in graph.edges:
            label = f"{edge.pattern} {edge.array}"
            if edge.source is not None and edge.source != edge.comm:
                found.append(Link(source=edge.source, target=edge.comm, kind="communication", label=label))
            if edge.target != edge.comm or edge.source == edge.comm:
                found.append(Link(source=edge.comm, target=edge.target, kind="communication", label=label))
    return tuple(dict.fromkeys(found))


def _control(body: tuple[g.AAU, ...]) -> Iterator[Link]:
    for before, after in pairwise(body):
        yield Link(source=before.id, target=after.id, kind="next")
    for aau in body:
        for number, inner in bodies(aau):
            label = f"branch {number}" if number else ""
            yield from (Link(source=aau.id, target=each.id, kind="contains", label=label) for each in inner[:1])
            yield from _control(inner)
