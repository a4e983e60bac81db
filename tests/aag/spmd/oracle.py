"""What must be sent, from the serial program alone: owners by definition, accesses in serial order.

Nothing here is esp's: the program is a tree of `tests.aag.spmd.emit.tree`, replayed by `tests.aag.spmd.emit.replay`;
BLOCK and CYCLIC are computed from their definitions. Owners compute: the processors that own the element on the left
execute an assignment. A version of an element is the number of the write that made it; who reads a version must own the
element, or receive the version. A message stands inside the innermost loop that carries the dependence of what it
brings, vectorised over the loops further in: the *turns* of a reference are the iterations of the loops around that
place.
"""

import re
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import product

from tests.aag.spmd.emit import tree as t
from tests.aag.spmd.emit.replay import Replay

# --- owners ---------------------------------------------------------------------------------------------------------


def owner(form, extent, procs, at):
    """The coordinate that owns zero-based index `at`; None: all of them (a collapsed dimension)."""
    kind, _, size = form.strip(" )").partition("(")
    match kind.strip():
        case "block":
            return at // (int(size) if size else -(-extent // procs))
        case "cyclic":
            return at // int(size or 1) % procs
        case "gen_block":
            sizes = [int(each) for each in size.strip("(/ ").split(",")]
            return next(coordinate for coordinate in range(procs) if at < sum(sizes[: coordinate + 1]))
    return None


class Owners:
    """Ranks that own each element of each array of a program; arrays without directive belong to all."""

    def __init__(self, program, procs):
        self.procs = procs
        self.grids, self.formats, self.aligned = {}, {}, {}
        self.bounds = {each.name: each.bounds for each in program.arrays}
        for line in program.directives:
            self.read(line)

    def read(self, line):
        if found := re.fullmatch(r"processors (\w+)\(([\d, ]+)\)", line):
            self.grids[found[1]] = tuple(map(int, found[2].split(",")))
        elif found := re.fullmatch(r"distribute (\w+)\((.*)\) onto (\w+)", line):
            self.formats[found[1]] = (found[2].split(", "), found[3])
        elif found := re.fullmatch(r"align with (\w+) :: (\w+)", line):
            self.aligned[found[2]] = (found[1], None)
        elif found := re.fullmatch(r"align (\w+)\(d\) with (\w+)\((.*)\)", line):
            self.aligned[found[1]] = (found[2], found[3].split(", "))
        else:
            raise AssertionError(line)

    def of(self, name, at):
        """The owners of an element."""
        if name in self.aligned:
            target, image = self.aligned[name]
            if image is None:
                return self.of(target, at)
            ends = [range(lower, upper + 1) for lower, upper in self.bounds[target]]
            places = [
                (at[0],) if one == "d" else ends[dim] if one == "*" else (int(one),) for dim, one in enumerate(image)
            ]
            return frozenset().union(*(self.of(target, place) for place in product(*places)))
        if name not in self.formats:
            return frozenset(range(self.procs))
        forms, grid = self.formats[name]
        shape = self.grids[grid]
        coordinates, axis = [], 0
        for form, place, (lower, upper) in zip(forms, at, self.bounds[name], strict=True):
            if form.strip() != "*":
                coordinates.append(owner(form, upper - lower + 1, shape[axis], place - lower))
                axis += 1
        rank, stride = 0, 1
        for coordinate, extent in zip(coordinates, shape, strict=True):
            rank, stride = rank + coordinate * stride, stride * extent
        return frozenset((rank,))


# --- what is needed -------------------------------------------------------------------------------------------------


@dataclass
class Need:
    """What one statement must receive."""

    elements: dict = field(default_factory=lambda: defaultdict(set))
    """Receiver -> distinct (array, element, version)."""
    turns: dict = field(default_factory=lambda: defaultdict(set))
    """(owner, receiver) -> distinct (reference, iteration of the loops around the message)."""
    read: dict = field(default_factory=lambda: defaultdict(set))
    """(owner, turn) -> elements that any processor reads, also the owner, but for the element that is assigned."""


