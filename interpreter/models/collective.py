"""Collectives as stages of point-to-point messages (Def 8), for all groups and members at once.

`schedule` says who exchanges with whom in trees and exchanges; here is how much each message carries, and:

- reduction: an exchange in which receivers combine, or by a tree up to its root and down again;
- concatenation: an exchange, a tree up and down, or a ring: stage s sends to the next column what came s stages ago;
- transpose: pairwise, stage s exchanges with column xor s (with columns +- s where p is not 2^k); ring, always so;
- scan: stage s sends to the column 2^s further on what a column has combined so far; columns are in the order of the
  members, whatever the algorithm of the machine;
- linear gather: all send to the root at once, which receives in the order of columns.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from aag.distinct import distinct_with_inverse
from interpreter.models.schedule import AlikeGroups, Level, butterfly, by_node, groups_of, power_below, tree

Ints = NDArray[np.int64]


class Stage(Struct, frozen=True, kw_only=True, eq=False):
    """Messages of one stage, (N,) each: ranks, in the order of the senders, and elements. `together`: joins the stages
    before it that are marked so too: all their sends come before all receives. `combines`: the receiver combines."""

    source: Ints
    destination: Ints
    elements: Ints
    together: bool = False
    combines: bool = False


class GroupCall(Struct, frozen=True, kw_only=True, eq=False):
    """A collective of groups whose members are in the order of their nodes."""

    algorithm: str
    members: Ints
    """(G, p) ranks."""
    root: Ints
    """(G,) columns."""
    held: Ints
    """(G * p,) elements that each column contributes."""
    groups: Sequence[AlikeGroups] | None
    """By how they lie, where the machine has dimensions and the algorithm is ``auto``."""

    @property
    def procs(self) -> int:
        """p."""
        return int(self.members.shape[1])

    def down(self) -> list[Level]:
        """The tree from the root."""
        return tree(self.algorithm, self.procs, self.root, self.groups)

    def exchange(self) -> Iterable[Level]:
        """The stages in which everybody gets everything."""
        return butterfly(self.algorithm, self.procs, len(self.members), self.groups)

    def elements(self, level: Level) -> Ints:
        """What each sender of a level contributes itself."""
        if _alike(self.held):
            return np.broadcast_to(self.held[:1], level.source.shape)
        return self.held[level.source]

    def stage(
        self, level: Level, elements: Ints, *, up: bool = False, together: bool = False, combines: bool = False
    ) -> Stage:
        """The messages of a level; `up`: the other way round."""
        ranks = self.members.reshape(-1)
        source, destination = ranks[level.source], ranks[level.destination]
        if up:
            source, destination = destination, source
        if (source[1:] < source[:-1]).any():
            order = np.argsort(source, kind="stable")  # nodes in Gray code make long runs
            source, destination = source[order], destination[order]
            elements = elements if _alike(elements) else elements[order]
        return Stage(source=source, destination=destination, elements=elements, together=together, combines=combines)


ROOTED = ("broadcast", "gather", "scatter")
"""Collectives whose root somebody chooses; others that use a tree have it at the first node of the group."""

KINDS = (*ROOTED, "reduction", "concatenation", "transpose", "barrier", "scan")


def stages(
    kind: str, members: Ints, root: Ints, elements: Ints, algorithm: str, *, node: Ints, box: tuple[int, ...] = ()
) -> Iterator[Stage]:
    """The stages of a collective. `root`: a place in `members` (G, p), where also `elements` (G, p) are contributed.

    Messages without elements are left out by the caller where the collective moves data. `node`: of each rank; `box`:
    what nodes are numbered in, column-major, if collectives go through the machine dimension by dimension.
    """
    if kind == "broadcast":
        elements = np.broadcast_to(np.take_along_axis(elements, root[:, None], axis=1), members.shape)
    if kind == "scan":
        yield from _scan(members, elements)
        return
    order = by_node(members, node)
    if order is not None:
        members = np.take_along_axis(members, order, axis=1)
        elements = elements if _alike(elements) else np.take_along_axis(elements, order, axis=1)
        root = np.argmax(order == root[:, None], axis=1)
    if kind not in ROOTED:
        root = np.zeros_like(root)
    if kind == "barrier":
        elements = np.broadcast_to(np.int64(0), members.shape)
    groups = groups_of(node[members], box) if algorithm == "auto" and box else None
    if algorithm == "auto" and groups is None:
        algorithm = "binomial"
    call = GroupCall(algorithm=algorithm, members=members, root=root, held=_flat(elements), groups=groups)
    match kind:
        case "broadcast":
            yield from _equal(call)
        case "reduction" | "barrier" if _exchanges(call):
            for level in call.exchange():
                yield call.stage(level, call.elements(level), combines=level.adds)
        case "reduction" | "barrier":
            yield from _equal(call, up=True)
            yield from _equal(call)
        case "concatenation":
            yield from _concatenation(call)
        case "transpose":
            yield from _turn(call, -(-call.held // call.procs))
        case "gather":
            yield from _gather(call)
        case "scatter":
            yield from reversed(list(_gather(call, up=False)))


def _scan(members: Ints, elements: Ints) -> Iterator[Stage]:
    """Messages to the column 1, 2, 4, ... further on; the receiver combines."""
    away = 1
    while away < members.shape[1]:
        source, destination, sent = (
            each.ravel() for each in (members[:, :-away], members[:, away:], elements[:, :-away])
        )
        order = np.argsort(source, kind="stable")
        yield Stage(source=source[order], destination=destination[order], elements=sent[order], combines=True)
        away *= 2


def _alike(elements: Ints) -> bool:
    """Whether it is one number that stands for all; this takes no memory for a million processors."""
    return not any(elements.strides)


def _flat(elements: Ints) -> Ints:
    return np.broadcast_to(elements[:1, 0], (elements.size,)) if _alike(elements) else elements.reshape(-1)


def _exchanges(call: GroupCall) -> bool:
    return call.algorithm == "recursive_doubling" or call.groups is not None


def _equal(call: GroupCall, *, up: bool = False) -> Iterator[Stage]:
    """A tree in which all messages of a group are equally long."""
    levels = call.down()
    for level in levels[::-1] if up and call.algorithm != "linear" else levels:
        yield call.stage(level, call.elements(level), up=up, combines=up, together=up and call.algorithm == "linear")


def _gather(call: GroupCall, *, up: bool = True) -> Iterator[Stage]:
    """A tree in which messages carry what is below their lower end; the root is reached last."""
    below = call.held.copy()
    linear = call.algorithm == "linear"
    levels = call.down()
    for level in levels if linear and up else levels[::-1]:
        elements = below[level.destination]
        below[level.source] += elements
        yield call.stage(level, elements, up=up, together=up and linear)


def _concatenation(call: GroupCall) -> Iterator[Stage]:
    held = call.held.copy()
    if _exchanges(call):
        for level in call.exchange():
            elements = held[level.source]
            held[level.destination] = elements + held[level.destination] if level.adds else elements
            yield call.stage(level, elements)
        return
    if call.algorithm == "binomial":
        yield from _gather(call)
        total = held.reshape(call.members.shape).sum(axis=1).repeat(call.procs)
        for level in call.down():
            yield call.stage(level, total[level.source])
        return
    p, first, column = call.procs, call.procs * np.arange(len(call.members))[:, None], np.arange(call.procs)
    for step in range(p - 1):
        level = Level((first + column).ravel(), (first + (column + 1) % p).ravel())
        yield call.stage(level, held[(first + (column - step) % p).ravel()])


def _turn(call: GroupCall, elements: Ints) -> Iterator[Stage]:
    """Every column sends so many elements to every other one."""
    p, first, column = call.procs, call.procs * np.arange(len(call.members))[:, None], np.arange(call.procs)
    for step in range(1, p):
        partner = column ^ step if _by_xor(p, call.algorithm) else (column + step) % p
        level = Level((first + column).ravel(), (first + partner).ravel())
        yield call.stage(level, elements[level.source])


def _by_xor(procs: int, algorithm: str) -> bool:
    return algorithm != "ring" and power_below(procs) == procs


def exchange_steps(source: Ints, destination: Ints, node: Ints, algorithm: str) -> Iterator[tuple[int, Ints]]:
    """The messages of a complete exchange by the step of `algorithm` in which each is sent: step, positions.

    As a transpose, but for messages that are known one by one: each pair of ranks has at most one.
    """
    column = np.empty_like(node)
    column[np.argsort(node)] = np.arange(node.size)
    start, goal = column[source], column[destination]
    step = start ^ goal if _by_xor(node.size, algorithm) else (goal - start) % node.size
    order = np.argsort(step, kind="stable")
    steps, first, _ = distinct_with_inverse(step[order])
    yield from zip(steps.tolist(), np.split(order, first[1:]), strict=True)
