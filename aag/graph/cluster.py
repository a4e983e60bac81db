"""Clustering: consecutive Seq AAUs merged into one, for less work in interpretation at a coarser granularity.

Source: Parashar and Hariri, section 3.4: the user chooses the granularity, time of estimation against accuracy. What is
counted stays the same; only the place to which it is charged becomes coarser (the first line of each block).
"""

from collections.abc import Sequence
from typing import Literal

from msgspec.structs import replace

from aag.graph import aau as g
from aag.graph.tally import add_work

Level = Literal["statement", "block"]
LEVELS: tuple[Level, ...] = ("statement", "block")
"""`statement`: one AAU for each statement. `block`: consecutive replicated statements of a body are one Seq."""


def cluster(graph: g.Graph, level: Level) -> g.Graph:
    """The graph at a clustering level; ids count in program order again and the edges follow them.

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
        match first:
            case g.Spawn() | g.IterD() | g.IterSync() | g.IterND() | g.Call():
                return replace(first, id=number, body=self.body(first.body))
            case g.CondtD(branches=branches) | g.CondtSync(branches=branches):
                inside = tuple(replace(each, body=self.body(each.body)) for each in branches)
                return replace(first, id=number, branches=inside)
            case _:
                return replace(first, id=number)


def _blocks(body: Sequence[g.AAU]) -> list[list[g.AAU]]:
    blocks: list[list[g.AAU]] = []
    for aau in body:
        if blocks and _plain(aau) and _plain(blocks[-1][-1]):
            blocks[-1].append(aau)
        else:
            blocks.append([aau])
    return blocks


def _plain(aau: g.AAU) -> bool:
    return isinstance(aau, g.Seq) and not (aau.clock_mark or aau.leave or aau.unmodelled)


def _merged(number: int, block: Sequence[g.Seq]) -> g.Seq:
    return g.Seq(
        id=number,
        span=block[0].span,
        label=", ".join(each.label for each in block),
        uses=frozenset().union(*(each.uses for each in block)),
        defines=frozenset().union(*(each.defines for each in block)),
        work=add_work(*(each.work for each in block)),
        assigns=tuple(assign for each in block for assign in each.assigns),
    )
