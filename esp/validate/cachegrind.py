"""Cache misses of every loop nest: predicted for one processor, and counted by cachegrind in the node program.

Both sides have the data cache of the machine with cachegrind's policy (least recently used, allocation on writes),
begin with it cold, and are of the whole run. The prediction is told the addresses that the arrays had in the run.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from aag.graph.aau import CondtD, IterD, IterSync, walk
from esp import api
from esp.building import emitted_of
from esp.errors import PredictionError, UsageError
from esp.tools import tool
from esp.validate.given import NOTHING, GivenInput
from esp.validate.job import Job, Validation
from esp.validate.measured import Pair, alone, measure
from esp.validate.valgrind import Geometry
from interpreter.application import Application
from interpreter.engine import Walker, start
from interpreter.setting import Setting
from interpreter.state import Run
from interpreter.summary import counts_of
from sag.machine import CacheCosts, Machine, MemoryCosts
from sag.scenario import export
from sag.unit import System

TOLERANCE = 0.1
"""Relative error of a nest's misses that is accepted."""
MANY = 1000
"""Misses of a nest from which on its error is relative."""
FEW = 20
"""Misses more or less that the scalars, constants and stack of a program may make in any nest."""
SLIGHT = 0.01
"""Share of all counted misses by which a nest of fewer than `MANY` may be off: a stack that large nests throw out is
missed anywhere."""
SHIFTS = (1, 3, 7)
"""Lines by which the arrays are moved apart, to see whether the misses of a nest are those of conflicts."""
UNSTEADY = 0.10
"""Share of its misses by which a nest with conflicts moves when its arrays do."""


class MissRow(Struct, frozen=True, kw_only=True):
    """The nests of one source line, or all lines of one DO nest."""

    line: int
    text: str
    """The source line."""
    counted: Pair
    predicted: Pair
    nest: int = 0
    """The first line of the nest; 0: the line itself."""

    @property
    def misses(self) -> float:
        """Counted, read and written."""
        return sum(self.counted)

    @property
    def off(self) -> float:
        """Misses predicted too many."""
        return sum(self.predicted) - self.misses

    @property
    def error(self) -> float:
        """That as a share of what is counted."""
        return self.off / max(1.0, self.misses)

    def within(self, tolerance: float, few: float = FEW) -> bool:
        """Whether the prediction is as good as asked: relative where there are many misses, else to within `few`."""
        return abs(self.off) <= (tolerance * self.misses if self.misses >= MANY else max(few, tolerance * self.misses))


class Unsteady(Struct, frozen=True, kw_only=True):
    """A nest whose misses are those of conflicts: how many are counted with arrays that lie otherwise."""

    row: MissRow
    least: float
    most: float


class MissComparison(Struct, frozen=True, kw_only=True):
    """All nests of a program."""

    rows: tuple[MissRow, ...]
    geometry: Geometry
    aliased: tuple[str, ...]
    """Arrays of which more than there are ways start within a line of each other, modulo what shares a set."""
    unsteady: tuple[Unsteady, ...] = ()

    @property
    def nests(self) -> tuple[MissRow, ...]:
        """The nests: the lines of a DO nest together, as a compiler keeps in registers what its statements share."""
        parts: dict[int, list[MissRow]] = {}
        for row in self.rows:
            parts.setdefault(row.nest or row.line, []).append(row)
        return tuple(_together(line, rows) for line, rows in parts.items())


def _together(line: int, rows: Sequence[MissRow]) -> MissRow:
    counted, predicted = (
        (sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs))
        for pairs in ([row.counted for row in rows], [row.predicted for row in rows])
    )
    return replace(rows[0], line=line, counted=counted, predicted=predicted)