def needs(program, procs):
    """Number of a statement in the text (as in `tree.statements`) -> what it needs."""
    replay, owners = Replay(program), Owners(program, procs)
    numbers = {id(each): number for number, each in enumerate(t.statements(program.body))}
    arrays = {each.name for each in program.arrays}
    written, held, depths = {}, defaultdict(set), {}
    remote = []
    for step in by_step(replay.accesses):
        reads = [each for each in step if not each.writes and each.name in arrays]
        writes = [each for each in step if each.writes and each.name in arrays]
        number = numbers.get(id(step[0].statement))
        texts = elements_in(step[0].statement.value) if isinstance(step[0].statement, t.Assign) else ()
        for at, each in enumerate(reads):
            place = (each.name, each.at)
            version, loops = written.get(place, (None, ()))
            key = (number, at)
            depths[key] = max(depths.get(key, 0), carrying_depth(loops, each.loops) if version is not None else 0)
            if number is None or not writes:
                continue
            target = (writes[0].name, writes[0].at)
            own = texts[at] == step[0].statement.target
            remote.append((number, key, owners.of(*target), owners.of(*place), place, version, each.loops, own))
        for each in writes:
            written[each.name, each.at] = (each.step, each.loops)
    found = defaultdict(Need)
    for number, key, running, owning, place, version, loops, own in remote:
        turn = (key, tuple((execution, trip) for _, execution, trip, _ in loops[: depths[key]]))
        need, source = found[number], min(owning)
        if not own:
            need.read[source, turn].add(place)
        for rank in running - owning:
            if (place, version) not in held[rank]:
                held[rank].add((place, version))
                need.elements[rank].add((place, version))
            need.turns[source, rank].add(turn)
    return found


def by_step(accesses):
    """The accesses of each execution of a statement."""
    group = []
    for each in accesses:
        if group and (each.step, id(each.statement)) != (group[0].step, id(group[0].statement)):
            yield group
            group = []
        group.append(each)
    if group:
        yield group


def elements_in(tree):
    """The references to array elements in an expression, in the order of their evaluation."""
    match tree:
        case ("ref", *_):
            return [tree]
        case ("num" | "var", _):
            return []
        case ("call", _, arguments):
            return [each for one in arguments for each in elements_in(one)]
    return [*elements_in(tree[1]), *elements_in(tree[2])]


def carrying_depth(writing, reading):
    """How many loops around a read are around the message that brings it: to the one that carries the dependence."""
    depth = 0
    for (loop, execution, trip, _), (other, another, later, _) in zip(writing, reading, strict=False):
        if loop is not other or execution != another:
            break
        depth += 1
        if trip != later:
            break
    return depth


def received(found, procs):
    """Rank -> elements that it must receive, at least."""
    sums = dict.fromkeys(range(procs), 0)
    for need in found.values():
        for rank, some in need.elements.items():
            sums[rank] += len(some)
    return sums


def pairs(found):
    """(owner, receiver) -> messages at most, where each turn has a message of its own."""
    sums = defaultdict(int)
    for need in found.values():
        for pair, turns in need.turns.items():
            sums[pair] += len(turns)
    return sums


def most_received(found, procs):
    """Rank -> (messages, elements) that it receives at most, where in each turn the owner sends all processors what any
    of them reads, each of them, too, what only the owner reads: these are the supersets."""
    turns = [(source, len(some)) for need in found.values() for (source, _), some in need.read.items()]
    return {
        rank: (sum(source != rank for source, _ in turns), sum(size for source, size in turns if source != rank))
        for rank in range(procs)
    }


def body_lines(program):
    """Source lines of the body, from the first to the last."""
    count = len(t.text(program).splitlines())
    ending = sum(len(t.statement(each, 0, program.real)) for each in program.body_end) + 1
    inside = sum(len(t.statement(each, 0, program.real)) for each in program.body)
    return range(count - ending - inside + 1, count - ending + 1)
