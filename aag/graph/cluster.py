"""Granularity: which statements are one AAU.

Source: Parashar and Hariri, section 3.4: the user chooses the granularity, time of estimation against accuracy. What is
counted stays the same; only the place to which it is charged becomes coarser: the first line of a block, the line of a
loop or procedure.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from msgspec.structs import fields, replace

from aag.graph import aau as g
from aag.graph.shares import merged_shares
from aag.graph.tally import add_work

Level = Literal["statement", "block", "loop", "procedure"]
LEVELS: tuple[Level, ...] = ("statement", "block", "loop", "procedure")
"""`statement`: one AAU for each statement. `block`: consecutive replicated statements of a body are one Seq. `loop`: an
outermost loop is one AAU with all that is inside, too. `procedure`: so is the main program, and each call."""

FOLDED: Mapping[Level, tuple[type[g.AAU], ...]] = {
    "loop": (g.IterD, g.IterSync, g.IterND),
    "procedure": (g.Spawn, g.Call),
}
"""Level -> classes of AAUs that are one with all that is inside."""


def cluster(graph: g.Graph, level: Level) -> g.Graph:
    """The graph with its blocks merged, at every level but the finest; ids count in program order again and the edges
    follow them. It is what is interpreted: loops and procedures keep what is inside them.

    A Seq that reads the clock, leaves a loop or could not be modelled stays by itself. The total of all operation
    counts is that of `graph`.

    Raises:
        ValueError: there is no such level.
    """
    if level not in LEVELS:
        raise ValueError(f"cluster: no level {level!r}; there are {', '.join(LEVELS)}")
    if level == "statement":
        return graph
    numbering = _Numbering()
    body = numbering.body(graph.body)
    edges = tuple(dict.fromkeys(numbering.edge(each) for each in graph.edges))
    return replace(graph, body=body, count=numbering.count, edges=edges)


def unit_of(graph: g.Graph, level: Level) -> Mapping[int, int]:
    """Id of an AAU -> id of the unit that it belongs to at a level: that of itself, or of a loop or procedure around
    it."""
    return dict(_units(graph.body, FOLDED.get(level, ()), None))


def _units(body: Sequence[g.AAU], kinds: tuple[type[g.AAU], ...], unit: int | None) -> Iterator[tuple[int, int]]:
    for aau in body:
        own = aau.id if unit is None else unit
        yield aau.id, own
        yield from _units(g.children(aau), kinds, own if unit is not None or isinstance(aau, kinds) else None)


def outline(graph: g.Graph, level: Level) -> g.Graph:
    """The units of a graph at a level and the edges between them, to be drawn: nothing is inside a unit."""
    units = unit_of(graph, level)
    edges = (
        replace(
            edge,
            comm=units[edge.comm],
            source=None if edge.source is None else units[edge.source],
            target=units[edge.target],
        )
        for edge in graph.edges
    )
    return replace(
        graph,
        body=_emptied(graph.body, FOLDED.get(level, ())),
        edges=tuple(dict.fromkeys(edge for edge in edges if edge.comm != edge.target or edge.source != edge.target)),
    )


def _emptied(body: Sequence[g.AAU], kinds: tuple[type[g.AAU], ...]) -> tuple[g.AAU, ...]:
    def inside(inner: tuple[g.AAU, ...]) -> tuple[g.AAU, ...]:
        return _emptied(inner, kinds)

    return tuple(g.mapped(aau, _nothing if isinstance(aau, kinds) else inside) for aau in body)


def _nothing(_body: tuple[g.AAU, ...]) -> tuple[g.AAU, ...]:
    return ()


class _Numbering:
    """New ids in program order, and which old id became which."""

    def __init__(self) -> None:
        self.count = 0
        self.became: dict[int, int] = {}

    def _new(self, old: Sequence[g.AAU]) -> int:
        number = self.count
        self.count += 1
        self.became.update((each.id, number) for each in old)
        return number

    def edge(self, edge: g.CommEdge) -> g.CommEdge:
        source = None if edge.source is None else self.became[edge.source]
        return replace(edge, comm=self.became[edge.comm], source=source, target=self.became[edge.target])

    def body(self, body: Sequence[g.AAU]) -> tuple[g.AAU, ...]:
        return tuple(self._block(each) for each in _blocks(body))

    def _block(self, block: Sequence[g.AAU]) -> g.AAU:
        number = self._new(block)
        first = block[0]
        if len(block) > 1:
            return _merged(number, [each for each in block if isinstance(each, g.Seq)])
        return replace(g.mapped(first, self.body), id=number)


def _blocks(body: Sequence[g.AAU]) -> list[list[g.AAU]]:
    blocks: list[list[g.AAU]] = []
    for aau in body:
        if blocks and _is_mergeable(aau) and _is_mergeable(blocks[-1][-1]):
            blocks[-1].append(aau)
        else:
            blocks.append([aau])
    return blocks


_ADDED = frozenset(("work", "assigns", *g.AAU.__struct_fields__))
"""What `_merged` puts together. A unit with anything else remains alone, so that nothing is lost."""
_KEPT_APART = tuple((each.name, each.default) for each in fields(g.Seq) if each.name not in _ADDED)


def _is_mergeable(aau: g.AAU) -> bool:
    return isinstance(aau, g.Seq) and all(getattr(aau, name) == nothing for name, nothing in _KEPT_APART)


def _merged(number: int, block: Sequence[g.Seq]) -> g.Seq:
    return g.Seq(
        id=number,
        span=block[0].span,
        label=", ".join(each.label for each in block),
        uses=frozenset().union(*(each.uses for each in block)),
        defines=frozenset().union(*(each.defines for each in block)),
        work=add_work(*(each.work for each in block)),
        assigns=tuple(assign for each in block for assign in each.assigns),
        shares=merged_shares(block),
    )