def validate(job: Job) -> Validation:
    """Count and predict the misses of every nest.

    Raises:
        esp.errors.PredictionError: a tool is missing, or the program does not compile or run.
        UsageError: another number of processors than one is asked for.
    """
    if set(job.procs) - {None, 1}:
        hint = "Leave --procs out; cachegrind counts the misses of a one-processor run."
        raise UsageError("cachegrind counts on one processor.", where="--procs", hint=hint)
    for each in ("gfortran", "make", "valgrind"):
        tool(each)
    request = job.request(1)
    found = compared(job.source, job.system, request, job.folder, limit_s=job.limit_s, given=job.given)
    tolerance = TOLERANCE if job.tolerance is None else job.tolerance
    far = astray(found, tolerance)
    unsteady = conflicts(job.source, job.system, request, job.folder, far, limit_s=job.limit_s, given=job.given)
    found = replace(found, unsteady=tuple(unsteady))
    return Validation(found=found, faults=faults(found, tolerance, unsteady))


def conflicts(
    source: api.Source,
    system: System,
    request: api.Request,
    folder: Path,
    rows: Sequence[MissRow],
    gap_bytes: int = 0,
    limit_s: float = 0.0,
    given: GivenInput = NOTHING,
) -> tuple[Unsteady, ...]:
    """Those of some nests that miss otherwise by `UNSTEADY` as soon as the arrays are moved apart by a few lines."""
    if not rows:
        return ()
    counts = {row.line: [row.misses] for row in rows}
    for lines in SHIFTS:
        # The library takes 8 bytes of its own.
        gap = gap_bytes + lines * geometry_of(_memory(system, request)).line_bytes - 8
        moved = compared(source, system, request, folder, gap, limit_s, given)
        for row in moved.nests:
            if row.line in counts:
                counts[row.line].append(row.misses)
    return tuple(
        Unsteady(row=row, least=min(counts[row.line]), most=max(counts[row.line]))
        for row in rows
        if max(counts[row.line]) - min(counts[row.line]) > UNSTEADY * row.misses
    )


def _memory(system: System, request: api.Request) -> MemoryCosts:
    memory = with_policy(export(system, request.scenario)).memory
    assert memory is not None
    return memory


def compared(
    source: api.Source,
    system: System,
    request: api.Request,
    folder: Path,
    gap_bytes: int = 0,
    limit_s: float = 0.0,
    given: GivenInput = NOTHING,
    *,
    cache: int = 0,
) -> MissComparison:
    """All nests of a program on one processor. `gap_bytes`: unused memory between arrays; `limit_s`: how long the
    program may run (0: as long as it takes); `given`: what it reads; `cache`: number of the cache, 0 for the nearest.

    Raises:
        PredictionError: the machine has no data cache, or the program does not compile or run.
    """
    machine = with_policy(export(system, request.scenario))
    assert machine.memory is not None
    geometry = geometry_of(machine.memory, cache)
    stages = api.lower_source(source, system, request)
    program = alone(stages.node_program)
    emission = emitted_of(replace(stages, node_program=program), system, request)
    measured = measure(program, emission, folder / "cachegrind", geometry, gap_bytes, limit_s, given)
    found = predicted_misses(stages, machine, request, measured.addresses, machine.memory.caches[cache])
    predicted, counted = found.misses, dict(measured.misses)
    for at in found.tests:
        mine, tested = (each.get(at, (0, 0)) for each in (counted, measured.tests))
        counted[at] = (mine[0] + tested[0], mine[1] + tested[1])
    arrays = {name: at for name, at in measured.addresses.items() if "@" not in name}
    lines = [at for at in sorted({*counted, *predicted}) if at in predicted or sum(counted[at]) > FEW]
    return MissComparison(
        rows=tuple(
            MissRow(
                line=at,
                text=program.lines[at - 1].strip(),
                counted=counted.get(at, (0, 0)),
                predicted=predicted.get(at, (0.0, 0.0)),
                nest=found.nests.get(at, at),
            )
            for at in lines
        ),
        geometry=geometry,
        aliased=aliased(arrays, geometry),
    )


def with_policy(machine: Machine) -> Machine:
    """The machine with the policy of cachegrind's data caches, and misses that cost something, so that they count.

    Raises:
        PredictionError: its description has no data cache.
    """
    if machine.memory is None:
        raise PredictionError(f"{machine.name} has no data cache.", hint="Its description would name one in M.")
    one = np.ones(1)
    caches = tuple(
        replace(each, replacement="lru", write_allocate=True, read_miss_s=one, write_miss_s=one)
        for each in machine.memory.caches
    )
    return replace(machine, memory=replace(machine.memory, caches=caches))


