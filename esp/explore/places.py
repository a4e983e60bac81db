"""Where the directives of a choice belong: each program unit has its own, and all units that declare a common block map
its arrays.

    places = places_of(program, unit, scope, names)   the units in which a choice replaces directives
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from aag.diagnostics import Span
from aag.ir.directives import Align, Directive, Distribute, Processors, Template
from aag.ir.units import Program, Unit
from aag.mapping.scope import Scope

_ORDER = ("program", "module")
"""Kinds of units in which the directives of a choice are shown first; procedures follow."""


class PastePlace(Struct, frozen=True, kw_only=True):
    """A program unit whose directives a choice replaces."""

    unit: str
    """Its kind and name, such as `subroutine STEP`."""
    replaced: tuple[Span, ...]
    names: Mapping[str, str]
    """What a choice distributes here: the name in the whole program -> the name here, as the source writes it."""
    onto: str
    """Its processor arrangement; empty where it declares none."""


class Elsewhere(Struct, frozen=True, kw_only=True):
    """Directives of a choice for another program unit than the first."""

    unit: str
    directives: tuple[str, ...]
    replaced: tuple[Span, ...]


def places_of(program: Program, unit: Unit, scope: Scope, names: Collection[str]) -> tuple[PastePlace, ...]:
    """The units whose directives a choice for `names` replaces, or that declare what has none: at least one.

    Args:
        program: The source.
        unit: Its main program, calls replaced.
        scope: What that can name.
        names: Templates and arrays that the choice distributes, or aligns anew.
    """
    found: dict[Unit, list[Directive]] = {}
    for each in (*scope.directives, *unit.repeated):
        if _is_replaced(each, names):
            found.setdefault(_owner(each.span, program), []).append(each)
    placed = {each.distributee for each in _distributes(each for inside in found.values() for each in inside)}
    free: dict[Unit, list[str]] = {}
    for name in names:
        if name not in placed:
            free.setdefault(_owner(_declaration(name, scope), program), []).append(name)
    order = sorted({*found, *free}, key=lambda each: (_rank(each), each.span.file, each.span.line))
    places = [_place(each, found.get(each, ()), free.get(each, ()), scope) for each in order]
    first, *others = [each for each in places if each.names]
    alone = [each for each, owner in zip(places, order, strict=True) if not each.names and owner.kind in _ORDER]
    arrangements = tuple(span for each in alone for span in each.replaced)  # which nothing needs any more
    return (replace(first, replaced=(*arrangements, *first.replaced)), *others)


def away(program: Program, unit: Unit, scope: Scope, first: PastePlace) -> frozenset[str]:
    """Arrays that no ALIGN in the first place can align anew: local ones of procedures, and those of common blocks
    that several units align."""
    repeated = frozenset(each.alignee for each in unit.repeated if isinstance(each, Align))
    owners = {each.name: _owner(each.span, program) for each in scope.arrays()}
    return repeated | {
        name for name, owner in owners.items() if owner.kind not in _ORDER and _title(owner) != first.unit
    }


def _place(owner: Unit, directives: Sequence[Directive], free: Sequence[str], scope: Scope) -> PastePlace:
    replaced = tuple(each.span for each in directives)
    shown = {each.name: each.shown for each in (*scope.entities.values(), *owner.entities)}
    names = {name: shown.get(name, name) for name in free}
    for span in dict.fromkeys(replaced):
        written = [each.distributee for each in _distributes(owner.directives) if each.span == span]
        flat = [each.distributee for each in _distributes(directives) if each.span == span]
        names |= {name: shown.get(own, own) for name, own in zip(flat, written, strict=False)}
    arrangements = [each.name for each in owner.directives if isinstance(each, Processors) and each.shape]
    return PastePlace(unit=_title(owner), replaced=replaced, names=names, onto=next(iter(arrangements), ""))


def _distributes(directives: Iterable[Directive]) -> Iterator[Distribute]:
    return (each for each in directives if isinstance(each, Distribute))


def _is_replaced(directive: Directive, names: Collection[str]) -> bool:
    match directive:
        case Processors(shape=shape):
            return bool(shape)
        case Distribute(distributee=name):
            return name in names
        case _:
            return False


def _declaration(name: str, scope: Scope) -> Span:
    if name in scope.entities:
        return scope.entities[name].span
    templates = (each.span for each in scope.directives if isinstance(each, Template) and each.name == name)
    return next(templates, scope.unit.span)


def _title(unit: Unit) -> str:
    return f"{unit.kind.replace('_', ' ')} {unit.name.upper()}"


def _rank(unit: Unit) -> int:
    return _ORDER.index(unit.kind) if unit.kind in _ORDER else len(_ORDER)


def _owner(place: Span, program: Program) -> Unit:
    """The innermost unit that a place is in, the main program where it is in none."""
    assert program.main is not None
    found = program.main
    for each in program.units:
        for unit in (each, *each.contains):
            if unit.span.file == place.file and unit.span.line <= place.line <= unit.end.line:
                found = unit
    return found
