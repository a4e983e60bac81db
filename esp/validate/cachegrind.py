"""Cache misses of every loop nest: predicted for one processor, and counted by cachegrind in the node program.

Both sides have the data cache of the machine with cachegrind's policy (least recently used, allocation on writes),
begin with it cold, and are of the whole run. The prediction is told the addresses that the arrays had in the run.
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from statistics import median

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from aag.graph.aau import IterD, IterSync, walk
from esp import api
from esp.building import emitted_of
from esp.errors import PredictionError, UsageError
from esp.tools import tool
from esp.validate.job import Job, Report, columns
from esp.validate.measured import Pair, alone, measure
from esp.validate.valgrind import Geometry
from interpreter.engine import Walker, start
from interpreter.lowered import Lowered
from interpreter.metrics import Tally
from interpreter.setting import Setting
from sag.machine import Machine, MemoryCosts
from sag.scenario import export
from sag.unit import System

MANY = 200
"""Misses of a nest from which on its error is relative."""
FEW = 20
"""Misses more or less that the scalars, constants and stack of a program may make in any nest."""
SLIGHT = 0.01
"""Share of all counted misses up to which a line may be off: a stack that large nests throw out is missed anywhere."""
SNUG = (0.6, 1.6)
"""Where data fill the cache so far, what else a program touches throws some of them out: errors are twice as large."""


class Row(Struct, frozen=True, kw_only=True):
    """The nests of one source line."""

    line: int
    text: str
    """The source line."""
    counted: Pair
    predicted: Pair

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

    def within(self, tolerance: float) -> bool:
        """Whether the prediction is as good as asked: relative where there are many misses, else to within `FEW`."""
        return abs(self.off) <= (tolerance * self.misses if self.misses >= MANY else FEW)


class Comparison(Struct, frozen=True, kw_only=True):
    """All nests of a program."""

    rows: tuple[Row, ...]
    geometry: Geometry
    aliased: tuple[str, ...]
    """Arrays of which more than there are ways start within a line of each other, modulo what shares a set."""
    held_bytes: int
    """The arrays together."""

    @property
    def snug(self) -> bool:
        """Whether they just about fill the cache."""
        return SNUG[0] <= self.held_bytes / self.geometry.size_bytes <= SNUG[1]


def validate(job: Job) -> Report:
    """Count and predict the misses of every nest.

    Raises:
        esp.errors.PredictionError: a tool is missing, or the program does not compile or run.
        UsageError: another number of processors than one is asked for.
    """
    if set(job.procs) - {None, 1}:
        hint = "Leave --procs out; it is the node program of one processor that is watched."
        raise UsageError("cachegrind watches one processor.", where="--procs", hint=hint)
    for each in ("gfortran", "make", "valgrind"):
        tool(each)
    found = compared(job.source, job.system, job.request(1), job.folder, limit_s=job.limit_s)
    return Report(table=table(found), faults=faults(found, job.tolerance))


def compared(
    source: api.Source, system: System, request: api.Request, folder: Path, gap_bytes: int = 0, limit_s: float = 0.0
) -> Comparison:
    """All nests of a program on one processor. `gap_bytes`: unused memory between arrays; `limit_s`: how long the
    program may run (0: as long as it takes).

    Raises:
        PredictionError: the machine has no data cache, or the program does not compile or run.
    """
    machine = with_policy(export(system, request.scenario))
    assert machine.memory is not None
    geometry = geometry_of(machine.memory)
    stages = api.lower_source(source, system, request)
    program = alone(stages.node_program)
    emission = emitted_of(replace(stages, node_program=program), system, request)
    measured = measure(program, emission, folder / "cachegrind", geometry, gap_bytes, limit_s)
    predicted = predicted_misses(stages, machine, request, measured.addresses)
    lines = [at for at in sorted({*measured.misses, *predicted})
             if at in predicted or sum(measured.misses[at]) > FEW]  # fmt: skip
    return Comparison(
        rows=tuple(
            Row(
                line=at,
                text=program.lines[at - 1].strip(),
                counted=measured.misses.get(at, (0, 0)),
                predicted=predicted.get(at, (0.0, 0.0)),
            )
            for at in lines
        ),
        geometry=geometry,
        aliased=aliased(measured.addresses, geometry),
        held_bytes=int(Lowered(program).bytes_held()[0]),
    )


def with_policy(machine: Machine) -> Machine:
    """The machine with the policy of cachegrind's data cache, and misses that cost something, so that they count.

    Raises:
        PredictionError: its description has no data cache.
    """
    if machine.memory is None or not machine.memory.cache_bytes:
        raise PredictionError(f"{machine.name} has no data cache.", hint="Its description would name one in M.")
    one = np.ones(1)
    memory = replace(machine.memory, replacement="lru", write_allocate=True, read_miss_s=one, write_miss_s=one)
    return replace(machine, memory=memory)


def geometry_of(memory: MemoryCosts) -> Geometry:
    """The data cache of a machine."""
    ways = memory.associativity or memory.cache_bytes // memory.line_bytes
    return Geometry(size_bytes=memory.cache_bytes, line_bytes=memory.line_bytes, ways=ways)


def predicted_misses(
    stages: api.Stages, machine: Machine, request: api.Request, addresses: Mapping[str, int]
) -> dict[int, Pair]:
    """Misses of every line in a loop nest, as the engine interprets the program with its arrays at `addresses`."""
    values = {name.lower(): value for name, value in request.values.items()}
    setting = Setting(io=False, values=values, addresses=addresses)
    walker = Walker(stages.graph, values)
    run = start(Lowered(stages.node_program), stages.graph, machine, setting, walker)
    walker.visit(run, stages.graph.body)
    found: dict[int, Pair] = {}
    swept = {touch.source for aau in walk(stages.graph.body) if isinstance(aau, IterD)
             for sweep in aau.sweeps for touch in sweep.touches}  # fmt: skip
    for aau in walk(stages.graph.body):
        node = aau.nest if isinstance(aau, IterD) else aau.owned if isinstance(aau, IterSync) else None
        if node is None and aau.id not in swept:
            continue
        line = aau.span.line
        tally = run.ledger.tallies.get(aau.id)
        written = 0.0 if tally is None else float(tally[Tally.WRITE_MISSES, 0])
        read = 0.0 if tally is None else float(tally[Tally.MISSES, 0]) - written
        before = found.get(line, (0.0, 0.0))
        found[line] = (before[0] + read, before[1] + written)
    return found


def aliased(addresses: Mapping[str, int], geometry: Geometry) -> tuple[str, ...]:
    """Arrays of which more than there are ways start within a line of each other, modulo what shares a set."""
    place = {name: at % geometry.turn_bytes for name, at in addresses.items()}

    def near(one: int, other: int) -> bool:
        apart = abs(one - other)
        return min(apart, geometry.turn_bytes - apart) < geometry.line_bytes

    crowded = [at for at in place.values() if sum(near(at, one) for one in place.values()) > geometry.ways]
    return tuple(name for name, at in place.items() if any(near(at, one) for one in crowded))


# --- for people -------------------------------------------------------------------------------------------------

HEAD = ("line", "read", "write", "read", "write", "error")


def table(found: Comparison) -> str:
    """One line for each source line that has nests, and a summary."""
    rows = [list(HEAD), *map(_cells, found.rows)]
    told = columns(rows).splitlines()
    width = [max(map(len, column)) for column in zip(*rows, strict=True)]
    counted, predicted = (width[at] + 2 + width[at + 1] for at in (1, 3))
    lines = [f"{'':{width[0]}}  {'counted':>{counted}}  {'predicted':>{predicted}}", told[0]]
    lines += [f"{line}  {row.text}"[:WIDTH].rstrip() for line, row in zip(told[1:], found.rows, strict=True)]
    return "\n".join([*lines, "", *summary(found)]) + "\n"


WIDTH = 80


def _cells(row: Row) -> list[str]:
    off = f"{100 * row.error:+.1f} %" if row.misses >= MANY else f"{row.off:+.0f}"
    return [str(row.line), *(f"{each:.0f}" for each in chain(row.counted, row.predicted)), off]


def summary(found: Comparison) -> list[str]:
    """What the errors come to, and in what cache."""
    many = [abs(row.error) for row in found.rows if row.misses >= MANY]
    few = [abs(row.off) for row in found.rows if row.misses < MANY]
    lines = []
    if many:
        lines.append(f"{_lines(many)} of at least {MANY} misses: median error {100 * median(many):.1f} %, "
                     f"worst {100 * max(many):.1f} %.")  # fmt: skip
    if few:
        lines.append(f"{_lines(few)} of fewer: at most {max(few):.0f} misses off.")
    cache = found.geometry
    lines.append(f"Data cache: {cache.size_bytes} bytes, {cache.ways} ways, lines of {cache.line_bytes} bytes, "
                 "LRU, allocates on writes.")  # fmt: skip
    if found.snug:
        share = 100 * found.held_bytes / cache.size_bytes
        lines.append(f"The arrays fill {share:.0f} % of it: twice the usual error is allowed.")
    if found.aliased:
        lines.append(f"More than {cache.ways} arrays begin in the same set of the cache: {', '.join(found.aliased)}.")
    return lines


def _lines(values: Sequence[float]) -> str:
    return f"{len(values)} line{'' if len(values) == 1 else 's'}"


def faults(found: Comparison, tolerance: float) -> tuple[str, ...]:
    """Lines whose misses are not as predicted."""
    tolerance *= 2 if found.snug else 1
    slight = SLIGHT * sum(row.misses for row in found.rows)
    return tuple(
        f"line {row.line} misses the cache {row.misses:.0f} times, and {sum(row.predicted):.0f} times as predicted; "
        f"{100 * tolerance:g} % are allowed, or {FEW} misses where fewer than {MANY} are counted."
        for row in found.rows
        if not row.within(tolerance) and abs(row.off) > slight
    )
