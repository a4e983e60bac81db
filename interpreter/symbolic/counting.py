"""How often each figure of the machine is paid, by AAU and processor, as expressions in a free parameter.

What `walk` derives is compared with the counts of the engine at some sizes; what it leaves is interpolated from these
counts (`sampled`). What neither gives stays a number, and is named.
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import islice
from math import lcm
from typing import Literal

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from aag.graph import aau as g
from aag.ir.expressions import IntLit
from aag.ir.visitors import names_in
from aag.spmd.nodes import DoNode, Index, Operation
from interpreter.counts import Prices
from interpreter.result import CountTable, Result
from interpreter.symbolic.facts import Facts
from interpreter.symbolic.places import Places
from interpreter.symbolic.polynomial import Poly, poly
from interpreter.symbolic.sampled import CountSample, Key, Solver, ansatzes, exact, interpolated, sizes_for
from interpreter.symbolic.trips import Ranks
from interpreter.symbolic.walk import Derived, SymbolicWalk

CELLS = 3
"""Cells of each BLOCK dimension that each processor has at least where a formula holds."""

WIDE = 16
"""The same where messages bring wider overlap areas."""

ATTEMPTS = 6
"""How often the least size is doubled where counts are no polynomial from it on: messages change their range."""

LARGEST = 2**40
"""Beyond this parameter nobody looks for the end of a range of messages."""

NEARBY = 1 << 16
"""Parameters among which one is sought for which the facts hold."""

MOST_DEGREE = 5
"""The highest degree that is tried."""

Origin = Literal["derived", "interpolated"]

Counter = Callable[[int], CountSample]
"""The counts of the engine for a size."""


class Counting(Struct, frozen=True, kw_only=True):
    """Counts as expressions.

    Attributes:
        facts: The sizes for which they hold.
        counts: AAU, figure and what it is paid for -> the count of each processor.
        origins: AAU -> where its counts come from.
        missing: Counts without an expression, and why.
        reasons: AAU -> why its counts are not derived.
        samples: Sizes at which the engine has counted.
        checked: Sizes at which all counts equal those of the engine and which no interpolation used.
        messages: AAU -> bytes of its largest message in a typical execution; None: no expression.
    """

    facts: Facts
    counts: Mapping[Key, tuple[Poly, ...]]
    origins: Mapping[int, Origin]
    missing: Mapping[Key, str]
    reasons: Mapping[int, str]
    samples: tuple[int, ...]
    checked: tuple[int, ...]
    messages: Mapping[int, Poly | None]

    def nearest(self, size: int, bounds: Sequence[float]) -> int:
        """A size for which the counts hold: this one, or the next one if there is one, or the last one."""
        most = self.most(bounds)
        if most is not None and size > most:
            return next((each for each in range(most, 0, -1) if self.facts.hold(each)), most)
        found = next((each for each in range(size, size + NEARBY) if self.facts.hold(each)), size)
        return found if most is None or found <= most else self.nearest(most + 1, bounds)

    def most(self, bounds: Sequence[float]) -> int | None:
        """The largest size at which messages are in the same ranges of sizes as at the samples; `bounds`: the last
        sizes of the ranges. None: there is none."""
        least, most = max((0, *self.samples)), None
        for each in self.messages.values():
            end = max((least, *self.checked)) if each is None and bounds else _end(each, self.facts.free, least, bounds)
            most = end if most is None else most if end is None else min(most, end)
        return most


def sample_of(size: int, result: Result) -> CountSample:
    """What the engine has counted at a size."""
    messages = {each.id: max((one for one, _ in each.comm.sizes), default=0) for each in result.aaus if each.comm}
    shortest = {each.id: min((one for one, _ in each.comm.sizes), default=0) for each in result.aaus if each.comm}
    executions = {each.id: each.executions for each in result.aaus}
    return CountSample(size, counts_by_key(result.counts), executions, messages, shortest)


def counts_by_key(table: CountTable) -> dict[Key, "np.ndarray[tuple[int], np.dtype[np.float64]]"]:
    """The counts of a table on each processor, (P,)."""
    found: dict[Key, np.ndarray[tuple[int], np.dtype[np.float64]]] = {}
    for entry in table.entries:
        each = np.broadcast_to(entry.each(), (len(entry.columns), table.procs))
        for number, column in enumerate(entry.columns):
            for paid, figure, amount in column.fees:
                key = (entry.aau, figure, int(paid))
                more = amount * each[number]
                found[key] = found[key] + more if key in found else more
    return {key: values for key, values in found.items() if np.count_nonzero(values)}


class Subject(Struct, frozen=True, kw_only=True):
    """What is counted.

    Attributes:
        graph: The application graph at some size; it has the same form at all.
        prices: Makes the columns of operations.
        places: The layouts for the parameter.
        facts: What is known of the parameter.
        procs: The number of processors.
        count: Counts with the engine; it is called for about twenty small sizes.
        bounds: The last sizes of the ranges of messages for which the machine has figures of their own.
    """

    graph: g.Graph
    prices: Callable[[], Prices]
    places: Places
    facts: Facts
    procs: int
    count: Counter
    bounds: tuple[float, ...] = ()

    def derived(self, trips: Mapping[int, int]) -> "Made":
        """What the walk gives for each processor."""
        sums: dict[tuple[object, ...], Poly] = {}
        roundings: dict[Poly, None] = {}
        found = [
            SymbolicWalk(self.prices(), Ranks(self.places, self.facts, rank, sums, roundings), trips).whole(self.graph)
            for rank in range(self.procs)
        ]
        return Made(found, trips, tuple(roundings))


class Made(Struct, frozen=True):
    """What the walk gives: the expressions of each processor, with which trip counts of while loops, and the quotients
    in the bounds of loops."""

    ranks: list[Derived]
    trips: Mapping[int, int]
    roundings: tuple[Poly, ...]


def counting(subject: Subject, size: int) -> Counting:
    """Count symbolically. `size`: it is checked, too, where the facts hold for it."""
    known: dict[int, CountSample] = {}

    def sampled(at: int) -> CountSample:
        if at not in known:
            known[at] = subject.count(at)
        return known[at]

    least = subject.facts.least
    made = subject.derived(_constant_trips(subject, sampled))
    found = _tried(subject, sampled, made, least, size)
    for _ in range(ATTEMPTS - 1):
        if not found.missing or not _changes_ranges(found, sampled):
            break
        least *= 2
        other = _tried(subject, sampled, made, least, size)
        found = other if len(other.missing) < len(found.missing) else found
    if any(figure != "memory.pack" for _, figure, _ in found.missing):
        least = max(found.facts.least, WIDE * subject.facts.least // subject.facts.cells)
        other = _tried(subject, sampled, made, least, size, WIDE)
        found = other if len(other.missing) < len(found.missing) else found
    further = [each for each in _further(found) if (most := found.most(subject.bounds)) is None or each <= most]
    return _checked(found, [sampled(each) for each in further], subject.procs)


def _tried(subject: Subject, sampled: Counter, made: Made, least: int, size: int, cells: int = CELLS) -> Counting:
    """Count from a least size on, and check the counts at a size."""
    found = _attempt(subject, sampled, made, least, cells)
    at = [size] if found.facts.hold(size) and size not in found.samples else []
    return _checked(found, [sampled(each) for each in at], subject.procs)


def _changes_ranges(found: Counting, sampled: Counter) -> bool:
    """Whether messages of an AAU without expressions are in several ranges: larger sizes may have expressions."""
    sizes = sorted({*found.samples, *found.checked})
    ends = [
        {key for key in sampled(each).counts if key in found.missing and key[1].startswith("network.")}
        for each in (sizes[:1] + sizes[-1:])
    ]
    return not sizes or ends[0] != ends[-1]


def _further(found: Counting) -> tuple[int, ...]:
    """A size beyond those used."""
    start = 2 * max((found.facts.least, *found.samples)) + 1
    return tuple([each for each in range(start, start + 64) if found.facts.hold(each)][:1])


def _attempt(subject: Subject, sampled: Counter, made: Made, least: int, cells: int) -> Counting:
    """Count from a least size on."""
    facts, places, procs = subject.facts, subject.places, subject.procs
    own = Facts(facts.free, least, cells, facts.blocks)
    degrees = _degrees(subject.graph.body, frozenset(places.fixed), made.trips)
    left, step = _left(made.ranks), _step(subject.graph)
    degree = min(MOST_DEGREE, max((degrees.get(each, 0) for each in left), default=0))
    tried = ansatzes(places, own, degree, made.roundings, step)
    sizes = sizes_for(tried[-1], own, least)
    while sizes is None and degree > 1:
        degree -= 1
        tried = ansatzes(places, own, degree, made.roundings, step)
        sizes = sizes_for(tried[-1], own, least)
    samples = [sampled(each) for each in sizes or ()]
    counts = _common(made.ranks)
    wrong = {key[0] for each in samples for key in _different(counts, each, procs) if key[0] not in left}
    left |= dict.fromkeys(wrong, "its derived counts differ from those of the engine")
    counts = {key: each for key, each in counts.items() if key[0] not in left}
    keys = sorted({key for each in samples for key in each.counts if key[0] in left})
    solvers = [Solver(own, each, tuple(sizes or ())) for each in tried]
    added = interpolated(keys, samples, procs, solvers)
    counts |= {key: each for key, each in added.items() if each is not None}
    paying = {key[0] for each in samples for key in each.counts} | {key[0] for key in counts}
    origins: dict[int, Origin] = {each: "interpolated" if each in left else "derived" for each in sorted(paying)}
    return Counting(
        facts=own,
        counts=counts,
        origins=origins,
        missing={key: "its counts are not a polynomial" for key, each in added.items() if each is None},
        reasons=left,
        samples=tuple(sizes or ()),
        checked=(),
        messages=_messages(samples, solvers),
    )


def _left(made: Sequence[Derived]) -> dict[int, str]:
    """The AAUs without expressions on some processor."""
    return {aau: why for each in made for aau, why in each.left.items()}


def _common(made: Sequence[Derived]) -> dict[Key, tuple[Poly, ...]]:
    left = _left(made)
    keys = {(aau, *fee) for each in made for aau, fees in each.fees.items() if aau not in left for fee in fees}
    none = poly(0)
    return {
        (aau, figure, paid): tuple(each.fees.get(aau, {}).get((figure, paid), none) for each in made)
        for aau, figure, paid in sorted(keys)
    }


def _different(counts: Mapping[Key, tuple[Poly, ...]], sample: CountSample, procs: int) -> set[Key]:
    """The counts that are not those of the engine."""
    none = np.zeros(procs)
    found = set()
    for key in {*counts, *sample.counts}:
        theirs = exact(sample.counts.get(key, none))
        mine = [0] * procs if key not in counts else _values(counts[key], sample.size)
        if theirs is None or list(theirs) != mine:
            found.add(key)
    return found


def _values(polys: Sequence[Poly], size: int) -> list[object]:
    known: dict[Poly, object] = {}
    for each in polys:
        if each not in known:
            known[each] = each.value(dict.fromkeys(each.names, size))
    return [known[each] for each in polys]


def _checked(found: Counting, samples: Sequence[CountSample], procs: int) -> Counting:
    """Without the counts that differ at further sizes."""
    wrong = {key for each in samples for key in _different(found.counts, each, procs)} - found.missing.keys()
    return replace(
        found,
        counts={key: each for key, each in found.counts.items() if key not in wrong},
        missing={**found.missing, **dict.fromkeys(wrong, "its counts differ from those of the engine")},
        checked=(*found.checked, *(each.size for each in samples)),
    )


def _messages(samples: Sequence[CountSample], solvers: Sequence[Solver]) -> dict[int, Poly | None]:
    """The largest message of each AAU that sends any."""
    found: dict[int, Poly | None] = {}
    for aau in sorted({aau for each in samples for aau, size in each.messages.items() if size}):
        values = [Fraction(each.messages.get(aau, 0)) for each in samples]
        found[aau] = next((made for each in solvers if (made := each.solve(values)) is not None), None)
    return found


def _end(bytes_of: Poly | None, free: str, start: int, bounds: Sequence[float]) -> int | None:
    """The largest parameter at which a message is in the same range as at `start`; None: the range has no end."""
    if bytes_of is None:
        return None

    def size(at: int) -> float:
        return float(bytes_of.value({free: at}))

    bound = min((each for each in bounds if each >= size(start)), default=None)
    if bound is None or size(LARGEST) <= bound:
        return None
    low, high = start, LARGEST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if size(middle) <= bound else (low, middle)
    return low


def _constant_trips(subject: Subject, sampled: Counter) -> dict[int, int]:
    """While loop -> its iterations, where they are the same at two sizes; the counts at all others are checked."""
    loops = [each for each in g.walk(subject.graph.body) if isinstance(each, g.IterND) and each.body]
    least = subject.facts.least
    admitted = (each for each in range(least, least + NEARBY) if subject.facts.hold(each))
    sizes = [sampled(each) for each in islice(admitted, 0, 5, 4)] if loops else []
    found = {}
    for aau in loops if sizes else ():
        trips = {_trips(each.executions, aau) for each in sizes}
        first = trips.pop()
        if not trips and first is not None:
            found[aau.id] = first
    return found


def _trips(executions: Mapping[int, int], aau: g.IterND) -> int | None:
    entered, inside = executions.get(aau.id, 0), max(executions.get(each.id, 0) for each in aau.body)
    return inside // entered if entered and inside % entered == 0 else None


def _degrees(
    body: tuple[g.AAU, ...], fixed: frozenset[str], trips: Mapping[int, int], around: int = 0
) -> dict[int, int]:
    """AAU -> the number of loops around and in it whose bounds may depend on the parameter."""
    found = {}
    for aau in body:
        inside = around
        match aau:
            case g.IterD(nest=None, loop=DoNode() as loop) | g.IterSync(loop=DoNode() as loop):
                inside += _varies(loop.index, fixed)
            case g.IterND():
                inside += aau.id not in trips
            case _:
                pass
        found[aau.id] = max(inside, around + _own(aau, fixed))
        found |= _degrees(g.children(aau), fixed, trips, inside)
    return found


def _own(aau: g.AAU, fixed: frozenset[str]) -> int:
    match aau:
        case g.IterD(nest=nest) if nest is not None:
            return sum(_varies(each, fixed) for each in nest.indices)
        case g.IterSync(owned=owned) if owned is not None:
            return 1
        case g.Comm(operation=operation) if operation is not None:
            return _of_operation(operation, fixed)
        case g.Comm():
            return 2
        case g.SyncSeq(combine=combine) if combine.kept is not None:
            return sum(_varies(each, fixed) for each in combine.kept.indices)
        case g.Call(charges=charges) if charges:
            return 3
        case _:
            return 0


def _step(graph: g.Graph) -> int:
    """The common multiple of the steps of all loops."""
    found = 1
    for aau in g.walk(graph.body):
        indices: list[Index] = []
        match aau:
            case g.IterD(nest=nest) if nest is not None:
                indices = list(nest.indices)
            case g.IterD(loop=DoNode() as loop) | g.IterSync(loop=DoNode() as loop):
                indices = [loop.index]
            case g.Comm(operation=operation) if operation is not None:
                indices = [each for need in operation.needs for each in need.reference.indices]
            case _:
                pass
        for each in indices:
            if isinstance(each.step, IntLit) and each.step.value:
                found = lcm(found, each.step.value)
    return found


def _of_operation(operation: Operation, fixed: frozenset[str]) -> int:
    return max((sum(_varies(each, fixed) for each in need.reference.indices) for need in operation.needs), default=0)


def _varies(index: Index, fixed: frozenset[str]) -> bool:
    return not names_in(*index.bounds) <= fixed