def geometry_of(memory: MemoryCosts, number: int = 0) -> Geometry:
    """A data cache of a machine, the nearest has the number 0."""
    cache = memory.caches[number]
    ways = cache.associativity or cache.size_bytes // cache.line_bytes
    nearer = geometry_of(memory, number - 1) if number else None
    return Geometry(size_bytes=cache.size_bytes, line_bytes=cache.line_bytes, ways=ways, nearer=nearer)


class Predicted(Struct, frozen=True):
    """Predicted misses by source line, the first line of the nest in which each line is, and the lines of IFs that are
    a part of DO nests: elsewhere a condition misses scalars alone, which are not predicted."""

    misses: Mapping[int, Pair]
    nests: Mapping[int, int]
    tests: frozenset[int]


def predicted_misses(
    stages: api.Stages, machine: Machine, request: api.Request, addresses: Mapping[str, int], cache: CacheCosts
) -> Predicted:
    """Misses of a cache in every line in a loop nest, as the engine interprets the program with its arrays at
    `addresses`."""

    def attempt(setting: Setting) -> Run:
        setting = replace(setting, io=False, force_unroll=False, timed=False, addresses=addresses)
        walker = Walker(stages.graph, setting.values)
        run = start(Application(stages.node_program), stages.graph, machine, setting, walker)
        walker.walk(run, stages.graph)
        return run

    run, _ = api.interpreted(stages, request, attempt)
    counts = counts_of(run)
    found: dict[int, Pair] = {}
    nests: dict[int, int] = {}
    swept = {
        touch.source: aau.span.line
        for aau in walk(stages.graph.body)
        if isinstance(aau, IterD)
        for sweep in aau.sweeps
        for touch in sweep.touches
    }
    for aau in walk(stages.graph.body):
        node = aau.nest if isinstance(aau, IterD) else aau.owned if isinstance(aau, IterSync) else None
        if node is None and aau.id not in swept:
            continue
        line = aau.span.line
        nests.setdefault(line, swept.get(aau.id, line))
        read, written = (counts.total(cache.figure(f"{kind}_miss"), (aau.id,)) for kind in ("read", "write"))
        before = found.get(line, (0.0, 0.0))
        found[line] = (before[0] + read, before[1] + written)
    tests = (aau.span.line for aau in walk(stages.graph.body) if isinstance(aau, CondtD) and aau.id in swept)
    return Predicted(found, nests, frozenset(tests))


def aliased(addresses: Mapping[str, int], geometry: Geometry) -> tuple[str, ...]:
    """Arrays of which more than there are ways start within a line of each other, modulo what shares a set."""
    place = {name: at % geometry.turn_bytes for name, at in addresses.items()}

    def near(one: int, other: int) -> bool:
        apart = abs(one - other)
        return min(apart, geometry.turn_bytes - apart) < geometry.line_bytes

    crowded = [at for at in place.values() if sum(near(at, one) for one in place.values()) > geometry.ways]
    return tuple(name for name, at in place.items() if any(near(at, one) for one in crowded))


def astray(found: MissComparison, tolerance: float) -> tuple[MissRow, ...]:
    """Nests whose misses are not as predicted."""
    few = max(FEW, SLIGHT * sum(row.misses for row in found.rows))
    return tuple(row for row in found.nests if not row.within(tolerance, few))


def faults(found: MissComparison, tolerance: float, unsteady: Sequence[Unsteady] = ()) -> tuple[str, ...]:
    """What is wrong with the nests that are astray; one with conflicts is not, if it is within their span."""
    spans = {each.row.line: each for each in unsteady}
    return tuple(
        f"line {row.line} misses the cache {row.misses:.0f} times, and {sum(row.predicted):.0f} times as predicted; "
        f"{100 * tolerance:g} % are allowed, or {FEW} misses where fewer than {MANY} are counted."
        for row in astray(found, tolerance)
        if row.line not in spans or not spans[row.line].least <= sum(row.predicted) <= spans[row.line].most
    )
