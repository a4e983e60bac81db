"""What a mapping may cost without anybody having meant it: replicated arrays, operands that do not lie where they are
used, hidden transposes, idle processors. Found in the node program: where data moves although subscripts are equal,
the operands are not aligned, whatever the directives look like."""

import re
from collections.abc import Iterator

from msgspec import Struct

from aag.graph.aau import Comm, Graph, walk
from aag.ir.expressions import Expr, Var
from aag.ir.visitors import walk_expressions
from aag.mapping.describe import layout_rows
from aag.mapping.layout import Layout, Layouts
from aag.spmd.nodes import Need, Operation, Reference
from esp.inspect.decisions import reference

_NAMED = 4

_NAME = re.compile(r"[a-z_]\w*(?:\$\w+)*", re.IGNORECASE)


class Doubt(Struct, frozen=True, kw_only=True):
    """One finding: which kind, the arrays and the source line it is about, what happens and the way out."""

    kind: str
    arrays: tuple[str, ...]
    line: int
    text: str
    hint: str


def doubts(layouts: Layouts, graph: Graph, names: tuple[str, ...]) -> tuple[Doubt, ...]:
    """The doubts about the arrays `names`, each once, by line."""
    if layouts.procs == 1:
        return ()
    found = [*_replicated(layouts, names), *_idle(layouts, names), *_moving(layouts, graph)]
    return tuple(dict.fromkeys(sorted(found, key=lambda each: (each.line, each.kind, each.arrays))))


def _replicated(layouts: Layouts, names: tuple[str, ...]) -> Iterator[Doubt]:
    for name in names:
        layout = layouts.arrays[name]
        if not layout.is_distributed and layout.elements > 1:
            yield Doubt(
                kind="replicated",
                arrays=(name,),
                line=layout.span.line,
                text=f"{name}: every processor holds all {layout.elements:,} elements and computes every assignment",
                hint=f"DISTRIBUTE {_stem(name)}, or ALIGN it with an array that is distributed",
            )


def _idle(layouts: Layouts, names: tuple[str, ...]) -> Iterator[Doubt]:
    for name in names:
        layout = layouts.arrays[name]
        if not layout.elements or not layout.is_distributed or any(axis.role == "fixed" for axis in layout.axes):
            continue
        empty = (layout.local_elements() == 0).nonzero()[0].tolist()
        if empty:
            shown = ", ".join(map(str, empty[:_NAMED])) + (", ..." if len(empty) > _NAMED else "")
            yield Doubt(
                kind="idle",
                arrays=(name,),
                line=layout.span.line,
                text=f"{name}: {len(empty)} of {layout.grid.size} processors hold nothing of it ({shown})",
                hint="use fewer processors, another grid, or CYCLIC",
            )


def _moving(layouts: Layouts, graph: Graph) -> Iterator[Doubt]:
    for aau in walk(graph.body):
        if isinstance(aau, Comm) and aau.operation is not None:
            for need in aau.operation.needs:
                yield from _of_need(layouts, aau.operation, need, aau.span.line)


def _of_need(layouts: Layouts, operation: Operation, need: Need, line: int) -> Iterator[Doubt]:
    read, home = need.reference, need.home
    if home is None:
        if layouts.arrays[read.array].is_distributed and operation.pattern == "concatenation":
            yield Doubt(
                kind="gathered",
                arrays=(read.array,),
                line=line,
                text=f"every processor receives all of {reference(read)}: what is computed with it is replicated",
                hint="distribute the left-hand side, too",
            )
        return
    arrays = (read.array, home.array)
    if _stem(read.array) == _stem(home.array):  # moved by the program itself, with REDISTRIBUTE or REALIGN
        return
    mine, theirs = _shown(read, home)
    if read.subscripts == home.subscripts:
        yield Doubt(
            kind="misaligned",
            arrays=arrays,
            line=line,
            text=f"{mine} and {theirs} are mapped differently: {_mapped(layouts, read.array)} "
            f"against {_mapped(layouts, home.array)}",
            hint=_remapped(arrays) or f"ALIGN {read.array} with {home.array}",
        )
    elif operation.pattern == "transpose" or _turned(read.subscripts, home.subscripts):
        yield Doubt(
            kind="transpose",
            arrays=arrays,
            line=line,
            text=f"moving {mine} to the owner of {theirs} is a transpose: nearly every processor sends to every other",
            hint=_remapped(arrays) or f"ALIGN {read.array} with {home.array} transposed, if every use is transposed",
        )


def _stem(name: str) -> str:
    """The name that the source has: a version of a mapping, or what a procedure call copies, has another after it."""
    return name.partition("$")[0]


def _remapped(arrays: tuple[str, str]) -> str:
    """What to look at where an array does not keep the mapping of its declaration, so that no ALIGN can change it."""
    moved = dict.fromkeys(_stem(each) for each in arrays if "$" in each)
    return f"see the statements that remap or pass {' and '.join(moved)}" if moved else ""


def _shown(*references: Reference) -> list[str]:
    """References as a user can write them: indices that esp made become i1, i2, and so on."""
    found: dict[str, str] = {}

    def plain(name: str) -> str:
        if "$" not in name:
            return name
        return found.setdefault(name, f"i{len(found) + 1}")

    texts = []
    for each in references:
        written = _NAME.sub(lambda match: plain(match[0]), reference(each).partition("(")[2])
        texts.append(f"{_stem(each.array)}({written}")
    return texts


def _turned(read: tuple[Expr, ...], home: tuple[Expr, ...]) -> bool:
    """Whether the same loop indices occur in another order of dimensions: b(j, i) for a(i, j)."""
    mine, theirs = [_index(each) for each in read], [_index(each) for each in home]
    common = [name for name in mine if name and name in theirs]
    return len(common) > 1 and common != [name for name in theirs if name in common]


def _index(expr: Expr) -> str:
    names = [each.name for each in walk_expressions(expr) if isinstance(each, Var)]
    return names[0] if len(names) == 1 else ""


def _mapped(layouts: Layouts, name: str) -> str:
    row = next(each for each in layout_rows(layouts) if each.array == name)
    layout: Layout = layouts.arrays[name]
    return f"({row.dimensions})" if layout.is_distributed else "replicated"
