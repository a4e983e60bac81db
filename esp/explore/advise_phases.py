"""Whether it pays to change the mapping between parts of a program with REDISTRIBUTE.

The parts are the statements of the main program, and those inside a loop that takes most of its time. What each takes
under a mapping is what its AAUs take in the prediction of the whole program under that mapping (means over processors,
Def 4), so what one part leaves in the caches or overlap areas of the next is that of one mapping throughout. What it
costs to move is what the engine charges for assigning every array to one of the other mapping, without the assignments:
the messages, the packing and the waiting.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import inf

from msgspec import Struct
from msgspec.structs import replace

from aag.ir.spelling import spell_type
from aag.ir.statements import Do, DoWhile, Stmt
from aag.ir.units import Program, Type
from aag.ir.visitors import walk_statements
from aag.mapping.layout import Layout, Layouts
from aag.pipeline import Options, abstract, main_unit
from aag.source.read import read_program
from aag.spmd.lower import lower as lower_unit
from aag.spmd.optimize import optimize
from esp.api import Prediction, Request, Source, Stages, interpret_stages
from esp.prediction import four
from sag.unit import System

MOST = 4
"""Mappings between which is changed: the best of the whole program and the best of its costliest parts."""

WHOLE = 0.5
"""Share of the time from which a loop is looked into."""

Costs = Sequence[Sequence[float]]
"""Seconds from mapping to mapping."""

Way = tuple[float, tuple[int, ...]]
"""Seconds, and the mapping of each part."""


class ProgramPart(Struct, frozen=True, kw_only=True):
    """Some statements that follow each other, and the number of the mapping they are best under."""

    first: int
    last: int
    """Lines."""
    mapping: int
    time_s: float
    """All its executions under that mapping."""


class Phases(Struct, frozen=True, kw_only=True):
    """What changing the mapping would bring. Mappings are numbers from 0, as `phases` was given them."""

    one: int
    one_s: float
    """The best mapping for all, and its time."""
    parts: tuple[ProgramPart, ...]
    """The best way to change or, where none pays, the one that would pay first if moving cost less; a single part: no
    other mapping is better anywhere."""
    parts_s: float
    """What its parts take, without moving."""
    moves: int
    """How often data move."""
    move_s: float
    """What that costs in all."""
    break_even: float
    """Changing pays as long as moving costs less than so many times what it does; 0: it never does."""

    @property
    def pays(self) -> bool:
        """Whether REDISTRIBUTE pays."""
        return len(self.parts) > 1 and self.parts_s + self.move_s < self.one_s


class _Unit(Struct, frozen=True, kw_only=True):
    """A statement, or a loop with the statements inside it, each executed once in every trip."""

    first: int
    last: int
    times_s: tuple[float, ...]
    """Under each mapping, all executions."""
    inside: tuple["_Unit", ...] = ()
    trips: int = 1


def phases(
    source: Source,
    system: System,
    requests: Sequence[Request],
    layouts: Sequence[Layouts],
    predictions: Sequence[Prediction],
) -> Phases | None:
    """Look for changes of the mapping that pay.

    Args:
        source: the program.
        system: the machine.
        requests: one for each mapping.
        layouts: of each.
        predictions: of each, of the whole program.

    Returns:
        None where the program has fewer than two parts or mappings, or statements from other files.
    """
    if any(each.span.file != source.program.file for each in walk_statements(main_unit(source.program).body)):
        return None
    units = _units(source.program, predictions)
    leaves = [leaf for unit in units for leaf in (unit.inside or (unit,))]
    totals = [sum(column) for column in zip(*(unit.times_s for unit in units), strict=True)]
    if len(leaves) < 2 or len(predictions) < 2:
        return None
    one = totals.index(min(totals))
    chosen = _chosen(leaves, one)
    units = tuple(_only(unit, chosen) for unit in units)
    home = chosen.index(one)
    cost = [[0.0] * len(chosen) for _ in chosen]
    if _cheapest(units, cost, home, 1.0)[0] < totals[one]:
        cost = [
            [0.0 if a == b else moving_s(source, system, requests[a], layouts[a], layouts[b]) for b in chosen]
            for a in chosen
        ]
    factor = _break_even(units, cost, home, totals[one])
    _, path = _cheapest(units, cost, home, 1.0 if factor > 1.0 else factor * (1.0 - 1e-6))
    if not factor:
        path = (home,) * len(leaves)
    moves, move_s = _moves(units, path, cost)
    parts = _parts(units, path, chosen)
    return Phases(
        one=one,
        one_s=totals[one],
        parts=parts,
        parts_s=sum(each.time_s for each in parts),
        moves=moves,
        move_s=move_s,
        break_even=factor,
    )


# --- parts of the program and what they take ---


def _units(program: Program, predictions: Sequence[Prediction]) -> tuple[_Unit, ...]:
    main = main_unit(program)
    rows = [_rows(each) for each in predictions]
    found: list[_Unit] = []
    for statement, end in _ranges(main.body, main.end.line):
        first = statement.span.line if found else 0
        times_s = tuple(sum(row.time_s for row in each if first <= row.line <= end) for each in rows)
        inside: tuple[_Unit, ...] = ()
        trips = 1
        shares = (took > WHOLE * sum(row.time_s for row in each) for took, each in zip(times_s, rows, strict=True))
        if isinstance(statement, Do | DoWhile) and any(shares):
            within = [[row for row in each if first <= row.line <= end] for each in rows]
            starts = {each.span.line for each in statement.body}
            trips = max((row.executions for row in within[0] if row.inner in starts and row.own), default=1) or 1
            inside = tuple(
                _Unit(
                    first=each.span.line,
                    last=until,
                    times_s=tuple(
                        sum(row.time_s for row in some if (each.span.line if at else 0) <= row.inner <= until)
                        for some in within
                    ),
                )
                for at, (each, until) in enumerate(_ranges(statement.body, end))
            )
        found.append(_Unit(first=statement.span.line, last=end, times_s=times_s, inside=inside, trips=trips))
    return tuple(found)


class _Row(Struct, frozen=True):
    """An AAU without those inside it, and the lines of the outermost AAUs around it: what a procedure does belongs to
    the statement that calls it. `own`: it is itself the inner one."""

    line: int
    inner: int
    own: bool
    executions: int
    time_s: float


def _rows(prediction: Prediction) -> list[_Row]:
    known = {each.id: each for each in prediction.aaus}
    rows = []
    for each in prediction.aaus:
        chain = [each]
        while (parent := chain[-1].parent) is not None:
            chain.append(known[parent])
        lines = [one.span.line for one in reversed(chain) if one.kind != "Spawn"] or [0]
        rows.append(
            _Row(lines[0], lines[min(1, len(lines) - 1)], len(lines) == 2, each.executions, sum(four(each.parts)))
        )
    return rows


def _ranges(body: Sequence[Stmt], last: int) -> list[tuple[Stmt, int]]:
    """Statements with the last of their lines: all up to the next one."""
    ends = [after.span.line - 1 for _, after in pairwise(body)]
    return list(zip(body, [*ends, last], strict=True))


def _chosen(leaves: Sequence[_Unit], one: int) -> list[int]:
    """The mappings to change between: the best for all, and the best of the parts that gain most by it."""
    gains: dict[int, float] = {}
    for leaf in leaves:
        at = leaf.times_s.index(min(leaf.times_s))
        gains[at] = gains.get(at, 0.0) + leaf.times_s[one] - leaf.times_s[at]
    others = sorted((at for at in gains if at != one and gains[at] > 0), key=lambda at: (-gains[at], at))
    return [one, *others[: MOST - 1]]


def _only(unit: _Unit, chosen: Sequence[int]) -> _Unit:
    inside = tuple(_only(each, chosen) for each in unit.inside)
    return replace(unit, times_s=tuple(unit.times_s[at] for at in chosen), inside=inside)


# --- what moving costs ---


def moving_s(source: Source, system: System, request: Request, before: Layouts, after: Layouts) -> float:
    """Seconds that it takes to move all arrays that lie elsewhere from one mapping to another."""
    main = main_unit(source.program)
    moved = [name for name in before.arrays if _elsewhere(before.arrays[name], after.arrays[name])]
    if not moved:
        return 0.0
    text, arrays = ["program move"], {}
    for at, name in enumerate(moved):
        layout = before.arrays[name]
        shape = ", ".join(f"{low}:{high}" for low, high in layout.bounds)
        entity = main.entity(name)
        kind = spell_type(Type(base="real", bytes=layout.element_bytes) if entity is None else entity.type)
        text += [f"  {kind} :: a{at}({shape})", f"  {kind} :: b{at}({shape})"]
        arrays[f"a{at}"] = replace(layout, array=f"a{at}")
        arrays[f"b{at}"] = replace(after.arrays[name], array=f"b{at}")
    text += [f"  b{at} = a{at}" for at in range(len(moved))]
    program = read_program("\n".join([*text, "end program move"]) + "\n", "<moving>")
    layouts = replace(before, arrays=arrays, notes=())
    node_program = optimize(lower_unit(program, main_unit(program), layouts, Options()))
    stages = Stages(source=Source(program=program), node_program=node_program, graph=abstract(node_program))
    made = interpret_stages(stages, system, replace(request, timed=False, values={}))
    return sum(four(made.parts)[1:])


def _elsewhere(before: Layout, after: Layout) -> bool:
    return (before.grid.shape, before.axes) != (after.grid.shape, after.axes)


# --- the best way through ---


def _cheapest(units: Sequence[_Unit], cost: Costs, home: int, factor: float) -> Way:
    """The shortest way through all parts, and the mapping of each; it begins with any mapping, as data may be laid out
    so from the start; a loop ends under the mapping that it began with. Moving costs `factor` times `cost`. Of equal
    ways the one that stays at home."""
    cost = [[each * factor for each in row] for row in cost]
    order = [home, *(at for at in range(len(cost)) if at != home)]
    states: dict[int, Way] = dict.fromkeys(order, (0.0, ()))
    for unit in units:
        around = {at: _through(unit, cost, at, order) for at in order}
        states = {
            at: _least(
                [
                    (taken + (cost[before][at] if path else 0.0) + around[at][0], (*path, *around[at][1]))
                    for before, (taken, path) in _first(states, at)
                ]
            )
            for at in order
        }
    return _least([states[at] for at in order])


def _first(states: Mapping[int, Way], at: int) -> list[tuple[int, Way]]:
    """The states, staying before changing."""
    return sorted(states.items(), key=lambda each: each[0] != at)


def _through(unit: _Unit, cost: Costs, begin: int, order: Sequence[int]) -> Way:
    """All of a statement that is begun under a mapping; in a loop the first part is under it in every trip."""
    if not unit.inside:
        return unit.times_s[begin], (begin,)
    states: dict[int, Way] = {at: (unit.inside[0].times_s[at] if at == begin else inf, (at,)) for at in order}
    for part in unit.inside[1:]:
        states = {
            at: _least(
                [
                    (taken + unit.trips * cost[before][at] + part.times_s[at], (*path, at))
                    for before, (taken, path) in _first(states, at)
                ]
            )
            for at in order
        }
    return _least([(taken + unit.trips * cost[at][begin], path) for at, (taken, path) in _first(states, begin)])


def _least(ways: Sequence[Way]) -> Way:
    return min(ways, key=lambda each: each[0])


def _moves(units: Sequence[_Unit], path: Sequence[int], cost: Costs) -> tuple[int, float]:
    """How often data move on a way, and what it costs."""
    moves, move_s, at = 0, 0.0, 0
    before = path[0]
    for unit in units:
        inner = path[at : at + max(1, len(unit.inside))]
        steps = [(before, inner[0], 1)]
        if unit.inside:
            steps += [(a, b, unit.trips) for a, b in pairwise((*inner, inner[0]))]
        for a, b, often in steps:
            moves += often * (a != b)
            move_s += often * cost[a][b] if a != b else 0.0
        before = inner[0]
        at += len(inner)
    return moves, move_s


def _break_even(units: Sequence[_Unit], cost: Costs, home: int, one_s: float) -> float:
    """The largest factor on the cost of moving with which changing still pays, found by halving; at most a million."""

    def pays(factor: float) -> bool:
        return _cheapest(units, cost, home, factor)[0] < one_s * (1.0 - 1e-9)

    if not pays(0.0):
        return 0.0
    low, high = 0.0, 1.0
    while high < 1e6 and pays(high):
        low, high = high, 2.0 * high
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if pays(middle) else (low, middle)
    return low


def _parts(units: Sequence[_Unit], path: Sequence[int], chosen: Sequence[int]) -> tuple[ProgramPart, ...]:
    """Neighbours under one mapping as one part; `chosen`: the numbers of the mappings."""
    leaves = [leaf for unit in units for leaf in (unit.inside or (unit,))]
    found: list[ProgramPart] = []
    for leaf, at in zip(leaves, path, strict=True):
        one = ProgramPart(first=leaf.first, last=leaf.last, mapping=chosen[at], time_s=leaf.times_s[at])
        if found and found[-1].mapping == one.mapping:
            before = found.pop()
            one = replace(before, last=one.last, time_s=before.time_s + one.time_s)
        found.append(one)
    return tuple(found)
