"""The node program of one processor, made to be watched by cachegrind.

What only several processors need is left out: communications, which would move nothing, and the owners' turns in
sequential loops. The rest are the node program's own loops. They are compiled so that each reference to an array is one
access of its own: no vectors, and no loop turned into a call of memcpy or, where it runs but twice, written out (so
that all but its last turn may be left out); and none moved out of a loop, to another line. The main program says where
its arrays lie.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from aag.ir.expressions import Var
from aag.ir.statements import Assign
from aag.spmd.emit import Emission
from aag.spmd.emit.names import Names
from aag.spmd.nodes import Communicate, Nest, Node, OwnedLoop, mapped, walk
from aag.spmd.program import NodeProgram
from esp.building import write
from esp.tools import call, tool
from esp.validate.given import NOTHING, GivenInput
from esp.validate.inquiry import lines_of
from esp.validate.valgrind import Geometry, watched

STUB = Path(__file__).with_name("mpi_stub.f90")
FLAGS = (
    "-g",
    "-O2",
    "-static",
    "-ffp-contract=off",
    "-fno-tree-loop-vectorize",
    "-fno-tree-slp-vectorize",
    "-fno-tree-loop-distribute-patterns",
    "-fdisable-tree-cunroll",
    "-fno-tree-loop-im",
    "-fno-gcse",
    "-Wl,--wrap=exp",
    "-Wl,--wrap=expf",
    "-Wl,--wrap=pow",
)

Pair = tuple[float, float]
"""Misses of reads and of writes."""


class Measured(Struct, frozen=True, kw_only=True):
    """What cachegrind counted: misses by line of the HPF program, those of IFs that begin a line apart; array -> byte
    address."""

    misses: Mapping[int, Pair]
    tests: Mapping[int, Pair]
    addresses: Mapping[str, int]


def alone(program: NodeProgram) -> NodeProgram:
    """The node program of one processor without what only several need."""
    return replace(program, body=_alone(program.body))


def _alone(body: Sequence[Node]) -> tuple[Node, ...]:
    found: list[Node] = []
    for node in body:
        match node:
            case Communicate():
                continue
            case OwnedLoop():
                found.append(node.own_part)
            case _:
                found.append(mapped(node, _alone))
    return tuple(found)


def measure(
    program: NodeProgram,
    emission: Emission,
    folder: Path,
    geometry: Geometry,
    gap_bytes: int = 0,
    limit_s: float = 0.0,
    given: GivenInput = NOTHING,
) -> Measured:
    """Compile what was emitted of `alone(program)`, run it under cachegrind, and sort misses by source line.

    Args:
        program: the node program, for its arrays and source lines.
        emission: its sources.
        folder: for sources and executable.
        geometry: of the data cache.
        gap_bytes: unused memory between arrays; 0: they lie directly behind each other.
        limit_s: how long the program may run; 0: as long as it takes.
        given: what the program reads.

    Raises:
        PredictionError: a tool is missing, or the program does not compile or run.
    """
    main = f"{emission.name}.f90"
    names = Names(program)
    arrays = {name: names.of(name) for name, layout in program.layouts.arrays.items() if layout.rank}
    results = sorted(names.of(name) for name in _reduced(program.body))
    text = telling(emission.files[main], arrays, results, gap_bytes)
    write(replace(emission, files={**emission.files, main: text, STUB.name: STUB.read_text()}), folder)
    compile_in(folder)
    given.put(folder)
    run = watched(folder / emission.name, (), geometry, limit_s, given.text)
    without, all_of = (source_lines(text, program.lines, conditions=each) for each in (False, True))
    misses: dict[int, Pair] = {}
    tests: dict[int, Pair] = {}
    for each in run.misses:
        at = all_of[each.line - 1] if Path(each.file).name == main and 0 < each.line <= len(all_of) else 0
        if at:
            found = misses if without[each.line - 1] else tests
            read, written = found.get(at, (0, 0))
            found[at] = (read + each.read, written + each.write)
    return Measured(misses=misses, tests=tests, addresses=_addresses(run.errors))


def compile_in(folder: Path) -> None:
    """Compile a node program with the stub in the place of MPI, static.

    Raises:
        PredictionError: a tool is missing, or the compiler finds an error.
    """
    stub = STUB.with_suffix(".o").name
    fault = "the node program does not compile"
    call([tool("gfortran"), *FLAGS, "-c", STUB.name], fault, folder)
    settings = (f"FC={tool('gfortran')}", f"FFLAGS={' '.join((*FLAGS, f'-Wl,{stub}'))}")
    call([tool("make"), "-s", *settings], fault, folder)


def _reduced(body: Sequence[Node]) -> set[str]:
    """Scalars that hold results of reductions."""
    found: set[str] = set()
    for node in walk(body):
        match node:
            case Nest(reduce=op, assigns=(Assign(target=Var(name=name)),)) if op:
                found.add(name)
    return found


def telling(text: str, arrays: Mapping[str, str], results: Sequence[str], gap_bytes: int) -> str:
    """The main program, which before it ends says where its arrays lie and uses its results: else a compiler leaves
    out what nobody needs. `arrays`: name -> name in Fortran; `results`: scalars."""
    text, temporaries = with_lasting_temporaries(text)
    lines: list[str] = []
    for line in lines_of(text):
        bare = line.strip()
        if bare == "call esp_finish()":
            lines += [f"call esp_lies('{name}', loc({shown}))" for name, shown in {**arrays, **temporaries}.items()]
            lines += [f"call esp_uses(({name}))" for name in results]
        elif gap_bytes and re.match(r"allocate\(\w+\(map_", bare):
            lines.append(f"call esp_gap({gap_bytes}_8)")
        lines.append(line)
        if bare == "use esp_runtime":
            lines.append("  use esp_measured")
    return "\n".join(lines) + "\n"


def with_lasting_temporaries(text: str) -> tuple[str, dict[str, str]]:
    """The main program with one temporary for all nests that need one of a type, kept from one to the next: the heap
    would give each of them the same place, but it throws lines out of the cache. And the temporary of each source line
    (`aag.spmd.course.temporaries`)."""
    first: dict[str, str] = {}
    kept = {
        name: first.setdefault(f"{kind} {name[:5]}", name)
        for kind, name in re.findall(r"^ *(.+), allocatable :: ((?:values|taken)_\d+)\(:\)$", text, re.MULTILINE)
    }
    lines, now, found = [], 0, dict[str, str]()
    for line in lines_of(text):
        quoted = re.match(r" *! {1,4}(\d+)  ", line)
        if quoted:
            now = int(quoted[1])
            lines.append(line)
            continue
        shared = re.sub(r"\b(?:values|taken)_\d+\b", lambda name: kept.get(name[0], name[0]), line)
        bare = shared.strip()
        declared = re.search(r", allocatable :: (\w+)\(:\)$", line)
        made = re.fullmatch(r"allocate\(((values|taken)_\d+)\((\w+)\)\)", bare)
        if declared and kept.get(declared[1], declared[1]) != declared[1]:
            continue
        if made and made[1] in kept:
            name, what, size = made.groups()
            found[f"{what}@{now}"] = name
            lines += [
                f"if (allocated({name})) then",
                f"if (size({name}) /= {size}) deallocate({name})",
                "end if",
                f"if (.not. allocated({name})) {bare}",
            ]
        elif not re.fullmatch(r"deallocate\((?:values|taken)_\d+(?:, taken_\d+)?\)", bare):
            lines.append(shared)
    return "\n".join(lines) + "\n", found


def _addresses(errors: str) -> dict[str, int]:
    return {name: int(at) for name, at in re.findall(r"^address (\S+) (\d+)$", errors, re.MULTILINE)}


def source_lines(text: str, lines: Sequence[str], *, conditions: bool = False) -> list[int]:
    """For each line of an emitted main program the line of the HPF program that it stems from; 0: none.

    Each source line is quoted, with its number, before what became of it. An IF right behind it is the condition of the
    nests inside: unless `conditions` are wanted it belongs to none of them, for it misses scalars each time it is
    tested.
    """
    found, now, quotes = [], 0, False
    for line in lines_of(text):
        tested = not conditions and quotes and line.lstrip().startswith("if (")
        quoted = re.match(r"\s*! {1,4}(\d+)  (.*)$", line)
        quotes = False
        if quoted and 0 < int(quoted[1]) <= len(lines) and lines[int(quoted[1]) - 1].strip().startswith(quoted[2]):
            now, quotes = int(quoted[1]), True
        elif line == "contains":
            now = 0
        found.append(0 if tested else now)
    return found
