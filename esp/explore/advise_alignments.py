"""Which alignments of its arrays a program suggests: those that put side by side what a statement combines.

    a(i,j) = b(j,i) + x(j)      b transposed with respect to a, x at the columns of a and at each of its rows
    x(k) = y(k+10)              x ten elements further on in y, or y ten elements back in x

An array keeps the alignment it has, or gets one that makes two references of a statement meet, directly or through
other arrays. The largest array stays where it is: only how arrays lie to each other matters.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod

from msgspec import Struct

from aag.diagnostics import NOWHERE
from aag.ir.directives import Align, Distribute, Star
from aag.ir.evaluate import Unknown, Value, evaluate_int
from aag.ir.expressions import Binary, Call, Element, Expr, IntLit, Section, Var
from aag.ir.spelling import spell_directive
from aag.ir.statements import Assign, Remap
from aag.ir.units import Unit
from aag.ir.visitors import walk_expressions, walk_statements
from aag.mapping.alignment import Cell, Placement, cells_of, compose, itself
from aag.mapping.report import Report
from aag.mapping.scope import Bounds, Scope, scope_of, visible_to
from aag.mapping.tables import Tables, tables_of
from aag.pipeline import main_unit
from esp.api import Request, Source
from esp.explore.choices import Distributed, layouts_of
from sag.unit import System

MOST_PLACES = 4
"""Alignments of one array, its own among them."""

MOST = 16
"""Alignments of all arrays together; those that change the fewest come first."""

Sub = tuple[str, int]
"""One subscript: an index and what is added to it; a constant has no index. The index of a section is its place among
the sections, and what is added its first element."""


class Alignment(Struct, frozen=True, kw_only=True):
    """An alignment of all arrays, as what is different from the source."""

    aligned: tuple[Align, ...] = ()
    shown: str = ""

    @property
    def directives(self) -> tuple[str, ...]:
        """Lines to paste in place of what maps these arrays in the source."""
        return tuple(f"!HPF$ {_text(each)}" for each in self.aligned)


class AlignmentRelation(Struct, frozen=True, kw_only=True):
    """Where the elements of `of` lie in `within`, if the references of a statement are to meet."""

    of: str
    within: str
    cells: tuple[Cell, ...]


def alignments_of(
    source: Source, system: System, request: Request, distributed: Distributed
) -> tuple[tuple[Alignment, ...], int]:
    """The alignments, that of the source first, and how many more were left out.

    Raises:
        aag.diagnostics.SourceError: directives or values prevent a mapping.
    """
    env = layouts_of(source, system, request).known
    unit = main_unit(source.program)
    scope = scope_of(unit, visible_to(unit, source.program))
    tables = tables_of(scope, request.distribute, env, Report(), align=request.align)
    bounds = {name: each for name, each in tables.bounds.items() if each is not None}
    places = _places(tables, bounds, env)
    roots = [each.name for each in sorted(distributed.targets, key=lambda each: -prod(each.extents))]
    fixed = _fixed(unit, scope) | distributed.away | {_anchor(roots[0], scope, places, bounds)}
    own = {name: place for name, place in places.items() if place.root in roots}
    relations = list(dict.fromkeys(_relations(unit, bounds, env)))
    possible = _spread(relations, own, fixed, bounds, roots)
    lists = [[None, *others] for others in possible.values()]
    combined = sorted(product(*lists), key=lambda each: sum(place is not None for place in each)) if lists else [()]
    kept = combined[:MOST]
    found = [
        _alignment({name: place for name, place in zip(possible, each, strict=True) if place is not None}, bounds)
        for each in kept
    ]
    return tuple(found), len(combined) - len(kept)


def _fixed(unit: Unit, scope: Scope) -> set[str]:
    """Arrays whose alignment is not ours to choose: those that move at run time, and sequential ones."""
    moved = [each.directive for each in walk_statements(unit.body) if isinstance(each, Remap)]
    names = {each.distributee if isinstance(each, Distribute) else each.alignee for each in moved}
    return names | {each.target for each in moved if isinstance(each, Align)} | scope.sequential()


def _places(tables: Tables, bounds: Mapping[str, Bounds], env: Mapping[str, Value]) -> dict[str, Placement]:
    """Where templates and arrays lie in the source."""
    found = {name: itself(name, len(bounds[name])) for name in bounds if name not in tables.aligns}
    waiting = {name: each for name, each in tables.aligns.items() if name in bounds and each.target in bounds}
    while ready := [name for name, each in waiting.items() if each.target in found]:
        for name in ready:
            align = waiting.pop(name)
            cells = cells_of(align, bounds[name], bounds[align.target], env, Report())
            if cells is not None:
                found[name] = compose(cells, found[align.target])
    return found


def _anchor(root: str, scope: Scope, places: Mapping[str, Placement], bounds: Mapping[str, Bounds]) -> str:
    """The array that stays where it is: what is distributed itself, or the largest array in the template."""
    arrays = [each.name for each in scope.arrays()]
    inside = [name for name in arrays if name in places and places[name].root == root]
    sizes = {name: prod(high - low + 1 for low, high in bounds[name]) for name in inside}
    return root if root in arrays else max(inside, key=lambda name: sizes[name], default=root)


def _spread(
    relations: Sequence[AlignmentRelation],
    own: Mapping[str, Placement],
    fixed: set[str],
    bounds: Mapping[str, Bounds],
    roots: Sequence[str],
) -> dict[str, list[Placement]]:
    """Other places for arrays in what is distributed, followed from reference to reference. What is distributed itself
    goes only with what comes before it in `roots`, so that no two go with each other."""
    places = {name: [place] for name, place in own.items()}
    rank = {name: at for at, name in enumerate(roots)}
    grown = True
    while grown:
        grown = False
        for each in relations:
            known = places.get(each.of, [])
            if each.of in fixed or len(known) >= MOST_PLACES:
                continue
            for outer in places.get(each.within, ()):
                place = compose(each.cells, outer)
                before = rank[place.root] < rank.get(each.of, len(rank))
                full = place in known or len(known) >= MOST_PLACES
                if before and not full and _fits(place, bounds[each.of], bounds[place.root]):
                    known = places[each.of] = [*known, place]
                    grown = True
    others = {}
    for name, known in places.items():
        mine = own.get(name)
        new = [each for each in known if each != mine and not (mine is not None and _same(mine, each, bounds))]
        if new:
            others[name] = new
    return others


def _same(own: Placement, other: Placement, bounds: Mapping[str, Bounds]) -> bool:
    """Whether two places are the same although in different roots: all of one shape are distributed alike."""
    return own.cells == other.cells and bounds[own.root] == bounds[other.root]


def _fits(place: Placement, own: Bounds, root: Bounds) -> bool:
    """Whether every element lies inside, in a cell for each dimension at most."""
    dims = [cell.dim for cell in place.cells if cell.role == "dim"]
    if not dims or len(set(dims)) < len(dims):
        return False
    for cell, (low, high) in zip(place.cells, root, strict=True):
        if cell.role == "replicated":
            continue
        first, last = own[cell.dim] if cell.role == "dim" else (0, 0)
        ends = sorted(cell.stride * end + cell.offset for end in (first, last))
        if ends[0] < low or ends[1] > high:
            return False
    return True


# --- references ---


def _relations(unit: Unit, bounds: Mapping[str, Bounds], env: Mapping[str, Value]) -> Iterator[AlignmentRelation]:
    """How the arrays of each assignment lie to what is assigned, and that to them."""
    for statement in walk_statements(unit.body):
        if not isinstance(statement, Assign):
            continue
        target = next(_references([statement.target], bounds, env), None)
        if target is None:
            continue
        for name, subs in _references(list(walk_expressions(statement.value)), bounds, env):
            if name != target[0]:
                yield AlignmentRelation(of=name, within=target[0], cells=_cells(subs, target[1]))
                yield AlignmentRelation(of=target[0], within=name, cells=_cells(target[1], subs))


def _references(
    parts: Sequence[Expr], bounds: Mapping[str, Bounds], env: Mapping[str, Value]
) -> Iterator[tuple[str, tuple[Sub | None, ...]]]:
    """Names of arrays and their subscripts; None is one that is no index plus a constant."""
    turned = {id(each.args[0]) for each in parts if isinstance(each, Call) and each.name == "transpose" and each.args}
    for part in parts:
        match part:
            case Var(name=name) if name in bounds:
                subs: tuple[Sub | None, ...] = tuple((f":{at}", low) for at, (low, _) in enumerate(bounds[name]))
                yield name, subs[::-1] if id(part) in turned else subs
            case Element(name=name, subscripts=subscripts) if name in bounds:
                places = iter(range(len(subscripts)))
                yield (
                    name,
                    tuple(
                        _section(each, next(places), low, env) if isinstance(each, Section) else _index(each, env)
                        for each, (low, _) in zip(subscripts, bounds[name], strict=False)
                    ),
                )


def _section(section: Section, place: int, low: int, env: Mapping[str, Value]) -> Sub | None:
    """Sections of a statement go together by their order: their first elements meet."""
    if section.step is not None:
        return None
    try:
        return f":{place}", low if section.lower is None else evaluate_int(section.lower, env)
    except Unknown:
        return None


def _index(expr: Expr, env: Mapping[str, Value]) -> Sub | None:
    """``i``, ``i + c``, ``c + i``, ``i - c`` or a constant."""
    try:
        return "", evaluate_int(expr, env)
    except Unknown:
        pass
    match expr:
        case Var(name=name):
            return name, 0
        case Binary(op="+" | "-" as op, left=Var(name=name), right=other):
            return _added(name, other, env, -1 if op == "-" else 1)
        case Binary(op="+", left=other, right=Var(name=name)):
            return _added(name, other, env, 1)
    return None


def _added(name: str, other: Expr, env: Mapping[str, Value], sign: int) -> Sub | None:
    try:
        return name, sign * evaluate_int(other, env)
    except Unknown:
        return None


def _cells(mine: Sequence[Sub | None], theirs: Sequence[Sub | None]) -> tuple[Cell, ...]:
    """Where an array with subscripts `mine` lies in one with `theirs`, so that both references meet."""
    cells = []
    for sub in theirs:
        found = Cell(role="replicated")
        if sub is not None and sub[0]:
            dim = next((at for at, each in enumerate(mine) if each is not None and each[0] == sub[0]), None)
            if dim is not None:
                own = mine[dim]
                assert own is not None
                found = Cell(role="dim", dim=dim, offset=sub[1] - own[1])
        cells.append(found)
    return tuple(cells)


# --- directives ---


def _alignment(changed: Mapping[str, Placement], bounds: Mapping[str, Bounds]) -> Alignment:
    aligned = tuple(_directive(name, place, len(bounds[name])) for name, place in changed.items())
    texts = [_text(each).removeprefix("ALIGN ") for each in aligned]
    return Alignment(aligned=aligned, shown=", ".join(texts))


def _text(align: Align) -> str:
    return spell_directive(align).upper().replace(", ", ",").replace(" + ", "+").replace(" - ", "-").replace(" * ", "*")


def _directive(name: str, place: Placement, rank: int) -> Align:
    used = {cell.dim for cell in place.cells if cell.role == "dim"}
    dummies = [_dummy(at) for at in range(rank)]
    return Align(
        span=NOWHERE,
        alignee=name,
        axes=tuple(dummy if at in used else "*" for at, dummy in enumerate(dummies)),
        target=place.root,
        subscripts=tuple(_subscript(cell, dummies) for cell in place.cells),
    )


def _dummy(at: int) -> str:
    return "ijklmno"[at] if at < 7 else f"i{at}"


def _subscript(cell: Cell, dummies: Sequence[str]) -> Expr | Star:
    if cell.role == "replicated":
        return Star()
    if cell.role == "fixed":
        return IntLit(cell.offset)
    index: Expr = Var(dummies[cell.dim])
    if cell.stride != 1:
        index = Binary("*", IntLit(cell.stride), index)
    if not cell.offset:
        return index
    return Binary("+" if cell.offset > 0 else "-", index, IntLit(abs(cell.offset)))
